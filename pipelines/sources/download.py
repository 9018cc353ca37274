"""One file from its origin into the cache folder: checked against its sha256 before it counts as there."""

import hashlib
import tempfile
import urllib.request
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

from forecast.errors import SourceError

TIMEOUT_S = 60.0  # without a byte; the largest file known here is 10 MB


def check(content: bytes, *, sha256: str, where: str) -> bytes:
    """Give `content` back if it has the expected digest.

    Raises:
        SourceError: it has another: the file was altered, cut short or replaced by another version.
    """
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SourceError(
            f"{where} is not the file it should be: expected sha256 {sha256}, found {found} in {len(content):,} bytes; "
            f"delete it and fetch it again, and if it stays so, report it: the origin has changed"
        )
    return content


def download(url: str, *, sha256: str, path: Path) -> bytes:
    """Fetch `url`, check it, keep it at `path` and give its bytes; `path` never holds half a file or a wrong one.

    Raises:
        SourceError: the origin cannot be reached, answers with an error, or sends something else than expected.
    """
    try:
        content = _fetch(url)
    except (OSError, HTTPException) as failure:  # the second: an answer cut short
        raise SourceError(
            f"{url} could not be fetched: {failure}; try again, or fetch it on a machine that has a network and put it "
            f"at {path}"
        ) from failure
    _keep(check(content, sha256=sha256, where=url), path)
    return content


def _fetch(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return answer.read()
    except HTTPError as refusal:
        refusal.close()  # it is an answer too, and would hold the connection for as long as someone holds the error
        raise


def _keep(content: bytes, path: Path) -> None:
    """Write to a neighbour and rename it, so that another process sees the whole file or none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as neighbour:
            neighbour.write(content)
        Path(neighbour.name).replace(path)
    except OSError as failure:
        raise SourceError(
            f"{path} could not be written: {failure}; set LONGCAST_CACHE_DIR to a folder that can be written to"
        ) from failure
