# Dogear. A plain `make` lists what can be made.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO_FILES := $(shell git ls-files '*.go' go.mod go.sum 'db/migrations/*/*.sql')
WEB_FILES := $(shell git ls-files static package.json package-lock.json)

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

# SQLite trusts fdatasync only where it is told so (docs/adr/0026).
ifeq ($(shell uname -s),Linux)
export CGO_CFLAGS ?= -g -O2 -DHAVE_FDATASYNC=1
endif

.PHONY: build
build: bin/dogear ## build bin/dogear

# An idle server is small only when its code is mapped as it is used (docs/adr/0019).
ifeq ($(shell uname -s),Linux)
LINK := -ldflags '-extldflags "-Wl,--no-export-dynamic -Wl,-Ttext-segment=0x410000"'
endif

bin/dogear: $(GO_FILES) static/dist/app.js
	go build $(LINK) -o $@ ./cmd/server

static/dist/app.js: $(WEB_FILES) node_modules/.installed
	npm run --silent build

node_modules/.installed: package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: run
run: bin/dogear ## build and start the product with its sample pipeline
	./bin/dogear serve --data data --sample $(ARGS)

# The S3 server of the tests, in a module of its own so that what it needs is not
# what the product needs.
bin/versitygw: e2e/tools/go.mod e2e/tools/go.sum
	cd e2e/tools && go build -o ../../bin/versitygw github.com/versity/versitygw/cmd/versitygw

.PHONY: test
test: system bin/dogear bin/versitygw e2e/node_modules/.installed .venv/.installed ## every test: rules, engine, both databases, browser
	$(MAKE) --no-print-directory fresh
	npm run --silent check
	npm test --silent
	go vet ./...
	e2e/with-postgres.sh e2e/with-mariadb.sh go test -timeout 20m ./...
	go test ./engine/bookmark -run TestRandomHistories -rapid.checks=5000
	.venv/bin/pytest -q e2e/python
	e2e/with-postgres.sh node --test --test-reporter=spec --test-concurrency=1 e2e/*.test.mjs

.PHONY: race
race: static/dist/app.js ## the engine's tests under the race detector
	e2e/with-postgres.sh go test -race -timeout 30m ./engine/exec/... ./engine/event/... ./handlers/live/... ./db/...

.PHONY: soak
soak: ## the long versions of tests: 100,000 histories of a bookmark, ten years of schedules, 1,000 kills of one server, 1,000 kills and halts of three, and a kill at every mark of the source
	go test ./engine/bookmark -run TestRandomHistories -rapid.checks=100000 -timeout 60m -v
	DOGEAR_YEARS=10 go test ./engine/schedule -run TestSchedulesAgreeWithAnOracle -timeout 60m -v
	DOGEAR_KILLS=1000 go test ./cmd/server/app -run TestAServerIsKilledOverAndOver -timeout 60m -v
	DOGEAR_TROUBLES=1000 e2e/with-postgres.sh go test ./cmd/server/app -run TestServersAreKilledAndHalted -timeout 60m -v
	DOGEAR_FAILPOINT_HITS=3 e2e/with-postgres.sh go test ./cmd/server/app -run TestServerKilledAtEveryMark -timeout 180m -v

.PHONY: e2e
e2e: system bin/dogear e2e/node_modules/.installed ## the browser tests alone
	e2e/with-postgres.sh node --test --test-reporter=spec --test-concurrency=1 e2e/*.test.mjs

e2e/node_modules/.installed: e2e/package-lock.json
	npm ci --prefix e2e --no-audit --no-fund --loglevel=error
	@touch $@

.venv/.installed: e2e/python/requirements.txt
	python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -r e2e/python/requirements.txt
	@touch $@

.PHONY: system
system: ## install what tests need of the system: PostgreSQL, MariaDB, Chromium
	@e2e/system.sh

.PHONY: gen
gen: ## generate the views again
	go tool templ generate -path views

.PHONY: fresh
fresh: ## fail where generated files are not those of their sources
	@go tool templ generate -path views >/dev/null 2>&1
	@git diff --exit-code --stat -- '*_templ.go' || { echo "Generated views are stale: run make gen and commit them." >&2; exit 1; }

.PHONY: lint
lint: static/dist/app.js ## run the linter (its version is pinned)
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run

.PHONY: bench
bench: system bin/dogear bin/bench-peers ## print the benchmarks, one JSON line a figure; FIGURES="g1 g2" prints only these
	DOGEAR_POSTGRES_FSYNC=on e2e/with-postgres.sh go run ./e2e/bench $(FIGURES)
	$(if $(FIGURES),,go run ./e2e/bench/ledger)
	$(if $(FIGURES),,go run ./e2e/bench/process)

# Other engines to measure beside ours, in a module of their own.
bin/bench-peers: $(wildcard e2e/bench/peers/*)
	cd e2e/bench/peers && go build -o ../../../$@ . || echo "The other engines cannot be built; their figures will say so." >&2

.PHONY: clean
clean: ## remove what was built; data stays
	rm -rf bin static/dist node_modules e2e/node_modules .venv .cache
