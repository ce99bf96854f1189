# serQ: what a fresh clone can be asked to do. Every target makes the environment it needs, once.

PYTHON ?= python3
WORKERS ?= auto
venv := .venv
python := $(venv)/bin/python
serq := $(venv)/bin/serq
stamps := $(venv)/.stamps

package := pyproject.toml setup.py README.md LICENSE $(shell find src -type f -not -name '*.pyc' -not -name '*.so')

.DEFAULT_GOAL := help
.PHONY: help demo test check format verify validate plain oracle oracle-setup oracle-recorded oracle-fuzz oracle-speed rules bench golden develop clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

# ------------------------------------------------------------------------------------------------- environments

$(stamps)/venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "serq needs Python 3.11 or later")'
	test -x $(python) || $(PYTHON) -m venv $(venv)
	$(python) -m pip install --quiet --upgrade 'setuptools>=77' 'mypy>=2.4'
	mkdir -p $(stamps) && touch $@

# Installed with its engine compiled. The build runs in the environment itself, so that nothing is fetched twice.
$(stamps)/installed: $(stamps)/venv $(package)
	rm -rf build/lib* build/bdist*
	@echo 'serq: building the engine (one or two minutes, once; without a C compiler it is installed as plain Python)'
	$(python) -m pip install --quiet --no-build-isolation .
	$(serq) --version
	touch $@

$(stamps)/test $(stamps)/verify $(stamps)/bench $(stamps)/plot: $(stamps)/%: $(stamps)/installed pyproject.toml
	$(python) -c 'import sys, tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
	  print(*extras[sys.argv[1]], sep="\n")' $* > $@.txt
	$(python) -m pip install --quiet -r $@.txt
	touch $@

# ------------------------------------------------------------------------------------------------------- targets

demo: $(stamps)/installed  ## replay the recorded agent trace through one vLLM engine and print the report
	$(serq) run examples/replay/vllm_replay.sq --set spacing=3.5

test: $(stamps)/test  ## run the whole suite on the compiled engine, then the semantics on the pure Python one
	$(python) -m pytest -q -n $(WORKERS)
	PYTHONPATH=src $(python) -m pytest -q -n $(WORKERS) $(wildcard tests/spec tests/unit/engine tests/unit/cli)

check: $(stamps)/test  ## format, lint, types, import directions
	$(python) -m ruff format --check .
	$(python) -m ruff check .
	$(python) -m mypy --strict src
	$(python) -m pytest -q tests/meta

format: $(stamps)/test  ## format the code and mend what the linter can
	$(python) -m ruff format .
	$(python) -m ruff check --fix .

verify: $(stamps)/test $(stamps)/verify  ## hold the simulator against closed forms and published results (minutes)
	$(python) -m pytest -q verification
	$(python) -m verification --seeds 20 --jobs 2

plain: $(stamps)/test  ## hold the fast plan of the engines against the plain loop on N=2000 programs and the examples
	$(python) -m verification.plain --n $(or $(N),2000)

oracle: oracle-setup  ## run everything live against vLLM's own scheduler, every release from 0.30.0 on (or RELEASE=…)
	$(python) -m verification.vllm live --release $(or $(RELEASE),all)

oracle-setup: $(stamps)/test  ## make .oracle: CPU torch and the Python of vLLM's releases (about 2 GB; or RELEASE=…)
	$(python) -m verification.vllm setup $(addprefix --release ,$(RELEASE))

oracle-recorded: $(stamps)/test  ## hold serQ against vLLM's recorded answers; needs no vLLM, and `make test` does it too
	$(python) -m verification.vllm recorded

oracle-fuzz: $(stamps)/test  ## N=2000 scenarios at random against a live RELEASE (default the newest; SEED=…)
	$(python) -m verification.vllm fuzz --n $(or $(N),2000) --release $(or $(RELEASE),newest) $(addprefix --seed ,$(SEED))

oracle-speed: $(stamps)/test  ## time the 3 321-request replay on either side
	$(python) -m verification.vllm speed --release $(or $(RELEASE),newest)

validate: $(stamps)/installed  ## run the measured deployments and write the figures of docs/validation.md
	$(python) -m verification.served

rules:  ## which rules of docs/vllm.md to read again for the vLLM under SOURCES (site-packages, or an unpacked wheel)
	$(PYTHON) -m verification.vllm_rules $(SOURCES)

bench: $(stamps)/bench  ## measure speed on the named programs
	$(python) benchmarks/run.py --against last

golden: $(stamps)/test  ## record the expected outputs anew; read the difference before you commit it
	$(python) -m pytest -q -n $(WORKERS) --update-golden tests
	git diff --stat -- tests

develop: $(stamps)/venv  ## install in place, pure Python, for work on the sources
	find src -name '*.so' -delete
	SERQ_PURE=1 $(python) -m pip install --quiet --no-build-isolation -e '.[test]'
	rm -f $(stamps)/installed $(stamps)/test

clean:  ## remove what was built
	rm -rf build $(stamps) src/serq.egg-info
	find src -name '*.so' -delete
