"""The rules of text collections with tiny models: one job a collection, its table, what runs
again, messages.
"""

import gzip
import json

import pytest

from support.workflow import change, configure, planned, ran
from tripleaudit.core.files import read_json, read_jsonl
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.zcc import ZCC
from tripleaudit.testing import build_extractor, toy_sentences

TARGET = ("--", "collection")
FOLDER = "results/own/collections/toys"


@pytest.fixture(scope="module")
def home(tmp_path_factory, tiny_encoder):
    """A folder with a random extractor and classifier, and 320 sentences in three files of
    different kinds.
    """
    folder = tmp_path_factory.mktemp("collection")
    build_extractor(CasRel, tiny_encoder, prior=0.4).save_pretrained(folder / "models" / "casrel")
    build_extractor(ZCC, tiny_encoder).save_pretrained(folder / "models" / "zcc")
    texts = [f"{each.text} {number}" for number in range(40) for each in toy_sentences()]
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("\n".join(texts[:100]) + "\n\n", encoding="utf-8")
    (folder / "texts" / "b.txt.gz").write_bytes(gzip.compress("\n".join(texts[100:200]).encode()))
    rows = [
        json.dumps({"id": f"row {number}", "text": text}) for number, text in enumerate(texts[200:])
    ]
    (folder / "texts" / "c.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def write_study(folder, **changes):
    section = {
        "files": "texts",
        "extractor": "models/casrel",
        "gate": "models/zcc",
        "block": 60,
        **changes,
    }
    configure(folder, {"study": "own", "gpu": 0, "threads": 1, "collections": {"toys": section}})


@pytest.mark.slow
def test_a_collection_is_extracted_and_changed_texts_cost_only_their_blocks(home):
    write_study(home)
    ran(home, *TARGET)
    out = home / FOLDER
    rows = [row for _, row in read_jsonl(out)]
    assert [row["text"] for row in rows[:2]] == [f"{each.text} 0" for each in toy_sentences()[:2]]
    places = [(row["source"], row["line"]) for row in rows]
    lines = {"a.txt": 100, "b.txt.gz": 100, "c.jsonl": 120}
    assert places == [
        (f"texts/{name}", n) for name, many in lines.items() for n in range(1, many + 1)
    ]
    manifest = read_json(out / "collection.json")
    counts = manifest["counts"]
    assert (counts["lines"], counts["empty"], counts["sentences"]) == (321, 1, 320)
    assert counts["let_through"] == sum(row["gate"] > 0.5 for row in rows)
    assert [block["rows"] for block in manifest["blocks"]] == [60, 40, 60, 40, 60, 60]
    table = (home / "results/own/tables/collection.md").read_text(encoding="utf-8")
    assert "320" in next(
        line for line in table.splitlines() if "| Sentences " in line and "Input" not in line
    )
    assert planned(home, *TARGET) == {}

    before = {path.name: path.stat().st_ino for path in (out / "blocks").iterdir()}
    with open(home / "texts" / "c.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "one more"}\n')
    ran(home, *TARGET)
    after = {path.name: path.stat().st_ino for path in (out / "blocks").iterdir()}
    assert before.items() <= after.items() and len(after) == len(before) + 1
    write_study(home, threshold=0.4)
    assert planned(home, *TARGET)["extract_collection"] == 1
    write_study(home, mem_mb=1000, workers=2, batch_size=3)
    assert planned(home, *TARGET) == {}


@pytest.mark.slow
def test_a_system_of_the_study_reads_a_collection_once(home):
    (home / "own.py").write_text(
        "class Own:\n"
        "    def extract(self, texts):\n"
        "        open('asked.txt', 'a').write('x' * len(texts))\n"
        "        return [[text.split()[:1] + ['precedes'] + text.split()[1:2]] for text in texts]\n",
        encoding="utf-8",
    )
    toys = {"files": "texts/a.txt", "extractor": "own", "gate": None}
    systems = {"own": {"python": "own.py:Own", "batch_size": 10}}
    configure(home, {"study": "asked", "gpu": 0, "systems": systems, "collections": {"toys": toys}})
    ran(home, *TARGET)
    rows = [row for _, row in read_jsonl(home / "results/asked/collections/toys")]
    assert len(rows) == 100 and all(row["triples"][0]["relation"] == "precedes" for row in rows)
    assert "own without a classifier" in (home / "results/asked/tables/collection.md").read_text(
        encoding="utf-8"
    )
    assert len((home / "asked.txt").read_text()) == len({row["text"] for row in rows})
    change(home, {"systems": {"own": {"timeout": 90, "threads": 2}}})
    assert planned(home, *TARGET) == {}
