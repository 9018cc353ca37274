"""Public files come from the folder of data, the cache or a server, and only ever the right bytes."""

import gzip
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forecast.cache import cache_dir
from forecast.errors import SourceError
from pipelines.sources import PublicSource, public
from pipelines.sources.download import check, download

HELLO_SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and one path whose answer breaks off."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer from the folder."""
        if self.path != "/cut.csv":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"date,HUFL")
        return None


@pytest.fixture
def served(tmp_path: Path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def server(served: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of the folder `served`, on this machine and on a port that was free."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served))) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and no folder of data sets."""
    monkeypatch.setenv("LONGCAST_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LONGCAST_DATA_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def etth1(data_dir: Path) -> bytes:
    return (data_dir / "ett" / "ETTh1.csv").read_bytes()


def test_a_download_is_checked_and_kept_whole(server, served, tmp_path):
    (served / "hello.txt").write_bytes(b"hello")
    kept = tmp_path / "deep" / "er" / "hello.txt"
    assert download(f"{server}/hello.txt", sha256=HELLO_SHA256, path=kept) == b"hello"
    assert kept.read_bytes() == b"hello"
    assert list(kept.parent.iterdir()) == [kept]


def test_a_wrong_download_is_refused_and_not_kept(server, served, tmp_path):
    (served / "hello.txt").write_bytes(b"hellO")
    with pytest.raises(SourceError, match=f"expected sha256 {HELLO_SHA256}, found"):
        download(f"{server}/hello.txt", sha256=HELLO_SHA256, path=tmp_path / "hello.txt")
    assert not (tmp_path / "hello.txt").exists()


@pytest.mark.parametrize("name", ["absent.csv", "cut.csv"])
def test_a_failed_download_says_where_the_file_may_be_put_by_hand(server, tmp_path, name):
    with pytest.raises(SourceError, match=r"could not be fetched: .*put it at .*kept\.csv") as failed:
        download(f"{server}/{name}", sha256=HELLO_SHA256, path=tmp_path / "kept.csv")
    assert failed.value.__cause__ is not None
    assert not (tmp_path / "kept.csv").exists()


def test_a_cache_that_cannot_be_written_is_named(server, served, tmp_path):
    (served / "hello.txt").write_bytes(b"hello")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceError, match="set LONGCAST_CACHE_DIR"):
        download(f"{server}/hello.txt", sha256=HELLO_SHA256, path=tmp_path / "file" / "hello.txt")


def test_a_public_set_is_fetched_once_and_then_read_from_the_cache(server, served, cache, etth1, monkeypatch):
    monkeypatch.setattr(public, "ORIGIN", server)
    (served / "ETTh1.csv").write_bytes(etth1)
    fetched = PublicSource(name="ETTh1").read()
    assert (cache / "ett" / "ETTh1.csv").read_bytes() == etth1
    (served / "ETTh1.csv").unlink()
    assert PublicSource(name="ETTh1").read().equals(fetched)


def test_a_corrupted_origin_is_refused(server, served, cache, etth1, monkeypatch):
    monkeypatch.setattr(public, "ORIGIN", server)
    (served / "ETTh1.csv").write_bytes(etth1.replace(b"5.827", b"5.828", 1))
    with pytest.raises(SourceError, match=r"ETTh1\.csv is not the file it should be"):
        PublicSource(name="ETTh1").read()
    assert not list(cache.rglob("*.csv"))


def test_a_set_in_the_folder_of_data_is_read_from_there_plain_or_zipped(cache, tmp_path, etth1, monkeypatch):
    folder = tmp_path / "data" / "ett"
    folder.mkdir(parents=True)
    monkeypatch.setenv("LONGCAST_DATA_DIR", str(folder.parent))
    (folder / "ETTh1.csv.gz").write_bytes(gzip.compress(etth1, compresslevel=1))
    zipped = PublicSource(name="ETTh1").read()
    (folder / "ETTh1.csv").write_bytes(etth1)
    assert PublicSource(name="ETTh1").read().equals(zipped)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [("ETTh1.csv", b"date,OT\n"), ("ETTh1.csv.gz", gzip.compress(b"x", mtime=0)[:-3])],
    ids=["altered", "cut"],
)
def test_an_altered_or_cut_file_in_the_folder_of_data_is_named(cache, tmp_path, monkeypatch, name, content):
    (tmp_path / "data" / "ett").mkdir(parents=True)
    (tmp_path / "data" / "ett" / name).write_bytes(content)
    monkeypatch.setenv("LONGCAST_DATA_DIR", str(tmp_path / "data"))
    with pytest.raises(SourceError, match=f"{name} is not"):
        PublicSource(name="ETTh1").read()


def test_a_digest_that_fits_lets_the_content_through():
    assert check(b"hello", sha256=HELLO_SHA256, where="here") == b"hello"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/longcast"),
        ("linux", {"HOME": "/home/ada"}, "/home/ada/.cache/longcast"),
        ("darwin", {"HOME": "/Users/ada"}, "/Users/ada/Library/Caches/longcast"),
        ("win32", {"LOCALAPPDATA": "/AppData"}, "/AppData/longcast/cache"),
        ("linux", {"LONGCAST_CACHE_DIR": "/chosen"}, "/chosen"),
    ],
)
def test_the_cache_folder_is_the_platforms_own_unless_chosen(monkeypatch, platform, variables, expected):
    for name in ("LONGCAST_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache_dir() == Path(expected)
