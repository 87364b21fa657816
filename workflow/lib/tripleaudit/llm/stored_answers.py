"""Stored answers of language models, read by the parser that endpoints use.

``answers``: rows with a column ``response``, ``answer``, ``completion``, ``output``,
``generated_text`` or the like, or the one that ``columns: {answer: NAME}`` names, and the text or
the id of their sentence. Output files of OpenAI's batch interface are such rows, too: an answer
belongs to the sentence whose id is its ``custom_id``. A request that failed is no answer: its row
is left out with a warning, so that its sentence has no prediction.

Answers that cannot be read, were refused or cut, and items of answers that are no triples are
counted as they are for endpoints.
"""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.wording import counted
from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.readers.common import shown
from tripleaudit.corpora.readers.records import USUAL, Columns, Mapped
from tripleaudit.corpora.readers.row_files import ABSENT, Probe, Row, Rows, at, read_rows
from tripleaudit.corpora.spec import CorpusFormat
from tripleaudit.llm.endpoint import Answer
from tripleaudit.llm.reading import parse_triples
from tripleaudit.llm.response import status_of

log = logging.getLogger(__name__)
ANSWER_COLUMNS = (
    "response",
    "answer",
    "completion",
    "output",
    "raw_output",
    "raw_response",
    "model_output",
    "generated_text",
)
BATCH_CHOICE = "response.body.choices.0"
FAILED_REQUESTS = "request{s} of a batch failed and {have} no answer"
JUDGEMENTS = ("accept", "reject", "ignore")
"""Values of ``answer`` in the rows of Prodigy, where it is no answer of a model."""
NOTE_OF_STATUS = {
    "failed": "unread_answers",
    "refused": "refused_answers",
    "truncated": "truncated_answers",
}


def answer_rows(path: Path, columns: Mapping[str, str] | None = None) -> Rows:
    """Yield ``{"id", "text", "triples"}`` of each answer, as far as the file has them.

    Requests of a batch that failed are left out with a warning.

    Raises:
        UserError: a row has no answer, or all requests failed.
    """
    column = (columns or {}).get("answer")
    failures: list[str] = []
    has_answer = False
    roles = Mapped({role: name for role, name in (columns or {}).items() if role != "answer"})
    for where, row in read_rows(path, roles.given.get("rows")):
        if not isinstance(row, dict):
            raise UserError(f"{where}: expected an object, got {shown(row)}")
        failure = _failure_of(row) if column is None and _is_batch(row) else ""
        if failure:
            failures.append(f"{where}: {failure}")
            continue
        has_answer = True
        yield where, _parsed_row(row, roles, column, where)
    if not failures:
        return
    if not has_answer:
        raise UserError(
            f"{path}: every request failed, such as {failures[0]}; send the requests again"
        )
    log.warning("%s: %s, such as %s", path, counted(len(failures), FAILED_REQUESTS), failures[0])


def _failure_of(row: Mapping[str, Any]) -> str:
    """Return why a request of a batch has no answer; empty if it has one."""
    status = at(row, "response.status_code")
    status_text = "" if status in (ABSENT, 200) else f"status {shown(status)}"
    errors = (row.get("error"), at(row, "response.body.error"))
    error = next((error for error in errors if error is not ABSENT and error), None)
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("code", "message") if error.get(key)]
        error = ": ".join(words) or error
    reasons = [status_text, shown(error) if error else ""]
    if not any(reasons) and not isinstance(at(row, BATCH_CHOICE), dict):
        reasons.append("no answer")
    return ", ".join(reason for reason in reasons if reason)


