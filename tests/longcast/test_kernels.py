"""Doctor's table of kernels says what the kernels themselves say."""

import re

import pytest
import torch

from forecast.attention.choice import KERNELS
from forecast.errors import BackendUnavailable
from longcast import kernels
from longcast.cli import main
from longcast.kernels import DTYPES, PATTERNS, Served, served

Printed = pytest.CaptureFixture[str]
CPU = torch.device("cpu")


def row(rows: list[Served], pattern: str, bias: str, use: str) -> Served:
    (found,) = [row for row in rows if (row.pattern, row.bias, row.use) == (pattern, bias, use)]
    return found


def test_every_kind_of_call_is_in_the_table_once() -> None:
    rows = served(CPU)
    cells = [(row.pattern, row.bias, row.use, precision) for row in rows for precision in row.precision.split()]
    assert len(set(cells)) == len(cells) == ((len(PATTERNS) - 1) * 3 + 1) * 2 * len(DTYPES)


def test_reasons_and_choice_are_those_of_this_machine() -> None:
    rows = served(CPU)
    infers, trains = (row(rows, "full", "relative", use) for use in ("inference", "training"))
    assert infers.auto == trains.auto == "sdpa"
    assert infers.reasons["sdpa"] is infers.reasons["flex"] is trains.reasons["reference"] is None
    assert "no backward pass on a CPU" in trains.reasons["flex"]
    assert "no kernel for cpu" in infers.reasons["xformers"]
    assert row(rows, "linear", "none", "training").auto == "linear"


def test_calls_that_differ_in_precision_are_apart_where_answers_are(monkeypatch) -> None:
    flex = KERNELS["flex"]
    monkeypatch.setattr(
        type(flex), "refusal", lambda _self, call: "halves alone" if call.query.dtype == torch.float32 else None
    )
    rows = [row for row in served(CPU) if (row.pattern, row.bias, row.use) == ("causal", "none", "inference")]
    assert [(row.precision, row.reasons["flex"]) for row in rows] == [("fp32", "halves alone"), ("bf16 fp16", None)]


def test_a_call_that_nothing_serves_says_so(monkeypatch) -> None:
    def nothing(_call):
        raise BackendUnavailable("nothing")

    monkeypatch.setattr(kernels, "choose", nothing)
    assert {row.auto for row in served(CPU)} == {"none"}


def test_the_command_prints_each_reason_once_and_its_number_in_the_table(capsys: Printed) -> None:
    assert main(["doctor", "--attention"]) == 0
    printed = capsys.readouterr().out
    table, reasons = printed.split("\n[1] ")
    assert "…" not in table
    assert re.search(r"full +none +training +fp32 bf16 fp16 +sdpa +yes +yes +\[1\]", table)
    told = re.findall(r"^\[\d+\] (.*)$", "[1] " + reasons, flags=re.MULTILINE)
    assert len(set(told)) == len(told)
    assert set(re.findall(r"\[(\d+)\]", table)) == {str(number + 1) for number in range(len(told))}
    assert "auto on cpu takes the first that serves of: sdpa, linear" in reasons


def test_with_a_run_the_table_stands_before_its_examination(champion, capsys: Printed) -> None:
    assert main(["doctor", str(champion.file), "--attention"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("attention on cpu") < printed.index("ok      installation")


@pytest.mark.parametrize("options", [[], ["--attention", "--set", "name=other"]])
def test_doctor_without_a_run_has_nothing_to_examine(options: list[str], capsys: Printed) -> None:
    assert main(["doctor", *options]) == 1
    assert "give the path of its YAML file" in capsys.readouterr().err
