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
    priority: 20
    localrule: True
    params:
        options=NEEDLES.triples_json,
        kind="--documents" if NEEDLES.triples and NEEDLES.triples.text else "--haystack",
    shell:
        "python -m tripleaudit make-triple-needles --options {params.options:q} --needles {input.needles:q} "
        "{params.kind} {input.haystacks:q} --out $(dirname {output.pieces:q}) > {log:q} 2>&1"


use rule predict as predict_triple_needles with:
    input:
        weights="<study>/models/<run>/model.safetensors",
        folder=model_files(["<study>/models/<run>/model.safetensors"]),
        test="<study>/needles/triples/sentences.jsonl",
    output:
        test="<study>/needles/triples/extractors/<run>/predictions.jsonl",
    log:
        "<logs>/predict_triple_needles/<run>.log",


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
    priority: 20
    localrule: STUDY.language_models.need_network(*NEEDLES.triple_models)
    threads: threads_to_serve
    resources:
        llm_requests=1,
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        options=NEEDLES.triples_json,
        identity=lambda wildcards: STUDY.language_models.sampling(wildcards.lm),
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -m tripleaudit extract-triple-needles --options {params.options:q} "
        "--corpus $(dirname {input.corpus[0]:q}) --section {params.section:q} --study {params.study:q} "
        "--endpoint {wildcards.lm:q} --gguf {input.model:q} --threads {threads} "
        "--server-log {log.server:q} --out {output.predictions:q} --calls {output.calls:q} > {log.job:q} 2>&1"


rule score_triple_needles:
    """MINEA of triples of one extractor, language model or system, by relation and by position."""
    input:
        unpack(lambda wildcards: NEEDLES.scored[wildcards.who][0]),
    output:
        "<study>/needles/triples/{who}/scores.csv",
    log:
        "<logs>/score_triple_needles/{who}.log",
    wildcard_constraints:
        who=".+",
    localrule: True
    params:
        files=as_options,
        options=NEEDLES.triples_json,
        run_keys=lambda wildcards: json.dumps(NEEDLES.scored[wildcards.who][1]),
    shell:
        "python -m tripleaudit score-triple-needles --options {params.options:q} {params.files:q} "
        "--keys {params.run_keys:q} --out {output:q} > {log:q} 2>&1"
