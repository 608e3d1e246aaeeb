#!/usr/bin/env python3
"""bench-helm.py: `helmrel template` beside `helm template`, case by case, in one run.

    hack/bench-helm.py HELMREL HELM CORPUS [--runs N] [--only TEXT] [--out FILE] [--again PROGRAM]

CORPUS is a folder with charts/, values/ and golden-4.3/cases.tsv (case, chart, values file or `-`, exit code, ...); a
folder of charts does too. Measured are CPU seconds (user and system) of each process, of several runs the best, and its
peak memory, in a run of its own below /usr/bin/time: a child of Python would count Python's. Cases that make keys,
certificates or bcrypt hashes are listed apart: their time is that of finding random primes. Which these are is found out
by rendering a copy of the chart in which every such function is one that fails.

--again is the program crates/helm/examples/again: it renders a chart many times in one process, each time with other
values, as the controller does. Done for a few charts of the corpus.
"""
import argparse
import io
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile

SAMPLES = ("podinfo", "grafana", "ingress-nginx", "cert-manager", "argo-cd", "kube-prometheus-stack")
MAKERS = re.compile(rb"\b(genCAWithKey|genSelfSignedCertWithKey|genSignedCertWithKey|genCA|genSelfSignedCert|genSignedCert|genPrivateKey|htpasswd|bcrypt|derivePassword)")


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
    """CPU seconds of one run."""
    process = subprocess.Popen([program, *arguments(chart, values)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def memory(program, chart, values):
    """Peak memory in KiB."""
    command = ["/usr/bin/time", "-f", "%M", program, *arguments(chart, values)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(done.stderr.split()[-1])


def measure(program, chart, values, runs):
    measured = [run(program, chart, values) for _ in range(runs)]
    return min(measured), memory(program, chart, values)


def without_makers(chart, folder, known={}):
    """A copy of the chart in which functions that make keys or hashes fail; None if it has none."""
    if chart not in known:
        copy = None
        if chart.is_file():
            with tarfile.open(chart) as archive:
                files = [(m, archive.extractfile(m).read()) for m in archive if m.isfile()]
            texts = [MAKERS.sub(b"fail", text) if "templates/" in m.name else text for m, text in files]
            if texts != [text for _, text in files]:
                copy = pathlib.Path(folder) / chart.name
                with tarfile.open(copy, "w:gz", compresslevel=1) as archive:
                    for (member, _), text in zip(files, texts):
                        member.size = len(text)
                        archive.addfile(member, io.BytesIO(text))
        known[chart] = copy
    return known[chart]


def makes_keys(program, chart, values, folder):
    """Does rendering call a function that makes keys or hashes?"""
    copy = without_makers(chart, folder)
    if copy is None:
        return False
    command = [program, *arguments(copy, values)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return b"for fail" in done.stderr or b"calling fail" in done.stderr or b"<fail" in done.stderr


def once_more(again, helm, corpus, count):
    """Renders in one process, beside a run of Helm."""
    for case, chart, values in cases(corpus):
        name = case.split(".")[0]
        if case.split(".")[-1] != "default" or name not in SAMPLES:
            continue
        done = subprocess.run([again, chart, str(count), *([values] if values else [])], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"again {name}: {done.stderr.strip()}")
            continue
        first, later, early, late = (int(n) for n in done.stdout.split())
        theirs = min(run(helm, chart, values) for _ in range(3)) * 1e6
        print(f"again {name}: {first / 1000:.1f} ms first, {later / 1000:.2f} ms each of {count} later ones: 1/{theirs / later:.0f} "
              f"of helm's {theirs / 1000:.0f} ms; memory {early // 1024} MiB after a tenth, {late // 1024} MiB at most")


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
    parser.add_argument("--again")
    parser.add_argument("--count", type=int, default=10000)
    options = parser.parse_args()
    if not os.access("/usr/bin/time", os.X_OK):
        sys.exit("bench-helm: there is no /usr/bin/time to measure memory with; on Debian and Ubuntu: apt-get install time")
    plain, secret = [], []
    with tempfile.TemporaryDirectory() as folder:
        for case, chart, values in cases(options.corpus):
            if options.only not in case:
                continue
            cpu, peak = measure(options.helmrel, chart, values, max(2, options.runs))
            helm_cpu, helm_peak = measure(options.helm, chart, values, max(1, options.runs // 2))
            (secret if makes_keys(options.helmrel, chart, values, folder) else plain).append((case, cpu, helm_cpu, peak, helm_peak))
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
    if options.again:
        once_more(options.again, options.helm, options.corpus, options.count)


main()
