# Two commands do all of their own set-up: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check drill bench docs lock clean

run: $(VENV)/.run-ready
	@$(BIN)/feedmill serve

test: $(VENV)/.test-ready
	@tests/services/install
	@$(BIN)/ruff check src tests bench
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/pytest -m "not drill"

drill: $(VENV)/.test-ready
	@tests/services/install
	@$(BIN)/pytest -m drill

$(BIN)/uv:
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || tools/venv $(PYTHON) $(VENV)
	@$(BIN)/python -m pip install --quiet "uv>=0.8"

$(VENV)/.run-ready: requirements.lock pyproject.toml | $(BIN)/uv
	@echo "Setting up the environment (first time only) ..."
	@$(BIN)/uv pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test-ready: requirements-dev.lock pyproject.toml | $(BIN)/uv
	@echo "Setting up the test environment (first time only) ..."
	@$(BIN)/uv pip install --quiet --require-hashes -r requirements-dev.lock
	@$(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.run-ready

docs: $(VENV)/.run-ready
	@$(BIN)/python tools/write-reference

lock: | $(BIN)/uv
	@tools/lock $(BIN)/uv

clean:
	rm -rf $(VENV)
