"""Characters to tokens and back, in both layouts, on texts that are and are not tokenised."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.alignment import Aligner, choose_words, token_triples
from tripleaudit.extractors.pfn import PFN
from tripleaudit.extractors.ptrnet import PtrNet
from tripleaudit.testing import make_sentence, worked_example
from tripleaudit.testing.encoders import SYLLABLES, WORDS

RELATIONS = {"C": 0, "F": 1}
LEXICON = [word for word in WORDS.split() if not word.startswith("##")]
LEXICON += ["".join(SYLLABLES[:3]), "Zürich", "x,y"]


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_encoder)


@pytest.fixture(scope="module")
def aligner(tokenizer):
    return Aligner(tokenizer)


def test_the_worked_example_has_its_documented_indices(aligner):
    (aligned,) = aligner.align([worked_example().text])
    assert aligner.tokenizer.convert_ids_to_tokens(aligned.input_ids) == (
        ["[CLS]", "tim", "cook", "leads", "apple", "in", "cup", "##ert", "##ino", ".", "[SEP]"]
    )
    # the leading special stands before the first character, the trailing one behind the last
    assert aligned.starts.tolist() == [0, 0, 4, 9, 15, 21, 24, 27, 30, 34, 35]
    assert aligned.ends.tolist() == [0, 3, 8, 14, 20, 23, 27, 30, 33, 35, 35]
    assert aligned.word_ids.tolist() == [-1, 0, 1, 2, 3, 4, 5, 5, 5, 6, -1]


def test_markers_follow_every_whitespace_word_and_end_every_entity(tokenizer):
    (aligned,) = Aligner(tokenizer, "marker").align([worked_example().text])
    tokens = tokenizer.convert_ids_to_tokens(aligned.input_ids)
    assert " ".join(tokens).replace(" [unused1]", "|") == (
        "[CLS] tim| cook| leads| apple| in| cup ##ert ##ino| .| [SEP]"
    )
    assert aligned.characters(7, 8) == (15, 20)
    assert aligned.markers.tolist() == [token == "[unused1]" for token in tokens]


@pytest.mark.parametrize("layout", ["subword", "marker"])
@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(LEXICON), min_size=1, max_size=12), data=st.data())
def test_every_span_of_words_comes_back(aligner, tokenizer, layout, words, data):
    text = " ".join(words)
    (aligned,) = Aligner(tokenizer, layout).align([text])
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    start = len(" ".join(words[:first])) + bool(first)
    end = start + len(" ".join(words[first : last + 1]))
    span = aligned.tokens(start, end)
    assert span is not None
    assert aligned.characters(*span) == (start, end)
    if layout == "marker":
        assert span[0] < span[1]


TWICE = make_sentence("apple leads tim and apple leads tim .", ("apple", "C", "tim"))
SECOND = Sentence("s", TWICE.text, (Triple(Span(20, 25, "apple"), "C", Span(32, 35, "tim")),))
CUT = make_sentence("tim cook leads apple .", ("ti", "C", "apple"))
BEFORE = make_sentence("tim cook leads apple.", ("tim cook", "C", "apple"))
SAME = make_sentence(
    "tim leads apple .", ("tim", "C", "apple"), ("tim", "C", "apple"), ("tim", "new", "apple")
)


@pytest.mark.parametrize(
    ("layout", "most", "each", "occurrence", "rows", "lost"),
    [
        ("subword", None, worked_example(), "given", [[1, 2, 0, 4, 4], [4, 4, 1, 6, 8]], 0),
        ("marker", None, worked_example(), "given", [[1, 4, 0, 7, 8], [7, 8, 1, 11, 14]], 0),
        ("subword", 6, worked_example(), "given", [[1, 2, 0, 4, 4]], 1),
        (
            "marker",
            9,
            worked_example(),
            "given",
            [[1, 4, 0, 7, 8]],
            1,
        ),  # cut behind ##ert, in the middle of a word
        ("subword", None, CUT, "given", [], 1),
        ("subword", None, BEFORE, "given", [[1, 2, 0, 4, 4]], 0),
        (
            "marker",
            None,
            BEFORE,
            "given",
            [],
            1,
        ),  # a marker stands after a whole word, so that "apple" has none
        (
            "subword",
            None,
            TWICE,
            "all",
            [[1, 1, 0, 3, 3], [1, 1, 0, 7, 7], [5, 5, 0, 3, 3], [5, 5, 0, 7, 7]],
            0,
        ),
        ("subword", None, SECOND, "given", [[5, 5, 0, 7, 7]], 0),
        ("subword", None, SECOND, "first", [[1, 1, 0, 3, 3]], 0),
        (
            "subword",
            None,
            SAME,
            "given",
            [[1, 1, 0, 3, 3]],
            1,
        ),  # once; and one of an unknown relation
    ],
)
def test_triples_in_tokens_and_those_that_no_tokens_fit(
    tokenizer, layout, most, each, occurrence, rows, lost
):
    (aligned,) = Aligner(tokenizer, layout).align([each.text], most)
    found, missing = token_triples(aligned, each, RELATIONS, occurrence)
    assert (found.shape, found.tolist(), missing) == ((len(rows), 5), rows, lost)


TOUCHING = make_sentence(
    'Tim (apple) wrote "the engine", in Cupertino.',
    ("apple", "C", "Tim"),
    ("engine", "F", "Cupertino"),
)


def test_entities_that_touch_punctuation_have_markers_where_words_end_at_marks(tokenizer):
    for words, lost in (("blanks", 2), ("marks", 0)):
        (aligned,) = Aligner(tokenizer, "marker", words=words).align([TOUCHING.text])
        rows, missing = token_triples(aligned, TOUCHING, RELATIONS, "given")
        assert missing == lost
    for (start, end, _, head, tail), triple in zip(rows.tolist(), TOUCHING.triples, strict=True):
        assert aligned.characters(start, end) == triple.subject.offsets
        assert aligned.characters(head, tail) == triple.object.offsets


@pytest.mark.parametrize("kind", [PFN, PtrNet])
def test_extractors_of_words_write_entities_that_touch_punctuation_where_words_end_at_marks(
    tokenizer, kind
):
    config = kind.config_class(max_words=5)
    for words, written in (("blanks", [False, False]), ("marks", [True, True])):
        (aligned,) = Aligner(tokenizer, words=words).align([TOUCHING.text])
        rows, missing = token_triples(aligned, TOUCHING, RELATIONS, "given")
        assert missing == 0
        assert kind.representable(config, aligned, rows).tolist() == written


def test_the_gold_entities_of_a_corpus_decide_where_its_words_end():
    """One triple in a hundred decides; a name that is cut inside a word does not."""
    plain = [
        make_sentence(f"tim cook leads apple {number} .", ("tim cook", "C", "apple"))
        for number in range(99)
    ]
    assert choose_words([*plain, CUT]) == "blanks"
    assert choose_words([*plain, *plain, BEFORE]) == "blanks"
    assert choose_words([*plain, BEFORE]) == "marks"
    assert choose_words([]) == "blanks"


def test_empty_and_blank_texts(aligner, tokenizer):
    for each in aligner.align(["", "   "]):
        assert each.input_ids.tolist() == [tokenizer.cls_token_id, tokenizer.sep_token_id]
        assert each.tokens(0, 1) is None and each.starts.tolist() == each.ends.tolist() == [0, 0]


def test_unfit_tokenizers_are_refused(tokenizer):
    class Slow:
        is_fast = False

    with pytest.raises(UserError, match="no character offsets"):
        Aligner(Slow())
    with pytest.raises(UserError, match="no word-end marker"):
        Aligner(tokenizer, "marker", marker="[nothing]")
    with pytest.raises(UserError, match="layout 'words' is unknown"):
        Aligner(tokenizer, "words")


def test_byte_level_offsets_do_not_take_in_blanks():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(
        models.BPE(
            {"<pad>": 0, "<unk>": 1, "a": 2, "b": 3, "Ġ": 4, "Ġa": 5, "Ġb": 6},
            [("Ġ", "a"), ("Ġ", "b")],
        )
    )
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>"
    )
    (aligned,) = Aligner(tokenizer).align(["a b a"])
    assert aligned.starts.tolist() == [0, 2, 4]
    assert aligned.tokens(2, 3) == (1, 1)
    assert aligned.word_ids.tolist() == [0, 1, 2]
    assert aligned.tokens(0, 1) == (0, 0) and aligned.characters(0, 0) == (
        0,
        1,
    )  # nothing special before it


def test_a_text_that_just_fits_is_not_cut(tokenizer):
    """Nine pieces of seven words: with specials 11 tokens, with markers 18, of which the last
    may be missing.
    """
    text = worked_example().text
    for layout, limit, cut in (
        ("subword", 11, False),
        ("subword", 10, True),
        ("marker", 17, False),
        ("marker", 16, True),
    ):
        (aligned,) = Aligner(tokenizer, layout, limit=limit).align([text])
        assert (len(aligned), aligned.truncated) == (limit, cut)
        assert aligned.input_ids[[0, -1]].tolist() == [
            tokenizer.cls_token_id,
            tokenizer.sep_token_id,
        ]
    for layout in ("subword", "marker"):  # which markers do not count for
        assert [
            Aligner(tokenizer, layout).align([text], size)[0].truncated for size in (11, 10)
        ] == [False, True]
        assert Aligner(tokenizer, layout, limit=8).align([text], 11)[0].truncated
    (long,) = Aligner(tokenizer).align(["tim " * 600])
    assert len(long) == 512


def test_what_is_no_text_is_no_span(aligner, tokenizer):
    text = worked_example().text
    (plain,), (marked,) = aligner.align([text]), Aligner(tokenizer, "marker").align([text])
    assert [plain.characters(*span) for span in ((0, 1), (9, 10), (2, 1), (-1, 1), (9, 11))] == [
        None
    ] * 5
    assert plain.characters(1, 9) == (0, 35)
    assert marked.characters(2, 2) is None and marked.characters(1, 2) == (0, 3)
    assert [plain.tokens(*span) for span in ((3, 4), (8, 3), (35, 36), (36, 40), (0, 36))] == [
        None
    ] * 5
    assert plain.tokens(34, 35) == (9, 9) and plain.tokens(0, 3) == (1, 1)


def test_tokens_are_counted(aligner):
    assert aligner.token_counts(["tim", "cupertino", ""]) == [1, 3, 0]
    assert aligner.token_counts([]) == []


def test_a_tokenizer_without_padding_and_one_whose_probe_is_special_alone():
    class Odd:
        is_fast, pad_token_id = True, None

        def __call__(self, text, **options):
            if "return_special_tokens_mask" in options:
                return {"input_ids": [5, 4, 6], "special_tokens_mask": [1, 1, 1]}
            return {"offset_mapping": [(0, 1), (2, 3)]}

    aligner = Aligner(Odd())
    assert (aligner.prefix, aligner.suffix, aligner.pad_id) == ([5], [6], 0)
