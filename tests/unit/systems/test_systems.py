"""The ways in which a system comes into a study: the same answers give the same numbers, a bad
one loses its row.
"""

import dataclasses
import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.fake_endpoint import FakeEndpoint, Fault, drop, hang, malformed
from support.processes import alive, wait_for
from support.serving import answering, serving
from tripleaudit.core.files import read_json
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.scoring.scores import read_scores
from tripleaudit.study.config.systems import System
from tripleaudit.systems import test_set
from tripleaudit.systems.spec import SYSTEM_KINDS
from tripleaudit.systems.test_set import SystemFiles, predict_system

SAID = {
    "Ada Lovelace met Byron in London .": [
        ["Ada Lovelace", "met", "Byron"],
        ["Byron", "lived in", "London"],
    ],
    "Nothing here .": [],
    "Émile saw Rome .": [["Émile", "saw", "Rome"], ["Émile", "saw", "Paris"]],
}
MET = Triple(Span(0, 12, "Ada Lovelace"), "met", Span(17, 22, "Byron"))
GOLD = [
    Sentence("a", "Ada Lovelace met Byron in London .", (MET,)),
    Sentence("b", "Nothing here ."),
    Sentence("c", "Émile saw Rome .", (Triple(Span(0, 5, "Émile"), "saw", Span(10, 14, "Rome")),)),
]
COMMON = {"timeout": 20.0, "restarts": 1}
PROGRAM = """
import json, sys
said = json.load(open(sys.argv[1]))
for line in sys.stdin:
    text = json.loads(line)
    print(json.dumps({"id": text["id"], "triples": said[text["text"]]}))
"""
CLASS = """
import json
import os
import re
import signal
class Said:
    def __init__(self, path, relations=()):
        print("loading a model")  # not an answer
        self.said, self.relations = json.load(open(path)), relations
    def extract(self, texts):
        assert len(texts) <= 2
        return [[tuple(triple) for triple in self.said[text]] for text in texts]
"""


