#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the table of docs/c-library.md with the functions that stand before the C library's.

    tests/check_private.py LIBRARY [ROOT]   LIBRARY is libmpi_abi.so
    tests/check_private.py --self-test

Every function that both the library and the C library define must be in the table, every function
that the table calls private, giving way or refused must be defined by the library, and the test of
each group must exist. Variants (`__printf_chk`, `fgets_unlocked`, `lockf64`) count as their name.
"""
import ctypes.util
import os
import re
import subprocess
import sys
from pathlib import Path

TABLE = "docs/c-library.md"
HEADING = "## The C library, function by function"
STATES = {"private", "yields", "refused", "shared"}


def stem(name):
    """The name that a variant belongs to."""
    name = re.sub(r"^_IO_", "", name)
    name = re.sub(r"^__isoc(99|23)_", "", name)
    name = re.sub(r"^__(\w+)_chk$", r"\1", name)
    name = re.sub(r"^__(getdelim)$", r"\1", name)
    name = re.sub(r"_unlocked$", "", name)
    return re.sub(r"^(freopen|fopen|fseeko|ftello|lockf|fcntl|open|openat)64$", r"\1", name)


def read_table(text):
    """([(group, states, functions, test)], complaints)."""
    rows, problems = [], []
    section = text.split(HEADING, 1)[1].split("\n## ", 1)[0] if HEADING in text else ""
    for line in section.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 4 or cells[0] in ("group", "---"):
            continue
        states = {s.strip() for s in cells[1].split(",")}
        if not states <= STATES:
            problems.append(f"{TABLE}: '{cells[0]}' has the state '{cells[1]}'")
        rows.append((cells[0], states, re.findall(r"`([\w:]+)`", cells[2]), cells[3].strip("`")))
    if not rows:
        problems.append(f"{TABLE}: there is no table under '{HEADING}'")
    return rows, problems


def compare(rows, ours, libc, tests):
    """Complaints about the table."""
    listed, problems = set(), []
    defined = {stem(n) for n in ours}
    for group, states, functions, test in rows:
        listed |= set(functions)
        if states != {"shared"} and test not in tests:
            problems.append(f"{TABLE}: '{group}' names the test '{test}', which does not exist")
        if states == {"shared"}:
            continue
        problems += [f"{TABLE}: '{f}' is {', '.join(sorted(states))}, and the library has no such function"
                     for f in functions if not f.startswith("std::") and stem(f) not in defined]
    problems += [f"{TABLE}: '{n}' stands before the C library's and is in no group"
                 for n in sorted({stem(n) for n in ours & libc} - {stem(n) for n in listed})]
    return problems


def symbols(path):
    """Names of functions and variables that a shared library defines."""
    out = subprocess.run(["nm", "-D", "--defined-only", str(path)], text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if len(line.split()) >= 3}


def libc_path():
    """The C library of this process."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line.split()[-1]
        if re.search(r"/libc(\.so\.6|-[\d.]+\.so)$", path):
            return path
    return ctypes.util.find_library("c")


def self_test():
    """Each kind of complaint is seen."""
    head = f"{HEADING}\n\n| group | in a rank | functions | test |\n|---|---|---|---|\n"
    good = head + "| output | private | `puts` | `streams` |\n"
    def complaints(text, ours):
        rows, problems = read_table(text)
        return problems + compare(rows, ours, {"puts", "gets", "__puts_chk"}, {"streams"})
    assert not complaints(good, {"puts", "__puts_chk", "MPI_Send"})
    assert "no such function" in complaints(good, {"gets"})[0]
    assert "in no group" in complaints(good, {"puts", "gets"})[0]
    assert "does not exist" in complaints(good.replace("`streams`", "`nothing`"), {"puts"})[0]
    assert "state" in complaints(good.replace("private |", "odd |"), {"puts"})[0]
    assert "no table" in complaints("", {"puts"})[0]


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    root = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    if not os.path.exists(sys.argv[1]):
        return 77
    rows, problems = read_table((root / TABLE).read_text(encoding="utf-8"))
    tests = {p.stem for part in ("launch", "debug") for p in (root / "tests" / part).glob("*.sh")}
    problems += compare(rows, symbols(sys.argv[1]), symbols(libc_path()), tests)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
