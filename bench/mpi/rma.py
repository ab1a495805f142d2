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
import os
import sys
import tempfile

from core import HERE, arguments, floor, measure, print_floor, print_head, print_row, quiet, xylem_and_peers

CONTENTION = (2, 4, 8, 16, 32, 64)
# what, ranks, largest number of ranks for the peers
ROWS = [(what, 2, 2) for what in ("pingpong:8", "pingpong:4096", "put:8", "put:65536", "put:4194304", "get:8",
                                  "get:65536", "fetch", "compare", "rate:8", "rate:1024", "add:8", "add:65536")]
ROWS += [(what, ranks, CONTENTION[-1]) for what in ("contend", "contend_real", "contend_fetch", "contend_pair")
         for ranks in CONTENTION]
ROWS += [(f"{what}:{size}", ranks, 16) for ranks in (4, 16, 64) for size in (1024, 65536)
         for what in ("halo_send", "halo_fence", "halo_pscw")]


def main():
    parser = arguments(__doc__)
    parser.add_argument("--least", action="store_true")
    options = parser.parse_args()
    turns, how = (1, ["--seconds", "0.02"]) if options.quick else (5, ["--seconds", "0.3"])
    if options.least:
        how = ["--least"]
    libraries = xylem_and_peers(options)
    for library in libraries:
        if library.name == "openmpi":
            library.options = ["--mca", "osc", "^rdma"]
    quiet()
    with tempfile.TemporaryDirectory() as place:
        print_floor([floor(place)])
        for library in libraries:
            library.build(place, os.path.join(HERE, "rma.c"))
        print_head(libraries)
        for what, ranks, peer_ranks in ROWS:
            is_shared = ranks > 2 or what.startswith("contend")
            if options.only not in what or (options.quick and ranks > 4) or (options.least and is_shared):
                continue
            print_row(libraries, what, ranks, measure(libraries, what, ranks, peer_ranks, turns, how))
    return 0


if __name__ == "__main__":
    sys.exit(main())
