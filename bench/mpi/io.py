#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files beside Open MPI and MPICH, in one run.

  bench/mpi/io.py PREFIX [--quick] [--peers openmpi,mpich] [--only WORD] [--folder DIR]

PREFIX is where Xylem is installed (or build/release). The same source (io.c, which says what each row
is) is compiled with each library's own mpicc and run in turn, on a file in DIR (/dev/shm, a tmpfs); each
number is the median over the turns, and the last column is the better peer's divided by Xylem's (above
1: Xylem is faster). A row that a peer cannot do in the time limit shows a dash.
"""
import argparse
import os
import sys
import tempfile

from core import HERE, Library, peers, quiet
from rma import measure, print_row

ROWS = [(f"{what}:{size}", ranks) for ranks in (2, 8)
        for what, sizes in (("write", (4096, 1 << 20, 16 << 20)), ("read", (4096, 1 << 20, 16 << 20)),
                            ("strided", (8, 512, 16384)), ("strided_read", (8, 512, 16384)),
                            ("all", (8, 512, 16384)), ("all_read", (8, 512, 16384)), ("ordered", (4096,)))
        for size in sizes]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", default="/dev/shm")
    options = parser.parse_args()
    turns, seconds = (1, "0.05") if options.quick else (5, "0.3")
    folder = os.path.join(options.prefix, "bin")
    libraries = [Library("xylem", os.path.join(folder, "mpicc"), os.path.join(folder, "mpiexec"))]
    libraries += peers(options.peers.split(","))
    quiet()
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=options.folder) as data:
        for library in libraries:
            library.build(place, os.path.join(HERE, "io.c"))
        print(f"{'what':<22} {'ranks':>6} " + "".join(f"{library.name:>12}" for library in libraries)
              + f" {'ratio':>10}")
        for what, ranks in ROWS:
            if options.only not in what or (options.quick and ranks > 2):
                continue
            how = [os.path.join(data, "file"), "--seconds", seconds]
            print_row(libraries, what, ranks, measure(libraries, what, ranks, ranks, turns, how))
    return 0


if __name__ == "__main__":
    sys.exit(main())
