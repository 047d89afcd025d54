# Two commands do everything: `make demo` and `make test`. Both build their own environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
COMPILE := uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate
SOURCES := src tests benchmarks soak tools

.PHONY: demo quick test check soak bench lock clean

demo: .venv/core.stamp
	@tools/demo.sh $(BIN)/safeside demo

# The core's tests, without PostgreSQL, Java, a browser or any engine but the embedded one.
quick: .venv/quick.stamp
	$(BIN)/pytest -n 2 @tests/quick.txt

test: check
	$(BIN)/pytest -n 2 --dist loadgroup

check: .venv/dev.stamp
	$(BIN)/ruff format --check $(SOURCES) README.md docs
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

soak: .venv/dev.stamp
	$(BIN)/python -m soak

bench: .venv/dev.stamp
	$(BIN)/python -m benchmarks

# The light environment holds the core install only; the next adds what the quick tests need; the last one
# every extra and the tools.
.venv/core.stamp: requirements/core.txt pyproject.toml src/pyproject.toml
	tools/environment.sh $(PYTHON) core
	@touch $@

.venv/quick.stamp: requirements/quick.txt pyproject.toml src/pyproject.toml
	tools/environment.sh $(PYTHON) quick
	@touch $@ .venv/core.stamp

.venv/dev.stamp: requirements/dev.txt pyproject.toml src/pyproject.toml tools/system-packages.sh
	tools/environment.sh $(PYTHON) dev
	tools/system-packages.sh
	@touch $@ .venv/core.stamp .venv/quick.stamp

# Pins every dependency with its hashes, in files that name no host.
lock:
	$(COMPILE) pyproject.toml --group build --output-file requirements/core.txt
	$(COMPILE) pyproject.toml --all-extras --group dev --constraint requirements/core.txt --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --group build --group quick --constraint requirements/dev.txt --output-file requirements/quick.txt

clean:
	rm -rf .venv demo build .mypy_cache .ruff_cache .pytest_cache .hypothesis
