"""A sequence-to-sequence model with REBEL's linearisation (Huguet Cabot and Navigli, Findings of
EMNLP 2021).

The model writes ``<triplet> subject <subj> object <obj> relation``, further objects of a subject after ``<subj>``. In a
study::

    systems:
      rebel:
        python: resources/adapters/seq2seq_system.py:Seq2Seq
        batch_size: 8
        options: {model: Babelscape/rebel-large, num_beams: 3}
"""

import re
from collections.abc import Sequence

MARKS = re.compile(r"(<triplet>|<subj>|<obj>)")


class Seq2Seq:
    """A model of ``AutoModelForSeq2SeqLM`` that was trained to write triples.

    Args:
        model: name on the hub, or folder.
        num_beams, max_new_tokens, length_penalty: of the generation; REBEL's own are 3, 256 and 0.
        names: relation as the model writes it -> name in the corpus; others stay as they are.
    """

    def __init__(
        self,
        model: str = "Babelscape/rebel-large",
        num_beams: int = 3,
        max_new_tokens: int = 256,
        length_penalty: float = 0.0,
        names: dict[str, str] | None = None,
    ):
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(model)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = AutoModelForSeq2SeqLM.from_pretrained(model).to(self.device).eval()
        self.options = {
            "num_beams": num_beams,
            "max_new_tokens": max_new_tokens,
            "length_penalty": length_penalty,
        }
        self.names = names or {}

    def extract(self, texts: Sequence[str]) -> list[list[tuple[str, str, str]]]:
        batch = self.tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt").to(
            self.device
        )
        batch.pop("token_type_ids", None)
        written = self.model.generate(**batch, **self.options)
        special = {str(token) for token in self.tokenizer.all_special_tokens} - {
            "<triplet>",
            "<subj>",
            "<obj>",
        }
        found = []
        for tokens in written:
            text = self.tokenizer.decode(tokens, skip_special_tokens=False)
            for token in special:
                text = text.replace(token, " ")
            found.append([(s, self.names.get(r, r), o) for s, r, o in triples_of(text)])
        return found


def triples_of(text: str) -> list[tuple[str, str, str]]:
    """Return ``(subject, relation, object)`` of linearised triples, each once; what is cut off
    is left out.
    """
    found: dict[tuple[str, str, str], None] = {}
    subject = object_ = ""
    parts = MARKS.split(text)
    for mark, words in zip(parts[1::2], map(str.strip, parts[2::2]), strict=True):
        if mark == "<triplet>":
            subject, object_ = words, ""
        elif mark == "<subj>":
            object_ = words
        elif subject and object_ and words:
            found[subject, words, object_] = None
            object_ = ""
    return list(found)
