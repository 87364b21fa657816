"""The command that writes the demo corpus."""

from tripleaudit.cli import main
from tripleaudit.corpora import load_sentences
from tripleaudit.corpora.demo import FILES


def test_make_demo_writes_six_files(tmp_path, capsys):
    assert main(["make-demo", "--seed", "3", "--out", str(tmp_path)]) == 0
    printed = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert set(printed) == {f"{part}.jsonl" for part in FILES}
    for name, count in printed.items():
        assert len(load_sentences(tmp_path / name)) == int(count)
