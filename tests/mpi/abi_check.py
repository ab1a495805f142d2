#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a program compiled elsewhere relies on.

  abi_check.py header INCLUDE            mpi.h in the directory INCLUDE compiles alone, as C and as C++
  abi_check.py symbols ROOT LIBRARY
      LIBRARY exports exactly the functions of functions.def under both names, and the two names are
      one function; LIBRARY needs nothing but the C library
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """#include <mpi.h>
#ifdef TWICE
#include <mpi.h>
#endif
extern int (*const f)(MPI_Comm, int *);
extern int (*const g)(MPI_Comm, int *);
int (*const f)(MPI_Comm, int *) = MPI_Comm_rank;
int (*const g)(MPI_Comm, int *) = PMPI_Comm_rank;
MPI_Comm world(void);
MPI_Comm world(void) { return MPI_COMM_WORLD; }
"""

COMPILERS = [("cc", ["-std=c99"], "c"), ("cc", ["-std=c11"], "c"), ("clang", ["-std=c99"], "c"),
             ("c++", ["-std=c++11"], "c++"), ("c++", ["-std=c++17"], "c++"),
             ("clang++", ["-std=c++17"], "c++")]


def check_header(include):
    failed = tried = 0
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "program"
        source.write_text(PROGRAM)
        for name, options, language in COMPILERS:
            if not shutil.which(name):
                continue
            tried += 1
            command = [name, "-x", language, *options, "-pedantic-errors", "-Wall", "-Wextra",
                       "-Werror", "-DTWICE", f"-I{include}", "-c", str(source), "-o",
                       "/dev/null"]
            failed += subprocess.run(command, check=False).returncode != 0
    if not tried:
        sys.exit("no compiler was found")
    return failed


def symbols(arguments):
    """name -> (address, kind) of the defined symbols."""
    text = subprocess.run(["nm", "--defined-only", *arguments], check=True, text=True,
                          capture_output=True).stdout
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:
            found[words[2]] = (words[0], words[1])
    return found


def check_symbols(root, library):
    sys.path.insert(0, str(root / "src/mpi/bindings"))
    sys.dont_write_bytecode = True
    import generate  # pylint: disable=import-error,import-outside-toplevel
    functions = generate.read(root / "src/mpi/bindings/functions.def")
    exported = symbols(["-D", library])
    pairs = sorted((f.full_name("MPI_"), f.full_name("PMPI_")) for f in functions)
    wanted = {name for pair in pairs for name in pair}
    problems = [f"{name} is not exported" for name in sorted(wanted - set(exported))]
    problems += [f"{name} is exported but not in functions.def" for name in sorted(exported)
                 if name.startswith(("MPI_", "PMPI_")) and name not in wanted]
    problems += [f"{plain} and {profiled} are different functions" for plain, profiled in pairs
                 if exported.get(plain, (0, 0))[0] != exported.get(profiled, (1, 1))[0]]
    for problem in problems:
        print(problem, file=sys.stderr)
    return len(problems)


def check_needed(library):
    """Each library of the process may bring thread-local variables that are swapped with the ranks."""
    out = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    needed = [line.split("[")[1].rstrip("]") for line in out.splitlines() if "(NEEDED)" in line]
    known = ("libc.", "libm.", "libpthread.", "libdl.", "librt.", "ld-linux", "libgcc_s.", "libasan.",
             "libubsan.", "libtsan.", "libclang_rt.")
    strange = [name for name in needed if not name.startswith(known)]
    for name in strange:
        print(f"{library} needs {name}: programs would load it, too")
    return len(strange)


def main(arguments):
    what, where = arguments[0], pathlib.Path(arguments[1]).resolve()
    if what == "header":
        return check_header(where) != 0
    return check_symbols(where, arguments[2]) + check_needed(arguments[2]) != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
