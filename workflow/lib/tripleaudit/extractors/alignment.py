"""Where the encoder's tokens lie in the text: character spans to token spans and back.

A text is tokenised once by a fast tokenizer. Three layouts exist:

- ``subword``: specials and word pieces, as the tokenizer gives them;
- ``marker``: one marker token follows the pieces of every whitespace word; the last token of an
  entity is then the marker of its last word, so that start and end of an entity always differ
  (OneRel, Shang et al., AAAI 2022);
- ``exclusive``: the tokens of ``subword``; the model tags the token after an entity as its end
  (:mod:`tripleaudit.extractors.casrel`), so that a special token has to follow the text.

Words end at blanks, in scripts without blanks after every word and mark. With ``words: marks`` they
end at punctuation marks, too, as natural text needs it ("born in Kiel."): markers, PFN and PtrNet
otherwise lose entities that touch one.

Predictions are always slices of the original text, never re-joined word pieces.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.words import is_inside_word, segment_spans, word_and_mark_spans

LAYOUTS = ("subword", "marker")
EXCLUSIVE = "exclusive"
MARKERS = ("[unused1]", "<unused1>", "madeupword0001")
WORDS = ("blanks", "marks")
MIN_TOUCHING_SHARE = 0.01  # of the gold triples, from which on a corpus is divided at marks


@dataclass(frozen=True, slots=True)
class Alignment:
    """One tokenised text; all arrays have length L (tokens, specials included).

    Attributes:
        starts, ends: character offsets of each token (end exclusive); zero-width for specials and
        markers. word_ids: number of the word that the token belongs to, -1 for specials. markers:
        whether a token is a word-end marker; None in the ``subword`` layout. truncated: whether
        tokens of the text were cut off.
    """

    input_ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    word_ids: np.ndarray
    markers: np.ndarray | None
    truncated: bool

    def __len__(self) -> int:
        return len(self.input_ids)

    def tokens(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the inclusive token span of characters [start, end); None if none fits exactly."""
        first = int(np.searchsorted(self.ends, start, side="right"))
        last = int(np.searchsorted(self.starts, end, side="left")) - 1
        if (
            not 0 <= first <= last < len(self)
            or self.word_ids[first] < 0
            or self.word_ids[last] < 0
        ):
            return None
        if self.markers is not None:  # the span ends with the marker of its last word
            stop = int(np.flatnonzero(self.word_ids >= 0)[-1]) + 1  # word ids rise up to there
            last = int(np.searchsorted(self.word_ids[:stop], self.word_ids[last], side="right")) - 1
            if not self.markers[last]:
                return None
        if self.starts[first] != start or self.ends[last] != end:
            return None
        return first, last

    def first_of_word(self, tokens: np.ndarray) -> np.ndarray:
        """Return which token indices are the first of their word, bool of the same shape."""
        return np.diff(self.word_ids, prepend=-1)[tokens] != 0

    def last_of_word(self, tokens: np.ndarray) -> np.ndarray:
        """Return which token indices are the last of their word, bool of the same shape."""
        return np.diff(self.word_ids, append=-1)[tokens] != 0

    def characters(self, first: int, last: int) -> tuple[int, int] | None:
        """Return characters [start, end) of an inclusive token span; None if it has no text."""
        if (
            not 0 <= first <= last < len(self)
            or self.word_ids[first] < 0
            or self.word_ids[last] < 0
        ):
            return None
        start, end = int(self.starts[first]), int(self.ends[last])
        return (start, end) if start < end else None


