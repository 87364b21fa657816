"""Files of every format with one part missing or replaced: each is read, or refused with one
sentence.
"""

import contextlib
import itertools
import re

import pytest

from support.reading import write
from support.samples import ANN, CONLL, KBP, POINTED, RASH, TEXT, TYPED, WORDS
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import detect_format, read_corpus

DEEPER = {
    **TYPED,
    "triple-list": {"text": TEXT, "triple_list": [["Ada", "leads", "Delta"]]},
    "triple-list-spans": {
        "text": TEXT,
        "triple_list": [["Ada", "leads", "Delta"]],
        "relation_list": [
            {"subject": "Ada", "object": "Delta", "predicate": "leads", "subj_char_span": [0, 3],
             "obj_char_span": [10, 15]},
        ],
    },
    "predictions": {"text": TEXT, "predict": [["Ada", "leads", "Delta"]], "truth": []},
    "pairs": {"text": TEXT, "relation": "leads", "h": {"name": "Ada"}, "t": {"name": "Delta"}},
    "rebel": {"id": "1", "context": TEXT, "triplets": "<triplet> Ada <subj> Delta <obj> leads"},
    "dygie": {"doc_key": "d", "sentences": [WORDS], "ner": [[[0, 0, "P"]]], "relations": [[[0, 0, 2, 2, "leads"]]]},
    "docred": {
        "title": "Ada", "sents": [WORDS], "labels": [{"h": 0, "t": 1, "r": "leads"}],
        "vertexSet": [[{"sent_id": 0, "pos": [n, n + 1], "type": "T"}] for n in (0, 2)],
    },
    "genres": {TEXT: [["Ada", "Delta", "leads"]], "Bo": [["Bo", "Ada", "is"], ["Bo", "Bo", "is"], ["Bo", "Ed", "is"]]},
    "kg-gen": {"text": TEXT, "entities": ["Ada"], "edges": ["leads"], "relations": [["Ada", "leads", "Delta"]]},
    "gliner2": {"text": TEXT, "relation_extraction": {"leads": [["Ada", "Delta"]]}},
    "langextract": {"text": TEXT, "extractions": [{"attributes": {"subject": "Ada", "object": "Delta", "type": "r"}}]},
}  # fmt: skip
SPELT = {  # format -> the files of a corpus that is lines of text
    "conll04": {"a.tsv": CONLL},
    "ade-corpus-v2": {"a.rel": f"{RASH}6 NEG No rash .\n"},
    "semeval": {"a.txt": KBP},
    "sent-tup": POINTED,
    "brat": {"a.ann": ANN, "a.txt": "Ada leads De fta .\nIn\r\n Oslo .\n"},
    "pairs": {
        "a.txt": "m.1\tm.2\ta_b\tc\tin\ta_b in c . ###END###\nm.1\tm.3\ta\tc\tNA\tc a ###END###\n"
    },
    "records": {"a.csv": 'id;text;subject;relation;object\n1;A is B;A;is;B\n2;"C; D";;;\n'},
}
FILES = {
    name: {"a.json": row if name == "genres" else [row]} for name, row in DEEPER.items()
} | SPELT
ODD = (None, 7, -1, 1.5, True, "x", "", [], {}, [7], [[]], {"a": 1})


def spoilt(value, at=""):
    """What is done, and the value with each of its parts taken out, or in another form; of
    lines, each word.
    """
    if isinstance(value, str) and "\n" in value:
        parts = re.findall(r"\w+|\W", value)
        for n, part in enumerate(parts):
            for times in (0, 2):
                yield (
                    f"{at}{n} {part!r}*{times}",
                    "".join([*parts[:n], *[part] * times, *parts[n + 1 :]]),
                )
        return
    yield from (
        (f"{at}={odd!r}", odd)
        for odd in (*((value - 1, value + 1) if type(value) is int else ()), *ODD)
    )
    for key in (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    ):
        rest = (
            {k: v for k, v in value.items() if k != key}
            if isinstance(value, dict)
            else value[:key] + value[key + 1 :]
        )
        yield f"{at}.{key} gone", rest
        for what, part in spoilt(value[key], f"{at}.{key}"):
            yield (
                what,
                {**value, key: part}
                if isinstance(value, dict)
                else [*value[:key], part, *value[key + 1 :]],
            )


@pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.thorough, id="all"), pytest.param(3, id="a third")]
)
@pytest.mark.parametrize(
    ("name", "file"), [(name, file) for name, files in FILES.items() for file in files]
)
def test_a_damaged_file_is_read_or_refused_with_one_sentence_that_names_it(
    tmp_path, name, file, step
):
    whole = FILES[name][file]
    for what, content in [("whole", whole), *itertools.islice(spoilt(whole), 0, None, step)]:
        path = write(tmp_path, {**FILES[name], file: content})
        try:
            read_corpus(path, name, quiet=True)
        except UserError as error:
            assert str(tmp_path) in str(error), what
        with contextlib.suppress(UserError):
            detect_format(path)
