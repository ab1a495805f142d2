#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Packing by datatypes beside Open MPI and MPICH, in one run.

  bench/mpi/datatypes.py PREFIX [--quick] [--peers openmpi,mpich] [--only WORD]

PREFIX is where Xylem is installed (or build/release). The same source (datatypes.c, which says what each
row is) is compiled with each library's own mpicc and run in turn; each number is the median over the
turns of the least of many rounds, and the last column is the better peer's divided by Xylem's (above 1:
Xylem is faster). bench_datatypes has the same shapes beside loops by hand and plain copies.
"""
import os
import sys
import tempfile

from core import HERE, arguments, measure, print_head, print_row, quiet, xylem_and_peers

SHAPES = [("column", (4096,)), ("indexed", (4096,)), ("struct", (4096,)), ("float", (256, 1000, 1024, 4000)),
          ("double", (256, 1000, 1024, 3000)), ("complex", (200, 1000, 1024)), ("subarray", (1000,)),
          ("darray", (1000,))]
ROWS = [f"{shape}{back}:{size}" for shape, sizes in SHAPES for size in sizes for back in ("", "_back")]


def main():
    options = arguments(__doc__).parse_args()
    turns, seconds = (1, "0.02") if options.quick else (5, "0.2")
    libraries = xylem_and_peers(options)
    quiet()
    with tempfile.TemporaryDirectory() as place:
        for library in libraries:
            library.build(place, os.path.join(HERE, "datatypes.c"))
        print_head(libraries)
        for what in ROWS:
            if options.only in what:
                print_row(libraries, what, 1, measure(libraries, what, 1, 1, turns, ["--seconds", seconds]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
