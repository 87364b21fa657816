"""Training a masked-LM head on an encoder, over the texts of a study's own training set.

The embedded encoder was made for sentence embeddings and has no masked-LM head. Its head is trained here, alone or
with the encoder; the decoder shares the input embeddings. Only words that the tokenizer has as one piece are masked,
because candidate generation asks for nothing else.
"""

import logging
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.machine import storage
from tripleaudit.machine.progress import Progress

log = logging.getLogger(__name__)

_IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class MaskedLm:
    """How a masked language model is trained.

    Attributes:
        steps: updates.
        layers: transformer layers to load, from the bottom; default: all.
        batch_size: sentences of an update.
        learning_rate: of the head, at its highest.
        encoder_learning_rate: of the encoder; 0 leaves the encoder as it is.
        mask_rate: share of the single-piece words that are masked, inside 0 to 1.
        max_length: pieces of a sentence; the rest is cut.
        seed: of initial weights, batches and masks.

    Raises:
        UserError: an impossible number.
    """

    steps: int = 300
    layers: int | None = None
    batch_size: int = 16
    learning_rate: float = 2e-3
    encoder_learning_rate: float = 2e-4
    mask_rate: float = 0.25
    max_length: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        fits = {"steps": self.steps >= 1, "batch_size": self.batch_size >= 1, "mask_rate": 0 < self.mask_rate < 1}
        for name, fit in fits.items():
            if not fit:
                raise UserError(f"train-mlm: {name} is {getattr(self, name)}, which is out of range")


