"""``bundle``: the predictions of a bundle of results (``tripleaudit bundle``), spans as given.

A bundle with several prediction files must be unpacked; each of its Parquet files is read by itself.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.bundled import is_bundle, open_bundle, predictions_of
from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.readers.records import OWN, Mapped
from tripleaudit.corpora.readers.row_files import read_parquet
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError


def read(path: str | Path) -> Iterator[RawSentence | LeftOut]:
    """Yield the predicted sentences.

    Raises:
        UserError: the bundle was changed or is damaged, or it has not one prediction file.
    """
    with tempfile.TemporaryDirectory() as work:
        folder = open_bundle(Path(path), Path(work) / "bundle")
        files = predictions_of(folder)
        if len(files) != 1:
            some = ", ".join(str(file.relative_to(folder)) for file in files[:3])
            raise UserError(
                f"{path}: has {len(files)} prediction files ({some}{', …' * (len(files) > 3)}), expected one; "
                f"unpack it (tripleaudit bundle {path} --out FOLDER) and name a file, or bundle one run"
            )
        rows = ((f"{path} row {number}", row) for number, (_, row) in enumerate(read_parquet(files[0]), 1))
        yield from Mapped(OWN).sentences(rows)


FORMAT = CorpusFormat(name="bundle", order=0.5, read=read, detects=lambda probe: is_bundle(probe.path))
