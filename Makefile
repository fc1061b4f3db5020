# Every command does its own set-up; CONTRIBUTING.md says when to use which.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Test processes at once, each with servers of its own.
WORKERS ?= 4
# How often make stress runs the suite.
RUNS ?= 5
# Those of make check wait for less, and each imports all tests: two more than there are cores.
CHECK_WORKERS ?= $(shell expr $$(nproc) + 2)
# Named, because uv would rather fill an environment that happens to be active.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
# Our own code, from where it lies. What builds it is locked too, and stays out of the environment.
INSTALL_OURS := $(INSTALL) --no-deps --build-constraints requirements-build.lock --reinstall-package feedmill --editable .

# Without bytecode each process compiles all modules anew, and pytest rewrites all tests: 7 s for each worker.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run demo dev check lint style types test stress drill bench scale docs site lock upgrade clean

run: $(VENV)/.run-ready
	@$(BIN)/feedmill serve

demo: $(VENV)/.run-ready
	@$(BIN)/feedmill demo

dev: $(VENV)/.dev-ready

CHECK_TYPES := $(BIN)/mypy && $(BIN)/lint-imports

# What needs no server, browser or process of its own. Types are checked meanwhile, and said at the end: in a fresh clone
# mypy takes 15 s on one core.
check: $(VENV)/.dev-ready style
	@($(CHECK_TYPES)) > $(VENV)/types.log 2>&1 & types=$$!; \
	$(BIN)/pytest -m "not external and not drill" -n $(CHECK_WORKERS) --dist worksteal --quiet -rfE; tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/types.log; exit $$((tests || types))

lint: style types

style: $(VENV)/.dev-ready
	@$(BIN)/ruff check src tests bench
	@$(BIN)/ruff format --check --quiet src tests bench

types: $(VENV)/.dev-ready
	@$(CHECK_TYPES)

test: $(VENV)/.dev-ready lint
	@tests/services/install
	@$(BIN)/pytest -m "not drill" -n $(WORKERS) --dist worksteal --quiet

# What bets on time fails sooner or later when other programs take most of the time.
stress: $(VENV)/.dev-ready
	@tests/services/install
	@tools/under-load $(RUNS) $(BIN)/pytest -m "not drill" -n $(WORKERS) --dist worksteal --quiet --exitfirst

drill: $(VENV)/.dev-ready
	@tests/services/install
	@$(BIN)/pytest -m drill

bench: $(VENV)/.dev-ready
	@tests/services/install
	@$(BIN)/python bench/all.py

# A day of a million feeds in PostgreSQL, with a clock that runs faster than ours: 60 GB of disk and an hour. Smaller with
# make scale FEEDS=20000 ENTRIES=400000 MINUTES=4. KEEP names a folder for the loaded database; SCALE passes other
# options of bench/scale_run/run.py, such as SCALE="--engine celery --faults" or SCALE="--output FOLDER --plots".
FEEDS ?= 1000000
ENTRIES ?= 20000000
HOURS ?= 24
MINUTES ?= 25
SCALE_WORKERS ?= 2
KEEP ?=
SCALE ?=
scale: $(VENV)/.dev-ready
	@tests/services/install
	@$(BIN)/python bench/scale_run/run.py --feeds $(FEEDS) --entries $(ENTRIES) --hours $(HOURS) --minutes $(MINUTES) \
		--workers $(SCALE_WORKERS) $(if $(KEEP),--keep $(KEEP)) $(SCALE)

$(BIN)/uv:
	@echo "Making $(VENV) (first time only) ..."
	@tools/venv $(PYTHON) $(VENV)
	@$(BIN)/python -m pip install --quiet "uv>=0.8"

$(VENV)/.run-ready: requirements.lock requirements-build.lock pyproject.toml | $(BIN)/uv
	@echo "Installing what Feedmill needs into $(VENV) ..."
	@$(INSTALL) --require-hashes -r requirements.lock
	@$(INSTALL_OURS)
	@touch $@

$(VENV)/.dev-ready: requirements-dev.lock requirements-build.lock pyproject.toml | $(BIN)/uv
	@echo "Installing what the tests need into $(VENV) ..."
	@$(INSTALL) --require-hashes -r requirements-dev.lock
	@$(INSTALL_OURS)
	@touch $@ $(VENV)/.run-ready

docs: $(VENV)/.run-ready
	@$(BIN)/python tools/write-reference

site: $(VENV)/.dev-ready
	@$(BIN)/mkdocs build --quiet

lock: | $(BIN)/uv
	@tools/lock $(BIN)/uv

upgrade: | $(BIN)/uv
	@tools/lock $(BIN)/uv --upgrade

clean:
	rm -rf $(VENV)
