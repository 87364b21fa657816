"""Relations in plain words and back."""

from tripleaudit.corpora.verbaliser import Verbaliser


def test_the_table_goes_first_and_names_stay_apart():
    relations = ["/a/b/place", "/a/c/place", "leaderName", "CID", "/x/y/leader_name"]
    names = Verbaliser(relations, {"CID": "induced by"})
    assert names("CID") == "induced by"
    assert names("/a/b/place") == "b place"
    assert names("/a/c/place") == "c place"
    longer = {
        "/a/c/d": "d",
        "/a/b/e": "a b e",
        "/c/b/e": "c b e",
        "/x/a/b/f": "/x/a/b/f",
        "/y/a/b/f": "/y/a/b/f",
    }
    assert Verbaliser(longer).names == longer  # as many components as it takes, three at most
    assert len(set(names.names.values())) == len(relations)
    for relation in relations:
        assert names.back(names(relation)) == relation


def test_the_way_back_is_forgiving_and_leaves_the_rest_alone():
    names = Verbaliser(["leaderName"])
    assert names.back("Leader_Name") == "leaderName"
    assert names.back("is led by") == "is led by"
    assert names("unheardOf") == "unheard of"


def test_names_that_cannot_be_distinguished_stay_apart():
    names = Verbaliser(["a_b", "aB", "a b"])
    assert len(set(names.names.values())) == 3
    assert names("a_b") == "a_b"
