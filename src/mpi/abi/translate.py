#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the translations of other MPIs' ABIs from functions.def and one table per ABI.

  translate.py DIRECTORY

writes below DIRECTORY, the build tree:

  generated/mpi/abi/NAME/facts.h   constants, conversions of numbers, predefined handles of NAME.def
  generated/mpi/abi/NAME/facts.c   the conversions that are not inline, and the tables of handles
  generated/mpi/abi/message_calls.c   messages and collectives with the arguments of the other ABI; compiled once per ABI
  generated/mpi/abi/calls.c        the other functions of C
  generated/mpi/abi/fortran_calls.c   the same for Fortran (translate_fortran.py), with fortran_capitals.h

A name beginning with F_ is the foreign MPI_. Functions in SPECIAL are written by hand.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bindings"))
import fortran  # noqa: E402
import generate as bindings  # noqa: E402
import translate_fortran  # noqa: E402

ABIS = ("openmpi", "mpich")
# Functions of programs among the arguments, results that come later, lists in other forms.
SPECIAL = {
    "Op_create", "Op_create_c", "Comm_create_errhandler", "Errhandler_create", "File_create_errhandler",
    "Win_create_errhandler", "Session_create_errhandler", "Comm_create_keyval", "Type_create_keyval",
    "Win_create_keyval", "Keyval_create", "Grequest_start", "Register_datarep", "Register_datarep_c",
    "Comm_get_attr", "Attr_get", "Win_get_attr", "Comm_spawn", "Comm_spawn_multiple", "Comm_idup",
    "Comm_idup_with_info", "Type_get_contents", "Type_get_contents_c", "Get_version", "Pcontrol",
    "T_cvar_handle_alloc", "T_pvar_handle_alloc",
    "Status_c2f", "Status_f2c", "Status_c2f08", "Status_f082c", "Status_f2f08", "Status_f082f"}
# The standard's own ABI has them, the others do not; events of the tool interface have callbacks.
ABSENT = re.compile(r"^Abi_|_(toint|fromint|c2f|f2c)$|^T_event_")

# The kinds of numbers: which constants of mpi.h they hold. A value that is none of them is passed on
# ("same"), or becomes one that is invalid.
KINDS = {
    "rank": ("MPI_ANY_SOURCE MPI_PROC_NULL MPI_ROOT MPI_UNDEFINED", "invalid"),
    "tag": ("MPI_ANY_TAG MPI_UNDEFINED", "invalid"),
    "thread": ("MPI_THREAD_\\w+", "same"),
    "compare": ("MPI_IDENT MPI_CONGRUENT MPI_SIMILAR MPI_UNEQUAL", "same"),
    "topology": ("MPI_CART MPI_GRAPH MPI_DIST_GRAPH MPI_UNDEFINED", "same"),
    "split": ("MPI_COMM_TYPE_\\w+ MPI_UNDEFINED", "invalid"),
    "lock": ("MPI_LOCK_\\w+", "invalid"),
    "flavor": ("MPI_WIN_FLAVOR_\\w+", "same"),
    "model": ("MPI_WIN_UNIFIED MPI_WIN_SEPARATE", "same"),
    "seek": ("MPI_SEEK_\\w+", "invalid"),
    "keyval": ("MPI_KEYVAL_INVALID MPI_TAG_UB MPI_IO MPI_HOST MPI_WTIME_IS_GLOBAL MPI_UNIVERSE_SIZE MPI_APPNUM"
               " MPI_LASTUSEDCODE MPI_WIN_BASE MPI_WIN_DISP_UNIT MPI_WIN_SIZE MPI_WIN_CREATE_FLAVOR MPI_WIN_MODEL",
               "same"),
    "combiner": ("MPI_COMBINER_\\w+", "same"),
    "order": ("MPI_ORDER_\\w+", "invalid"),
    "distribution": ("MPI_DISTRIBUTE_(?:NONE|BLOCK|CYCLIC)", "invalid"),
    "darg": ("MPI_DISTRIBUTE_DFLT_DARG", "same"),
    "typeclass": ("MPI_TYPECLASS_\\w+", "invalid"),
    "verbosity": ("MPI_T_VERBOSITY_\\w+", "same"),
    "bind": ("MPI_T_BIND_\\w+", "same"),
    "scope": ("MPI_T_SCOPE_\\w+", "same"),
    "var_class": ("MPI_T_PVAR_CLASS_\\w+", "same"),
    "source_order": ("MPI_T_SOURCE_\\w+", "same"),
    "displacement": ("MPI_DISPLACEMENT_CURRENT", "same"),
    "error": ("MPI_SUCCESS MPI_ERR_(?!LASTCODE)\\w+ MPIX_ERR_\\w+ MPI_T_ERR_\\w+", "error"),
}
BITS = {
    "amode": "MPI_MODE_(?:APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR|SEQUENTIAL|UNIQUE_OPEN|WRONLY)",
    "assert": "MPI_MODE_NO\\w+",
}
# The error of a class that the other ABI lacks.
NO_ERROR = {"MPI_T_": "MPI_T_ERR_INVALID", "MPI": "MPI_ERR_OTHER"}
# Which parameters are of which kind, by name, or by function and name.
KIND_OF = {
    "dest": "rank", "source": "rank", "rank": "rank", "root": "rank", "target_rank": "rank",
    "rank_source": "rank", "rank_dest": "rank", "ranks1": "rank", "ranks2": "rank",
    "tag": "tag", "sendtag": "tag", "recvtag": "tag",
    "required": "thread", "provided": "thread", "result": "compare", "split_type": "split",
    "lock_type": "lock", "assert": "assert", "amode": "amode", "whence": "seek",
    "keyval": "keyval", "comm_keyval": "keyval", "type_keyval": "keyval", "win_keyval": "keyval",
    "errorcode": "error", "errorclass": "error", "err": "error", "combiner": "combiner", "order": "order",
    "array_of_distribs": "distribution", "array_of_dargs": "darg", "typeclass": "typeclass",
    "verbosity": "verbosity", "bind": "bind", "scope": "scope", "var_class": "var_class",
    "ordering": "source_order", ("Topo_test", "status"): "topology", ("File_set_view", "disp"): "displacement",
    ("Abort", "errorcode"): None}
# Lists of numbers: how long they are.
LENGTHS = {"ranks1": "n", "ranks2": "n", "array_of_distribs": "ndims", "array_of_dargs": "ndims"}
# Numbers that are read and written.
CHANGES = re.compile(r"^(Keyval_free|\w+_free_keyval)$")
# Texts that MPI writes: the constant that says how much room the program has.
ROOM = {**fortran.ROOM, "Comm_get_name": "MPI_MAX_OBJECT_NAME", "Type_get_name": "MPI_MAX_OBJECT_NAME",
        "Win_get_name": "MPI_MAX_OBJECT_NAME"}
WEIGHTS = {"weights", "sourceweights", "destweights"}
SPDX = bindings.SPDX
ABOUT = SPDX + "/*\n * {what}\n * Written by src/mpi/abi/translate.py.\n */\n"


# ---- The tables ---------------------------------------------------------------------------------

class Abi:
    """NAME.def: constants {name: value}, handles [(name, Xylem's name, symbol or value, Fortran's number)]."""

    def __init__(self, path):
        self.name, self.constants, self.handles = path.stem, {}, []
        section = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0].startswith("["):
                section = words[0]
            elif section == "[constants]" and len(words) == 2:
                self.constants[words[0]] = int(words[1], 0)
            elif section == "[handles]" and len(words) >= 2:
                own = words[2] if words[1] == "=" else words[0]
                rest = words[3:] if words[1] == "=" else words[1:]
                self.handles.append((words[0], own, rest[0], rest[1] if len(rest) > 1 else "-"))
            else:
                sys.exit(f"{path}:{number}: neither a constant nor a handle: {line}")


