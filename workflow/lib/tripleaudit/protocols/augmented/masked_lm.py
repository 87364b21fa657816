"""Masked language models of transformers: the likeliest words behind many masks at once."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, first_line
from tripleaudit.core.model_folders import check_layers
from tripleaudit.core.outputs import check_unchanged
from tripleaudit.core.progress import Progress
from tripleaudit.protocols.substitution import replaceable

Ranked = list[tuple[str, float]]
"""Words with the natural logarithms of their probabilities, likeliest first."""


class MaskedLanguageModel:
    """A masked language model and tokenizer from a local folder; offers whole words only.

    Attributes:
        mask_token: what to write in place of a word.
        cased: whether the tokenizer tells capitals from small letters.

    Raises:
        UserError: as :func:`load`, or the folder's model has no trained head.
    """

    def __init__(self, path: str | Path, *, batch_size: int = 64) -> None:
        import torch

        self._model, self._tokenizer, missing = load(path, "a masked language model")
        if not self._tokenizer.is_fast:
            raise UserError(f"{path}: expected a fast tokenizer (tokenizer.json)")
        if missing:
            raise UserError(
                f"{path}: the model has no trained masked-LM head ({missing[0]} is missing); expected one made by "
                "'tripleaudit train-mlm' or a pre-trained masked language model"
            )
        self._model.eval()
        self._batch_size = batch_size
        self._max_length = min(
            self._tokenizer.model_max_length, self._model.config.max_position_embeddings, 512
        )
        self.mask_token: str = self._tokenizer.mask_token
        self.cased: bool = self._tokenizer.tokenize("A") != self._tokenizer.tokenize("a")
        self._words = _whole_words(self._tokenizer)
        self._blocked = torch.full(
            (self._model.config.vocab_size,), float("-inf"), device=self._model.device
        )
        self._blocked[list(self._words)] = 0.0

    def is_single_piece(self, word: str) -> bool:
        """Whether the model has the word as one piece."""
        pieces = self._tokenizer.tokenize(" " + word)
        return len(pieces) == 1 and pieces[0] != self._tokenizer.unk_token

    def fill(self, queries: Mapping[str, Iterable[int]], top: int) -> dict[tuple[str, int], Ranked]:
        """Return the ``top`` likeliest words for masks, by text and number (from 0) of the mask.

        A mask beyond the length limit of the model has no entry.
        """
        answers: dict[tuple[str, int], Ranked] = {}
        texts = sorted(
            queries, key=lambda text: (len(text), text)
        )  # equal lengths waste no padding
        with Progress("filling masks", len(texts), "masked sentences") as progress:
            for at in range(0, len(texts), self._batch_size):
                batch = texts[at : at + self._batch_size]
                answers |= self._fill_batch(batch, [list(queries[text]) for text in batch], top)
                progress.add(len(batch))
        return answers

    def _fill_batch(self, texts: Sequence[str], wanted: Sequence[Sequence[int]], top: int) -> dict:
        import torch

        batch = self._tokenizer(
            list(texts),
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=self._max_length,
        ).to(self._model.device)
        positions: dict[tuple[str, int], tuple[int, int]] = {}
        for row, numbers in enumerate(wanted):
            masks = (
                (batch["input_ids"][row] == self._tokenizer.mask_token_id).nonzero()[:, 0].tolist()
            )
            positions |= {
                (texts[row], number): (row, masks[number])
                for number in numbers
                if number < len(masks)
            }
        if not positions:
            return {}
        with torch.inference_mode():
            logits = logits_at(
                self._model, batch, tuple(torch.tensor([*positions.values()]).T)
            ).float()
            scores, ids = (logits.log_softmax(-1) + self._blocked).topk(
                min(top, len(self._words)), dim=-1
            )
        rows = zip(positions, ids.tolist(), scores.tolist(), strict=True)
        return {
            key: [(self._words[token], score) for token, score in zip(*row, strict=True)]
            for key, *row in rows
        }


def load(folder: str | Path, what: str, layers: int | None = None) -> tuple[Any, Any, list[str]]:
    """Return model with masked-LM head, tokenizer, and the weights that the folder lacks.

    Args:
        folder: of the model, or of an encoder, whose head is then new.
        layers: to load, from the bottom; default: all.

    Raises:
        UserError: the folder is not there or holds something else, has fewer layers, or no mask
            token.
    """
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    if not (Path(folder) / "config.json").is_file():
        raise UserError(f"{folder}: expected the folder of {what} with a config.json")
    check_layers(folder)
    check_unchanged(Path(folder) / "model.safetensors")
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # a missing head is the caller's to judge
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        if tokenizer.mask_token is None:
            raise UserError(
                f"{folder}: the tokenizer has no mask token; expected a model made for masked words"
            )
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        layers = config.num_hidden_layers if layers is None else layers
        if not 1 <= layers <= config.num_hidden_layers:
            raise UserError(
                f"train-mlm: layers is {layers}, expected 1 to {config.num_hidden_layers}"
            )
        config.num_hidden_layers = layers
        model, info = AutoModelForMaskedLM.from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{folder}: {what} cannot be loaded ({first_line(error)})") from error
    finally:
        transformers_logging.set_verbosity(verbosity)
    return (
        model.to("cuda" if torch.cuda.is_available() else "cpu"),
        tokenizer,
        sorted(info["missing_keys"]),
    )


def logits_at(model: Any, inputs: Mapping[str, Any], at: Any) -> Any:
    """Return logits ``[positions, vocabulary]``; the head computes these positions only.

    Args:
        inputs: of the model, ``[batch, length]``.
        at: the positions, a mask ``[batch, length]`` or a pair of rows and columns.
    """

    def keep(_module: Any, _inputs: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[at][None]
        return output

    hook = model.base_model.register_forward_hook(keep)
    try:
        return model(**inputs).logits[0]
    finally:
        hook.remove()


def _whole_words(tokenizer: Any) -> dict[int, str]:
    """Return the vocabulary's whole words by token id, for each kind of tokenizer."""
    pieces = tokenizer.get_vocab()
    special = set(tokenizer.all_special_tokens)
    prefix = next(
        (mark for mark in ("Ġ", "▁") if any(piece.startswith(mark) for piece in pieces)), ""
    )
    words = {}
    for piece, token in pieces.items():
        if piece in special or piece.startswith("##") or not piece.startswith(prefix):
            continue
        word = piece.removeprefix(prefix)
        if prefix == "Ġ" and not word.isascii():
            continue  # byte-level pieces of other scripts are not readable as they stand
        if replaceable(word) and not (word.startswith("[unused") and word.endswith("]")):
            words[token] = word
    return words
