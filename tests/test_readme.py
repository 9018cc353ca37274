"""What the README tells people to type is what the program takes."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from api.schemas import ForecastRequest
from forecast.config import build_config
from longcast.cli import build_parser
from pipelines.config import RunConfig

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for line in README.splitlines() if line.startswith("longcast ")]
VERBS = re.findall(r"^([a-z-]+):.*##", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_one_that_the_parser_takes(command: str) -> None:
    options = build_parser().parse_args(shlex.split(command)[1:])
    assert Path(options.data if options.verb == "inspect" else options.config).is_file()


def test_every_verb_of_the_command_line_is_shown() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} == {
        "train",
        "backtest",
        "predict",
        "promote",
        "serve",
        "doctor",
        "inspect",
    }


def test_each_make_verb_named_is_there() -> None:
    assert set(re.findall(r"`?make ([a-z-]+)", README)) <= set(VERBS)


def test_the_request_shown_is_one_that_the_service_takes() -> None:
    body = re.search(r"-d '(\{.*?\})'", README, flags=re.DOTALL)
    assert body is not None
    ForecastRequest.model_validate(json.loads(body.group(1)))


def test_the_configuration_shown_in_the_guide_is_a_complete_run() -> None:
    guide = (REPOSITORY / "docs" / "guide.md").read_text(encoding="utf-8")
    shown = re.findall(r"```yaml\n(.*?)```", guide, flags=re.DOTALL)
    assert [build_config(RunConfig, yaml.safe_load(text)).name for text in shown] == ["sales", "load"]


@pytest.mark.parametrize("file", ["README.md", "docs/guide.md"])
def test_no_page_waits_for_a_figure(file: str) -> None:
    assert not re.findall(r"@[A-Z0-9]+@", (REPOSITORY / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", ["README.md", "docs/guide.md"])
def test_each_link_and_picture_leads_somewhere(file: str) -> None:
    text = (REPOSITORY / file).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("http") or ((REPOSITORY / file).parent / target).exists(), target
