#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the files and folders that pages name are there.

    tests/check_paths.py [ROOT]        check CONTRIBUTING.md, README.md and docs/ of the tree at ROOT
    tests/check_paths.py --self-test   see that a wrong name is noticed

A path is what stands between backticks and begins with src/, tools/, tests/, bench/, scripts/, cmake/,
machines/, include/ or examples/; `*` stands for any text, capitals for a name of one's choice. The
architecture page may reserve folders that do not exist yet.
"""
import re
import sys
from pathlib import Path

PATH = re.compile(r"`((?:src|tools|tests|bench|scripts|cmake|machines|include|examples)/[A-Za-z0-9_*./+-]*)`")


def problems_of(text, name, exists):
    """Lines that name what is not there."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for path in PATH.findall(line):
            is_pattern = re.search(r"/[A-Z]+[/_.]|/[A-Z]+$", path.replace("README", "").replace("CMakeLists", ""))
            is_reserved = name.endswith("architecture.md") and line.startswith("|")
            if not is_pattern and not is_reserved and not exists(path):
                found.append(f"{name}:{number}: there is no {path}")
    return found


def check(root):
    def exists(path):
        if "*" in path:
            return any(root.glob(path))
        return (root / path).exists()
    pages = [root / "CONTRIBUTING.md", root / "README.md", *sorted((root / "docs").glob("*.md"))]
    found = []
    for page in pages:
        found += problems_of(page.read_text(encoding="utf-8"), str(page.relative_to(root)), exists)
    return found


def self_test():
    cases = [("see `src/a.c`", 0), ("see `src/b.c`", 1), ("`src/ROOM/foo_test.c`", 0), ("`bench/x`, `src/a.c`", 1),
             ("`xylem src`", 0)]
    bad = [text for text, wanted in cases if len(problems_of(text, "p.md", lambda p: p == "src/a.c")) != wanted]
    bad += ["reserved"] if problems_of("| 1 | `src/later` |", "docs/architecture.md", lambda p: False) else []
    print(f"self-test: {len(cases) + 1} cases, {len(bad)} misjudged {bad or ''}")
    return 1 if bad else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    found = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
