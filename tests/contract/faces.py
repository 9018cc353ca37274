"""One model behind every door: the same question to each, and the answers laid side by side."""

import contextlib
import io
import itertools
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from starlette.testclient import TestClient

from api.app import create_app
from api.settings import Settings
from forecast.artifact import Artifact, save_artifact
from forecast.errors import LongcastError
from forecast.frames.contract import DataContract
from forecast.predictor import Predictor
from longcast.cli import main
from tests.contract.table import ALL
from tests.tiny_model import CONTEXT_LENGTH, tiny_artifact

CLOSE = 1e-5
"""The project's stated tolerance for one series alone or in company, in units of the largest value."""

QUICK = {"kind": "autoregressive", "patch_length": 6}
"""A decoder that gives the trained horizon in one step."""

PATIENCE_S = 30
INPUTS: Counter[str] = Counter()
"""How many inputs have been tried, by row."""

CURRENT = [""]
"""The row whose test is running."""


class Refused(Exception):
    """A door that did not answer, and what it said."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a door gave: the rows in its order, and all it said beside them."""

    frame: pl.DataFrame
    told: str

    @property
    def ids(self) -> list[Any]:
        return self.frame[:, 0].unique(maintain_order=True).to_list()

    def of(self, name: Any) -> pl.DataFrame:
        """The rows of one series."""
        return self.frame.filter(self.frame[:, 0].cast(pl.String) == str(name))

    @property
    def stamps(self) -> list[Any]:
        return self.frame[:, 1].to_list()

    @property
    def numbers(self) -> np.ndarray:
        return self.frame[:, 2:].to_numpy()


