"""Which column of a frame plays which part, matched by name and never by position."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from forecast.config import config
from forecast.errors import ColumnMissing

ALIASES = {
    "id": ("unique_id", "item_id", "series_id", "id"),
    "time": ("ds", "timestamp", "date", "datetime", "date_time", "time"),
    "target": ("y", "target", "value"),
}
"""Names that are common in the field; looked for, whatever their case, only where the exact name is absent."""

ONLY_SERIES = "series"
"""The id of the one series of a frame that has no id column."""


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError(f"each column is to be listed once; the list is {', '.join(names)}")
    return names


@config
class Columns:
    """The names of the columns that every long frame has."""

    id: str = "unique_id"
    """One value a series: text or integers."""

    time: str = "ds"
    """When: datetimes, dates, ISO 8601 text or integers."""

    target: str | Annotated[tuple[str, ...], Field(min_length=2), AfterValidator(_each_once)] = "y"
    """What is forecast: numbers. Several columns are several channels of each series."""

    weight: str | None = None
    """How much each row counts in the training loss, 0 or more; None where all count alike."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that are forecast, one or several."""
        return (self.target,) if isinstance(self.target, str) else self.target

    @property
    def target_text(self) -> str:
        """The target's name, or the names of several, for people."""
        return ", ".join(self.targets)

    def resolve(self, frame_columns: Sequence[str]) -> Self:
        """Give the columns under the names they have in a frame.

        The id column may be absent: the frame is one series then, and `id` stays as it is.

        Raises:
            ColumnMissing: no column, or more than one, can be the time or a target; or more than one can be the id; or
                the weight is not there.
        """
        return replace(
            self.resolve_keys(frame_columns),
            target=self._found_target(frame_columns),
            weight=None if self.weight is None else self._exact("weight", self.weight, frame_columns),
        )

    def resolve_keys(self, frame_columns: Sequence[str]) -> Self:
        """Give the id and time columns under the names they have in a frame, which need not hold the target."""
        return replace(
            self,
            id=self._find("id", self.id, frame_columns) or self._no_id(frame_columns),
            time=self._find("time", self.time, frame_columns) or self._missing("time", self.time, frame_columns),
        )

    def _found_target(self, frame_columns: Sequence[str]) -> str | tuple[str, ...]:
        if isinstance(self.target, str):
            return self._find("target", self.target, frame_columns) or self._missing(
                "target", self.target, frame_columns
            )
        return tuple(self._exact("target", name, frame_columns) for name in self.target)

    def _exact(self, part: str, name: str, frame_columns: Sequence[str]) -> str:
        matching = [column for column in frame_columns if column == name]
        return self._only(part, name, matching) or self._missing(part, name, frame_columns)

    def _no_id(self, frame_columns: Sequence[str]) -> str:
        """Accept a frame of one series, unless the caller named an id column of their own."""
        return self.id if self.id in ALIASES["id"] else self._missing("id", self.id, frame_columns)

    def _find(self, part: str, name: str, frame_columns: Sequence[str]) -> str | None:
        if name in frame_columns:
            return self._only(part, name, [column for column in frame_columns if column == name])
        if name not in ALIASES[part]:  # a name of the caller's own means that column and no other
            return None
        return self._only(part, name, [column for column in frame_columns if str(column).lower() in ALIASES[part]])

    def _only(self, part: str, name: str, candidates: Sequence[str]) -> str | None:
        if len(candidates) > 1:
            raise ColumnMissing(
                f"more than one column can be the {part}: {', '.join(map(repr, candidates))}; "
                f"rename the others, or name the column: columns.{part}",
                field=name,
            )
        return candidates[0] if candidates else None

    def _missing(self, part: str, name: str, frame_columns: Sequence[str]) -> str:
        raise ColumnMissing(
            f"the frame has no {part} column {name!r}; it has {', '.join(map(repr, frame_columns)) or 'no columns'}; "
            f"rename the column that holds the {part}, or name it: columns.{part}",
            field=name,
        )
