# Everything here needs only Go (and make and bash), except "genuine" and the tests of
# tools in Python and JavaScript, which need python3 and Node. The linter is built
# into .bin on first use; the race detector needs a C compiler on Linux.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
ARGS     ?=
FUZZTIME ?= 10s
LINT_VERSION := v2.14.0
LINT     := .bin/golangci-lint
# .ci is named besides because "./..." leaves out dotted directories.
PACKAGES := ./... ./.ci/cross ./.ci/tally ./.ci/mutants ./.ci/release
# What starts whole programs by the hundred, and the battery of the sandbox: the
# tests that a quick run leaves to "make test".
SLOW := /internal/(cli|conformance|sandbox/linux)$$|/examples$$
# Single tests that a quick run leaves out too: races, kills and batteries that
# take a core for seconds.
LONG := ^Test(AllowedLinesChangeNothing|DeniedLinksMany|Escapes|FilesRace|Gigabyte|HostileLinesWork|HugeLines|Kill|KilledAtAnyMoment|KnownOptionsChangeNothing|KnownThroughCommands|LookWhileOthersWork|ManyCommands|OneVerdictEverywhere|OvosBox|Races|SandboxChecksCanFail|ShieldBehindMany|TooManyProtectedLinks|Work|WorkIsBounded)$$
# Many tests wait for programs and clocks, so more packages run at once than there
# are cores; test binaries are linked without what only a debugger reads.
GOTEST := test -vet=off -p $$(n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); echo $$((n > 4 ? n : 4))) -ldflags=-w
# Packages whose tests run without the race detector, which makes them three to
# ten times slower: they judge texts or files by the thousand in one goroutine, or
# start the whole program. It watches their code in the tests of what uses it, in those of
# their own tests that do much at once, and in some scripts of the whole program.
PLAIN := /internal/(app|bundles|sandbox/(linux|layer)|cli|codemode/worker|policy|shellguard|schema|store|condition|config|named|ovos/dialect|suggest|safety/secrets)$$|/definition$$|/examples$$|/toolbox/(codemode|files|math|script)$$
ATONCE  := AtOnce$$|^TestAtTerminal|^TestFlippedLink$$|^Test(Suite|DeskStore|Context|TwoInOneProcess|Toolbox|FiveHundred|CoversInARace|StartsWhileOthersBuild)$$
SCRIPTS := ^TestScripts$$/^(bus|hub|mcp|shell)$$
# Those of internal/app among them, which serves several callers.
SERVING := ^TestAssembled|^TestPlugin|^TestRevoked|^TestSaved|^TestServeBus|^TestSwitchedO|^Test(BackgroundCommandsOnLayers|BoxesThatChangeAreReadAgain|BundlesCount|ChatGoverned|CommandsBesideEachOther|DocumentsAreTakenUp|HostKilledInMidCall|ListeningEndsWithTheToken|ManyCommands|OldRaces|PersonWorksMeanwhile|RulesAreReadAgain|RulesReachServers|ServersFollowTheSettings|StoppedCommandIsJudged|WaitingSurvives|WhoWatches)$$
# Tests of agent that do one thing after another by the thousand: they run without it, too.
ALONE := ^TestJourneysOverEveryAPI$$
# The longest go first, so that no core waits for one of them at the end.
FIRST := ./internal/app ./internal/cli ./internal/sandbox/layer ./internal/sandbox/linux
# The battery of the sandbox once more, as another user: it mostly waits, so it runs
# beside the rest, and without the race detector, which has seen the first one.
NOBODY := ^TestAsNobody$$
# Tests that need packages of others, from npm and PyPI, are named by this rule.
GENUINE := ^TestGenuine
# Those that wait for a voice assistant most of the time run beside the others.
WAITING := ^TestGenuine(Beside|Assistant|Adopt|Personas|Readers|Setup|Toolbox|Voice)
# How long the tests of a package may print nothing and do nothing before they are
# ended, with the name of the test that hangs (.ci/tally). Those of "genuine" also wait
# for downloads and for other programs to start.
QUIET := 2m
genuine: QUIET := 5m
# A file that carries the count of the tests from "test" to "genuine" (.ci/run).
TALLY ?=
# What "mutants" tries: so many of each package, chosen by the seed; ALSO names
# packages whose tests are run on what survives those of its own.
N    ?= 5
PKG  ?= ./internal/desk
SEED ?= 1
ALSO ?=

.PHONY: help build run test tests genuine packages corpus quick check format lint cross engine bench fuzz generate cover mutants release

help: ## show this text
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/toolcrib
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/toolcrib ./cmd/toolcrib

run: build ## build it and start the server (ARGS="…" are passed on)
	./bin/toolcrib serve $(ARGS)

test: format lint cross tests ## everything of our own that is checked: format, vet, lint, other systems, all tests

genuine: ## hold the program against what others wrote: the MCP suite, servers and a client from npm, toolboxes from PyPI
	@$(RACE); { s=0; beside=$$(mktemp); unraced -timeout 12m -run '$(WAITING)' ./internal/conformance > "$$beside" & \
		unraced -timeout 12m -run '$(GENUINE)' -skip '$(WAITING)' ./internal/conformance || s=1; \
		wait $$! || s=1; cat "$$beside"; rm -f "$$beside"; exit $$s; } | .bin/tally $(if $(TALLY),-after $(TALLY))

packages: # install what genuine needs, and do nothing else
	CGO_ENABLED=0 $(GO) $(GOTEST) -timeout 25m -run '^TestGenuinePackages$$' ./internal/conformance

