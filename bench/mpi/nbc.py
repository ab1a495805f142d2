#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overlap of nonblocking collectives: Xylem with one communication core beside Open MPI and MPICH.

  bench/mpi/nbc.py PREFIX [--quick] [--ranks 8] [--size 262144,1048576,4194304] [--factor 1]

The same source (nbc.c) runs under each library in turn, the same ranks on the same cores: all but
one of Xylem's cores have ranks, one communicates. Medians over the turns; t_ovrl of Xylem against
the better of the others (below 1: Xylem is faster).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from core import Library, peers, quiet, text

HERE = os.path.dirname(os.path.abspath(__file__))


def run(library, ranks, arguments, extra):
    line = library.command(ranks, arguments)
    try:
        out = subprocess.run(line[:1] + extra + line[1:], env=library.environment, check=True,
                             capture_output=True, text=True, timeout=300).stdout
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return {}
    rows = [json.loads(l) for l in out.splitlines() if l.startswith("{")]
    return {(r["collective"], r["bytes"]): r for r in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--size", default="262144,1048576,4194304")
    parser.add_argument("--factor", default="1")
    parser.add_argument("--peers", default="openmpi,mpich")
    options = parser.parse_args()
    turns, repetitions = (1, 3) if options.quick else (3, 15)
    if options.quick:
        options.size = "262144"
    bin_ = os.path.join(options.prefix, "bin")
    xylem = Library("xylem", os.path.join(bin_, "mpicc"), os.path.join(bin_, "mpiexec"))
    libraries = [xylem] + peers(options.peers.split(","))
    quiet()
    arguments = ["--json", "--size", options.size, "--repetitions", str(repetitions), "--factor",
                 options.factor]
    samples = {}
    with tempfile.TemporaryDirectory() as folder:
        for library in libraries:
            library.program = os.path.join(folder, "nbc-" + library.name)
            subprocess.run([library.compiler, "-O2", "-o", library.program,
                            os.path.join(HERE, "nbc.c"), "-lm"], check=True)
        for _ in range(turns):
            for library in libraries:
                extra = ["--comm-cores", "1"] if library is xylem else []
                for key, row in run(library, options.ranks, arguments, extra).items():
                    samples.setdefault(key, {}).setdefault(library.name, []).append(row)
    print(f"{'collective':<22} {'bytes':>8} {'t_comm':>10} {'t_comp':>10} {'t_ovrl':>10} "
          f"{'overlap':>8}   t_ovrl of " + ", ".join(l.name for l in libraries[1:]) + ", ratio")
    for (name, size), by_library in samples.items():
        rows = by_library.get("xylem", [])
        if not rows:
            continue
        own = {k: statistics.median(r[k] for r in rows)
               for k in ("t_comm", "t_comp", "t_ovrl", "overlap")}
        wrong = "" if all(r["right"] for r in rows) else "  WRONG"
        others = {n: statistics.median(r["t_ovrl"] for r in v) for n, v in by_library.items()
                  if n != "xylem"}
        ratio = f"{own['t_ovrl'] / min(others.values()):.2f}" if others else "-"
        print(f"{name:<22} {size:>8} {text(own['t_comm']):>10} {text(own['t_comp']):>10} "
              f"{text(own['t_ovrl']):>10} {own['overlap']:>6.0f} %   " +
              ", ".join(text(t) for t in others.values()) + f", {ratio}{wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
