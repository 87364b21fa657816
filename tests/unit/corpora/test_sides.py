"""Rows that hold gold triples and predictions: whoever reads the predictions never gets the
gold.
"""

import json

import pytest

import tripleaudit
from support.reading import lines, strings, write
from support.samples import TYPED
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus

TEXT = "Ada Lund leads Harrow Steel in Oslo ."
LEADS, BASED, LIVES = (
    ("Ada Lund", "leads", "Harrow Steel"),
    ("Harrow Steel", "based in", "Oslo"),
    ("Ada Lund", "in", "Oslo"),
)
GOLD = {"text": TEXT, "triples": [LEADS, BASED]}
TOKENS = TEXT.split()


def spo(*triples: tuple[str, str, str]) -> list[dict]:
    return [
        dict(zip(("subject", "predicate", "object"), triple, strict=True)) for triple in triples
    ]


def mentions(*triples: tuple[str, str, str]) -> list[dict]:
    return [
        {"em1Text": subject, "label": relation, "em2Text": object_}
        for subject, relation, object_ in triples
    ]


def region(name: str, text: str) -> dict:
    start = TEXT.index(text)
    return {
        "id": name,
        "type": "labels",
        "value": {"start": start, "end": start + len(text), "text": text, "labels": ["X"]},
    }


def studio(predicted: list[dict]) -> dict:
    entities = [region("a", "Ada Lund"), region("h", "Harrow Steel"), region("o", "Oslo")]
    arrow = {
        "type": "relation",
        "from_id": "a",
        "to_id": "h",
        "labels": ["leads"],
        "direction": "right",
    }
    result = [*entities, arrow, {**arrow, "from_id": "h", "to_id": "o", "labels": ["based in"]}]
    return {
        "id": 1,
        "data": {"text": TEXT},
        "annotations": [{"result": result}],
        "predictions": predicted,
    }


SPANS = {"subj_char_span": [None, None], "obj_char_span": [None, None]}
DYGIE = {
    "doc_key": "d", "sentences": [TOKENS], "ner": [[[0, 1, "P"], [3, 4, "O"], [6, 6, "L"]]],
    "relations": [[[0, 1, 3, 4, "leads"], [3, 4, 6, 6, "based in"]]],
}  # fmt: skip
ENTITIES = [
    {"type": "P", "start": 0, "end": 2},
    {"type": "O", "start": 3, "end": 5},
    {"type": "L", "start": 6, "end": 7},
]
SPERT = {
    "tokens": TOKENS, "entities": ENTITIES,
    "relations": [{"type": "leads", "head": 0, "tail": 1}, {"type": "based in", "head": 1, "tail": 2}],
}  # fmt: skip
PREDICTED = {
    "GRTE": {
        "text": TEXT, "triple_list": [LEADS, BASED], "triple_list_pred": [LEADS, LIVES], "new": [LIVES],
    },
    "CasRel and OneRel": {
        "text": TEXT, "triple_list_gold": spo(LEADS, BASED), "triple_list_pred": spo(LEADS, LIVES), "new": [],
    },
    "bert4keras": {"text": TEXT, "spo_list": [LEADS, BASED], "spo_list_pred": [LEADS, LIVES], "new": [], "lack": []},
    "DyGIE++ and PURE": {
        **DYGIE, "predicted_ner": [[[0, 1, "P", 9.1, 0.9]]],
        "predicted_relations": [[[0, 1, 3, 4, "leads", 3.2, 0.9], [0, 1, 6, 6, "in", 1.0, 0.5]]],
    },
    "SpERT": {
        **SPERT, "relations_pred": [{"type": "leads", "head": 0, "tail": 1}, {"type": "in", "head": 0, "tail": 2}],
    },
    "NYT": {
        "sentText": TEXT, "relationMentions": mentions(LEADS, BASED), "relationMentions_pred": mentions(LEADS, LIVES),
    },
    "Label Studio": studio([{"result": [
        region("a", "Ada Lund"), region("h", "Harrow Steel"), region("o", "Oslo"),
        {"type": "relation", "from_id": "a", "to_id": "h", "labels": ["leads"], "direction": "right"},
        {"type": "relation", "from_id": "a", "to_id": "o", "labels": ["in"], "direction": "right"},
    ]}]),
    "columns": {"text": TEXT, "triples": [LEADS, BASED], "predictions": [LEADS, LIVES]},
    "camel case": {"text": TEXT, "goldTriples": [LEADS, BASED], "predictedTriples": [LEADS, LIVES]},
    "nested": {"text": TEXT, "gold": [LEADS, BASED], "triples": [LEADS, LIVES]},
}  # fmt: skip


@pytest.mark.parametrize("row", PREDICTED.values(), ids=PREDICTED)
def test_one_file_holds_gold_and_predictions(row: dict, tmp_path, capsys) -> None:
    path = write(tmp_path, {"both.json": json.dumps([row])})
    gold = write(tmp_path, {"gold.json": json.dumps([GOLD])})
    for right in (path, gold):
        scores = tripleaudit.score(right, path, bootstrap=0).micro
        assert (scores.correct, scores.predicted, scores.gold) == (1, 2, 2)
    assert main(["score", str(path), str(path), "--bootstrap", "0"]) == 0
    assert main(["compare", str(gold), str(path), str(path), "--bootstrap", "0"]) == 0


def test_a_row_with_two_predicted_fields_is_counted_once(tmp_path) -> None:
    path = write(tmp_path, {"both.json": json.dumps([PREDICTED["DyGIE++ and PURE"]])})
    assert read_corpus(path, side="predict").report.notes["predictions_read"] == 1


def test_predicted_entities_are_not_offered_as_triples(tmp_path) -> None:
    """As the first step of PL-Marker writes them: predicted entities next to the gold relations."""
    row = {**DYGIE, "predicted_ner": [[[0, 1, "P"]]]}
    with pytest.raises(UserError, match="'predicted_relations'") as error:
        read_corpus(write(tmp_path, {"ner.json": json.dumps([row])}), side="predict")
    assert "triples=predicted_ner" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["GRTE", "CasRel and OneRel", "bert4keras", "columns", "camel case"]
)
def test_rows_in_memory_are_read_like_files(name: str) -> None:
    row = PREDICTED[name]
    scores = tripleaudit.score([GOLD], [row], bootstrap=0).micro
    assert (scores.correct, scores.predicted) == (1, 2)


NAMINGS = {
    "_pred": "{}_pred",
    "predicted_": "predicted_{}",
    "pred_": "pred_{}",
    "_predictions": "{}_predictions",
}


@pytest.mark.parametrize("naming", NAMINGS.values(), ids=NAMINGS)
@pytest.mark.parametrize("format", TYPED)
def test_no_format_gives_the_gold_for_predictions(format: str, naming: str, tmp_path) -> None:
    """Of every list of a row, the same row holds an empty predicted one: nothing was predicted,
    or it is refused.
    """
    row = TYPED[format]
    gold = read_corpus(write(tmp_path, {"gold.json": json.dumps([row])}), side="predict")
    assert strings(gold) == [[("Ada", "leads", "Delta")]]
    lists = [
        name
        for name, value in row.items()
        if isinstance(value, list) and name not in ("tokens", "token")
    ]
    for number, name in enumerate(lists):
        path = write(tmp_path, {f"{number}.json": json.dumps([{**row, naming.format(name): []}])})
        try:
            corpus = read_corpus(path, side="predict")
        except UserError:
            continue
        assert strings(corpus) == [[]]


@pytest.mark.parametrize("format", TYPED)
@pytest.mark.parametrize("name", ["predictions", "pred", "prediction"])
def test_an_undeclared_list_of_predictions_is_read_or_refused(
    format: str, name: str, tmp_path
) -> None:
    path = write(tmp_path, {"a.json": json.dumps([{**TYPED[format], name: [{"x": 1}]}])})
    try:
        corpus = read_corpus(path, side="predict")
    except UserError:
        return
    assert strings(corpus) != [[("Ada", "leads", "Delta")]]


def test_a_table_with_a_relation_and_a_prediction_is_refused(tmp_path, capsys) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"text": TEXT, "triples": [LEADS]}))
    table = tmp_path / "table.csv"
    table.write_text(f"text,head,tail,label,prediction\n{TEXT},Ada Lund,Harrow Steel,leads,NA\n")
    assert main(["score", str(gold), str(table), "--bootstrap", "0"]) == 1
    assert "'prediction' holds predictions next to 'label'" in capsys.readouterr().err
    named = ["--predicted-column", "relation=prediction", "--bootstrap", "0"]
    assert main(["score", str(gold), str(table), *named]) == 0
    assert " 0          0     1" in capsys.readouterr().out


def test_rows_without_predictions_among_rows_with_them_are_refused(tmp_path) -> None:
    rows = [
        {"text": "a b", "triple_list": []},
        {"text": TEXT, "triple_list": [LEADS], "triple_list_pred": []},
    ]
    for number, order in enumerate((rows, rows[::-1])):
        path = write(tmp_path, {f"{number}.jsonl": lines(*order)})
        with pytest.raises(UserError, match="'triple_list' without 'triple_list_pred'"):
            read_corpus(path, side="predict")


def test_a_named_column_is_read_whatever_it_is_called(tmp_path) -> None:
    path = write(tmp_path, {"a.json": json.dumps([PREDICTED["GRTE"]])})
    columns = {"triples": "triple_list"}
    assert (
        tripleaudit.score([GOLD], path, predicted_columns=columns, bootstrap=0).micro.correct == 2
    )


def test_predictions_next_to_the_gold_are_counted_on_its_side(tmp_path) -> None:
    corpus = read_corpus(write(tmp_path, {"a.json": json.dumps([PREDICTED["GRTE"]])}))
    assert strings(corpus) == [[LEADS, BASED]]
    assert corpus.report.notes["predictions_beside"] == 1


def test_empty_predictions_of_label_studio_are_not_its_annotations(tmp_path) -> None:
    task = studio([])
    task["annotations"][0]["completed_by"] = "ann"
    path = write(tmp_path, {"a.json": json.dumps([task])})
    with pytest.raises(UserError, match="'predictions' is empty .* 'annotations'"):
        tripleaudit.score([GOLD], path, bootstrap=0)
    named = tripleaudit.score([GOLD], path, predicted_columns={"annotator": "ann"}, bootstrap=0)
    assert named.micro.correct == 2


def test_a_study_reads_the_predictions(tmp_path) -> None:
    from tripleaudit.corpora.model import Sentence
    from tripleaudit.systems.queries import Query
    from tripleaudit.systems.stored import answer

    for number, name in enumerate(("GRTE", "DyGIE++ and PURE", "Label Studio")):
        path = write(tmp_path, {f"{number}.json": json.dumps([PREDICTED[name]])})
        answered = answer(Query("x", {}, [Sentence("s", TEXT)], {}, [], {"files": [str(path)]}))
        assert [triple.strings for triple in answered.sentences[0].triples] == [LEADS, LIVES]


def test_a_file_in_a_known_format_is_not_one_without_texts(tmp_path) -> None:
    path = write(tmp_path, {"a.jsonl": lines(DYGIE)})
    assert tripleaudit.score(path, path, bootstrap=0).micro.correct == 2


@pytest.mark.parametrize(
    "item",
    [["Ada Lund", "leads"], {"subject": "Ada Lund", "predicate": "in", "object": None}, "none", 7, None,
     {"subject": "Ada Lund", "predicate": "in", "object": ["Oslo", "Lima"]}],
)  # fmt: skip
def test_a_malformed_prediction_costs_one_item(item, tmp_path, caplog) -> None:
    gold = write(tmp_path, {"gold.jsonl": lines(GOLD, {"text": "b", "triples": []})})
    path = write(
        tmp_path,
        {"a.jsonl": lines({"text": TEXT, "triples": [LEADS, item]}, {"text": "b", "triples": []})},
    )
    result = tripleaudit.score(gold, path, bootstrap=0)
    scores = result.micro
    assert (scores.correct, scores.predicted, scores.gold) == (1, 2, 2)
    assert "1 of 2 predictions are no triples and count as wrong; without them F1 is" in str(result)
    assert "a relation that the gold never has" not in str(result)
    assert "without a name" not in caplog.text
    assert (
        "1 item of the predictions is malformed; each counts as one wrong prediction" in caplog.text
    )
    with pytest.raises(UserError):
        read_corpus(path)


