"""The outer form of words: which of them can be replaced, and giving a lower-case word the case of another one."""


def replaceable(word: str) -> bool:
    """Whether the word holds a letter or a digit; commas, brackets and the like always stay."""
    return any(character.isalnum() for character in word)


def same(one: str, other: str) -> bool:
    """Whether two words differ in case at most."""
    return one.casefold() == other.casefold()


def like(word: str, model: str) -> str:
    """Return ``word`` with the case pattern of ``model``: all capitals, a first capital, or as it is."""
    if len(model) > 1 and model.isupper() and model.isalpha():
        return word.upper()
    first = next((character for character in model if character.isalpha()), "")
    return word[:1].upper() + word[1:] if first.isupper() else word
