# Two commands do all of their own set-up: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Named, because uv would rather fill an environment that happens to be active.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
# Our own code, from where it lies, and what of it is compiled: a change to that makes this necessary again.
INSTALL_OURS := $(INSTALL) --no-deps --no-build-isolation --reinstall-package feedmill --editable .
COMPILED := $(wildcard hatch_build.py src/feedmill/collect/*.pyx)
TELL_IF_SLOWER := $(BIN)/python -c "import feedmill.collect.plain_tree" 2>/dev/null || \
	echo "Without a C compiler and Python's headers (Debian: gcc, python3-dev; then make clean) feeds are read more slowly."

.PHONY: run test drill bench docs site lock clean

run: $(VENV)/.run-ready
	@$(BIN)/feedmill serve

test: $(VENV)/.test-ready
	@tests/services/install
	@$(BIN)/ruff check src tests bench
	@$(BIN)/ruff format --check --quiet src tests bench
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/pytest -m "not drill" || tests/again $(BIN)/pytest -m "not drill"

drill: $(VENV)/.test-ready
	@tests/services/install
	@$(BIN)/pytest -m drill

bench: $(VENV)/.test-ready
	@tests/services/install
	@$(BIN)/python bench/all.py

$(BIN)/uv:
	@echo "Making $(VENV) (first time only) ..."
	@tools/venv $(PYTHON) $(VENV)
	@$(BIN)/python -m pip install --quiet "uv>=0.8"

$(VENV)/.run-ready: requirements.lock pyproject.toml $(COMPILED) | $(BIN)/uv
	@echo "Filling $(VENV) with what Feedmill needs ..."
	@$(INSTALL) --require-hashes -r requirements.lock
	@$(INSTALL_OURS)
	@$(TELL_IF_SLOWER)
	@touch $@

$(VENV)/.test-ready: requirements-dev.lock pyproject.toml $(COMPILED) | $(BIN)/uv
	@echo "Filling $(VENV) with what the tests need ..."
	@$(INSTALL) --require-hashes -r requirements-dev.lock
	@$(INSTALL_OURS)
	@$(TELL_IF_SLOWER)
	@touch $@ $(VENV)/.run-ready

docs: $(VENV)/.run-ready
	@$(BIN)/python tools/write-reference

site: $(VENV)/.test-ready
	@$(BIN)/mkdocs build --quiet

lock: | $(BIN)/uv
	@tools/lock $(BIN)/uv

clean:
	rm -rf $(VENV) src/feedmill/collect/*.so
