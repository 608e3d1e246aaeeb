#!/usr/bin/env python3
"""bench-helm.py: `helmrel template` beside `helm template`, case by case, in one run.

    hack/bench-helm.py HELMREL HELM CORPUS [--runs N] [--only TEXT] [--out FILE]

CORPUS is a folder with charts/, values/ and golden-4.3/cases.tsv (case, chart, values file or `-`, exit code, ...); a
folder of charts does too. Measured are CPU seconds (user and system) and peak memory of each process; of several runs the
best counts. Cases whose output holds keys, certificates or bcrypt hashes are listed apart: their time is that of finding
random primes.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys

SECRETS = (b"-----BEGIN", b"LS0tLS1CRUdJTi", b"$2a$", b"JDJhJ")


def cases(corpus):
    table = corpus / "golden-4.3" / "cases.tsv"
    if not table.exists():
        for chart in sorted(corpus.iterdir()):
            if chart.suffix == ".tgz" or (chart / "Chart.yaml").exists():
                yield chart.name, chart, None
        return
    for line in table.read_text().splitlines()[1:]:
        case, chart, values = line.split("\t")[:3]
        # Whatever form the table has: only what is there counts.
        chart = corpus / "charts" / pathlib.Path(chart).name
        values = None if values == "-" else corpus / "values" / pathlib.Path(values).name
        if chart.exists():
            yield case, chart, values


def run(program, chart, values):
    """CPU seconds, peak memory in KiB, output of one run."""
    command = [program, "template", "myrel", chart, "-n", "myns", "--include-crds", "--kube-version", "1.35.0"]
    if values:
        command += ["-f", values]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    output = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, output


def best(program, chart, values, runs):
    measured = [run(program, chart, values) for _ in range(runs)]
    return min(m[0] for m in measured), min(m[1] for m in measured), measured[0][2]


def summary(title, rows):
    ours, theirs = sum(r[1] for r in rows), sum(r[2] for r in rows)
    memory = statistics.median(r[4] / r[3] for r in rows)
    slower = [r[0] for r in rows if r[1] > r[2]]
    print(f"{title}: {len(rows)} cases, CPU {theirs:.2f} s (helm), {ours:.2f} s (helmrel): 1/{theirs / ours:.1f}; "
          f"median of peak memory 1/{memory:.1f}; slower than helm: {', '.join(slower) or 'none'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helmrel")
    parser.add_argument("helm")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    options = parser.parse_args()
    plain, secret = [], []
    for case, chart, values in cases(options.corpus):
        if options.only not in case:
            continue
        cpu, memory, output = best(options.helmrel, chart, values, options.runs)
        helm_cpu, helm_memory, _ = best(options.helm, chart, values, max(1, options.runs // 2))
        makes_keys = any(mark in output for mark in SECRETS)
        (secret if makes_keys else plain).append((case, cpu, helm_cpu, memory, helm_memory))
        print(f"{case}\t{helm_cpu * 1000:.0f} ms\t{cpu * 1000:.1f} ms\t1/{helm_cpu / max(cpu, 1e-4):.1f}\t"
              f"{helm_memory // 1024} MiB\t{memory / 1024:.1f} MiB", file=sys.stderr)
    if options.out:
        with open(options.out, "w") as out:
            for row in plain + secret:
                out.write("\t".join(str(v) for v in row) + "\n")
    if plain:
        summary("rendering", plain)
    if secret:
        summary("with keys, certificates or hashes", secret)


main()
