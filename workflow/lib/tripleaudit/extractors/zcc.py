"""ZCC, the zero-cardinality classifier: does a sentence hold any triple?

"90% F1 Score in Relational Triple Extraction: Is it Real?", Section 3. Only the sentences that pass
reach an extractor.

It is trained on sentences with and without triples. The binary head has one output; the multi-class
multi-label head (MCML) has one output per relation, and a sentence passes if any of them says so.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Alignment
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import GoldBatch
from tripleaudit.extractors.dropping import Dropout
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.prediction import as_list, prepared, within_memory
from tripleaudit.extractors.specs.zcc import ZCCSettings
from tripleaudit.scoring.gate import THRESHOLD, classification_counts
from tripleaudit.scoring.metrics import micro

MOST = 500  # sentences whose clue words are looked for, each read once a word
_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


class ZCC(Extractor):
    """The classifier of sentences with and without triples, binary or by relation."""

    name = "zcc"
    kind = "classifier"
    static = True
    settings = ZCCSettings

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        self.dropout = Dropout(config.dropout)
        self.classifier = nn.Linear(
            self.hidden_size, 1 if config.head == "binary" else len(config.relations)
        )
        self.post_init()

    @classmethod
    def collate_targets(cls, config: ExtractorConfig, batch: GoldBatch) -> dict[str, Tensor]:
        """Label the sentences.

        Returns:
            ``labels`` [B, 1]: is there a triple, or [B, R]: is there one of the relation; ``real``
            [B, 1], 1 for sentences that are not dummies.
        """
        outputs, shape = 1 if config.head == "binary" else len(config.relations), batch.shape
        labels = np.zeros((len(batch.rows), outputs), dtype=np.float32)
        for own, label in zip(batch.rows, labels, strict=True):
            label[own[:, 2] % outputs] = 1.0  # a single output stands for all relations
        return {
            "labels": shape.sentences(labels),
            "real": shape.sentences(np.ones_like(labels[:, :1])),
        }

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; the logits are [B, 1] (binary) or [B, R] (MCML)."""
        state = self.encode(input_ids, attention_mask)[:, 0]
        logits = raise_precision(self.classifier(self.dropout(state)))  # [B, 1 or R]
        if not targets:
            return ExtractorOutput(logits=logits)
        labels, real = (targets[name].to(logits.dtype) for name in ("labels", "real"))
        loss = F.binary_cross_entropy_with_logits(logits, labels, real, reduction="sum")
        loss = loss / (real.sum() * logits.shape[1])
        return ExtractorOutput(loss=loss, terms={"sentence": loss.detach()}, logits=logits)

    def decide(
        self,
        texts: Sequence[str] | str,
        batch_size: int = 32,
        alignments: Mapping[str, Alignment] | None = None,
    ) -> list[float]:
        """Return for each text the score in [0, 1] that it has triples; equal texts are read once.

        ``alignments`` is what ``self.aligner.align`` made of the texts, where it is known already.
        """
        texts = as_list(texts)
        scores = self._scores(list(dict.fromkeys(texts)), alignments, batch_size)
        return [scores[text] for text in texts]

    def evaluate(
        self, sentences: Sequence[Sentence], alignments: Mapping[str, Alignment], batch_size: int
    ) -> dict[str, float]:
        """Return F1, precision and recall of the class "has triples" on gold ``sentences``."""
        scores = self._scores(
            list(dict.fromkeys(each.text for each in sentences)), alignments, batch_size
        )
        total = micro(
            classification_counts(sentences, np.array([scores[each.text] for each in sentences]))
        )
        return {"f1": total.f1, "precision": total.precision, "recall": total.recall}

    def _scores(
        self, texts: Sequence[str], alignments: Mapping[str, Alignment] | None, batch_size: int
    ) -> dict[str, float]:
        return {
            text: score
            for own, odds in self.log_odds(texts, batch_size, alignments)
            for text, score in zip(own, odds.sigmoid().tolist(), strict=True)
        }

    @torch.inference_mode()
    def log_odds(
        self,
        texts: Sequence[str],
        batch_size: int,
        alignments: Mapping[str, Alignment] | None = None,
    ) -> Iterator[tuple[Sequence[str], Tensor]]:
        """Yield batches of distinct texts with the largest of each one's logits, [B]."""
        with self.predicting():
            for whole in prepared(self, texts, alignments, batch_size):
                for batch, output in within_memory(
                    whole, self.device, lambda tensors: self(**tensors)
                ):
                    yield batch.texts, output.logits.amax(dim=1)

    def clues(self, texts: Sequence[str], batch_size: int = 32) -> dict[str, str]:
        """Find the clue words of at most :data:`MOST` texts, spread evenly over all.

        The paper (section 3, table 1) takes it that words such as "born" show that a sentence has a
        triple, without its entities. Here each word is masked in turn (occlusion).

        Returns:
            text -> the word whose masking lowers the log odds of a sentence that passes most, or
            raises that of another most; ``""`` where no word does. Of equal words of a sentence one
            is masked at a time.
        """
        distinct = list(dict.fromkeys(texts))
        chosen = distinct[:: math.ceil(len(distinct) / MOST)] if distinct else []
        mask = self.aligner.tokenizer.mask_token or ""
        words = {text: list(_WORD.finditer(text)) for text in chosen}
        masked = {
            (text, w): text[: w.start()] + mask + text[w.end() :]
            for text in chosen
            for w in words[text]
        }
        readings = self.log_odds(list(dict.fromkeys([*chosen, *masked.values()])), batch_size)
        odds = {
            text: value
            for own, values in readings
            for text, value in zip(own, values.tolist(), strict=True)
        }
        bound, found = math.log(THRESHOLD / (1 - THRESHOLD)), {}
        for text in chosen:
            sign = 1 if odds[text] > bound else -1
            moved = [
                (sign * (odds[text] - odds[masked[text, word]]), word.group())
                for word in words[text]
            ]
            most, clue = max(moved, key=lambda pair: pair[0], default=(0.0, ""))
            found[text] = clue if most > 0 else ""
        return found
