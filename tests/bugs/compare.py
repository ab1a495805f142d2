#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What three libraries say about the wrong programs of this directory, as a table for docs/performance.md.

  compare.py [--jobs N] [--log FILE] [--only LIBRARY] XYLEM_BIN [NAME...]

Each program is compiled with Xylem's mpicc, mpicc.openmpi and mpicc.mpich, as far as these are installed, and
each wrong one runs for at most 5 s from the time when its first rank has left MPI_Init. The first of these
that holds is its outcome; all libraries are judged by the same rules, and what they print is all that counts:

  right     (Xylem) all that run.py asks of the report: the class, the calls, the ranks and the lines
  reported  a line, on either stream, names an MPI function or constant ("MPI_..."), an MPI error ("MPI error",
            "MPI routine"), or one of the sentences of SPEAKS below. The line "MPI_ABORT was invoked" says only
            that the program is ended, and does not count, but for the program that calls MPI_Abort. A line of
            Open MPI's show_help.c counts: its launcher has lost the text of an error that it had to print
  hang      it does not end, and the right one does
  busy      ... and neither does the right one, in each of five attempts: the machine is too busy, and the exit
            code is 1
  crash     it ends by a signal
  silent    it ends

Programs with more than five ranks or options of Xylem's mpiexec are left out, and those that a library
cannot compile, or whose standard is too old for it.
"""
import argparse
import concurrent.futures
import os
import re
import signal
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run # noqa: E402 pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT, START = 5, 120 # s
ATTEMPTS = 5
# show_help.c: the launcher of Open MPI 4.1 has lost the message on its way.
SPEAKS = re.compile(r"MPI_[A-Z][A-Za-z_]+|MPI routine|MPI [Ee]rror|calling \"finalize\"|show_help\.c|rank \d+.*(waits|calls|ended)|never received")
CRASHED = re.compile(r"signal|Signal:|Assertion failed")


def title(path):
    """The class of a source's programs: its first comment, up to the colon."""
    with open(path, encoding="utf-8") as source:
        text = re.search(r"(?:/\*|//) (?!SPDX)([^.:]*)", source.read().split("\n", 1)[1]).group(1)
    return text


def programs(names):
    """(class, source, name, fields) of all that can be compared."""
    found = []
    for file in sorted(os.listdir(HERE)):
        if not file.endswith((".c", ".cc")) or file == "main.c":
            continue
        path = os.path.join(HERE, file)
        for name, fields in run.read(path):
            if int(fields.get("ranks", ["2"])[0]) <= 5 and "options" not in fields and (not names or name in names):
                found.append((title(path), file, name, fields))
    return found


def libraries(xylem):
    """name: (C compiler, C++ compiler, launcher with its options)."""
    all_of_them = {
        "Xylem": ([f"{xylem}/mpicc"], [f"{xylem}/mpicxx"], [f"{xylem}/mpiexec"]),
        "Open MPI": (["mpicc.openmpi"], ["mpicxx.openmpi"],
                     ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle",
                      "1", "--mca", "orte_base_help_aggregate", "0"]),
        "MPICH": (["mpicc.mpich"], ["mpicxx.mpich"], ["mpiexec.mpich"]),
    }
    return {name: tools for name, tools in all_of_them.items()
            if shutil.which(tools[0][0]) and shutil.which(tools[2][0])}


def build(tools, directory, sources):
    """One program of those sources that compile: their names."""
    cc, cxx, _ = tools
    os.makedirs(directory)
    objects, made = [], []
    for file in sorted(os.listdir(HERE)):
        if file not in sources | {"main.c"}:
            continue
        compiler = cxx if file.endswith(".cc") else cc
        done = subprocess.run([*compiler, "-c", "-g", "-w", os.path.join(HERE, file), "-o", f"{directory}/{file}.o"],
                              stderr=subprocess.PIPE, check=False)
        if done.returncode == 0:
            made.append(file)
        else:
            print(f"{directory}: {file} cannot be compiled:\n{done.stderr.decode()}", file=sys.stderr)
    objects = [f"{directory}/{file}.o" for file in made]
    subprocess.run([*cxx, *objects, "-o", f"{directory}/bugs", "-lpthread"], check=True)
    return made