def _parsed_row(row: dict[str, Any], roles: Mapped, column: str | None, where: str) -> Row:
    answer = _answer_of(row, column, where)
    parsed = parse_triples(answer)
    left_out = []
    if parsed.status in NOTE_OF_STATUS:
        left_out.append(LeftOut(NOTE_OF_STATUS[parsed.status], f"{where}: {shown(answer.text)}"))
    left_out += [LeftOut("dropped_items", where)] * parsed.dropped
    result: dict[str, Any] = {"triples": [triple.to_json() for triple in parsed.records]}
    text = roles.find(row, "text")
    if isinstance(text, str):
        result["text"] = text
    name = row.get("custom_id") if _is_batch(row) else roles.find(row, "id")
    if name is not ABSENT and name is not None:
        result["id"] = str(name)
    return Row(result, left_out)


def _answer_of(row: dict[str, Any], column: str | None, where: str) -> Answer:
    """Return the answer of a row with its status."""
    if column is None and _is_batch(row):
        choice = at(row, BATCH_CHOICE)
        text = at(choice, "message.content")
        reason = choice.get("finish_reason")
    else:
        if column is None:
            _refuse_second_answer(row, where)
        text = at(row, column) if column else row.get(_answer_column(row) or "", ABSENT)
        reason = row.get("finish_reason")
        if text is ABSENT:
            expected = repr(column) if column else f"one of {', '.join(ANSWER_COLUMNS)}"
            raise UserError(
                f"{where}: has no answer, expected the column {expected}; --column answer=COLUMN names another one"
            )
    text = "" if text is None or text is ABSENT else text
    if not isinstance(text, str):
        raise UserError(f"{where}: the answer is {shown(text)}, expected a string")
    reason = reason if isinstance(reason, str) else None
    return Answer(text, status_of(reason), reason)


def _refuse_second_answer(row: dict[str, Any], where: str) -> None:
    """Refuse a row with two answers of different triples, of which one may be the gold.

    Raises:
        UserError: it is open which of them is the prediction.
    """
    names = [name for name in ANSWER_COLUMNS if isinstance(row.get(name), str)]
    if len(names) < 2:
        return
    answers = {name: parse_triples(row[name]).records for name in names}
    for name in names[1:]:
        if answers[name] != answers[names[0]]:
            raise UserError(
                f"{where}: both {names[0]!r} and {name!r} hold answers; name the one with the predictions, with "
                f"--predicted-column answer={names[0]} or --predicted-column answer={name}"
            )


def _is_batch(row: dict[str, Any]) -> bool:
    return "custom_id" in row and isinstance(row.get("response"), dict | None)


def _answer_column(row: dict[str, Any]) -> str | None:
    for name in ANSWER_COLUMNS:
        if isinstance(row.get(name), str) and row[name] not in JUDGEMENTS:
            return name
    return None


def read(
    path: str | Path, columns: Mapping[str, str] | None = None, side: str = "predict"
) -> Iterator[RawSentence | LeftOut]:
    """Yield the sentences of answers that have their texts.

    Raises:
        UserError: a row has no text, or no answer.
    """
    Columns.checked({key: value for key, value in (columns or {}).items() if value}, f"{path}")
    mapped = Mapped({"id": "id", "text": "text", "triples": "triples"}, predicts=side == "predict")
    for number, (where, row) in enumerate(answer_rows(Path(path), columns)):
        if "text" not in row:
            raise UserError(
                f"{where}: the answer has no text; expected one, or the file as predictions next to a gold set with "
                "the same ids, as in tripleaudit score GOLD ANSWERS"
            )
        yield mapped.sentence(row, where, number)


def _detects(probe: Probe) -> bool:
    row = probe.row
    if not row:
        return False
    if _is_batch(row):
        return True
    has_sentence = any(name in row for name in (*USUAL["text"], *USUAL["id"]))
    if not has_sentence or "triples" not in Mapped().lacks({**row, "text": ""}):
        return False
    # of a table, only the names of the columns are known
    is_table = probe.first not in ("", "[", "{")
    return _answer_column(row) is not None or (is_table and any(n in row for n in ANSWER_COLUMNS))


ANSWERS = CorpusFormat(
    name="answers",
    order=49,
    read=read,
    options=("columns", "side"),
    detects=_detects,
    rows_without_texts=answer_rows,
)
