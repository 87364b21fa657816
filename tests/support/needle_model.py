"""A scripted language model for MINEA: known behaviour behind the fake endpoint, so that every number can be computed
by hand."""

import json
import re

from support.fake_endpoint import Reply
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.needle import Needle

SPELT, HIDDEN = 7, 8
KEYWORDS = ("amber lamp", "brass wheel", "cedar chest", "dusty map", "eager crowd", "final proof")


def make_document(paragraphs=40):
    """About 8,000 characters in which no needle occurs."""
    body = "Rain fell on the roof while the clerk copied one page after the other, and no guest came to the door."
    return Document(
        "report",
        "\n\n".join(f"Day {number}. {body} {body[:70]}." for number in range(paragraphs)) + "\n",
    )


def make_needle(number):
    """Needle ``number``: about 45 words, name ``Person Zero0`` and so on, six keywords of its
    own.
    """
    name = f"Person Zero{number}"
    keywords = tuple(f"{keyword} {number}" for keyword in KEYWORDS)
    text = (
        f"{name} arrived in spring and soon became known for {keywords[0]} and for {keywords[1]}. Those who met {name} "
        f"speak of {keywords[2]}, of {keywords[3]} and of {keywords[4]}, and after a long debate the committee took "
        f"{keywords[5]} as the most lasting gift of that remarkable and busy year."
    )
    known = f"{name} is known for gifts."
    return Needle(f"report:Person:{number:02d}", "report", "Person", text, name, known, keywords)


def make_needles(count=10):
    return [make_needle(number) for number in range(count)]


def record(number, keywords, name=None):
    needle = make_needle(number)
    return {"type": "Person", "name": name or needle.name, "keywords": needle.keywords[:keywords]}


class NeedleModel:
    """Finds 7 of 10 needles, misspells one, hides one name in another record, misses one.

    Needles 0 to 2 come with six of their keywords, 3 and 4 with four, 5 and 6 with three; needle 7
    comes under a wrong name with four; the name of needle 8 stands in the description of a record
    about something else; needle 9 is missing. The first answer about every part is cut off inside
    its last record; what is cut off is listed again when asked once more. Repetitions of the parts
    in ``forgotten`` return what was listed before.
    """

    def __init__(self, forgotten=()):
        self.forgotten = forgotten

    def __call__(self, body):
        last = body["messages"][-1]["content"]
        if "These records were extracted" in last:
            return json.dumps({"match": self._judge(last)})
        shown = [
            m["content"]
            for m in body["messages"]
            if m["role"] == "user" and m["content"].startswith("Part ")
        ]
        if not shown:
            return "I would rather not."  # it invents no needles
        part, parts = map(int, re.match(r"Part (\d+) of (\d+)", shown[-1]).groups())
        again = last.startswith("Go through part")
        found = self._records(shown[-1])
        texts = [text.partition("\n\n")[2] for text in shown]
        if part == parts and texts[-1] in texts[:-1]:
            original = texts.index(texts[-1]) + 1
            name = f"fact {original}" if original in self.forgotten else f"new fact {original}"
            return json.dumps({"entities": [{"type": "Thing", "name": name}]})
        if again:
            return json.dumps({"entities": found[-1:]})
        text = json.dumps({"entities": found})
        return Reply(text[: text.rindex('"name"') + 9], finish_reason="length")

    @staticmethod
    def _records(text):
        said = {
            number: record(number, keywords)
            for number, keywords in enumerate((6, 6, 6, 4, 4, 3, 3))
        }
        said[SPELT] = record(SPELT, 4, name="Persona Zeroseven")
        spoke = f"where {make_needle(HIDDEN).name} spoke"
        said[HIDDEN] = {"type": "Place", "name": "the hall", "description": spoke}
        found = [each for number, each in said.items() if make_needle(number).name in text]
        return [*found, {"type": "Thing", "name": f"fact {text.split()[1]}"}]

    @staticmethod
    def _judge(text):
        """The judge knows needles 0 to 7, the misspelt one too."""
        asked = re.search(r"Name: Person Zero(\d)", text)
        number = int(asked[1]) if asked else 9
        wanted = "Persona Zeroseven" if number == SPELT else f"Person Person Zero{number}"
        lines = re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE)
        return next(
            (int(place) for place, line in lines if number <= SPELT and wanted in line), None
        )
