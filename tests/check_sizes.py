#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that functions and files stay short.

    tests/check_sizes.py [ROOT]        functions of at most 80 lines, files of at most 900
    tests/check_sizes.py --self-test

What must be longer is listed in tests/sizes_allowed.txt with its reason:

    src/room/file.c                    the reason
    src/room/file.c:function           the reason
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FUNCTION_LINES = 80
FILE_LINES = 900
# clang-format puts the brace of a function, and of nothing else, on a line of its own in the
# first column; the name is the last word before the parenthesis above it.
NAME = re.compile(r"(\w+)\s*\(")


def functions(lines):
    """(name, first line number, length) of each function body."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{" and start is None:
            start = number
        elif line == "}" and start is not None:
            yield function_name(lines, start), start, number - start + 1
            start = None


def function_name(lines, brace):
    """The name of the function whose opening brace is on line `brace`."""
    for line in reversed(lines[max(0, brace - 12):brace - 1]):
        if line and not line[0].isspace() and NAME.search(line):
            return NAME.search(line).group(1)
    return "?"


def read_allowed(root):
    """{place: reason}, and complaints about lines without a reason."""
    allowed, problems = {}, []
    path = root / "tests/sizes_allowed.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            place, _, reason = line.strip().partition(" ")
            allowed[place] = reason.strip()
            if not reason.strip():
                problems.append(f"tests/sizes_allowed.txt: {place} is listed without a reason")
    return allowed, problems


def source_files(root):
    """The C files of the tree; git leaves out what is ignored."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard",
                             "*.c", "*.h"], capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [name for name in sorted(set(listed.stdout.split())) if (root / name).exists()]
    return sorted(str(path.relative_to(root)) for pattern in ("*.c", "*.h")
                  for path in root.rglob(pattern) if "build" not in path.relative_to(root).parts)


def check(root):
    allowed, problems = read_allowed(root)
    used = set()
    for name in source_files(root):
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        found = [(name, name, len(lines), FILE_LINES)]
        found += [(f"{name}:{function}", f"{name}:{start}: {function}", length, FUNCTION_LINES)
                  for function, start, length in functions(lines)]
        for place, where, length, limit in found:
            if length > limit and place in allowed:
                used.add(place)
            elif length > limit:
                problems.append(f"{where} has {length} lines, more than {limit}; split it, or say "
                                "why not in tests/sizes_allowed.txt")
    problems += [f"tests/sizes_allowed.txt: {place} is short or gone; remove the line"
                 for place in allowed if place not in used]
    return problems


def function_of(lines):
    """A C function that is `lines` long with its braces."""
    return "static int\nlong_one(int a,\n         int b)\n{\n" + "    a++;\n" * (lines - 2) + "}\n"


def self_test():
    cases = [
        (function_of(FUNCTION_LINES), "", []),
        (function_of(FUNCTION_LINES + 1), "", ["long_one has 81 lines"]),
        (function_of(FUNCTION_LINES + 1), "a.c:long_one one big table\n", []),
        (function_of(FUNCTION_LINES + 1), "a.c:long_one\n", ["without a reason"]),
        (function_of(10), "a.c:long_one a reason\n", ["short or gone"]),
        ("int x;\n" * FILE_LINES, "", []),
        ("int x;\n" * (FILE_LINES + 1), "", ["a.c has 901 lines"]),
    ]
    failures = 0
    for text, allowed, expected in cases:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "tests").mkdir()
            (root / "a.c").write_text(text, encoding="utf-8")
            (root / "tests/sizes_allowed.txt").write_text(allowed, encoding="utf-8")
            problems = check(root)
            if len(problems) != len(expected) or any(e not in p for e, p in zip(expected, problems)):
                print(f"expected {expected}, got {problems}")
                failures += 1
    print(f"self-test: {len(cases)} trees, {failures} misjudged")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
