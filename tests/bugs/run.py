#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the programs of this directory, wrong and right, and compare what is reported with their source.

  run.py [--options "MPIEXEC OPTIONS" | --mode MODE] [--behind WRAPPER] MPIEXEC PROGRAM SOURCE... [-- NAME...]

Without names (or XYLEM_BUGS, "NAME NAME") the first pair of each source, those of ALWAYS and a fixed tenth of the others run; all of
them with XYLEM_SOAK. With XYLEM_FIRST_FAILURE (mutants) the first failure ends the run.
bugs.h says what the comments in the sources mean. Sources in C++ are not in PROGRAM: the wrapper beside MPIEXEC
compiles them. Behind a wrapper (`env`) each rank is a process of its own.

With --mode (check, processes, virtual) the reports must be those of a plain run, but for the programs in
differences.txt, whose wrong ones are reported in another way: the table in docs/checking.md says how.
"""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing # noqa: E402

BUG = re.compile(r"/\*((?:(?!\*/).)*)\*/\s*BUG\((\w+)\)", re.S)
FIELD = re.compile(r" (ranks|code|options|says|not|before|right|alone): ")
MARK = re.compile(r"// @(\w+)$")
SECONDS = testing.seconds(100) # where failure is a hang
DEADLOCK = "mpiexec: deadlock: "
BEHIND = [] # words in front of the program
HERE = Path(__file__).resolve().parent
MODES = {"check": "--check=buffers,windows", # the programs leak, and rely on buffers
         "processes": "--processes 2",
         "virtual": "--virtual 'node:2(latency=1us bandwidth=10GB/s) core:2048' --compute none"}
REFUSED = {"check": ("--check", "--virtual"), # it has the option already
           "virtual": ("--cores", "--workers", "--algorithm", "--split", "--progress", "--processes")}
ALWAYS = {"called_nothing", "received_read_only"} # no other pair shows what they do


def read(path):
    """The programs of one source: (name, {field: [values]}); `lines`: how many lines of it are named."""
    with open(path, encoding="utf-8") as source:
        text = source.read()
    name = os.path.basename(path)
    bugs = list(BUG.finditer(text))
    ends = [b.start() for b in bugs[1:]] + [len(text)]
    shared = marks(text[:bugs[0].start()], 0, name) if bugs else {}
    for bug, end in zip(bugs, ends):
        own = {**shared, **marks(text[bug.end():end], text[:bug.end()].count("\n"), name)}
        shared.update(own) # a function in front of a program stands behind the one before
        fields = {}
        for key, value in read_fields(bug.group(1)):
            fields.setdefault(key, []).append(re.sub(r"@(\w+)", lambda m: own[m.group(1)], value))
            fields["lines"] = fields.get("lines", 0) + len(re.findall(r"@\w+", value))
        if "says" not in fields:
            sys.exit(f"{path}: {bug.group(2)} says nothing")
        yield bug.group(2), fields


def read_fields(comment):
    """(key, value); the layout of the comment does not matter."""
    words = " ".join(re.sub(r"^ *\* ?", "", line).strip() for line in comment.split("\n"))
    parts = FIELD.split(" " + words)[1:]
    return [(key, value.strip()) for key, value in zip(parts[::2], parts[1::2])]


def marks(text, before, name):
    return {m.group(1): f"{name}:{before + number}"
            for number, line in enumerate(text.split("\n"), 1) if (m := MARK.search(line))}


def pattern(text):
    return re.compile(".*".join(re.escape(part) for part in text.split("*")) + r"(?!\d)")


def run(command, fields, name, which):
    full = command[:1] + fields.get("options", [""])[0].split() + command[2:]
    full += ["-n", fields.get("ranks", ["2"])[0], *BEHIND, command[1], name, which]
    if "before" in fields:
        full.append("before")
    try:
        done = subprocess.run(full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, "it hangs"
    report = done.stderr.decode(errors="replace")
    if BEHIND: # the rank that reports ends with a code
        report = re.sub(r"^xylem: ", "mpiexec: ", report, flags=re.M)
        report = re.sub(r"^mpiexec: rank \d+( on \S+)? ended with exit code \d+\n", "", report, flags=re.M)
    if "--launcher" in command and "--hosts" not in command: # an MPI, which has something to say, too
        report = re.sub(r"^(?!mpiexec: |  ).*\n", "", report, flags=re.M)
    return done.returncode, without_hosts(re.sub(r"^mpiexec: virtual time: .*\n", "", report, flags=re.M))


def ranks_of(text):
    """The numbers of a list such as 0-62:2,64."""
    for part in text.split(","):
        first, last, step = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part).groups()
        yield from range(int(first), int(last or first) + 1, int(step or 1))


def list_of(ranks):
    """As reports write it: ranges, and steps where there are three ranks or more."""
    parts, ranks = [], sorted(ranks)
    while ranks:
        step = ranks[1] - ranks[0] if len(ranks) > 2 and ranks[2] - ranks[1] == ranks[1] - ranks[0] else 1
        count = 1
        while count < len(ranks) and ranks[count] == ranks[0] + count * step:
            count += 1
        tail = f":{step}" if step > 1 else ""
        parts.append(f"{ranks[0]}-{ranks[count - 1]}{tail}" if count > 1 else str(ranks[0]))
        ranks = ranks[count:]
    return ",".join(parts)


def read_differences(mode):
    """{program: row of the table} of one mode; all rows must be in the table, and the table in use."""
    rows, found = set(), {}
    for line in (HERE / "differences.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        where, row, *names = line.split()
        rows.add(row)
        if where == mode:
            found.update(dict.fromkeys(names, row))
    page = (HERE.parent.parent / "docs" / "checking.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `([a-z-]+)` \|", page.split("### Differences between modes", 1)[1].split("\n#", 1)[0], re.M)
    if set(table) != rows or len(table) > 10:
        sys.exit(f"differences.txt has {sorted(rows)}, docs/checking.md {sorted(table)}")
    return found


def judge_different(command, name, fields, row):
    """A program whose report is another one in this mode: it is reported, but for `silent` ones. A thread that
    waits for its own rank hangs between processes: those of `threads` are not run."""
    if row == "threads":
        return []
    code, report = run(command, fields, name, "wrong")
    if code is None or (code == 0 and not report and row != "silent"):
        return [f"exit code {code}, and says:\n{report}"]
    return []


def without_hosts(report):
    """As if the ranks of all processes were in one: lines of the table that say the same are one."""
    table, lines = {}, []
    for line in report.splitlines(keepends=True):
        row = re.match(r"  ranks? ([\d,:-]+)( on [^:\s]+)?: (.*)", line, flags=re.S)
        row = row if row and (row.group(2) or BEHIND) else None
        if row and row.group(3) not in table:
            table[row.group(3)] = len(lines)
            lines.append([list(ranks_of(row.group(1))), row.group(3)])
        elif row:
            lines[table[row.group(3)]][0] += ranks_of(row.group(1))
        else:
            lines.append(re.sub(r"(rank \d+(?: \(\d+ in [^)]*\))?) on \S+ (calls|sends)", r"\1 \2", line))
    return "".join(line if isinstance(line, str) else
                   f"  rank{'s' if len(line[0]) > 1 else ''} {list_of(line[0])}: {line[1]}" for line in lines)


def is_several(command):
    """Does each of several processes report its own?"""
    return "--processes" in command or "--hosts" in command


def judge(command, name, fields, row=None):
    """What is wrong with the reports about one pair, as lines. `row`: they may be others in this mode."""
    wrong = judge_different(command, name, fields, row) if row else judge_wrong(command, name, fields)
    if row in ("threads", "sleep") or fields.get("right", ["yes"])[0] == "no" or ("alone" in fields and (BEHIND or is_several(command))):
        return wrong
    code, report = run(command, fields, name, "right")
    if code != 0 or report:
        wrong.append(f"the right one: exit code {code}, and says:\n{report}")
    return wrong


def judge_wrong(command, name, fields):
    """What is wrong with the report about a wrong program."""
    wrong = []
    code, report = run(command, fields, name, "wrong")
    lines = report.splitlines()
    expected = int(fields.get("code", ["1"])[0])
    is_checked = any(word.startswith("--check=") for word in command)
    if code != expected and not (is_checked and expected == 0 and code == 120): # what is left counts there
        wrong.append(f"exit code {code}, expected {expected}")
    for text in fields["says"]:
        found = sum(1 for line in lines if pattern(text).search(line))
        if found == 0 or found > (2 if is_several(command) else 1):
            wrong.append(f"{'does not say' if found == 0 else 'says more than once'}: {text}")
    # Nothing else is said: one report of one mistake, and its table.
    patterns = [pattern(text) for text in fields["says"]]
    for line in lines:
        if not line.startswith("  ") and not line.startswith(DEADLOCK) and not any(p.search(line) for p in patterns):
            wrong.append(f"says, too: {line}")
    for text in fields.get("not", []):
        if any(pattern(text).search(line) for line in lines):
            wrong.append(f"says: {text}")
    if wrong:
        wrong.append("the report was:\n" + report)
    return wrong


def compile_cc(mpiexec, directory, source):
    """The program of one source in C++. Tests of other modes compile it at the same time, so it is in a directory of
    this run."""
    made = os.path.join(directory, os.path.basename(source)[:-3])
    here = os.path.dirname(os.path.abspath(source))
    bin_directory = os.path.dirname(mpiexec)
    parts = [f"{made}_main.o", f"{made}.o"]
    for command in (["mpicc", "-c", "-g", f"{here}/main.c", "-o", parts[0]],
                    ["mpicxx", "-c", "-g", source, "-o", parts[1]], ["mpicxx", *parts, "-o", made]):
        subprocess.run([os.path.join(bin_directory, command[0]), *command[1:]], check=True)
    return made


def is_wanted(name, number, names):
    return name in names if names else number == 0 or name in ALWAYS or testing.is_chosen(name, 20)


def can_run(fields, options, mode):
    """Virtual time is for one process, and each process needs a rank."""
    own = [word.split("=")[0] for word in fields.get("options", [""])[0].split()]
    if any(word in own for word in REFUSED.get(mode, ())):
        return False
    if "--virtual" in fields.get("options", [""])[0] and (BEHIND or "--hosts" in options):
        return False
    if "--processes" not in options:
        return True
    enough = int(options[options.index("--processes") + 1]) <= int(fields.get("ranks", ["2"])[0])
    return enough and "--virtual" not in fields.get("options", [""])[0]


def main():
    with tempfile.TemporaryDirectory() as directory:
        run_all(directory)


def run_all(directory):
    arguments, names = sys.argv[1:], os.environ.get("XYLEM_BUGS", "").split()
    if "--" in arguments:
        at = arguments.index("--")
        arguments, names = arguments[:at], arguments[at + 1:]
    options, mode, differences = [], None, {}
    if arguments[0] == "--options":
        options, arguments = shlex.split(arguments[1]), arguments[2:]
    elif arguments[0] == "--mode":
        mode, options, arguments = arguments[1], shlex.split(MODES[arguments[1]]), arguments[2:]
        differences = read_differences(mode)
    if arguments[0] == "--behind":
        BEHIND.extend(arguments[1].split())
        arguments = arguments[2:]
    bugs = []
    for path in arguments[2:]:
        found = [bug for number, bug in enumerate(read(path))
                 if is_wanted(bug[0], number, names) and can_run(bug[1], options, mode)]
        program = arguments[1]
        if path.endswith(".cc") and found:
            program = compile_cc(arguments[0], directory, path)
        bugs += [([arguments[0], program, *options], *bug) for bug in found]
    os.environ.pop("DEBUGINFOD_URLS", None)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for (_, name, _), wrong in zip(bugs, pool.map(lambda b: judge(*b, differences.get(b[1])), bugs)):
            failures += bool(wrong)
            for line in wrong:
                print(f"{name}: {line}")
            if failures and "XYLEM_FIRST_FAILURE" in os.environ:
                pool.shutdown(cancel_futures=True)
                break
    print(f"{len(bugs)} pairs, {failures} failed")
    sys.exit(failures > 0 or not bugs)


if __name__ == "__main__":
    main()
