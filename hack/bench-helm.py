#!/usr/bin/env python3
"""bench-helm.py: `helmrel template` beside `helm template`, case by case, in one run.

    hack/bench-helm.py HELMREL HELM CORPUS [--runs N] [--only TEXT] [--out FILE]

CORPUS is a folder with charts/, values/ and golden-4.3/cases.tsv (case, chart, values file or `-`, exit code, ...); a
folder of charts does too. Measured are CPU seconds (user and system) of each process, of several runs the best, and its
peak memory, in a run of its own below /usr/bin/time: a child of Python would count Python's. Cases that make keys,
certificates or bcrypt hashes are listed apart: their time is that of finding random primes.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile

MAKERS = re.compile(rb"\b(genCA|genSelfSignedCert|genSignedCert|genPrivateKey|htpasswd|bcrypt|derivePassword)")


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


def arguments(chart, values):
    command = ["template", "myrel", chart, "-n", "myns", "--include-crds", "--kube-version", "1.35.0"]
    return command + ["-f", values] if values else command


def run(program, chart, values):
    """CPU seconds and output of one run."""
    process = subprocess.Popen([program, *arguments(chart, values)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, output


def memory(program, chart, values):
    """Peak memory in KiB."""
    command = ["/usr/bin/time", "-f", "%M", program, *arguments(chart, values)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(done.stderr.split()[-1])


def measure(program, chart, values, runs):
    measured = [run(program, chart, values) for _ in range(runs)]
    return min(m[0] for m in measured), memory(program, chart, values), {m[1] for m in measured}


def may_make_keys(chart, known={}):
    """Does a template of the chart call a function that makes keys or hashes?"""
    if chart not in known:
        texts = []
        if chart.is_dir():
            texts = [f.read_bytes() for f in chart.rglob("*") if f.is_file()]
        else:
            with tarfile.open(chart) as archive:
                texts = [archive.extractfile(m).read() for m in archive if m.isfile() and "templates/" in m.name]
        known[chart] = any(MAKERS.search(text) for text in texts)
    return known[chart]


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
    if not os.access("/usr/bin/time", os.X_OK):
        sys.exit("bench-helm: there is no /usr/bin/time to measure memory with; on Debian and Ubuntu: apt-get install time")
    plain, secret = [], []
    for case, chart, values in cases(options.corpus):
        if options.only not in case:
            continue
        cpu, peak, outputs = measure(options.helmrel, chart, values, max(2, options.runs))
        helm_cpu, helm_peak, _ = measure(options.helm, chart, values, max(1, options.runs // 2))
        # Templates that could, and output that is another one in each run.
        makes_keys = len(outputs) > 1 and may_make_keys(chart)
        (secret if makes_keys else plain).append((case, cpu, helm_cpu, peak, helm_peak))
        print(f"{case}\t{helm_cpu * 1000:.0f} ms\t{cpu * 1000:.1f} ms\t1/{helm_cpu / max(cpu, 1e-4):.1f}\t"
              f"{helm_peak // 1024} MiB\t{peak / 1024:.1f} MiB", file=sys.stderr)
    if options.out:
        with open(options.out, "w") as out:
            for row in plain + secret:
                out.write("\t".join(str(v) for v in row) + "\n")
    if plain:
        summary("rendering", plain)
    if secret:
        summary("with keys, certificates or hashes", secret)


main()
