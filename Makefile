# Every command that CI runs and a person needs. `make` alone lists them.
#
# CARGO_TARGET_DIR, XDG_CACHE_HOME, HELMREL_TOOLS and the other variables of hack/tools.sh are honoured.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help tools build test lint fmt demo bench bench-helm hot fuzz fuzz-diff vectors crds clean preflight

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  make demo KEEP=1       leave everything running and print how to reach it"
	@echo "  make demo CHART=...    another chart: oci://registry/path/name[:version], a .tgz or a folder"

preflight:
	@command -v $(CARGO) >/dev/null || { echo "make: there is no cargo; install it from https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "make: there is no C compiler; on Debian and Ubuntu: apt-get install gcc libc6-dev" >&2; exit 1; }

tools: ## Obtain etcd, kube-apiserver, kubectl, helm and a registry (downloads; builds with go where that fails)
	@echo "==> the programs that tests and the demo run against (the first time: a download of 300 MB, or a build of 20 minutes)"
	@hack/tools.sh

build: preflight ## Build target/debug/helmrel
	@echo "==> building helmrel (the first time takes some minutes)"
	$(CARGO) build --locked

test: preflight tools ## Run all tests, against a real control plane
	@echo "==> testing hack/tools.sh"
	@hack/tools-test.sh
	@echo "==> building and running the tests of all crates (the first time takes some minutes)"
	$(CARGO) test --workspace --locked

lint: preflight ## Check format, lints and documentation
	@echo "==> format"
	$(CARGO) fmt --all --check
	@echo "==> lints"
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@echo "==> documentation"
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

fmt: preflight ## Format the code
	$(CARGO) fmt --all

demo: preflight ## Show the controller at work on a control plane of its own (KEEP=1 leaves it running)
	@echo "==> the programs that the demo runs (the first time: a download of 250 MB, or a build of 15 minutes)"
	@hack/tools.sh etcd kube-apiserver kube-controller-manager kubectl helm4
	@echo "==> building helmrel and the demo (the first time takes some minutes)"
	@$(CARGO) build --locked --bin helmrel
	@$(CARGO) build --locked -p testkit --example demo
	@CHART='$(CHART)' KEEP='$(KEEP)' HELMREL='$(abspath $(TARGET))/debug/helmrel' $(TARGET)/debug/examples/demo

bench: preflight ## Measure the engine's steps (ONLY=render_again for some of them)
	$(CARGO) bench --locked -p helm --bench engine -- $(ONLY)

bench-helm: preflight ## Measure `helmrel template` beside `helm template` (CORPUS=folder of charts, RUNS=3)
	@hack/tools.sh helm4 >/dev/null
	$(CARGO) build --release --locked --bin helmrel
	$(CARGO) build --release --locked -p helm --example again
	@hack/bench-helm.py --again "$(abspath $(TARGET))/release/examples/again" "$(abspath $(TARGET))/release/helmrel" "$$(hack/tools.sh helm4 | cut -d' ' -f2)" \
	  "$(or $(CORPUS),$(HELMREL_CORPUS),testdata/charts)" --runs $(or $(RUNS),3)

hot: preflight ## Write hot.ld: what a render calls, for the linker (needs valgrind; CORPUS=folder)
	HELMREL_WITHOUT_HOT=1 CARGO_PROFILE_RELEASE_STRIP=false $(CARGO) build --release --locked --bin helmrel --target-dir "$(abspath $(TARGET))/hot"
	hack/hot.py "$(abspath $(TARGET))/hot/release/helmrel" "$(or $(CORPUS),$(HELMREL_CORPUS))" > "$(abspath $(TARGET))/hot/hot.ld"
	mv "$(abspath $(TARGET))/hot/hot.ld" hot.ld

crds: preflight ## Write crds/ from the Rust types
	$(CARGO) run --quiet --locked -- crds --write crds

fuzz-diff: preflight ## Compare random charts with Helm 4.3.1 for MINUTES (5); findings go to target/fuzz-diff
	@MINUTES='$(MINUTES)' SEED='$(SEED)' CASE='$(CASE)' OUT='$(or $(OUT),$(TARGET)/fuzz-diff)' CARGO='$(CARGO)' hack/fuzz-diff/run.sh

vectors: ## Ask Helm 4.3.1 again what every template function answers (AREAS="data flow" for some); needs go
	@AREAS='$(AREAS)' hack/vectors/run.sh

fuzz: preflight ## Fuzz ON=yaml_read or another target of fuzz/ for MINUTES (10); needs nightly and cargo-fuzz
	@command -v cargo-fuzz >/dev/null || { echo "make: there is no cargo-fuzz; cargo install cargo-fuzz, and rustup toolchain install nightly" >&2; exit 1; }
	cargo +nightly fuzz run "$(or $(ON),yaml_read)" -- -rss_limit_mb=2048 -malloc_limit_mb=256 -timeout=5 \
	  -max_total_time=$$(( $(or $(MINUTES),10) * 60 ))

clean: ## Remove what cargo built; the tools stay in ~/.cache/helmrel
	$(CARGO) clean
