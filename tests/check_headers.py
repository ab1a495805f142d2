#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that each header compiles alone, twice in a row; public ones with every compiler that is here.

    tests/check_headers.py [-D NAME=VALUE | -I DIR]... [--public DIR] [ROOT]

A header with a guard that is the first thing a source file of src/ includes is compiled alone by the build
itself; those are left out. Headers of include/, or of the DIR that has all that are installed, are also compiled as C++ and as plain
C99-style user code would include them: without the project's own include paths and definitions.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wstrict-prototypes"]

# Programs that include only mpi.h use names that other libraries' headers declare too.
USED = {"mpi.h": "size_t size = sizeof(uint8_t); void *nothing = NULL;\n"}

COMMENTS = r"\A(?:\s|/\*.*?\*/|//[^\n]*)*"
FIRST_INCLUDE = re.compile(COMMENTS + r'#include "([^"]+)"', re.DOTALL)
GUARD = re.compile(COMMENTS + r"#ifndef (\w+)\n#define \1\n", re.DOTALL)


def compiled_alone(src):
    """Names of the headers that a source file includes before anything else."""
    matches = (FIRST_INCLUDE.match(source.read_text()) for source in src.rglob("*.c"))
    return {match.group(1) for match in matches if match}


def compile_text(command, text):
    return subprocess.run(command + ["-fsyntax-only", "-"], input=text, text=True,
                          capture_output=True, check=False)


def jobs_for(root, public, extra):
    """(header, command, text) for every header and compiler."""
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    inside = ["-D_GNU_SOURCE", f"-I{root}/src", f"-I{root}/tests", f"-I{public}"] + extra
    alone = compiled_alone(root / "src")
    for header in sorted([*(root / "src").rglob("*.h"), *(root / "tests/testing").glob("*.h")]):
        name = header.relative_to(root / "tests" if header.parent.name == "testing" else root / "src")
        if str(name) in alone and GUARD.match(header.read_text()):
            continue
        text = f'#include "{name}"\n#include "{name}"\n'
        # What a header lacks, it lacks with any compiler.
        yield header, compilers[:1] + ["-std=c11", "-x", "c"] + WARNINGS + inside, text
    headers = [h for h in public.rglob("*.h") if h.name != "mpif.h"] if public.is_dir() else [] # that is Fortran
    for header in sorted(headers):
        name = header.relative_to(public)
        text = f"#include <{name}>\n#include <{name}>\n{USED.get(str(name), '')}"
        for compiler in compilers:
            yield header, [compiler, "-std=c99", "-x", "c"] + WARNINGS + [f"-I{public}"], text
        for compiler in filter(shutil.which, ("g++", "clang++")):
            yield header, [compiler, "-x", "c++", "-Wall", "-Werror", f"-I{public}"], text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("--public")
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    root = Path(options.root).resolve()
    extra = [f"-D{d}" for d in options.defines] + [f"-I{i}" for i in options.includes if i]
    public = Path(options.public or root / "include").resolve()
    jobs = list(jobs_for(root, public, extra))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compile_text(job[1], job[2]), jobs)
        for (header, command, _), result in zip(jobs, results):
            if result.returncode != 0:
                failed += 1
                print(f"{header} does not compile alone with {command[0]}:")
                print(result.stderr)
    print(f"{len(jobs)} compilations, {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
