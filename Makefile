# The verbs of this project. `make` lists them; CI calls the same ones.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
TORCH_INDEX ?=
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
PINS := requirements/constraints-py311.txt
READY := $(VENV)/.ready
INSTALL := $(BIN)/python -m pip install --quiet --constraint $(PINS) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

# Nothing that runs here reports to anyone.
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check format serve bench golden show-main show-data show-attention clean

help: ## List the verbs
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile
	@printf '\nVariables:\n'
	@printf '  %-22s %s\n' 'PYTHON=python3.11' 'the interpreter that the virtual environment is made of (3.11 or newer)'
	@printf '  %-22s %s\n' 'WORKERS=2' 'how many processes run the tests, one thread each'
	@printf '  %-22s %s\n' 'QUICK=1' 'the show- verbs give smaller forms of what takes minutes'
	@printf '  %-22s %s\n' 'TORCH_INDEX=URL' 'where the first set-up takes torch from, by default the package index:'
	@printf '  %-22s %s\n' '' 'https://download.pytorch.org/whl/cu130 has the build for CUDA 13,'
	@printf '  %-22s %s\n' '' 'https://download.pytorch.org/whl/cpu the small one without CUDA'

demo: $(READY) ## Set up, then train, backtest and serve a model on the embedded series
	$(BIN)/longcast demo

test: $(READY) ## Set up, then run all tests
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

check: $(READY) ## Set up, then check format, lint, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/ty check
	$(BIN)/lint-imports --no-cache

format: $(READY) ## Format the code and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

serve: $(READY) ## Answer forecasts over HTTP from the champion model
	$(BIN)/longcast serve $(ARGS)

bench: $(READY) ## Measure every figure that the README states
	$(BIN)/python -m benchmarks $(ARGS)

golden: $(READY) ## Write the golden numbers anew (say in the commit why they changed)
	$(BIN)/python -m pytest -m golden --write-golden

show-main: $(READY) ## Show what the main job promises, with the commands and their output
	$(BIN)/python -m benchmarks.show_main

show-data: $(READY) ## Show what the data floor promises, with the commands and their output
	$(BIN)/python -m benchmarks.show_data

show-attention: $(READY) ## Show what the attention floor promises, with the commands and their output
	$(BIN)/python -m benchmarks.show_attention

clean: ## Remove the virtual environment and the tools' caches, but no runs and no models
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
	find . -type d -name __pycache__ -prune -exec rm -rf {} +

# The set-up: again only when the pins or the project's own description are newer than it.
$(READY): pyproject.toml $(PINS)
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "longcast needs Python 3.11 or newer, but '$(PYTHON)' is not; install it or name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV): the first time takes minutes, mostly for torch"
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) hatchling editables
	$(INSTALL) --no-build-isolation --editable '.[dev]'
	@touch $@
