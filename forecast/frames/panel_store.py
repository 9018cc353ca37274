"""A panel on disk: one contiguous `.npy` file a column, mapped into memory when it is opened, beside a head in JSON."""

from pathlib import Path

from forecast.errors import SourceError
from forecast.frames.digest import panel_digest
from forecast.frames.panel import Panel
from forecast.frames.panel_writer import PanelWriter
from forecast.frames.store_files import AGAIN, build_panel, read_head


def write_panel(panel: Panel, folder: str | Path) -> Path:
    """Write a panel whole or not at all; a store that stands there already is replaced.

    Raises:
        SourceError: the folder holds something else.
        DataError: the panel's frequency is more than its text says.
    """
    with PanelWriter(folder) as writer:
        writer.append(panel)
    return writer.folder


def open_panel(folder: str | Path) -> Panel:
    """Open a stored panel without reading its steps: memory holds the ids, and the pages in use.

    Types of ids and stamps are those of polars, whatever frame the panel was made from.

    Raises:
        SourceError: there is no store, a file is missing, cut short or of another store, or the format is another.
    """
    place = Path(folder).absolute()
    head = read_head(place)
    return build_panel(head, place)


def stored_digest(folder: str | Path) -> str:
    """Give the `panel_digest` that a panel had when it was written, without reading it.

    Raises:
        SourceError: there is no store, or its head cannot be read.
    """
    return read_head(Path(folder)).digest


def check_panel(folder: str | Path) -> str:
    """Read a whole store, compare it with the digest that it was written with, and give that.

    Raises:
        SourceError: the content was altered, or the store cannot be opened.
    """
    head, found = read_head(Path(folder)), panel_digest(open_panel(folder))
    if found != head.digest:
        raise SourceError(
            f"the store at {str(folder)!r} was written with digest {head.digest} and now has {found}: its content was "
            f"altered; {AGAIN}"
        )
    return found
