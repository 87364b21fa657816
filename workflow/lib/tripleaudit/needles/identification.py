"""The criterion of MINEA that asks a language model: is one of these entities the needle?"""

from collections.abc import Generator, Sequence

from tripleaudit.llm.answers import parse_match
from tripleaudit.llm.endpoint import Answer, Request
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.needles.entities import Entity
from tripleaudit.needles.needle import Needle

READS = ("data/prompts/minea-identify.yaml",)


def judge(
    needle: Needle, candidates: Sequence[Entity], max_tokens: int = 60, width: int = 300
) -> Generator[Request, Answer, tuple[int | None, Answer | None]]:
    """Ask for the entity that is the needle.

    Args:
        candidates: what the judge sees; without candidates nothing is asked and the answer is no match.
        width: characters of an entity's line in the prompt.

    Returns:
        The ``index`` of the matched entity, or ``None`` (a number outside the list is no match), and the answer.
    """
    if not candidates:
        return None, None
    lines = [f"{number}. {entity.line()[:width]}" for number, entity in enumerate(candidates, 1)]
    answer = yield load_prompt("minea-identify").request(
        max_tokens=max_tokens,
        name=needle.name,
        type=needle.type,
        description=needle.description,
        keywords=", ".join(needle.keywords),
        paragraph=needle.paragraph,
        records="\n".join(lines),
    )
    number = parse_match(answer.text) if answer.status in ("ok", "truncated") else None
    if number is None or not 1 <= number <= len(candidates):
        return None, answer
    return candidates[number - 1].index, answer
