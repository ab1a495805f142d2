#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overlap of nonblocking collectives: Xylem with one communication core beside Open MPI and MPICH.

  bench/mpi/nbc.py PREFIX [--quick] [OPTION of xylem bench nbc]...

Eight ranks on one core and one communication core, all 17 collectives, 256 KiB to 4 MiB. First a
computation as long as the collective takes under Xylem, the same for all libraries; then, Xylem
alone, one three times as long, which can hide all of it.
"""
import os
import subprocess
import sys


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    xylem = os.path.join(sys.argv[1], "bin", "xylem")
    options = sys.argv[2:]
    if "--quick" in options:
        options.remove("--quick")
        usual = ["--size", "256K", "-r", "3", "--limit", "0.2"]
        peers = "openmpi"
    else:
        usual = ["--size", "256K", "--size", "1M", "--size", "4M", "--turns", "3", "-r", "9",
                 "--limit", "0.4"]
        peers = "openmpi,mpich"
    for more in (["--factor", "1", "--against", peers], ["--factor", "3"]):
        command = [xylem, "bench", "nbc", "--ranks", "8"] + usual + more + options
        print("$ " + " ".join(command[1:]), flush=True)
        code = subprocess.run(command, check=False).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
