"""Artifacts whose forecasts of a single window run compiled: made once for a processor, then found again.

A package is machine code, so none comes with an artifact or from a registry: it is made here, from weights that were
checked, and kept in this user's cache under the digest of everything it was made from.
"""

import hashlib
import json
import logging
import uuid
import warnings
from pathlib import Path

import torch

from forecast.artifact import Artifact
from forecast.cache import cache_dir
from forecast.model.package import Network, Package, compile_network, export_network

log = logging.getLogger("longcast.compiled")


def compile_artifact(artifact: Artifact, *, folder: Path | None = None) -> Path:
    """Have the model forecast single windows of its context by compiled code, and give the file of it.

    The first time on a processor takes half a minute and a C++ compiler. `folder` keeps what is compiled; None takes
    the library's own cache. Forecasts differ by rounding from those of the model itself, by a part in a million.

    Raises:
        BackendUnavailable: the model is on another device than a CPU, decodes too many tokens one after the other, or
            there is no compiler.
    """
    network = Network(artifact.model)
    with warnings.catch_warnings(action="ignore"):  # torch warns of its own ways
        exported = export_network(network)
        file = (folder or cache_dir() / "compiled") / f"{_digest(exported)}.pt2"
        if not file.is_file():
            log.info("compiling %r for this processor; it takes about half a minute", artifact.card.name)
            _compile(exported, file)
    artifact.model.package = Package(network, file)
    return file


def _compile(exported: torch.export.ExportedProgram, file: Path) -> None:
    """Write the file whole or not at all: others may be looking for it meanwhile."""
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_name(f".{uuid.uuid4().hex}.pt2")
    try:
        compile_network(exported, written)
        written.rename(file)
    finally:
        written.unlink(missing_ok=True)


def _digest(exported: torch.export.ExportedProgram) -> str:
    """Give the SHA-256 of what machine code hangs on: graph, weights, torch and processor."""
    digest = hashlib.sha256()
    processor = json.dumps(dict(torch.cpu.get_capabilities()), sort_keys=True)
    for text in (torch.__version__, processor, exported.graph_module.code):
        digest.update(text.encode())
    tensors = {**exported.state_dict, **exported.constants}
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()
