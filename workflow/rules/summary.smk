# Checks before the first job, and a summary after the last one: jobs, time and cost.
from snakemake.logging import logger

from tripleaudit.core.quiet_log import quieten
from tripleaudit.core.storage import check_writable
from tripleaudit.core.termination import handle_sigterm_in_thread
from tripleaudit.summary import RunSummary

# The folder as jobs see it, also if this workflow is a module with a prefix or pathvars of its own.
if STORED:
    STUDY_FOLDER = Path("results", STUDY.name)
else:
    STUDY_FOLDER = Path(rules.training_facts.output[0]).parent
RUN_SUMMARY = RunSummary(STUDY.name, STUDY_FOLDER, config["generative"])
jobs.export_study_folder(str(STUDY_FOLDER))


onstart:
    handle_sigterm_in_thread()
    quieten(logger)
    refuse_unset_variables()
    try:
        check_writable(RUN_SUMMARY.folder)
    except UserError as error:
        raise WorkflowError(str(error))
    RUN_SUMMARY.start()


onsuccess:
    print(RUN_SUMMARY.finish(), end="", file=sys.stderr)
