#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that each static function with more than ten lines has a comment directly above it.

    tests/check_comments.py [ROOT [FOLDER...]]   sources in src/ and tools/, or in these folders
    tests/check_comments.py --self-test

Prints FILE:LINE: NAME for each function without one. Tests and fuzz targets are left out.
"""
import re
import sys
import tempfile
from pathlib import Path

from check_sizes import source_files

BODY_LINES = 10
FOLDERS = ("src", "tools")
TEST = re.compile(r"(_test|_fuzz)\.[ch]$|(^|/)(tests?|testing|fuzz)(/|\.[ch]$)")
STATIC = re.compile(r"^(?:[A-Z_]+\b(?:\([^)]*\))?\s+|__attribute__\(\(.*?\)\)\s+|inline\s+)*static\b")
# The name is the word before the first parenthesis that no attribute or macro in capitals opens.
ATTRIBUTE = re.compile(r"\b(?:__attribute__|_Alignas|[A-Z][A-Z0-9_]+)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
NAME = re.compile(r"(\w+)\s*\(")


def head_start(lines, brace):
    """Index of the first line of the head whose body opens on line `brace` (an index)."""
    at = brace
    while at > 0:
        above = lines[at - 1].rstrip()
        if not above or above.startswith("#") or above.endswith((";", "}", "*/", "\\")):
            break
        if above.lstrip().startswith("//"):
            break
        at -= 1
    return at


def has_comment(lines, head):
    """Whether a comment that is not behind code ends on the line above `head`."""
    above = lines[head - 1].strip() if head > 0 else ""
    if not above.endswith("*/"):
        return above.startswith("//") and "NOLINT" not in above
    at = head - 1
    while at > 0 and "/*" not in lines[at]:
        at -= 1
    return lines[at].lstrip().startswith("/*")


def uncommented(lines):
    """(name, line number of the head) of each static function with a long body and no comment."""
    brace = None
    for at, line in enumerate(lines):
        if line == "{" and brace is None:
            brace = at
        elif line == "}" and brace is not None:
            head = head_start(lines, brace)
            text = " ".join(lines[head:brace])
            if at - brace - 1 > BODY_LINES and STATIC.match(text) and not has_comment(lines, head):
                name = NAME.search(ATTRIBUTE.sub("", text)) or NAME.search(text)
                yield name.group(1) if name else "?", head + 1
            brace = None


def check(root, folders=FOLDERS):
    problems = []
    for name in source_files(root):
        if name.startswith(tuple(f"{folder}/" for folder in folders)) and not TEST.search(name):
            lines = (root / name).read_text(encoding="utf-8").splitlines()
            problems += [f"{name}:{line}: {function}" for function, line in uncommented(lines)]
    return problems


def self_test():
    long, short = "{\n" + "    a++;\n" * 11 + "}\n", "{\n" + "    a++;\n" * 10 + "}\n"
    cases = [
        ("src/a.c", "static int f(int a)\n" + long, ["src/a.c:1: f"]),
        ("src/a.c", "static int f(int a)\n" + short, []),
        ("src/a.c", "int f(int a)\n" + long, []),
        ("src/a.c", "/* Add. */\nstatic int f(int a)\n" + long, []),
        ("src/a.c", "/* Add,\n * eleven times. */\nstatic int f(int a,\n             int b)\n" + long, []),
        ("src/a.c", "/* Add. */\n\nstatic int f(int a)\n" + long, ["src/a.c:3: f"]),
        ("src/a.c", "int x; /* Not of f. */\nstatic int f(int a)\n" + long, ["src/a.c:2: f"]),
        ("src/a.c", "int x; /* Not\n        * of f. */\nstatic int f(int a)\n" + long, ["src/a.c:3: f"]),
        ("src/a.c", "#if X /* Not of f. */\nstatic int f(int a)\n" + long, ["src/a.c:2: f"]),
        ("src/a.c", "/* Of g. */\nstatic int g(void)\n" + short + "static int f(int a)\n" + long, ["src/a.c:15: f"]),
        ("src/a.c", "static void *(*f(int a))(void)\n" + long, ["src/a.c:1: f"]),
        ("src/a.c", "static struct s\nf(int a,\n  int b)\n" + long, ["src/a.c:1: f"]),
        ("src/a.h", "static inline int f(int a)\n" + long, ["src/a.h:1: f"]),
        ("src/a.h", "XY_HOT static inline int f(int a)\n" + long, ["src/a.h:1: f"]),
        ("src/a.c", "__attribute__((format(printf, 1, 2)))\nstatic int f(int a)\n" + long, ["src/a.c:1: f"]),
        ("src/a.c", "static __attribute__((noinline)) int f(int a)\n" + long, ["src/a.c:1: f"]),
        ("src/a.c", "static int XY_FORMAT(1, 2) f(int a)\n" + long, ["src/a.c:1: f"]),
        ("tools/a.c", "// NOLINTNEXTLINE(x)\nstatic int f(int a)\n" + long, ["tools/a.c:2: f"]),
        ("src/a_test.c", "static int f(int a)\n" + long, []),
        ("bench/a.c", "static int f(int a)\n" + long, []),
    ]
    failures = 0
    for path, text, expected in cases:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / path).parent.mkdir()
            (root / path).write_text(text, encoding="utf-8")
            problems = check(root)
            if problems != expected:
                print(f"expected {expected}, got {problems} for:\n{text}")
                failures += 1
    print(f"self-test: {len(cases)} trees, {failures} misjudged")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check(root, arguments[1:] or FOLDERS)
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} static functions of more than {BODY_LINES} lines have no comment directly above them")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