@dataclass
class Room:
    """A tiny model with random weights, ready to be asked by every door."""

    folder: Path
    frequency: str = "h"
    contract: DataContract = field(default_factory=DataContract)
    changes: dict[str, Any] = field(default_factory=dict)
    artifact: Artifact | None = None
    numbered: Iterator[int] = field(default_factory=itertools.count)

    @cached_property
    def predictor(self) -> Predictor:
        made = self.artifact
        if made is None:
            made = tiny_artifact(**{"decoder": QUICK, **self.changes})
            made = Artifact(made.model, replace(made.card, frequency=self.frequency, contract=self.contract))
        save_artifact(made, self.folder / "artifact")
        return Predictor.load(self.folder / "artifact")

    @cached_property
    def client(self) -> TestClient:
        assert self.predictor
        client = TestClient(create_app(Settings(artifact=self.folder / "artifact", cpu_threads=1)))
        client.__enter__()
        deadline = time.monotonic() + PATIENCE_S
        while (answer := client.get("/readyz")).status_code != 200:
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.02)
        return client

    def close(self) -> None:
        if "client" in self.__dict__:
            self.client.__exit__(None, None, None)

    # ---- The doors

    def python(self, frame: Any, **asked: Any) -> Answer:
        """By `Predictor.predict`, which `Forecaster.predict` calls."""
        asked = {"quantile_levels" if key == "quantiles" else key: value for key, value in asked.items()}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer = self.predictor.predict(frame, **asked)
            except LongcastError as failure:
                raise Refused(str(failure)) from failure
        for name in (answer.columns[0], answer.columns[1]):
            assert name not in frame.columns or answer[name].dtype == frame[name].dtype
        given = answer if isinstance(answer, pl.DataFrame) else pl.from_pandas(answer)
        return Answer(given, "\n".join(str(warning.message) for warning in caught))

    def command_line(self, frame: pl.DataFrame, *, ending: str = "parquet", **asked: Any) -> Answer:
        """By `longcast predict`, from a file to a file."""
        assert self.predictor
        number = next(self.numbered)
        data, answer = self.folder / f"data{number}.{ending}", self.folder / f"answer{number}.{ending}"
        _write(frame, data)
        words = ["predict", str(self._config(data)), "--model", str(self.folder / "artifact"), "--output", str(answer)]
        if (future := asked.pop("future", None)) is not None:
            _write(future, self.folder / f"future{number}.{ending}")
            words += ["--future", str(self.folder / f"future{number}.{ending}")]
        for name, value in asked.items():
            words += [
                f"--{name}",
                *map(str, value if isinstance(value, Sequence) and not isinstance(value, str) else [value]),
            ]
        complained = io.StringIO()
        with contextlib.redirect_stderr(complained), contextlib.redirect_stdout(io.StringIO()):
            status = main(words)
        if status:
            raise Refused(complained.getvalue())
        return Answer(pl.read_parquet(answer) if ending == "parquet" else pl.read_csv(answer), complained.getvalue())

    def _config(self, data: Path) -> Path:
        file = data.with_suffix(".yaml")
        model = {"context_length": CONTEXT_LENGTH, "horizon": 6}
        file.write_text(yaml.safe_dump({"name": "tiny", "data": {"kind": "files", "paths": str(data)}, "model": model}))
        return file

    def http(self, frame: pl.DataFrame, *, future: pl.DataFrame | None = None, **asked: Any) -> Answer:
        """By a request to `/v1/forecasts`."""
        body = {"freq" if key == "frequency" else key: value for key, value in asked.items()}
        body = {
            key: [value] if key == "level" and not isinstance(value, list) else value for key, value in body.items()
        }
        body |= self._columns(frame, future)
        given = self.client.post(
            "/v1/forecasts", content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
        if given.status_code != 200:
            raise Refused(given.text)
        plain = given.json()
        series = plain["series"]
        ids = [name for name, size in zip(series["unique_id"], series["sizes"], strict=True) for _ in range(size)]
        columns = {"unique_id": ids, "ds": series["timestamps"], "mean": series["mean"], **series["quantiles"]}
        told = {key: plain[key] for key in ("warnings", "notices", "errors")}
        return Answer(pl.DataFrame(columns), json.dumps(told))

    def _columns(self, frame: pl.DataFrame, future: pl.DataFrame | None) -> dict[str, Any]:
        """The request of series without gaps, each in order; covariates by the names of the model's contract."""
        columns, roles = self.contract.columns, self.contract.covariates
        parts = [part.sort(columns.time) for part in frame.partition_by(columns.id, maintain_order=True)]
        rows = pl.concat(parts)
        series = {
            "unique_id": [str(part[columns.id][0]) for part in parts],
            "sizes": [len(part) for part in parts],
            "start": [_start(part[columns.time][0]) for part in parts],
            "y": _plain(rows[columns.target_text]),
        }
        told: dict[str, Any] = {}
        if past := {name: _plain(rows[name]) for name in (*roles.past, *roles.future)}:
            series["past"] = past
        if static := {name: [_plain(part[name])[0] for part in parts] for name in roles.static}:
            series["static"] = static
        if roles.future and future is not None:
            ahead = [future.filter(pl.col(columns.id) == part[columns.id][0]).sort(columns.time) for part in parts]
            told["future"] = {name: _plain(pl.concat(ahead)[name]) for name in roles.future}
        zone = getattr(frame.schema[columns.time], "time_zone", None)
        return told | {"series": series} | ({"zone": zone} if zone else {})


def _write(frame: pl.DataFrame, file: Path) -> None:
    frame.write_parquet(file) if file.suffix == ".parquet" else frame.write_csv(file)


def _start(stamp: Any) -> str | int:
    return stamp.isoformat() if isinstance(stamp, date | datetime) else stamp


def _plain(cells: pl.Series) -> list[Any]:
    return (cells.fill_nan(None) if cells.dtype.is_float() else cells).to_list()


# ---- The same question to all


def everywhere(
    room: Room, frame: pl.DataFrame, *, faces: Sequence[str] = ALL, random: Any = None, **asked: Any
) -> Answer:
    """Ask every door, with pandas and polars and in any order of rows and columns, and see that all say the same."""
    INPUTS[CURRENT[0]] += 1
    given = room.python(frame, **asked)
    _same(given, room.python(_pandas(frame), **_with_pandas(asked)))
    if random is not None:
        mixed = shuffled(frame, random)
        _same(given, room.python(random.choice([mixed, _pandas(mixed)]), **asked))
    if "command line" in faces and "frequency" not in asked:
        _same(given, room.command_line(frame, **asked))
    if "http" in faces:
        # A request keeps its own order of series, so they are sent in the one that a frame's get.
        over_http = room.http(_by_id(frame, room.contract.columns.id), **asked)
        assert [str(name) for name in given.ids] == over_http.ids
        assert list(given.frame.columns[2:]) == list(over_http.frame.columns[2:])
        assert np.array_equal(given.numbers, over_http.numbers)
        assert list(map(_moment, given.stamps)) == list(map(_moment, over_http.stamps))
    return given


def refused_everywhere(room: Room, frame: pl.DataFrame, *, faces: Sequence[str] = ALL, **asked: Any) -> list[str]:
    """Ask every door, see that none answers, and give what each said."""
    INPUTS[CURRENT[0]] += 1
    calls = [lambda: room.python(frame, **asked), lambda: room.python(_pandas(frame), **_with_pandas(asked))]
    calls += [lambda: room.command_line(frame, **asked)] if "command line" in faces else []
    calls += [lambda: room.http(frame, **asked)] if "http" in faces else []
    said = []
    for call in calls:
        try:
            answer = call()
        except Refused as refusal:
            said.append(str(refusal))
        else:
            raise AssertionError(f"a door answered: {answer.frame}")
    return said


def _moment(stamp: Any) -> Any:
    """A stamp as it is, whatever it is written in; dates are their midnights."""
    if isinstance(stamp, str):
        return datetime.fromisoformat(stamp)
    return stamp if isinstance(stamp, datetime | int) else datetime(stamp.year, stamp.month, stamp.day)


def _pandas(frame: pl.DataFrame) -> Any:
    return frame.to_pandas()


def _by_id(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    ids = frame[name] if frame[name].dtype.is_integer() else frame[name].cast(pl.String)
    return frame[ids.arg_sort()]


def _with_pandas(asked: dict[str, Any]) -> dict[str, Any]:
    return {key: _pandas(value) if isinstance(value, pl.DataFrame) else value for key, value in asked.items()}


def shuffled(frame: pl.DataFrame, random: Any) -> pl.DataFrame:
    """The rows and the columns in another order."""
    rows = random.sample(range(len(frame)), len(frame))
    return frame[rows].select(random.sample(frame.columns, len(frame.columns)))


def _same(one: Answer, other: Answer) -> None:
    """The same keys in the same order, and the same numbers to the bit."""
    assert list(one.frame.columns) == list(other.frame.columns)
    left, right = (_as_datetimes(answer.frame) for answer in (one, other))
    assert left[:, 0].to_list() == right[:, 0].to_list()
    assert left[:, 1].to_list() == right[:, 1].to_list()
    assert np.array_equal(left[:, 2:].to_numpy(), right[:, 2:].to_numpy())


def _as_datetimes(frame: pl.DataFrame) -> pl.DataFrame:
    time = frame.columns[1]
    if not frame.schema[time].is_temporal():
        return frame
    zone = getattr(frame.schema[time], "time_zone", None)  # pandas has no dates
    return frame.with_columns(pl.col(time).cast(pl.Datetime("us", zone)))