class Box:
    """A folder with a test set, answers in several forms, and programs that give them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        save_sentences(folder / "test.jsonl", GOLD)
        self.write("said.json", json.dumps(SAID))
        self.write("program.py", PROGRAM)
        self.write("classes.py", CLASS)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def query(self, kind: str, value: object, files=(), job=None, **settings) -> dict:
        self.out, self.report = (
            self.folder / f"{kind}.out.jsonl",
            self.folder / f"{kind}.report.json",
        )
        given = {**COMMON, kind: value, **settings}
        test = self.folder / "test.jsonl"
        system_files = SystemFiles(test, self.out, self.report, train=test, files=files)
        predict_system("mine", given, system_files, {"threads": 1, **(job or {})})
        return read_json(self.report)

    @property
    def program(self) -> list[str]:
        """The command of the program, which answers as all others do."""
        return [sys.executable, str(self.folder / "program.py"), str(self.folder / "said.json")]

    def failed(self, *query, **settings) -> str:
        """Query in vain; returns why the row is lost, in one sentence."""
        failed = self.query(*query, **settings)["failed"]
        assert "\n" not in failed and load_sentences(self.out) == [] and self.scores() == []
        return failed

    def values(self, metric: str) -> dict[str, float]:
        """Matching rule -> the score of all sentences."""
        return {
            row.matching: row.value
            for row in self.scores()
            if (row.stratum, row.metric) == ("all", metric)
        }

    def scores(self) -> list:
        out = {f"out_{kind}": self.folder / f"{kind}.csv" for kind in ("scores", "counts")}
        test = self.folder / "test.jsonl"
        files = RunFiles(gold=test, predictions=self.out, train=test, report=self.report, **out)
        score_run(files, {"extractor": "mine"})
        return read_scores(out["out_scores"])


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def ways(box: Box) -> dict[str, tuple]:
    """Kind of system -> what makes it say the same as the others."""
    rows = [{"text": text, "triples": triples} for text, triples in SAID.items()]
    lists = box.write("lists.jsonl", "".join(json.dumps(row) + "\n" for row in reversed(rows)))
    both = [
        {"text": text.replace(" .", "."), "predict": said, "truth": []}
        for text, said in SAID.items()
    ]
    stored = box.write("stored.json", json.dumps(both))
    return {
        "predictions": (lists, [lists], {}),
        "predictions in another form": (stored, [stored], {}),
        "command": (box.program, (), {}),
        "python": (
            f"{box.folder / 'classes.py'}:Said",
            (),
            {"options": {"path": box.program[2]}, "batch_size": 2},
        ),
    }


def test_the_same_answers_give_the_same_numbers_by_every_way_in(box):
    found = {}
    for way, (value, files, settings) in ways(box).items():
        report = box.query(way.split()[0], value, files, **settings)
        assert (report["failed"], report["sentences"], report["attempt"]) == (None, 3, 0), way
        assert (report["triples"], report["not_in_text"], report["with_triples"]) == (4, 1, 2), way
        found[way] = (load_sentences(box.out), box.scores())
    first = found.pop("command")
    assert first[0][0].triples[0] == GOLD[0].triples[0]
    assert (
        box.values("precision")["exact-string"] == 0.5 and box.values("recall")["exact-span"] == 1
    )
    assert all(other == first for other in found.values())


def test_a_command_gets_the_file_of_the_training_set(box):
    box.write("program.py", "import sys\nsys.argv[1:] = [sys.argv[2]]\n" + PROGRAM.replace(
        "said = json.load(open(sys.argv[1]))",
        "said = {row['text']: [[t[k] if k == 'relation' else t[k]['text'] for k in ('subject', 'relation', 'object')]"
        " for t in row['triples']] for row in map(json.loads, open(sys.argv[1]))}"))  # fmt: skip
    report = box.query(
        "command", [sys.executable, str(box.folder / "program.py"), "--train", "{train}"]
    )
    assert (report["failed"], report["triples"]) == (None, 2) and {*box.values("f1").values()} == {
        1
    }


def test_a_class_gets_the_file_of_the_training_set_where_an_option_asks_for_it(box):
    box.write(
        "classes.py",
        CLASS.replace(
            "self.said, self.relations = json.load(open(path)), relations",
            "rows = list(map(json.loads, open(path['file'])))\n"
            "        self.said = {row['text']: [[triple[key] if key == 'relation' else triple[key]['text'] for key in "
            "('subject', 'relation', 'object')] for triple in row['triples']] for row in rows}",
        ),
    )
    where, _, settings = ways(box)["python"]
    report = box.query("python", where, **{**settings, "options": {"path": {"file": "{train}"}}})
    assert (report["failed"], report["triples"]) == (None, 2)


def test_what_is_named_relations_reaches_the_system(box):
    box.write(
        "classes.py",
        CLASS.replace("self.said[text]", "[('Rome', name, 'Rome') for name in self.relations]"),
    )
    where, _, settings = ways(box)["python"]
    assert box.query("python", where, **settings)["triples"] == 0
    box.query("python", where, relations=True, **settings)
    assert [triple.relation for triple in load_sentences(box.out)[2].triples] == ["met", "saw"]


EXTRACT = "import os, time\nclass Bad:\n def extract(self, texts): "
LISTED = json.dumps({"text": GOLD[0].text, "triples": []})
FAILURES = {
    "exits": {
        "command": (
            "raise SystemExit('no licence')",
            "exit status 1 .*no licence.* at the sentence 'a', started 2",
        ),
        "python": (f"{EXTRACT}os._exit(0)", "exit status 0 .*last words: none"),
        "address": (drop(), "cannot be reached .* at the sentence 'a'"),
        "endpoint": (drop(), "connection"),
    },
    "hangs": {
        "command": (
            "import time; time.sleep(99)",
            "gives no answer within 0.5 s at the sentence 'a'",
        ),
        "python": (f"{EXTRACT}time.sleep(99)", "gives no answer within 0.5 s at the sentence 'a'"),
        "address": (hang(), "gives no answer within 0.5 s at the sentence 'a'"),
        "endpoint": (hang(), "0.5 s"),
    },
    "wrong count": {
        "predictions": (
            LISTED,
            "has 1 of the 3 sentences of the test set; the first that is missing is 'b'",
        ),
        "command": (
            "print('{\"triples\": []}')",
            "exit status 0 .* started 2 times; 2 of 3 sentences are answered",
        ),
        "python": (
            f"{EXTRACT}return []",
            r"last words: [^ ]*bad.py:Bad: extract returned 0 lists of triples for 1",
        ),
        "address": (
            malformed('{"triples": null}'),
            "the answer about 'a': expected an object with the list 'triples'",
        ),
        "endpoint": (malformed('{"choices": []}'), "malformed answer"),
    },
    "bad JSON": {
        "predictions": (LISTED[:-1], "JSON"),
        "command": (
            "print('Loading model …')",
            "line 1 of its standard output is no JSON: .*Loading model",
        ),
        "python": (f"{EXTRACT}return [[{{1}}]]", "exit status 1 .*set is not JSON serial"),
        "address": (malformed(), "answers with no JSON: .* at the sentence 'a'"),
        "endpoint": (malformed(), "malformed answer .*mess"),
    },
    "unknown id": {
        "predictions": ('{"id": "z", "triples": []}', "has 0 of the 3 sentences of the test set"),
        "command": (
            'print(\'{"id": "z", "triples": []}\')',
            "an answer about 'z', which is no id of the test set",
        ),
    },
    "no file": {
        "predictions": (None, "no such file"),
        "command": (None, "cannot be started .No such file"),
        "python": (None, "exit status 1 .*no such file"),
        "address": (None, "cannot be reached .* at the sentence 'a'"),
        "endpoint": (None, "connect"),
    },
}


BAD = {
    "no triples": (
        "print('[1]')",
        r"line 1 of its answers: expected an object with the list 'triples', got \[1\]",
    ),
    "no triple": (
        '[print(\'{"triples": [["a", "b"]]}\') for _ in range(3)]',
        r"its answers, sentence 'a': expected a triple \[subject, relation, object\]",
    ),
    "nothing in between": (
        '[print(\'{"triples": [["Ada", null, 3]]}\') for _ in range(3)]',
        r"its answers, sentence 'a': a triple is \[.Ada., null, 3\], expected three strings",
    ),
    "wrong offsets": (
        '[print(\'{"triples": [{"subject": {"start": 0, "end": 3, "text": "Bob"}, "relation": "r", '
        '"object": {"start": null, "end": null, "text": "x"}}]}\') for _ in range(3)]',
        "sentence 'a'.*reads 'Ada', but the file says 'Bob'",
    ),
    "half a character": (
        '[print(\'{"triples": [["\\\\ud800", "r", "x"]]}\') for _ in range(3)]',
        "its answers, sentence 'a': .* has half a character",
    ),
    "no number": (
        '[print(\'{"triples": [{"subject": "a", "relation": "r", "object": "x", "score": NaN}]}\') for _ in range(3)]',
        "its answers, sentence 'a': the score of a triple is nan, expected a number",
    ),
    "too long a number": (
        '[print(\'{"triples": [{"subject": "a", "relation": "r", "object": "x", "score": 1\' + "0" * 400 + "}]}")'
        " for _ in range(3)]",
        "its answers, sentence 'a': the score of a triple is 10{39}, expected a number",
    ),
    "long last words": (
        "import sys; sys.exit('x' * 300)",
        r"exit status 1 \(its last words: x{200}\)",
    ),
    "a deep list": ("print('[' * 100000)", "line 1 of its standard output is no JSON"),
    "a closed output": (
        "import os, time; os.close(1); time.sleep(99)",
        "closes its standard output and goes on at the sentence 'a'",
    ),
    "one too many": (
        "[print('{\"triples\": []}') for _ in range(4)]",
        "a second answer about the sentence 'c'",
    ),
}
BAD_FILES = {
    "empty": ("", "the corpus is empty"),
    "no text": (b'{"text": "\xff"', "UTF-8"),
    "wrong offsets in a file": (
        '{"text": "Nothing here .", "triples": [{"subject": {"start": 0, "end": 3, "text": "Bob"}, "relation": "r", '
        '"object": {"start": 8, "end": 12, "text": "here"}}]}',
        "the file says 'Bob' of it.*no item of the predictions is a triple",
    ),
}
CASES = [(way, kind, *found) for way, kinds in FAILURES.items() for kind, found in kinds.items()]
CASES += [(way, "command", *found) for way, found in BAD.items()]
CASES += [("no class", "python", "x = 1", "exit status 1 .*has no class 'Bad'")]
BREAKS = f"{EXTRACT}\n  assert 'Rome' not in texts[0], 'tired'\n  return [[]]"
CASES += [
    (
        "breaks",
        "python",
        BREAKS,
        "AssertionError: tired.* at the sentence 'c', started .*; 2 of 3 sentences are",
    )
]
CASES += [(way, "predictions", *found) for way, found in BAD_FILES.items()]


@pytest.mark.parametrize(
    ("way", "kind", "said", "expected"), CASES, ids=[" ".join(case[:2]) for case in CASES]
)
def test_a_system_of_each_kind_that_fails_in_each_way_loses_its_row_with_one_sentence(
    box, way, kind, said, expected, monkeypatch
):
    """Only programs and files name their sentences; a request is about one, and a class answers
    in order.
    """
    monkeypatch.setattr("tripleaudit.systems.service.PAUSE", 0)
    monkeypatch.setattr(
        "tripleaudit.systems.programs.GRACE", 0.2 if way == "a closed output" else 5.0
    )
    limit = 0.5 if way == "hangs" else 20.0
    file = str(box.folder / f"bad.{'jsonl' if kind == 'predictions' else 'py'}")
    if isinstance(said, str | bytes):
        Path(file).write_bytes(said if isinstance(said, bytes) else said.encode())
    with FakeEndpoint(faults=[said] * 9 if isinstance(said, Fault) else ()) as fake:
        url = fake.url if said else "http://127.0.0.1:9"
        endpoint = {"base_url": url, "model": "m", "timeout": limit, "max_retries": 0}
        job = {
            "study": "s",
            "section": {"cache": str(box.folder / "cache"), "endpoints": {"fake": endpoint}},
        }
        program = file if said is None else [sys.executable, file]
        settings = {
            "predictions": (file, [file]), "command": (program,), "python": (f"{file}:Bad",), "address": (url,),
            "endpoint": ("fake",),
        }[kind]  # fmt: skip
        how = {
            "timeout": limit,
            "restarts": int(way != "hangs"),
            "concurrency": 1,
            "setting": "closed",
            "reask": False,
        }
        failed = box.failed(kind, *settings, job=job, **how)
    assert re.search(expected, failed), failed


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b"garbage\r\n\r\n", "answers with no HTTP (BadStatusLine)"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
            "answers with no HTTP (IncompleteRead)",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/x?key=1\r\n\r\n",
            "redirects to http://127.0.0.1:9/x; expected",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * (65 << 20), "answers with more than 64 MB"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 40, "gives no answer within 0.3 s"),
        (b"HTTP/1.1 200 OK\r\nServer: " + b" " * 40, "gives no answer within 0.3 s"),
    ],
)
def test_an_address_that_is_no_such_service_loses_its_row(box, said, expected):
    """Two trickle, their body or their head, one byte at a time."""

    class Odd(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            head, blank, _ = said.partition(b" " * 40)
            self.wfile.write(head)
            for _ in blank:
                time.sleep(0.05)
                self.wfile.write(b" ")

    with serving(Odd) as address:
        failed = box.failed(
            "address", address, concurrency=1, restarts=0, timeout=0.3 if b"  " in said else 20.0
        )
    assert failed.startswith(f"{address} {expected}"), failed


def test_a_program_that_crashes_once_goes_on_with_the_rest(box):
    mark = box.folder / "crashed"
    box.write("program.py", f"import os\n{PROGRAM}    sys.stdout.flush()\n    if not os.path.exists({str(mark)!r}):\n"
              f"        open({str(mark)!r}, 'w')\n        os.abort()\n")  # fmt: skip
    report = box.query("command", box.program)
    assert mark.exists() and report["failed"] is None and report["triples"] == 4


def test_a_program_may_leave_a_process_behind_that_holds_its_streams(box, monkeypatch):
    monkeypatch.setattr("tripleaudit.systems.programs.GRACE", 0.5)
    pid = box.folder / "pid"
    box.write("program.py", f"import subprocess\nopen({str(pid)!r}, 'w').write(str(subprocess.Popen(['sleep', '600'], "
              f"start_new_session=True).pid))\n{PROGRAM}")  # fmt: skip
    asked = threading.Thread(target=box.query, args=("command", box.program), daemon=True)
    try:
        asked.start()
        asked.join(60)
        assert not asked.is_alive()
        assert (read_json(box.report)["failed"], read_json(box.report)["triples"]) == (None, 4)
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)


def test_stored_outputs_of_other_columns_are_read_by_a_study_that_names_them(box):
    rows = [
        {"Sentence": text, "Facts": [{"a": s, "b": r, "c": o} for s, r, o in said]}
        for text, said in SAID.items()
    ]
    file = box.write("own.json", json.dumps(rows))
    named = {"text": "Sentence", "triples": "Facts", "subject": "a", "relation": "b", "object": "c"}
    columns = System.model_validate({"predictions": file, "columns": named}).full()["columns"]
    assert columns["id"] is None and columns["order"] == "sro"  # roles that nobody named come along
    assert box.query("predictions", file, [file], columns=columns)["triples"] == 4


def test_a_map_names_the_relations_of_a_system_as_the_corpus_does(box):
    said = json.loads(json.dumps(SAID).replace('"met"', '"MET_WITH"').replace('"saw"', '"SAW"'))
    box.write("said.json", json.dumps(said))
    box.query("command", box.program)
    f1 = box.values("f1")
    assert (f1["exact-string"], f1["pairs"]) == (0, pytest.approx(2 * 2 / (2 + 4)))
    reasons = load_counts(box.folder / "counts.csv").reasons
    assert any(
        reason.startswith("no predicted relation occurs in the gold") for reason in reasons
    ), reasons
    report = box.query(
        "command", box.program, relations={"MET_WITH": "met", "SAW": "saw", "IS": "is"}
    )
    assert (report["renamed"], report["names"], report["triples"]) == (3, 3, 4)
    assert box.values("f1")["exact-string"] == pytest.approx(2 * 2 / (2 + 4))
    assert load_counts(box.folder / "counts.csv").reasons == ()


@pytest.mark.parametrize("kind", SYSTEM_KINDS)
def test_whatever_breaks_in_a_system_costs_its_row_alone(box, kind, monkeypatch):
    def broken(error):
        def answer(asked):
            raise error

        return {kind: replace(SYSTEM_KINDS[kind], answer=answer)}

    monkeypatch.setattr(test_set, "SYSTEM_KINDS", broken(ValueError("a library\n of others")))
    assert box.failed(kind, "x") == "ValueError: a library of others"
    for error in (
        MemoryError(),
        OSError(errno.ENOSPC, "No space left on device"),
    ):  # the job's, not the system's
        monkeypatch.setattr(test_set, "SYSTEM_KINDS", broken(error))
        with pytest.raises(type(error)):
            box.query(kind, "x")


def test_several_stored_files_are_parts_of_one_output_which_may_have_more_sentences_and_no_seeds(
    box,
):
    parts = {
        "one.jsonl": GOLD[:2],
        "two.jsonl": [Sentence("z", "More ."), *GOLD[2:]],
        "seed2.jsonl": GOLD[1:],
    }
    for name, sentences in parts.items():
        save_sentences(box.folder / name, sentences)
    one, two, again = (box.folder / name for name in parts)
    assert box.query("predictions", "", [one, two])["failed"] is None and {
        *box.values("f1").values()
    } == {1}
    failed = box.query("predictions", "", [one, again])["failed"]
    said = r".*seed2\.jsonl: has the sentence 'b' .* of .*one\.jsonl, too; several files are parts of one output, .*"
    assert re.fullmatch(said, failed)


@pytest.fixture
def service():
    with answering(dict(SAID)) as running:
        yield running, f"{running.url}/extract"


def test_a_service_gets_the_json_of_a_program(box, service, monkeypatch):
    kind, address = service
    monkeypatch.setenv("SERVICE_KEY", "Bearer secret")
    with_key = {"headers": {"Authorization": "env:SERVICE_KEY"}, "concurrency": 2}
    report = box.query("address", address, relations=True, **with_key)
    assert (report["failed"], report["triples"], report["requests"]) == (None, 4, 3)
    assert box.values("precision")["exact-string"] == 0.5
    assert {key for _, key in kind.requests} == {"Bearer secret"}
    assert sorted(row["id"] for row, _ in kind.requests) == ["a", "b", "c"]
    assert all(row["relations"] == {"met": "", "saw": ""} for row, _ in kind.requests)
    assert "secret" not in box.report.read_text() + box.out.read_text()


def test_a_service_that_does_not_answer_loses_its_row(box, service, monkeypatch):
    kind, address = service
    again, slept = (408, 429, 500, 502, 503, 504), []
    monkeypatch.setattr("tripleaudit.systems.service.time", SimpleNamespace(sleep=slept.append))
    bad = {
        code: f"answers with status {code} at the sentence 'b'" for code in (*again, 404, 409, 501)
    }
    bad[200] = 'no JSON: "no JSON'
    for said, words in bad.items():
        kind.said["Nothing here ."] = said
        kind.requests.clear()
        assert words in box.query("address", address, concurrency=1, restarts=3)["failed"]
        assert [row["id"] for row, _ in kind.requests].count("b") == (4 if said in again else 1)
    assert slept == [0.5, 1, 2] * len(again)
    for odd in ({"Ü": "y"}, {"X": "a\nb"}):
        failed = box.query("address", address, concurrency=1, headers=odd)["failed"]
        assert failed.startswith(f"{address} cannot be reached (") and failed.endswith(
            " at the sentence 'a'"
        )
    assert "cannot be reached" in box.query("address", f"{address}/ü", concurrency=1)["failed"]
    headers = {"X": "env:NOT_SET_ANYWHERE"}
    assert (
        "which is not set"
        in box.query("address", address, concurrency=1, headers=headers)["failed"]
    )


def test_a_service_that_repeats_its_key_does_not_show_it(box, service, monkeypatch):
    kind, address = service
    monkeypatch.setenv("SERVICE_KEY", "Bearer top-secret")
    kind.said["Nothing here ."] = 200
    failed = box.query(
        "address", address, concurrency=1, headers={"Authorization": "env:SERVICE_KEY"}
    )["failed"]
    assert (
        'answers with no JSON: "no JSON Bearer [key]' in failed
        and "secret" not in box.report.read_text()
    )


@pytest.mark.parametrize(
    "value", ["top-secret\nsecond", "top-secret-schlüssel", "top-secret\x1b[0m"]
)
def test_a_key_that_no_header_can_hold_is_named_by_its_variable(box, service, monkeypatch, value):
    kind, address = service
    monkeypatch.setenv("ODD_KEY", value)
    failed = box.query("address", address, concurrency=1, headers={"X": "env:ODD_KEY"})["failed"]
    assert "variable ODD_KEY holds more than one line of ASCII" in failed and "secret" not in failed
    assert not kind.requests and "secret" not in box.report.read_text()


def test_a_language_model_is_given_the_relations_and_no_gold_triple(box):
    odd = []

    def answer(body):
        if odd:
            return odd.pop()
        shown = body["messages"][-1]["content"]
        text = shown.partition("Passage: ")[2]
        said = [
            [s, r.replace("lived in", "saw"), o.upper() if o == "Rome" else o]
            for s, r, o in SAID[text]
        ]
        return json.dumps({"triples": [*said, ["Ada", "invented", "London"]]})

    with FakeEndpoint(answer) as fake:
        endpoint = {"base_url": fake.url, "model": "m", "prices": {"input": 1.0, "output": 2.0}}
        section = {"cache": str(box.folder / "cache"), "endpoints": {"fake": endpoint}}
        job, found = {"study": "s", "section": section, "relations": {"met": "saw each other"}}, {}
        for setting in ("closed", "open"):
            report = box.query("endpoint", "fake", job=job, setting=setting, reask=True)
            found[setting] = report, load_sentences(box.out)
        shown = [json.dumps(body["messages"]) for body in fake.requests]
        save_sentences(
            box.folder / "test.jsonl", [Sentence(one.id, f"{one.text}.") for one in GOLD]
        )  # no relation
        odd += ["I'm sorry, but I can't help with that.", "?", "[]"]
        report = box.query(
            "endpoint", "fake", job=job | {"relations": {}}, setting="open", reask=False
        )
    assert (report["failed"], report["unreadable"], report["triples"]) == (None, 2, 0) and report[
        "seconds"
    ] < 60
    closed, sentences = found["closed"]
    assert closed["failed"] is None and closed["other_relations"] == 3 and closed["triples"] == 4
    assert sentences[2].triples[0] == GOLD[2].triples[0]  # written otherwise, found in the text
    assert (
        closed["money"] == pytest.approx(sum(closed["money_of"].values())) and closed["money"] > 0
    )
    assert set(closed["money_of"]) == {"a", "b", "c"} and closed["sent"] == 3
    assert found["open"][0]["triples"] == 7 and "invented" in {
        t.relation for t in found["open"][1][1].triples
    }
    assert sum("- met: saw each other" in text for text in shown) == 3 and len(shown) == 6


def test_a_limit_takes_sentences_from_the_whole_test_set_and_scores_these_alone(box):
    repeated = [
        dataclasses.replace(each, id=f"{each.id}{copy}") for copy in (1, 2) for each in GOLD
    ]
    save_sentences(box.folder / "test.jsonl", repeated)
    report = box.query("command", box.program, limit=3)
    assert [sentence.id for sentence in load_sentences(box.out)] == [
        "a1",
        "c1",
        "b2",
    ]  # spread, not the first three
    assert (report["queried"], report["of"]) == (3, 6)
    assert {*box.values("recall").values()} == {1}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"address": "http://user:SECRET@127.0.0.1/x"},
            "address: must not hold credentials or a query",
        ),
        (
            {"address": "http://127.0.0.1/x?token=SECRET"},
            "address: must not hold credentials or a query",
        ),
        (
            {"address": "http://127.0.0.1/x#SECRET"},
            "address: must not hold credentials or a query",
        ),
        (
            {"address": "http://127.0.0.1/x", "headers": {"Authorization": "Bearer SECRET"}},
            "headers/Authorization: ",
        ),
        (
            {"address": "http://127.0.0.1/x", "headers": {"X-Api-Key": "SECRET"}},
            "headers/X-Api-Key: ",
        ),
        (
            {"address": "http://127.0.0.1/x", "headers": {"x-functions-key": "SECRET"}},
            "headers/x-functions-key: ",
        ),
        (
            {"address": "http://127.0.0.1/x", "headers": {"X-Auth": "SECRET"}},
            "headers/X-Auth: ",
        ),
        (
            {"address": "http://127.0.0.1/x", "headers": {"X-Forwarded": "Bearer SECRET"}},
            "headers/X-Forwarded: ",
        ),
        (
            {"address": "http://127.0.0.1/x", "headers": {"X-Door": "SECRET"}},
            "headers/X-Door: ",
        ),
        (
            {
                "address": "http://127.0.0.1/x",
                "headers": {"Authorization": "env:KEY", "Accept": "a/b"},
            },
            None,
        ),
    ],
)
def test_secrets_in_the_settings_of_a_service_are_refused_and_not_repeated(settings, expected):
    problems = list(SYSTEM_KINDS["address"].problems(settings))
    if expected is None:
        assert problems == []
    else:
        (problem,) = problems
        assert problem.startswith(expected) and "env:NAME" in problem and "SECRET" not in problem


@pytest.mark.parametrize(
    "address", ["http://[x", "http://host:99999/x", "http://host /x", "ftp://h"]
)
def test_an_address_that_cannot_be_one_is_refused(address):
    (problem,) = SYSTEM_KINDS["address"].problems({"address": address})
    assert problem.startswith(f"address: {address!r}, expected one such as http://127.0.0.1")


@pytest.mark.parametrize("password", ["pa/SECRET", "it's SECRET", "a#SECRET"])
def test_a_password_in_an_address_that_cannot_be_one_is_not_repeated(password):
    (problem,) = SYSTEM_KINDS["address"].problems({"address": f"http://ada:{password}@host:0/x"})
    assert "SECRET" not in problem


IDLE = """
import os, subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {inner.pid} ")
time.sleep(600)
"""


def job_of(folder, settings):
    """The command of a job that asks a program for the triples of a test set."""
    script = (
        "import json, sys; from pathlib import Path; "
        "from tripleaudit.systems.test_set import SystemFiles, predict_system; "
        "folder, settings = Path(sys.argv[1]), json.loads(sys.argv[2]); test = folder / 'test.jsonl'; "
        "files = SystemFiles(test, folder / 'out', folder / 'report', train=test, files=()); "
        "predict_system('idle', settings, files, {'threads': 1})"
    )
    return [sys.executable, "-c", script, str(folder), json.dumps(settings)]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_ends_with_its_job_even_when_the_job_is_killed(box, sent):
    """So do processes that the program has started itself."""
    started = box.folder / "started"
    settings = {"command": [sys.executable, box.write("idle.py", IDLE), str(started)], **COMMON}
    job = subprocess.Popen(job_of(box.folder, settings))
    assert wait_for(lambda: started.exists() and started.read_text().endswith(" "))
    processes = [int(number) for number in started.read_text().split()]
    assert all(map(alive, processes))
    job.send_signal(sent)
    job.wait()
    assert wait_for(lambda: not any(map(alive, processes)))


def test_a_program_that_starts_while_its_job_is_killed_ends_as_well(box):
    """The program itself kills the job, with its first command."""
    started = box.folder / "started"
    text = '#!/bin/sh\necho "$$ " > "$1"\nkill -9 $PPID\nexec sleep 600\n'
    settings = {"command": [str(box.write("deadly.sh", text)), str(started)], **COMMON}
    Path(settings["command"][0]).chmod(0o755)
    job = subprocess.run(job_of(box.folder, settings), check=False)
    assert job.returncode == -signal.SIGKILL
    number = int(started.read_text())
    assert wait_for(lambda: not alive(number), seconds=5)
