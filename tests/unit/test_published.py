"""The fixture of published sets is what the published files hold."""

import pytest

from support import published


@pytest.mark.parametrize(
    ("name", "collect"),
    [("webnlg", published.collect_webnlg), ("genres", published.count_genres)],
)
def test_the_fixture_has_the_triples_and_counts_of_the_published_files(real_data, name, collect):
    assert published.read_fixture(name) == collect(real_data)


def test_a_sentence_is_in_one_set_and_has_its_published_size():
    sets = published.webnlg()
    for splits in (sets.original, sets.rearranged):
        sizes = [len(sentences) for _, sentences in splits]
        assert sizes == [5019, 500, 703]
        ids = {sentence.id for _, sentences in splits for sentence in sentences}
        assert len(ids) == sum(sizes)
