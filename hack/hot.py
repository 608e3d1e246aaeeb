#!/usr/bin/env python3
"""hot.py: which functions `helmrel template` calls, as a linker script that puts them beside each other.

    hack/hot.py HELMREL CORPUS > hot.ld

HELMREL is a release binary with its symbols, built with CARGO_PROFILE_RELEASE_STRIP=false and HELMREL_WITHOUT_HOT=1. Renders some charts of the corpus under
valgrind's callgrind, and lists what was called in at least two of them, what all of them call first. The hash at the end of
a name is left out, so that the file outlives changes of the code and of the compiler, but where it alone tells many
functions apart; a name that is gone does no harm.
"""

import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = """podinfo.default cert-manager.default argo-cd.default kube-prometheus-stack.default loki.default cilium.default
traefik.default kyverno.default nova.gateway jh-gitlab.default kafka.default redis.default airflow.default
k8s-monitoring.exclude-by-namespace mariadb.netpol external-secrets.default longhorn.default""".split()
HASH = re.compile(r"17h[0-9a-f]{16}E(\.llvm\.\d+)?$")


def called(helmrel, arguments):
    """The functions of the binary that a run calls, in the order of callgrind's file."""
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as out:
        command = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={out.name}", helmrel, *arguments]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        objects, functions, current, found = {}, {}, "", {}
        for line in pathlib.Path(out.name).read_text(errors="replace").splitlines():
            entry = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line)
            if not entry:
                continue
            callee, kind, number, name = entry.groups()
            names = objects if kind == "ob" else functions
            if name:
                names[number] = name
            if kind == "ob" and not callee:
                current = names.get(number, "")
            elif kind == "fn" and not callee and pathlib.Path(current).name == pathlib.Path(helmrel).name:
                # A number behind the name tells levels of recursion apart.
                found[re.sub(r"'\d+$", "", names[number])] = True
    return list(found)


def pattern(name):
    """The name without what changes from build to build."""
    name = re.sub(r"\.llvm\.\d+$", "*", HASH.sub("17h*", name))
    return re.sub(r"Cs[0-9A-Za-z]{8,13}_", "Cs*_", name)


def main():
    helmrel, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    runs = []
    for line in (corpus / "golden-4.3" / "cases.tsv").read_text().splitlines():
        name, chart, values, *_ = line.split("\t")
        if name in CASES:
            extra = [] if values == "-" else ["-f", str(corpus / "values" / pathlib.Path(values).name)]
            chart = str(corpus / "charts" / pathlib.Path(chart).name)
            runs.append(["template", "myrel", chart, "--include-crds", "--kube-version", "1.35.0", *extra])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda arguments: called(helmrel, arguments), runs))
    times = collections.Counter(name for names in results for name in names)
    symbols = subprocess.run(["nm", helmrel], capture_output=True, text=True, check=True).stdout.splitlines()
    alike = collections.Counter(pattern(line.split()[-1]) for line in symbols if line.split()[-2] in "tTwW")
    lines = {}
    for name, count in times.most_common():
        if count < 2:
            continue
        line = pattern(name) if alike[pattern(name)] <= 4 else re.sub(r"\.llvm\.\d+$", "*", name)
        if re.fullmatch(r"[A-Za-z0-9_.$*]+", line):
            lines[line] = True
    print("/* The functions that `helmrel template` calls, beside each other: made by hack/hot.py, see docs/decisions/0007. */")
    print("SECTIONS\n{\n  .text.hot :\n  {")
    for line in lines:
        print(f"    *(.text.{line})")
    print("  }\n}\nINSERT BEFORE .text;")
    print(f"hot.py: {len(lines)} functions of {len(runs)} runs", file=sys.stderr)


if __name__ == "__main__":
    main()