def test_numbers_in_predictions_are_names(tmp_path) -> None:
    path = write(
        tmp_path, {"a.jsonl": lines({"text": "Ada , 1990", "triples": [["Ada", "born", 1990]]})}
    )
    assert strings(read_corpus(path, side="predict")) == [[("Ada", "born", "1990")]]
    gold = write(
        tmp_path,
        {"gold.jsonl": lines({"text": "Ada , 1990", "triples": [["Ada", "born", "1990"]]})},
    )
    assert tripleaudit.score(gold, path, bootstrap=0).micro.correct == 1


SECOND_LISTS = {
    "list": [LEADS, LIVES],
    "objects": spo(LEADS, LIVES),
    "nothing": [],
    "strings": ["(Ada Lund; leads; Harrow Steel)", "(Ada Lund; in; Oslo)"],
    "answer": json.dumps([LEADS, LIVES]),
    "fence": "Here they are:\n```json\n" + json.dumps({"triples": spo(LIVES)}) + "\n```",
    "lines": "(Ada Lund, leads, Harrow Steel)\n(Ada Lund, in, Oslo)",
    "table": "Ada Lund | in | Oslo",
    "response of an endpoint": {"choices": [{"message": {"content": json.dumps([LIVES])}}]},
}


@pytest.mark.parametrize("second", SECOND_LISTS.values(), ids=SECOND_LISTS)
@pytest.mark.parametrize("name", ["output", "response", "hyp", "answer", "triples_gpt4"])
def test_a_second_list_of_triples_under_any_name_is_refused(name, second, tmp_path) -> None:
    gold = write(tmp_path, {"gold.json": json.dumps([GOLD])})
    path = write(tmp_path, {"both.json": json.dumps([{**GOLD, name: second}])})
    with pytest.raises(UserError, match=f"both 'triples' and '{name}' hold triples"):
        tripleaudit.score(gold, path, bootstrap=0)
    with pytest.raises(UserError, match=f"'triples' and '{name}'"):
        tripleaudit.score([GOLD], [{**GOLD, name: second}], bootstrap=0)
    assert tripleaudit.score(path, gold, bootstrap=0).micro.correct == 2
    if isinstance(second, list) and second:
        columns = {"triples": name}
        result = tripleaudit.score(gold, path, predicted_columns=columns, bootstrap=0)
        assert result.micro.correct == 1


@pytest.mark.parametrize("format", TYPED)
@pytest.mark.parametrize("second", [[LEADS, LIVES], json.dumps([LIVES])])
def test_no_format_reads_one_of_two_lists_silently(format, second, tmp_path) -> None:
    path = write(tmp_path, {"a.json": json.dumps([{**TYPED[format], "foo": second}])})
    with pytest.raises(UserError, match="'foo'"):
        read_corpus(path, side="predict")


@pytest.mark.parametrize(
    "beside",
    [
        {"response": json.dumps([LEADS, BASED])},
        {"prompt": f'Example: [["a", "r", "b"]] {TEXT}'},
        {"model": "gpt-4o", "tokens": ["Ada", "leads", "Delta"], "entities": [["Ada", 0, 8]]},
        {"new": [], "remarks": "none"},
    ],
)
def test_fields_beside_predictions_do_not_disturb(beside, tmp_path) -> None:
    path = write(tmp_path, {"a.json": json.dumps([{**GOLD, **beside}])})
    assert tripleaudit.score([GOLD], path, bootstrap=0).micro.correct == 2


