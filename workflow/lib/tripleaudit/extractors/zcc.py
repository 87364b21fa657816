"""ZCC, the zero-cardinality classifier: does a sentence hold any triple at all? ("90% F1 Score in Relational Triple
Extraction: Is it Real?", Section 3.) Only the sentences that pass reach an extractor.

It is trained on sentences with and without triples. The binary head has one output; the multi-class multi-label head
(MCML) has one output per relation, and a sentence passes if any of them says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.extractors.alignment import Alignment
from tripleaudit.extractors.base import Extractor, ExtractorConfig, ExtractorOutput
from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.declared.zcc_settings import ZCCSettings
from tripleaudit.extractors.dropping import Dropout
from tripleaudit.extractors.formulation import on_device
from tripleaudit.extractors.losses import raise_precision
from tripleaudit.extractors.prediction import prepared, within_memory
from tripleaudit.scoring.gate import THRESHOLD


class ZCC(Extractor):
    name = "zcc"
    kind = "classifier"
    static = True
    settings = ZCCSettings
    pooler = True  # dropped again below unless the configuration wants it

    def __init__(self, config: ExtractorConfig, encoder=None):
        super().__init__(config, encoder)
        if config.pooled and getattr(self.encoder, "pooler", None) is None:
            raise UserError("zcc setting 'pooled' is true, but the encoder has no pooler; expected one that has it")
        if not config.pooled and getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None
        self.dropout = Dropout(config.dropout)
        self.classifier = nn.Linear(self.hidden_size, 1 if config.head == "binary" else len(config.relations))
        self.post_init()

    @classmethod
    def collate_targets(
        cls, config: ExtractorConfig, rows: Sequence[np.ndarray], rngs: Iterable[np.random.Generator], shape: Shape
    ) -> dict[str, Tensor]:
        """Label the sentences.

        Returns:
            ``labels`` [B, 1]: is there a triple, or [B, R]: is there one of the relation; ``real`` [B, 1], 1 for
            sentences that are not dummies.
        """
        labels = np.zeros((len(rows), 1 if config.head == "binary" else len(config.relations)), dtype=np.float32)
        for own, label in zip(rows, labels, strict=True):
            label[own[:, 2] % len(label)] = 1.0  # a single output stands for all relations
        return {"labels": shape.sentences(labels), "real": shape.sentences(np.ones((len(rows), 1), dtype=np.float32))}

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, content_mask: Tensor, **targets: Tensor
    ) -> ExtractorOutput:
        """See :meth:`Extractor.forward`; the logits are [B, 1] (binary) or [B, R] (MCML)."""
        encoded = self.encoded(input_ids, attention_mask)
        state = encoded.pooler_output if self.config.pooled else encoded.last_hidden_state[:, 0]
        logits = raise_precision(self.classifier(self.dropout(state)))  # [B, 1 or R]
        if not targets:
            return ExtractorOutput(logits=logits)
        labels = targets["labels"].to(logits.dtype)
        if on_device(logits):
            real = targets["real"].to(logits.dtype)
            loss = F.binary_cross_entropy_with_logits(logits, labels, real, reduction="sum")
            loss = loss / (real.sum() * logits.shape[1])
        else:
            loss = F.binary_cross_entropy_with_logits(logits, labels)
        return ExtractorOutput(loss=loss, terms={"sentence": loss.detach()}, logits=logits)

    def decide(
        self, texts: Sequence[str], batch_size: int = 32, alignments: Mapping[str, Alignment] | None = None
    ) -> list[float]:
        """Return for each text the score in [0, 1] that it has triples; equal texts are read once.

        ``alignments`` is what ``self.aligner.align`` made of the texts, where it is known already.
        """
        scores = self._scores(list(dict.fromkeys(texts)), alignments, batch_size)
        return [scores[text] for text in texts]

    def evaluate(
        self, sentences: Sequence[Sentence], alignments: Mapping[str, Alignment], batch_size: int
    ) -> dict[str, float]:
        """Return F1, precision and recall of the class "has triples"; ``sentences`` carry their gold triples."""
        scores = self._scores(list(dict.fromkeys(each.text for each in sentences)), alignments, batch_size)
        positive = [bool(each.triples) for each in sentences]
        accepted = [scores[each.text] > THRESHOLD for each in sentences]
        correct = sum(has and passes for has, passes in zip(positive, accepted, strict=True))
        return {
            "f1": 2 * correct / max(1, sum(positive) + sum(accepted)),
            "precision": correct / max(1, sum(accepted)),
            "recall": correct / max(1, sum(positive)),
        }

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
        self, texts: Sequence[str], batch_size: int, alignments: Mapping[str, Alignment] | None = None
    ) -> Iterator[tuple[Sequence[str], Tensor]]:
        """Yield batches of distinct texts with the largest of each one's logits, [B]."""
        with self.predicting():
            for whole in prepared(self, texts, alignments, batch_size):
                for batch, output in within_memory(whole, self.device, lambda tensors: self(**tensors)):
                    yield batch.texts, output.logits.amax(dim=1)
