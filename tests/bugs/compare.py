#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What three libraries say about the wrong programs of this directory, as a table for docs/performance.md.

  compare.py [--pairs] [--jobs N] [--log FILE] [--only COLUMN] XYLEM_BIN [NAME...]

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

With --pairs there is one row for each pair, wrong and right, also for those with options, and one column for each
mode of Xylem (plain, check, processes, hosts, virtual) beside the other libraries; sums are at the end. Besides, in modes:

  ROW       reported in another way, as this row of the table in docs/checking.md says (`silent`: not at all)
  alarm     something is said about the right program
  differs   not what is expected; --log has the report. This and `alarm` make the exit code 1
  -         the pair cannot run in this mode: it has another option, or needs --check
"""
import argparse
import concurrent.futures
import os
import re
import shlex
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
PAIR_MODES = ("plain", "check", "processes", "hosts", "virtual")
# show_help.c: the launcher of Open MPI 4.1 has lost the message on its way.
SPEAKS = re.compile(r"MPI_[A-Z][A-Za-z_]+|MPI routine|MPI [Ee]rror|calling \"finalize\"|show_help\.c|rank \d+.*(waits|calls|ended)|never received")
CRASHED = re.compile(r"signal|Signal:|Assertion failed")


def title(path):
    """The class of a source's programs: its first comment, up to the colon."""
    with open(path, encoding="utf-8") as source:
        text = re.search(r"(?:/\*|//) (?!SPDX)([^.:]*)", source.read().split("\n", 1)[1]).group(1)
    return text


def programs(names, has_all):
    """(class, source, name, fields) of all that can be compared, or of all."""
    found = []
    for file in sorted(os.listdir(HERE)):
        if not file.endswith((".c", ".cc")) or file == "main.c":
            continue
        path = os.path.join(HERE, file)
        for name, fields in run.read(path):
            is_comparable = has_all or (int(fields.get("ranks", ["2"])[0]) <= 5 and "options" not in fields)
            if is_comparable and (not names or name in names):
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


# ---- All pairs in all modes ----


AGENT = """#!/bin/sh
host=$1; shift
unshare --uts true 2>/dev/null || exec "$@"
exec unshare --uts sh -c "hostname $host; exec $*"
"""


def options_of_mode(mode, fields, agent):
    """What mpiexec is given besides the program's own options; None: the pair cannot run so."""
    own = fields.get("options", [""])[0]
    is_checked = "--check" in own
    if mode == "plain":
        return None if is_checked else []
    if mode == "check" and is_checked:
        return []
    if mode == "hosts":
        ranks = int(fields.get("ranks", ["2"])[0])
        options = ["--hosts", f"alpha:{ranks - ranks // 2},beta:{ranks}", "--launcher", agent]
        if ranks < 2 or "--processes" in own or "--cores" in own:
            return None
    else:
        options = shlex.split(run.MODES[mode])
    return options if run.can_run(fields, options, mode) else None


def judge_mode(mode, mpiexec, program, name, fields, agent):
    """(cell of the table, what was printed)"""
    options = options_of_mode(mode, fields, agent)
    if options is None:
        return "-", ""
    row = None
    if mode in ("processes", "hosts", "virtual", "check"):
        row = run.read_differences("processes" if mode == "hosts" else mode).get(name)
    if mode == "hosts" and row == "threads":
        return row, ""
    wrong = run.judge([mpiexec, program, *options], name, fields, row)
    if not wrong:
        return row or "right", ""
    is_alarm = all(line.startswith("the right one") for line in wrong)
    return "alarm" if is_alarm else "differs", "\n".join(wrong)


def others_can_run(fields):
    own = fields.get("options", [""])[0].split()
    return int(fields.get("ranks", ["2"])[0]) <= 5 and all(word.startswith("--check") for word in own)


def judge_pair(kind, what, program, bug, agent):
    """(outcome, what was printed) of one pair in one column."""
    _, source, name, fields = bug
    if kind in PAIR_MODES:
        return judge_mode(kind, what[2][0], program, name, fields, agent)
    if not others_can_run(fields):
        return "-", ""
    outcome, text = judge(kind, what[2], program, name, fields)
    return ("-", f"{source}: not in this library's version of the standard") if "usage:" in text else (outcome, text)


def show_pairs(bugs, tools, directory, jobs, log):
    """One row for each pair, and the sums. The number of those that are not as expected."""
    agent = f"{directory}/agent"
    with open(agent, "w", encoding="ascii") as script:
        script.write(AGENT)
    os.chmod(agent, 0o755)
    made = {}
    for kind, what in tools.items():
        folder = f"{directory}/{what[0][0].replace('/', '_')}"
        if what[0][0] not in made:
            made[what[0][0]] = (build(what, folder, {bug[1] for bug in bugs}), f"{folder}/bugs")
    sums = {kind: {} for kind in tools}
    print("| pair | " + " | ".join(tools) + " |")
    print("|---|" + "---|" * len(tools))
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        def cells_of(bug):
            return [judge_pair(kind, what, made[what[0][0]][1], bug, agent) if bug[1] in made[what[0][0]][0] else ("-", "")
                    for kind, what in tools.items()]
        for bug, cells in zip(bugs, pool.map(cells_of, bugs)):
            for kind, (outcome, text) in zip(tools, cells):
                sums[kind][outcome] = sums[kind].get(outcome, 0) + 1
                if text:
                    log.write(f"== {kind} {bug[1]} {bug[2]}: {outcome}\n{text}\n")
            log.flush()
            print(f"| {bug[2]} | " + " | ".join(outcome for outcome, _ in cells) + " |", flush=True)
    print(f"\n{len(bugs)} pairs")
    for kind, counts in sums.items():
        print(f"{kind}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items(), key=lambda i: -i[1])))
    return sum(counts.get(outcome, 0) for counts in sums.values() for outcome in ("alarm", "differs", "busy"))


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
    parser.add_argument("--only", help="one library or mode")
    parser.add_argument("--pairs", action="store_true", help="one row for each pair, in all modes")
    parser.add_argument("xylem")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    bugs = programs(given.names, given.pairs)
    with tempfile.TemporaryDirectory() as directory, open(given.log, "w", encoding="utf-8") as log:
        tools = libraries(os.path.abspath(given.xylem))
        if given.pairs:
            own = tools.pop("Xylem")
            tools = {**{mode: own for mode in PAIR_MODES}, **tools}
        if given.only:
            tools = {name: tools[name] for name in given.only.split(",")}
        if given.pairs:
            sys.exit(show_pairs(bugs, tools, directory, given.jobs, log) > 0)
        table = measure(bugs, tools, directory, given.jobs, log)
    show(table, list(dict.fromkeys(bug[0] for bug in bugs)))
    sys.exit(any("busy" in counts for classes in table.values() for counts in classes.values()))


if __name__ == "__main__":
    main()
