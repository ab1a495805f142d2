#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Xylem beside Open MPI and MPICH: latency, bandwidth, collectives, start, memory, in one run.

  bench/mpi/core.py PREFIX [--quick] [--peers openmpi,mpich] [--only WORD]

PREFIX is where Xylem is installed (or build/release). The same source (core.c) is compiled with each
library's own mpicc and run in turn, A, B, C, A, B, C, ...; each number is the median over the turns,
with the least and the greatest, and the ratio of the better peer to Xylem (above 1: Xylem is
faster). Peers run at their best settings: Open MPI with kernel copies off for two ranks and yielding
when there are more ranks than cores, MPICH over shared memory. A row that a peer cannot do in the
time limit shows a dash.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# what, ranks, goal in seconds, largest number of ranks for the peers
ROWS = [
    ("latency:8", 2, 0.18e-6, 2),
    ("bandwidth:1048576", 2, None, 2),
    ("bandwidth:4194304", 2, None, 2),
    ("barrier", 2, 0.25e-6, 128),
    ("barrier", 64, 6e-6, 128),
    ("barrier", 128, 12e-6, 128),
    ("barrier", 1024, 150e-6, 128),
    ("allreduce:8", 2, 0.35e-6, 64),
    ("allreduce:8", 64, 8e-6, 64),
    ("allreduce:8", 1024, 200e-6, 64),
    ("allreduce:1048576", 2, 90e-6, 64),
    ("allreduce:1048576", 64, 3e-3, 64),
    ("bcast:1048576", 2, 30e-6, 64),
    ("bcast:1048576", 64, 1.4e-3, 64),
    ("alltoall:1024", 2, 0.9e-6, 64),
    ("alltoall:1024", 64, 0.5e-3, 64),
    ("alltoall:1024", 1024, 0.15, 64),
    ("start", 64, 0.03, 64),
    ("start", 256, 0.06, 64),
    ("start", 1024, 0.3, 64),
    ("start", 10000, 5.0, 64),
]


class Library:
    def __init__(self, name, compiler, launcher, environment=None):
        self.name, self.compiler, self.launcher = name, compiler, launcher
        self.environment = dict(os.environ, **(environment or {}))
        self.program = None
        self.options = []  # of the launcher

    def build(self, folder, source=os.path.join(HERE, "core.c")):
        self.program = os.path.join(folder, os.path.basename(source) + "-" + self.name)
        subprocess.run([self.compiler, "-O2", "-o", self.program, source, "-lm"], check=True)

    def command(self, ranks, arguments):
        line = [self.launcher, "-n", str(ranks)]
        if self.name == "openmpi":
            line += ["--allow-run-as-root", "--oversubscribe", "--mca",
                     "btl_vader_single_copy_mechanism", "none" if ranks == 2 else "cma"]
            if ranks > os.cpu_count():
                line += ["--mca", "mpi_yield_when_idle", "1", "--bind-to", "none"]
        elif self.name == "xylem-one-core":
            line += ["--cores", "0"]
        return line + self.options + [self.program] + arguments

    def run(self, ranks, arguments, limit):
        begin = time.perf_counter()
        try:
            out = subprocess.run(self.command(ranks, arguments), env=self.environment, check=True,
                                 capture_output=True, text=True, timeout=limit).stdout
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return None, None
        return time.perf_counter() - begin, dict(
            (w, float(s)) for w, s in (line.split() for line in out.splitlines()))


def peers(names):
    found = []
    for name, compiler, launcher, environment in (
            ("openmpi", "mpicc.openmpi", "mpirun.openmpi", {}),
            ("mpich", "mpicc.mpich", "mpiexec.mpich", {"UCX_TLS": "posix,sysv,self"})):
        if name in names and shutil.which(compiler) and shutil.which(launcher):
            found.append(Library(name, compiler, launcher, environment))
        elif name in names:
            print(f"# {name} is not installed: left out")
    return found


def arguments(doc):
    """What programs that compare libraries are told."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--only", default="")
    return parser


def xylem_and_peers(options):
    """Xylem first."""
    folder = os.path.join(options.prefix, "bin")
    return [Library("xylem", os.path.join(folder, "mpicc"), os.path.join(folder, "mpiexec")),
            *peers(options.peers.split(","))]


def quiet():
    """Run above other sessions' work where we may, and say how busy the machine is."""
    try:
        os.setsid()
    except OSError:
        pass
    try:
        with open("/proc/self/autogroup", "w") as f:
            f.write("-20")
    except OSError:
        pass
    load = open("/proc/loadavg").read().split()[0]
    print(f"# {os.cpu_count()} PUs, load average {load} at the beginning")


def floor(folder):
    """What two bare threads can do: {"line": seconds, "copies": seconds} (see floor.c)."""
    if len(os.sched_getaffinity(0)) < 2:
        return {}
    program = os.path.join(folder, "floor")
    if not os.path.exists(program):
        subprocess.run(["cc", "-O2", "-pthread", "-o", program, os.path.join(HERE, "floor.c")],
                       check=True)
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {w: float(s) for w, s in (line.split() for line in out.splitlines())}


