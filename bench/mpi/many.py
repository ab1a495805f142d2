#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a process with many cores may do worse than one process per rank, beside Open MPI.

  bench/mpi/many.py PREFIX [--quick] [--ranks N] [--only WORD]

PREFIX is where Xylem is installed (or build/release). There is one rank per core, 16 at most, unless
--ranks says otherwise. The same source (many.c) is compiled with each library's own mpicc and run in
turn; each number is the median over the turns, and the last column is Xylem's divided by Open MPI's
(below 1: Xylem is faster, or keeps less). Made for machines of 16 cores or more: with fewer the rows
that concern many cores show little.
"""
import argparse
import os
import statistics
import sys
import tempfile

from core import HERE, Library, peers, quiet, text

# what, arguments of mpiexec, values besides its own that it prints (with their unit; "" is seconds)
ROWS = [
    ("heap:256", [], {".first": "", ".cpu": "", ".later": "", ".kept": "MiB"}),
    ("step", [], {"": "", ".faults": "per 1000", ".switches": "per 1000"}),
    ("uneven:300", [], {"": "", ".sleeps": "per 1000"}),
    ("barrier", [], {"": ""}),
    ("ibarrier", [], {"": ""}),
    ("ibarrier", ["--comm-cores", "1"], {"": ""}),
    ("bcast:8", [], {"": ""}),
    ("reduce:8", [], {"": ""}),
    ("gather:8", [], {"": ""}),
    ("scatter:8", [], {"": ""}),
    ("gatherv:1", [], {"": ""}),
    ("gatherv:16", [], {"": ""}),
    ("gatherv:256", [], {"": ""}),
    ("reduce_scatter:16384", [], {"": ""}),
    ("reduce_scatter:65536", [], {"": ""}),
    ("reduce_scatter:131072", [], {"": ""}),
    ("reduce_scatter:262144", [], {"": ""}),
    ("reduce_scatter:1048576", [], {"": ""}),
]


def values_of(libraries, what, options, ranks, turns, seconds):
    """{library: {name of the value: [one per turn]}}"""
    found = {library.name: {} for library in libraries}
    for _ in range(turns):
        for library in libraries:
            arguments = [what, "--seconds", str(seconds)]
            library.options = options if library.name == "xylem" else []
            _, values = library.run(ranks, arguments, 120)
            for name, value in (values or {}).items():
                found[library.name].setdefault(name, []).append(value)
    return found


def shown(values, unit):
    if not values:
        return "-"
    middle = statistics.median(values)
    return text(middle) if unit == "" else f"{middle:.1f} {unit}"


def print_row(libraries, found, what, options, units):
    for part, unit in units.items():
        own, other = (found[library.name].get(what + part) for library in (libraries + libraries)[:2])
        ratio = "-"
        if len(libraries) > 1 and own and other and statistics.median(other) > 0:
            ratio = f"{statistics.median(own) / statistics.median(other):.2f}"
        name = what + part + "".join(" " + option for option in options)
        print(f"{name:<32} {shown(own, unit):>18} "
              f"{shown(other, unit) if len(libraries) > 1 else '-':>18} {ratio:>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ranks", type=int, default=min(16, len(os.sched_getaffinity(0))))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    turns, seconds = (1, 0.05) if options.quick else (5, 0.3)
    folder = os.path.join(options.prefix, "bin")
    libraries = [Library("xylem", os.path.join(folder, "mpicc"), os.path.join(folder, "mpiexec"))]
    libraries += peers(["openmpi"])
    quiet()
    print(f"# {options.ranks} ranks on {len(os.sched_getaffinity(0))} cores")
    with tempfile.TemporaryDirectory() as place:
        for library in libraries:
            library.build(place, os.path.join(HERE, "many.c"))
        print(f"{'what':<32} {'xylem':>18} {'openmpi':>18} {'ratio':>8}")
        for what, arguments, units in ROWS:
            if options.only in what:
                found = values_of(libraries, what, arguments, options.ranks, turns, seconds)
                print_row(libraries, found, what, arguments, units)
    return 0


if __name__ == "__main__":
    sys.exit(main())
