"""All files of the real corpora are read as ever: what of each folder is read, and a digest over
all its sentences.

After a change that is meant, ``python tests/unit/corpora/test_corpora_gold_counts.py FOLDER``
writes the counts again.
"""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus

STORED = Path(__file__).parents[2] / "data" / "gold-counts.json"
COUNTED = json.loads(STORED.read_text())


def counts(folder: Path) -> dict[str, object]:
    sums, lines = dict.fromkeys(("read", "refused", "sentences", "triples", "types"), 0), []
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        try:
            corpus = read_corpus(path, quiet=True)
        except UserError:
            sums["refused"] += 1
            continue
        ends = [
            end
            for each in corpus.sentences
            for triple in each.triples
            for end in (triple.subject, triple.object)
        ]
        found = {
            **corpus.report.to_json(),
            "read": 1,
            "types": sum(end.type is not None for end in ends),
        }
        sums = {name: count + found.get(name, 0) for name, count in sums.items()}
        lines.append(
            json.dumps([path.name, found["format"], *(each.to_json() for each in corpus.sentences)])
        )
    return {**sums, "digest": hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]}


@pytest.mark.thorough
@pytest.mark.parametrize("name", COUNTED)
def test_all_gold_files_are_read_as_before(real_data, name):
    assert counts(real_data / name) == COUNTED[name]


if __name__ == "__main__":
    found = {
        path.name: counts(path) for path in sorted(Path(sys.argv[1]).iterdir()) if path.is_dir()
    }
    STORED.write_text(
        json.dumps({name: each for name, each in found.items() if each["read"]}, indent=1) + "\n"
    )
