#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the table of another ABI with the header of that MPI.

  facts.py ABI COMPILER

compiles a program with COMPILER (mpicc.openmpi) that compares every constant, every predefined handle and the
status with src/mpi/abi/ABI.def; entries that only Open MPI 5 has, if it is that one. Exit code 77: there is no such compiler.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src/mpi/abi"))
import translate  # noqa: E402

# Entries of later versions are marked in the table; Fortran types that a compiler may lack are no facts of the ABI.
LATER = re.compile(r"^(MPIX?_\w+) .*# 5$", re.M)
NOT_IN_C = {"MPI_LB", "MPI_UB", "MPI_INTEGER16", "MPI_REAL2", "MPI_COMPLEX4", "MPI_2COMPLEX", "MPI_2DOUBLE_COMPLEX", "MPI_C_COMPLEX",
            "MPI_LONG_DOUBLE_COMPLEX", "MPI_ERRORS_THROW_EXCEPTIONS"}
STATUS = {"openmpi": (24, 0, 4, 8), "mpich": (20, 8, 12, 16)}


def program(abi, later):
    lines = ["#include <mpi.h>", "#if __has_include(<mpi-ext.h>)", "#include <mpi-ext.h>", "#endif", "#include <stddef.h>",
             "#include <stdio.h>", "static int wrong;",
             "#define IS(a, b) if ((long long)(a) != (long long)(b)) wrong = 1, printf(\"%s is %lld\\n\", #a, (long long)(a));",
             "int main(void)", "{"]
    size, source, tag, error = STATUS[abi.name]
    lines += [f"    IS(sizeof(MPI_Status), {size})", f"    IS(offsetof(MPI_Status, MPI_SOURCE), {source})",
              f"    IS(offsetof(MPI_Status, MPI_TAG), {tag})", f"    IS(offsetof(MPI_Status, MPI_ERROR), {error})"]
    for name, value in abi.constants.items():
        if name not in later:
            lines.append(f"    IS({name}, {value}LL)")
    for name, _, what, _ in abi.handles:
        if name in later or name in NOT_IN_C:
            continue
        other = f"&{what}" if abi.name == "openmpi" else f"(int){what}"
        cast = "(size_t)(void *)" if abi.name == "openmpi" else "(int)(size_t)"
        lines.append(f"    IS({cast}{name}, {'(size_t)(void *)' if abi.name == 'openmpi' else ''}{other})")
    return "\n".join(lines + ["    return wrong;", "}", ""])


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in translate.ABIS:
        sys.exit(f"usage: facts.py {'|'.join(translate.ABIS)} COMPILER")
    if not shutil.which(arguments[1]):
        print(f"{arguments[1]} is not installed")
        return 77
    path = ROOT / f"src/mpi/abi/{arguments[0]}.def"
    macros = subprocess.run([arguments[1], "-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"], capture_output=True, text=True,
                            check=True).stdout
    is_later = re.search(r"^#define OMPI_MAJOR_VERSION ([5-9]|\d\d)$", macros, re.M)
    text = program(translate.Abi(path), set() if is_later else set(LATER.findall(path.read_text(encoding="utf-8"))))
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "facts.c"
        source.write_text(text, encoding="utf-8")
        subprocess.run([arguments[1], "-w", source, "-o", source.with_suffix("")], check=True)
        return subprocess.run([source.with_suffix("")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
