#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One-sided operations beside Open MPI and MPICH, in one run.

  bench/mpi/rma.py PREFIX [--quick | --least] [--peers openmpi,mpich] [--only WORD]

PREFIX is where Xylem is installed (or build/release). The same source (rma.c, which says what each row
is) is compiled with each library's own mpicc and run in turn; each number is the median over the turns,
and the last column is the better peer's divided by Xylem's (above 1: Xylem is faster). `pingpong:8` is to
be compared with the time that a cache line takes from core to core, in the first line. A row that a
peer cannot do in the time limit shows a dash. Open MPI runs without its component osc/rdma, which
crashes in MPI_Compare_and_swap (4.1.4). With --least, each number is the least of many short rounds, for a machine
that does other work, too: rows of two ranks that do not wait for each other.
"""
import argparse
import os
import statistics
import sys
import tempfile

from core import HERE, Library, floor, peers, print_floor, quiet, text

CONTENTION = (2, 4, 8, 16, 32, 64)
# what, ranks, largest number of ranks for the peers
ROWS = [(what, 2, 2) for what in ("pingpong:8", "pingpong:4096", "put:8", "put:65536", "put:4194304", "get:8",
                                  "get:65536", "fetch", "compare", "rate:8", "rate:1024", "add:8", "add:65536")]
ROWS += [(what, ranks, CONTENTION[-1]) for what in ("contend", "contend_real", "contend_fetch", "contend_pair")
         for ranks in CONTENTION]
ROWS += [(f"{what}:{size}", ranks, 16) for ranks in (4, 16, 64) for size in (1024, 65536)
         for what in ("halo_send", "halo_fence", "halo_pscw")]


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
    choose = min if how == ["--least"] else statistics.median
    return {name: choose(values) if values else None for name, values in found.items()}


def print_row(libraries, what, ranks, medians):
    own = medians["xylem"]
    others = [m for name, m in medians.items() if name != "xylem" and m]
    ratio = f"{min(others) / own:.2f} x" if others and own else "-"
    cells = "".join(f"{text(medians[library.name]):>12}" for library in libraries)
    print(f"{what:<22} {ranks:>6} {cells} {ratio:>10}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    turns, how = (1, ["--seconds", "0.02"]) if options.quick else (5, ["--seconds", "0.3"])
    if options.least:
        how = ["--least"]
    folder = os.path.join(options.prefix, "bin")
    libraries = [Library("xylem", os.path.join(folder, "mpicc"), os.path.join(folder, "mpiexec"))]
    libraries += peers(options.peers.split(","))
    for library in libraries:
        if library.name == "openmpi":
            library.options = ["--mca", "osc", "^rdma"]
    quiet()
    with tempfile.TemporaryDirectory() as place:
        print_floor([floor(place)])
        for library in libraries:
            library.build(place, os.path.join(HERE, "rma.c"))
        print(f"{'what':<22} {'ranks':>6} " + "".join(f"{library.name:>12}" for library in libraries)
              + f" {'ratio':>10}")
        for what, ranks, peer_ranks in ROWS:
            is_shared = ranks > 2 or what.startswith("contend")
            if options.only not in what or (options.quick and ranks > 4) or (options.least and is_shared):
                continue
            print_row(libraries, what, ranks, measure(libraries, what, ranks, peer_ranks, turns, how))
    return 0


if __name__ == "__main__":
    sys.exit(main())