def read_own(header):
    """(constants {name: value}, handles {name: value}) of Xylem's mpi.h."""
    constants = {name: int(value, 0) for name, value in re.findall(r"\b(MPIX?_\w+) = (-?(?:0x)?[0-9a-f]+)\b", header)}
    constants |= {name: int(value) for name, value in re.findall(r"^#define (MPI_\w+) +(\d+)$", header, re.M)}
    constants["MPI_DISPLACEMENT_CURRENT"] = -1
    handles = {name: int(value, 16) for name, value in
               re.findall(r"^#define (MPI_\w+) +\(\(MPI_\w+\)(0x[0-9a-f]+)\)$", header, re.M)}
    return constants, handles


def names_of(pattern, constants):
    """The constants that a row of KINDS names, each once."""
    found = []
    for part in pattern.split():
        found += [name for name in constants if re.fullmatch(part, name) and name not in found]
    return found


def foreign(name):
    return "F_" + name.removeprefix("MPI_")


def switch(names, head, pairs, default):
    seen, text = set(), f"{head}\n{{\n    switch (value) {{\n"
    for case, value, result in pairs:
        if value not in seen:
            seen.add(value)
            text += f"    case {case}:\n        return {result};\n"
    return text + f"    default:\n        return {default};\n    }}\n}}\n"


def substitute(name):
    return next(other for prefix, other in NO_ERROR.items() if name.startswith(prefix))


def conversion(kind, abi, constants):
    """KIND_in and KIND_out: foreign numbers to Xylem's and back."""
    pattern, rest = KINDS[kind]
    names = names_of(pattern, constants)
    known = [n for n in names if n in abi.constants]
    number = "long long" if kind == "displacement" else "int"
    into = [(foreign(n), abi.constants[n], n) for n in known]
    out = [(n, constants[n], foreign(n)) for n in known]
    default_in = default_out = "value"
    if rest == "invalid":
        default_in = "value < 0 ? mpi_number_unknown(value) : value" if kind in ("rank", "tag") else "mpi_number_unknown(value)"
    if rest == "error":
        out += [(n, constants[n], foreign(substitute(n))) for n in names if n not in known]
        default_in = "value > F_ERR_LASTCODE ? value - F_ERR_LASTCODE + MPI_ERR_LASTCODE : MPI_ERR_UNKNOWN"
        default_out = "value > MPI_ERR_LASTCODE ? value - MPI_ERR_LASTCODE + F_ERR_LASTCODE : F_ERR_UNKNOWN"
    return (switch(names, f"{number} abi_{kind}_in({number} value)", into, default_in)
            + switch(names, f"{number} abi_{kind}_out({number} value)", out, default_out))


def bit_conversion(kind, abi, constants):
    names = [n for n in names_of(BITS[kind], constants) if n in abi.constants]
    text = ""
    for way, first, second in (("in", foreign, str), ("out", str, foreign)):
        lines = "".join(f"    if (value & {first(n)})\n        made |= {second(n)}, value &= ~{first(n)};\n" for n in names)
        text += (f"int abi_{kind}_{way}(int value)\n{{\n    int made = 0, all = value;\n\n{lines}"
                 "    return value == 0 ? made : mpi_number_unknown(all);\n}\n")
    return text


def facts_header(abi):
    text = ABOUT.format(what=f"Facts of {abi.name}.def.") + "#ifndef XY_MPI_ABI_FACTS_H\n#define XY_MPI_ABI_FACTS_H\n\n"
    text += f'#include "mpi/abi/{abi.name}.h"\n\nenum {{\n'
    text += "".join(f"    {foreign(name)} = {value},\n" for name, value in abi.constants.items()) + "};\n\n"
    return text + "#endif\n"


