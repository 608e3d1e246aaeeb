#!/usr/bin/env bash
# hack/fuzz-diff/run.sh: random charts through our engine and through Helm 4.3.1, compared.
#
# MINUTES (5) says how long, SEED (the time) where to begin, OUT (target/fuzz-diff) where findings go; CASE=SEED runs
# one case and shows it. Helm is asked through a small Go program, which answers many cases per process; without go,
# through the helm binary, one process per case.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/helmrel/tools"
cd "$ROOT"

export FUZZ_ANSWERS="" FUZZ_HELM=""
if command -v go >/dev/null; then
  sum="$(cat hack/{fuzz-diff/main.go,go.mod,go.sum} | sha256sum | cut -c1-12)"
  FUZZ_ANSWERS="$CACHE/fuzz-diff-4.3.1-$sum/fuzz-diff"
  if [ ! -x "$FUZZ_ANSWERS" ]; then
    echo "fuzz-diff: building the program that asks Helm's packages (the first time: some minutes)" >&2
    mkdir -p "$CACHE"
    tmp="$(mktemp -d "$CACHE/.tmp-fuzz-diff.XXXXXX")"
    (cd hack && CGO_ENABLED=0 GOWORK=off GOTOOLCHAIN=local go build -trimpath \
      -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=v4.3.1" -o "$tmp/fuzz-diff" ./fuzz-diff)
    rm -rf "$(dirname "$FUZZ_ANSWERS")"
    chmod 755 "$tmp"
    mv -T "$tmp" "$(dirname "$FUZZ_ANSWERS")"
  fi
else
  echo "fuzz-diff: there is no go; the helm binary is run once per case, which is slow" >&2
  FUZZ_HELM="$(hack/tools.sh helm4 | cut -d' ' -f2-)"
fi
export MINUTES="${MINUTES:-5}" OUT="${OUT:-${CARGO_TARGET_DIR:-target}/fuzz-diff}"
exec "${CARGO:-cargo}" run --quiet --locked -p helm --example fuzz-diff -- "$@"
