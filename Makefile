# Each target sets up what it needs; the second time is quick.
#
#   make demo        install, train a small translator, translate (6 minutes; then under 2)
#   make test        the quick tests
#   make check-all   the slow ones too
#   make lint        ruff, format and rules
#   make types       mypy
#
# PYTHON=…  the interpreter, 3.11 or newer      VENV=…  where the environment is made      RUNS=…  where runs go
# INDEX=…   an extra package index, for a build of torch without GPU packages      JOBS=…  tests at once

SHELL := /bin/bash
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
    $(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))) python3)
VENV ?= .venv
RUNS ?= runs
INDEX ?=
JOBS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
    $(if $(INDEX),--extra-index-url $(INDEX))
# Several test processes share the machine: one thread of arithmetic each.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS)

.PHONY: demo test check-all lint types clean

demo: $(VENV)/installed
	$(BIN)/regard demo --out $(RUNS)/demo

test: $(VENV)/installed-test
	$(PYTEST)

check-all: $(VENV)/installed-test
	$(PYTEST) -m ""

lint: $(VENV)/installed-check
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: $(VENV)/installed-check
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build src/*.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "regard needs Python 3.11 or newer; say which one to use: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing into $(VENV): torch is large, this takes some minutes the first time."
	$(PIP) -e .
	@touch $@

$(VENV)/installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing into $(VENV): torch is large, this takes some minutes the first time."
	$(PIP) -e '.[test]'
	@touch $(VENV)/installed $@

$(VENV)/installed-check: $(VENV)/installed-test
	$(PIP) -e '.[test,check]'
	@touch $@