class Aligner:
    """Tokenises texts for one extractor.

    Args:
        tokenizer: a fast tokenizer (character offsets are needed).
        layout: ``subword``, ``marker`` or ``exclusive``.
        marker: the marker token of the ``marker`` layout; the first of ``MARKERS`` in the
            vocabulary if None.
        limit: the most tokens the encoder takes, specials and markers included.
        words: where words end: at ``blanks``, or at blanks and ``marks``.

    Raises:
        UserError: the tokenizer gives no offsets, has no token that can serve as a marker, or
            appends no special token that the ``exclusive`` layout needs.
    """

    def __init__(
        self,
        tokenizer,
        layout: str = "subword",
        marker: str | None = None,
        limit: int = 512,
        words: str = "blanks",
    ):
        if layout not in (*LAYOUTS, EXCLUSIVE):
            raise UserError(
                f"layout {layout!r} is unknown; expected one of {', '.join((*LAYOUTS, EXCLUSIVE))}"
            )
        if not getattr(tokenizer, "is_fast", False):
            raise UserError(
                f"the tokenizer {type(tokenizer).__name__} of the encoder gives no character offsets; "
                "expected an encoder with a fast tokenizer (a tokenizer.json)"
            )
        self.tokenizer, self.layout, self.limit, self.words = tokenizer, layout, limit, words
        self._word_spans = word_and_mark_spans if words == "marks" else segment_spans
        self.pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        probe = tokenizer("a", return_special_tokens_mask=True)
        specials = probe["special_tokens_mask"]
        inner = [index for index, special in enumerate(specials) if not special] or [
            len(specials) // 2
        ]
        self.prefix = probe["input_ids"][: inner[0]]
        self.suffix = probe["input_ids"][inner[-1] + 1 :]
        if layout == EXCLUSIVE and not self.suffix:
            raise UserError(
                f"layout {EXCLUSIVE!r}: the encoder's tokenizer appends no special token to a text, which this layout "
                "tags as the end of a last entity; use layout: marker"
            )
        self.marker_id = _marker_id(tokenizer, marker) if layout == "marker" else None
        pieces = tokenizer("a b", add_special_tokens=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        self._blanks = any(
            begin == 1 for begin, _ in pieces
        )  # a piece's offsets take in the blank before it

    def align(self, texts: Sequence[str], max_length: int | None = None) -> list[Alignment]:
        """Tokenise texts to ``max_length`` tokens with specials, up to ``limit``.

        Markers are not counted.

        A cut always falls between two tokens and the trailing specials are kept.
        """
        if not texts:
            return []
        backend = (
            self.tokenizer.backend_tokenizer
        )  # what the tokenizer makes of its answer takes as long again
        if backend.truncation is not None:
            backend.no_truncation()
        if backend.padding is not None:
            backend.no_padding()
        encoded = backend.encode_batch(list(texts), add_special_tokens=False)
        return [
            self._build(text, each.ids, each.offsets, max_length)
            for text, each in zip(texts, encoded, strict=True)
        ]

    def aligned(self, texts: Iterable[str]) -> dict[str, Alignment]:
        """Each distinct text with what :meth:`align` makes of it."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self.align(distinct), strict=True))

    def token_counts(self, strings: Sequence[str]) -> list[int]:
        """Return how many tokens each string has where it stands after a blank."""
        if not strings:
            return []
        encoded = self.tokenizer(
            [f" {each}" for each in strings], add_special_tokens=False, return_attention_mask=False
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def _build(
        self, text: str, ids: list[int], offsets: list[tuple[int, int]], max_length: int | None
    ) -> Alignment:
        frame = len(self.prefix) + len(self.suffix)
        room = min(max_length or self.limit, self.limit) - frame
        if self._blanks:
            offsets = [(begin + _leading_blanks(text[begin:end]), end) for begin, end in offsets]
        spans = np.array(offsets[:room], dtype=np.int64).reshape(-1, 2)
        tokens = np.array(ids[:room], dtype=np.int64)
        word_starts = np.array([start for start, _ in self._word_spans(text)], dtype=np.int64)
        # the word that holds the token's last character: pieces of some tokenizers begin with the
        # blank before it
        words = np.maximum(np.searchsorted(word_starts, spans[:, 1], side="left") - 1, 0)
        truncated = len(ids) > room
        markers = None
        if self.layout == "marker":
            tokens, spans, words, markers = (
                array[: self.limit - frame] for array in self._insert_markers(tokens, spans, words)
            )
            truncated = truncated or int(np.sum(~markers)) < len(ids)
        end = int(spans[-1, 1]) if len(spans) else 0
        return Alignment(
            input_ids=self._framed(tokens, self.prefix, self.suffix),
            starts=self._framed(spans[:, 0], 0, end),
            ends=self._framed(spans[:, 1], 0, end),
            word_ids=self._framed(words, -1, -1),
            markers=None if markers is None else self._framed(markers, False, False),
            truncated=truncated,
        )

    def _framed(self, values: np.ndarray, before, after) -> np.ndarray:
        """Put values for the leading and trailing specials around those of the text's tokens."""
        frame = np.empty(len(self.prefix) + len(values) + len(self.suffix), dtype=values.dtype)
        first, last = len(self.prefix), len(self.prefix) + len(values)
        frame[:first], frame[first:last], frame[last:] = before, values, after
        return frame

    def _insert_markers(self, tokens: np.ndarray, spans: np.ndarray, words: np.ndarray):
        """Put the marker, a zero-width token, after the last piece of every word."""
        last = np.append(words[1:] != words[:-1], np.ones(min(1, len(words)), dtype=bool))
        after = np.flatnonzero(last) + 1
        ends = spans[last, 1]
        return (
            np.insert(tokens, after, self.marker_id),
            np.insert(spans, after, np.stack([ends, ends], axis=1), axis=0),
            np.insert(words, after, words[last]),
            np.insert(np.zeros(len(tokens), dtype=bool), after, True),
        )


def choose_words(sentences: Iterable[Sentence]) -> str:
    """Return where words of a corpus have to end so that its gold entities begin and end at words.

    Returns:
        ``marks`` if at least ``MIN_TOUCHING_SHARE`` of the gold triples have an entity that touches
        a mark, else ``blanks``. Corpora with blanks around marks, as the benchmarks have them, keep
        their words.
    """
    located = touching = 0
    for sentence in sentences:
        triples = [triple for triple in dict.fromkeys(sentence.triples) if triple.located]
        segments = segment_spans(sentence.text) if triples else []
        starts, ends = {start for start, _ in segments}, {end for _, end in segments}
        located += len(triples)
        for triple in triples:
            edges = [(span.start, starts) for span in (triple.subject, triple.object)]
            edges += [(span.end, ends) for span in (triple.subject, triple.object)]
            touching += any(
                edge not in known and not is_inside_word(sentence.text, edge)
                for edge, known in edges
            )
    return "marks" if located and touching / located >= MIN_TOUCHING_SHARE else "blanks"


def _leading_blanks(piece: str) -> int:
    return len(piece) - len(piece.lstrip())


def _marker_id(tokenizer, marker: str | None) -> int:
    vocabulary = tokenizer.get_vocab()
    for token in (marker,) if marker else MARKERS:
        if token in vocabulary:
            return vocabulary[token]
    raise UserError(
        f"the encoder's vocabulary has no word-end marker ({marker or ', '.join(MARKERS)}); "
        "name a spare token of its vocabulary with the setting 'marker'"
    )


def token_triples(
    alignment: Alignment, sentence: Sentence, relations: dict[str, int], occurrence: str = "given"
) -> tuple[np.ndarray, int]:
    """Turn the gold triples of a sentence into token indices.

    Args:
        alignment: the tokenised ``sentence.text``.
        sentence: gold triples with character spans; triples with an unlocated argument are lost.
        occurrence: ``given`` takes the spans as the corpus has them, ``first`` moves both entities
            to the first occurrence of their strings, ``all`` pairs every subject occurrence with
            every object occurrence (TPLinker; Wang et al., COLING 2020).

    Returns:
        rows [n, 5] int64 of (subject start, subject end, relation, object start, object end),
        inclusive token indices, distinct, in the order of ``sentence.triples``; and the number of
        triples of which no row is left.
    """
    rows: dict[tuple[int, ...], None] = {}
    lost = 0
    for triple in dict.fromkeys(sentence.triples):
        relation = relations.get(triple.relation)
        if relation is None or not triple.located:
            lost += 1
            continue
        found = False
        for subject in _positions(sentence.text, triple.subject, occurrence):
            for object_ in _positions(sentence.text, triple.object, occurrence):
                head, tail = alignment.tokens(*subject), alignment.tokens(*object_)
                if head is not None and tail is not None:
                    rows[(*head, relation, *tail)] = None
                    found = True
        lost += not found
    return np.array(list(rows), dtype=np.int64).reshape(-1, 5), lost


def _positions(text: str, span: Span, occurrence: str) -> list[tuple[int, int]]:
    given = (span.start, span.end)
    if occurrence == "given":
        return [given]
    positions, _ = find_spans(text, span.text, every=occurrence == "all")
    return positions if occurrence == "first" or given in positions else [given, *positions]
