#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check with the linker's eyes that no component uses one above it.

    tests/check_symbols.py BUILD [ROOT]   check the objects of the build tree BUILD
    tests/check_symbols.py --self-test    compile small trees, and see each break caught

check_layers.py reads includes; a declaration that is repeated by hand escapes it. This check reads
what `nm` says about the objects of the libraries: an object refers to no symbol that is defined in
a component or part of its own layer or above (docs/architecture.md has the table). Which object
belongs to which source comes from compile_commands.json, so objects of sources that are gone do not
matter. Sources that the build writes count for the part whose folder they are written to.

Functions that process/libc puts in front of the C library have the C library's names: whoever
calls them means the C library.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import check_layers

IN_FRONT = "process/libc"
OWN = re.compile(r"(mpi|process|xy)_")


def output_of(entry):
    """The object that a line of compile_commands.json makes, or None."""
    words = entry.get("arguments") or shlex.split(entry["command"])
    for flag, value in zip(words, words[1:]):
        if flag == "-o":
            return Path(entry["directory"]) / value
    return None


def source_below_src(path, root, build):
    """The source relative to src/; of a generated one its place below BUILD/generated."""
    for top in (root / "src", build / "generated"):
        if top in path.parents:
            return path.relative_to(top).as_posix()
    return None


def library_objects(build, root, layers):
    """{object: component} of all that go into a library; tests and commands do not."""
    objects = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        output = output_of(entry)
        source = source_below_src(Path(entry["file"]), root, build)
        if output is None or source is None or "/xy_" not in output.as_posix():
            continue
        component = check_layers.component_of(source, layers)
        if component and output.exists():
            objects[output] = component
    return objects


def read_symbols(objects):
    """Two lists of (object, symbol): what is defined and what is undefined."""
    defined, undefined = [], []
    text = subprocess.run(["nm", "-A", "-g", "-P", *map(str, objects)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for line in text.splitlines():
        where, name, kind = re.match(r"(.*): (\S+) (\S)", line).groups()
        (undefined if kind in "Uwv" else defined).append((Path(where), name))
    return defined, undefined


def check(build, root):
    """All complaints, as lines; and how many references were looked at."""
    layers = check_layers.read_layers(root)
    objects = library_objects(build, root, layers)
    if not objects:
        return [f"{build}: no objects of libraries; build it first"], 0
    defined, undefined = read_symbols(sorted(objects))
    homes = {}
    for path, name in defined:
        if objects[path] != IN_FRONT or OWN.match(name):
            homes.setdefault(name, set()).add(objects[path])
    problems, seen = [], 0
    for path, name in undefined:
        component = objects[path]
        for home in sorted(homes.get(name, ())):
            seen += 1
            if home != component and not check_layers.is_below(home, component, layers):
                problems.append(f"{component}: {path.name} refers to {name}, which {home} defines on layer "
                                f"{check_layers.show(layers[home])}; {component} is on layer "
                                f"{check_layers.show(layers[component])}")
    return sorted(set(problems)), seen


TABLE = ("| layer | component | what |\n|---|---|---|\n| 1 | `src/low` | x |\n| 2 | `src/group` | x |\n"
         "| 2.1 | `src/group/a` | x |\n| 2.2 | `src/group/b` | x |\n| 3 | `src/mpi` | x |\n"
         "| 3.1 | `src/process/libc` | x |\n")
GOOD = {
    "low/low.c": "int low(void) { return 1; }\n",
    "group/a/a.c": "int low(void); int exit_hook(void); int mpi_a(void) { return low(); }\n",
    "group/b/b.c": "int mpi_a(void); int mpi_b(void) { return mpi_a(); }\n",
    "process/libc/c.c": "int getenv_like(void) { return 0; } int mpi_c(void) { return 0; }\n",
}

# What is changed in the good tree, and a word that the complaint must hold; "" for none.
CASES = [
    ({}, ""),
    ({"low/low.c": "int mpi_a(void); int low(void) { return mpi_a(); }\n"},
     "low: low.c.o refers to mpi_a, which group/a defines"),
    ({"group/a/a.c": "int mpi_b(void); int mpi_a(void) { return mpi_b(); }\n"},
     "group/a: a.c.o refers to mpi_b, which group/b defines on layer 2.2"),
    ({"group/a/a.c": "extern int word; int mpi_a(void) { return word; }\n",
      "group/b/b.c": "int word = 1;\n"}, "refers to word"),
    ({"low/low.c": "int mpi_b(void) __attribute__((weak));\n"
                   "int low(void) { return mpi_b ? 1 : 0; }\n"}, "refers to mpi_b"),
    ({"group/a/a.c": "int getenv_like(void); int mpi_a(void) { return getenv_like(); }\n"}, ""),
    ({"group/a/a.c": "int mpi_c(void); int mpi_a(void) { return mpi_c(); }\n"}, "refers to mpi_c"),
    ({"group/a/test.c": "int mpi_b(void); int run(void) { return mpi_b(); }\n"}, ""),
]


def check_changed(change):
    with tempfile.TemporaryDirectory() as name:
        root, build = Path(name) / "root", Path(name) / "build"
        (root / "docs").mkdir(parents=True)
        (root / "docs/architecture.md").write_text(TABLE, encoding="utf-8")
        commands = []
        for source, text in {**GOOD, **change}.items():
            path = root / "src" / source
            target = "test_x" if source.endswith("test.c") else "xy_x"
            output = build / f"{target}.dir" / f"{source}.o"
            for folder in (path.parent, output.parent):
                folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            command = [os.environ.get("CC", "cc"), "-c", str(path), "-o", str(output)]
            subprocess.run(command, check=True)
            commands.append({"directory": str(build), "arguments": command, "file": str(path)})
        (build / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        return check(build, root)[0]


def self_test():
    failures = 0
    for change, expected in CASES:
        problems = check_changed(change)
        if bool(problems) != bool(expected) or (expected and expected not in "\n".join(problems)):
            print(f"{change}: expected '{expected}', got {problems}")
            failures += 1
    print(f"self-test: {len(CASES)} trees, {failures} misjudged")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if not arguments:
        print(__doc__)
        return 2
    root = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).resolve().parent.parent
    problems, seen = check(Path(arguments[0]).resolve(), root.resolve())
    for problem in problems:
        print(problem)
    print(f"{seen} references between objects, {len(problems)} of them upwards")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