def handle_tables(abi, own):
    """Predefined handles: out by Xylem's number; in by the object that they point to, or by number."""
    first = {}
    for name, other, what, _ in abi.handles:
        first.setdefault(own[other], (what, name))
    for name, other, what, _ in abi.handles: # the handle of the same name, where there are several
        if name == other:
            first[own[other]] = (what, name)
    if abi.name == "openmpi":
        objects = list(dict.fromkeys((what, own[other]) for _, other, what, _ in abi.handles))
        text = "\n/* All in one array; the address of each has the name that programs use. */\n"
        text += f"abi_object_t abi_objects[{len(objects)} + ABI_PROXY_WORDS * ABI_PROXIES] = {{\n"
        text += "".join(f"    {{(void *){value:#x}}}, /* {symbol} */\n" for symbol, value in objects) + "};\n"
        text += "const size_t abi_objects_size = sizeof(abi_objects);\n"
        text += f"abi_object_t *const abi_proxies = abi_objects + {len(objects)};\n"
        text += "".join(f'ABI_OBJECT("{symbol}", {i})\n' for i, (symbol, _) in enumerate(objects))
        text += "".join(f"extern abi_object_t {symbol} __attribute__((visibility(\"default\")));\n" for symbol, _ in objects)
        entries = "".join(f"    [{value:#x}] = &{what},\n" for value, (what, _) in sorted(first.items()))
        text += f"\nvoid *const abi_handles_out[ABI_PREDEFINED] = {{\n{entries}}};\n"
    else:
        entries = "".join(f"    [{value:#x}] = {what},\n" for value, (what, _) in sorted(first.items()))
        text = f"\nconst unsigned abi_handles_out[ABI_PREDEFINED] = {{\n{entries}}};\n"
        text += number_table(abi, own)
    return text + fortran_tables(abi, own)


KIND_OF_HANDLE = (("MPI_COMM_", "Comm"), ("MPI_GROUP_", "Group"), ("MPI_WIN_", "Win"), ("MPI_FILE_", "File"),
                  ("MPI_SESSION_", "Session"), ("MPI_MESSAGE_", "Message"), ("MPI_INFO_", "Info"),
                  ("MPI_ERR", "Errhandler"), ("MPI_REQUEST_", "Request"))


def kind_of_handle(name, value):
    if value < 0x40:
        return "Op"
    return next((kind for prefix, kind in KIND_OF_HANDLE if name.startswith(prefix)), "Datatype")


def fortran_tables(abi, own):
    """Open MPI's numbers in Fortran of predefined handles, which begin with 0 in each kind."""
    if abi.name != "openmpi":
        return ""
    text, back = "\n", {}
    for kind in fortran.HANDLES:
        numbers = {}
        for name, other, _, number in abi.handles:
            if number != "-" and kind_of_handle(other, own[other]) == kind:
                numbers[int(number)] = own[other]
                if name == other:
                    back[own[other]] = number
        entries = "".join(f"    [{number}] = {value:#x},\n" for number, value in sorted(numbers.items()))
        text += f"const unsigned short abi_{kind.lower()}_numbers[{max(numbers, default=0) + 1}] = {{\n{entries or '    0'}}};\n"
        text += f"const unsigned abi_{kind.lower()}_numbers_size = {max(numbers, default=0) + 1};\n"
    entries = "".join(f"    [{value:#x}] = {number},\n" for value, number in sorted(back.items()))
    return text + f"const signed char abi_fortran_out[ABI_PREDEFINED] = {{\n{entries}}};\n"


def number_hash(abi, own):
    """A hash without collisions, found here: ({number: Xylem's handle}, multiplier, bits)."""
    values = {}
    for name, other, what, _ in abi.handles:
        if name != "MPI_MESSAGE_NULL": # the number of MPI_REQUEST_NULL
            values.setdefault(int(what, 16), own[other])
    for bits in range(7, 13):
        for factor in range(1, 60000, 2):
            multiplier = factor * 2654435761 & 0xffffffff | 1
            slots = {(value * multiplier & 0xffffffff) >> (32 - bits) for value in values}
            if len(slots) == len(values):
                return values, multiplier, bits
    sys.exit("no hash without collisions")


def number_table(abi, own):
    values, multiplier, bits = number_hash(abi, own)
    entries = "".join(f"    [{(v * multiplier & 0xffffffff) >> (32 - bits)}] = {{{v:#010x}, {own_v:#x}}},\n"
                      for v, own_v in values.items())
    return (f"\nconst abi_number_t abi_numbers[{1 << bits}] = {{\n{entries}}};\n"
            f"_Static_assert(ABI_NUMBERS_MULTIPLIER == {multiplier}u && ABI_NUMBERS_SHIFT == {32 - bits},\n"
            f'               "mpich.h: ABI_NUMBERS_MULTIPLIER has to be {multiplier}u, ABI_NUMBERS_SHIFT {32 - bits}");\n')


