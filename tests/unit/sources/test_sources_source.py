"""The five forms of a source."""

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.sources.source import Source, parse_source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("data/train.json", Source("local", "data/train.json")),
        ("data.zip!/x/train.json", Source("local", "data.zip", None, "x/train.json")),
        ("https://example.org/a.json", Source("https", "https://example.org/a.json")),
        ("https://example.org/a.zip!/b", Source("https", "https://example.org/a.zip", None, "b")),
        ("http://127.0.0.1:8000/a", Source("https", "http://127.0.0.1:8000/a")),
        ("http://localhost/a", Source("https", "http://localhost/a")),
        ("hub:org/name", Source("hub", "org/name")),
        ("hub:org/name@v1.0", Source("hub", "org/name", "v1.0")),
        ("hub:gpt2", Source("hub", "gpt2")),
        ("pypi:a-b==0.1.0!/a_b/model", Source("pypi", "a-b", "0.1.0", "a_b/model")),
        (
            "(pypi:a==1!/x.1 + https://example.org/x.2)!/m",
            Source(
                "parts",
                "(pypi:a==1!/x.1 + https://example.org/x.2)",
                None,
                "m",
                (Source("pypi", "a", "1", "x.1"), Source("https", "https://example.org/x.2")),
            ),
        ),
        (
            "(a + b)",
            Source("parts", "(a + b)", None, None, (Source("local", "a"), Source("local", "b"))),
        ),
    ],
)
def test_parse_and_print(text, source):
    assert parse_source(text) == source
    assert str(source) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a path, an https URL"),
        ("http://example.org/a", "only https is allowed"),
        ("http://127.0.0.1.example.org/a", "only https is allowed"),
        ("ftp://example.org/a", "ftp is not supported"),
        ("https:///a", "expected an address such as https://host/file"),
        ("https://[a", "expected an address such as https://host/file"),
        ("https://host:99999/a", "expected an address such as https://host/file"),
        ("https://host /a", "expected an address such as https://host/file"),
        ("hub:org/name/more", "expected hub:organisation/name"),
        ("hub:org/na me", "expected hub:organisation/name"),
        ("pypi:name!/a", "expected pypi:name==version"),
        ("pypi:name==1.0", "expected pypi:name==version"),
        ("pypi:--index-url==1.0!/a", "expected pypi:name==version"),
        ("pypi:name==1.0!/../a", "leaves the archive"),
        ("a.zip!//etc/passwd", "leaves the archive"),
        ("(a + b", "each part a file"),
        ("(a)", "each part a file"),
        ("(a + hub:org/name)", "each part a file"),
        ("(a + http://example.org/b)", "only https is allowed"),
        ("(a + b)/m", "expected nothing, or !/path, behind the parts"),
        ("(a + b)!/../m", "leaves the archive"),
    ],
)
def test_bad_names_are_one_clear_sentence(text, message):
    with pytest.raises(UserError, match=message):
        parse_source(text)
