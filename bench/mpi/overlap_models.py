#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the three ways to simulate a nonblocking collective: `xylem bench nbc --simulate`, `mpiexec --virtual` and
`xylem predict`.

    overlap_models.py PREFIX [--collective NAME] [--mode NAME] [--cores N] [--size BYTES] [--compute US]
                      [--numa N] [--random N --seed TEXT] [--limit PERCENT]

Each row is one collective, progress mode and number of communication cores, alone (t_comm) and beside a computation
(t_ovrl): a program starts the collective, computes and waits. Printed are the three times in microseconds and the
differences of the last two from the first, from three microseconds on: a core that sleeps takes two to begin. PREFIX is
where Xylem is installed, or a build tree. `--random N` draws N rows: collective, mode, size, cores, NUMA nodes. With
`--limit` the exit status is 1 if a difference is larger.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef VIRTUAL
#include <xylem_mpi.h>
#endif
int main(int argc, char **argv)
{
    MPI_Request request;
    int rank, size, n, steps, x = 0;
    int *counts, *places, *bytes, *byte_places;
    MPI_Datatype *types;
    double *in, *out;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = atoi(argv[1]);
    steps = atoi(argv[2]);
    counts = malloc(size * sizeof(int));
    places = malloc(size * sizeof(int));
    bytes = malloc(size * sizeof(int));
    byte_places = malloc(size * sizeof(int));
    types = malloc(size * sizeof(MPI_Datatype));
    in = calloc((size_t)n * size + 1, sizeof(double));
    out = calloc((size_t)n * size + 1, sizeof(double));
    for (int i = 0; i < size; i++) {
        counts[i] = n;
        places[i] = i * n;
        byte_places[i] = 8 * i * n;
        types[i] = MPI_DOUBLE;
    }
"""
TAIL = """#ifdef VIRTUAL
    xylem_compute(steps * 1e-6);
#else
    for (int i = 0; i < steps; i++) x += i;
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifdef VIRTUAL
    printf("end %.12f\\n", MPI_Wtime());
#endif
    MPI_Finalize();
    return 0;
}
"""
VECTOR, WORLD = "n, MPI_DOUBLE", "MPI_COMM_WORLD, &request"
LISTS = "counts, places, MPI_DOUBLE"
CALLS = {
    "barrier": f"MPI_Ibarrier({WORLD})",
    "bcast": f"MPI_Ibcast(out, {VECTOR}, 0, {WORLD})",
    "gather": f"MPI_Igather(in, {VECTOR}, out, {VECTOR}, 0, {WORLD})",
    "gatherv": f"MPI_Igatherv(in, {VECTOR}, out, {LISTS}, 0, {WORLD})",
    "scatter": f"MPI_Iscatter(in, {VECTOR}, out, {VECTOR}, 0, {WORLD})",
    "scatterv": f"MPI_Iscatterv(in, {LISTS}, out, {VECTOR}, 0, {WORLD})",
    "allgather": f"MPI_Iallgather(in, {VECTOR}, out, {VECTOR}, {WORLD})",
    "allgatherv": f"MPI_Iallgatherv(in, {VECTOR}, out, {LISTS}, {WORLD})",
    "alltoall": f"MPI_Ialltoall(in, {VECTOR}, out, {VECTOR}, {WORLD})",
    "alltoallv": f"MPI_Ialltoallv(in, {LISTS}, out, {LISTS}, {WORLD})",
    "alltoallw": f"MPI_Ialltoallw(in, counts, byte_places, types, out, counts, byte_places, types, {WORLD})",
    "reduce": f"MPI_Ireduce(in, out, {VECTOR}, MPI_SUM, 0, {WORLD})",
    "allreduce": f"MPI_Iallreduce(in, out, {VECTOR}, MPI_SUM, {WORLD})",
    "reduce_scatter": f"MPI_Ireduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, {WORLD})",
    "reduce_scatter_block": f"MPI_Ireduce_scatter_block(in, out, {VECTOR}, MPI_SUM, {WORLD})",
    "scan": f"MPI_Iscan(in, out, {VECTOR}, MPI_SUM, {WORLD})",
    "exscan": f"MPI_Iexscan(in, out, {VECTOR}, MPI_SUM, {WORLD})",
}
TREES = {"bcast", "gather", "scatter", "reduce", "allreduce"}
# Options of `xylem bench nbc`, then of mpiexec and `xylem predict`; the least number of communication cores.
MODES = {
    "tasks": (["-p", "tasks"], [], 0),
    "threads": (["-p", "threads", "--threads", "numa", "--order", "semaphore"],
                ["--progress", "threads", "--progress-place", "numa", "--progress-order", "semaphore"], 1),
    "bind": (["-p", "threads", "--threads", "bind", "--order", "semaphore"],
             ["--progress", "threads", "--progress-place", "bind", "--progress-order", "semaphore"], 0),
    "split-tasks": (["-p", "tasks", "--split", "2"], ["--split", "2"], 0),
    "split-threads": (["-p", "threads", "--threads", "numa", "--order", "semaphore", "--split", "2"],
                      ["--progress", "threads", "--progress-place", "numa", "--progress-order", "semaphore",
                       "--split", "2"], 1),
}


def command(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().split("\n")[0])
    return done.stdout


def machine(row):
    _, _, comm, ranks, _, numa = row
    return f"core:{ranks + comm}" if numa == 1 else f"numa:{numa} core:{(ranks + comm) // numa}"


class Models:
    """The three commands, with a program for each collective."""

    def __init__(self, prefix, folder):
        self.folder = folder
        self.finalize = 0 # seconds that MPI_Finalize took in the last run, which a prediction includes
        self.xylem, self.mpiexec, self.mpicc = (os.path.join(prefix, "bin", n) for n in ("xylem", "mpiexec", "mpicc"))

    def source(self, name):
        path = self.folder / f"{name}.c"
        if not path.exists():
            path.write_text(HEAD + f"    {CALLS[name]};\n" + TAIL, encoding="utf-8")
            command([self.mpicc, "-O1", "-DVIRTUAL", str(path), "-o", str(self.folder / name)])
        return path

    def simulate(self, row, compute):
        name, mode, comm, ranks, size, numa = row
        # A computation of no time is refused; so short a one does not matter.
        words = [self.xylem, "bench", "nbc", "--simulate", machine(row), "-c", name, "-n", str(ranks), "-s", str(size),
                 "--comm-cores", str(comm), "--mode", "equivalent-compute", "--json",
                 "--compute", f"{max(compute, 1e-9) * ranks / (ranks + comm)}s"]
        point = json.loads(command(words + MODES[mode][0]))["points"][0]
        return point["t_ovrl"] if compute > 0 else point["t_comm"]

    def options(self, row):
        """Ranks and communication cores are where `--simulate` places them."""
        _, mode, comm, ranks, _, numa = row
        each = (ranks + comm) // numa
        ranked = {n * each + i * each // count for n in range(numa)
                  for count in [ranks // numa + (n < ranks % numa)] for i in range(count)}
        free = ",".join(str(c) for c in range(ranks + comm) if c not in ranked) if comm > 1 else "1"
        return ["-n", str(ranks)] + (["--comm-cores", free] if comm > 0 else []) + MODES[mode][1]

    def virtual(self, row, compute):
        name, size = row[0], row[4]
        self.source(name)
        report = self.folder / "run.json"
        out = command([self.mpiexec, "--virtual", machine(row), "--compute", "none", "--json", str(report)] +
                      self.options(row) + [str(self.folder / name), str(size // 8), str(round(compute * 1e6))])
        end = max(float(t) for t in re.findall(r"end ([0-9.]+)", out))
        self.finalize = json.loads(report.read_text(encoding="utf-8"))["time"] - end
        return end

    def predict(self, row, compute):
        name, size = row[0], row[4]
        source = self.source(name)
        line = 1 + next(i for i, text in enumerate(source.read_text(encoding="utf-8").split("\n")) if "steps; i++" in text)
        out = command([self.xylem, "predict", str(source), "-m", machine(row), "--json", "--arg", str(size // 8),
                       "--arg", str(round(compute * 1e6)), "--cost", f"{name}.c:{line}=1us"] + self.options(row))
        return json.loads(out)["time"] - self.finalize


# `xylem predict` does not follow arrays of datatypes.
UNPREDICTED = {"alltoallw"}


def fits(name, mode, comm):
    return comm >= MODES[mode][2] and (not mode.startswith("split") or name in TREES)


def drawn(options):
    random_of, found = random.Random(options.seed), []
    while len(found) < options.random:
        name, mode = random_of.choice(options.collective or list(CALLS)), random_of.choice(options.mode or list(MODES))
        comm, numa = random_of.choice([0, 0, 1, 2, 3, 4, 7]), random_of.choice([1, 1, 2, 4])
        cores = numa * random_of.randint(2, 68 // numa)
        size = 8 * int(2 ** random_of.uniform(0, 17))
        if cores - comm >= 2 and comm % numa == 0 and fits(name, mode, comm): # placed alike
            found.append((name, mode, comm, cores - comm, size, numa))
    return found


def rows(options):
    """All rows, or those that are drawn."""
    if options.random > 0:
        return drawn(options)
    found = [(name, mode, comm, cores - comm, options.size, options.numa)
             for name in options.collective or CALLS for mode in options.mode or MODES for comm in options.comm
             for cores in options.cores if fits(name, mode, comm)]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix")
    parser.add_argument("--collective", action="append", choices=CALLS)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--cores", type=int, action="append")
    parser.add_argument("--numa", type=int, default=1)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", default="overlap models")
    parser.add_argument("--comm", type=int, action="append")
    parser.add_argument("--size", type=int, default=1 << 20)
    parser.add_argument("--compute", type=float, default=2000)
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    options.comm, options.cores = options.comm or [0, 1, 4], options.cores or [16]
    worst = 0
    print(f"{'collective':<21}{'mode':<15}{'ranks':>6}{'comm':>5}{'numa':>5}{'bytes':>9}{'compute':>9}{'simulate':>11}{'virtual':>11}{'predict':>11}")
    with tempfile.TemporaryDirectory() as folder:
        models = Models(options.prefix, pathlib.Path(folder))
        for row in rows(options):
            for compute in (0, options.compute * 1e-6):
                times, failed = [], ""
                for how in (models.simulate, models.virtual, models.predict)[:2 if row[0] in UNPREDICTED else 3]:
                    try:
                        times.append(how(row, compute))
                    except RuntimeError as error:
                        times.append(float("nan"))
                        failed = str(error)
                off = [0 if abs(t - times[0]) < 3e-6 else 100 * (t / times[0] - 1) for t in times[1:]]
                worst = max([worst] + [abs(d) if d == d else 100 for d in off])
                print(f"{row[0]:<21}{row[1]:<15}{row[3]:>6}{row[2]:>5}{row[5]:>5}{row[4]:>9}{compute * 1e6:>9.0f}" +
                      "".join(f"{1e6 * t:>11.1f}" for t in times) + "".join(f"{d:>+8.1f}%" for d in off) +
                      (f"  {failed}" if failed else ""), flush=True)
    print(f"largest difference: {worst:.1f}%")
    return options.limit is not None and worst > options.limit


if __name__ == "__main__":
    sys.exit(main())
