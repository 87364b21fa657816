"""The augmented test set: entities replaced by similar ones that training has, or has not, shown."""

from tripleaudit.protocols.augmented.replaced import DEFAULT_BEAMS, DEFAULT_K, augment, check_request

__all__ = ["DEFAULT_BEAMS", "DEFAULT_K", "augment", "check_request"]
