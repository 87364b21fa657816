"""Models and data sets of the Hugging Face hub, downloaded once so that later jobs need no network."""

from pathlib import Path

from tripleaudit.errors import UserError
from tripleaudit.sources.source import Source


def download_model(source: Source, folder: Path, patterns: list[str]) -> None:
    """Download the files of a hub model that match ``patterns`` into ``folder``.

    Raises:
        UserError: the model or revision does not exist, or the hub cannot be reached.
    """
    import shutil

    from huggingface_hub import snapshot_download

    try:
        # weights for other frameworks and runtimes live in subfolders, which are not needed
        snapshot_download(
            source.location,
            revision=source.version,
            local_dir=folder,
            allow_patterns=patterns,
            ignore_patterns=["onnx/*", "openvino/*", "coreml/*", "original/*", "flax/*", "tf/*"],
        )
    except Exception as error:  # the hub raises many kinds, all of them mean: not downloaded
        raise UserError(f"{source}: not downloaded from the hub: {_first_line(error)}") from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)


def save_dataset(source: Source, folder: Path) -> None:
    """Download a hub data set and save it as a folder that :func:`datasets.load_from_disk` reads.

    Raises:
        UserError: the data set does not exist, needs code of its own, or the hub cannot be reached.
    """
    from datasets import load_dataset

    try:
        dataset = load_dataset(source.location, revision=source.version)
    except Exception as error:
        raise UserError(f"{source}: not downloaded from the hub: {_first_line(error)}") from error
    dataset.save_to_disk(str(folder))


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
