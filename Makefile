# make app · make test · make lint · make bench
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: app test lint bench clean

app: $(STAMP)
	$(BIN)/augsbert app --port $(PORT)

# Most tests share the cores, then those that drive a browser; those that measure time run afterwards, by themselves.
# Every process that a test starts would compile all modules again without the bytecode of the one before.
test: export PYTHONDONTWRITEBYTECODE =
test: $(STAMP)
	$(BIN)/python -m pytest -n logical --dist loadfile --no-loadscope-reorder -m "not alone and not browser"
	$(BIN)/python -m pytest -n 2 --dist worksteal -m browser
	$(BIN)/python -m pytest -m alone

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The studies keep a workspace and train for half an hour and longer: each is started by itself, as its head says.
STUDIES := adaptation classroom label_errors learn_results strategies
bench: $(STAMP)
	for script in $(filter-out $(STUDIES:%=benchmarks/%.py),$(wildcard benchmarks/*.py)); do $(BIN)/python $$script || exit 1; done

# Installs again only when the requirements have changed.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@echo "Installing into $(VENV): a few minutes the first time."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[offline,dev]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info