def test_two_stored_answers_in_a_row_are_refused(tmp_path) -> None:
    row = {"text": TEXT, "answer": json.dumps([LEADS, BASED]), "response": json.dumps([LIVES])}
    path = write(tmp_path, {"a.jsonl": lines(row)})
    with pytest.raises(UserError, match="'response' and 'answer' hold answers"):
        tripleaudit.score([GOLD], path, bootstrap=0)
    columns = {"answer": "response"}
    result = tripleaudit.score([GOLD], path, predicted_columns=columns, bootstrap=0)
    assert (result.micro.correct, result.micro.predicted) == (0, 1)


def named(*names: str):
    """Return a form of triples: objects with these names of the three roles."""
    return lambda *triples: [dict(zip(names, triple, strict=True)) for triple in triples]


def written(pattern: str):
    """Return a form of triples: one string each."""
    return lambda *triples: [pattern.format(*triple) for triple in triples]


FORMS_OF_TRIPLES = {
    "confidence": lambda *triples: [[*triple, 0.9] for triple in triples],
    "JSON in items": lambda *triples: [json.dumps(triple) for triple in triples],
    "in objects": lambda *triples: [{"triple": triple} for triple in triples],
    "predicate": named("subject", "predicate", "object"),
    "relation": named("subject", "relation", "object"),
    "head and tail": named("head", "relation", "tail"),
    "head entity": named("head_entity", "relation", "tail_entity"),
    "capitals": named("Subject", "Predicate", "Object"),
    "letters": named("s", "p", "o"),
    "source and target": named("source", "label", "target"),
    "Chinese": named("主语", "谓语", "宾语"),
    "Chinese entities": named("头实体", "关系", "尾实体"),
    "nested texts": lambda *triples: [
        {"subject": {"text": first}, "relation": relation, "object": {"text": second}}
        for first, relation, second in triples
    ],
    "nested names": lambda *triples: [
        {"head": {"name": first}, "relation": {"name": relation}, "tail": {"name": second}}
        for first, relation, second in triples
    ],
    "commas": written("({}, {}, {})"),
    "semicolons": written("({}; {}; {})"),
    "angle brackets": written("<{}, {}, {}>"),
    "square brackets": written("[{}, {}, {}]"),
    "quotes": written('("{}", "{}", "{}")'),
    "columns": written("{} | {} | {}"),
    "narrow columns": written("{}|{}|{}"),
    "tabs": written("{}\t{}\t{}"),
    "arrows": written("{} -> {} -> {}"),
    "numbered": written("1. ({}, {}, {})"),
    "full-width": written("（{}，{}，{}）"),
}


@pytest.mark.parametrize("form", FORMS_OF_TRIPLES.values(), ids=FORMS_OF_TRIPLES)
@pytest.mark.parametrize(
    "name", ["triples", "prediction", "pred_relation_list", "triple_list_pred"]
)
def test_usual_forms_of_predicted_triples_are_read(name, form, tmp_path) -> None:
    row = {"text": TEXT, name: form(LEADS, LIVES)}
    if name == "pred_relation_list":
        row["relation_list"] = [triple | SPANS for triple in spo(LEADS, BASED)]
    if name == "triple_list_pred":
        row["triple_list"] = [LEADS, BASED]
    path = write(tmp_path, {"a.jsonl": lines(row)})
    scores = tripleaudit.score([GOLD], path, bootstrap=0).micro
    assert (scores.correct, scores.predicted) == (1, 2)


GROUPS = FORMS_OF_TRIPLES["commas"](LEADS, LIVES)


@pytest.mark.parametrize(
    "triples", [json.dumps([LEADS, LIVES]), "\n".join(GROUPS), "; ".join(GROUPS), " ".join(GROUPS)]
)
def test_triples_in_one_string_are_divided(triples, tmp_path) -> None:
    path = write(tmp_path, {"a.jsonl": lines({"text": TEXT, "triples": triples})})
    scores = tripleaudit.score([GOLD], path, bootstrap=0).micro
    assert (scores.correct, scores.predicted) == (1, 2)


