# Every target sets up what it needs: a machine with Python 3.11+ and make is enough for all but `e2e`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
LOCKED := $(VENV)/.locked
READY  := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# How many processes share the tests, which mostly wait for servers of their own.
AT_ONCE ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup test lint format e2e e2e-cluster cluster cluster-down cluster-status maestro soak bench demo lock proto clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Create the virtual environment with the locked dependencies

$(LOCKED): requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, found " + sys.version.split()[0] + "; try: make PYTHON=python3.12 <target>")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

test: $(READY) ## Run unit, conformance and integration tests
	$(PYTEST) --numprocesses $(AT_ONCE) --dist loadfile tests/unit tests/conformance tests/integration

lint: $(READY) ## Check style (ruff), types (mypy strict) and the rooms' imports (import-linter)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Rewrite the sources in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

e2e: $(READY) ## Run the tests that need real servers (Go, Debian packages and root)
	$(PYTEST) tests/e2e

e2e-cluster: $(READY) ## Run those of them that need a real cluster with a kubelet
	$(PYTEST) tests/e2e/cluster

cluster: $(READY) ## Start a real Kubernetes cluster of one node with our images (Go, Debian packages and root)
	@$(BIN)/python -m lab.real.cluster.command up

cluster-down: $(READY) ## Take the cluster away, with all that it left on this machine
	@$(BIN)/python -m lab.real.cluster.command down

cluster-status: $(READY) ## Show what runs on the cluster
	@$(BIN)/python -m lab.real.cluster.command status

maestro: $(READY) ## Start Maestro and its agent on the cluster, with the HostedCluster's definition
	@$(BIN)/python -m lab.real.cluster.command maestro

soak: $(READY) ## Try the languages on very many generated sources (minutes)
	SOAK=1 $(PYTEST) tests/unit/languages -k "properties or fuzz"

bench: $(READY) ## Measure speed and start cost; tables go to standard output
	$(BIN)/python -m benchmarks

demo: $(READY) ## Show the system at work on the embedded lab
	$(BIN)/python -m lab.demo

lock: $(READY) ## Renew the locked dependencies in requirements/
	$(BIN)/python requirements/lock.py

proto: $(READY) ## Regenerate the gRPC stubs from the .proto file
	$(BIN)/python -m grpc_tools.protoc --proto_path=. --plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy --python_out=. --grpc_python_out=. --mypy_out=. --mypy_grpc_out=. --plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc shared/maestro/wire/cloudevent.proto

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
