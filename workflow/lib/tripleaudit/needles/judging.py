"""The criterion llm: asking a model which extracted entity is the needle (MINEA, appendix B3)."""

from collections.abc import Generator, Sequence

from tripleaudit.generative.endpoint import Answer, Request
from tripleaudit.generative.prompts import load_prompt
from tripleaudit.needles.entities import Entity
from tripleaudit.needles.needle import Needle
from tripleaudit.needles.parsing import parse_match


def judge(
    needle: Needle, candidates: Sequence[Entity], max_tokens: int = 60, width: int = 300
) -> Generator[Request, Answer, int | None]:
    """Ask for the entity that is the needle.

    Args:
        needle: what to look for.
        candidates: what the judge sees; without candidates nothing is asked and the answer is no match.
        width: characters of an entity's line in the prompt.

    Returns:
        The ``index`` of the matched entity, or ``None``; a number outside the list is no match.
    """
    if not candidates:
        return None
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
    return candidates[number - 1].index if number is not None and 1 <= number <= len(candidates) else None
