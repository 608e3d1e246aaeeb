#!/usr/bin/env bash
# hack/tools.sh: the real programs that tests and the demo run against.
#
#   hack/tools.sh              obtain every tool, then print "NAME PATH" for each
#   hack/tools.sh NAME...      the same for these tools only
#   hack/tools.sh --env        print "export HELMREL_TOOL_NAME=PATH" lines, after obtaining all
#
# Tools: etcd kube-apiserver kube-controller-manager kubectl helm4 helm3 registry
#
# Each comes from the first of these that has it:
#   1. a folder named by HELMREL_TOOLS or KUBEBUILDER_ASSETS (taken as it is, whatever its version);
#   2. the cache, ${XDG_CACHE_HOME:-~/.cache}/helmrel/tools/GROUP-VERSION/;
#   3. a download of the upstream release, checked against the SHA-256 published beside it;
#   4. a build from the Go module proxy, where `go` is present.
# The base addresses can be replaced for a mirror: HELMREL_KUBE_URL, HELMREL_ETCD_URL, HELMREL_HELM_URL,
# HELMREL_REGISTRY_URL. HELMREL_TOOLS_SKIP=download,build leaves steps out. HELMREL_TOOLS_FETCHER=curl|wget|cargo
# says what downloads; without it the first of these that is there.
#
# A tool is made in a temporary folder and moved into the cache in one rename when it is whole and has said its
# version, so that an interrupted run leaves nothing that a later one takes for good.
set -euo pipefail

KUBE_VERSION=1.36.3
KUBE_STAGING=0.36.3
ETCD_VERSION=3.6.13
HELM4_VERSION=4.3.1
HELM3_VERSION=3.22.0
REGISTRY_VERSION=3.1.2

ALL_TOOLS="etcd kube-apiserver kube-controller-manager kubectl helm4 helm3 registry"
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/helmrel/tools"
OS=linux
case "$(uname -m)" in
  x86_64) ARCH=amd64 ;;
  aarch64 | arm64) ARCH=arm64 ;;
  *) echo "tools: no release is known for the machine $(uname -m); put the programs into a folder and name it in HELMREL_TOOLS" >&2; exit 1 ;;
esac
KUBE_URL="${HELMREL_KUBE_URL:-https://dl.k8s.io}"
ETCD_URL="${HELMREL_ETCD_URL:-https://github.com/etcd-io/etcd/releases/download}"
HELM_URL="${HELMREL_HELM_URL:-https://get.helm.sh}"
REGISTRY_URL="${HELMREL_REGISTRY_URL:-https://github.com/distribution/distribution/releases/download}"

say() { echo "tools: $*" >&2; }

# group_of NAME: the cache folder a tool lives in. The two kube programs and kubectl are obtained together.
group_of() {
  case "$1" in
    kube-apiserver | kube-controller-manager | kubectl) echo "kubernetes-$KUBE_VERSION" ;;
    etcd) echo "etcd-$ETCD_VERSION" ;;
    helm4) echo "helm-$HELM4_VERSION" ;;
    helm3) echo "helm-$HELM3_VERSION" ;;
    registry) echo "registry-$REGISTRY_VERSION" ;;
    *) return 1 ;;
  esac
}

# members_of GROUP: the programs that a whole cache folder holds.
members_of() {
  case "$1" in
    kubernetes-*) echo "kube-apiserver kube-controller-manager kubectl" ;;
    etcd-*) echo etcd ;;
    "helm-$HELM4_VERSION") echo helm4 ;;
    "helm-$HELM3_VERSION") echo helm3 ;;
    registry-*) echo registry ;;
  esac
}

skipped() { case ",${HELMREL_TOOLS_SKIP:-}," in *",$1,"*) return 0 ;; esac; return 1; }

# fetcher: what downloads: curl, else wget, else a small program of this repository that cargo builds.
fetcher() {
  local name
  [ -z "${HELMREL_TOOLS_FETCHER:-}" ] || { echo "$HELMREL_TOOLS_FETCHER"; return; }
  for name in curl wget cargo; do
    command -v "$name" >/dev/null && { echo "$name"; return; }
  done
}

# get URL FILE: a download with a bound on each wait. Fails when there is no route, at once.
get() {
  case "$1" in file://*) cp -- "${1#file://}" "$2"; return ;; esac
  case "$(fetcher)" in
    curl) curl --fail --silent --show-error --location --connect-timeout 10 --retry 2 --retry-delay 1 \
      --speed-limit 1000 --speed-time 30 --output "$2" "$1" ;;
    wget) wget -q -T 30 -O "$2" "$1" ;;
    cargo)
      [ -n "${announced:-}" ] || say "there is neither curl nor wget; cargo builds what downloads (the first time: some minutes)"
      announced=1
      cargo run --quiet --locked --manifest-path "$ROOT/Cargo.toml" -p chart-source --example download -- "$1" "$2" ;;
    *) say "nothing to download with: there is no curl, wget or cargo"; return 1 ;;
  esac
}

