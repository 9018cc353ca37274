"""Panels written to a store one after the other, in memory that their number does not change."""

import json
import shutil
import uuid
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from jaxtyping import Shaped

from forecast.config import to_plain
from forecast.errors import DataError, SourceError
from forecast.frames.concat import Kinds, add_new_ids, check_alike, kinds_of, num_rows
from forecast.frames.covariates import Covariates, CovariateSchema
from forecast.frames.digest import panel_digest
from forecast.frames.frequency import Frequency
from forecast.frames.growing import GrowingArray, recode_file
from forecast.frames.panel import Panel
from forecast.frames.store_files import build_panel, is_store, mask_name, value_name
from forecast.frames.store_head import HEAD_FILE, NAMES_FILE, DtypeText, PanelHead, StampsText, StoredArray
from forecast.frames.vocabulary import Table, Vocabulary, all_covariates, code_table, recode_static, with_levels

FLOAT, WHOLE, MASK = "<f8", "<i8", "|b1"


class PanelWriter:
    """Writes panel after panel, and leaves the store that `write_panel` makes of all of them joined.

    To be used in a `with` block: the store appears, whole, when the block ends, and not when an error leaves it. Ids
    are held in memory, and one chunk of one column.
    """

    def __init__(self, folder: str | Path):
        """Name the folder.

        Raises:
            SourceError: it holds something that is no store.
        """
        self.folder = Path(folder).absolute()
        _refuse_to_overwrite(self.folder)
        self._written = self.folder.with_name(f".{self.folder.name}.{uuid.uuid4().hex}")
        self._arrays: dict[str, GrowingArray] = {}
        self._num_panels = 0
        self._kinds: Kinds = ()
        self._head: PanelHead | None = None
        self._ids: dict[str | int, None] = {}
        self._entities: list[str | int] = []
        self._vocabularies: list[Vocabulary] = []
        self._num_rows = 0

    def __enter__(self) -> Self:
        self._written.mkdir(parents=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        try:
            for array in self._arrays.values():
                array.close()
            if kind is None:
                self._finish()
        finally:
            shutil.rmtree(self._written, ignore_errors=True)

    def append(self, panel: Panel) -> None:
        """Write the series of a panel after those before.

        Raises:
            DataError: the panel does not fit the first one, an id was written before, or the frequency is more than
                its text says.
        """
        self._num_panels += 1
        if self._head is None:
            self._kinds, self._head = kinds_of(panel), _head(panel)
        check_alike(self._kinds, panel, number=self._num_panels)
        add_new_ids(panel.ids, met=self._ids)
        if self._head.id_type is None and panel.id_type is not None:
            self._head = replace(self._head, id_type=DtypeText.of(panel.id_type.dtype))
        self._entities += () if panel.channels is None else panel.channels.entities
        self._append_steps(panel)
        if panel.covariates is not None:
            self._append_covariates(panel.covariates)

    def _append_steps(self, panel: Panel) -> None:
        before, origins = self._array("values", FLOAT).num_rows, panel.axis.origins
        if not self._array("offsets", WHOLE).num_rows:
            self._array("offsets", WHOLE).append(np.zeros(1))
        self._array("offsets", WHOLE).append(panel.offsets[1:] + before)
        self._array("places", WHOLE).append(origins.places)
        self._array("times_of_day", WHOLE).append(origins.times_of_day)
        self._array("month_days", WHOLE).append(origins.month_days)
        self._append_optional("weights", FLOAT, panel.weights, before=before, count=len(panel.values))
        self._array("values", FLOAT).append(panel.values)
        self._array("observed", MASK).append(panel.observed)

    def _append_covariates(self, covariates: Covariates) -> None:
        tables = self._learn(covariates.schema)
        before, count = self._num_rows, num_rows(covariates)
        columns = zip(covariates.schema.steps, covariates.values, covariates.observed, strict=True)
        for number, (covariate, values, observed) in enumerate(columns):
            table = tables[number] if covariate.kind == "categorical" else None
            self._array(value_name(number), FLOAT).append(values, table=table)
            self._append_optional(mask_name(number), MASK, observed, before=before, count=count)
        static, width = covariates.static, covariates.static.shape[1:]
        recoded = recode_static(static, covariates.schema, tables[len(covariates.values) :])
        self._array("static", FLOAT, width).append(recoded)
        self._array("static_observed", MASK, width).append(covariates.static_observed)
        self._array("covariate_starts", WHOLE).append(covariates.starts + before)
        self._array("covariate_lengths", WHOLE).append(covariates.lengths)
        self._num_rows += count

    def _learn(self, schema: CovariateSchema) -> list[Table]:
        """Meet the levels of a panel, and give the codes that they have until all are met."""
        covariates = all_covariates(schema)
        self._vocabularies = self._vocabularies or [Vocabulary(covariate.levels) for covariate in covariates]
        pairs = zip(self._vocabularies, covariates, strict=True)
        return [vocabulary.learn(covariate.levels) for vocabulary, covariate in pairs]

    def _array(self, name: str, dtype: str, row_shape: tuple[int, ...] = ()) -> GrowingArray:
        if name not in self._arrays:
            self._arrays[name] = GrowingArray(self._written / f"{name}.npy", dtype=dtype, row_shape=row_shape)
        return self._arrays[name]

    def _append_optional(
        self, name: str, dtype: str, rows: Shaped[np.ndarray, " row"] | None, *, before: int, count: int
    ) -> None:
        """Write a column that some panels lack: ones stand in its place, and no file where all lack it."""
        if rows is not None:
            missing = before - self._array(name, dtype).num_rows
            self._array(name, dtype).append_ones(missing).append(rows)
        elif name in self._arrays:
            self._arrays[name].append_ones(count)

    def _finish(self) -> None:
        """Settle the codes, write what is no array, and put the store in its place."""
        if self._head is None:
            raise DataError(f"no panel was written to {str(self.folder)!r}; append at least one")
        names = json.dumps({"ids": list(self._ids), "entities": self._entities}).encode()
        (self._written / NAMES_FILE).write_bytes(names)
        head = replace(
            self._head,
            covariates=None if self._head.covariates is None else self._unite(self._head.covariates),
            names_bytes=len(names),
            arrays={name: _stored(array) for name, array in sorted(self._arrays.items())},
        )
        head = replace(head, digest=panel_digest(build_panel(head, self._written)))
        (self._written / HEAD_FILE).write_text(_text(head), encoding="utf-8")
        if self.folder.exists():  # a folder that is not empty cannot be renamed over
            shutil.rmtree(self.folder)
        self._written.rename(self.folder)

    def _unite(self, schema: CovariateSchema) -> CovariateSchema:
        """Give the schema with the final levels, and their codes to what is written."""
        for number, vocabulary in enumerate(self._vocabularies):
            if vocabulary.united != vocabulary.met:
                table, column = code_table(vocabulary.met, vocabulary.united), number - len(schema.steps)
                name, column = (value_name(number), None) if column < 0 else ("static", column)
                recode_file(self._arrays[name].file, table, column=column)
        return with_levels(schema, [vocabulary.united for vocabulary in self._vocabularies])


def _refuse_to_overwrite(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and (is_store(folder) or not any(folder.iterdir()))):
        raise SourceError(f"{str(folder)!r} exists and is no stored panel; name a free folder, or remove it first")


def _head(panel: Panel) -> PanelHead:
    frequency = panel.axis.frequency
    if Frequency.parse(frequency.text) != frequency:
        raise DataError(
            f"steps of {frequency.text!r} are counted by more than that text says, so a store cannot hold them; "
            f"choose a frequency that is spelt whole"
        )
    return PanelHead(
        digest="",
        frequency=frequency.text,
        stamps=StampsText.of(panel.axis.stamp_type),
        id_type=None if panel.id_type is None else DtypeText.of(panel.id_type.dtype),
        channels=None if panel.channels is None else panel.channels.names,
        covariates=None if panel.covariates is None else panel.covariates.schema,
        names_bytes=0,
        arrays={},
    )


def _stored(array: GrowingArray) -> StoredArray:
    return StoredArray(dtype=array.dtype.str, shape=array.shape, num_bytes=array.file.stat().st_size)


def _text(head: PanelHead) -> str:
    return json.dumps(to_plain(head), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
