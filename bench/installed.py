#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long programs of Debian that were compiled for Open MPI take under Xylem's mpiexec and under mpirun.openmpi.

    bench/installed.py --mpiexec FILE [--ranks 2,8,16] [--turns N] [--quick] [--only NAME,...]

The same machine code runs under both, in turn, start and end included. The table has medians in seconds and Xylem's time
divided by Open MPI's, and the same of processor time, which other load changes less: below 1, Xylem is faster. Programs that are
not installed are left out. --quick: one turn.
"""
import argparse
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/libraries"))
import installed # noqa: E402


def write(runner, name, text):
    (runner.folder / name).write_text(text, encoding="ascii")
    return name


def programs(runner):
    """{name: command} of what is installed; the input of hpcc depends on the number of ranks."""
    found = {}
    if shutil.which("lmp"):
        lj = installed.LATTICE.format(style="atomic", density=0.8442, size=8, pair="lj/cut", fix="nve")
        write(runner, "data.chain", installed.chain_data())
        for name, text in (("lj", lj), ("eam", installed.COPPER), ("chain", installed.CHAIN), ("salt", installed.SALT)):
            found[f"lmp {name}"] = ["lmp", "-in", write(runner, f"in.{name}", text), "-log", "none"]
    if shutil.which("pw.x"):
        found["pw.x"] = ["pw.x", "-in", write(runner, "si.in", installed.SILICON.format(out=runner.folder))]
    if shutil.which("hpcc"):
        found["hpcc"] = ["hpcc"]
    if shutil.which("NPopenmpi"):
        found["NetPIPE"] = ["NPopenmpi", "-u", "100000", "-n", "100"]
    if shutil.which("dgpart"):
        found["dgpart"] = ["dgpart", "5", write(runner, "grid.grf", installed.grid(300)), "grid.map"]
    if shutil.which("gmx_mpi"):
        found["gmx_mpi"] = ["gmx_mpi", "mdrun", "-s", installed.water(runner), "-ntomp", "1", "-npme", "0", "-dlb", "no", "-notunepme",
                            "-pin", "off"]
    for name, compiler, words in (("petsc", "mpicc.openmpi", installed.flags("petsc")),
                                  ("fftw", "mpicc.openmpi", ["-lfftw3_mpi", "-lfftw3", "-lm"]),
                                  ("scalapack", "mpicc.openmpi", ["-lscalapack-openmpi", "-lm"])):
        if installed.PROGRAMS[name][1]():
            found[name] = [installed.build(runner, name, compiler, *words)]
    return found


def seconds(runner, launcher, ranks, command):
    """Seconds by the clock and of processor time."""
    if command[0] == "hpcc":
        installed.hpcc_input(runner, ranks)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    if runner.run(launcher, ranks, *command) is None:
        sys.exit(f"{command[0]} failed on {ranks} ranks under {launcher}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--ranks", default="2,8,16")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not shutil.which("mpirun.openmpi"):
        sys.exit("mpirun.openmpi is not installed (openmpi-bin)")
    with tempfile.TemporaryDirectory() as folder:
        runner = installed.Runner(Path(options.mpiexec).resolve(), [], Path(folder))
        print(f"load average {os.getloadavg()[0]:.1f}\n\n{'program':<12}{'ranks':>6}{'xylem':>9}{'openmpi':>9}{'ratio':>7}"
              f"{'cpu':>9}{'openmpi':>9}{'ratio':>7}", flush=True)
        for name, command in programs(runner).items():
            if options.only and name not in options.only.split(","):
                continue
            for ranks in [2] if name == "NetPIPE" else map(int, options.ranks.split(",")):
                times = {"xylem": [], "openmpi": []}
                for _ in range(1 if options.quick else options.turns):
                    for launcher, list_of in times.items():
                        list_of.append(seconds(runner, launcher, ranks, command))
                line = f"{name:<12}{ranks:>6}"
                for column in range(2):
                    own, other = (statistics.median(turn[column] for turn in list_of) for list_of in times.values())
                    line += f"{own:>9.2f}{other:>9.2f}{own / max(other, 0.01):>7.2f}"
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
