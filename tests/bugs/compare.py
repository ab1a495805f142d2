#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What three libraries say about the wrong programs of this directory, as a table for docs/performance.md.

  compare.py [--pairs [--keep FILE]] [--sample N:SEED] [--jobs N] [--limit S] [--log FILE] [--only COLUMN] XYLEM_BIN [NAME...]

Each program is compiled with Xylem's mpicc, mpicc.openmpi and mpicc.mpich, as far as these are installed, and
each wrong one runs for at most --limit seconds (5) from the time when its first rank has left MPI_Init. The first of these
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
mode of Xylem (plain, check, processes, hosts, virtual) beside the other libraries; sums are at the end, and a table by
class. --sample 100:TEXT draws 100 pairs at random, the same ones for the same text. --keep FILE has the outcomes so
far: a run that was interrupted continues there. Besides:

  ROW       reported in another way, as this row of the table in docs/checking.md says (`silent`: not at all)
  alarm     something is said about the right program, whatever is said about the wrong one
  differs   not what is expected; --log has the report. This and `alarm` make the exit code 1
  -         the pair cannot run in this mode: it has another option, or needs --check
"""
import argparse
import concurrent.futures
import os
import random
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
START = 120 # s
ATTEMPTS = 5
PAIR_MODES = ("plain", "check", "processes", "hosts", "virtual")
# show_help.c: the launcher of Open MPI 4.1 has lost the message on its way.
SPEAKS = re.compile(r"MPI_[A-Z][A-Za-z_]+|MPI routine|MPI [Ee]rror|calling \"finalize\"|show_help\.c|rank \d+.*(waits|calls|ended)|never received")
CRASHED = re.compile(r"signal|Signal:|Assertion failed")


def title(path):
    """The class of a source's programs: its first comment, up to the colon."""
    with open(path, encoding="utf-8") as source:
        text = re.search(r"(?:/\*|//) (?!SPDX)([^.:]*)", source.read().split("\n", 1)[1]).group(1)
    return re.sub(r"\s+(\* )?", " ", text)


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


def judge(kind, launcher, program, name, fields, limit):
    """The outcome, and what was printed."""
    for _ in range(ATTEMPTS):
        outcome = judge_once(kind, launcher, program, name, fields, limit)
        if outcome[0] != "busy":
            break
    return outcome


def speaks(text):
    """Does a line say something about MPI?"""
    return any(SPEAKS.search(line) and "MPI_ABORT was invoked" not in line for line in text.splitlines())


def judge_once(kind, launcher, program, name, fields, limit):
    command = [*launcher, "-n", fields.get("ranks", ["2"])[0], program, name]
    before = ["before"] if "before" in fields else []
    if kind == "Xylem":
        if not run.judge([launcher[0], program], name, fields):
            return "right", ""
    code, text = start_and_wait([*command, "wrong", *before], limit)
    if speaks(text) or (name == "abort_of_mpi" and "bort" in text):
        return "reported", text
    if code is None:
        if fields.get("right", ["yes"])[0] == "yes" and start_and_wait([*command, "right", *before], limit)[0] is None:
            return "busy", text
        return "hang", text
    return ("crash" if code and CRASHED.search(text) else "silent"), text


def has_alarm(launcher, program, name, fields, limit):
    """(is something said about the right program?, what)"""
    if fields.get("right", ["yes"])[0] == "no":
        return False, ""
    command = [*launcher, "-n", fields.get("ranks", ["2"])[0], program, name, "right"]
    _, text = start_and_wait(command + (["before"] if "before" in fields else []), limit)
    return speaks(text), text


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


def judge_pair(kind, what, program, bug, agent, limit):
    """(outcome, what was printed) of one pair in one column."""
    _, source, name, fields = bug
    if kind in PAIR_MODES:
        return judge_mode(kind, what[2][0], program, name, fields, agent)
    if not others_can_run(fields):
        return "-", ""
    outcome, text = judge(kind, what[2], program, name, fields, limit)
    if "usage:" in text:
        return "-", f"{source}: not in this library's version of the standard"
    is_alarm, said = has_alarm(what[2], program, name, fields, limit)
    return ("alarm", said) if is_alarm else (outcome, text)


def read_kept(path):
    """{(pair, column): outcome} of an earlier run."""
    if path is None or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {(row[0], row[1]): row[2] for row in rows if len(row) == 3}


def build_all(bugs, tools, directory):
    """{compiler: (sources that it compiles, program)}"""
    made = {}
    for what in tools.values():
        folder = f"{directory}/{what[0][0].replace('/', '_')}"
        if what[0][0] not in made:
            made[what[0][0]] = (build(what, folder, {bug[1] for bug in bugs}), f"{folder}/bugs")
    return made


