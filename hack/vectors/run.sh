#!/usr/bin/env bash
# hack/vectors/run.sh: asks Helm 4.3.1's packages what every template function makes of many arguments, and writes the
# answers to crates/helm/testdata/vectors (or the folder OUT, which holds the chart they are asked about). AREAS names some
# of hack/vectors/areas ("data flow"), which takes seconds; all of them take minutes, most of that for keys.
#
# Needs go and its module proxy (or a filled module cache).
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
OUT="$(realpath "${OUT:-$ROOT/crates/helm/testdata/vectors}")"
command -v go >/dev/null || { echo "vectors: there is no go; see https://go.dev/dl" >&2; exit 1; }
tmp="$(mktemp -d)"
trap 'rm -rf "$tmp"' EXIT
(cd "$ROOT/hack" && CGO_ENABLED=0 GOWORK=off GOTOOLCHAIN=local go build -trimpath -o "$tmp/vectors" \
  -ldflags "-checklinkname=0 -X helm.sh/helm/v4/internal/version.version=v4.3.1" ./vectors)
read -ra areas <<<"${AREAS:-}"
"$tmp/vectors" "$OUT" "${areas[@]}"
