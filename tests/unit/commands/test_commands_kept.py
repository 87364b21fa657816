"""All that commands print and write about one small corpus: whoever changes a word or a number
of it sees it.
"""

import json
import re

import pytest

from support.report_study import DEMO, damaged
from tripleaudit.cli import main
from tripleaudit.core.files import write_json
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.grescores.judgements import triple_json

CORPUS = "train.jsonl valid.jsonl test.jsonl"
JUDGED = "--factualness a.json --granularity split.json --similarities cosines.json"
COMMANDS = {
    "audit": "audit train.jsonl test.jsonl --valid valid.jsonl --random-splits 20",
    "check": f"check {CORPUS} --write checked.yaml",
    "validate": "validate study.yaml --raw-root .",
    "estimate": "estimate CONFIG/config.yaml --results none",
    "estimate-nothing": "estimate study.yaml",
    "prepare": "prepare --source train.jsonl --divide train=8,test=2 --part test --out part.jsonl --report part.json",
    "prepare-relations": "prepare --source train.jsonl --only-relation born_in --out born.jsonl --report born.json",
    "export-csv": "export --to csv --out csv test=test.jsonl",
    "export-brat": "export --to brat --out brat test=dev.jsonl",
    "score": "score test.jsonl a.jsonl --train train.jsonl --bootstrap 200",
    "score-pairs": "score test.jsonl b.jsonl --matching pairs --bootstrap 0 --relations lives_in=place_lived --json",
    "compare": "compare a.jsonl b.jsonl test.jsonl --train train.jsonl --bootstrap 200 --shuffles 200 --out c.md",
    "compare-named": "compare valid.jsonl named.jsonl valid.jsonl --bootstrap 99 --shuffles 200 --show 2 --out c.json",
    "relations": "relations valid.jsonl named.jsonl",
    "check-json": "check named.jsonl --json",
    "gre-score": "gre-score --triples a.jsonl --reference test.jsonl --bootstrap 200 --seed 3",
    "gre-judged": f"gre-score --triples a.jsonl --reference test.jsonl {JUDGED} --seed 1",
    "gre-official": f"gre-score --triples a.jsonl --reference test.jsonl --bootstrap 0 {JUDGED} --mode official --json",
    "split-rearranged": f"split --protocol rearranged --out rearranged {CORPUS}",
    "split-sifted": f"split --protocol sifted --rule frequency --max-count 1 --out sifted {CORPUS}",
    "split-sample": f"split --protocol sifted --rule sample --percent 50 --out sample --seed 5 {CORPUS}",
    "split-relations": f"split --protocol unseen_relations --relations 2 --out unseen {CORPUS}",
}
WRITTEN = {
    "check": ["checked.yaml"],
    "prepare": ["part.jsonl", "part.json"],
    "export-csv": ["csv/test.csv"],
    "export-brat": ["brat/test.ann", "brat/test.txt"],
    "prepare-relations": ["born.json"],
    "compare": ["c.md"],
    "compare-named": ["c.json"],
    "split-rearranged": ["rearranged/report.json", "rearranged/test.jsonl"],
    "split-sifted": ["sifted/report.json", "sifted/train.jsonl"],
    "split-sample": ["sample/report.json", "sample/train.jsonl"],
    "split-relations": ["unseen/report.json", "unseen/test.jsonl"],
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A part of the demo corpus, two systems that are wrong in known ways, and one that names
    relations otherwise.
    """
    folder, answers = tmp_path_factory.mktemp("corpus"), {}
    files = "train: train.jsonl, valid: valid.jsonl, test: test.jsonl"
    (folder / "study.yaml").write_text(
        f"study: s\ncorpora: {{c: {{files: {{{files}}}}}}}\nsettings: [nz, wz]\n", encoding="utf-8"
    )
    for name, size in (("train", 60), ("valid", 30), ("test", 40)):
        sentences = (
            load_sentences(DEMO / f"{name}.jsonl")[:size]
            + load_sentences(DEMO / f"{name}_zero.jsonl")[:5]
        )
        save_sentences(folder / f"{name}.jsonl", sentences)
        if name == "test":
            save_sentences(folder / "dev.jsonl", sentences[:2])
            for system, shift in (("a", 0), ("b", 1)):
                found = [
                    damaged(one, number + shift, "near") for number, one in enumerate(sentences)
                ]
                save_sentences(folder / f"{system}.jsonl", found)
                judged = {
                    one.text: {"results": [len(one.text) % 3 > shift] * len(one.triples)}
                    for one in found
                }
                write_json(folder / f"{system}.json", judged)
            for one in found:
                answers[one.text] = {
                    triple_json(each.strings): "[x] [y]" if len(one.text) % 2 else "N/A"
                    for each in one.triples
                }
            write_json(folder / "split.json", answers)
            cosines = {
                one.text: {str([*each.strings]): [0.97, 0.2] for each in one.triples}
                for one in sentences
            }
            write_json(folder / "cosines.json", cosines)
        if name == "valid":
            text = (folder / "valid.jsonl").read_text(encoding="utf-8")
            (folder / "named.jsonl").write_text(
                re.sub(r'"relation": "(\w)', r'"relation": "É \1', text), "utf-8"
            )
    return folder


def shown(path: str, text: str) -> str:
    """A file as it is, of a split the sentences' names alone."""
    if "/" not in path or not path.endswith(".jsonl"):
        return f"cat {path}\n{text}"
    return f"jq .id {path}\n" + " ".join(json.loads(line)["id"] for line in text.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_and_writes_what_it_did(name, corpus, root, kept, monkeypatch, capsys):
    monkeypatch.chdir(corpus)
    assert main(COMMANDS[name].replace("CONFIG", str(root / "config")).split()) == 0
    said = f"$ tripleaudit {COMMANDS[name]}\n{capsys.readouterr().out}"
    for path in WRITTEN.get(name, ()):
        text = (corpus / path).read_text(encoding="utf-8")
        said += f"\n$ {shown(path, text)}\n"
    kept(f"commands/{name}.txt", said.replace(str(corpus), "."))