def train_masked_lm(
    encoder: str | Path, train: Sequence[Sentence], out: str | Path, settings: MaskedLm
) -> dict[str, Any]:
    """Train and save a masked language model (safetensors and tokenizer) that any transformers program can load.

    AdamW with linear warm-up over a tenth of the steps and linear decay; batches are drawn from shuffled epochs; one
    in fifty sentences, at most 200, is held out for the report.

    Args:
        encoder: local folder of an encoder with a fast tokenizer.
        train: training sentences; only their texts are used, each different text once.
        out: folder to write.

    Returns:
        ``steps``, ``loss`` (mean of the last tenth of the steps), ``held_out_words`` and ``held_out_accuracy`` (share
        of held-out masked words that the model ranks first).

    Raises:
        UserError: more layers than there are, no encoder, a tokenizer without mask token, or no text.
    """
    import torch
    from transformers import get_linear_schedule_with_warmup

    texts = list(dict.fromkeys(sentence.text for sentence in train if sentence.text.strip()))
    if not texts:
        raise UserError("train-mlm: the training set has no text")
    steps, seed, size = settings.steps, settings.seed, settings.batch_size
    model, tokenizer = _loaded(Path(encoder), settings)
    held_out = min(200, len(texts) // 50)
    random.Random(seed).shuffle(texts)
    longest = min(settings.max_length, model.config.max_position_embeddings)
    encoded = [_encode(tokenizer, text, longest) for text in texts]
    draw = random.Random(seed + 1)
    tests, samples = encoded[:held_out], encoded[held_out:]
    if not any(single for _, single in samples):
        raise UserError("train-mlm: the training text has no word that the tokenizer has as one piece")
    _start_from_frequencies(model, samples)
    optimizer = _optimizer(model, settings)
    schedule = get_linear_schedule_with_warmup(optimizer, max(1, steps // 10), steps)
    model.train()
    losses: list[float] = []
    queue: list[int] = []
    with Progress("train-mlm", steps, "steps", log=log) as progress:
        while len(losses) < steps:
            if len(queue) < size:
                queue += draw.sample(range(len(samples)), len(samples))
            picked, queue = queue[:size], queue[size:]
            batch = _mask([samples[number] for number in picked], tokenizer, settings.mask_rate, draw)
            if (batch["labels"] == _IGNORED).all():
                continue
            loss = _loss(model, {name: tensor.to(model.device) for name, tensor in batch.items()})
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
            progress.reach(len(losses))
            progress.note(f"loss {losses[-1]:.3f}")
    log.info("train-mlm: %d steps, loss %.3f", steps, losses[-1])
    _save(model, tokenizer, Path(out))
    words, correct = _accuracy(model.eval(), tests, tokenizer, settings)
    tail = losses[-max(1, steps // 10) :]
    return {
        "steps": steps,
        "loss": sum(tail) / len(tail),
        "held_out_words": words,
        "held_out_accuracy": correct / words if words else 0.0,
    }


def _loaded(encoder: Path, settings: MaskedLm) -> tuple[Any, Any]:
    """Return the model, with a new head, on its device, and its tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    if not (encoder / "config.json").is_file():
        raise UserError(f"{encoder}: expected the folder of an encoder with a config.json")
    tokenizer = AutoTokenizer.from_pretrained(encoder, local_files_only=True)
    if tokenizer.mask_token is None:
        raise UserError(f"{encoder}: the tokenizer has no mask token; expected an encoder made for masked words")
    torch.manual_seed(settings.seed)
    config = AutoConfig.from_pretrained(encoder, local_files_only=True)
    if settings.layers is not None:
        if not 1 <= settings.layers <= config.num_hidden_layers:
            raise UserError(f"train-mlm: layers is {settings.layers}, expected 1 to {config.num_hidden_layers}")
        config.num_hidden_layers = settings.layers
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # that the head is new needs no warning here
    model = AutoModelForMaskedLM.from_pretrained(encoder, config=config, local_files_only=True, use_safetensors=True)
    transformers_logging.set_verbosity(verbosity)
    return model.to(torch.device("cuda" if torch.cuda.is_available() else "cpu")), tokenizer


def _optimizer(model: Any, settings: MaskedLm) -> Any:
    """Return AdamW with a rate of its own for the head."""
    import torch

    inside = {id(parameter) for parameter in model.base_model.parameters()}
    groups: list[tuple[list[Any], float]] = [([], settings.learning_rate), ([], settings.encoder_learning_rate)]
    for parameter in model.parameters():
        groups[id(parameter) in inside][0].append(parameter)
    if settings.encoder_learning_rate == 0:
        for parameter in groups[1][0]:
            parameter.requires_grad_(False)
    active = [{"params": parameters, "lr": rate} for parameters, rate in groups if parameters and rate]
    return torch.optim.AdamW(active, weight_decay=0.01, fused=True)


def _save(model: Any, tokenizer: Any, out: Path) -> None:
    """Write everything to a neighbour of ``out`` first, so that the model appears whole."""
    fresh = out.with_name(f".{out.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with storage.whole_folder(fresh):
        model.save_pretrained(fresh)
        tokenizer.save_pretrained(fresh)
        out.mkdir(parents=True, exist_ok=True)
        for path in sorted(fresh.iterdir(), key=lambda path: path.name == "model.safetensors"):  # weights last
            path.replace(out / path.name)
        fresh.rmdir()


def _start_from_frequencies(model: Any, samples: Sequence[tuple[list[int], list[int]]]) -> None:
    """Set the output bias to the log-frequencies of the pieces (add-one), which a new head would learn first."""
    import torch

    bias = getattr(model.get_output_embeddings(), "bias", None)
    if bias is None:
        return
    counts = torch.ones(bias.shape[0])
    for ids, single in samples:
        for place in single:
            counts[ids[place]] += 1
    with torch.no_grad():
        bias.copy_((counts / counts.sum()).log())


def _encode(tokenizer: Any, text: str, max_length: int) -> tuple[list[int], list[int]]:
    """Return token ids and the places of words that are one piece."""
    encoding = tokenizer(text, truncation=True, max_length=max_length)
    numbers, ids = encoding.word_ids(), encoding["input_ids"]
    pieces = Counter(number for number in numbers if number is not None)
    single = [
        place
        for place, number in enumerate(numbers)
        if pieces[number] == 1 and tokenizer.convert_ids_to_tokens(ids[place]).strip("Ġ▁").isalnum()
    ]
    return ids, single


def _mask(samples: Sequence[tuple[list[int], list[int]]], tokenizer: Any, rate: float, draw: random.Random) -> dict:
    """Return a padded batch whose labels are the masked words and -100 elsewhere; all tensors [batch, length]."""
    import torch

    length = max(len(ids) for ids, _ in samples)
    ids = torch.full((len(samples), length), tokenizer.pad_token_id)
    labels = torch.full((len(samples), length), _IGNORED)
    attention = torch.zeros((len(samples), length), dtype=torch.long)
    for row, (pieces, single) in enumerate(samples):
        ids[row, : len(pieces)] = torch.tensor(pieces)
        attention[row, : len(pieces)] = 1
        for place in single:
            if draw.random() < rate:
                labels[row, place] = pieces[place]
                ids[row, place] = tokenizer.mask_token_id
    return {"input_ids": ids, "attention_mask": attention, "labels": labels}


def _logits(model: Any, batch: dict) -> Any:
    """Return the vocabulary logits [masked words, vocabulary] of the masked positions alone."""
    masked = batch["labels"] != _IGNORED

    def keep(_module: Any, _inputs: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[masked][None]
        return output

    hook = model.base_model.register_forward_hook(keep)
    try:
        return model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits[0]
    finally:
        hook.remove()


def _loss(model: Any, batch: dict) -> Any:
    import torch

    return torch.nn.functional.cross_entropy(_logits(model, batch), batch["labels"][batch["labels"] != _IGNORED])


def _accuracy(model: Any, samples: Sequence, tokenizer: Any, settings: MaskedLm) -> tuple[int, int]:
    """Return masked words and how many of them the model ranks first."""
    import torch

    words = correct = 0
    draw = random.Random(settings.seed + 2)
    for at in range(0, len(samples), settings.batch_size):
        batch = _mask(samples[at : at + settings.batch_size], tokenizer, settings.mask_rate, draw)
        wanted = batch["labels"][batch["labels"] != _IGNORED]
        if len(wanted):
            placed = {name: tensor.to(model.device) for name, tensor in batch.items()}
            with torch.inference_mode():
                best = _logits(model, placed).argmax(-1).cpu()
            words += len(wanted)
            correct += int((best == wanted).sum())
    return words, correct
