#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the files and folders that pages and comments name are there, and that a name of src is one file.

    tests/check_paths.py [ROOT]        check CONTRIBUTING.md, README.md, docs/ and src/ of the tree at ROOT
    tests/check_paths.py --self-test   see that a wrong name is noticed

A path is what stands between backticks and begins with src/, tools/, tests/, bench/, scripts/, cmake/,
machines/, include/ or examples/; `*` stands for any text, capitals for a name of one's choice. The
architecture page may reserve folders that do not exist yet. In a comment of a source it is any word that
ends in .c or .h; the last part of it is looked for, and the parts before it where there are any.

No two files of src share a name, but tests, layer.c and the files that are named as their folder.
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


def problems_of_source(text, name, is_file):
    """Comments that name a source that is not there."""
    found = []
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        for path in re.findall(r"(?<![\w<.-])[\w/]+\.[ch]\b(?!>)", comment[0]):
            if not re.search(r"[A-Z]{2}", path) and not is_file(path):
                found.append(f"{name}:{text.count(chr(10), 0, comment.start()) + 1}: there is no {path}")
    return found


def problems_of_names(paths):
    """Files of src with the name of another one."""
    first, found = {}, []
    for path in map(Path, sorted(paths)):
        if path.stem == path.parent.name or re.fullmatch(r"layer\.c|.*_(test|fuzz)\.c", path.name):
            continue
        if path.name in first:
            found.append(f"{path}: {first[path.name]} has the same name; begin one with that of its folder")
        first.setdefault(path.name, path)
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
    sources = [*root.glob("src/**/*.[ch]"), *root.glob("tools/**/*.[ch]"), *root.glob("include/*.h"),
               *root.glob("bench/**/*.[ch]"), *root.glob("examples/*.c"), *root.glob("tests/testing/*.h")]
    found += problems_of_names(str(path.relative_to(root)) for path in root.glob("src/**/*.[ch]"))
    names = ["/" + str(path.relative_to(root)) for path in sources]
    for path in sorted(sources):
        found += problems_of_source(path.read_text(encoding="utf-8"), str(path.relative_to(root)),
                                    lambda word: any(name.endswith("/" + word) for name in names))
    return found


def self_test():
    cases = [("see `src/a.c`", 0), ("see `src/b.c`", 1), ("`src/COMPONENT/foo_test.c`", 0), ("`bench/x`, `src/a.c`", 1),
             ("`xylem src`", 0)]
    bad = [text for text, wanted in cases if len(problems_of(text, "p.md", lambda p: p == "src/a.c")) != wanted]
    bad += ["reserved"] if problems_of("| 1 | `src/later` |", "docs/architecture.md", lambda p: False) else []
    sources = [("/* see a.c */", 0), ("/* see x/a.c, b.h */", 2), ("/* <b.h> */ b.h", 0), ("/* NAME.c */", 0)]
    bad += [text for text, wanted in sources
            if len(problems_of_source(text, "s.c", lambda word: word == "a.c")) != wanted]
    lists = [("src/a/x.c src/b/x.c", 1), ("src/a/x.c src/a/x.h", 0), ("src/a/layer.c src/b/layer.c", 0),
             ("src/a/b.h src/b/b.h src/c/b.h", 1), ("src/a/x_test.c src/b/x_test.c", 0)]
    bad += [text for text, wanted in lists if len(problems_of_names(text.split())) != wanted]
    print(f"self-test: {len(cases) + len(sources) + len(lists) + 1} cases, {len(bad)} misjudged {bad or ''}")
    return 1 if bad else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    found = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
