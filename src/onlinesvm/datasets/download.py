"""Download once, check always: atomic files, SHA-256, and pins for sources that publish none.

Where a source's SHA-256 is publicly known it stands in :mod:`onlinesvm.datasets.sources` and must
match. Where none is known, the sum of the first good download is remembered in ``pins.json`` in the
cache (trust on first use), and any later download of the same address must match that.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO

from onlinesvm.files.atomic import replacing

__all__ = ["ChecksumError", "DownloadError", "Pins", "cache_folder", "download"]

_CHUNK = 1 << 18
LARGEST = 64 << 20  # bytes; the largest known source, covtype, sends 11 million


class DownloadError(OSError):
    """A data file could not be downloaded."""


class ChecksumError(DownloadError):
    """A downloaded file is not the one that was expected."""


def cache_folder() -> Path:
    """Where downloads are kept: ``ONLINESVM_CACHE``, else the platform's cache folder."""
    if chosen := os.environ.get("ONLINESVM_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "onlinesvm"


def download(url: str, path: Path, *, sha256: str | None, timeout: float, verbose: bool) -> str:
    """Bring ``url`` to ``path`` and return its SHA-256, or raise and leave no file behind.

    Parameters
    ----------
    url : str
        Address, http(s) or file.
    path : Path
        Where the file goes.
    sha256 : str or None
        The sum to match; None takes what comes.
    timeout : float
        Seconds without a byte before giving up.
    verbose : bool
        Show a progress bar.
    """
    with replacing(path) as file:
        found = _copy(url, file, path.name, timeout=timeout, verbose=verbose)
        if sha256 is not None and found != sha256:
            raise ChecksumError(
                f"{url} has SHA-256 {found}, expected {sha256}; "
                "try again later, or fetch the file by hand and look what changed"
            )
    return found


def _copy(url: str, file: IO[bytes], label: str, *, timeout: float, verbose: bool) -> str:
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            size = _promised(url, response.headers.get("Content-Length"))
            received = 0
            with _progress(label, size, verbose) as advance:
                while chunk := response.read(_CHUNK):
                    received += len(chunk)
                    _check_size(url, received)
                    file.write(chunk)
                    digest.update(chunk)
                    advance(len(chunk))
    except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
        raise DownloadError(f"cannot download {url}: {error}") from error
    if size is not None and received != size:
        raise DownloadError(f"{url} was cut short: {received} of {size} bytes arrived")
    return digest.hexdigest()


def _promised(url: str, length: str | None) -> int | None:
    """The size that a server announces; None where it does not."""
    if length is None:
        return None
    if not (length.isascii() and length.isdigit()):
        raise DownloadError(f"{url} announces {length!r} bytes; try again later")
    _check_size(url, int(length))
    return int(length)


def _check_size(url: str, size: int) -> None:
    if size > LARGEST:
        raise DownloadError(f"{url} sends more than {LARGEST >> 20} MiB: not the known data set")


@contextmanager
def _progress(label: str, size: int | None, verbose: bool) -> Iterator[Callable[[int], None]]:
    if not verbose:
        yield lambda count: None
        return
    try:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
    except ImportError:
        print(f"{label} ...", file=sys.stderr)
        yield lambda count: None
        return
    with Progress(TextColumn("{task.description}"), BarColumn(), DownloadColumn()) as bar:
        task = bar.add_task(label, total=size)
        yield lambda count: bar.update(task, advance=count)


class Pins:
    """Sums of first downloads by address, in ``pins.json`` in the cache."""

    def __init__(self) -> None:
        self.path = cache_folder() / "pins.json"

    def get(self, url: str) -> str | None:
        return self._read().get(url)

    def add(self, sums: Mapping[str, str]) -> None:
        sums_by_url = self._read() | dict(sums)
        with replacing(self.path) as file:
            file.write(json.dumps(sums_by_url, indent=2, sort_keys=True).encode())

    def _read(self) -> dict[str, str]:
        if not self.path.exists():
            return {}
        try:
            pins = json.loads(self.path.read_text())
        except (ValueError, RecursionError):
            pins = None
        if not isinstance(pins, dict) or not all(isinstance(pin, str) for pin in pins.values()):
            raise DownloadError(f"{self.path} is not a table of sums; delete it to start anew")
        return pins
