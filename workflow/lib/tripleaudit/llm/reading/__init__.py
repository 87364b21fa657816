"""Readers of answers of language models; they never raise for, or add to, the content."""

from tripleaudit.llm.reading.entity_answers import parse_entities
from tripleaudit.llm.reading.json_values import Decoded, decode
from tripleaudit.llm.reading.label_answers import parse_label
from tripleaudit.llm.reading.parsed import STATUSES, Parsed
from tripleaudit.llm.reading.part_answers import count_parts
from tripleaudit.llm.reading.record_answers import parse_match, parse_rows
from tripleaudit.llm.reading.triple_answers import ParsedTriple, parse_triples
from tripleaudit.llm.reading.verdict_answers import parse_yes_no

__all__ = [
    "STATUSES",
    "Decoded",
    "Parsed",
    "ParsedTriple",
    "count_parts",
    "decode",
    "parse_entities",
    "parse_label",
    "parse_match",
    "parse_rows",
    "parse_triples",
    "parse_yes_no",
]
