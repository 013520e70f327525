# Every target sets up what it needs: `make demo` and `make test` work on a fresh clone with Python 3.11, pip, venv and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help demo test browser warm bench pictures docs lint clean

help:             ## list the targets
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Armature needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras: pip runs again only when pyproject.toml has changed.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test $(VENV)/.bench $(VENV)/.docs: $(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

demo: $(VENV)/.demo      ## the main job, with a result worth looking at
	$(BIN)/python examples/demo.py

lint: $(VENV)/.test      ## style, types and the one-way layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/lint-imports
	$(BIN)/pyright

# Debian's Chromium for the tests in a browser, where this machine lets us install it; without one they say that they did not run.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium here and none could be installed: the tests in a browser will not run"

# Only a head start: what is wrong here, the tests tell.
warm: $(VENV)/.test
	-@$(BIN)/python tests/warm.py >/dev/null

# Linters keep one core busy, the compiler of the solver's loops the other. Then each worker takes whole files, as far as it goes: what a
# file plans or compiles once is done once.
test:                    ## everything that must hold
	@$(MAKE) --no-print-directory -j2 lint warm browser
	$(BIN)/python -m pytest -n auto --dist worksteal

bench: $(VENV)/.bench    ## ratios against the peers, measured in this run; writes benchmarks/results.md
	$(BIN)/python -m benchmarks

pictures: $(VENV)/.demo  ## make the pictures of the docs anew, by running the numbered examples
	@folder=$$(mktemp -d) && here=$$(pwd) && for example in examples/[0-9][0-9]_*.py; do \
	  (cd $$folder && $$here/$(BIN)/python $$here/$$example) || exit 1; done && cp $$folder/*.png docs/pictures/

docs: $(VENV)/.docs      ## build the documentation into site/
	$(BIN)/mkdocs build --strict --site-dir site

clean:                   ## remove what the targets made
	rm -rf $(VENV) site demo
