# The two commands of the README, `make demo` and `make test`, do all the set-up themselves.
PYTHON ?= python3.11
CORES ?= 2
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
# an environment of its own: MkDocs and the light core, without PyTorch
DOCS := .venv-docs/.ready
# --no-compile: Python compiles the files that a job imports, and not all 15,000
PIP := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check
TORCH := 2.13.0
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM := false
export HF_HUB_OFFLINE ?= 1
export PYTHONHASHSEED := 0
# each of a study's jobs starts Python: without compiled files of the package that takes a third longer
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo report test test-quick test-all test-thorough test-long test-light wheel-test coverage lint format bench fuzz gpu image dag docs docs-serve notebook checkpoint clean
.DEFAULT_GOAL := help

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## create .venv and install the project with everything its tests need

$(DEMO): pyproject.toml envs/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch==$(TORCH)
	$(PIP) -c envs/constraints.txt -e '.[grescores,serve,workflow]'
	touch $@

$(READY): $(DEMO)
	$(PIP) -c envs/constraints.txt -e '.[all,dev]'
	touch $@

demo: $(DEMO) ## run the demo study from its corpus to tables and report (7 to 13 minutes on 2 cores)
	$(BIN)/snakemake --cores $(CORES) --rerun-incomplete
	@echo "Tables are in results/demo/tables, the report is results/demo/report.html"
	@echo "Real sentences in about a quarter of an hour: $(BIN)/tripleaudit run config/conll04-quick.yaml"

report: $(DEMO) ## write the HTML report of the demo study, and what it needs
	$(BIN)/snakemake --cores $(CORES) --rerun-incomplete report

test: $(READY) ## check style and run the tests beside (changes nothing outside this folder)
	@$(MAKE) --no-print-directory --output-sync --jobs 2 lint test-quick

test-quick: $(READY)
	$(BIN)/pytest -n $(CORES) -m "not thorough"

test-all: $(READY) lint ## all tests, those with a cluster, a browser and kills too (says what takes long, and installs SLURM)
	@tests/support/install_slurm.sh
	$(BIN)/pytest -n $(CORES)

test-thorough: $(READY) ## what test-all runs and test does not
	@tests/support/install_slurm.sh
	$(BIN)/pytest -n $(CORES) -m thorough

# thorough tests that only compute: no cluster, browser, server, network or killed process
LONG := $(addprefix tests/unit/,extractors needles protocols scoring tables training)

test-long: $(READY) ## the thorough tests of extractors, protocols, scoring and tables, whose outcome does not depend on timing
	$(BIN)/pytest -n $(CORES) -m "thorough and not browser" $(LONG)

lint: $(READY) ## ruff, snakefmt, snakemake --lint and mypy
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --quiet .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint > /dev/null
	$(BIN)/mypy

format: $(READY) ## format all code
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/snakefmt Snakefile workflow

coverage: $(READY) ## run the tests of make test with branch coverage, written to build/coverage
	$(BIN)/pytest -n $(CORES) -m "not thorough" --cov=tripleaudit --cov-branch --cov-report=html:build/coverage --cov-report=term:skip-covered

wheel-test: $(READY) ## install the wheel into an environment of its own and use every part of it there (10 minutes)
	PYTHON=$(PYTHON) TORCH=$(TORCH) $(BIN)/pytest -n 0 tests/e2e/test_wheel.py --fresh

test-light: ## test what needs no torch with nothing but its own dependencies (make test-light PYTHON=python3.13)
	$(PYTHON) -m venv --clear build/light
	build/light/bin/pip install --quiet --disable-pip-version-check '.[hub,llm]' gensim hypothesis pytest pytest-xdist
	build/light/bin/python -m pytest \
	  tests/unit/corpora tests/unit/protocols tests/unit/scoring tests/unit/tables tests/unit/study tests/unit/llm

image: ## build the container image, in which `tripleaudit run STUDY` runs a whole study
	docker build --tag tripleaudit .

