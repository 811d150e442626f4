# Every target works on a fresh machine with Go; those that need Debian
# packages (e2e, windows) install them through .ci/packages. e2e builds the release
# before this one too, for which it needs the repository's history.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  = -s -w -X main.version=$(VERSION)
LINT     = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 60s
SIMRUNS  ?= 1000
SCALE   ?= 2,3,5,10,50,200
# gotest is go test that tells what is under way and fails where nothing ran.
TEST     = GO='$(GO)' $(GO) run ./internal/testkit/gotest

.PHONY: all help build demo test test-short race sim mutants fuzz bench bench-scale prove lint cross e2e windows dist clean

all: build

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' Makefile

build: ## the binary for this machine, in bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/floatrelay ./cmd/floatrelay

demo: build ## kill a real leader and watch the relay come back
	bin/floatrelay demo

test: ## all tests that need no extra packages
	$(TEST) -p 4 -timeout 15m ./...

test-short: ## the tests that need no processes of their own: about a minute
	$(TEST) -short -timeout 5m ./...

race: ## the tests of everything that runs concurrently, with the race detector
	$(TEST) -race -short -timeout 20m ./arbiter ./gossip/... ./lease/... ./relayproc ./internal/...

sim: ## search the simulated world for two relays: 10,000 seeds and more
	GOGC=800 $(TEST) -timeout 30m -count=1 -v -run 'TestSearch|TestPartition|TestFault|TestRegression' ./simnet -sim.runs=$(SIMRUNS)

mutants: ## break each rule of the protocol and see the simulation catch it
	$(GO) test -timeout 30m -count=1 -v -tags mutants -run TestMutants ./simnet

fuzz: ## every fuzz target for FUZZTIME
	GO='$(GO)' FUZZTIME='$(FUZZTIME)' bash .ci/fuzz

bench: build ## failover times and the cost of an idle daemon
	$(GO) run ./internal/testkit/bench -exe bin/floatrelay
	$(GO) test -run '^$$' -bench . -benchtime 200x ./lease ./relayproc
	@if command -v smbd >/dev/null || test -x /usr/sbin/smbd; then \
	  $(GO) test -tags e2e -run '^$$' -bench Latency -benchtime 500x ./lease/smb; \
	else echo "no Samba here: calls over smb:// were not measured (bash .ci/packages e2e installs it)"; fi

bench-scale: ## stations of 2 to 200 members: the table of docs/scale.md
	$(GO) test -timeout 90m -count=1 -v -run TestScale_Table ./internal/bubble -bubble.scale=$(SCALE) -bubble.table=$(CURDIR)/docs/scale.md

prove: ## the full repetition counts; takes hours on two cores
	GO='$(GO)' bash .ci/prove

lint: ## formatting, vet for both systems, the linter, a tidy go.mod
	@test -z "$$(gofmt -l .)" || { echo "gofmt wants:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	$(GO) vet -tags 'e2e python previous' ./...
	$(GO) vet -tags mutants ./simnet
	GOBIN=$(CURDIR)/bin $(GO) install $(LINT)
	bin/golangci-lint run ./...
	GOOS=windows bin/golangci-lint run ./...
	$(GO) mod tidy -diff

cross: ## build for every system a release has
	for t in windows/amd64 windows/arm64 linux/amd64 linux/arm64; do \
	  GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build -trimpath -o /dev/null ./cmd/floatrelay || exit 1; done

e2e: ## whole sites with network namespaces, a real Samba and a real systemd; root, Debian, the history
	bash .ci/packages e2e
	$(TEST) -tags python -count=1 -timeout 10m -run TestPython ./internal/sitetest
	GO='$(GO)' bash .ci/mixed
	$(TEST) -tags e2e -count=1 -timeout 25m ./lease/smb/...
	$(TEST) -tags e2e -count=1 -timeout 5m -run 'Disk|TimeWait' ./lease ./relayproc
	$(TEST) -tags e2e -count=1 -timeout 25m -v ./e2e $(E2EFLAGS)

windows: ## the Windows binaries under wine; root, Debian
	bash .ci/windows

dist: ## release archives in dist/, built twice to show they are reproducible
	GO='$(GO)' VERSION='$(VERSION)' bash .ci/dist --twice

clean:
	rm -rf bin dist
