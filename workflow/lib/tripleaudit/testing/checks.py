"""Checks of whole extractors, and the F1 that targets and decoding reach with perfect scores."""

import contextlib
import copy
import inspect
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModel

import tripleaudit.extractors.auto  # noqa: F401  (registers the extractors with AutoModel)
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Aligner, token_triples
from tripleaudit.extractors.base import Extractor, by_sentence
from tripleaudit.extractors.batches import Shape, pad_batch, stack_triples
from tripleaudit.extractors.registry import extractor_class, load_extractor
from tripleaudit.testing.encoders import save_tiny_encoder
from tripleaudit.testing.sentences import (
    RELATIONS,
    structures,
    toy_sentences,
)
from tripleaudit.training.data import Collator, TrainingSentences

EVALUATE_EVERY = 25  # steps

# (batch with gold "triples" [n, 6], number of relations) -> decoded rows [n, 6] and scores [n]
Oracle = Callable[[dict[str, Tensor], int], tuple[Tensor, Tensor]]


def check_extractor(
    extractor: type[Extractor],
    encoder: Path | None = None,
    *,
    cannot_represent: Collection[str] = (),
    draws: bool = False,
    steps: int = 300,
    learning_rate: float = 3e-3,
    sgd_learning_rate: float = 0.1,
    **settings: Any,
) -> None:
    """Run the contract tests of an extractor: about ten seconds on a tiny encoder.

    Batches without triples have finite losses and gradients; equal seeds train equal weights; a
    few sentences are memorised; a saved model predicts the same; padding changes nothing.

    Args:
        extractor: the class.
        encoder: folder of an encoder; one of :func:`save_tiny_encoder` if None.
        cannot_represent: ids of the :func:`structures` of triples that the model cannot represent
            by its design; all others must be learnt, and these must not.
        draws: whether training batches differ from epoch to epoch (sampled negatives, subjects).
        steps, learning_rate: of the training that must reach F1 1.0.
        sgd_learning_rate: of the three steps that must be reproducible.
        settings: fields of the extractor's settings, such as ``dropout=0.0``.

    Raises:
        AssertionError: the extractor breaks the contract or fails with another exception; the
            message names the sentence or weight.
        ValueError: ``cannot_represent`` has an unknown id.
    """
    split_structures(cannot_represent)
    check_class(extractor)
    with tempfile.TemporaryDirectory() as folder, named_failures(extractor):
        if encoder is None:
            encoder = save_tiny_encoder(Path(folder) / "encoder")
        learnable, _ = split_structures(cannot_represent)
        training: dict[str, Any] = {"steps": steps, "learning_rate": learning_rate}
        untrained = build_extractor(extractor, encoder, **settings)
        if not hasattr(untrained, "all_tied_weights_keys"):  # from_pretrained needs it
            raise AssertionError(
                f"{extractor.name}: cannot be loaded again; call self.post_init() at the end of __init__"
            )
        check_zero_triple_batch(untrained.train())
        check_determinism(
            extractor, encoder, draws=draws, learning_rate=sgd_learning_rate, **settings
        )
        model = check_overfit(
            extractor, encoder, sentences=[*toy_sentences(), *learnable], **training, **settings
        )
        check_predicted_rows(model)
        check_save_and_load(model, Path(folder) / "model")
        check_padding_invariance(model)
        check_unlearnable(extractor, encoder, cannot_represent, **training, **settings)


def check_class(extractor: Any) -> None:
    """Check that an extractor is a class of :class:`Extractor` with a name."""
    if not isinstance(extractor, type) or not issubclass(extractor, Extractor):
        name = getattr(extractor, "__name__", repr(extractor))
        raise AssertionError(f"{name}: expected a class derived from tripleaudit's Extractor")
    if not extractor.name:
        raise AssertionError(f"{extractor.__name__}: has no name; set the class attribute 'name'")


