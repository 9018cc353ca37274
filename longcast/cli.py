"""The command line: every verb is a plain function, imported when it is called, so that help answers at once."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Set before the libraries are imported: nothing that runs here reports to anyone."""

STOPPED = 130  # what shells expect of a command that Ctrl-C has ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status: 0 done, 1 an error that was explained, 2 a wrong call, 130 stopped."""
    options = build_parser().parse_args(arguments)
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    from forecast.errors import LongcastError
    from longcast import commands

    try:
        commands.VERBS[options.verb](options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads what we print has read enough, as in `longcast predict ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (LongcastError, OSError) as failure:
        print(f"longcast {options.verb}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return STOPPED
    return 0


def build_parser() -> argparse.ArgumentParser:
    """Describe the verbs."""
    parser = argparse.ArgumentParser(prog="longcast", description="Long-sequence time-series forecasting.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _verb(verbs, "train", "train, backtest, log, register, and promote what beats the seasonal naive forecast")
    _backtest(_verb(verbs, "backtest", "score a model and the baselines over every test window"))
    _predict(_verb(verbs, "predict", "forecast every series of the configured data from its end"))
    _promote(_verb(verbs, "promote", "make a registered version the champion"))
    _serve(_verb(verbs, "serve", "answer forecasts over HTTP from the champion", config="?"))
    _doctor(_verb(verbs, "doctor", "check installation, configuration, data and tracking store", config="?"))
    _inspect(verbs.add_parser("inspect", help="print what the data contract finds in data, and draw them on one page"))
    _demo(verbs.add_parser("demo", help="the whole job on the embedded series: train, backtest, track, serve, ask"))
    return parser


def _verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, *, config: str | None = None
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    verb.add_argument("config", type=Path, nargs=config, metavar="CONFIG", help="the YAML file of the run")
    _set(verb)
    return verb


def _set(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--set", action="append", default=[], metavar="a.b=c", help="change one value of the configuration; repeatable"
    )


def _count(text: str) -> int:
    """Read a number of things, of which there is at least one."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)


def _backtest(verb: argparse.ArgumentParser) -> None:
    _model(verb)
    verb.add_argument(
        "--folds", type=_count, metavar="N", help="train anew on N rolling folds of the test part instead"
    )
    verb.add_argument("--json", type=Path, metavar="FILE", help="also write every figure to this file")
    verb.add_argument("--pictures", type=Path, metavar="FOLDER", help="also draw forecasts and the error by horizon")


def _predict(verb: argparse.ArgumentParser) -> None:
    _model(verb)
    verb.add_argument(
        "--future", metavar="PATH", help="file of the covariates that are known ahead, by id and time, for the horizon"
    )
    verb.add_argument(
        "--frequency", metavar="FREQ", help="step between stamps, such as h or W-MON (default: as trained)"
    )
    verb.add_argument("--horizon", type=int, metavar="STEPS", help="steps to forecast (default: as trained)")
    asked = verb.add_mutually_exclusive_group()
    asked.add_argument(
        "--level", type=float, nargs="+", metavar="%", help="central intervals in per cent, for example 80 95"
    )
    asked.add_argument("--quantiles", type=float, nargs="+", metavar="Q", help="quantile levels, for example 0.1 0.9")
    verb.add_argument(
        "--output", type=Path, metavar="FILE", help="CSV, Parquet, Arrow or JSON by its ending (default: CSV to stdout)"
    )


def _promote(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--model", metavar="NAME/VERSION", required=True, help="the version to promote")
    verb.add_argument("--reason", metavar="TEXT", required=True, help="why; written on the version")


def _serve(verb: argparse.ArgumentParser) -> None:
    _model(verb)
    verb.add_argument("--host", help="address to listen on (default: LONGCAST_HOST, else 127.0.0.1)")
    verb.add_argument("--port", type=int, help="port to listen on (default: LONGCAST_PORT, else 8000)")
    verb.add_argument(
        "--compiled", action="store_true", default=None, help="compile the model for single series (LONGCAST_COMPILED)"
    )
    verb.epilog = "Without CONFIG, store and model are those of the environment: LONGCAST_TRACKING_URI, LONGCAST_MODEL."


def _doctor(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--attention", action="store_true", help="print which attention kernel serves what here, and which one runs"
    )


def _inspect(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", metavar="DATA", help="the YAML file of a run, or data: a path, a pattern or a URL")
    verb.add_argument("--id", metavar="COLUMN", help="the column of series ids")
    verb.add_argument("--time", metavar="COLUMN", help="the column of stamps")
    verb.add_argument("--target", metavar="COLUMN", action="append", help="the column of values; repeatable")
    verb.add_argument("--frequency", metavar="STEP", help="the step between stamps, for example 30min")
    verb.add_argument("--zone", metavar="ZONE", help="the zone of stamps that carry none, for example Europe/Berlin")
    verb.add_argument("--output", type=Path, metavar="FILE", help="the page (default: the data's name, in this folder)")
    _set(verb)


def _demo(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--config", type=Path, metavar="CONFIG", help="another run than the demo's own")
    _set(verb)


def _model(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--model", metavar="REF", help="name@alias, name/version or an artifact's folder (default: the champion)"
    )


if __name__ == "__main__":
    sys.exit(main())
