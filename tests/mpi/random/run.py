#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random MPI programs with random options of the launcher.

  run.py --count 300 --seed a1b2c3      300 programs; the seed is any text (XYLEM_SEED)
  run.py --seconds 600 --seed x         as many as fit into ten minutes
  run.py --replay 123456                program 123456, with its options: prints the command first
  run.py --replay 123456 --minimize     the fewest of its steps that still fail
  run.py --pretend more_cores.so ...    some of them with more cores than there are
  run.py --driver DIR ...               some of them with memory of a GPU, whose driver is in DIR
  run.py --device --driver DIR ...      all of them with memory of a GPU (without --driver, of a real one); the driver
                                        completes what nobody waits for late; a third each as below with --processes and --check
  run.py --virtual ...                  in virtual time, on machines that are not there
  run.py --processes ...                with ranks in several processes
  run.py --moves ...                    with ranks that move between cores at random
  run.py --check ...                    with mpiexec --check: nothing may be found in them
  run.py --report ...                   with mpiexec --report: the time of each rank is the sum of its parts

Each program has a number, which decides what it does (random.h), the number of ranks and the options.
What fails is printed with the command that runs it again. The last line is
`random programs: N ran, N failed, seed S`.
"""
import argparse
import concurrent.futures
import hashlib
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import testing # noqa: E402

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/dev")
STEPS = 60


def split_option(choose):
    return choose.choice([[], [], [], ["--split", choose.choice(["1", "2", "3", "auto", "adaptive"])]])


def algorithm_option(choose):
    names = {"allreduce": ["ring", "rabenseifner", "recursive-doubling", "reduce-bcast"],
             "bcast": ["binomial", "chain", "scatter-allgather"], "reduce": ["binomial", "rabenseifner"],
             "gather": ["linear", "binomial"], "scatter": ["linear", "binomial"],
             "allgather": ["ring", "bruck", "recursive-doubling"], "alltoall": ["pairwise", "bruck"],
             "barrier": ["dissemination"], "scan": ["chain", "binomial"], "exscan": ["chain", "binomial"],
             "reduce_scatter": ["halving", "pairwise"]}
    if choose.random() < 0.75:
        return []
    chosen = choose.sample(sorted(names), choose.randint(1, 5))
    return ["--algorithm", ",".join(name + "=" + choose.choice(names[name]) for name in chosen)]


def progress_options(choose, has_comm_cores):
    progress = choose.choice(["tasks", "tasks", "threads", "threads", "none"])
    options = ["--progress", progress] if progress != "tasks" else []
    if progress == "threads":
        order = choose.choice(["auto", "round-robin", "suspend", "semaphore", "suspend-semaphore", "priority"])
        options += ["--progress-order", order]
        options += ["--progress-place", choose.choice(["auto", "numa", "odd-even", "bind"] if has_comm_cores else ["auto", "bind", "numa"])]
        if order == "priority" and choose.random() < 0.7:
            options += ["--progress-priority", str(choose.randint(0, 20))]
    return options


def options_of(choose, cores):
    options = []
    comm_cores = 0
    workers = choose.choice([1, 2, cores, cores])
    if workers < cores:
        options += ["--workers", str(workers)]
    if workers > 1 and choose.random() < 0.5:
        comm_cores = choose.randint(1, max(1, workers // 2))
        options += ["--comm-cores", str(comm_cores)]
        if choose.random() < 0.25:
            options += ["--let-arrive", "off"]
    elif choose.random() < 0.2:
        options += ["--comm-cores", choose.choice(["0", "auto"])]
    options += progress_options(choose, comm_cores > 0)
    options += split_option(choose) + algorithm_option(choose)
    if choose.random() < 0.4:
        options += ["--eager", choose.choice(["0", "64", "1K", "100K", "8M"])]
    if choose.random() < 0.3:
        options += ["--place", choose.choice(["packed", "random", "round-robin", "scatter"])]
    if choose.random() < 0.3:
        options += ["--spin", choose.choice(["0", "1us", "20us", "1ms"])]
    return options


def virtual_options(choose):
    """A job in virtual time: any machine, library and way of progress."""
    machine = choose.choice(["haswell32", "haswell8x32", "fattree1024", "core:3",
                             "node:2(latency=2us bandwidth=10GB/s) core:2", "numa:2 core:4"])
    options = ["--virtual", machine, "--oversubscribe",
               "--compute", choose.choice(["none", "none", "timed", "timed:0.5"])]
    options += choose.choice([[], ["--progress", choose.choice(["tasks", "threads", "none"])]])
    options += split_option(choose)
    options += choose.choice([[], [], ["--library", choose.choice(["xylem", "openmpi", "mpich"])]])
    options += choose.choice([[], [], ["--place", choose.choice(["packed", "random", "round-robin", "scatter"])]])
    return options


def check_options(choose, ranks):
    """What may be found in a correct program: a need for buffers, and receives that could take other messages."""
    options = ["--check=" + choose.choice(["buffers,leaks,windows", "buffers,leaks,windows", "leaks,windows,shuffle,buffers"])]
    options += choose.choice([[], ["--progress", choose.choice(["threads", "none"])]])
    if ranks > 1 and choose.random() < 0.4:
        options += ["--processes", str(choose.randint(2, min(4, ranks)))]
    return options + choose.choice([[], ["--eager", choose.choice(["0", "64", "8M"])]])


def processes_command(number, given, ranks, choose):
    """Ranks in several processes, with what works there."""
    options = ["--processes", str(choose.randint(2, min(4, max(2, ranks))))]
    if choose.random() < 0.4:
        options += ["--eager", choose.choice(["0", "64", "1K", "100K"])]
    options += choose.choice([[], [], ["--progress", "none"], ["--spin", "0"]])
    threads = ["--threads"] if choose.random() < 0.3 else []
    return [given.mpiexec, "-n", str(max(2, ranks)), *options, given.program, str(number), "--steps", str(given.steps),
            *threads]


def moves_command(number, given, ranks, choose):
    """Ranks that move at random, with what works there; also between more cores than there are."""
    cores, before = given.cores, []
    if given.pretend and choose.random() < 0.4:
        cores = choose.randint(3, 10)
        before = ["env", "LD_PRELOAD=" + given.pretend, "XYLEM_TEST_CORES=%d" % cores]
    options = ["--balance", "random:%d" % choose.choice([1, 2, 5, 20, 100])]
    options += choose.choice([[], [], ["--progress", "none"], ["--spin", choose.choice(["0", "1us", "1ms"])]])
    options += split_option(choose) + algorithm_option(choose)
    options += choose.choice([[], ["--eager", choose.choice(["0", "64", "1K", "100K", "8M"])]])
    options += choose.choice([[], ["--place", choose.choice(["packed", "random", "round-robin", "scatter"])]])
    return [*before, given.mpiexec, "-n", str(max(2, ranks)), *options, given.program, str(number), "--steps", str(given.steps)]


def surroundings(number, given):
    """What has no part in a program: a home that is missing, and the driver of a GPU."""
    choose = random.Random(-number)
    home = choose.choice([[]] * 7 + [["-u", "HOME"], ["HOME="], ["HOME=/dev/null/home"]])
    if not given.device and (not given.driver or given.virtual or choose.random() < 0.7):
        return ["env", *home] if home else [], []
    driver = ["LD_LIBRARY_PATH=" + given.driver, "TEST_CUDA=" + choose.choice(["late", "late", "none"])] if given.driver else []
    return ["env", *home, *driver], ["--device"]


def command_of(number, given):
    before, after = surroundings(number, given)
    return [*before, *plain_command(number, given), *after]


def plain_command(number, given):
    choose = random.Random(number)
    ranks = choose.choice([1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, choose.randint(1, 70), choose.randint(2, 32)])
    ranks = min(ranks, given.ranks)
    if given.virtual:
        options = virtual_options(choose)
        threads = ["--threads"] if choose.random() < 0.3 else []
        return [given.mpiexec, "-n", str(ranks), *options, given.program, str(number), "--steps", str(given.steps), *threads]
    way = choose.randrange(3) if given.device else None
    if given.check or way == 0:
        return [given.mpiexec, "-n", str(ranks), *check_options(choose, ranks), given.program, str(number),
                "--steps", str(given.steps)]
    if given.moves:
        return moves_command(number, given, ranks, choose)
    if given.processes or way == 1:
        return processes_command(number, given, ranks, choose)
    cores, before = given.cores, []
    if given.pretend and choose.random() < 0.3:
        cores = choose.randint(3, 10)
        before = ["env", "LD_PRELOAD=" + given.pretend, "XYLEM_TEST_CORES=%d" % cores]
    options = options_of(choose, cores)
    if choose.random() < 0.05:
        options += ["--trace", os.path.join(given.scratch, "%d.xyt" % number)]
    if choose.random() < 0.05:
        options += ["--monitor", os.path.join(given.scratch, "%d" % number)]
    threads = ["--threads"] if choose.random() < 0.2 else []
    return [*before, given.mpiexec, "-n", str(ranks), *options, given.program, str(number), "--steps", str(given.steps),
            *threads]


def check_profile(path):
    """What is wrong with a profile, or None: computation and all parts of all calls add up to the time of a rank."""
    spent, calls, sums = {}, {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split(" ")
            if words[0] == "rank":
                spent[int(words[1])] = int(words[3])
            elif words[0] == "call":
                rank = int(words[1])
                calls[rank] = calls.get(rank, 0) + 1
                sums[rank] = sums.get(rank, 0) + sum(int(word) for word in words[7:15])
                blamed = sum(int(word.split(":")[2]) for word in words[15:])
                if blamed > sum(int(word) for word in words[8:12]) + 8:
                    return "more is blamed than waited: " + line
    for rank, time_of in spent.items():
        if abs(sums.get(rank, 0) - time_of) > 2 + calls.get(rank, 0):  # each is rounded to nanoseconds
            return "rank %d: the parts are %d ns, and the whole is %d ns" % (rank, sums.get(rank, 0), time_of)
    return None if spent else "no rank is in the profile"


def run(command, given):
    """Returns None when it ended well, else what it said."""
    if not given.report:
        return run_once(command, given)
    profile = os.path.join(given.scratch, "%d.xyp" % threading.get_ident())
    after = command.index(given.mpiexec) + 1
    said = run_once([*command[:after], "-q", "--report=" + profile, *command[after:]], given)
    return said if said is not None else check_profile(profile)


def run_once(command, given):
    limit = given.timeout
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               start_new_session=True, env={**os.environ, "TMPDIR": given.scratch})
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return "did not end in %d s\n" % limit + output.decode(errors="replace")
    if process.returncode == 0:
        return None
    return "exit code %d\n" % process.returncode + output.decode(errors="replace")


def report(number, command, said):
    print("FAILED: program %d: %s" % (number, said.strip()[-3000:]))
    print("  again: %s" % " ".join(shlex.quote(word) for word in command))
    sys.stdout.flush()


def fails(command, given, steps):
    text = ",".join(str(step) for step in steps)
    return any(run(command + ["--only", text], given) is not None for _ in range(given.tries))


def minimize(command, given):
    """Delta debugging: leave out parts, smaller and smaller, while it still fails."""
    steps, parts = list(range(given.steps)), 2
    while len(steps) > 1:
        size = max(1, len(steps) // parts)
        for first in range(0, len(steps), size):
            rest = steps[:first] + steps[first + size:]
            if rest and fails(command, given, rest):
                steps, parts = rest, max(2, parts - 1)
                print("still fails with %d steps" % len(rest), file=sys.stderr)
                break
        else:
            if size == 1:
                break
            parts = min(len(steps), parts * 2)
    print("fewest steps: %s --only %s --verbose" % (" ".join(command), ",".join(map(str, steps))))


def replay(given):
    command = command_of(given.replay, given)
    print(" ".join(shlex.quote(word) for word in command), flush=True)
    if given.minimize:
        minimize(command, given)
        return 0
    said = run(command, given)
    if said is not None:
        report(given.replay, command, said)
    return 0 if said is None else 1


def numbers(given):
    """The programs of a seed, until the time or the count is used up."""
    end = time.monotonic() + given.seconds if given.seconds else None
    at = given.first
    while (given.count is None or at < given.first + given.count) and (end is None or time.monotonic() < end):
        yield int.from_bytes(hashlib.sha256(("%s %d" % (given.seed, at)).encode()).digest()[:5], "big")
        at += 1


def run_all(given):
    ran = failed = 0

    def one(number):
        command = command_of(number, given)
        return number, command, run(command, given)

    def take(results):
        nonlocal ran, failed
        for future in results:
            number, command, said = future.result()
            ran += 1
            if said is not None:
                failed += 1
                report(number, command, said)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        waiting = set()
        for number in numbers(given):
            if failed >= given.most_failures:
                break
            waiting.add(pool.submit(one, number))
            if len(waiting) >= given.jobs:
                done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                take(done)
        take(concurrent.futures.as_completed(waiting))
    print("random programs: %d ran, %d failed, seed %s" % (ran, failed, given.seed))
    return 0 if failed == 0 and ran > 0 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", default=os.path.join(BUILD, "bin/mpiexec"))
    parser.add_argument("--program", default=os.path.join(BUILD, "tests/mpi/mpi_random"))
    parser.add_argument("--seed", default=testing.SEED, help="any text")
    parser.add_argument("--first", type=int, default=0, help="begin with this one of the seed's programs")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pretend", metavar="LIBRARY", help="made from more_cores.c")
    parser.add_argument("--driver", metavar="DIR", help="where libcuda.so.1 is, made from ../../gpu/cuda.c")
    parser.add_argument("--device", action="store_true", help="with memory of a GPU")
    parser.add_argument("--virtual", action="store_true", help="in virtual time")
    parser.add_argument("--check", action="store_true", help="with mpiexec --check")
    parser.add_argument("--report", action="store_true", help="with mpiexec --report")
    parser.add_argument("--processes", action="store_true", help="with ranks in several processes")
    parser.add_argument("--moves", action="store_true", help="with ranks that move at random")
    parser.add_argument("--ranks", type=int, default=70, help="at most")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--timeout", type=float, default=testing.seconds(100), help="seconds for one program")
    parser.add_argument("--most-failures", type=int, default=10)
    parser.add_argument("--replay", type=int, metavar="NUMBER")
    parser.add_argument("--minimize", action="store_true")
    parser.add_argument("--tries", type=int, default=3, help="runs of each attempt, with --minimize")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="random-") as given.scratch:
        return replay(given) if given.replay is not None else run_all(given)


if __name__ == "__main__":
    sys.exit(main())
