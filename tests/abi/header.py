#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write an mpi.h of another MPI's ABI, for tests on machines without that MPI.

  header.py ABI FILE

It is Xylem's mpi.h with the types, constants and predefined handles of src/mpi/abi/ABI.def.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src/mpi/abi"))
import translate  # noqa: E402

HANDLE = {"openmpi": "typedef struct other_{name} *MPI_{name};", "mpich": "typedef int MPI_{name};"}
STATUS = {"openmpi": ("int MPI_SOURCE, MPI_TAG, MPI_ERROR, internal;", "unsigned long more;"),
          "mpich": ("int internal[2];", "int MPI_SOURCE, MPI_TAG, MPI_ERROR;")}
KINDS = ("", "COMM_", "TYPE_", "WIN_")
# Constants that are addresses. None: a variable of the library.
ADDRESSES = {
    "openmpi": {"MPI_UNWEIGHTED": "((int *)2)", "MPI_WEIGHTS_EMPTY": "((int *)3)",
                "MPI_T_PVAR_ALL_HANDLES": "((MPI_T_pvar_handle)-1)", "MPI_F_STATUS_IGNORE": None,
                "MPI_F_STATUSES_IGNORE": None,
                **{f"MPI_{kind}{what}_FN": f"OMPI_C_MPI_{kind}{what}_FN" for kind in KINDS
                   for what in ("NULL_COPY", "DUP", "NULL_DELETE")}},
    "mpich": {"MPI_IN_PLACE": "((void *)-1)", "MPI_STATUS_IGNORE": "((MPI_Status *)1)",
              "MPI_STATUSES_IGNORE": "((MPI_Status *)1)", "MPI_FILE_NULL": "((MPI_File)0)",
              "MPI_UNWEIGHTED": None, "MPI_WEIGHTS_EMPTY": None, "MPI_T_PVAR_ALL_HANDLES": None,
              "MPI_F_STATUS_IGNORE": None, "MPI_F_STATUSES_IGNORE": None,
              **{f"MPI_{kind}DUP_FN": "MPIR_Dup_fn" for kind in KINDS}},
}
ATTRIBUTES = "".join(
    f"int OMPI_C_MPI_{kind}{what}_COPY_FN(MPI_{object_type}, int, void *, void *, void *, int *);\n".replace("DUP_COPY", "DUP")
    for kind, object_type in zip(KINDS, ("Comm", "Comm", "Datatype", "Win")) for what in ("NULL", "DUP")) + "".join(
    f"int OMPI_C_MPI_{kind}NULL_DELETE_FN(MPI_{object_type}, int, void *, void *);\n"
    for kind, object_type in zip(KINDS, ("Comm", "Comm", "Datatype", "Win")))
VARIABLES = {
    "openmpi": "extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;\n" + ATTRIBUTES,
    "mpich": "extern int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY, *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;\n"
             "int MPIR_Dup_fn(int, int, void *, void *, void *, int *);\n",
}


def handles_of(abi, own):
    """What stands behind the name of each predefined handle."""
    found = {}
    for name, other, what, _ in abi.handles:
        handle = f"MPI_{translate.kind_of_handle(other, own[other])}"
        found[name] = f"(({handle}){'&' if abi.name == 'openmpi' else ''}{what})"
    return found


def define(line, abi, values, addresses):
    """One #define of mpi.h as the other ABI has it; None: it has none."""
    name, text = re.match(r"^#define (MPI_\w+) +(.+)$", line).groups()
    if name in addresses:
        return f"#define {name} {addresses[name]}" if addresses[name] else None
    if name in values:
        return f"#define {name} {values[name]}"
    if name in abi.constants:
        return f"#define {name} ({abi.constants[name]})"
    return None if re.match(r"\(\(MPI_\w+\)0x", text) else line


def header_of(abi):
    header = (ROOT / "include/mpi.h").read_text(encoding="utf-8")
    _, own = translate.read_own(header)
    for name in translate.fortran.HANDLES:
        is_address = (name, abi.name) == ("File", "mpich")
        header = header.replace(f"typedef struct MPI_ABI_{name} *MPI_{name};",
                                "typedef void *MPI_File;" if is_address else HANDLE[abi.name].format(name=name))
    fields = "\n    ".join(STATUS[abi.name])
    header = re.sub(r"(typedef struct \{\n    )int MPI_SOURCE;[^}]*(\n\} MPI_Status;)", rf"\g<1>{fields}\g<2>", header, count=1)
    values, lines = handles_of(abi, own), []
    for line in header.splitlines():
        if re.match(r"^#define MPI_\w+ +", line):
            line = define(line, abi, values, ADDRESSES[abi.name])
        if line is not None:
            lines.append(line)
    text = re.sub(r"\b(MPIX?_\w+) = -?(?:0x)?[0-9a-f]+\b(,?)",
                  lambda m: f"{m[1]} = {abi.constants[m[1]]}{m[2]}" if m[1] in abi.constants else "", "\n".join(lines))
    text = re.sub(r"\benum \{\s*\};", "", text)
    text = re.sub(r"\benum (MPI_\w+) \{\s*\}", r"enum \1 { \1_of_none }", text)
    objects = "".join(f"extern char {what};\n" for what in sorted({h[2] for h in abi.handles})) if abi.name == "openmpi" else ""
    return text.replace("/* ---- Functions", objects + VARIABLES[abi.name] + "/* ---- Functions", 1)


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in translate.ABIS:
        sys.exit(f"usage: header.py {'|'.join(translate.ABIS)} FILE")
    abi = translate.Abi(ROOT / f"src/mpi/abi/{arguments[0]}.def")
    out = pathlib.Path(arguments[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(header_of(abi) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
