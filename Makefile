# Every target installs what is missing first; see scripts/bootstrap.py.
RUN := ./scripts/run
# Targets that run in parallel print when they are done, if this make can buffer their output.
GROUPED := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
.DEFAULT_GOAL := help
# Small queries keep one core busy with planning, so two groups of tests run at a time.
# The longest come first, so that none runs alone at the end.
TESTS := test-build test-ingest test-live test-s3 test-commands test-objects lint
LONG := test-suite long-build long-commands long-ingest long-live long-s3 long-cluster
# Tests that start a process for each of their commands.
COMMANDS := tests/build/test_walkthrough.py tests/build/test_plain_dbt.py tests/build/test_shared_catalog.py
# Durations of each group of tests.
REPORTS := target/tests
REPORT = --junitxml=$(REPORTS)/$@.xml
SHORT := -m "not long"
# Runs groups two at a time, and shows which tests took longest.
define both_cores
@$(RUN)
@rm -rf $(REPORTS)
@$(MAKE) --no-print-directory --jobs=2 --keep-going $(GROUPED) $(1); status=$$?; \
$(RUN) python -m scripts.slowest $(REPORTS); exit $$status
endef
# Tests that draw their input.
PROMISES = $(shell grep -rlw fuzzing tests --include='test_*.py')
.PHONY: help setup demo live cluster pack test test-fast test-long $(TESTS) $(LONG) fuzz docs bench other-spark project lock clean

help: ## Show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: ## Install everything into this folder, from the lock files
	@$(RUN)

demo: ## Ingest a marketplace's day, build silver and gold, compare with the truth (ARGS="--seed 9")
	@$(RUN) python -m demo $(ARGS)

live: ## The same on Kafka and PostgreSQL, continuously, until Ctrl-C (ARGS="--seconds 60")
	@$(RUN) python -m live $(ARGS)

cluster: ## The demo on a Spark cluster and S3, all on this machine (ARGS="--keep")
	@$(RUN) python -m demo.cluster $(ARGS)

pack: ## Pack the Python that executors of a cluster unpack, into target/packed.tar.gz
	@$(RUN) python -m scripts.pack

test: ## Lint and test, two groups of tests at a time
	@echo "Groups of tests run two at a time for three quarters of an hour; each prints when it is done."
	$(call both_cores,$(TESTS))

test-fast: ## The tests that need no Spark
	@$(RUN) pytest tests/unit

test-long: ## The rest: dbt's own suite, README's walk-through, the live marketplace, kills
	@echo "Groups of tests run two at a time for more than an hour; each prints when it is done."
	$(call both_cores,$(LONG))

test-build:
	@$(RUN) pytest $(REPORT) $(SHORT) tests/build $(addprefix --ignore=,tests/build/dbt_suite $(COMMANDS))

long-build:
	@$(RUN) pytest $(REPORT) -m long tests/build $(addprefix --ignore=,$(COMMANDS))

test-ingest:
	@$(RUN) pytest $(REPORT) $(SHORT) tests/unit tests/spark

long-ingest:
	@$(RUN) pytest $(REPORT) -m long tests/spark

test-s3:
	@$(RUN) pytest $(REPORT) $(SHORT) tests/s3

long-s3:
	@$(RUN) pytest $(REPORT) -m long tests/s3

long-cluster:
	@$(RUN) pytest $(REPORT) -m long tests/cluster

test-suite:
	@$(RUN) pytest $(REPORT) tests/build/dbt_suite

test-commands:
	@$(RUN) pytest $(REPORT) $(SHORT) $(COMMANDS)

long-commands:
	@$(RUN) pytest $(REPORT) -m long $(COMMANDS)

test-live:
	@$(RUN) pytest $(REPORT) $(SHORT) tests/live

long-live:
	@$(RUN) pytest $(REPORT) -m long tests/live

test-objects:
	@$(RUN) pytest $(REPORT) tests/objects

# Ten times the cases, from a seed of the moment, which the first line names.
FUZZ := HEADWATER_FUZZ=$(or $(CASES),10) HEADWATER_FUZZ_SEED=$(or $(SEED),$(shell date +%s))
fuzz: ## Test the guarantees on more random input (SEED=1 CASES=10)
	@echo "$(FUZZ)"
	@$(FUZZ) $(RUN) pytest $(filter-out tests/build/%,$(PROMISES))
	@$(FUZZ) $(RUN) pytest $(filter tests/build/%,$(PROMISES))

lint: ## ruff, mypy and sqlfluff
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy
	@$(RUN) .venv-sqllint/bin/sqlfluff lint models tests/dbt

docs: ## Write the docs page, with lineage from stream to gold, and open it
	@echo "Writing the docs page: dbt reads the columns of all tables, which takes half a minute or so."
	@$(RUN) dbt docs generate --static
	@$(RUN) ingest docs >/dev/null
	@page="$(CURDIR)/target/static_index.html"; echo "Docs page: $$page"; [ -t 1 ] || exit 0; \
	if [ "$$(uname)" = Darwin ]; then open "$$page"; \
	elif [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] && command -v xdg-open >/dev/null; then xdg-open "$$page"; fi

bench: ## Measure speed, compared with plain Spark
	@$(RUN) python -m bench $(ARGS)

other-spark: ## The demo with Spark 4.0 (COMMAND="pytest tests/spark")
	@$(RUN) python -m scripts.other_spark $(or $(COMMAND),python -m demo)

project: ## A public dbt project, or a package, on our profile (DIR=… ARGS="-- build")
	@$(RUN) python -m scripts.public_project "$(DIR)" $(ARGS)

lock: ## Resolve the lock files again
	@$(RUN) python -m scripts.lock

clean: ## Remove everything that make installed and wrote, also the demo's tables
	rm -rf .venv .venv-sqllint .jars .jars-stack .jars-registry .jars-plugins .jars-s3 .local lake lake-live landing target logs spark-warehouse metastore_db derby.log
	rm -rf .mypy_cache .pytest_cache .ruff_cache .jars-compiler .jars-s3client
