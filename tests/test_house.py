"""The house rules: what stands where, how large a piece may be, what starting up may cost."""

import ast
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("forecast", "pipelines", "api", "longcast")

MAX_FUNCTION_LINES = 60  # nobody scrolls to read one function: a screen is about this high
USUAL_FUNCTION_LINES = 50  # nine in ten stay within this
MAX_FILE_LINES = 300
HELP_LIMIT_S = 0.5
HELP_RUNS = 5  # the best of these counts: what the machine is busy with beside us is not the program's fault
HEAVY = {"torch", "lightning", "pytorch_lightning", "mlflow", "pandas", "polars", "matplotlib", "fastapi"}

PLACES = """
    .ci/run CHANGELOG.md DECISIONS.md LICENSE Makefile README.md docker-compose.yml pyproject.toml
    configs/demo.yaml configs/etth1.yaml configs/sine.yaml
    forecast/errors.py forecast/config.py forecast/batch.py forecast/frames
    forecast/attention forecast/position forecast/feedforward forecast/losses forecast/model forecast/training
    forecast/baselines forecast/metrics forecast/artifact.py forecast/registry.py forecast/predictor.py
    pipelines/sources pipelines/windows.py pipelines/split.py pipelines/datamodule.py pipelines/tracking.py
    pipelines/flows
    api/app.py api/settings.py api/schemas.py api/errors.py api/routes
    longcast/cli.py
"""
FILES = sorted(file for package in PACKAGES for file in (REPOSITORY / package).rglob("*.py"))
CONFIGS = sorted((REPOSITORY / "configs").glob("*.y*ml"))
RUN: dict[str, Any] = {"cwd": REPOSITORY, "capture_output": True, "text": True, "timeout": 60}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def relative(file: Path) -> str:
    return file.relative_to(REPOSITORY).as_posix()


def functions(file: Path) -> Iterator[tuple[str, int]]:
    """Each function of a file as its place and its number of lines, without decorators."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, Function) and node.end_lineno is not None:
            yield f"{relative(file)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


# ---- The tree


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_stands_at_the_top_and_says_that_it_is_typed(package: str) -> None:
    assert (REPOSITORY / package / "__init__.py").is_file()
    assert (REPOSITORY / package / "py.typed").is_file()


def test_the_tree_is_the_one_that_the_plan_draws() -> None:
    assert not [place for place in PLACES.split() if not (REPOSITORY / place).exists()]


def test_tests_are_no_package_so_that_they_never_shadow_one() -> None:
    assert not list((REPOSITORY / "tests").rglob("__init__.py"))


def test_each_test_file_stands_where_the_package_it_tests_stands() -> None:
    folders = {entry.name for entry in (REPOSITORY / "tests").iterdir() if entry.is_dir()} - {"__pycache__"}
    assert folders <= {*PACKAGES, "benchmarks", "contract", "e2e", "fixtures", "golden"}


# ---- The size of the pieces


def test_every_file_says_its_one_job_in_its_first_line() -> None:
    first_lines = {relative(file): first_line(file) for file in FILES}
    assert not {place: line for place, line in first_lines.items() if not line.endswith((".", "?", "!"))}


def first_line(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {relative(file): len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert not {place: lines for place, lines in lengths.items() if lines > MAX_FILE_LINES}


def test_no_function_is_longer_than_a_screen() -> None:
    assert not [(place, lines) for file in FILES for place, lines in functions(file) if lines > MAX_FUNCTION_LINES]


def test_nine_in_ten_functions_stay_well_within_a_screen() -> None:
    lengths = sorted(lines for file in FILES for _, lines in functions(file))
    assert lengths[int(0.9 * (len(lengths) - 1))] <= USUAL_FUNCTION_LINES


# ---- Starting up


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=False, **RUN)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_imports_nothing_heavy() -> None:
    code = """
import contextlib, io, json, sys
from longcast.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    sys.argv = ["longcast", "--help"]
    main()
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    assert not HEAVY & set(json.loads(run_python(code)))


def test_help_answers_in_half_a_second() -> None:
    assert min(seconds_of_help() for _ in range(HELP_RUNS)) < HELP_LIMIT_S


def seconds_of_help() -> float:
    command = [sys.executable, "-c", "from longcast.cli import main; main()", "--help"]
    start = time.perf_counter()
    done = subprocess.run(command, check=False, **RUN)
    seconds = time.perf_counter() - start
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()
    return seconds


def test_the_service_starts_without_the_training_stack() -> None:
    code = "import json, sys, api.app; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    assert not {"lightning", "pytorch_lightning", "ray", "matplotlib"} & set(json.loads(run_python(code)))


# ---- What is written down beside the code


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)
def test_every_configuration_is_a_complete_run(file: Path) -> None:
    from forecast.config import load_config
    from pipelines.config import RunConfig

    assert isinstance(load_config(RunConfig, file), RunConfig)
