# Two commands on a fresh machine: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

.PHONY: setup demo test check fuzz verify hostile lint bench bench-quick pictures docs-numbers dist clean

setup: $(STAMP)

# The stamp is made anew whenever the pins or the project's own metadata change.
$(STAMP): pyproject.toml papers/pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "unskew needs Python 3.11 or newer; '$(PYTHON)' was not found. Install it, or run 'make PYTHON=/path/to/python3'."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "unskew needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version). Run 'make PYTHON=/path/to/python3.11'."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing (on Debian: apt-get install python3-venv)."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing unskew and its tools into $(VENV) (about a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: -c constraints.txt -e '.[dev]' -e papers
	@touch $@

demo: $(STAMP)
	@mkdir -p demo
	@$(BIN)/unskew demo --html demo/report.html

test: $(STAMP) lint
	@$(BIN)/python tests/run.py

# Lint, types, and the tests that look at every part without worlds, files or processes: while one works.
check: $(STAMP) lint
	@$(BIN)/python tests/run.py --quick

# Properties with examples that nobody has seen yet; what breaks is printed with the line that repeats it.
fuzz: $(STAMP)
	@UNSKEW_EXAMPLES=fresh $(BIN)/python tests/run.py -m hypothesis

# Long studies: false verdicts over 500 worlds a row (writes docs/false_verdicts.md), columns of propensities that are
# something else, likewise (writes docs/broken_columns.md), the exposure path in 2,000 worlds (writes
# docs/exposure_path.md), census and tilt in 500 (writes docs/census.md), answers in 2,000 of each kind, refitted
# intervals, naive Bayes, a killed worker of Spark, the numbers and code blocks of the pages, small errors that the
# records of tests/golden must catch, the papers' experiments of ten minutes and less, the suite with every sentence
# worded otherwise, and the suite's own Monte Carlo tests with all worlds.
verify: $(STAMP)
	@$(BIN)/python -m tests.inference.false_verdicts
	@$(BIN)/python -m tests.inference.column_study
	@$(BIN)/python -m tests.inference.path_study
	@$(BIN)/python -m tests.census.box_study
	@$(BIN)/python -m tests.anchored.study 2000
	@$(BIN)/python -m tests.inference.refit_study 500
	@$(BIN)/python -m tests.inference.naive_bayes_study 500
	@$(BIN)/python -m tests.protocols.policy_study 500
	@$(BIN)/python -m papers.tests.recovery.kills 20
	@$(BIN)/python -m tests.spark.killed_worker
	@$(BIN)/python -m tests.newcomer
	@$(BIN)/python docs/renew.py --check
	@$(BIN)/python -m tests.golden.mutations
	@$(BIN)/python -m tests.golden.reproduction
	@$(BIN)/python -m tests.words.reworded -n auto
	@UNSKEW_WORLDS=all $(BIN)/python tests/run.py -m study
	@UNSKEW_WORLDS=all $(BIN)/python -m pytest -q tests/docs

# Hostile files, faults and interrupts: 2,000 seeded inputs against a slow oracle (HOSTILE="--fresh", "--only log", …).
hostile: $(STAMP)
	@$(BIN)/python -m tests.hostile --inputs 2000 --seed 0 $(HOSTILE)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# Every workload beside other libraries, and docs/benchmarks.md; about 100 minutes (BENCH="--only core top_k", "--all", "--list", …).
bench: $(STAMP)
	@$(BIN)/python benchmarks/suite.py $(BENCH)

# Whether something became slower than the recorded ratios, in less than five minutes; fails if so.
bench-quick: $(STAMP)
	@$(BIN)/python benchmarks/quick.py $(BENCH)

# Numbers in README and docs, written by the commands that make them (LONG=--long: studies that take hours, too).
docs-numbers: $(STAMP)
	@$(BIN)/python docs/renew.py $(LONG)

pictures: $(STAMP)
	@$(BIN)/python docs/pictures.py
	@$(BIN)/python docs/fooled.py
	@$(BIN)/python docs/movie_lovers.py
	@$(BIN)/python docs/ask.py

# The wheel: built, installed in an empty environment, and its demo run from there.
dist:
	@$(PYTHON) tests/dist.py

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache
