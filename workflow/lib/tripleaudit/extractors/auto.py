"""``AutoConfig`` and ``AutoModel`` of transformers know every extractor once this module is imported.

``AutoModel.from_pretrained(FOLDER)`` then loads a trained extractor with its tokenizer. The classes are those of this
package: nothing that lies beside the weights is run.
"""

from transformers import AutoConfig, AutoModel

from tripleaudit.descriptors import EXTRACTORS
from tripleaudit.extractors.registry import extractor_class


def register_all() -> list[str]:
    """Register the configuration and the model of every extractor and classifier; returns their model types."""
    types = []
    for name in EXTRACTORS:
        model = extractor_class(name)
        AutoConfig.register(model.config_class.model_type, model.config_class, exist_ok=True)
        AutoModel.register(model.config_class, model, exist_ok=True)
        types.append(model.config_class.model_type)
    return list(dict.fromkeys(types))


register_all()
