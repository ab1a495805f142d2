#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does an editor find every MPI function?

    entry_points.py ROOT BUILD

`ctags -R src build` must find the definition of each function of functions.def, once, and of the
impl_ function, or the one that is called instead, that does its work; and compile_commands.json must list the files they are in. No
other name that the sources define begins with MPI_ or PMPI_: these belong to the standard. The translations for other
MPIs (src/mpi/abi) define all of them again.
Exit code 77: there is no ctags.
"""
import collections
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path


def tags(root, build):
    """({function: files that define it}, {any other name: a file}), from Universal Ctags with its
    own idea of what to list."""
    found, others = collections.defaultdict(set), {}
    out = subprocess.run(["ctags", "-R", "-f", "-", root / "src", build / "generated"], check=True,
                         text=True, capture_output=True).stdout
    for line in out.splitlines():
        fields = line.split("\t")
        if "/mpi/abi/" in fields[1]:
            continue
        if len(fields) > 3 and "f" in fields[3:]:
            found[fields[0]].add(Path(fields[1]).resolve())
        else:
            others[fields[0]] = fields[1]
    return found, others


def main(arguments):
    root, build = (Path(argument).resolve() for argument in arguments)
    if not shutil.which("ctags"):
        print("ctags is not installed (see packages.txt); left out")
        return 77
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "src/mpi/bindings"))
    import generate  # pylint: disable=import-error,import-outside-toplevel
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    compiled = {(Path(c["directory"]) / c["file"]).resolve() for c in commands}
    (found, others), problems = tags(root, build), []
    headers = [*(root / "include").glob("*.h"), *(build / "include").glob("*.h")]
    public = set(re.findall(r"\w+", " ".join(h.read_text(encoding="utf-8") for h in headers)))
    for name in sorted({*found, *others} - public):
        if not re.match(r"P?MPI_[A-Za-z]", name):
            continue
        where = others.get(name) or sorted(found[name])[0]
        problems.append(f"{where} defines {name}: names of the project begin with XMPI_ or mpi_")
    functions = generate.read(root / "src/mpi/bindings/functions.def")
    for function in functions:
        name = function.full_name("PMPI_")
        files = found[name]
        if len(files) != 1:
            problems.append(f"{name} is found in {len(files)} files")
        elif not files <= compiled:
            problems.append(f"{name} is in {files.pop()}, which is not compiled")
        does = function.base.call.split("(")[0] if function.base.call else function.impl
        if function.is_implemented and not found[does]:
            problems.append(f"{does}, which does MPI_{function.name}, is not found")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(functions)} functions, {len(problems)} problems")
    return 1 if problems or not functions else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
