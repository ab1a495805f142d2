#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files beside Open MPI and MPICH, in one run.

  bench/mpi/io.py PREFIX [--quick | --least] [--peers openmpi,mpich] [--only WORD] [--turns N]
               [--folder DIR]

PREFIX is where Xylem is installed (or build/release). The same source (io.c, which says what each row
is) is compiled with each library's own mpicc and run in turn, on a file in DIR (/dev/shm, a tmpfs); each
number is the median over the turns, and the last column is the better peer's divided by Xylem's (above
1: Xylem is faster). A row that a peer cannot do in the time limit shows a dash. With --least, each number
is the least of many short rounds, for a machine that does other work, too: rows of two ranks.
"""
import os
import sys
import tempfile

from core import HERE, arguments, measure, print_head, print_row, quiet, xylem_and_peers

ROWS = [(f"{what}:{size}", ranks) for ranks in (2, 8)
        for what, sizes in (("write", (4096, 1 << 20, 16 << 20)), ("read", (4096, 1 << 20, 16 << 20)),
                            ("strided", (8, 512, 16384)), ("strided_read", (8, 512, 16384)),
                            ("all", (8, 512, 16384)), ("all_read", (8, 512, 16384)), ("ordered", (4096,)))
        for size in sizes]


def main():
    parser = arguments(__doc__)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--folder", default="/dev/shm")
    options = parser.parse_args()
    turns, how = (1, ["--seconds", "0.05"]) if options.quick else (5, ["--seconds", "0.3"])
    if options.least:
        how = ["--least"]
    turns = options.turns or turns
    libraries = xylem_and_peers(options)
    quiet()
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=options.folder) as data:
        for library in libraries:
            library.build(place, os.path.join(HERE, "io.c"))
        print_head(libraries)
        for what, ranks in ROWS:
            if options.only not in what or ((options.quick or options.least) and ranks > 2):
                continue
            words = [os.path.join(data, "file"), *how]
            print_row(libraries, what, ranks, measure(libraries, what, ranks, ranks, turns, words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
