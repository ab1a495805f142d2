#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make from src/mpi/bindings/functions.def what must agree with it.

  functions.py [--check] [ROOT]

writes include/mpi_functions.h and include/mpi_profiling.h (prototypes) and
docs/mpi-coverage.md (what is implemented: a function counts as implemented when a source of
src/mpi says XY_MPI_ALIAS(name)). With --check nothing is written, and the exit code is 1 when a
file differs. The files are kept in the repository: building Xylem needs no Python.
"""
import pathlib
import re
import sys

ENTRY = re.compile(r"^MPI_FUNCTION\((\w+), (\w+), \((.*)\)\)$")
ALIAS = re.compile(r"^\s*XY_MPI_ALIAS\((\w+)\)", re.MULTILINE)

HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * {title}
 * Made by src/mpi/bindings/functions.py from functions.def. Part of mpi.h, which comes first.
 */
#include "mpi.h"
#ifndef {guard}
#define {guard}
/* clang-format off */
{lines}
/* clang-format on */
#endif
"""

COVERAGE = """# MPI functions: what is there

Every function below exists in the library under its MPI_ and its PMPI_ name. Those that are not
implemented yet fail with MPI_ERR_UNSUPPORTED_OPERATION and one line that names the call.
This table is made by `src/mpi/bindings/functions.py`; a test keeps it in step with the sources.

{done} of {total} functions are implemented.

| function | implemented |
|---|---|
{rows}
"""


def read_functions(root):
    text = (root / "src/mpi/bindings/functions.def").read_text()
    entries = []
    for line in text.splitlines():
        if line.startswith("MPI_FUNCTION"):
            match = ENTRY.match(line)
            if not match:
                sys.exit(f"functions.def: cannot read: {line}")
            entries.append(match.groups())
    return entries


def prototypes(entries, prefix, guard, title):
    lines = "\n".join(f"{result} {prefix}{name}({args});" for result, name, args in entries)
    return HEADER.format(title=title, guard=guard, lines=lines)


def implemented(root):
    names = set()
    for source in sorted((root / "src/mpi").rglob("*.c")):
        if source.name == "unsupported.c":
            continue
        names.update(ALIAS.findall(source.read_text()))
    return names


def coverage(entries, root):
    have = implemented(root)
    known = {name for _, name, _ in entries}
    unknown = have - known
    if unknown:
        sys.exit("not in functions.def: " + " ".join(sorted(unknown)))
    rows = "\n".join(f"| MPI_{name} | {'yes' if name in have else 'no'} |"
                     for name in sorted(known))
    return COVERAGE.format(done=len(have), total=len(known), rows=rows)


def main(arguments):
    check = "--check" in arguments
    paths = [a for a in arguments if a != "--check"]
    root = pathlib.Path(paths[0] if paths else __file__).resolve()
    root = root if paths else root.parent.parent.parent.parent
    entries = read_functions(root)
    files = {
        "include/mpi_functions.h": prototypes(entries, "MPI_", "XYLEM_MPI_FUNCTIONS_H",
                                              "The functions of MPI."),
        "include/mpi_profiling.h": prototypes(entries, "PMPI_", "XYLEM_MPI_PROFILING_H",
                                              "The same functions under the names tools call."),
        "docs/mpi-coverage.md": coverage(entries, root),
    }
    stale = [name for name, text in files.items()
             if not (root / name).exists() or (root / name).read_text() != text]
    if not check:
        for name in stale:
            (root / name).write_text(files[name])
        return 0
    for name in stale:
        print(f"{name} is out of step: run src/mpi/bindings/functions.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
