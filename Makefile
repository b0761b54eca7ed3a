# Every target installs what it needs: Python 3.11+ and make are enough for all but e2e, cluster and maestro.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
LOCKED := $(VENV)/.locked
READY  := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# Processes that share the tests, which mostly wait for their servers: three for each of two cores.
AT_ONCE ?= 6
# So that no process is left with a long file when the others have ended.
LONGEST_FIRST := tests/integration tests/contracts tests/conformance tests/unit

.DEFAULT_GOAL := help
.PHONY: help setup test lint format e2e e2e-servers e2e-cluster cluster cluster-down cluster-status maestro system soak bench demo scenarios lock reference proto clean

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

test: $(READY) ## Run unit, conformance, contract and integration tests, on stand-ins
	$(PYTEST) --numprocesses $(AT_ONCE) --dist loadfile --no-loadscope-reorder $(LONGEST_FIRST)

lint: $(READY) ## Check style (ruff), types (mypy strict) and imports between packages (import-linter)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Format the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

e2e: e2e-servers e2e-cluster ## Run contract and end-to-end tests on real servers (needs Go, Debian packages and root)

e2e-servers: $(READY) ## Run those of them that need no kubelet
	$(PYTEST) --servers=real tests/contracts tests/e2e --ignore=tests/e2e/cluster

e2e-cluster: $(READY) ## Run the end-to-end tests that need a real cluster with a kubelet
	$(PYTEST) tests/e2e/cluster

cluster: $(READY) ## Start a real one-node Kubernetes cluster with our images (needs Go, Debian packages and root)
	@$(BIN)/python -m lab.real.cluster.command up

cluster-down: $(READY) ## Stop the cluster and remove everything it left on this machine
	@$(BIN)/python -m lab.real.cluster.command down

cluster-status: $(READY) ## Show what runs on the cluster
	@$(BIN)/python -m lab.real.cluster.command status

maestro: $(READY) ## Start Maestro and its agent on the cluster, with the HostedCluster CRD
	@$(BIN)/python -m lab.real.cluster.command maestro

system: $(READY) ## Start the cluster with everything that adapters need; docs/install-the-system.md goes on from there
	@$(BIN)/python -m lab.real.cluster.command system

ifdef CLUSTERS
soak: $(READY) ## Run property tests with many more examples; with CLUSTERS=200, the installed system while its parts are killed
	CLUSTERS=$(CLUSTERS) $(PYTEST) -o faulthandler_timeout=0 tests/e2e/cluster/system/test_soak.py
else
soak: $(READY)
	SOAK=1 $(PYTEST) tests/unit/languages tests/unit/config tests/unit/engine -k "properties or fuzz"
	SOAK=1 $(PYTEST) tests/unit/maestro_cli/test_wait_language.py
	SOAK=1 $(PYTEST) tests/unit/controlplane/test_random_inputs.py tests/integration/controlplane/test_random_processes.py
	SOAK=1 $(PYTEST) tests/unit/reporter/test_random_inputs.py tests/integration/reporter/test_random_processes.py
	SOAK=1 $(PYTEST) tests/unit/runtime/test_schedule_properties.py tests/integration/runtime/test_endurance.py
endif

bench: $(READY) ## Measure speed and start cost; prints tables
	$(BIN)/python -m benchmarks

demo: $(READY) ## Run the system on the lab's stand-ins and print each step
	$(BIN)/python -m lab.demo

scenarios: $(READY) ## Run every scenario of the demo, the bad days too
	$(BIN)/python -m lab.demo --scenario all

lock: $(READY) ## Update the locked dependencies in requirements/
	$(BIN)/python requirements/lock.py

reference: $(READY) ## Write the generated pages of docs/: reference.md and field-mapping.md
	$(BIN)/python -m lab.reference

proto: $(READY) ## Regenerate the gRPC stubs from the .proto file
	$(BIN)/python -m grpc_tools.protoc --proto_path=. --plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy --python_out=. --grpc_python_out=. --mypy_out=. --mypy_grpc_out=. --plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc shared/maestro/wire/cloudevent.proto

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