def facts_file(abi, constants, own):
    text = ABOUT.format(what=f"Conversions of numbers and handles by {abi.name}.def.") + '#include "mpi/abi/abi.h"\n\n'
    text += "".join(conversion(kind, abi, constants) for kind in KINDS)
    text += "".join(bit_conversion(kind, abi, constants) for kind in BITS)
    return text + handle_tables(abi, own)


# ---- The functions ------------------------------------------------------------------------------

def kind_of(function, parameter):
    own = (function.name, parameter.name)
    return KIND_OF[own] if own in KIND_OF else KIND_OF.get(parameter.name)


def foreign_text(parameter):
    """`const MPI_Comm comms[]` is `const F_Comm comms[]`."""
    def other(match):
        return "F_" + match.group(1) if match.group(1) in fortran.HANDLES + ("Status",) else match.group()
    return re.sub(r"\bMPI_(\w+)", other, parameter.text)


def list_length(function, p):
    names = [q.name for q in function.parameters]
    for name in fortran.LENGTHS:
        if name in names:
            return name
    if "num_elements" in names:
        return "(num_elements ? *num_elements : 0)"
    is_neighbor = function.name.lower().removeprefix("i").startswith("neighbor")
    side = "true" if p.name.startswith("send") else "false"
    call = f"xylem_mpi_services.degree(comm_in(comm), {side})" if is_neighbor else "xylem_mpi_services.peers(comm_in(comm))"
    return f"sendbuf == F_IN_PLACE ? 0 : {call}" if p.name == "sendtypes" else call


