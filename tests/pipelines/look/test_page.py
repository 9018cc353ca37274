"""The page holds what was measured, asks nothing of any network, and is light whatever the data are."""

import base64
import hashlib
import re
from datetime import datetime
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from forecast.config import build_config
from forecast.frames.contract import DataContract, prepare
from pipelines.look.measure import Look
from pipelines.look.page import render

EVIL = "<img src=x onerror=alert(1)>\"'&"
VOID = {"meta"}


class Checker(HTMLParser):
    """Reads a page, and checks that every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def frame_of(**series: list[float | None]) -> pl.DataFrame:
    start = datetime(2024, 1, 1)
    return pl.concat(
        pl.DataFrame(
            {
                "unique_id": name,
                "ds": pl.datetime_range(start, interval="1h", end=datetime(2034, 1, 1), eager=True).head(len(values)),
                "y": pl.Series(values, dtype=pl.Float64),
            }
        )
        for name, values in series.items()
    )


def look(frame: pl.DataFrame, name: str = "waves", **contract: object) -> Look:
    prepared = prepare(frame, build_config(DataContract, contract), on_bad_series="leave_out")
    return Look(name=name, origin="made by a test", prepared=prepared)


def daily(num_steps: int) -> list[float]:
    return (np.sin(np.arange(num_steps) * 2 * np.pi / 24) + 2).tolist()


def test_the_page_tells_what_was_found() -> None:
    frame = frame_of(a=daily(200), b=[None, *daily(99)], c=[3.0] * 50)
    page = Checker(render(look(frame.filter(pl.int_range(pl.len()) != 20))))
    text = " ".join(page.text)
    assert "1 absent steps" in text
    assert "filled as unobserved" in text
    assert "24 steps = 1 day" in text
    assert "2 of 3 series lack 2 steps in all; the longest stretch is 1 step, in a." in text
    assert "constant" in text
    assert "every step is drawn" in text
    titles = [attributes["id"] for attributes in page.named("section")]
    assert titles == ["findings", "series", "missing", "seasonality", "scale"]


def test_series_that_are_left_out_are_listed_with_their_reason() -> None:
    frame = pl.concat([frame_of(a=daily(50), b=daily(50)), frame_of(b=[1.0])])
    page = Checker(render(look(frame)))
    text = " ".join(page.text)
    assert "Left out: 1 series" in text
    assert "DuplicateSteps" in text
    assert "on_duplicate" in text


def test_covariates_are_told_where_there_are_any() -> None:
    frame = frame_of(a=daily(50)).with_columns(price=pl.lit(2.0), kind=pl.lit("<b>"))
    text = " ".join(Checker(render(look(frame, covariates={"future": ["price"], "static": ["kind"]}))).text)
    assert "2 to 2, mean 2" in text
    assert "1 levels: <b> 100%" in text


def test_no_name_becomes_code() -> None:
    frame = frame_of(**{EVIL: daily(50), "b": daily(50)}).rename({"y": EVIL})
    page = Checker(render(look(frame, EVIL, columns={"target": EVIL})))
    assert page.named("img") == []
    assert not [attributes for _, attributes in page.elements if any(name.startswith("on") for name in attributes)]
    assert EVIL in page.text


def test_nothing_is_fetched_and_only_our_script_may_run() -> None:
    page = render(look(frame_of(a=daily(50))))
    assert not re.search(r"(?:src|href)=.(?!#)|url\(|@import|https?://", page)
    (policy,) = (attributes["content"] for attributes in Checker(page).named("meta") if attributes.get("http-equiv"))
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_every_picture_says_what_it_shows() -> None:
    page = Checker(render(look(frame_of(a=daily(50), b=daily(50)))))
    pictures = [attributes for attributes in page.named("svg") if attributes.get("aria-hidden") is None]
    assert len(pictures) >= 5
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)


def test_the_same_data_give_the_same_page() -> None:
    assert render(look(frame_of(a=daily(50)))) == render(look(frame_of(a=daily(50))))


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0],
        [None, None],
        [0.0] * 100,
        [1e308, -1e308] * 20,
        [1e-320, 2e-320] * 20,
        [2.0**53 + 1] * 40,
        [1.0, None] * 40,
        [None, 5.0, None],
    ],
)
def test_odd_values_give_a_page_without_nan(values: list[float | None]) -> None:
    page = render(look(frame_of(a=values)))
    Checker(page)
    assert not re.search(r'="[^"]*\b(?:nan|inf)\b', page)


def test_many_series_make_a_light_page() -> None:
    random = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "unique_id": np.repeat(np.arange(3000), 30),
            "ds": np.tile(np.arange(30), 3000),
            "y": random.normal(size=90_000),
        }
    )
    page = render(look(frame.filter(pl.Series(random.random(90_000) > 0.2))))
    assert len(page) < 2_000_000
    assert "The first 2,000 of 3,000 series are listed." in page


def test_a_long_series_makes_a_light_page() -> None:
    page = render(look(frame_of(a=daily(80_000))))
    assert len(page) < 150_000
    assert "80,000 steps drawn as 1,600 points: the lowest and the highest of every 100" in page


@pytest.mark.parametrize("frequency", ["MS", "B", "W-WED", "QE"])
def test_steps_that_follow_a_calendar_are_drawn(frequency: str) -> None:
    import pandas as pd

    stamps = pd.date_range("2020-01-01", periods=40, freq=frequency)
    frame = pl.DataFrame({"ds": stamps.to_numpy(), "y": np.arange(40.0) % 5})
    Checker(render(look(frame)))
