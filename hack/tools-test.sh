#!/usr/bin/env bash
# hack/tools-test.sh: does the download path of hack/tools.sh keep its promises? Needs no network: the "releases" are
# small scripts behind file:// addresses (and behind a local HTTP server, where python3 is present).
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

version() { sed -n "s/^$1=//p" "$here/tools.sh"; }
KUBE="$(version KUBE_VERSION)" ETCD="$(version ETCD_VERSION)" HELM4="$(version HELM4_VERSION)" REGISTRY="$(version REGISTRY_VERSION)"
case "$(uname -m)" in x86_64) ARCH=amd64 ;; *) ARCH=arm64 ;; esac

fails=0
ok() { echo "ok   $*"; }
bad() { echo "FAIL $*"; sed 's/^/     | /' "$work/out" "$work/err"; fails=$((fails + 1)); }

# tools ARG...: run tools.sh with a cache of its own, downloads only, and no folder of the caller's.
tools() {
  env -u HELMREL_TOOLS -u KUBEBUILDER_ASSETS XDG_CACHE_HOME="$work/cache" HELMREL_TOOLS_SKIP="${SKIP-build}" \
    HELMREL_KUBE_URL="$base/kube" HELMREL_ETCD_URL="$base/etcd" HELMREL_HELM_URL="$base/helm" \
    HELMREL_REGISTRY_URL="$base/registry" "$here/tools.sh" "$@" >"$work/out" 2>"$work/err"
}
fresh() { rm -rf "$work/cache"; }
empty() { ! find "$work/cache" -type f ! -name '.*.lock' 2>/dev/null | grep -q .; }

# program FILE: something that starts and takes any arguments.
program() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\necho fake\n' >"$1"; chmod +x "$1"; }
sum() { sha256sum "$1" | cut -d' ' -f1; }

# The releases, laid out as their publishers do.
release="$work/release"
for name in kube-apiserver kube-controller-manager kubectl; do
  file="$release/kube/v$KUBE/bin/linux/$ARCH/$name"
  program "$file"; sum "$file" >"$file.sha256"
done
name="etcd-v$ETCD-linux-$ARCH"
program "$work/$name/etcd"; mkdir -p "$release/etcd/v$ETCD"
tar -czf "$release/etcd/v$ETCD/$name.tar.gz" -C "$work" "$name"
(cd "$release/etcd/v$ETCD" && echo "0000 other.tar.gz" >SHA256SUMS && sha256sum "$name.tar.gz" >>SHA256SUMS)
for v in "$HELM4" "$(version HELM3_VERSION)"; do
  name="helm-v$v-linux-$ARCH.tar.gz"
  program "$work/linux-$ARCH/helm"; mkdir -p "$release/helm"
  tar -czf "$release/helm/$name" -C "$work" "linux-$ARCH/helm"
  (cd "$release/helm" && sha256sum "$name" >"$name.sha256sum")
done
name="registry_${REGISTRY}_linux_$ARCH.tar.gz"
program "$work/registry"; mkdir -p "$release/registry/v$REGISTRY"
tar -czf "$release/registry/v$REGISTRY/$name" -C "$work" registry
(cd "$release/registry/v$REGISTRY" && sha256sum "$name" >"$name.sha256")

base="file://$release"

fresh
if tools && [ "$(wc -l <"$work/out")" = 7 ] && while read -r _ path; do "$path" >/dev/null || exit 1; done <"$work/out"; then
  ok "every tool is downloaded, checked and runs"
else bad "every tool is downloaded, checked and runs"; fi

mv "$release" "$work/away"
if tools helm4 etcd; then ok "what is in the cache is not downloaded again"; else bad "what is in the cache is not downloaded again"; fi
mv "$work/away" "$release"

fresh
file="$release/helm/helm-v$HELM4-linux-$ARCH.tar.gz"
cp "$file" "$work/good"; echo tampered >>"$file"
if ! tools helm4 && grep -q "SHA-256 is .*, published is " "$work/err" && empty; then ok "a wrong checksum is refused"
else bad "a wrong checksum is refused"; fi
cp "$work/good" "$file"

fresh
mv "$file.sha256sum" "$work/sum"; echo "<html>not found</html>" >"$file.sha256sum"
if ! tools helm4 && grep -q "has no SHA-256 for" "$work/err" && empty; then ok "a page in place of the checksum is refused"
else bad "a page in place of the checksum is refused"; fi
rm "$file.sha256sum"
if ! tools helm4 && empty; then ok "a release without a checksum is refused"; else bad "a release without a checksum is refused"; fi
mv "$work/sum" "$file.sha256sum"

