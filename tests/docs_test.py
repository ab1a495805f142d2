#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the commands of a page and compare what they print.

    tests/docs_test.py PAGE.md BUILD SOURCE
    tests/docs_test.py --self-test

In a block that opens with ```console, a line that starts with `$ ` is a command (lines that start
with `> ` go on with it) and the lines below it are what it prints, on both streams. A line `...`
stands for any lines, `[...]` inside a line for any text. A command must succeed, unless the page
shows its error (a line that starts with `xylem: ` or `mpiexec: `). ```console norun is not run, and
```console needs gdb only where there is a command gdb.

All commands of a page run in one empty directory, where `examples`, `machines` and `tests` lead to
the source tree, with the built command first in PATH.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import testing

SECONDS = testing.seconds(100) # of one command: only a hang takes that long


def has_tools(info):
    """Are the commands there that a block needs? What is left out is said."""
    missing = [name for name in info[info.index("needs") + 1:] if not shutil.which(name)] if "needs" in info else []
    for name in missing:
        print(f"left out: {name} is not installed")
    return not missing


def blocks(text):
    """(line number, lines) of each block to run."""
    fence, start, lines = None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        opening = re.match(r"^\s*(`{3,})\s*(.*)$", line)
        if fence is None and opening:
            fence, info, start, lines = opening.group(1), opening.group(2).split(), number, []
        elif fence is not None and line.strip() == fence:
            if info[:1] == ["console"] and "norun" not in info[1:] and has_tools(info):
                yield start + 1, lines
            fence = None
        elif fence is not None:
            lines.append(line)


def commands(first, lines):
    """(line number, command, expected lines) of each command in a block."""
    found = []
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            found.append([number, line[2:], []])
        elif line.startswith("> ") and found and not found[-1][2]:
            found[-1][1] += "\n" + line[2:]
        elif found:
            found[-1][2].append(line.rstrip())
    return found


def pattern_of(expected):
    """A regular expression for the whole output; each line ends in a newline."""
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:.*\n)*")
        else:
            texts = [re.escape(text) for text in line.split("[...]")]
            parts.append(".*".join(texts) + r"\n")
    return re.compile("".join(parts))


def matches(expected, output):
    lines = [line.rstrip() for line in output.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    expected = list(expected)
    while expected and not expected[-1]:
        expected.pop()
    return pattern_of(expected).fullmatch("".join(line + "\n" for line in lines)) is not None


def environment(build, directory):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XYLEM_")}
    if os.uname().machine == "aarch64": # looking for leaks takes seconds in every program there; no page shows any
        kept["ASAN_OPTIONS"] = "detect_leaks=0"
    kept["PATH"] = f"{build}/bin:{build}/tools:{kept.get('PATH', '')}"
    kept.update(LC_ALL="C.UTF-8", COLUMNS="100", TERM="dumb",
                XDG_CACHE_HOME=os.path.join(os.path.abspath(directory), ".cache"))
    return kept


def run(command, directory, build):
    """(exit code, output) of a command; one that does not end is ended and counts as failed."""
    try:
        result = subprocess.run(["bash", "-c", command], cwd=directory, env=environment(build, directory),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return 124, f"still running after {SECONDS} s\n"
    return result.returncode, result.stdout.decode("utf-8", "replace")


def shows_error(expected):
    return any(line.startswith(("xylem: ", "mpiexec: ")) for line in expected)


def check_text(text, name, directory, build):
    """(number of commands, complaints) of a page."""
    count, problems = 0, []
    for first, lines in blocks(text):
        for number, command, expected in commands(first, lines):
            count += 1
            code, output = run(command, directory, build)
            if code != 0 and not shows_error(expected):
                problems.append(f"{name}:{number}: `{command}` ends with exit code {code}:\n{output}")
            elif not matches(expected, output):
                problems.append(f"{name}:{number}: `{command}` prints\n{output}--- but the page says\n"
                                + "".join(line + "\n" for line in expected))
    return count, problems


def check_page(page, build, source):
    with tempfile.TemporaryDirectory() as name:
        for link in ("examples", "machines", "tests"):
            if (source / link).exists():
                (Path(name) / link).symlink_to(source / link)
        return check_text(page.read_text(encoding="utf-8"), page.name, name, build)


def self_test():
    """(page, complaints expected)"""
    fence = "```"
    cases = [
        (f"{fence}console\n$ echo a; echo b\na\nb\n{fence}\n", 0),
        (f"{fence}console\n$ echo a\nb\n{fence}\n", 1),
        (f"{fence}console\n$ echo a\n{fence}\n", 1),
        (f"{fence}console\n$ seq 9\n1\n...\n9\n{fence}\n", 0),
        (f"{fence}console\n$ seq 9\n1\n...\n8\n{fence}\n", 1),
        (f"{fence}console\n$ echo took 12 s\ntook [...] s\n{fence}\n", 0),
        (f"{fence}console\n$ true\n$ false\n{fence}\n", 1),
        (f"{fence}console\n$ echo xylem: no >&2; false\nxylem: no\n{fence}\n", 0),
        (f"{fence}console\n$ echo a \\\n>   b\na b\n{fence}\n", 0),
        (f"{fence}console\n$ echo x > f\n{fence}\ntext\n{fence}console\n$ cat f\nx\n{fence}\n", 0),
        (f"{fence}console needs no-such-tool\n$ false\n{fence}\n", 0),
        (f"{fence}console needs bash cat\n$ false\n{fence}\n", 1),
        (f"{fence}console norun\n$ false\n{fence}\n{fence}c\n$ false\n{fence}\n", 0),
    ]
    failures = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as name:
            problems = check_text(text, "page", name, name)[1]
        if len(problems) != expected:
            print(f"expected {expected} complaints about\n{text}\ngot {problems}")
            failures += 1
    print(f"self-test: {len(cases)} pages, {failures} misjudged")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if len(arguments) != 3:
        print(__doc__)
        return 2
    page, build, source = (Path(argument).resolve() for argument in arguments)
    count, problems = check_page(page, build, source)
    for problem in problems:
        print(problem)
    print(f"{page.name}: {count} commands, {len(problems)} not as written")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
