"""The command line explains itself at once, and explains every error in one line without a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from longcast.cli import main
from longcast.commands import VERBS
from tests.tiny_run import write_config


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_config(tmp_path / "run.yaml", f"output={tmp_path / 'runs'}")


def explained(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must fail with an explanation, and give it."""
    assert main([str(argument) for argument in arguments]) == 1
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert printed.err.startswith(f"longcast {arguments[0]}: ")
    assert printed.err.count("\n") == 1
    return printed.err


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that is wrong usage, and give what argparse says."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    assert stopped.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([verb, "--help"])
    assert stopped.value.code == 0
    assert f"usage: longcast {verb}" in capsys.readouterr().out


def test_the_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    assert all(f"\n    {verb} " in printed for verb in VERBS)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["forecast", "run.yaml"],
        ["train"],
        ["train", "run.yaml", "--gpu"],
        ["predict", "run.yaml", "--horizon", "long"],
        ["predict", "run.yaml", "--level", "80", "--quantiles", "0.1"],
        ["promote", "run.yaml", "--model", "tiny/1"],
        ["promote", "run.yaml", "--reason", "it is better"],
    ],
)
def test_a_wrong_call_is_told_from_a_failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "usage: longcast" in refused(capsys, *arguments)


@pytest.mark.parametrize("verb", ["train", "backtest", "predict", "serve", "doctor"])
def test_a_configuration_that_is_not_there_is_named(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no configuration at 'absent.yaml'" in explained(capsys, verb, "absent.yaml")


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("model.layer.d_modl=8", "model.layer.d_modl: unknown key; did you mean 'd_model'?"),
        ("trainer.max_epochs=few", "trainer.max_epochs: "),
        ("data.kind=sinus", "data: unknown kind 'sinus'"),
        ("horizon", "override 'horizon' is not of the form section.key=value"),
        ("model.head=[", "override 'model.head=[': '[' is not YAML"),
    ],
)
def test_an_override_that_does_not_fit_is_told_by_its_path(
    override: str, told: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in explained(capsys, "predict", config, "--set", override)


def test_a_run_without_data_says_which_section_it_lacks(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "data: is needed" in explained(capsys, "train", config, "--set", "data=null")


def test_without_a_model_the_way_to_one_is_told(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "train a model first" in explained(capsys, "predict", config)


def test_an_error_of_the_operating_system_is_explained_too(
    tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    assert "file" in explained(capsys, "train", config, "--set", f"output={tmp_path / 'file' / 'runs'}")


def test_ctrl_c_ends_a_command_without_a_traceback(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(VERBS, "doctor", stopped)
    assert main(["doctor", str(config)]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.e2e
def test_a_reader_that_has_read_enough_is_no_error(repository: Path) -> None:
    code = """
import sys
from longcast import cli, commands

def talk(_):
    while True:
        sys.stdout.write("0.123456789," * 1000)

commands.VERBS["doctor"] = talk
sys.exit(cli.main(["doctor", "run.yaml"]))
"""
    talking = subprocess.Popen(
        [sys.executable, "-c", code], cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert talking.stdout is not None
    assert talking.stderr is not None
    talking.stdout.read(100)
    talking.stdout.close()
    complaint = talking.stderr.read()
    talking.stderr.close()
    assert (talking.wait(timeout=30), complaint) == (0, b"")
