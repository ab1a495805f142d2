#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write everything that follows from functions.def, the list of MPI functions.

  generate.py DIRECTORY

writes below DIRECTORY, the build tree, and prints the C files among them:

  include/mpi_functions.h, include/mpi_profiling.h   the prototypes, part of mpi.h
  generated/mpi/bindings/calls_COMPONENT.c           the functions, under both their names
  generated/mpi/COMPONENT/calls.h                    what the component implements: impl_*
  generated/mpi/io/accesses.c                        the impl_* that read and write files
  generated/mpi/bindings/fortran_COMPONENT.c         the same functions for Fortran (fortran.py)
  generated/mpi/bindings/fortran_calls.h             what fortran_*.c calls
  generated/mpi/bindings/table_COMPONENT.c, table.c, mpi/bindings/table.h   one table of all functions
  include/mpif.h, fortran/mpi.f90, fortran/mpi_f08.f90   Fortran's header and modules
  doc/mpi-coverage.md                                the table of functions

A file that would not change is not touched. functions.def says what its lines mean.
"""
import pathlib
import re
import sys

import fortran

LINE = re.compile(r"^(\w+) +(\w+) (\w+)\((.*?)\)(?: = (\w+)| -> (.+))?$")
PART = re.compile(r"^part (\w+ \w+)\((.*)\)$")
SECTION = re.compile(r"^\[(\w+)((?: \w+)*)\]$")
KINDS = {"self", "fast", "call", "any", "local", "own", "bare", "none"}
FORMS = {"c", "I", "init", "access", "object"}
OBJECTS = {"MPI_Comm": "comm", "MPI_Win": "win", "MPI_File": "file"}
WIDE = {"int": "MPI_Count", "MPI_Aint": "MPI_Count"}
WIDTH = 100
SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"


class Parameter:
    """`const int counts[]`: its type is `const int[]`, its name is `counts`."""

    def __init__(self, text):
        match = re.match(r"^(.*?)(\w+)((?:\[\d*\])*)$", text)
        self.text, self.name = text, match.group(2)
        self.base = match.group(1).strip()
        self.is_array = match.group(3) != ""
        self.type = self.base + match.group(3)


class Function:
    def __init__(self, kind, result, name, parameters, same_as, call, component, forms):
        self.kind, self.result, self.name, self.same_as = kind, result, name, same_as
        self.component, self.forms = component, forms
        self.call = call  # all that the function does, or None: what impl_x does
        self.text = parameters
        self.is_open = parameters.endswith(", ...")
        closed = parameters.removesuffix(", ...")
        self.parameters = [] if closed == "void" else [Parameter(p) for p in closed.split(", ")]
        self.base = self  # the function whose implementation this one shares
        self.has_request_form = self.has_init_form = False
        self.vectors = set()  # parameters that are arrays of either width
        self.counts = set()  # parameters that are numbers of either width

    @property
    def is_extension(self):
        """Named MPIX_: not in the standard."""
        return self.name.startswith("MPIX_")

    def full_name(self, prefix="MPI_"):
        return prefix.removesuffix("MPI_") + self.name if self.is_extension else prefix + self.name

    @property
    def is_persistent_collective(self):
        return self.name.endswith("_init") and self.component in ("coll", "topo")

    @property
    def is_implemented(self):
        return self.kind != "none"

    @property
    def impl(self):
        return "impl_" + self.base.name.lower()


def fail(line_number, what):
    sys.exit(f"functions.def:{line_number}: {what}")


def read(path):
    """The functions in the order of the file."""
    functions, component, forms = {}, None, ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#") or PART.match(line):
            continue
        section, entry = SECTION.match(line), LINE.match(line)
        if section:
            component, forms = section.group(1), tuple(section.group(2).split())
            if set(forms) - FORMS:
                fail(number, f"a form is one of {' '.join(sorted(FORMS))}")
        elif not entry or component is None:
            fail(number, f"neither a function nor a section: {line}")
        elif entry.group(1) not in KINDS or (entry.group(1) == "none") != (component == "unsupported"):
            fail(number, f"'{entry.group(1)}' cannot stand here")
        elif entry.group(3) in functions:
            fail(number, f"MPI_{entry.group(3)} is there twice")
        else:
            functions[entry.group(3)] = Function(*entry.groups(), component, forms)
    for function in functions.values():
        if function.kind != "none":
            find_base(function, functions)
    return sorted(functions.values(), key=lambda f: f.name)


def read_parts(path):
    """{component: prototypes of the functions that several of its functions call}."""
    parts, component = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        section, part = SECTION.match(line), PART.match(line)
        if section:
            component = section.group(1)
        elif part:
            parts.setdefault(component, []).append(wrapped(part.group(1), part.group(2).split(", "), ");"))
    return parts


def find_base(function, functions):
    """Let the forms that the section names share the implementation of the plain function."""
    name, is_large = function.same_as or function.name, bool(function.same_as)
    is_started = is_init = False
    if function.same_as and (name not in functions or functions[name].same_as):
        sys.exit(f"functions.def: MPI_{function.name} cannot be the same as MPI_{name}")
    if "c" in function.forms and name.endswith("_c"):
        name, is_large = name[:-2], True
    if "I" in function.forms and name.startswith("I") and name[1:].capitalize() in functions:
        name, is_started = name[1:].capitalize(), True
    if "init" in function.forms and name.removesuffix("_init") in functions and name.endswith("_init"):
        name, is_init = name.removesuffix("_init"), True
    base = functions.get(name)
    if base is function or base is None or base.kind != function.kind:
        return
    own = function.parameters[:len(function.parameters) - is_started - 2 * is_init]
    if len(own) != len(base.parameters):
        return
    vectors, counts = set(), set()
    for a, b in zip(base.parameters, own):
        if a.type.removeprefix("const ") == b.type.removeprefix("const "):
            continue
        if a.is_array and b.is_array and a.base.startswith("const "):
            vectors.add(a.name)
        elif is_large and WIDE.get(a.type) == b.type:
            counts.add(a.name)
        elif not function.same_as: # else the compiler says whether they fit
            return
    function.base = base
    base.has_request_form |= is_started or is_init
    base.has_init_form |= is_init
    base.vectors |= vectors
    base.counts |= counts


def wrapped(head, items, tail):
    """`head(items)tail` in lines of at most WIDTH columns, as clang-format breaks them."""
    lines, line, indent = [], head + "(", " " * (len(head) + 1)
    for i, item in enumerate(items):
        end = tail if i == len(items) - 1 else ","
        if len(line) + len(item) + len(end) + (not line.endswith(("(", " "))) > WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += ("" if line.endswith(("(", " ")) else " ") + item + end
    return "\n".join(lines + [line])


def parameter_list(function):
    return function.text.split(", ")


def prototype(function, prefix, tail):
    spaced = function.result + ("" if function.result.endswith("*") else " ")
    return wrapped(spaced + function.full_name(prefix), parameter_list(function), tail)


# The parameters that impl_x has before those of MPI_X.
FIRST = {"self": ["mpi_rank_t *self"], "fast": ["mpi_rank_t *self"],
         "own": ["const char *name", "const void *site"]}


def is_object(function, parameter):
    """impl_x gets the object of this handle."""
    return "object" in function.forms and parameter.type in OBJECTS


def impl_prototype(function, tail=");"):
    texts = FIRST.get(function.kind, [])[:]
    for p in function.parameters:
        if is_object(function, p):
            texts.append(f"mpi_{OBJECTS[p.type]}_t *{OBJECTS[p.type]}")
        elif p.name in function.vectors:
            texts.append(f"coll_vector_t {p.name}")
        elif p.name in function.counts:
            texts.append(f"MPI_Count {p.name}")
        else:
            texts.append(p.text)
    if function.has_request_form:
        texts.append("MPI_Request *request")
    if function.has_init_form:
        texts.append("bool is_persistent")
    return wrapped(f"{function.result} {function.impl}", texts or ["void"], tail)


def is_plain(function):
    """Not an MPI_X_init, which has an info and a request more than MPI_X."""
    return len(function.parameters) < len(function.base.parameters) + 2


HERE = "__builtin_return_address(0)"


def impl_call(function, head, address=HERE):
    base = function.base
    if base.call: # its own names for the parameters
        own = {a.name: b.name for a, b in zip(base.parameters, function.parameters)}
        return head + re.sub(r"\w+", lambda word: own.get(word.group(), word.group()), base.call) + ";"
    is_large = function.name.endswith("_c") and not base.name.endswith("_c")
    is_started = len(function.parameters) > len(base.parameters)
    before, arguments = "", ["self"] if base.kind in ("self", "fast") else []
    if base.kind == "own":
        arguments = [f'"MPI_{function.name}"', address]
    for a, own in zip(base.parameters, function.parameters):
        if is_object(base, a): # a handle of none is refused here
            kind = f"mpi_{OBJECTS[a.type]}"
            before = f"    {kind}_t *object = {kind}_of({own.name});\n"
            head += f"!object ? {kind}_refuse({own.name}) : "
            arguments.append("object")
        elif a.name in base.vectors:
            arguments.append(f"(coll_vector_t){{{own.name}, {'true' if is_large else 'false'}}}")
        else:
            arguments.append(own.name)
    if base.has_request_form:
        arguments.append(function.parameters[-1].name if is_started else "NULL")
    if base.has_init_form:
        arguments.append("false" if is_plain(function) else "true")
    return before + wrapped(head + base.impl, arguments or [""], ");")


# How mpi_enter, mpi_enter_any and mpi_enter_local are called, and what they return.
ENTER = {kind: ("mpi_rank_t *", "self", "") for kind in ("self", "fast", "call")}
QUERY = re.compile(r"(Comm_(rank|size|remote_size|compare|test_inter|get_\w+)|Query_thread)$")
ENTER["any"] = ("mpi_rank_t *", "self", "_any")
ENTER["local"] = ("mpi_noted_t ", "outer", "_local")


def unsupported_call(function, site):
    """The error of a function that is not there, raised on the object that it is called for."""
    if function.name.startswith("T_"): # tools get a code: no handler is called
        return "MPI_T_ERR_NOT_SUPPORTED"
    of_type = {p.type: p.name for p in reversed(function.parameters)}
    if "MPI_Comm" in of_type:
        return f"unsupported({site}, {of_type['MPI_Comm']})"
    return f"unsupported({site}, MPI_COMM_NULL)"


# Parameters of the caller's that need not be given in any function.
NEED_NOT_GIVE = {"argc", "argv", "sourceweights", "destweights"}
# Pointers that may be NULL: to what the caller need not give or does not want.
MAY_BE_NULL = {*NEED_NOT_GIVE, ("Info_get_string", "value"),
               ("Init_thread", "provided"), ("Session_get_nth_pset", "pset_name"),
               ("Session_init", "session"), # refused by the function itself, with its error handler
               # read at the root only
               ("Comm_spawn", "command"), ("Comm_accept", "port_name"), ("Comm_connect", "port_name")}
HAVE_CLASSES = {"key", ("Info_set", "value")}  # texts whose errors have classes of their own


def is_needed(function, parameter):
    """NULL is never right: a place for one result, or a text."""
    base = parameter.base.removeprefix("const ")
    if parameter.is_array or not base.endswith("*") or base.startswith(("void", "MPI_Status", "MPI_F08_status")):
        return False
    if base.endswith(("function *", "function_c *")) or (base != "char *" and "const" in parameter.base):
        return False
    names = {parameter.name, (function.name, parameter.name)}
    return not (names & MAY_BE_NULL or ("const" in parameter.base and names & HAVE_CLASSES))


MAKES_TYPE = re.compile(r"^Type_(create_|indexed|hindexed|struct)")


def length_of(function, parameter):
    """The argument that says how many elements an array has that may be NULL when there are none; or None."""
    is_list = MAKES_TYPE.match(function.name) or parameter.name in ("array_of_requests", "array_of_indices")
    if not parameter.is_array or not is_list:
        return None
    names = [p.name for p in function.parameters]
    return next((n for n in ("count", "incount", "ndims") if n in names), None)


def null_checks(function, site):
    """Arguments that must not be NULL come before all others, in every function."""
    if function.result != "int" or function.name.startswith("T_"): # tools leave out what they do not want
        return ""
    of_type = {p.type: p.name for p in reversed(function.parameters)}
    refuse, where = "mpi_refuse_null", of_type.get("MPI_Comm", "MPI_COMM_NULL")
    if "MPI_Win" in of_type:
        refuse, where = "mpi_win_refuse_null", of_type["MPI_Win"]
    if function.component == "comm" and "MPI_Errhandler" in of_type: # of what is made
        refuse, where = "mpi_from_group_refuse_null", of_type["MPI_Errhandler"]
    if "MPI_Session" in of_type:
        refuse, where = "mpi_session_refuse_null", of_type["MPI_Session"]
    if function.component == "io": # those that have no file raise on MPI_FILE_NULL
        refuse, where = "mpi_file_refuse_null", of_type.get("MPI_File", "MPI_FILE_NULL")
    text = ""
    for p in function.parameters:
        length = length_of(function, p)
        if length or is_needed(function, p):
            condition = f"!{p.name} && {length} > 0" if length else f"!{p.name}"
            text += f"    if (__builtin_expect({condition}, 0))\n"
            text += f'        return {refuse}({site}, {where}, "{p.name}");\n'
    return text


# The handle of no object, for what a function makes: it is what the program gets when that fails.
NO_OBJECT = {"MPI_Comm *": "MPI_COMM_NULL", "MPI_Datatype *": "MPI_DATATYPE_NULL",
             "MPI_Group *": "MPI_GROUP_NULL", "MPI_Info *": "MPI_INFO_NULL"}


def no_object(function):
    made = [p for p in function.parameters if p.base in NO_OBJECT and not p.is_array
            and (p.name.startswith("new") or p.name in ("comm_cart", "comm_graph", "comm_dist_graph"))]
    return "".join(f"    if (__builtin_expect(error != MPI_SUCCESS, 0))\n"
                   f"        *{p.name} = {NO_OBJECT[p.base]};\n" for p in made)


# What the program has to free, for reports of leaks.
OWNED = {"MPI_Comm *": "communicator", "MPI_Datatype *": "datatype", "MPI_Group *": "group",
         "MPI_Info *": "info object", "MPI_Op *": "operation", "MPI_Win *": "window",
         "MPI_File *": "file"}
# Handles of objects that are not the program's own; MPI_Comm_idup* gives its handle out later.
NOT_OWNED = re.compile(r"_f90_|_match_size|_value_index|_get_parent|^Type_commit|^Comm_idup")


def is_freeing(function):
    return function.name.endswith("_free") or function.name in ("Comm_disconnect", "File_close")


def owned(function):
    """(parameter, what it is called) of the handles that a function gives out or frees."""
    persistent = {"MPI_Request *": "persistent request"} if function.name.endswith(("_init", "_init_c")) else {}
    if function.name == "Request_free":
        persistent = {"MPI_Request *": "request"}
    kinds = {**OWNED, **persistent}
    if NOT_OWNED.search(function.name):
        return []
    return [(p, kinds[p.base]) for p in function.parameters if p.base in kinds and not p.is_array]


def forget_owned(function):
    return "".join(f"    if (__builtin_expect(mpi_made_is_noted, 0))\n"
                   f"        mpi_made_forget((const void *)*{p.name});\n"
                   for p, _ in owned(function) if is_freeing(function))


def note_owned(function, site):
    return "".join(f"    if (__builtin_expect(mpi_made_is_noted, 0) && error == MPI_SUCCESS)\n"
                   f'        mpi_made_note((const void *)*{p.name}, "{what}", {site});\n'
                   for p, what in owned(function) if not is_freeing(function))


BUFFERS = {"buf", "buffer", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf", "origin_addr", "result_addr",
           "compare_addr"}
STARTS = re.compile(r"^(Start|Startall|Pready(_list|_range)?)$")


def buffers(function):
    """(name, datatype) of each buffer with data; the datatype of blocks that have one each is MPI_DATATYPE_NULL."""
    types = [i for i, p in enumerate(function.parameters) if p.type.removeprefix("const ") in ("MPI_Datatype", "MPI_Datatype[]")]
    if function.name in ("Win_create", "Win_create_c", "Win_attach"):
        return [("base", "MPI_BYTE")]
    found = []
    for i, p in enumerate(function.parameters):
        if types and p.name in BUFFERS and p.base.removeprefix("const ").replace(" ", "") == "void*":
            own = next((function.parameters[j] for j in types if j > i), None)
            found.append((p.name, "MPI_BYTE" if own is None else "MPI_DATATYPE_NULL" if own.is_array else own.name))
    return found


def order(function):
    """Data on a GPU: what the caller has put into its default stream comes before the call."""
    is_kept = function.name.endswith(("_init", "_init_c")) or function.name.startswith("Win_")
    lines = [f"mpi_buffer_order{'_kept' if is_kept else ''}({name}, {type});" for name, type in buffers(function)]
    if function.component == "rma" or STARTS.match(function.name):
        lines.append("mpi_buffer_order_known();")
    if not lines:
        return ""
    return "    if (__builtin_expect(mpi_device_is_used, 0)) {\n" + "".join(f"        {l}\n" for l in lines) + "    }\n"


def body(function, address=HERE):
    """`address` is where the program called."""
    site = f'"{function.full_name()}", {address}'
    if function.kind == "none":
        cast = "" if function.result == "int" else f"({function.result})(intptr_t)"
        return f"    return {cast}{unsupported_call(function, site)};\n"
    checks = null_checks(function, site) + order(function)
    if function.kind in ("own", "bare"):
        return checks + impl_call(function, "    return ", address) + "\n"
    kind, name, suffix = ENTER[function.kind]
    how = "_query" if function.kind == "call" and function.component == "object" or QUERY.match(function.name) else suffix
    # Not for all: it costs small messages an instruction.
    error = "mpi_error_returned(error)" if function.component == "io" else "error"
    call = impl_call(function, "    error = ")
    if not is_plain(function): # hints of persistent collectives change nothing: there is nothing that they could
        call = ("    error = mpi_info_check(mpi_comm_of(comm), info);\n    if (error == MPI_SUCCESS)\n"
                + impl_call(function, "        error = "))
    if checks:
        enter = (f"    {kind}{name};\n    int error;\n\n{checks}"
                 f"    {name} = mpi_enter{how}({site});\n{forget_owned(function)}")
        return (f"{enter}{call}\n{no_object(function)}{note_owned(function, site)}"
                f"    return mpi_leave{suffix}({name}, {error});\n")
    return (f"    {kind}{name} = mpi_enter{how}({site});\n"
            + impl_call(function, "    int error = ") + "\n\n"
            + f"{note_owned(function, site)}    return mpi_leave{suffix}({name}, {error});\n")


def definition(function):
    alias = f'__attribute__((weak, alias("{function.full_name("PMPI_")}")));'
    return (f"{prototype(function, 'PMPI_', ')')}\n{{\n{body(function)}}}\n"
            f"{prototype(function, 'MPI_', ')')}\n    {alias}\n")


ABOUT = SPDX + """/*
 * {what}
 * Written by src/mpi/bindings/generate.py; change functions.def instead.
 */
"""


def includes_of(component, functions):
    includes = [f"mpi/{component}/calls.h", "mpi/datatype/datatype.h", "mpi/object/object.h"]
    if component in ("bindings", "comm", "io", "rma"):
        includes.insert(1, f"mpi/{component}/{component}.h")
    if any(f.kind == "fast" for f in functions):
        includes.insert(1, f"mpi/{component}/fast.h")
    return "".join(f'#include "{name}"\n' for name in includes)


def calls_file(component, functions):
    what = f"The MPI functions that src/mpi/{component} implements, under their two names."
    return (ABOUT.format(what=what) + includes_of(component, functions) + "\n"
            + "\n".join(definition(f) for f in functions))


UNSUPPORTED = """#include "mpi/object/object.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static const char missing[] = "this function is not implemented yet";

static int unsupported(const char *name, const void *site, MPI_Comm comm)
{
    mpi_rank_t *self = mpi_enter_any(name, site);
    mpi_comm_t *object = self ? mpi_comm_of(comm) : NULL;
    int error = mpi_error_raise(object, MPI_ERR_UNSUPPORTED_OPERATION, missing);

    return mpi_leave_any(self, error);
}

"""


def at_prototype(function, tail):
    """The function with the place where the program called in front of its arguments."""
    texts = [] if function.text == "void" else parameter_list(function)
    return wrapped(f"int at_{function.name.lower()}", ["const void *site", *texts], tail)


def at_definition(function):
    start = "" if function.name in fortran.SPECIAL else "static "
    head = at_prototype(function, ")")
    return f"{start}{head}\n{{\n{body(function, 'site')}}}\n"


def fortran_file(component, functions):
    what = f"The MPI functions of src/mpi/{component} for Fortran, under their two names."
    text = ABOUT.format(what=what) + '#include "mpi/bindings/fortran.h"\n'
    if component == "unsupported":
        text += UNSUPPORTED
    else:
        text += includes_of(component, functions) + "\n"
    text += '#pragma GCC diagnostic ignored "-Wmissing-prototypes"\n'
    text += '#pragma GCC diagnostic ignored "-Wunused-parameter"\n\n'
    text += "\n".join(at_definition(f) for f in functions if f.result == "int" and not f.is_open)
    text += "\n/* What programs call. */\n#pragma GCC visibility push(default)\n"
    return text + "\n".join(fortran.wrapper_text(f, wrapped) for f in functions
                            if f.name not in fortran.SPECIAL) + "#pragma GCC visibility pop\n"


def fortran_header(functions):
    special = [f for f in functions if f.name in fortran.SPECIAL and not f.is_open]
    lines = "\n".join(at_prototype(f, ");") for f in special)
    sizes = "".join(f"XY_SIZEOF({name}, {size})\n" for name, size in fortran.sizeof_functions().items())
    return (ABOUT.format(what="MPI functions for fortran_*.c: `site` is where the program called.")
            + "#ifndef XY_MPI_BINDINGS_FORTRAN_CALLS_H\n#define XY_MPI_BINDINGS_FORTRAN_CALLS_H\n\n"
            + f'#include "mpi.h"\n\n{lines}\n\n'
            + f"#define XY_FORTRAN_SIZES \\\n" + sizes.rstrip().replace("\n", " \\\n") + "\n\n#endif\n")


ACCESS = re.compile(r"^File_(i?)(read|write)(_at)?(_all|_shared|_ordered)?(_begin|_end)?$")


def access_definition(function):
    """impl_x of a function that reads or writes a file: its name says how."""
    is_started, verb, at, who, part = ACCESS.match(function.name).groups()
    whole = f'"MPI_{function.name.removesuffix(part or "")}"'
    where = "IO_AT" if at else {"_shared": "IO_SHARED", "_ordered": "IO_ORDERED"}.get(who, "IO_OWN")
    fields = [".handle = fh", f".where = {where}", f".is_write = {str(verb == 'write').lower()}",
              f".is_collective = {str(who in ('_all', '_ordered')).lower()}", *([".offset = offset"] if at else []),
              ".memory = buf", ".count = count", ".type = datatype"]
    do, last = ("io_start", "request") if is_started else ("io_begin", whole) if part else ("io_do", "status")
    call = wrapped(f"    return {do}", ["self", "&order", last], ");")
    order = "    io_order_t order = {" + (",\n" + " " * 24).join(fields) + "};\n\n"
    if part == "_end":
        order, call = "", f"    return io_end(fh, buf, status, {whole});"
    return f"{impl_prototype(function, ')')}\n{{\n{order}{call}\n}}\n"


def accesses_file(functions):
    return (ABOUT.format(what="The work of the MPI functions that read and write files.")
            + '#include "mpi/io/calls.h"\n#include "mpi/io/io_order.h"\n\n'
            + "\n".join(access_definition(f) for f in functions if "access" in f.forms and f.base is f))


def write_fortran(out, functions):
    """Its C files."""
    known = [f for f in functions if fortran.is_fortran(f)]
    header_text = (pathlib.Path(__file__).parents[3] / "include/mpi.h").read_text(encoding="utf-8")
    write(out / "include/mpif.h", fortran.mpif_h(header_text))
    write(out / "fortran/mpi.f90", fortran.mpi_module(known, header_text))
    write(out / "fortran/mpi_f08.f90", fortran.f08_module(known, header_text))
    write(out / "generated/mpi/bindings/fortran_calls.h", fortran_header(known))
    sources = []
    for component in sorted({f.component for f in known}):
        own = [f for f in known if f.component == component]
        sources.append(out / f"generated/mpi/bindings/fortran_{component}.c")
        write(sources[-1], fortran_file(component, own))
    return sources


TABLE_HEADER = """#ifndef XY_MPI_BINDINGS_TABLE_H
#define XY_MPI_BINDINGS_TABLE_H

