#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the parameters of all MPI functions, and the constants of mpi.h, for program descriptions: mpi_facts.py OUTPUT.c

The functions come from src/mpi/bindings/functions.def; program.h has the roles of parameters.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "mpi/bindings"))

import fortran  # noqa: E402
import generate as bindings  # noqa: E402


def kind(parameter):
    """XY_ARG_... of a parameter."""
    base = parameter.base.removeprefix("const ").removesuffix(" *")
    if parameter.base == "const char *" or base in ("MPI_Info", "MPI_Errhandler") or "function" in base:
        return "x"
    if parameter.name in bindings.NEED_NOT_GIVE:
        return "x"
    if base == "void":
        return "b"
    return "p" if parameter.is_array or parameter.base.endswith("*") else "v"


def has_large(function, functions):
    """Does its form with large counts read and set the same arrays and variables?"""
    large = functions.get(function.name + "_c")
    if large is None or len(large.parameters) != len(function.parameters):
        return False
    return all(a.type == b.type for a, b in zip(function.parameters, large.parameters)
               if kind(a) in "px" or kind(b) in "px")


def call_row(function, functions):
    kinds = "".join(kind(p) for p in function.parameters)
    names = ", ".join(f'"{p.name}"' for p in function.parameters) or "NULL"
    return f'    {{"MPI_{function.name}", "{kinds}", {{{names}}}, {str(has_large(function, functions)).lower()}}},\n'


def constant_row(name, kind_of_handle):
    handle = "NULL" if kind_of_handle == "integer" else f'"MPI_{kind_of_handle}"'
    return f'    {{"{name}", {handle}, (int64_t)(intptr_t){name}}},\n'


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: mpi_facts.py OUTPUT.c")
    functions = {f.name: f for f in bindings.read(pathlib.Path(bindings.__file__).with_name("functions.def"))}
    known = [f for f in functions.values() if f.result == "int" and not f.name.endswith("_c")]
    header = (pathlib.Path(__file__).parents[2] / "include/mpi.h").read_text(encoding="utf-8")
    text = bindings.SPDX + "/* Written by src/program/mpi_facts.py. */\n#include <mpi.h>\n\n"
    text += '#include "program/code.h"\n\nconst xy_mpi_call_t program_mpi_calls[] = {\n'
    text += "".join(call_row(f, functions) for f in known) + "};\n"
    text += "const size_t program_mpi_calls_count = sizeof(program_mpi_calls) / sizeof(program_mpi_calls[0]);\n\n"
    text += "const program_constant_t program_mpi_constants[] = {\n"
    text += "".join(constant_row(name, handle) for name, handle, _ in fortran.constants(header)) + "    {0}};\n"
    pathlib.Path(arguments[0]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