fuzz: $(READY) ## run hundreds of bad inputs through the commands: each is to end with one sentence (SEED=0)
	FUZZ_EVERY=1 FUZZ_SEED=$(or $(SEED),0) $(BIN)/pytest -q tests/fuzz

bench: $(READY) ## measure speed and memory (ONLY=extractors for one part, OUT=FOLDER for the results; needs resources/downloads/minilm)
	BENCHMARKS_OUT=$(OUT) $(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY))

resources/downloads/minilm: | $(READY)
	$(BIN)/tripleaudit fetch --model minilm --out $@

gpu: $(READY) resources/downloads/minilm ## on a machine with a GPU: measure speed and memory there, then run config/webnlg.yaml with one seed (GPUS=1, OUT=FOLDER)
	@$(BIN)/python -c "import sys, torch; sys.exit(None if torch.cuda.is_available() else 'error: PyTorch sees no GPU on this machine; expected a CUDA device')"
	-BENCHMARKS_OUT=$(OUT) $(BIN)/python -m benchmarks --only gpu
	$(BIN)/snakemake --cores all --resources gpu=$(or $(GPUS),1) --rerun-incomplete --keep-going \
	  --configfile config/webnlg.yaml --config 'seeds=[1]'

dag: $(READY) ## draw the rules of the demo study as docs/dag.svg (needs graphviz)
	$(BIN)/snakemake --forceall --rulegraph dot | sed -E 's/, color = "[^"]*"//' | tred | dot -Tsvg -Grankdir=LR \
	  -Gnodesep=0.12 -Granksep=0.2 -Nmargin=0.09,0.05 -Nheight=0.36 -Nfontname=Helvetica -Nfontsize=15 -Npenwidth=1.3 \
	  -Ncolor='#0b57b0' -Ecolor='#7f8a96' -Epenwidth=1.1 -Earrowsize=0.7 -o docs/dag.svg

$(DOCS): pyproject.toml envs/constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -c envs/constraints.txt -e '.[docs]'
	touch $@

docs: $(DOCS) ## build the documentation site in build/site; every warning is an error
	NO_MKDOCS_2_WARNING=1 $(<D)/bin/mkdocs build --quiet

notebook: $(DOCS) ## run docs/notebook.ipynb again and store its outputs (about a minute)
	mkdir -p build/notebook
	cp docs/notebook.ipynb build/notebook
	cd build/notebook && PATH="$(CURDIR)/$(<D)/bin:$$PATH" jupyter nbconvert --to notebook --execute --inplace \
	  --ExecutePreprocessor.record_timing=False --ClearMetadataPreprocessor.enabled=True notebook.ipynb
	cp build/notebook/notebook.ipynb docs

docs-serve: $(DOCS) ## show the documentation site at http://127.0.0.1:8000 and follow changes
	NO_MKDOCS_2_WARNING=1 $(<D)/bin/mkdocs serve

# the included extractor: its study, and the files of this study that it is made from
EXTRACTOR_STUDY := results/webnlg-extractor
EXTRACTOR := $(EXTRACTOR_STUDY)/models/webnlg-ten/original-nz/casrel-own-subject/none/seed1
EXTRACTOR_SETS := $(EXTRACTOR_STUDY)/protocols/webnlg-ten/original/nz

checkpoint: $(DEMO) ## train the included extractor again, and write it to resources/models (twenty minutes of one CPU core)
	$(BIN)/tripleaudit run resources/models/study.yaml $(EXTRACTOR)/model.safetensors $(EXTRACTOR_SETS)/test.jsonl \
	  --cores $(CORES) --rerun-incomplete
	$(BIN)/tripleaudit compact $(EXTRACTOR) --train $(EXTRACTOR_SETS)/train.jsonl --valid $(EXTRACTOR_SETS)/valid.jsonl \
	  --test $(EXTRACTOR_SETS)/test.jsonl --licence cc-by-nc-sa-4.0 --out resources/models/webnlg-ten

clean: ## remove results of all studies, keep downloads
	find results -mindepth 1 -not -name .gitkeep -delete