# checked URL SUMURL FILE: download FILE and compare it with the SHA-256 that SUMURL gives for it. The sum's file is
# either the bare sum or lines "SUM NAME".
checked() {
  local url="$1" sum_url="$2" file="$3" name want have
  name="$(basename "$url")"
  get "$sum_url" "$file.sha256" || return 1
  want="$(awk -v n="$name" 'NF == 1 {print $1; exit} {f = $2; sub(/^\*/, "", f); if (f == n) {print $1; exit}}' "$file.sha256")"
  [ "${#want}" = 64 ] || { say "$sum_url has no SHA-256 for $name"; return 1; }
  get "$url" "$file" || return 1
  have="$(sha256sum "$file" | cut -d' ' -f1)"
  [ "$want" = "$have" ] || { say "$url: SHA-256 is $have, published is $want"; return 1; }
}

download() { # GROUP DIR
  local dir="$2" name base
  case "$1" in
    kubernetes-*)
      for name in kube-apiserver kube-controller-manager kubectl; do
        base="$KUBE_URL/v$KUBE_VERSION/bin/$OS/$ARCH/$name"
        checked "$base" "$base.sha256" "$dir/$name" || return 1
      done ;;
    etcd-*)
      name="etcd-v$ETCD_VERSION-$OS-$ARCH"
      checked "$ETCD_URL/v$ETCD_VERSION/$name.tar.gz" "$ETCD_URL/v$ETCD_VERSION/SHA256SUMS" "$dir/a.tgz" || return 1
      tar -xzf "$dir/a.tgz" -C "$dir" --strip-components=1 "$name/etcd" || return 1 ;;
    helm-*)
      name="helm-v${1#helm-}-$OS-$ARCH"
      checked "$HELM_URL/$name.tar.gz" "$HELM_URL/$name.tar.gz.sha256sum" "$dir/a.tgz" || return 1
      tar -xzf "$dir/a.tgz" -C "$dir" --strip-components=1 "$OS-$ARCH/helm" || return 1
      mv "$dir/helm" "$dir/$(members_of "$1")" ;;
    registry-*)
      name="registry_${REGISTRY_VERSION}_${OS}_${ARCH}.tar.gz"
      checked "$REGISTRY_URL/v$REGISTRY_VERSION/$name" "$REGISTRY_URL/v$REGISTRY_VERSION/$name.sha256" "$dir/a.tgz" || return 1
      tar -xzf "$dir/a.tgz" -C "$dir" registry || return 1 ;;
  esac
  rm -f "$dir"/*.tgz "$dir"/*.sha256
  chmod +x "$dir"/*
}

# with_imports DIR PATH...: a tools.go that makes a module's main packages part of `go mod tidy`'s view.
with_imports() {
  local dir="$1"; shift
  { echo "//go:build tools"; echo; echo "package tools"; echo; for p in "$@"; do echo "import _ \"$p\""; done; } >"$dir/tools.go"
}

build() { # GROUP DIR
  local dir="$2" src ld name list
  command -v go >/dev/null || { say "no go to build with"; return 1; }
  src="$dir/src"; mkdir -p "$src"
  export CGO_ENABLED=0 GOFLAGS=-mod=mod GOWORK=off GOTOOLCHAIN=local
  case "$1" in
    kubernetes-*)
      say "building Kubernetes $KUBE_VERSION from the Go module proxy: about 10 minutes on two cores"
      list="$(cd "$src" && printf 'module tools\ngo 1.26\n' >go.mod && go mod download -json "k8s.io/kubernetes@v$KUBE_VERSION" | sed -n 's/^\t"GoMod": "\(.*\)",*$/\1/p')" || return 1
      [ -f "$list" ] || { say "the Go module proxy gave no go.mod for k8s.io/kubernetes"; return 1; }
      {
        printf 'module helmrel.dev/tools/kubernetes\n\ngo 1.26.0\n\ngodebug default=go1.26\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$KUBE_VERSION"
        sed -n 's/^\t*\(replace \)*\(k8s\.io\/[a-z0-9-]*\) => \.\/staging\/.*/\2/p' "$list" | sort -u | while read -r name; do
          printf '\t%s => %s v%s\n' "$name" "$name" "$KUBE_STAGING"
        done
        printf ')\n'
      } >"$src/go.mod"
      with_imports "$src" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl
      name=k8s.io/component-base/version
      ld="-s -w -X $name.gitVersion=v$KUBE_VERSION -X $name.gitMajor=1 -X $name.gitMinor=$(echo "$KUBE_VERSION" | cut -d. -f2) -X $name.gitTreeState=clean"
      (cd "$src" && go mod tidy -e && go build -trimpath -ldflags "$ld" -o "$dir/" \
        k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl) >"$dir/build.log" 2>&1 \
        || { tail -n 20 "$dir/build.log" >&2; return 1; } ;;
    etcd-*)
      say "building etcd $ETCD_VERSION from the Go module proxy: about a minute"
      printf 'module helmrel.dev/tools/etcd\n\ngo 1.26.0\n\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$ETCD_VERSION" >"$src/go.mod"
      with_imports "$src" go.etcd.io/etcd/server/v3
      (cd "$src" && go mod tidy && go build -trimpath -ldflags "-s -w" -o "$dir/etcd" go.etcd.io/etcd/server/v3) >"$dir/build.log" 2>&1 \
        || { tail -n 20 "$dir/build.log" >&2; return 1; } ;;
    helm-*)
      name="${1#helm-}"; ld="helm.sh/helm/v${name%%.*}"
      say "building Helm $name from the Go module proxy: about 4 minutes on two cores"
      (unset GOFLAGS; cd "$src" && GOBIN="$dir" go install -trimpath -ldflags "-s -w -X $ld/internal/version.version=v$name" "$ld/cmd/helm@v$name") >"$dir/build.log" 2>&1 \
        || { tail -n 20 "$dir/build.log" >&2; return 1; }
      mv "$dir/helm" "$dir/$(members_of "$1")" ;;
    registry-*)
      say "building the OCI registry $REGISTRY_VERSION from the Go module proxy: about 2 minutes"
      (unset GOFLAGS; cd "$src" && GOBIN="$dir" go install -trimpath -ldflags "-s -w" "github.com/distribution/distribution/v3/cmd/registry@v$REGISTRY_VERSION") >"$dir/build.log" 2>&1 \
        || { tail -n 20 "$dir/build.log" >&2; return 1; } ;;
  esac
  chmod -R u+w "$src"; rm -rf "$src" "$dir/build.log"
}