def print_floor(samples):
    for what, words in (("line", "one cache line from core to core (goals between two cores are for "
                                 "0.09 us)"),
                        ("copies", "1 MiB to 63 places by two bare threads (what bcast to 64 does)")):
        values = [s[what] for s in samples if what in s]
        if values:
            print(f"{words}: {text(statistics.median(values))} "
                  f"({text(min(values))} .. {text(max(values))})")


def text(seconds):
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def measure(libraries, what, ranks, peer_ranks, turns, how):
    """{library: median seconds (least: the least), or None}"""
    found = {library.name: [] for library in libraries}
    for turn in range(turns):
        for library in libraries:
            is_peer = library.name != "xylem"
            # A peer with more ranks than cores takes long: once is enough to see by how much.
            if is_peer and (ranks > peer_ranks or (ranks > os.cpu_count() and turn > 0)):
                continue
            _, values = library.run(ranks, [what, *how], 60 if is_peer else 120)
            if values:
                found[library.name].append(values[what])
    choose = min if "--least" in how else statistics.median
    return {name: choose(values) if values else None for name, values in found.items()}


def print_head(libraries):
    print(f"{'what':<22} {'ranks':>6} " + "".join(f"{library.name:>12}" for library in libraries)
          + f" {'ratio':>10}")


def print_row(libraries, what, ranks, medians):
    own = medians["xylem"]
    others = [m for name, m in medians.items() if name != "xylem" and m]
    ratio = f"{min(others) / own:.2f} x" if others and own else "-"
    cells = "".join(f"{text(medians[library.name]):>12}" for library in libraries)
    print(f"{what:<22} {ranks:>6} {cells} {ratio:>10}", flush=True)


def row_of(libraries, what, ranks, goal, peer_ranks, turns, seconds):
    samples = {lib.name: [] for lib in libraries}
    extra = {lib.name: [] for lib in libraries}
    for turn in range(turns):
        for lib in libraries:
            is_peer = not lib.name.startswith("xylem")
            # A peer with more ranks than cores takes up to a minute: once is enough to see by how much.
            if is_peer and (ranks > peer_ranks or (ranks > 2 and turn > 0)):
                continue
            wall, values = lib.run(ranks, [what, "--seconds", str(seconds)],
                                   120 if lib.name.startswith("xylem") else 60)
            if wall is None:
                continue
            samples[lib.name].append(wall if what == "start" else values[what])
            for key, value in values.items():
                if key.startswith("memcpy"):
                    extra[lib.name].append(value)
    medians = {n: statistics.median(v) if v else None for n, v in samples.items()}
    own = medians["xylem"]
    cells = []
    for lib in libraries:
        v = samples[lib.name]
        cells.append(f"{text(medians[lib.name]):>9}" +
                     (f" ({text(min(v))} .. {text(max(v))})" if len(v) > 1 else ""))
    others = [m for n, m in medians.items() if not n.startswith("xylem") and m]
    ratio = f"{min(others) / own:.2f} x" if others and own else "-"
    note = f"goal {text(goal)}" if goal else ""
    if extra["xylem"]:
        size = int(what.split(":")[1])
        copy = statistics.median(extra["xylem"])
        note = f"{size / own / 1e9:.1f} GB/s, memcpy {size / copy / 1e9:.1f} GB/s"
    print(f"{what:<20} {ranks:>6}  " + "  ".join(f"{c:<34}" for c in cells) + f" {ratio:>9}  {note}",
          flush=True)


def memory(library):
    """KiB of resident memory per rank: a thousand ranks against one hundred."""
    use = []
    for ranks in (100, 1100):
        pid = os.fork()
        if pid == 0:
            os.execvpe(library.command(ranks, ["start"])[0], library.command(ranks, ["start"]),
                       library.environment)
        _, _, usage = os.wait4(pid, 0)
        use.append(usage.ru_maxrss)
    print(f"memory per rank: {(use[1] - use[0]) / 1000:.1f} KiB (peak, between 100 and 1100 ranks)")


def main():
    options = arguments(__doc__).parse_args()
    turns, seconds = (1, 0.05) if options.quick else (5, 0.3)
    libraries = xylem_and_peers(options)
    xylem = libraries[0]
    one = Library("xylem-one-core", xylem.compiler, xylem.launcher)
    quiet()
    with tempfile.TemporaryDirectory() as folder:
        for library in libraries + [one]:
            library.build(folder)
        print(f"{'what':<20} {'ranks':>6}  " + "  ".join(f"{l.name:<34}" for l in libraries) +
              f" {'ratio':>9}")
        floors = [floor(folder)]
        for what, ranks, goal, peer_ranks in ROWS:
            if options.only and options.only not in what:
                continue
            if options.quick and ranks > 64 and what != "barrier":
                continue
            peer_limit = min(peer_ranks, 2) if options.quick else peer_ranks
            row_of(libraries, what, ranks, goal, peer_limit, turns, seconds)
        if not options.only or options.only in "latency":
            values = [one.run(2, ["latency:8", "--seconds", str(seconds)], 60)[1]["latency:8"]
                      for _ in range(turns)]
            print(f"latency:8, both ranks on one core: {text(statistics.median(values))}, "
                  f"goal 0.1 us")
        floors += [floor(folder), floor(folder)]
        print_floor(floors)
        memory(xylem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
