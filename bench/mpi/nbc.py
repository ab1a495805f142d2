#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overlap of nonblocking collectives: Xylem with one communication core beside Open MPI and MPICH.

  bench/mpi/nbc.py PREFIX [--quick] [OPTION of xylem bench nbc]...

Eight ranks on one core and one communication core, all 17 collectives, 256 KiB to 4 MiB; the same
computation, twice as long as the collective takes under Xylem, for all libraries.
"""
import os
import sys


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    xylem = os.path.join(sys.argv[1], "bin", "xylem")
    options = sys.argv[2:]
    if "--quick" in options:
        options.remove("--quick")
        usual = ["--size", "256K", "-r", "3", "--limit", "0.2", "--against", "openmpi"]
    else:
        usual = ["--size", "256K", "--size", "1M", "--size", "4M", "--turns", "3", "--limit", "1",
                 "--against", "openmpi,mpich"]
    command = [xylem, "bench", "nbc", "--ranks", "8", "--factor", "2"] + usual + options
    os.execv(xylem, command)
    return 1


if __name__ == "__main__":
    sys.exit(main())