#include "mpi.h"

typedef struct {{
{lines}
}} mpi_table_t;

#endif
"""


def has_site(function):
    return function.result == "int" and not function.is_open


def table_entry(function):
    return wrapped(f"    {function.result} (*{function.name})", table_parameters(function), ");")


def table_parameters(function):
    texts = [] if function.text == "void" else parameter_list(function)
    return (["const void *site"] if has_site(function) else []) + texts or ["void"]


def table_prototype(function, tail):
    return wrapped(f"{function.result} table_{function.name.lower()}", table_parameters(function), tail)


def write_table(out, functions):
    """The table of all functions, for translations of other ABIs; its C files. It has no PMPI_ function: in processes,
    the dynamic linker would take that of the translation."""
    about = "All MPI functions: `site` is where the program called."
    lines = "\n".join(table_entry(f) for f in functions)
    write(out / "generated/mpi/bindings/table.h", ABOUT.format(what=about) + TABLE_HEADER.format(lines=lines))
    sources = []
    for component in sorted({f.component for f in functions}):
        own = [f for f in functions if f.component == component]
        text = ABOUT.format(what=f"The functions of src/mpi/{component} for table.c.")
        text += UNSUPPORTED if component == "unsupported" else includes_of(component, own) + "\n"
        text += '#pragma GCC diagnostic ignored "-Wmissing-prototypes"\n'
        text += '#pragma GCC diagnostic ignored "-Wunused-parameter"\n\n'
        text += "\n".join(f"{table_prototype(f, ')')}\n{{\n{body(f, 'site' if has_site(f) else HERE)}}}\n" for f in own)
        sources.append(out / f"generated/mpi/bindings/table_{component}.c")
        write(sources[-1], text)
    text = ABOUT.format(what=about) + '#include "mpi/bindings/table.h"\n\n#include "mpi/bindings/bindings.h"\n\n'
    text += "\n".join(table_prototype(f, ");") for f in functions)
    text += "\n\nconst mpi_table_t xylem_mpi_table = {\n"
    text += "".join(f"    .{f.name} = table_{f.name.lower()},\n" for f in functions)
    sources.append(out / "generated/mpi/bindings/table.c")
    write(sources[-1], text + "};\n")
    return sources


def unsupported_file(functions):
    what = "The MPI functions that are not implemented yet, under their two names."
    return (ABOUT.format(what=what) + UNSUPPORTED
            + "\n".join(definition(f) for f in functions))


def calls_header(component, functions, parts):
    guard = f"XY_MPI_{component.upper()}_CALLS_H"
    shared = {f.base.name: f.base for f in functions if f.kind != "fast" and not f.base.call}
    needs = '#include "mpi.h"\n'
    if any(f.vectors for f in shared.values()):
        needs += '#include "mpi/coll/coll.h"\n'
    if parts or any("object" in f.forms for f in functions):
        needs += f'#include "mpi/{component}/{component}.h"\n'
    needs += '#include "mpi/runtime/runtime.h"\n'
    text = (f"{SPDX}/*\n * What src/mpi/{component} implements: the work of each MPI function, between entering"
            " and leaving\n * the call. impl_x does MPI_X and the forms that share it: MPI_X_c (counts of"
            " either width),\n * MPI_Ix (request; NULL: block) and MPI_X_init (is_persistent: the request is"
            " to be started).\n * Written by src/mpi/bindings/generate.py from functions.def.\n"
            f" */\n#ifndef {guard}\n#define {guard}\n\n{needs}\n")
    return text + "\n".join([*parts, *(impl_prototype(shared[name]) for name in sorted(shared))]) + "\n\n#endif\n"


HEADER = SPDX + """/*
 * {title}
 * Written by src/mpi/bindings/generate.py from functions.def. Part of mpi.h, which comes first.
 */
