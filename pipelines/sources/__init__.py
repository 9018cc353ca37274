"""Where rows come from; a new source is a file here and a name in the union below."""

from typing import Annotated

from forecast.config import Tagged
from pipelines.sources.base import Description
from pipelines.sources.embedded import EmbeddedSource
from pipelines.sources.files import FilesSource
from pipelines.sources.public import PublicSource
from pipelines.sources.sine import SineSource
from pipelines.sources.sql import SqlSource
from pipelines.sources.wide import SeriesInColumns, SeriesInRows, Wide

Source = Annotated[EmbeddedSource | FilesSource | PublicSource | SineSource | SqlSource, Tagged]

__all__ = [
    "Description",
    "EmbeddedSource",
    "FilesSource",
    "PublicSource",
    "SeriesInColumns",
    "SeriesInRows",
    "SineSource",
    "Source",
    "SqlSource",
    "Wide",
]