class Argument:
    """How one argument is converted: statements before and after the call, and what the call gets."""

    def __init__(self, function, p):
        self.before = self.after = ""
        self.value, self.text = p.name, foreign_text(p)
        handle, base = fortran.handle_of(p), p.base.removeprefix("const ")
        kind = kind_of(function, p)
        if handle and p.is_array:
            self.list_of_handles(function, p, handle)
        elif handle and p.base.endswith("*"):
            self.handle_place(function, p, handle)
        elif handle:
            self.value = f"{handle.lower()}_in({p.name})"
        elif base == "MPI_Status *":
            self.status(function, p)
        elif kind and p.is_array:
            self.list_of_numbers(p, kind)
        elif kind and p.base.endswith("*") and base != "char *":
            self.number_place(function, p, kind)
        elif kind and base in ("int", "MPI_Offset"):
            self.value = f"{kind}_in({p.name})"
        elif base in ("void *", "void * ") and p.name in bindings.BUFFERS:
            self.value = f"buffer_in({p.name})"
        elif p.name in WEIGHTS:
            self.value = f"weights_in({p.name})"
        elif base == "char *" and not p.base.startswith("const") and function.name in ROOM:
            self.room(function, p)
        elif base == "MPI_T_pvar_handle":
            self.value = f"pvar_in({p.name})"

    def list_of_handles(self, function, p, handle):
        low, name = handle.lower(), p.name
        is_const = p.base.startswith("const ")
        is_out = name == "array_of_datatypes"
        self.before = (f"    const long n_{name} = {list_length(function, p)};\n"
                       f"    MPI_{handle} few_{name}[ABI_FEW];\n"
                       f"    MPI_{handle} *c_{name} = {low}_list(few_{name}, {name}, n_{name}, {'false' if is_out else 'true'});\n")
        self.value = f"c_{name}"
        if not is_const:
            self.after = f"    {low}_list_out({name}, c_{name}, n_{name});\n"
        self.after += f"    abi_list_end(c_{name}, few_{name});\n"

    def handle_place(self, function, p, handle):
        low = handle.lower()
        first = f"{p.name} ? {low}_in(*{p.name}) : " if fortran.CHANGES_HANDLE.search(function.name) else ""
        self.before = f"    MPI_{handle} c_{p.name} = {first}(MPI_{handle})ABI_UNTOUCHED;\n"
        self.value = f"{p.name} ? &c_{p.name} : NULL"
        self.after = (f"    if ({p.name} && c_{p.name} != (MPI_{handle})ABI_UNTOUCHED)\n"
                      f"        *{p.name} = {low}_out(c_{p.name});\n")

    def status(self, function, p):
        name = p.name
        if name == "array_of_statuses":
            length = "incount" if "incount" in [q.name for q in function.parameters] else "count"
            self.before = (f"    MPI_Status few_{name}[ABI_FEW];\n"
                           f"    MPI_Status *c_{name} = status_list(few_{name}, {name}, {length});\n")
            self.after = f"    status_list_out({name}, c_{name}, {length});\n    abi_list_end(c_{name}, few_{name});\n"
            self.value = f"c_{name}"
            return
        is_in = p.base.startswith("const ") or function.name.startswith("Status_set")
        self.before = f"    MPI_Status c_{name};\n"
        if is_in:
            self.before += f"    status_in({name}, &c_{name});\n"
        else:
            self.before += f"    status_mark(&c_{name});\n"
        self.value = f"{name} == F_STATUS_IGNORE ? MPI_STATUS_IGNORE : &c_{name}"
        if function.name.startswith("Status_set"):
            self.before += f"    const MPI_Status before = c_{name};\n"
            self.after = f"    status_change(&before, &c_{name}, {name});\n"
        elif not p.base.startswith("const "):
            self.after = f"    if ({name} != F_STATUS_IGNORE)\n        status_out(&c_{name}, {name});\n"

    def list_of_numbers(self, p, kind):
        length, name = LENGTHS[p.name], p.name
        self.before = (f"    int few_{name}[ABI_FEW];\n"
                       f"    int *c_{name} = abi_numbers_list(few_{name}, {name}, {length}, abi_{kind}_in);\n")
        self.value = f"c_{name}"
        if not p.base.startswith("const "):
            self.after = f"    abi_numbers_list_out({name}, c_{name}, {length}, abi_{kind}_out);\n"
        self.after += f"    abi_list_end(c_{name}, few_{name});\n"

    def number_place(self, function, p, kind):
        number = p.base.removesuffix("*").strip()
        untouched = f"({number})ABI_INVALID"
        first = f"{p.name} ? ({number}){kind}_in(*{p.name}) : " if CHANGES.match(function.name) else ""
        self.before = f"    {number} c_{p.name} = {first}{untouched};\n"
        self.value = f"{p.name} ? &c_{p.name} : NULL"
        self.after = f"    if ({p.name} && c_{p.name} != {untouched})\n        *{p.name} = ({number}){kind}_out((int)c_{p.name});\n"

    def room(self, function, p):
        constant = ROOM[function.name]
        has_length = "resultlen" in [q.name for q in function.parameters]
        self.before = f"    char c_{p.name}[{constant}] = \"\";\n"
        self.value = f"{p.name} ? c_{p.name} : NULL"
        self.after = (f"    if ({p.name} && error == MPI_SUCCESS)\n"
                      f"        text_out({p.name}, c_{p.name}, {foreign(constant)}, {'resultlen' if has_length else 'NULL'});\n")


def definition(function):
    arguments = [Argument(function, p) for p in function.parameters]
    texts = [a.text for a in arguments] or ["void"]
    name = function.full_name("PMPI_")
    head = bindings.wrapped(f"{function.result} {name}", texts, ")")
    again = bindings.wrapped(f"{function.result} {function.full_name()}", texts, ")")
    alias = f'{again}\n    __attribute__((weak, alias("{name}")));\n'
    values = [a.value for a in arguments]
    if not bindings.has_site(function):
        call = bindings.wrapped(f"    return xylem_mpi_table.{function.name}", values or [""], ");")
        return f"{head}\n{{\n{call}\n}}\n{alias}"
    before = "".join(a.before for a in arguments)
    after = "".join(a.after for a in arguments)
    if not before:
        call = bindings.wrapped(f"    return error_out(xylem_mpi_table.{function.name}", [bindings.HERE, *values], "));")
        return f"{head}\n{{\n{call}\n}}\n{alias}"
    call = bindings.wrapped(f"    error = xylem_mpi_table.{function.name}", [bindings.HERE, *values], ");")
    return f"{head}\n{{\n{before}    int error;\n\n{call}\n{after}    return error_out(error);\n}}\n{alias}"


