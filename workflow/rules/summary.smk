# Before the first job: whether results can be written. After the last: what ran, how long it took, what it cost.
from tripleaudit.core.storage import check_writable
from tripleaudit.summary import RunSummary

# the study's folder, also where the workflow is a module with pathvars or a prefix of its own
STUDY_FOLDER = workflow.modifier.path_modifier.replace_prefix(workflow.pathvars.apply("<study>"))
RUN_SUMMARY = RunSummary(STUDY.name, Path(STUDY_FOLDER), config["generative"])


onstart:
    refuse_lost_arrays()
    refuse_unset_variables()
    try:
        check_writable(RUN_SUMMARY.folder)
    except UserError as error:
        raise WorkflowError(str(error))
    RUN_SUMMARY.start()


onsuccess:
    # other jobs only name what is to be made
    made = Counter(workflow.dag.finished(job) for job in workflow.dag.jobs if job.benchmark)
    print(RUN_SUMMARY.finish(made[True], made[False]), end="", file=sys.stderr)