#include "mpi.h"
#ifndef {guard}
#define {guard}
/* clang-format off */
{lines}
/* clang-format on */
#endif
"""


def header(functions, prefix, guard, title):
    lines = "\n".join(f"{f.result} {f.full_name(prefix)}({f.text});" for f in functions)
    return HEADER.format(title=title, guard=guard, lines=lines)


COVERAGE = """# MPI functions: what is there

Every function below exists in the library under its MPI_ and its PMPI_ name. Those that are not
implemented yet fail with MPI_ERR_UNSUPPORTED_OPERATION and one line that names the call.

{done} of {total} functions are implemented.

| function | implemented |
|---|---|
{rows}
"""


def coverage(functions):
    rows = "\n".join(f"| MPI_{f.name} | {'yes' if f.is_implemented else 'no'} |" for f in functions)
    done = sum(f.is_implemented for f in functions)
    return COVERAGE.format(done=done, total=len(functions), rows=rows)


def write(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: generate.py DIRECTORY")
    out = pathlib.Path(arguments[0])
    table = pathlib.Path(__file__).with_name("functions.def")
    functions, parts = read(table), read_parts(table)
    write(out / "include/mpi_functions.h",
          header(functions, "MPI_", "XYLEM_MPI_FUNCTIONS_H", "The functions of MPI."))
    write(out / "include/mpi_profiling.h",
          header(functions, "PMPI_", "XYLEM_MPI_PROFILING_H",
                 "The same functions under the names tools call."))
    standard = [f for f in functions if not f.is_extension]
    write(out / "doc/mpi-coverage.md", coverage(standard))
    sources = []
    for component in sorted({f.component for f in functions}):
        own = [f for f in functions if f.component == component]
        sources.append(out / f"generated/mpi/bindings/calls_{component}.c")
        if component == "unsupported":
            write(sources[-1], unsupported_file(own))
        else:
            write(sources[-1], calls_file(component, own))
            write(out / f"generated/mpi/{component}/calls.h", calls_header(component, own, parts.get(component, [])))
    sources.append(out / "generated/mpi/io/accesses.c")
    write(sources[-1], accesses_file(functions))
    sources += write_fortran(out, functions) + write_table(out, functions)
    for old in (out / "generated/mpi/bindings").glob("calls_*.c"): # of a component that has no functions any more
        if old not in sources:
            old.unlink()
    print(";".join(str(path) for path in sources), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
