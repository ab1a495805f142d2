#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random calls beside Open MPI and MPICH: in which of them is a peer faster?

  bench/mpi/sweep.py PREFIX [--quick] [--seed TEXT] [--count N] [--turns N] [--only REGEX] [--keep FILE]

PREFIX is where Xylem is installed (or build/release). The rows are a fixed table of small calls on two
ranks, and N (default 600) drawn by the seed: messages, collectives (blocking, nonblocking, persistent,
on neighbours), one-sided operations, datatypes and files, 1 byte to 4 MiB, 1 to 64 ranks, one process and
two, MPI_THREAD_SINGLE and MPI_THREAD_MULTIPLE, warm and cold buffers. sweep.c does the calls; it is compiled with
each library's own mpicc, and each row is measured by the libraries in turn. The ratio of a turn is
the time of the faster peer divided by Xylem's. Turns are repeated for rows whose first ratio is below
1.5. A row is behind when its median ratio is below 0.97, or one of them below 0.9.

Peers run as in core.py, bound to cores; MPICH, which does not yield, on 4 ranks at most. A peer that
prints nothing for --limit seconds has lost that row. --keep stores measured rows in a file and continues
there, so that a sweep can be split into short runs (--seconds ends one).
"""
import json
import math
import os
import random
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time

from core import HERE, arguments, quiet, text, xylem_and_peers

NEAR, BEHIND, LEAST = 1.5, 0.97, 0.9
MPICH_RANKS = 4
LARGEST = 4 << 20
BUDGET = 0.01  # seconds of a row in a launch

# What the issue is about: (row, configuration), two ranks on two cores.
SMALL = [("message pingpong blocking", (8, 64, 1024, 2048, 4096, 8192, 32768)),
         ("collective bcast blocking", (8, 64, 4096)), ("collective gather blocking", (8, 64, 4096)),
         ("collective scatter blocking", (8, 64, 4096)), ("collective barrier blocking", (8,))]
SUMS = [("collective reduce blocking", (8, 64, 4096)), ("collective allreduce blocking", (8, 64, 4096)),
        ("collective reduce_scatter_block blocking", (8, 64)), ("collective scan blocking", (8, 64, 4096)),
        ("collective exscan blocking", (8, 64))]
ONE_SIDED = ["window put flush 8 warm pair.byte", "window get flush 8 warm pair.byte",
             "window fetch flush 8 warm pair", "window compare flush 8 warm pair",
             "window add flush 8 warm pair.double"]
PACKS = [f"datatype {what} {how} 65536 warm -" for what in ("block", "indexed") for how in ("pack", "unpack")]


def configuration(ranks, processes=1, threads="single"):
    return f"{ranks}/{processes}/{threads}"


def table():
    two = configuration(2)
    rows = [(two, f"{what} {size} warm first.byte") for what, sizes in SMALL for size in sizes]
    rows += [(two, f"{what} {size} warm first.double") for what, sizes in SUMS for size in sizes]
    rows += [(two, row) for row in ONE_SIDED] + [(configuration(1), row) for row in PACKS]
    rows += [(configuration(2, threads="multiple"), f"message pingpong blocking {n} warm first.byte")
             for n in (8, 4096)]
    rows += [(configuration(4), "window add flush 8 warm all.double")]
    rows += [(configuration(2, processes=2), f"message pingpong blocking {n} warm first.byte")
             for n in (8, 64, 1024, 4096)]
    return rows


def size_of(draw, least, most):
    """Log-uniform; one in four is a power of two."""
    value = round(least * (most / least) ** draw.random())
    return 1 << round(math.log2(value)) if draw.random() < 0.25 else value


def drawn_message(draw, buffers, ranks):
    what = draw.choice(("pingpong", "pingpong", "stream", "exchange", "unexpected", "sendrecv", "any"))
    how = draw.choice(("blocking", "nonblocking", "synchronous", "persistent"))
    if how == "persistent" or (ranks == 1 and what not in ("exchange", "sendrecv")):
        what = "exchange"
    return f"message {what} {how} {size_of(draw, 1, LARGEST)} {buffers} first.byte"


REDUCTIONS = ("reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block")
MOVES = ("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
         "alltoall", "alltoallv", "alltoallw")
ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")


def drawn_collective(draw, buffers, ranks):
    what = draw.choice(REDUCTIONS + MOVES)
    how = draw.choice(("blocking", "blocking", "nonblocking", "persistent"))
    kind = draw.choice(("double", "float", "int") if what in REDUCTIONS else ("byte", "double"))
    is_vector = what in ("bcast", "reduce", "allreduce", "scan", "exscan", "barrier")
    least = {"byte": 1, "double": 8}.get(kind, 4)
    most = LARGEST if is_vector else max(LARGEST // ranks // 2, 1024)
    place = draw.choice(("first", "last")) if what in ROOTED else "first"
    return f"collective {what} {how} {size_of(draw, least, most)} {buffers} {place}.{kind}"


def drawn_neighbour(draw, buffers, ranks):
    what = draw.choice(("allgather", "alltoall", "allgatherv", "alltoallv"))
    how = draw.choice(("blocking", "nonblocking", "persistent"))
    size = size_of(draw, 1, max(LARGEST // ranks // 2, 1024))
    return f"neighbour neighbor_{what} {how} {size} {buffers} first.byte"


def drawn_window(draw, buffers, ranks):
    what = draw.choice(("put", "get", "rput", "rget", "add", "getadd", "fetch", "compare"))
    how = draw.choice(("flush", "lock")) if what[0] == "r" else draw.choice(("flush", "flush", "lock", "fence", "pscw"))
    kind = draw.choice(("double", "int", "long")) if "add" in what else "byte"
    size = 8 if what in ("fetch", "compare") else size_of(draw, 8, LARGEST // 4)
    return f"window {what} {how} {size} {buffers} {draw.choice(('pair', 'all'))}.{'long' if size == 8 else kind}"


def drawn_datatype(draw, buffers, ranks):
    what = draw.choice(("vector", "indexed", "block", "struct", "subarray", "nested"))
    how = draw.choice(("pack", "unpack", "send"))
    return f"datatype {what} {how} {size_of(draw, 8, LARGEST // 8)} {buffers} first.byte"


def drawn_file(draw, buffers, ranks):
    what = draw.choice(("write", "read", "strided", "ordered"))
    how = draw.choice(("own", "all", "nonblocking")) if what in ("write", "read") else \
        draw.choice(("own", "all")) if what == "strided" else "all"
    return f"file {what} {how} {size_of(draw, 1, LARGEST)} {buffers} first.byte"


FAMILIES = [(drawn_collective, 40), (drawn_message, 20), (drawn_window, 14), (drawn_datatype, 10),
            (drawn_neighbour, 8), (drawn_file, 8)]


def drawn(seed, count):
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        ranks = draw.choice((1, 2, 2, 2, 3, 4, 4, 8, 16, 64))
        processes = 2 if ranks > 1 and draw.random() < 0.25 else 1
        threads = "multiple" if draw.random() < 0.25 else "single"
        buffers = "cold" if draw.random() < 0.25 else "warm"
        family = draw.choices([f for f, _ in FAMILIES], [w for _, w in FAMILIES])[0]
        rows.append((configuration(ranks, processes, threads), family(draw, buffers, ranks)))
    return rows


def command(library, where, program, options):
    ranks, processes, threads = where.split("/")
    line = library.command(int(ranks), [])[:-1]
    if library.name == "xylem" and processes != "1":
        line += ["--processes", processes]
    if library.name == "mpich" and int(ranks) <= os.cpu_count():
        line += ["-bind-to", "core"]
    return line + [library.program, program, str(options["first"]), str(BUDGET), threads, options["folder"]]


def stop(job):
    """End a job that has printed its last line, or prints nothing."""
    for end in (lambda: None, job.terminate, job.kill):
        end()
        try:
            job.wait(3)
            return
        except subprocess.TimeoutExpired:
            pass


def lines_of(job, limit):
    """The lines that a job prints; None where it prints nothing for too long."""
    text_so_far = b""
    while select.select([job.stdout], [], [], limit)[0]:
        piece = os.read(job.stdout.fileno(), 65536)
        if not piece:
            return
        *lines, text_so_far = (text_so_far + piece).split(b"\n")
        yield from lines
    yield None


def launch(library, where, rows, folder, limit):
    """[seconds of each row]; None: the library failed there, inf: it was too slow."""
    path = os.path.join(folder, "rows")
    with open(path, "w", encoding="ascii") as f:
        f.writelines(row + "\n" for row in rows)
    found = []
    while len(found) < len(rows):
        job = subprocess.Popen(command(library, where, path, {"first": len(found), "folder": folder}),
                               env=library.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = b""
        for line in lines_of(job, limit):
            if line is not None:
                seconds = float(line.split()[1])
                found.append(seconds if seconds > 0 else None)
            if line is None or len(found) == len(rows):
                break
        if len(found) < len(rows):
            found.append(math.inf if line is None else None)  # the row that it stopped at
        stop(job)
        job.stdout.close()
    return found


def ratios(turns):
    """[better peer / Xylem] of the turns that have both; inf: no peer has done the row."""
    values = []
    for turn in turns:
        peers = [t for name, t in turn.items() if name != "xylem" and t is not None]
        if turn.get("xylem") and peers:
            values.append(min(peers) / turn["xylem"])
    return values


def needs_turn(turns, most):
    have = ratios(turns)
    return not turns or (len(turns) < most and bool(have) and have[0] < NEAR)


def measure(libraries, rows, done, options, folder):
    """Add turns to `done` until every row has enough, or the time has ended."""
    end = time.monotonic() + options.seconds
    while True:
        due = {}
        for where, row in rows:
            turns = done.setdefault(where + " " + row, [])
            if needs_turn(turns, options.turns):
                due.setdefault(where, []).append(row)
        if not due:
            return True
        for where, wanted in sorted(due.items(), key=lambda item: int(item[0].split("/")[0])):
            for at in range(0, len(wanted), options.batch):
                batch = wanted[at:at + options.batch]
                if time.monotonic() > end:
                    return False
                ranks = int(where.split("/")[0])
                times = {lib.name: launch(lib, where, batch, folder, options.limit) for lib in libraries
                         if lib.name != "mpich" or ranks <= MPICH_RANKS}
                for i, row in enumerate(batch):
                    done[where + " " + row].append({name: t[i] for name, t in times.items()})
                if options.keep:
                    with open(options.keep, "w", encoding="ascii") as f:
                        json.dump(done, f)


def report(rows, done):
    results, missing, alone = [], 0, 0
    for where, row in rows:
        turns = done.get(where + " " + row, [])
        values = ratios(turns)
        missing += not turns
        alone += bool(turns) and not values
        if values:
            own = statistics.median(t["xylem"] for t in turns if t.get("xylem"))
            results.append((statistics.median(values), min(values), own, where, row))
    results.sort()
    behind = [r for r in results if r[0] < BEHIND or r[1] < LEAST]
    print(f"{'median':>7} {'least':>7} {'xylem':>9}  ranks/processes/threads, row")
    for middle, least, own, where, row in behind:
        print(f"{middle:7.2f} {least:7.2f} {text(own):>9}  {where} {row}")
    failed = [w + " " + r for w, r in rows if any(t.get("xylem") is None for t in done.get(w + " " + r, []))]
    for row in failed:
        print(f"no time of Xylem: {row}")
    middles = [r[0] for r in results]
    print(f"rows  {len(results)}  compared, {missing} not measured yet, {alone} without a peer's time")
    print(f"behind  {len(behind)}  rows; below 0.9: {sum(m < LEAST for m in middles)}")
    if middles:
        print(f"median ratio  {statistics.median(middles):.2f}")


def main():
    parser = arguments(__doc__)
    parser.add_argument("--seed", default=str(time.time_ns() % 10 ** 8))
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--batch", type=int, default=40, help="rows of a launch")
    parser.add_argument("--limit", type=float, default=5, help="seconds for a row")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--keep")
    parser.add_argument("--list", action="store_true", help="print the rows alone")
    options = parser.parse_args()
    if options.quick:
        options.count, options.turns = min(options.count, 20), 1
    rows = [r for r in table() + drawn(options.seed, options.count) if re.search(options.only, " ".join(r))]
    rows = list(dict.fromkeys(rows))
    print(f"# seed {options.seed}, {len(rows)} rows")
    if options.list:
        print("\n".join(" ".join(r) for r in rows))
        return 0
    libraries = xylem_and_peers(options)
    for library in libraries:
        if library.name == "openmpi":
            library.options = ["--mca", "osc", "^rdma"]
    quiet()
    done = {}
    if options.keep and os.path.exists(options.keep):
        with open(options.keep, encoding="ascii") as f:
            done = json.load(f)
    room = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=room) as folder:
        for library in libraries:
            library.build(folder, os.path.join(HERE, "sweep.c"))
        measure(libraries, rows, done, options, folder)
    report(rows, done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
