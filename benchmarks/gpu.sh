#!/bin/sh
# The tables of attention and decoding on a CUDA GPU, under eight minutes: results go to benchmarks/results/.
# DRY=1 runs the same commands where there is no GPU, so that a mistake shows before a GPU is lent.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
[ -n "${DRY:-}" ] && export QUICK=1

"$PYTHON" - <<'ASKED'
import os
import torch
found = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
print(f"torch {torch.__version__}, CUDA {torch.version.cuda}, GPU: {found}")
if found == "none" and not os.environ.get("DRY"):
    raise SystemExit("no CUDA GPU is at hand; DRY=1 runs the commands without one")
ASKED
"$(dirname "$PYTHON")/longcast" doctor --attention
timeout 240 "$PYTHON" -m benchmarks.attention_lengths --write
timeout 120 "$PYTHON" -m benchmarks.alibi --write
timeout 120 "$PYTHON" -m benchmarks.attention_patterns --write