@contextlib.contextmanager
def named_failures(extractor: type[Extractor]) -> Iterator[None]:
    """Turn other exceptions of an extractor into an :class:`AssertionError` with its place."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        calls = traceback.extract_tb(error.__traceback__)
        own_file = _source_file(extractor)
        place = next((call for call in reversed(calls) if call.filename == own_file), calls[-1])
        checks = [call.name for call in calls if call.name.startswith("check_")]
        raise AssertionError(
            f"{extractor.name}: {checks[-1]} ends with {type(error).__name__}: {error} "
            f"({Path(place.filename).name}, line {place.lineno})"
        ) from error


def _source_file(extractor: type[Extractor]) -> str | None:
    """Return the file that defines a class; None for one of an interactive session."""
    try:
        return inspect.getsourcefile(extractor)
    except (OSError, TypeError):
        return None


class _NotLearntError(AssertionError):
    """An extractor does not learn the triples of a few sentences."""


def check_structures(
    extractor: type[Extractor],
    encoder: Path,
    *,
    cannot_represent: Collection[str] = (),
    steps: int = 300,
    learning_rate: float = 3e-3,
    **settings: Any,
) -> None:
    """Check that an extractor learns all :func:`structures` but those that it cannot represent.

    For a further layout or variant of an extractor whose other properties are tested already;
    arguments as in :func:`check_extractor`.
    """
    training: dict[str, Any] = {"steps": steps, "learning_rate": learning_rate}
    learnable, _ = split_structures(cannot_represent)
    if learnable:
        check_overfit(extractor, encoder, sentences=learnable, **training, **settings)
    check_unlearnable(extractor, encoder, cannot_represent, **training, **settings)


def check_unlearnable(
    extractor: type[Extractor],
    encoder: Path,
    cannot_represent: Collection[str],
    *,
    steps: int = 300,
    learning_rate: float = 3e-3,
    **settings: Any,
) -> None:
    """Check that none of the declared :func:`structures` is learnt alone."""
    _, unlearnable = split_structures(cannot_represent)
    for each in unlearnable:
        try:
            check_overfit(
                extractor,
                encoder,
                sentences=[each],
                steps=steps,
                learning_rate=learning_rate,
                **settings,
            )
        except _NotLearntError:
            continue
        raise AssertionError(
            f"{extractor.name}: learns the structure {each.id!r}; remove it from cannot_represent"
        )


def split_structures(cannot_represent: Collection[str]) -> tuple[list[Sentence], list[Sentence]]:
    """Return the structures that an extractor must learn, and those that it must not.

    Raises:
        ValueError: an id is unknown.
    """
    by_id = {each.id: each for each in structures()}
    if unknown := set(cannot_represent) - set(by_id):
        raise ValueError(
            f"cannot_represent: {min(unknown)!r} is unknown; expected one of {', '.join(by_id)}"
        )
    learnable = [each for each in by_id.values() if each.id not in cannot_represent]
    unlearnable = [each for each in by_id.values() if each.id in cannot_represent]
    return learnable, unlearnable


# Models and batches


def build_extractor(
    extractor: type[Extractor],
    encoder: Path,
    *,
    relations: Sequence[str] = RELATIONS,
    seed: int = 0,
    **settings: Any,
) -> Any:
    """Return an untrained extractor with weights fixed by ``seed``."""
    torch.manual_seed(seed)
    return extractor.from_encoder(encoder, relations, **settings)


def training_batch(
    model: Extractor,
    sentences: Sequence[Sentence],
    *,
    seed: int = 0,
    epoch: int = 0,
    length: int = 0,
    static: int = 0,
) -> dict[str, Tensor]:
    """Collate sentences exactly as training does.

    Args:
        model: its settings and aligner are used.
        sentences: with their gold triples.
        seed, epoch: of random draws.
        length: of the batch in tokens; 0 for that of the longest sentence.
        static: the number of sentences of a static batch, with dummies at its end; 0 pads tightly.
    """
    dataset = TrainingSentences(sentences, model)
    collator = Collator(type(model), model.config, model.aligner.pad_id, seed, static)
    examples = [dataset[epoch, index] for index in range(len(dataset))]
    return collator(examples, Shape(len(examples), length) if length else None)


def exact_triples(sentences: Sequence[Sentence]) -> set[tuple]:
    """Return triples as (sentence number, subject start, end, relation, object start, end)."""
    return {
        (number, t.subject.start, t.subject.end, t.relation, t.object.start, t.object.end)
        for number, each in enumerate(sentences)
        for t in each.triples
    }


def exact_f1(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> float:
    """Return the F1 of triples with exact spans; 1.0 where neither side has triples."""
    expected, found = exact_triples(gold), exact_triples(predicted)
    if not expected and not found:
        return 1.0
    return 2 * len(expected & found) / (len(expected) + len(found))


# Checks of whole models


def check_overfit(
    extractor: type[Extractor],
    encoder: Path,
    *,
    steps: int = 300,
    learning_rate: float = 3e-3,
    sentences: Sequence[Sentence] | None = None,
    **settings: Any,
) -> Any:
    """Train a model until it predicts all triples of a few sentences exactly, and return it.

    Args:
        extractor: the class.
        encoder: folder of its encoder.
        steps: AdamW steps at most.
        learning_rate: of all weights.
        sentences: those to learn; :func:`toy_sentences` if None.
        settings: fields of the extractor's settings.

    Raises:
        AssertionError: F1 stays below 1.0; the message names the sentences that are wrong.
    """
    sentences = toy_sentences() if sentences is None else sentences
    texts = [each.text for each in sentences]
    model = build_extractor(extractor, encoder, **settings)
    dataset = TrainingSentences(sentences, model)
    collator = Collator(extractor, model.config, model.aligner.pad_id, seed=0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)
    best, wrong = -1.0, []
    for step in range(steps):
        model.train()
        model.step = step
        batch = collator([dataset[step, index] for index in range(len(dataset))])
        optimizer.zero_grad()
        model(**batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % EVALUATE_EVERY and step + 1 < steps:
            continue
        predicted = model.extract(texts)
        f1 = exact_f1(sentences, predicted)
        if f1 == 1.0:
            return model
        if f1 > best:
            pairs = zip(sentences, predicted, strict=True)
            best, wrong = f1, [gold.id for gold, own in pairs if exact_f1([gold], [own]) < 1.0]
    raise _NotLearntError(
        f"{extractor.name}: reached F1 {best:.3f} after {steps} steps; "
        f"the triples of these sentences are not learnt: {', '.join(wrong)}"
    )


def check_zero_triple_batch(model: Extractor) -> None:
    """Check that batches without triples, and mixed ones, have finite losses and gradients."""
    without_triples = [each for each in toy_sentences() if not each.triples]
    for name, sentences in (("without triples", without_triples), ("mixed", toy_sentences())):
        model.zero_grad()
        loss = model(**training_batch(model, sentences)).loss
        if not torch.isfinite(loss):
            raise AssertionError(f"{model.name}: the loss of a batch {name} is {loss.item()}")
        loss.backward()
        gradients = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
        for parameter, gradient in gradients.items():
            if not torch.isfinite(gradient).all():
                raise AssertionError(
                    f"{model.name}: the gradient of {parameter} is not finite for a batch {name}"
                )
        if not any(gradient.any() for gradient in gradients.values()):
            raise AssertionError(f"{model.name}: all gradients are 0 for a batch {name}")


def check_predicted_rows(model: Extractor) -> None:
    """Check shape and type of what ``predict_rows`` returns, and that scores lie in (0, 1]."""
    batch = model.collate(model.aligner.align([each.text for each in toy_sentences()]))
    rows, scores, _ = model.decoded(batch)
    if rows.dtype != torch.int64 or rows.shape != (len(scores), 6):
        raise AssertionError(
            f"{model.name}: predict_rows returned {list(rows.shape)} {rows.dtype} with "
            f"{len(scores)} scores; expected [n, 6] torch.int64 and [n]"
        )
    if not ((scores > 0) & (scores <= 1)).all():
        raise AssertionError(f"{model.name}: predict_rows returned scores outside (0, 1]")


def check_padding_invariance(model: Extractor) -> None:
    """Check on a copy in float64 that padding changes no prediction and no loss."""
    model = copy.deepcopy(model).double().eval()
    sentences = toy_sentences()
    long_text = " ".join(["it rains today and nobody knows why ."] * 4)

    def predict(texts: list[str]) -> list[dict[tuple, float]]:
        batch = model.collate(model.aligner.align(texts))
        rows, scores, _ = model.decoded(batch)
        decoded = by_sentence(rows, scores, batch["content_mask"])
        return [{row[:-1]: row[-1] for row in rows} for rows in decoded]

    together = predict([*(each.text for each in sentences), long_text])
    for each, padded in zip(sentences, together[:-1], strict=True):
        (alone,) = predict([each.text])
        same_rows = set(alone) == set(padded)
        if not same_rows or any(abs(alone[row] - padded[row]) >= 1e-5 for row in alone):
            raise AssertionError(f"{model.name}: padding changes the triples of sentence {each.id}")
    for each in sentences:
        tight = training_batch(model, [each])
        wide = training_batch(model, [each], length=tight["input_ids"].shape[1] + 7)
        expected, loss = model(**tight).loss.item(), model(**wide).loss.item()
        if abs(loss - expected) > 1e-8 * max(1.0, abs(expected)):
            raise AssertionError(
                f"{model.name}: padding changes the loss of sentence {each.id} "
                f"from {expected} to {loss}"
            )


def check_determinism(
    extractor: type[Extractor],
    encoder: Path,
    *,
    draws: bool = False,
    learning_rate: float = 0.1,
    **settings: Any,
) -> None:
    """Check that equal seeds give equal batches and weights, and that epochs differ by draws alone.

    Arguments as in :func:`check_extractor`; ``learning_rate`` is that of three SGD steps.
    """

    def train(seed: int) -> dict[str, Tensor]:
        model = build_extractor(extractor, encoder, seed=seed, **settings).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
        for step in range(3):
            batch = training_batch(model, toy_sentences(), seed=seed, epoch=step)
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
        return {name: parameter.detach() for name, parameter in model.named_parameters()}

    first, again, other = train(1), train(1), train(2)
    for name, weights in first.items():
        if not torch.equal(weights, again[name]):
            raise AssertionError(f"{extractor.name}: equal seeds train different {name}")
    if all(torch.equal(weights, other[name]) for name, weights in first.items()):
        raise AssertionError(f"{extractor.name}: different seeds train equal weights")

    model = build_extractor(extractor, encoder, **settings)

    def differ(batch: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
        return any(not torch.equal(batch[key], other[key]) for key in batch)

    batch, same, *others = (
        training_batch(model, toy_sentences(), epoch=epoch) for epoch in (0, 0, 1, 2)
    )
    if differ(batch, same):
        raise AssertionError(f"{extractor.name}: equal seeds and epochs give different batches")
    if any(differ(batch, each) for each in others) != draws:
        reason = "equal batches in all epochs" if draws else "different batches in later epochs"
        raise AssertionError(f"{extractor.name}: draws={draws}, but there are {reason}")


def check_save_and_load(model: Extractor, folder: Path) -> None:
    """Check that a saved model predicts the same, however it is loaded.

    Loaded by its class and, where its name is registered, by ``load_extractor``, by the base class
    and by transformers' AutoModel.
    """
    texts = [each.text for each in toy_sentences()]

    def predict(extractor: Any) -> list:
        if extractor.kind == "classifier":
            return extractor.decide(texts)
        return [each.triples for each in extractor.extract(texts)]

    predicted = predict(model)
    model.save_pretrained(folder)
    if pickles := sorted(path.name for path in folder.glob("*.bin")):
        raise AssertionError(f"{model.name}: {pickles[0]} was saved; expected safetensors alone")
    loaders: dict[str, Callable] = {
        f"{type(model).__name__}.from_pretrained": type(model).from_pretrained
    }
    if is_registered(type(model)):
        loaders["load_extractor"] = load_extractor
        loaders["Extractor.from_pretrained"] = Extractor.from_pretrained
        loaders["AutoModel.from_pretrained"] = AutoModel.from_pretrained
    for name, load in loaders.items():
        loaded = load(folder)
        where = f"{model.name}, loaded by {name}"
        check_equal_models(loaded, model, where)
        if predict(loaded) != predicted:
            raise AssertionError(f"{where}: predicts other triples")


def check_equal_models(loaded: Extractor, model: Extractor, where: str) -> None:
    """Check that two models have the same class, settings, relations and weights."""
    if type(loaded) is not type(model):
        raise AssertionError(f"{where}: is a {type(loaded).__name__}")
    for field in (*model.settings.model_fields, "relations"):
        if getattr(loaded.config, field) != getattr(model.config, field):
            raise AssertionError(f"{where}: {field} has changed")
    weights, loaded_weights = model.state_dict(), loaded.state_dict()
    if set(loaded_weights) != set(weights):
        raise AssertionError(f"{where}: has other weights")
    for key, value in weights.items():
        if not torch.equal(value, loaded_weights[key]):
            raise AssertionError(f"{where}: {key} has changed")


def is_registered(extractor: type[Extractor]) -> bool:
    """Return whether an extractor is known by its name, as a shipped one or by a plugin."""
    try:
        return extractor_class(extractor.name) is extractor
    except UserError:
        return False


# The ceiling: gold -> targets -> perfect scores -> decoding, without a model


def ceiling(
    oracle: Oracle,
    sentences: Sequence[Sentence],
    aligner: Aligner,
    relations: Sequence[str],
    *,
    occurrence: str = "given",
    batch_size: int = 32,
    words: bool = False,
) -> float:
    """Return the exact-span F1 of decoding perfect scores.

    Args:
        oracle: builds the extractor's perfect scores from ``batch["triples"]`` [n, 6] with the
            extractor's own target functions, and calls the extractor's own decoding function.
        sentences: triples without a position in the text do not count.
        aligner: of the extractor's layout; nothing is truncated below the aligner's limit.
        relations: names, in the order of their ids.
        occurrence: as the extractor's settings have it; with ``all``, gold is the set of all
            pairs of occurrences.
        batch_size: sentences at a time.
        words: whether batches carry ``word_ids``, ``word_first`` and ``word_last``.

    Returns:
        F1; 1.0 if there is neither a triple with a position nor a decoded one.
    """
    ids = {relation: number for number, relation in enumerate(relations)}
    aligned = aligner.align([each.text for each in sentences])
    pairs = zip(aligned, sentences, strict=True)
    rows = [token_triples(own, sentence, ids, occurrence)[0] for own, sentence in pairs]
    order = sorted(range(len(sentences)), key=lambda index: len(aligned[index]))
    correct = predicted = wanted = 0
    for at in range(0, len(order), batch_size):
        chunk = order[at : at + batch_size]
        batch = pad_batch([aligned[index] for index in chunk], aligner.pad_id, words=words)
        batch["triples"] = stack_triples([rows[index] for index in chunk])
        decoded, scores = oracle(batch, len(relations))
        if len(decoded) != len(scores) or not ((scores > 0) & (scores <= 1)).all():
            raise AssertionError("the oracle returned scores outside (0, 1], or not one a row")
        expected = set(map(tuple, batch["triples"].tolist()))
        found = set(map(tuple, decoded.tolist()))
        correct += len(expected & found)
        predicted += len(found)
        wanted += len(expected)
    if not predicted and not wanted:
        return 1.0
    return 2 * correct / (predicted + wanted)
