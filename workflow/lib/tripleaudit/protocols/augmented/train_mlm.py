"""Training a masked-LM head on an encoder, over the texts of a study's own training set.

The embedded encoder was made for sentence embeddings and has no masked-LM head. Its head is trained
here, alone or with the encoder; the decoder shares the input embeddings. Only words that the
tokenizer has as one piece are masked, because candidate generation asks for nothing else.
"""

import logging
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core import storage
from tripleaudit.core.errors import UserError
from tripleaudit.core.progress import Progress
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.augmented.masked_lm import load, logits_at

log = logging.getLogger(__name__)

STEPS = 300
RATE, ENCODER_RATE = 2e-3, 2e-4  # learning rates of the head and of the encoder, at their highest
MASK_RATE = 0.25  # of the words in one piece
LONGEST = 128  # pieces of a sentence; the rest is cut
_IGNORED = -100


def train_masked_lm(
    encoder: str | Path,
    train: Sequence[Sentence],
    out: str | Path,
    *,
    steps: int = STEPS,
    layers: int | None = None,
    batch_size: int = 16,
    seed: int = 0,
) -> dict[str, Any]:
    """Train and save a masked language model (safetensors, tokenizer) for transformers.

    AdamW with linear warm-up over a tenth of the steps and linear decay; batches are drawn from
    shuffled epochs of the different texts; one in fifty, at most 200, is held out for the report.
    ``encoder`` is a local folder with a fast tokenizer, of which ``layers`` are loaded, from the
    bottom; default: all.

    Returns:
        ``steps``, ``loss`` (mean of the last tenth of the steps), ``held_out_words`` and
        ``held_out_accuracy`` (share of held-out masked words that the model ranks first).

    Raises:
        UserError: more layers than there are, no encoder, a tokenizer without mask token, or no
            text.
    """
    import torch
    from transformers import get_linear_schedule_with_warmup

    texts = list(dict.fromkeys(sentence.text for sentence in train if sentence.text.strip()))
    if not texts:
        raise UserError("train-mlm: the training set has no text")
    torch.manual_seed(seed)
    model, tokenizer, _ = load(encoder, "an encoder", layers)
    held_out = min(200, len(texts) // 50)
    random.Random(seed).shuffle(texts)
    longest = min(LONGEST, model.config.max_position_embeddings)
    encoded = [_encode(tokenizer, text, longest) for text in texts]
    draw = random.Random(seed + 1)
    tests, samples = encoded[:held_out], encoded[held_out:]
    if not any(single for _, single in samples):
        raise UserError(
            "train-mlm: the training text has no word that the tokenizer has as one piece"
        )
    _start_from_frequencies(model, samples)
    optimizer = _optimizer(model)
    schedule = get_linear_schedule_with_warmup(optimizer, max(1, steps // 10), steps)
    model.train()
    losses: list[float] = []
    queue: list[int] = []
    with Progress("train-mlm", steps, "steps", log=log) as progress:
        progress.note = lambda: f"loss {losses[-1]:.3f}" if losses else ""
        while len(losses) < steps:
            if len(queue) < batch_size:
                queue += draw.sample(range(len(samples)), len(samples))
            picked, queue = queue[:batch_size], queue[batch_size:]
            batch = _mask([samples[number] for number in picked], tokenizer, draw)
            if (batch["labels"] == _IGNORED).all():
                continue
            loss = torch.nn.functional.cross_entropy(*_predicted(model, batch))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
            progress.done = len(losses)
    with storage.explained(out):
        Path(out).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out) as fresh:  # so that the model appears whole
            model.save_pretrained(fresh)
            tokenizer.save_pretrained(fresh)
            storage.publish(Path(fresh), Path(out))
    words, correct = _accuracy(model.eval(), tests, tokenizer, batch_size, random.Random(seed + 2))
    tail = losses[-max(1, steps // 10) :]
    return {
        "steps": steps,
        "loss": sum(tail) / len(tail),
        "held_out_words": words,
        "held_out_accuracy": correct / words if words else 0.0,
    }


def _optimizer(model: Any) -> Any:
    """Return AdamW with a rate of its own for the head."""
    import torch

    encoder = [*model.base_model.parameters()]
    inside = set(map(id, encoder))
    head = [parameter for parameter in model.parameters() if id(parameter) not in inside]
    groups = [{"params": head, "lr": RATE}, {"params": encoder, "lr": ENCODER_RATE}]
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=True)


def _start_from_frequencies(model: Any, samples: Sequence[tuple[list[int], list[int]]]) -> None:
    """Set the output bias to log-frequencies (add-one), which a new head would learn first."""
    import torch

    bias = getattr(model.get_output_embeddings(), "bias", None)
    if bias is None:
        return
    found = torch.tensor([ids[position] for ids, single in samples for position in single])
    counts = 1 + torch.bincount(found, minlength=len(bias))
    with torch.no_grad():
        bias.copy_((counts / counts.sum()).log())


def _encode(tokenizer: Any, text: str, max_length: int) -> tuple[list[int], list[int]]:
    """Return token ids and the positions of words that are one piece."""
    encoding = tokenizer(text, truncation=True, max_length=max_length)
    numbers, ids = encoding.word_ids(), encoding["input_ids"]
    pieces = Counter(number for number in numbers if number is not None)
    single = [
        position
        for position, number in enumerate(numbers)
        if pieces[number] == 1
        and tokenizer.convert_ids_to_tokens(ids[position]).strip("Ġ▁").isalnum()
    ]
    return ids, single


def _mask(
    samples: Sequence[tuple[list[int], list[int]]], tokenizer: Any, draw: random.Random
) -> dict:
    """Return a padded batch [batch, length] with labels of masked words, -100 elsewhere."""
    import torch

    length = max(len(ids) for ids, _ in samples)
    ids = torch.full((len(samples), length), tokenizer.pad_token_id)
    labels = torch.full((len(samples), length), _IGNORED)
    attention = torch.zeros((len(samples), length), dtype=torch.long)
    for row, (pieces, single) in enumerate(samples):
        ids[row, : len(pieces)] = torch.tensor(pieces)
        attention[row, : len(pieces)] = 1
        for position in single:
            if draw.random() < MASK_RATE:
                labels[row, position] = pieces[position]
                ids[row, position] = tokenizer.mask_token_id
    return {"input_ids": ids, "attention_mask": attention, "labels": labels}


def _predicted(model: Any, batch: dict) -> tuple[Any, Any]:
    """Return logits ``[masked words, vocabulary]`` and the masked words."""
    placed = {name: tensor.to(model.device) for name, tensor in batch.items()}
    labels = placed.pop("labels")
    return logits_at(model, placed, labels != _IGNORED), labels[labels != _IGNORED]


def _accuracy(
    model: Any, samples: Sequence, tokenizer: Any, size: int, draw: random.Random
) -> tuple[int, int]:
    """Return masked words and how many of them the model ranks first."""
    import torch

    words = correct = 0
    for at in range(0, len(samples), size):
        batch = _mask(samples[at : at + size], tokenizer, draw)
        if (batch["labels"] != _IGNORED).any():
            with torch.inference_mode():
                logits, wanted = _predicted(model, batch)
            words += len(wanted)
            correct += int((logits.argmax(-1) == wanted).sum())
    return words, correct