fresh
file="$release/kube/v$KUBE/bin/linux/$ARCH/kubectl"
cp "$file" "$work/good"; printf '#!/no/such/interpreter\n' >"$file"; cp "$file.sha256" "$work/sum"; sum "$file" >"$file.sha256"
if ! tools kubectl && grep -q "kubectl from download does not run here" "$work/err" && empty; then ok "a program that does not run is not kept"
else bad "a program that does not run is not kept"; fi
cp "$work/good" "$file"; cp "$work/sum" "$file.sha256"

# An interruption in the middle: the third program of a group never comes, and the script is killed while it waits.
fresh
mv "$file" "$work/good"; mkfifo "$file"
tools kube-apiserver &
pid=$!
for _ in $(seq 100); do ls "$work"/cache/helmrel/tools/.tmp-kubernetes-*/kube-controller-manager >/dev/null 2>&1 && break; sleep 0.1; done
if [ -d "$work/cache/helmrel/tools/kubernetes-$KUBE" ]; then bad "nothing counts as whole while it is on its way"
else ok "nothing counts as whole while it is on its way"; fi
# The job is a subshell; its children are tools.sh and the copying that waits.
children() { local c; for c in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do children "$c"; echo "$c"; done; }
kill -9 $(children "$pid") "$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
rm "$file"; mv "$work/good" "$file"
if [ ! -e "$work/cache/helmrel/tools/kubernetes-$KUBE" ] && tools kube-apiserver kubectl \
  && ! ls -d "$work"/cache/helmrel/tools/.tmp-* >/dev/null 2>&1; then ok "an interrupted run leaves nothing that counts, and the next one succeeds"
else bad "an interrupted run leaves nothing that counts, and the next one succeeds"; fi

fresh
base="file://$work/nowhere"
if ! SKIP=download,build tools registry && grep -q "HELMREL_TOOLS or KUBEBUILDER_ASSETS" "$work/err" && grep -q "the cache: $work/cache" "$work/err" \
  && grep -q "a download of the upstream release" "$work/err" && grep -q "a build from the Go module proxy" "$work/err" \
  && grep -q "outcome: download(left out) build(left out)" "$work/err"; then ok "the error names all four sources and what became of them"
else bad "the error names all four sources and what became of them"; fi
if ! tools registry && grep -q "outcome: download(failed) build(left out)" "$work/err"; then ok "a download without a route fails at once and says so"
else bad "a download without a route fails at once and says so"; fi

program "$work/mine/etcd"
if HELMREL_MINE="$work/mine" env XDG_CACHE_HOME="$work/none" HELMREL_TOOLS="$work/mine" HELMREL_TOOLS_SKIP=download,build "$here/tools.sh" etcd >"$work/out" 2>"$work/err" \
  && [ "$(cat "$work/out")" = "etcd $work/mine/etcd" ]; then ok "a folder of one's own comes first"
else bad "a folder of one's own comes first"; fi

if tools nonsense; then bad "an unknown tool is an error"; elif grep -q "there is no tool 'nonsense'" "$work/err"; then ok "an unknown tool is an error"
else bad "an unknown tool is an error"; fi

if command -v python3 >/dev/null; then
  port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
  python3 -m http.server --bind 127.0.0.1 --directory "$release" "$port" >/dev/null 2>&1 &
  server=$!
  base="http://127.0.0.1:$port"
  for _ in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
  export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
  for fetcher in curl wget cargo; do
    command -v "$fetcher" >/dev/null || { echo "skip over HTTP with $fetcher: it is not here"; continue; }
    export HELMREL_TOOLS_FETCHER="$fetcher"
    fresh
    if tools etcd helm3; then ok "over HTTP with $fetcher"; else bad "over HTTP with $fetcher"; fi
    mv "$release/helm" "$release/gone"
    if ! tools helm4 && [ ! -e "$work/cache/helmrel/tools/helm-$HELM4" ]; then ok "404 is no program for $fetcher"
    else bad "404 is no program for $fetcher"; fi
    mv "$release/gone" "$release/helm"
  done
fi

[ "$fails" = 0 ] || { echo "$fails failed"; exit 1; }