def show_pairs(bugs, tools, directory, given, log):
    """One row for each pair, and the sums. The number of those that are not as expected."""
    agent = f"{directory}/agent"
    with open(agent, "w", encoding="ascii") as script:
        script.write(AGENT)
    os.chmod(agent, 0o755)
    made = build_all(bugs, tools, directory)
    kept = read_kept(given.keep)
    with open(given.keep or os.devnull, "a", encoding="utf-8") as keeper:
        def cell_of(bug, kind, what):
            sources, program = made[what[0][0]]
            if (bug[2], kind) in kept:
                return kept[bug[2], kind]
            outcome, text = judge_pair(kind, what, program, bug, agent, given.limit) if bug[1] in sources else ("-", "")
            if text:
                log.write(f"== {kind} {bug[1]} {bug[2]}: {outcome}\n{text}\n")
                log.flush()
            keeper.write(f"{bug[2]}\t{kind}\t{outcome}\n")
            keeper.flush()
            return outcome
        print("| pair | " + " | ".join(tools) + " |\n|---|" + "---|" * len(tools))
        with concurrent.futures.ThreadPoolExecutor(max_workers=given.jobs) as pool:
            rows = []
            for bug, cells in zip(bugs, pool.map(lambda bug: [cell_of(bug, *tool) for tool in tools.items()], bugs)):
                rows.append((bug[0], cells))
                print(f"| {bug[2]} | " + " | ".join(cells) + " |", flush=True)
    show_classes(rows, list(tools))
    print(f"\n{len(rows)} pairs")
    for number, kind in enumerate(tools):
        outcomes = [cells[number] for _, cells in rows]
        print(f"{kind}: " + ", ".join(f"{outcomes.count(o)} {o}" for o in sorted(set(outcomes), key=lambda o: -outcomes.count(o))))
    return sum(cells.count(outcome) for _, cells in rows for outcome in ("alarm", "differs", "busy"))


def show_classes(rows, kinds):
    """By class: how many wrong programs are reported, of those that can run, and alarms about right ones."""
    print("\n| class | pairs | " + " | ".join(kinds) + " |\n|---|---|" + "---|" * len(kinds))
    for name in [*dict.fromkeys(name for name, _ in rows), "all"]:
        mine = [cells for of, cells in rows if name in (of, "all")]
        cells = []
        for number in range(len(kinds)):
            outcomes = [row[number] for row in mine if row[number] != "-"]
            missed = sum(outcome in ("silent", "hang", "crash", "busy", "differs") for outcome in outcomes)
            alarms = outcomes.count("alarm")
            cells.append((f"{len(outcomes) - missed - alarms} of {len(outcomes)}" if outcomes else "-") +
                         (f", {alarms} alarms" if alarms else ""))
        print(f"| {name} | {len(mine)} | " + " | ".join(cells) + " |")


def measure(bugs, tools, directory, given, log):
    """{library: {class: {outcome: count}}}."""
    table = {}
    for kind, what in tools.items():
        made = build(what, f"{directory}/{kind.replace(' ', '')}", {bug[1] for bug in bugs})
        program = f"{directory}/{kind.replace(' ', '')}/bugs"
        known = [b for b in bugs if b[1] in made]
        with concurrent.futures.ThreadPoolExecutor(max_workers=given.jobs) as pool:
            outcomes = pool.map(lambda b: judge(kind, what[2], program, b[2], b[3], given.limit), known)
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
    parser.add_argument("--limit", type=float, default=5, help="seconds for a program of another library")
    parser.add_argument("--keep", help="outcomes of --pairs, also of an earlier run")
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--only", help="one library or mode")
    parser.add_argument("--sample", help="N:SEED, so many pairs at random")
    parser.add_argument("--pairs", action="store_true", help="one row for each pair, in all modes")
    parser.add_argument("xylem")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    bugs = programs(given.names, given.pairs)
    if given.sample:
        count, _, seed = given.sample.partition(":")
        bugs = sorted(random.Random(seed).sample(bugs, min(int(count), len(bugs))), key=bugs.index)
    with tempfile.TemporaryDirectory() as directory, open(given.log, "a" if given.keep else "w", encoding="utf-8") as log:
        tools = libraries(os.path.abspath(given.xylem))
        if given.pairs:
            own = tools.pop("Xylem")
            tools = {**{mode: own for mode in PAIR_MODES}, **tools}
        if given.only:
            tools = {name: tools[name] for name in given.only.split(",")}
        if given.pairs:
            sys.exit(show_pairs(bugs, tools, directory, given, log) > 0)
        table = measure(bugs, tools, directory, given, log)
    show(table, list(dict.fromkeys(bug[0] for bug in bugs)))
    sys.exit(any("busy" in counts for classes in table.values() for counts in classes.values()))


if __name__ == "__main__":
    main()
