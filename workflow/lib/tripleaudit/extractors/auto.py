"""Registration of all extractors with transformers' ``AutoConfig`` and ``AutoModel``.

``AutoModel.from_pretrained(FOLDER)`` then loads a trained extractor with its tokenizer. The classes
are those of this package: nothing that lies next to the weights is run.
"""

from transformers import AutoConfig, AutoModel

from tripleaudit.extractors.registry import extractor_class
from tripleaudit.extractors.spec import EXTRACTORS

for _model in {extractor_class(name) for name in EXTRACTORS}:
    AutoConfig.register(_model.config_class.model_type, _model.config_class, exist_ok=True)
    AutoModel.register(_model.config_class, _model, exist_ok=True)
