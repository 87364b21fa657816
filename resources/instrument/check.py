"""Compare the scores of the study with what is known: ``python resources/instrument/check.py
[STUDY_FOLDER]``.

Prints two tables in Markdown. The exit status is 1 where a known value lies outside its interval,
or where a measured value differs from that of the needles and texts at hand.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from instrument import FOUND_BY, SKILLS, expected_rate, found, known_scores, study_parser
from tripleaudit.scoring.scores import read_scores

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """A measured value next to the known ones."""

    system: str
    score: str
    known: float
    realised: float
    measured: float
    low: float
    high: float

    @property
    def is_right(self) -> bool:
        """Whether the interval holds the known value, and the measured value is that of the
        cases at hand.
        """
        return (
            self.low - 1e-9 <= self.known <= self.high + 1e-9
            and abs(self.measured - self.realised) < 1e-6
        )


def minea_rows(study: Path) -> list[Row]:
    """Return the rates of all criteria, and MINEA, by model."""
    lines = (study / "needles/corpus/infusions.jsonl").read_text(encoding="utf-8").splitlines()
    needles = [
        unit["needle"] for line in lines for unit in json.loads(line)["units"] if unit["needle"]
    ]
    scores = {
        (score.key("extractor"), score.matching, score.metric): score
        for score in read_scores(study / "needles/scores.csv")
        if (score.key("protocol"), score.stratum) == ("needles", "all")
    }
    rows = []
    for model in SKILLS:
        for criterion in FOUND_BY:
            realised = sum(found(model, needle, criterion) for needle in needles) / len(needles)
            score = scores[model, criterion, "rate"]
            known = expected_rate(model, criterion)
            rows.append(Row(model, criterion, known, realised, score.value, score.low, score.high))
        realised = sum(found(model, needle, "llm") for needle in needles) / len(needles)
        score = scores[model, "max", "minea"]
        rows.append(
            Row(model, "MINEA", SKILLS[model], realised, score.value, score.low, score.high)
        )
    return rows


def gre_rows(study: Path) -> list[Row]:
    """Return for each triple set the GREScore that it was made for."""
    gold = json.loads((FOLDER / "gold.json").read_text(encoding="utf-8"))
    scores = {
        (score.key("extractor"), score.metric): score
        for score in read_scores(study / "gre/scores.csv")
    }
    rows = []
    for system, known in known_scores(gold).items():
        score = scores[system, known.score]
        rows.append(
            Row(
                system,
                known.score.upper(),
                known.expected,
                known.realised,
                score.value,
                score.low,
                score.high,
            )
        )
    return rows


def main() -> int:
    study = study_parser(__doc__).parse_args().study
    wrong = 0
    for heading, rows in (("Model", minea_rows(study)), ("Triple set", gre_rows(study))):
        print(f"| {heading} | Score | Known | Of these cases | Measured | 95 % interval |")
        print("| :--- | :--- | ---: | ---: | ---: | :--- |")
        for row in rows:
            mark = "" if row.is_right else " (wrong)"
            values = f"{row.known:.3f} | {row.realised:.3f} | {row.measured:.3f}"
            print(
                f"| {row.system} | {row.score} | {values} | [{row.low:.3f}, {row.high:.3f}]{mark} |"
            )
        wrong += sum(not row.is_right for row in rows)
        print()
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
