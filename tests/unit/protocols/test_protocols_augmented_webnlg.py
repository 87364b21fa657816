"""What the published augmented files of WebNLG do, which the defaults follow."""

from collections import Counter

from support.augmented_files import published_outcomes
from support.published import webnlg
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import PARTS


def test_the_published_files_do_what_the_defaults_follow():
    known = SeenTriples(webnlg().original.train).entities
    found = published_outcomes(webnlg(), known)

    def count(**wanted):
        total = Counter()
        for key, number in found.items():
            if all(
                dict(zip(("part", "way", "role"), key, strict=False))[name] == value
                for name, value in wanted.items()
            ):
                total[key[3]] += number
        return [total[kind] for kind in ("same", "seen", "unseen")]

    # An entity that is subject and object becomes unseen in su and us alike, not seen as the text
    # says.
    assert [count(part=part, role="so") for part in PARTS] == [
        [199, 94, 14],
        [0, 2, 305],
        [1, 28, 278],
        [0, 1, 306],
    ]
    # A word of several pieces never stays where a seen one is asked for, others do.
    assert count(part="ss", way="vectors") == [4, 180, 123]
    assert count(part="ss", way="masked_word") == [95, 425, 6]
    assert count(part="ss", way="masked_words") == [1267, 21, 2]
    assert sum(found.values()) == 4 * 2123