@pytest.mark.parametrize(
    "items",
    [
        [["Ada Lund", "Harrow Steel"]],
        ["Ada Lund", "leads", "Harrow Steel", "Ada Lund", "in", "Oslo"],
        [{"x": "Ada Lund", "y": "leads", "z": "Harrow Steel"}],
        [{"subject": "Ada Lund", "object": "Harrow Steel"}],
        {"leads": [["Ada Lund", "Harrow Steel"]]},
        ["Ada Lund, leads, Harrow Steel"],
        [{"subject": {"text": "Ada Lund", "start": 90, "end": 98}, "relation": "leads", "object": "Oslo"}],
    ],
)  # fmt: skip
def test_predictions_of_which_no_item_is_a_triple_are_refused(items, tmp_path) -> None:
    gold = write(tmp_path, {"gold.jsonl": lines(GOLD, {"text": "b", "triples": []})})
    empty = {"text": "b", "triples": []}
    path = write(tmp_path, {"a.jsonl": lines({"text": TEXT, "triples": items}, empty)})
    expected = r"a\.jsonl line 1: .*no item of the predictions is a triple.*--predicted-column"
    with pytest.raises(UserError, match=expected):
        tripleaudit.score(gold, path, bootstrap=0)
    some = write(
        tmp_path, {"b.jsonl": lines({"text": TEXT, "triples": items}, {**GOLD, "text": "b"})}
    )
    result = tripleaudit.score(gold, some, bootstrap=0)
    assert result.micro.correct == 0
    assert "are no triples and count as wrong" in str(result)


@pytest.mark.parametrize("name", ["preds", "pred", "Preds", "prediction"])
def test_predictions_next_to_triples_are_read_with_a_note(name, tmp_path) -> None:
    path = write(tmp_path, {"a.jsonl": lines({**GOLD, name: [LEADS, LIVES]})})
    corpus = read_corpus(path, side="predict")
    assert strings(corpus) == [[LEADS, LIVES]]
    assert corpus.report.notes["predictions_read"] == 1
    assert read_corpus(path).report.notes["predictions_beside"] == 1
    alone = write(tmp_path, {"b.jsonl": lines({"text": TEXT, name: [LEADS, LIVES]})})
    assert strings(read_corpus(alone, side="predict")) == [[LEADS, LIVES]]


@pytest.mark.parametrize("second", ["preds", "triples_pred", "predicted_relations"])
def test_two_lists_of_predictions_are_refused(second, tmp_path) -> None:
    row = {"text": TEXT, "predictions": [LEADS], second: [LIVES]}
    path = write(tmp_path, {"a.jsonl": lines(row)})
    with pytest.raises(UserError, match=f"both .*'{second}'"):
        tripleaudit.score([GOLD], path, bootstrap=0)
    columns = {"triples": "predictions"}
    result = tripleaudit.score([GOLD], path, predicted_columns=columns, bootstrap=0)
    assert (result.micro.correct, result.micro.predicted) == (1, 1)


def test_a_flat_list_is_one_triple_and_nan_is_none(tmp_path) -> None:
    gold = write(
        tmp_path,
        {"gold.jsonl": lines({"id": "0", **GOLD}, {"id": "1", "text": "b", "triples": []})},
    )
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": 0, "triples": LEADS}) + '\n{"id": 1, "triples": "[]"}\n')
    scores = tripleaudit.score(gold, path, bootstrap=0).micro
    assert (scores.correct, scores.predicted) == (1, 1)
    path.write_text(
        json.dumps({"text": TEXT, "triples": LEADS}) + '\n{"text": "b", "triples": NaN}\n'
    )
    scores = tripleaudit.score(gold, path, bootstrap=0).micro
    assert (scores.correct, scores.predicted) == (1, 1)


@pytest.mark.parametrize("as_lists", [True, False])
def test_unirel_writes_lists_or_objects(as_lists, tmp_path) -> None:
    form = list if as_lists else (lambda triple: spo(triple)[0] | SPANS)
    row = {
        "text": TEXT,
        "relation_list": [form(LEADS), form(BASED)],
        "pred_relation_list": [form(LEADS), form(LIVES)],
    }
    path = write(tmp_path, {"a.json": json.dumps([row])})
    scores = tripleaudit.score(path, path, bootstrap=0).micro
    assert (scores.correct, scores.predicted, scores.gold) == (1, 2, 2)
