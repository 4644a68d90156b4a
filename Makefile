# Everything runs in .venv; the pins are in constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
PEERS := $(VENV)/.peers-installed

# The oldest versions that pyproject.toml declares, in an environment of their own; wheels only.
OLD := .venv-minimums
OLD_TESTS := tests/comments tests/formats/test_jsonl.py tests/formats/test_jsonl_quick.py tests/http tests/runs tests/text/test_text_matching.py \
  $(addprefix tests/judges/test_,offline.py offline_nearest_rivals.py cascade.py lexical.py llm.py llm_money.py injections.py embedding.py cache.py) \
  $(addprefix tests/cli/test_,comments_command.py routing_command.py compare_command.py other_commands.py) \
  $(addprefix tests/viewer/test_,safety.py pages.py labelling.py index.py)

.PHONY: setup demo browser java test test-lowest lint bench bench-check clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[dev]"
	@touch $@ $(RUNTIME)

setup: $(RUNTIME)

demo: $(RUNTIME)
	@$(BIN)/metareview demo

# The report and the viewer are tested in a real browser; Debian's is used, and installed where there is none.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  echo "No chromium found: installing Debian's."; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; \
	} || { echo "The tests need a browser. Install chromium, then run make test again." >&2; exit 1; }

# The Spark engine is tested on a real cluster, which runs on Java; Debian's is used, and installed where there is none.
java:
	@command -v java >/dev/null || { \
	  echo "No java found: installing Debian's."; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends default-jre-headless; \
	} || { echo "The tests need Java 17 or later. Install default-jre-headless, then run make test again." >&2; exit 1; }

# A worker per core; the tests of one file share what it sets up, so they stay together.
test: $(DEV) browser java
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

$(OLD)/.installed: pyproject.toml scripts/minimums.py
	$(PYTHON) -m venv $(OLD)
	$(PYTHON) scripts/minimums.py > $(OLD)/constraints.txt
	$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
	  --constraint $(OLD)/constraints.txt --editable ".[frame,parquet,view]" pytest hypothesis httpx
	@touch $@

test-lowest: $(OLD)/.installed
	$(OLD)/bin/python -m pytest $(OLD_TESTS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# ranx brings numba and matplotlib, which nothing else needs; where it does not install, the rest is measured without it.
$(PEERS): $(DEV)
	$(PIP) --editable ".[bench]" || echo "ranx does not install here: make bench goes on without it."
	@touch $@

# Every speed benchmark, into bench/latest.json, docs/speed.md and docs/bench.svg.
bench: $(PEERS)
	$(BIN)/python -m bench

# Fails where a ratio fell more than 20 % below the recorded one.
bench-check: $(PEERS)
	$(BIN)/python -m bench --check

clean:
	rm -rf $(VENV) $(OLD) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis runs
