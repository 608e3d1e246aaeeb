#!/bin/sh
# Ask real Helm what it makes of the charts: make.sh HELM-4.3 HELM-4.1 (paths of the two binaries).
set -eu
[ $# -eq 2 ] || { sed -n 2p "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
tab=$(printf '\t')
for version in 4.3 4.1; do
    helm=$1
    [ "$version" = 4.3 ] || helm=$2
    rm -rf "golden/$version"
    mkdir -p "golden/$version"
    grep -v '^#' golden/cases.tsv | while IFS="$tab" read -r name arguments; do
        # shellcheck disable=SC2086 # the arguments are words
        if "$helm" template $arguments >"golden/$version/$name.yaml" 2>"golden/$version/$name.err" </dev/null; then
            rm "golden/$version/$name.err"
        else
            rm "golden/$version/$name.yaml"
        fi
    done
done
