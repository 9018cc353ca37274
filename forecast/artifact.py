"""One trained model on disk: weights in safetensors beside a card in JSON that people can read; no pickle."""

import hashlib
import json
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from forecast.card import FORMAT_VERSION, Card
from forecast.config import build_config, config, to_plain
from forecast.errors import ArtifactError, BackendUnavailable, ConfigError
from forecast.model.transformer import ForecastModel

CARD_FILE = "artifact.json"
WEIGHTS_FILE = "weights.safetensors"
NAMED = 5  # tensors that an error names; a wrong configuration can concern hundreds


@dataclass(frozen=True, eq=False)
class Artifact:
    """A trained model with all that is needed to forecast a frame; the training data are not."""

    model: ForecastModel
    card: Card

    def __post_init__(self) -> None:
        self.model.eval().requires_grad_(False)


@config
class WeightsFile:
    """What the weights' file must be."""

    sha256: str
    num_bytes: int


def save_artifact(artifact: Artifact, folder: str | Path) -> Path:
    """Write the artifact whole or not at all; an artifact that stands there already is replaced.

    Raises:
        ArtifactError: the weights hold values that are not finite, or the folder holds something else.
    """
    target = Path(folder).absolute()
    _refuse_to_overwrite(target)
    weights = _weights_bytes(artifact.model)
    written = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    written.mkdir(parents=True)
    try:
        (written / WEIGHTS_FILE).write_bytes(weights)
        (written / CARD_FILE).write_text(_card_text(artifact.card, weights), encoding="utf-8")
        if target.exists():  # a folder that is not empty cannot be renamed over
            shutil.rmtree(target)
        written.rename(target)
    finally:
        shutil.rmtree(written, ignore_errors=True)
    return target


def load_artifact(folder: str | Path, *, device: str | torch.device = "cpu") -> Artifact:
    """Read an artifact and put the model on a device, whichever device it was trained on.

    Raises:
        ArtifactError: a file is missing, altered, cut short or does not fit the other, or the format is another.
        BackendUnavailable: the device is not here.
    """
    place = _device(device)
    card, promised = _read_card(Path(folder) / CARD_FILE)
    weights = _read_weights(Path(folder) / WEIGHTS_FILE, promised=promised)
    with torch.random.fork_rng(devices=[]):  # the random weights made here are replaced: loading leaves no trace
        model = ForecastModel(card.model, covariates=card.covariates, channels=card.channels)
    _check_fit(weights, model.state_dict(), where=Path(folder))
    model.load_state_dict(weights)
    return Artifact(model.to(place), card)


def _refuse_to_overwrite(target: Path) -> None:
    if target.exists() and not (target / CARD_FILE).is_file() and not _is_empty_folder(target):
        raise ArtifactError(f"{str(target)!r} exists and is no artifact; name a free folder, or remove it first")


def _is_empty_folder(target: Path) -> bool:
    return target.is_dir() and not any(target.iterdir())


def _weights_bytes(model: ForecastModel) -> bytes:
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    broken = [name for name, tensor in weights.items() if not bool(tensor.isfinite().all())]
    if broken:
        raise ArtifactError(
            f"the weights {_list(broken)} hold values that are not finite, so the model is not saved: "
            f"its training diverged, or its draft was never solved"
        )
    return safetensors.torch.save(weights, metadata={"format": "pt"})


def _card_text(card: Card, weights: bytes) -> str:
    promised = WeightsFile(sha256=hashlib.sha256(weights).hexdigest(), num_bytes=len(weights))
    plain = {**to_plain(card), "weights": to_plain(promised)}
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _read_card(file: Path) -> tuple[Card, WeightsFile]:
    plain = _read_json(file)
    _check_format(plain.get("format_version"), where=file)
    try:
        promised = build_config(WeightsFile, plain.pop("weights", {}))
        return build_config(Card, plain), promised
    except ConfigError as failure:
        raise ArtifactError(
            f"{str(file)!r} does not describe a model of this library: {failure}; it was changed by hand, or written "
            f"by another version of longcast ({plain.get('library_version')})",
            field=failure.field,
        ) from None


def _read_json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise ArtifactError(
            f"no artifact at {str(file.parent)!r}: no {file.name} there; give the folder of a saved one"
        )
    try:
        plain = json.loads(file.read_bytes())
    except ValueError as failure:
        raise ArtifactError(f"{str(file)!r} is not JSON: {failure}; copy the artifact again, whole") from None
    if not isinstance(plain, dict):
        raise ArtifactError(f"{str(file)!r} must hold one JSON object; it holds {type(plain).__name__}")
    return plain


def _check_format(found: Any, *, where: Path) -> None:
    if found != FORMAT_VERSION:
        raise ArtifactError(
            f"{str(where)!r} is of format {found!r} and this library reads format {FORMAT_VERSION}; load it with the "
            f"version of longcast that wrote it, or save the model again with this one",
            field="format_version",
        )


def _read_weights(file: Path, *, promised: WeightsFile) -> dict[str, Tensor]:
    if not file.is_file():
        raise ArtifactError(f"the artifact at {str(file.parent)!r} lacks {file.name}; copy it again, whole")
    content = file.read_bytes()
    if len(content) != promised.num_bytes:
        raise ArtifactError(
            f"{str(file)!r} is {len(content):,} bytes and was written with {promised.num_bytes:,}: it was cut short or "
            f"is another model's; copy the artifact again, whole"
        )
    found = hashlib.sha256(content).hexdigest()
    if found != promised.sha256:
        raise ArtifactError(
            f"{str(file)!r} has sha256 {found} and was written with {promised.sha256}: its content was altered; "
            f"copy the artifact again"
        )
    try:
        return safetensors.torch.load(content)
    except safetensors.SafetensorError as failure:
        raise ArtifactError(f"{str(file)!r} is not a safetensors file: {failure}; save the model again") from None


def _check_fit(weights: dict[str, Tensor], expected: dict[str, Tensor], *, where: Path) -> None:
    """Refuse weights that are not exactly those of the architecture on the card, types included."""
    missing = [name for name in expected if name not in weights]
    unknown = [name for name in weights if name not in expected]
    differing = [
        f"{name} is {_shape(weights[name])} in place of {_shape(tensor)}"
        for name, tensor in expected.items()
        if name in weights and _shape(weights[name]) != _shape(tensor)
    ]
    if missing or unknown or differing:
        faults = [f"missing: {_list(missing)}", f"unknown: {_list(unknown)}", f"of another shape: {_list(differing)}"]
        raise ArtifactError(
            f"the weights at {str(where)!r} are not of the model that {CARD_FILE} describes ({'; '.join(faults)}); "
            f"the two files belong to different models, or the card was changed by hand"
        )


def _shape(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _list(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (", ".join(names[:NAMED]) or "none") + more


def _device(name: str | torch.device) -> torch.device:
    try:
        place = torch.device(name)
    except RuntimeError:
        raise BackendUnavailable(f"device {name!r} is unknown; choose 'cpu', 'cuda' or 'cuda:0'") from None
    if place.type == "cuda" and not torch.cuda.is_available():
        raise BackendUnavailable(f"device {name!r} was asked for and torch sees no CUDA device; use device='cpu'")
    return place