# runs DIR NAME: does the program start and say its version? The last check before a folder counts as whole.
runs() {
  case "$2" in
    helm3 | helm4) "$1/$2" version --short ;;
    kubectl) "$1/$2" version --client ;;
    *) "$1/$2" --version ;;
  esac >/dev/null 2>&1
}

whole() { local m; for m in $(members_of "$2"); do [ -x "$1/$m" ] || return 1; done; }

# obtain GROUP: make sure that the cache has this folder, whole.
obtain() {
  local group="$1" how tmp m tried=""
  mkdir -p "$CACHE"
  exec 9>"$CACHE/.$group.lock"; flock 9
  if ! whole "$CACHE/$group" "$group"; then
    rm -rf "$CACHE/$group" "$CACHE/.tmp-$group".*
    for how in download build; do
      skipped $how && { tried="$tried $how(left out)"; continue; }
      tmp="$(mktemp -d "$CACHE/.tmp-$group.XXXXXX")"
      [ $how = download ] && say "downloading $group"
      if $how "$group" "$tmp"; then
        for m in $(members_of "$group"); do
          runs "$tmp" "$m" || { say "$m from $how does not run here"; rm -rf "$tmp"; continue 2; }
        done
        mv -T "$tmp" "$CACHE/$group"; say "$group is in $CACHE"; break
      fi
      rm -rf "$tmp"; tried="$tried $how(failed)"
    done
  fi
  exec 9>&-
  whole "$CACHE/$group" "$group" && return 0
  cat >&2 <<TXT
tools: could not obtain $group ($(members_of "$group")). What was tried:
  1. HELMREL_TOOLS or KUBEBUILDER_ASSETS: ${HELMREL_TOOLS:-unset}, ${KUBEBUILDER_ASSETS:-unset} (a folder with the programs)
  2. the cache: $CACHE/$group
  3. a download of the upstream release (replace the address by HELMREL_{KUBE,ETCD,HELM,REGISTRY}_URL for a mirror)
  4. a build from the Go module proxy (needs go on the PATH)
  outcome:$tried
TXT
  return 1
}

# locate NAME: print where the tool is, obtaining it if need be.
locate() {
  local name="$1" dir group
  group="$(group_of "$name")" || { say "there is no tool '$name'; the tools are: $ALL_TOOLS"; return 1; }
  for dir in "${HELMREL_TOOLS:-}" "${KUBEBUILDER_ASSETS:-}"; do
    [ -n "$dir" ] && [ -x "$dir/$name" ] && { echo "$dir/$name"; return 0; }
  done
  whole "$CACHE/$group" "$group" || obtain "$group" || return 1
  echo "$CACHE/$group/$name"
}

as_env=
[ "${1:-}" = --env ] && { as_env=1; shift; }
case "${1:-}" in -h | --help) sed -n '2,/^set /{s/^# \{0,1\}//;/^set /d;p}' "$0"; exit 0 ;; esac
[ $# -gt 0 ] || set -- $ALL_TOOLS
for name in "$@"; do
  path="$(locate "$name")" || exit 1
  if [ -n "$as_env" ]; then echo "export HELMREL_TOOL_$(echo "$name" | tr a-z- A-Z_)=$path"; else echo "$name $path"; fi
done