corpus: ## read thousands of OpenAPI documents of others (half a gigabyte from npm and the Go proxy), and tell how many become tools; ask gopls and clangd
	$(GO) test -tags corpus -count=1 -timeout 20m -run '^TestGenuine(Corpus|GitHub|Gopls)$$' -v ./internal/conformance

quick: check ## while you work: format, vet and the tests but for the slowest; no race detector, no lint, no other systems
	$(GO) $(GOTEST) -short -skip '$(LONG)' $$($(GO) list $(PACKAGES) | grep -vE '$(SLOW)')
	@echo "left to make test: internal/cli, internal/conformance, internal/sandbox/linux, examples, the longest tests (LONG), the race detector, lint, other systems"

check: format # gofmt and go vet
	$(GO) vet $(PACKAGES)

# The linter's govet has all that "go vet" has and more, so that "test" does not
# look twice; what it does not compile is looked at here.
format: # gofmt, and vet of what only a tag compiles
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path './.bin/*' -not -path './.git/*')); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet -tags engine ./internal/sandbox/container
	$(GO) vet -tags corpus ./internal/conformance

lint: ## run the linter
	@$(GO) version -m $(LINT) 2>/dev/null | grep -q "golangci-lint/v2	$(LINT_VERSION)" || { \
		echo "building golangci-lint $(LINT_VERSION) into .bin, once; this takes two minutes or so"; \
		GOBIN="$$PWD/.bin" CGO_ENABLED=0 GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION); }
	$(LINT) run --allow-parallel-runners $(PACKAGES)

cross: # what other systems compile, by its types; compiling it would take minutes
	$(GO) run ./.ci/cross darwin windows

tests: # all tests of our own, and at the end their number; the linter's vet has looked at everything before
	@echo "go test -race ./..., and without it what it slows down most (PLAIN in the Makefile)"; $(RACE); plain=$$($(GO) list $(FIRST) $(PACKAGES) | grep -E '$(PLAIN)'); other=$$($(GO) list $(FIRST) $(PACKAGES) | grep -vE '$(PLAIN)'); \
	{ s=0; nobody=$$(mktemp); unraced -run '$(NOBODY)' ./internal/sandbox/linux > "$$nobody" & \
		raced -skip '$(GENUINE)|$(NOBODY)|$(ALONE)' $$other || s=1; unraced -run '$(ALONE)' ./agent || s=1; raced -run '$(ATONCE)|$(SERVING)' ./internal/app ./internal/sandbox/linux ./internal/{bundles,cli,policy,schema,store} ./toolbox/files ./toolbox/script || s=1; \
		raced -run '$(SCRIPTS)' ./internal/cli || s=1; unraced -skip '$(NOBODY)' $$plain || s=1; \
		wait $$! || s=1; cat "$$nobody"; rm -f "$$nobody"; exit $$s; } | \
		.bin/tally $(if $(TALLY),-more $(TALLY))

# RACE builds what watches tests, and defines "unraced", which runs them, and "raced", which does so with the race
# detector where that can run.
define RACE
CGO_ENABLED=0 $(GO) build -o .bin/tally ./.ci/tally; watched=(-timeout 25m -json -exec "'$$PWD/.bin/tally' -end-after $(QUIET)"); \
unraced() { CGO_ENABLED=0 $(GO) $(GOTEST) "$${watched[@]}" "$$@"; }; \
if [ "$$($(GO) env GOOS)" != linux ] || command -v "$$($(GO) env CC)" >/dev/null; then \
	raced() { CGO_ENABLED=1 $(GO) $(GOTEST) -race "$${watched[@]}" "$$@"; }; \
elif [ "$${CI:-}" = true ]; then \
	echo "there is no C compiler, so the race detector cannot run: in CI that is a failure"; exit 1; \
else \
	echo "THERE IS NO C COMPILER: the tests run without the race detector"; \
	raced() { unraced "$$@"; }; \
fi
endef

engine: ## try to break containers of a real engine (TOOLCRIB_TEST_ENGINE, TOOLCRIB_TEST_IMAGE)
	$(GO) test -tags engine -count=1 -run RealEngine -v ./internal/sandbox/container

bench: ## run the benchmarks that have a target and write bench/out/report.md
	$(GO) run ./bench $(ARGS)

fuzz: ## run every fuzz target for FUZZTIME (10s), one after the other
	@grep -rE '^func Fuzz' --include='*_test.go' . | sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort | \
	while read -r dir name; do \
		echo "== $$dir $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$dir"; \
	done

generate: ## write generated files, golden files and journeys anew; read the difference before you commit
	$(GO) generate ./...
	$(GO) test ./cribtest $$(grep -rlE 'toolcrib/cribtest"|flag\.Bool\("update"' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update

cover: ## show how much of each function the tests reach
	$(GO) test -coverprofile=coverage.out ./...
	$(GO) tool cover -func=coverage.out

release: ## build a release of what is committed into dist (VERSION=v1.2.3; TOOLCRIB_RELEASE_KEY_FILE signs it)
	$(GO) run ./.ci/release -out dist $(if $(VERSION),-version $(VERSION)) $(ARGS)

mutants: ## change N places of each package in PKG, chosen by SEED, and print what no test notices (ALSO="…": their tests too)
	$(GO) run ./.ci/mutants -n $(N) -seed $(SEED) -also "$(ALSO)" $(PKG)
