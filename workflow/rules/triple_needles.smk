# MINEA of triples: sentences with known triples in documents, shown to trained extractors and language models alike.


rule make_triple_needles:
    """Documents with sentences that state known triples, as records of a sentence and of a piece."""
    input:
        needles=NEEDLES.triple_sentences(),
        haystacks=NEEDLES.haystacks(),
    output:
        sentences="<study>/needles/triples/sentences.jsonl",
        pieces="<study>/needles/triples/pieces.jsonl",
        sentence_needles="<study>/needles/triples/sentences-needles.jsonl",
        piece_needles="<study>/needles/triples/pieces-needles.jsonl",
    log:
        "<logs>/make_triple_needles.log",
    benchmark:
        "<benchmarks>/make_triple_needles.jsonl"
    priority: 20
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        options=NEEDLES.triples_json,
        kind="--documents" if NEEDLES.triples and NEEDLES.triples.text else "--haystack",
    shell:
        "python -m tripleaudit needles triples --options {params.options:q} --needles {input.needles:q} "
        "{params.kind} {input.haystacks:q} --out $(dirname {output.pieces:q}) > {log:q} 2>&1"


rule predict_triple_needles:
    """Triples that a trained extractor finds in the sentences of the documents."""
    input:
        weights="<study>/models/<run>/model.safetensors",
        sentences="<study>/needles/triples/sentences.jsonl",
    output:
        "<study>/needles/triples/extractors/<run>/predictions.jsonl",
    log:
        "<logs>/predict_triple_needles/<run>.log",
    benchmark:
        "<benchmarks>/predict_triple_needles/<run>.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: config["threads"]
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=lambda wildcards, attempt: STUDY.trainings.resource(wildcards.extractor, "mem_mb", 8000) * attempt,
        runtime=growing(60),
    params:
        batch_size=lambda wildcards, input: config["prediction"]["batch_size"],
        relation_chunk=lambda wildcards, input: STUDY.trainings.resource(wildcards.extractor, "relation_chunk", 0),
        code=lambda wildcards: jobs.extractor_code("predict", wildcards.extractor),
    shell:
        "python -m tripleaudit predict --model $(dirname {input.weights:q}) "
        "--batch-size {params.batch_size} "
        "--relation-chunk {params.relation_chunk} --threads {threads} --gpus {resources.gpu} "
        "--data {input.sentences:q} --out {output:q} > {log:q} 2>&1"


rule extract_triple_needles:
    """Triples that a language model finds in the pieces of the documents."""
    input:
        corpus=rules.make_triple_needles.output,
        model=lambda wildcards: STUDY.language_models.served(wildcards.lm),
    output:
        predictions="<study>/needles/triples/models/{lm}/predictions.jsonl",
        calls="<study>/needles/triples/models/{lm}/calls.jsonl",
    log:
        job="<logs>/extract_triple_needles/{lm}.log",
        server="<logs>/extract_triple_needles/{lm}.server.log",
    benchmark:
        "<benchmarks>/extract_triple_needles/{lm}.jsonl"
    priority: 20
    localrule: STUDY.language_models.need_network(*NEEDLES.triple_models)
    conda:
        "../../envs/torch.yaml"
    threads: lambda wildcards, input: config["threads"] if input.model else 1
    resources:
        llm_requests=1,
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        options=NEEDLES.triples_json,
        identity=lambda wildcards: STUDY.language_models.sampling(wildcards.lm),
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -m tripleaudit needles extract-triples --options {params.options:q} "
        "--corpus $(dirname {input.corpus[0]:q}) --section {params.section:q} --budget-of {params.study:q} "
        "--endpoint {wildcards.lm:q} --model-config {input.model:q} --threads {threads} "
        "--server-log {log.server:q} --out {output.predictions:q} --calls {output.calls:q} > {log.job:q} 2>&1"


rule score_extractor_needles:
    """MINEA of triples of a trained extractor, by relation and by position."""
    input:
        needles="<study>/needles/triples/sentences-needles.jsonl",
        predictions="<study>/needles/triples/extractors/<run>/predictions.jsonl",
    output:
        "<study>/needles/triples/extractors/<run>/scores.csv",
    log:
        "<logs>/score_extractor_needles/<run>.log",
    benchmark:
        "<benchmarks>/score_extractor_needles/<run>.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        options=NEEDLES.triples_json,
        run_keys=lambda wildcards: json.dumps(
            {
                "study": STUDY.name,
                "corpus": wildcards.corpus,
                "training": wildcards.trainset.rsplit("-", 1)[-1],
                "extractor": wildcards.extractor,
                "noise": wildcards.noise,
                "seed": wildcards.seed,
            }
        ),
    shell:
        "python -m tripleaudit needles score-triples --options {params.options:q} --needles {input.needles:q} "
        "--predictions {input.predictions:q} --keys {params.run_keys:q} --out {output:q} > {log:q} 2>&1"


rule score_lm_needles:
    """MINEA of triples of a language model, by relation and by position."""
    input:
        needles="<study>/needles/triples/pieces-needles.jsonl",
        predictions="<study>/needles/triples/models/{lm}/predictions.jsonl",
        calls="<study>/needles/triples/models/{lm}/calls.jsonl",
    output:
        "<study>/needles/triples/models/{lm}/scores.csv",
    log:
        "<logs>/score_lm_needles/{lm}.log",
    benchmark:
        "<benchmarks>/score_lm_needles/{lm}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        options=NEEDLES.triples_json,
        run_keys=lambda wildcards: json.dumps(
            {
                "study": STUDY.name,
                "corpus": NEEDLES.triples.corpus,
                "extractor": wildcards.lm,
                "seed": NEEDLES.triples.seed,
            }
        ),
    shell:
        "python -m tripleaudit needles score-triples --options {params.options:q} --needles {input.needles:q} "
        "--predictions {input.predictions:q} --calls {input.calls:q} --keys {params.run_keys:q} --out {output:q} "
        "> {log:q} 2>&1"


use rule score_extractor_needles as score_system_needles with:
    input:
        needles="<study>/needles/triples/sentences-needles.jsonl",
        predictions=lambda wildcards: NEEDLES.answers(wildcards.extractor),
    output:
        "<study>/needles/triples/systems/{extractor}/scores.csv",
    log:
        "<logs>/score_system_needles/{extractor}.log",
    benchmark:
        "<benchmarks>/score_system_needles/{extractor}.jsonl"
    wildcard_constraints:
        extractor="|".join(map(re.escape, NEEDLES.triple_systems)) or "none",
    params:
        options=NEEDLES.triples_json,
        run_keys=lambda wildcards: json.dumps(
            {"study": STUDY.name, "corpus": NEEDLES.triples.corpus, "extractor": wildcards.extractor}
        ),
