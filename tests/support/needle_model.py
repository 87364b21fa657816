"""A scripted language model for MINEA: known behaviour behind the fake endpoint, so that every number can be computed
by hand."""

import json
import re

from support.fake_endpoint import Reply
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.needle import Needle

FOUND, SPELT, HIDDEN, MISSED = range(7), 7, 8, 9
KEYWORDS = ("amber lamp", "brass wheel", "cedar chest", "dusty map", "eager crowd", "final proof")


def make_document(paragraphs=40):
    """About 8,000 characters in which no needle occurs."""
    body = "Rain fell on the roof while the clerk copied one page after the other, and no guest came to the door."
    return Document("report", "\n\n".join(f"Day {number}. {body} {body[:70]}." for number in range(paragraphs)) + "\n")


def make_needle(number, kind="Person"):
    """Needle ``number``: about 45 words, name ``Person Zero0`` and so on, six keywords of its own."""
    name = f"{kind} Zero{number}"
    keywords = tuple(f"{keyword} {number}" for keyword in KEYWORDS)
    text = (
        f"{name} arrived in spring and soon became known for {keywords[0]} and for {keywords[1]}. Those who met {name} "
        f"speak of {keywords[2]}, of {keywords[3]} and of {keywords[4]}, and after a long debate the committee took "
        f"{keywords[5]} as the most lasting gift of that remarkable and busy year."
    )
    return Needle(f"report:{kind}:{number:02d}", "report", kind, text, name, f"{name} is known for gifts.", keywords)


def make_needles(count=10):
    return [make_needle(number) for number in range(count)]


def record(number, keywords, name=None, **more):
    needle = make_needle(number)
    return {"type": "Person", "name": name or needle.name, "keywords": list(needle.keywords[:keywords]), **more}


class NeedleModel:
    """Finds 7 of 10 needles, misspells one, hides one name in another record, misses one.

    Needles 0 to 2 come with six of their keywords, 3 and 4 with four, 5 and 6 with three; needle 7 comes under a wrong
    name with four; the name of needle 8 stands in the description of a record about something else; needle 9 is
    missing. The first answer about every part is cut off inside its last record; what is cut off is listed again when
    asked once more. Repetitions of the parts in ``forgotten`` return what was listed before.
    """

    def __init__(self, forgotten=()):
        self.forgotten = forgotten
        self.log = []

    def __call__(self, body):
        last = body["messages"][-1]["content"]
        if "These records were extracted" in last:
            return json.dumps({"match": self._judge(last)})
        shown = [m["content"] for m in body["messages"] if m["role"] == "user" and m["content"].startswith("Part ")]
        if not shown:
            return "I would rather not."  # it invents no needles
        part, parts = map(int, re.match(r"Part (\d+) of (\d+)", shown[-1]).groups())
        again = last.startswith("Go through part")
        self.log.append((part, parts, again))
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
        found = []
        for number in range(10):
            if make_needle(number).name not in text:
                continue
            if number in FOUND:
                found.append(record(number, 6 if number < 3 else 4 if number < 5 else 3))
            elif number == SPELT:
                found.append(record(number, 4, name="Persona Zeroseven"))
            elif number == HIDDEN:
                hidden = make_needle(number).name
                found.append({"type": "Place", "name": "the hall", "description": f"where {hidden} spoke"})
        part = re.match(r"Part (\d+)", text)[1]
        return [*found, {"type": "Thing", "name": f"fact {part}"}]

    @staticmethod
    def _judge(text):
        """The judge knows needles 0 to 7, the misspelt one too."""
        asked = re.search(r"Name: Person Zero(\d)", text)
        if asked is None:
            return None
        number = int(asked[1])
        wanted = "Persona Zeroseven" if number == SPELT else f"Person Person Zero{number}"
        for line in re.findall(r"^\d+\. .*$", text, re.MULTILINE):
            if number <= SPELT and wanted in line:
                return int(line.split(".")[0])
        return None
