"""Publishing an unpacked bundle as a data set of a hub: the one at ``HF_ENDPOINT``, huggingface.co by default."""

from pathlib import Path

from tripleaudit.corpora.bundled import open_bundle
from tripleaudit.errors import UserError


def push_to_hub(bundle: Path, repository: str, private: bool = False, work: Path | None = None) -> str:
    """Upload every file of a verified bundle in one commit; the account is that of ``HF_TOKEN`` or ``hf auth login``.

    Args:
        bundle: archive or unpacked folder.
        repository: ``OWNER/NAME`` of the data set, made where there is none.
        private: of a data set that is made.
        work: a folder that does not exist yet, to unpack an archive into.

    Returns:
        The address of the commit.

    Raises:
        UserError: the bundle was changed, the name is none, or the hub cannot be reached or says no.
    """
    from httpx import HTTPError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError

    folder = open_bundle(bundle, work or bundle.with_suffix(""))
    api = HfApi(library_name="tripleaudit")
    try:
        api.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        done = api.upload_folder(
            repo_id=repository, repo_type="dataset", folder_path=folder, commit_message=f"Add the results {folder.name}"
        )
    except (HfHubHTTPError, HFValidationError, LocalTokenNotFoundError, HTTPError, OSError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise UserError(f"{repository}: cannot be pushed to {api.endpoint}: {reason}") from error
    return str(done.commit_url)