def start_and_wait(command, limit):
    """(exit code or None, standard error); the limit begins when the file that BUGS_STARTED names is there."""
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryFile() as errors:
        started = os.path.join(directory, "started")
        environment = {**os.environ, "BUGS_STARTED": started}
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=environment,
                              start_new_session=True, cwd=directory) as job:
            end = time.monotonic() + START
            while job.poll() is None and time.monotonic() < end and not os.path.exists(started):
                time.sleep(0.02)
            try:
                code = job.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(job.pid, number)
                except ProcessLookupError:
                    break
                time.sleep(0.2)
        errors.seek(0)
        return code, errors.read().decode(errors="replace")


def judge(kind, launcher, program, name, fields):
    """The outcome, and what was printed."""
    for _ in range(ATTEMPTS):
        outcome = judge_once(kind, launcher, program, name, fields)
        if outcome[0] != "busy":
            break
    return outcome


def judge_once(kind, launcher, program, name, fields):
    command = [*launcher, "-n", fields.get("ranks", ["2"])[0], program, name]
    before = ["before"] if "before" in fields else []
    if kind == "Xylem":
        if not run.judge([launcher[0], program], name, fields):
            return "right", ""
    code, text = start_and_wait([*command, "wrong", *before], LIMIT)
    speaks = any(SPEAKS.search(line) and "MPI_ABORT was invoked" not in line for line in text.splitlines())
    if name == "abort_of_mpi":
        speaks = "bort" in text
    if speaks:
        return "reported", text
    if code is None:
        if fields.get("right", ["yes"])[0] == "yes" and start_and_wait([*command, "right", *before], LIMIT)[0] is None:
            return "busy", text
        return "hang", text
    return ("crash" if code and CRASHED.search(text) else "silent"), text


def measure(bugs, tools, directory, jobs, log):
    """{library: {class: {outcome: count}}}."""
    table = {}
    for kind, what in tools.items():
        made = build(what, f"{directory}/{kind.replace(' ', '')}", {bug[1] for bug in bugs})
        program = f"{directory}/{kind.replace(' ', '')}/bugs"
        known = [b for b in bugs if b[1] in made]
        with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
            outcomes = pool.map(lambda b: judge(kind, what[2], program, b[2], b[3]), known)
            for bug, (outcome, text) in zip(known, outcomes):
                if "usage:" in text:
                    continue # not in this library's version of the standard
                table.setdefault(kind, {}).setdefault(bug[0], {}).setdefault(outcome, 0)
                table[kind][bug[0]][outcome] += 1
                log.write(f"== {kind} {bug[1]} {bug[2]}: {outcome}\n{text}\n")
                log.flush()
    return table


def show(table, classes):
    """Markdown: for each class and library how many hang, are silent, crash, are reported."""
    kinds = list(table)
    print("| class | programs | " + " | ".join(kinds) + " |")
    print("|---|---|" + "---|" * len(kinds))
    sums = {kind: {} for kind in kinds}
    for name in classes + ["all"]:
        cells = []
        for kind in kinds:
            counts = table[kind].get(name, {}) if name != "all" else sums[kind]
            for key, value in counts.items():
                if name != "all":
                    sums[kind][key] = sums[kind].get(key, 0) + value
            order = ("right", "reported", "hang", "silent", "crash", "busy")
            cells.append(", ".join(f"{counts[key]} {key}" for key in order if key in counts))
        total = sum((table[kinds[0]].get(name, {}) if name != "all" else sums[kinds[0]]).values())
        print(f"| {name} | {total} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--only", help="one library")
    parser.add_argument("xylem")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    bugs = programs(given.names)
    with tempfile.TemporaryDirectory() as directory, open(given.log, "w", encoding="utf-8") as log:
        tools = libraries(os.path.abspath(given.xylem))
        if given.only:
            tools = {given.only: tools[given.only]}
        table = measure(bugs, tools, directory, given.jobs, log)
    show(table, list(dict.fromkeys(bug[0] for bug in bugs)))
    sys.exit(any("busy" in counts for classes in table.values() for counts in classes.values()))


if __name__ == "__main__":
    main()