def converters():
    """f2c and c2f of every kind of handle."""
    text = ""
    for handle in fortran.HANDLES:
        name, low = ("Type" if handle == "Datatype" else handle), handle.lower()
        for head, body in ((f"F_{handle} PMPI_{name}_f2c(MPI_Fint number)", f"{low}_f2c(number)"),
                           (f"MPI_Fint PMPI_{name}_c2f(F_{handle} handle)", f"{low}_c2f(handle)")):
            alias = re.search(r"PMPI_\w+", head).group()
            text += (f"{head}\n{{\n    return {body};\n}}\n{head.replace('PMPI', 'MPI')}\n"
                     f'    __attribute__((weak, alias("{alias}")));\n')
    return text


def extensions(functions):
    """Open MPI 4 has persistent collectives as extensions."""
    text = "#ifdef ABI_OPENMPI\n"
    for f in functions:
        if f.is_persistent_collective:
            texts = [Argument(f, p).text for p in f.parameters]
            for prefix in ("MPIX_", "PMPIX_"):
                text += (bindings.wrapped(f"int {prefix}{f.name}", texts, ")")
                         + f'\n    __attribute__((weak, alias("PMPI_{f.name}")));\n')
    return text + "#endif\n"


def events(functions):
    """The tool interface has no events: Xylem's own functions would take other handles."""
    text = ""
    for f in functions:
        if f.name.startswith("T_event_"):
            is_number = f.name == "T_event_get_num"
            error = {"T_event_get_index": "INVALID_NAME", "T_event_get_info": "INVALID_INDEX"}.get(f.name, "NOT_SUPPORTED")
            body = "    *number = 0;\n    return 0;\n" if is_number else f"    return error_out(MPI_T_ERR_{error});\n"
            parameter = "int *number" if is_number else "void"
            text += (f"int PMPI_{f.name}({parameter})\n{{\n{body}}}\nint MPI_{f.name}({parameter})\n"
                     f'    __attribute__((weak, alias("PMPI_{f.name}")));\n')
    return text


def is_message(function):
    """Is the time of the call what counts, and not the size of its code?"""
    return function.component in ("p2p", "coll", "rma") and not function.name.endswith("_c")


def calls_file(functions, rest=""):
    text = ABOUT.format(what="MPI functions with the arguments of another ABI, under their two names.")
    text += '#include "mpi/abi/abi.h"\n\n#pragma GCC diagnostic ignored "-Wmissing-prototypes"\n'
    text += "#pragma GCC visibility push(default)\n\n"
    text += "\n".join(definition(f) for f in functions) + "\n" + extensions(functions) + rest
    return text + "#pragma GCC visibility pop\n"


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: translate.py DIRECTORY")
    here, out = pathlib.Path(__file__).parent, pathlib.Path(arguments[0]) / "generated/mpi/abi"
    functions = bindings.read(here.parent / "bindings/functions.def")
    standard = [f for f in functions if not f.is_extension]
    constants, own = read_own((here.parents[2] / "include/mpi.h").read_text(encoding="utf-8"))
    for name in ABIS:
        abi = Abi(here / f"{name}.def")
        unknown = [n for n in abi.constants if n not in constants] + [h[1] for h in abi.handles if h[1] not in own]
        if unknown:
            sys.exit(f"{name}.def: Xylem's mpi.h has no {' '.join(unknown)}")
        bindings.write(out / name / "facts.h", facts_header(abi))
        bindings.write(out / name / "facts.c", facts_file(abi, constants, own))
    own = [f for f in functions if f.name not in SPECIAL and not ABSENT.search(f.name)]
    bindings.write(out / "message_calls.c", calls_file([f for f in own if is_message(f)]))
    bindings.write(out / "calls.c", calls_file([f for f in own if not is_message(f)], converters() + events(functions)))
    bindings.write(out / "fortran_capitals.h", translate_fortran.capitals_file(standard, sys.modules[__name__]))
    bindings.write(out / "fortran_calls.c", translate_fortran.calls_file(standard, sys.modules[__name__]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
