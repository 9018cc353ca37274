"""The page of a look: one HTML file that holds everything it shows and asks nothing of any network."""

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files

from forecast.version import library_version
from pipelines.look.charts import coverage_chart, histogram_chart, legend, season_chart, series_chart
from pipelines.look.choice import Pick
from pipelines.look.coverage import MAX_ROWS
from pipelines.look.markup import Markup, element, joined
from pipelines.look.measure import Look
from pipelines.look.plot import WIDTH
from pipelines.look.season import Correlation, Seasonality
from pipelines.look.tables import covariates_table, findings_table, left_out_table, series_table
from pipelines.look.wording import counted, figure, percent

GENERATOR = "longcast inspect"
"""Stands in every page: by it a page is known as one of ours."""

CLOSE_UP = 3  # turns of the shortest cycle in the first picture of autocorrelation
CLOSE_UP_LAGS = 60  # in that picture, where no cycle stands out


def render(look: Look) -> str:
    """Give the whole page as HTML."""
    sections = list(_sections(look))
    links = element(
        "nav", *(element("a", title, href=f"#{name}") for name, title, _ in sections), aria_label="Sections"
    )
    parts = [element("section", element("h2", title), *body, id=name) for name, title, body in sections]
    header = element("header", element("h1", look.name), element("p", look.origin, class_="note"), _tiles(look), links)
    script, style = (
        files("pipelines.look").joinpath(name).read_text(encoding="utf-8") for name in ("page.js", "page.css")
    )
    # Only this script may run, whatever the data are called: the page says so to the browser.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=GENERATOR),
        element("title", f"{look.name}: a look at the data"),
        element("style", Markup(style)),
    )
    made = element("p", f"Made by longcast {library_version()}.", class_="note")
    body = element("body", header, element("main", *parts), made, element("script", Markup(script)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _sections(look: Look) -> Iterator[tuple[str, str, list[Markup]]]:
    yield "findings", "Findings", [findings_table(look)]
    if look.prepared.left_out:
        yield "left-out", f"Left out: {counted(len(look.prepared.left_out), 'series')}", [left_out_table(look)]
    yield "series", "Series", _series(look)
    yield "missing", "Gaps and missing values", _missing(look)
    yield "seasonality", "Seasonality", _seasonality(look.seasonality)
    yield "scale", "Scale", _scale(look)
    if look.covariates:
        yield "covariates", "Covariates", [covariates_table(look)]


def _tiles(look: Look) -> Markup:
    report = look.prepared.report
    missing = f"{look.num_missing:,} ({percent(look.num_missing / report.num_steps)})"
    told = {
        "rows": f"{report.num_rows:,}",
        "series": f"{report.num_series:,}",
        "steps": f"{report.num_steps:,}",
        "steps without a value": missing,
        "frequency": report.frequency,
        "zone": report.zone or "none",
        "first": report.first_stamp,
        "last": report.last_stamp,
    }
    if look.prepared.left_out:
        told["left out"] = counted(len(look.prepared.left_out), "series")
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in told.items()),
        class_="tiles",
    )


def _series(look: Look) -> list[Markup]:
    drawn = [_drawn(look, pick) for pick in look.picks]
    title = f"All {len(look.facts):,} series" if len(look.facts) > 1 else "In figures"
    return [*drawn, element("h3", title), series_table(look)]


def _drawn(look: Look, pick: Pick) -> Markup:
    panel, facts = look.prepared.panel, look.facts
    picture, thinning = series_chart(panel, pick.number)
    missing = int(facts.num_missing[pick.number])
    share = percent(float(facts.missing[pick.number]))
    told = (
        counted(int(facts.lengths[pick.number]), "step"),
        f"{missing:,} missing (shaded, {share})" if missing else "none missing",
        f"mean {figure(float(facts.mean[pick.number]))}",
        f"std {figure(float(facts.std[pick.number]))}",
    )
    reason = element("small", f" {pick.reason}" if pick.reason else "")
    caption = element("figcaption", f"{', '.join(told)}; {thinning}")
    return element("figure", element("h3", str(panel.ids[pick.number]), reason), picture, caption)


def _missing(look: Look) -> list[Markup]:
    facts, shown = look.facts, len(look.coverage.numbers)
    notes = [element("p", _missing_told(look))]
    if shown < len(facts):
        told = f"{shown} of {len(facts):,} series are drawn: up to {MAX_ROWS // 2} that lack most, the others evenly."
        notes.append(element("p", told, class_="note"))
    return [*notes, legend(), element("figure", coverage_chart(look.coverage, look.prepared.panel))]


def _missing_told(look: Look) -> str:
    facts, longest = look.facts, int(look.facts.longest_gap.argmax())
    if not look.num_missing:
        return "Every step has a value."
    lacking = int((facts.num_missing > 0).sum())
    stretch = counted(int(facts.longest_gap[longest]), "step")
    return (
        f"{lacking:,} of {len(facts):,} series lack {counted(look.num_missing, 'step')} in all; the longest stretch is "
        f"{stretch}, in {look.prepared.panel.ids[longest]}."
    )


def _seasonality(found: Seasonality | None) -> list[Markup]:
    if found is None:
        return [element("p", "No series is long enough and moves, so there is nothing to correlate.")]
    told = (
        f"The median over {counted(found.num_series, 'series')}; the band is their middle half. "
        if found.num_series > 1
        else ""
    )
    note = f"{told}Only pairs of observed steps count. Grey: what noise of this length would have, 19 times of 20."
    return [
        _cycles(found),
        _correlation(found, found.values, "values", "Values"),
        _correlation(found, found.changes, "changes", "Changes from step to step"),
        element("p", note, class_="note"),
    ]


def _cycles(found: Seasonality) -> Markup:
    if not found.cycles:
        return element("p", "No cycle stands out.")
    told = [
        element(
            "li",
            element("b", str(cycle)),
            f": correlation of values {figure(cycle.of_values)}, of changes {figure(cycle.of_changes)}",
        )
        for cycle in found.cycles
    ]
    return element("ul", *told)


def _correlation(found: Seasonality, curve: Correlation, what: str, title: str) -> Markup:
    """Draw the first lags and, where there is much more, all lags beside them."""
    everything = len(curve.middle) - 1
    close_up = CLOSE_UP * found.cycles[0].lag if found.cycles else CLOSE_UP_LAGS
    lasts = [close_up, everything] if everything > 2 * close_up else [everything]
    drawn = []
    for last in lasts:
        width = WIDTH / len(lasts)
        picture = season_chart(curve, found.cycles, what=what, last=last, chance=found.chance, width=width)
        caption = element("figcaption", f"{title}, lags up to {counted(last, 'step')}")
        drawn.append(element("figure", picture, caption))
    return element("div", *drawn, class_="pair")


def _scale(look: Look) -> list[Markup]:
    unit = "step" if len(look.facts) == 1 else "series"
    figures = [
        element(
            "figure",
            histogram_chart(found, what=what, unit=unit),
            element("figcaption", _scale_caption(what, found.logarithmic, found.num_zero)),
        )
        for what, found in look.scales.items()
    ]
    return [element("div", *figures, class_="pair") if figures else element("p", "Every figure is 0 or undefined.")]


def _scale_caption(what: str, logarithmic: bool, num_zero: int) -> Markup:
    size = "sizes of " if logarithmic and what == "means" else ""
    apart = f"; {counted(num_zero, 'series')} at 0 left out" if num_zero else ""
    return joined([f"{size}{what}{', log axis' if logarithmic else ''}{apart}"])
