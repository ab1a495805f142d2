# SPDX-License-Identifier: BSD-3-Clause
"""What Fortran sees of the functions in functions.def: the functions under Fortran's names, mpif.h,
and the sources of the modules mpi and mpi_f08.

A Fortran compiler passes addresses, an INTEGER for each handle, and the length of each text behind
all arguments. A type with one INTEGER in it is passed as that INTEGER is, and an argument that is
absent as NULL: so one function serves all three interfaces. What cannot be written from the table is
in fortran_*.c, and in SPECIAL here.
"""
import re

HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request",
           "Session", "Win")
NUMBERS = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND", "MPI_Offset": "MPI_OFFSET_KIND"}
LOGICALS = {"flag", "periods", "reorder", "remain_dims", "weighted", "high", "commute"}
# Numbers, whose bits are combined.
FLAGS_WITH_BITS = {"MPIX_Comm_agree", "MPIX_Comm_iagree"}
WEIGHTS = {"weights", "sourceweights", "destweights"}

# Not in Fortran: conversions of C's handles and statuses, the tool interface.
C_ONLY = re.compile(r"^T_|_(c2f|f2c|toint|fromint)$|^Status_(c2f|f2c|c2f08|f082c)$|^Abi_")
# The arguments in Fortran differ from those in C, or functions of the program are among them.
# fortran_*.c has these.
SPECIAL = {
    "Init", "Init_thread", "Info_create_env", "Pcontrol", "Info_get", "Info_get_string",
    "Session_get_nth_pset", "Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer",
    "Buffer_detach_c", "Comm_detach_buffer_c", "Session_detach_buffer_c",
    "Comm_idup", "Comm_idup_with_info", "Comm_spawn", "Comm_spawn_multiple",
    "Comm_create_keyval", "Type_create_keyval", "Win_create_keyval", "Keyval_create",
    "Comm_get_attr", "Type_get_attr", "Win_get_attr", "Attr_get",
    "Comm_set_attr", "Type_set_attr", "Win_set_attr", "Attr_put",
    "Op_create", "Op_create_c", "Comm_create_errhandler", "Win_create_errhandler",
    "File_create_errhandler", "Session_create_errhandler", "Errhandler_create",
    "Grequest_start", "Register_datarep", "Register_datarep_c",
    "Address", "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed", "Type_struct"}
# What MPI-1 had and later versions took away: in mpif.h's world only.
REMOVED = {"Address", "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed",
           "Type_struct", "Errhandler_create", "Errhandler_get", "Errhandler_set"}
NOT_F08 = REMOVED | {"Attr_delete", "Attr_get", "Attr_put", "Keyval_create", "Keyval_free"}
# Handles that the program gives and gets back changed.
CHANGES_HANDLE = re.compile(r"(_free|_finalize|_close|_disconnect)$|^(Start|Wait|Test|Cancel|Mrecv|Imrecv|Type_commit)")
# Positions in lists begin with 1.
POSITIONS = {"Waitany": "index", "Testany": "index", "Request_get_status_any": "index"}
LISTS_OF_POSITIONS = {"Waitsome", "Testsome", "Request_get_status_some"}
# Room for texts that C writes.
ROOM = {"Error_string": "MPI_MAX_ERROR_STRING", "Get_processor_name": "MPI_MAX_PROCESSOR_NAME",
        "Get_library_version": "MPI_MAX_LIBRARY_VERSION_STRING", "Info_get_nthkey": "MPI_MAX_INFO_KEY",
        "File_get_view": "MPI_MAX_DATAREP_STRING", "Lookup_name": "MPI_MAX_PORT_NAME",
        "Open_port": "MPI_MAX_PORT_NAME"}
# The lists of handles by the number of elements: an argument, or what the communicator says.
LENGTHS = ("count", "incount", "max_datatypes")
ABOUT = ("SPDX-License-Identifier: BSD-3-Clause\n"
         "Written by src/mpi/bindings/fortran.py from functions.def and mpi.h.\n")


def is_fortran(function):
    return not C_ONLY.search(function.name)


def full_name(function, prefix=""):
    """MPI_Send, PMPIX_Comm_agree."""
    return prefix + ("" if function.name.startswith("MPIX_") else "MPI_") + function.name


def handle_of(parameter):
    """'Comm' for MPI_Comm, const MPI_Comm[] and MPI_Comm *; or None."""
    match = re.match(r"^(?:const )?MPI_(\w+)(?: ?\*)?$", parameter.base)
    return match.group(1) if match and match.group(1) in HANDLES else None


def length_of_list(function, parameter):
    names = [p.name for p in function.parameters]
    for name in LENGTHS:
        if name in names:
            return f"*{name}"
    comm = "(MPI_Comm)mpi_handle_from_int(*comm)"
    if function.name.lower().removeprefix("i").startswith("neighbor"):
        return f"xylem_mpi_services.degree({comm}, {'true' if parameter.name.startswith('send') else 'false'})"
    return f"xylem_mpi_services.peers({comm})"


class Argument:
    """One argument: how C gets it (parameter, before, value, after)."""

    def __init__(self, function, p):
        self.name, self.before, self.after, self.length = p.name, "", "", None
        handle, base = handle_of(p), p.base.removeprefix("const ")
        self.parameter = f"{p.base}{'' if p.base.endswith('*') else ' '}{p.name}{p.type[len(p.base):]}"
        self.value = p.name
        if handle and p.is_array:
            self.list_of_handles(function, p, handle)
        elif handle and p.base.endswith("*"):
            self.made_handle(function, p, handle)
        elif handle:
            self.parameter = f"const MPI_Fint *{p.name}"
            self.value = f"(MPI_{handle})mpi_handle_from_int(*{p.name})"
        elif base.startswith("void *"):
            is_place = p.name == "baseptr"
            self.parameter = f"void *{p.name}"
            self.value = p.name if is_place else f"fortran_buffer({p.name})"
        elif base == "char *":
            self.text(function, p)
        elif base == "MPI_Status *":
            self.parameter = f"MPI_Status *{p.name}"
            self.value = f"fortran_status({p.name})"
        elif p.name in WEIGHTS:
            self.parameter = f"MPI_Fint *{p.name}"
            self.value = f"fortran_weights({p.name})"
        elif not p.is_array and not p.base.endswith("*"):
            self.parameter = f"const {p.base.removeprefix('const ')} *{p.name}"
            self.value = f"*{p.name}"
        if p.name in LOGICALS and p.base == "int *" and function.name not in FLAGS_WITH_BITS:
            self.after = f"    *{p.name} = *{p.name} != 0;\n"

    def list_of_handles(self, function, p, handle):
        is_const = p.base.startswith("const ")
        self.parameter = f"{'const ' if is_const else ''}MPI_Fint {p.name}[]"
        self.value = f"(MPI_{handle} *)c_{p.name}"
        length = length_of_list(function, p)
        self.before = (f"    void *few_{p.name}[FORTRAN_FEW];\n"
                       f"    const long n_{p.name} = {length};\n"
                       f"    void **c_{p.name} = fortran_list(few_{p.name}, n_{p.name}")
        if p.name == "array_of_datatypes": # only comes out
            self.before += ", NULL);\n"
        else:
            self.before += f", {p.name});\n"
        if not is_const:
            self.after = f"    fortran_list_back({p.name}, c_{p.name}, n_{p.name});\n"
        self.after += f"    fortran_list_end(c_{p.name}, few_{p.name});\n"

    def made_handle(self, function, p, handle):
        first = f"mpi_handle_from_int(*{p.name})" if CHANGES_HANDLE.search(function.name) \
            else f"MPI_{handle.upper()}_NULL"
        self.parameter = f"MPI_Fint *{p.name}"
        self.before = f"    MPI_{handle} c_{p.name} = {first};\n"
        self.value = f"&c_{p.name}"
        self.after = f"    *{p.name} = mpi_handle_to_int(c_{p.name});\n"

    def text(self, function, p):
        self.length = f"size_t {p.name}_length"
        if p.base.startswith("const "):
            self.before = f"    char *c_{p.name} = fortran_text({p.name}, {p.name}_length);\n"
            self.after = f"    xy_free(c_{p.name});\n"
        else:
            room = ROOM.get(function.name, "MPI_MAX_OBJECT_NAME")
            self.before = f'    char c_{p.name}[{room}] = "";\n'
            self.after = (f"    if (error == MPI_SUCCESS)\n"
                          f"        fortran_text_back({p.name}, {p.name}_length, c_{p.name});\n")
        self.value = f"c_{p.name}"


def wrapper_text(function, wrapped):
    """The function under Fortran's two names."""
    arguments = [Argument(function, p) for p in function.parameters]
    if function.result != "int":
        texts = [a.parameter for a in arguments] or ["void"]
        call = f"    return xylem_mpi_table.{function.name}({', '.join(a.value for a in arguments)});\n"
        result = function.result
    else:
        texts = [a.parameter for a in arguments] + ["MPI_Fint *ierror"] + \
            [a.length for a in arguments if a.length]
        # Conversions back come in the reverse order: the lengths of lists are needed until the end.
        after = "".join(a.after for a in reversed(arguments))
        if function.name in POSITIONS:
            after = "    fortran_position(index);\n" + after
        if function.name in LISTS_OF_POSITIONS:
            after = "    fortran_positions(array_of_indices, error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS ? *outcount : 0);\n" + after
        values = ["__builtin_return_address(0)"] + [a.value for a in arguments]
        call = ("".join(a.before for a in arguments)
                + wrapped(f"    int error = at_{function.name.lower()}", values, ");")
                + f"\n\n{after}    fortran_return(ierror, error);\n")
        result = "void"
    low = full_name(function).lower()
    head = wrapped(f"{result} p{low}_", texts, ")")
    again = wrapped(f"{result} {low}_", texts, ")")
    return f'{head}\n{{\n{call}}}\n{again}\n    __attribute__((weak, alias("p{low}_")));\n'


# ---- Fortran's view -----------------------------------------------------------------------------

class View:
    """The declarations of a function's arguments in one of the modules."""

    def __init__(self, is_f08):
        self.is_f08 = is_f08

    def integer(self, c_type):
        c_type = c_type.removeprefix("const ").rstrip(" *")
        return f"integer(kind={NUMBERS[c_type]})" if c_type in NUMBERS else "integer"

    def declare(self, function, p):
        """(declaration, name with bounds)."""
        handle, base = handle_of(p), p.base.removeprefix("const ")
        bounds = "(*)" if p.is_array or p.name in WEIGHTS else ""
        is_in = p.base.startswith("const ") or (not p.is_array and not p.base.endswith("*"))
        intent = ", intent(in)" if is_in else ""
        if p.type.endswith("[][3]"):
            bounds = "(3,*)"
        if p.name == "baseptr" or (self.is_f08 and p.name == "buffer_addr"):
            kind = "type(c_ptr)" if self.is_f08 else "integer(kind=MPI_ADDRESS_KIND)"
        elif p.name in ("attribute_val", "extra_state"):
            small = function.name in ("Attr_put", "Attr_get", "Keyval_create")
            kind = "integer" if small else "integer(kind=MPI_ADDRESS_KIND)"
        elif base.startswith("void *"):
            kind, bounds = "type(*), dimension(*)", ""
            note = f"\n!GCC$ ATTRIBUTES NO_ARG_CHECK :: {p.name}"
            # TARGET: gfortran takes it that other arguments are not used after the call, and would
            # move what the program does with them across MPI_Wait.
            if is_kept(function):
                intent += ", asynchronous, target"
            return f"{kind}{intent} :: {p.name}{note}"
        elif base.startswith("MPI_Status *"):
            is_list = p.name == "array_of_statuses"
            if self.is_f08:
                kind, bounds = "type(MPI_Status)", "(*)" if is_list else ""
            else:
                kind, bounds = "integer", "(MPI_STATUS_SIZE,*)" if is_list else "(MPI_STATUS_SIZE)"
        elif base == "MPI_F08_status *":
            kind = "type(MPI_Status)" if self.is_f08 else "integer"
            bounds = "" if self.is_f08 else "(MPI_STATUS_SIZE)"
        elif base == "MPI_Fint *":
            kind, bounds = "integer", "(MPI_STATUS_SIZE)"
        elif handle:
            kind = f"type(MPI_{handle})" if self.is_f08 else "integer"
        elif base.endswith(("function *", "function_c *")):
            name = base.removesuffix("*").strip()
            return f"procedure({name}) :: {p.name}" if self.is_f08 else f"external :: {p.name}"
        elif base == "char *" and not p.is_array:
            kind = "character(len=*)"
        elif base.startswith("char *"):
            kind, bounds = "character(len=*)", "(*)"
            if function.name == "Comm_spawn_multiple" and "argv" in p.name:
                bounds = "(count,*)"
        elif function.name in FLAGS_WITH_BITS and p.name == "flag":
            kind = "integer, asynchronous, target" if is_kept(function) else "integer"
        elif p.name in LOGICALS:
            kind = "logical"
        else:
            kind = self.integer(base)
        return f"{kind}{intent} :: {p.name}{bounds}"

    def subroutine(self, function, name=None):
        name = name or full_name(function)
        parameters = fortran_parameters(function)
        lines = [self.declare(function, p) for p in parameters]
        names = [p.name for p in parameters]
        if function.result != "int":
            result = {"double": "double precision", "MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)"}[function.result]
            head = f"function {name}({', '.join(names)})"
            return unit(head, lines + [f"{result} :: {name}"], "function")
        if function.name != "Pcontrol":
            names.append("ierror")
            lines.append("integer, optional, intent(out) :: ierror" if self.is_f08 else "integer, intent(out) :: ierror")
        return unit(f"subroutine {name}({', '.join(names)})", lines, "subroutine")

    def signature(self, function):
        return [re.sub("MPI_(ADDRESS|COUNT|OFFSET)_KIND", "8", self.declare(function, p))
                for p in fortran_parameters(function)]


def unit(head, lines, end):
    # The numbers that bounds need are declared first.
    lines = sorted(lines, key=lambda line: "(count,*)" in line)
    body = "\n".join(lines)
    return f"{head}\nimport\n{body}\nend {end}\n"


def is_kept(function):
    """Does MPI use buffers after the call has returned?"""
    return any(p.base in ("MPI_Request *", "MPI_Win", "MPI_Win *") for p in function.parameters) \
        or re.search("_begin|attach|^Get_address", function.name)


LEFT_OUT = {"Init": {"argc", "argv"}, "Init_thread": {"argc", "argv"}, "Info_create_env": {"argc", "argv"}}


def fortran_parameters(function):
    left = LEFT_OUT.get(function.name, ())
    return [p for p in function.parameters if p.name not in left]


def constants(header):
    """([(name, type of handle or 'integer', value)]) of mpi.h, in its order."""
    found, names = [], {}
    pattern = re.compile(r"^#define (MPI_\w+) +\(\((MPI_\w+)\)(0x[0-9a-f]+)\)$"
                         r"|^#define (MPI_\w+) +(MPI_\w+)$"
                         r"|^#define (MPI_\w+) +(\d+)$"
                         r"|\b(MPIX?_\w+) = (-?(?:0x)?[0-9a-f]+)\b", re.M)
    for m in pattern.finditer(header):
        if m.group(1):
            entry = (m.group(1), m.group(2).removeprefix("MPI_"), int(m.group(3), 16))
        elif m.group(4):
            entry = (m.group(4), *names.get(m.group(5), (None, 0)))
        elif m.group(6):
            # Lengths are those of texts without the terminating zero.
            entry = (m.group(6), "integer", int(m.group(7)) - m.group(6).startswith("MPI_MAX_"))
        else:
            entry = (m.group(8), "integer", int(m.group(9), 0))
        if entry[1] is None or entry[0].startswith(("MPI_T_", "MPI_F_")):
            continue
        if entry[1] != "integer" and entry[1] not in HANDLES:
            continue
        names[entry[0]] = entry[1:]
        found.append(entry)
    return found


NUMBERS_OF_FORTRAN = [("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3),
                      ("MPI_INTEGER_KIND", 4), ("MPI_ADDRESS_KIND", 8), ("MPI_COUNT_KIND", 8),
                      ("MPI_OFFSET_KIND", 8)]
SWITCHES = ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"]
# Variables whose addresses mean something, in one block whose place the library knows: fortran.h.
SPECIAL_NAMES = """      INTEGER MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
      INTEGER MPI_ERRCODES_IGNORE(1)
      INTEGER MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      CHARACTER*4 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
"""
BLOCK = """      COMMON /XYLEM_FORTRAN/ MPI_BOTTOM, MPI_IN_PLACE
      COMMON /XYLEM_FORTRAN/ MPI_BUFFER_AUTOMATIC, MPI_ERRCODES_IGNORE
      COMMON /XYLEM_FORTRAN/ MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
      COMMON /XYLEM_FORTRAN/ MPI_ARGV_NULL, MPI_ARGVS_NULL
      COMMON /XYLEM_FORTRAN/ MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
      SAVE /XYLEM_FORTRAN/
"""
STATUS_NAMES = "      INTEGER MPI_STATUS_IGNORE(8), MPI_STATUSES_IGNORE(8,1)\n"
PREDEFINED_FUNCTIONS = {
    kind: [f"MPI_{kind}NULL_COPY_FN", f"MPI_{kind}DUP_FN", f"MPI_{kind}NULL_DELETE_FN"]
    for kind in ("COMM_", "TYPE_", "WIN_", "")}


def mpif_h(header):
    """For fixed and free form: nothing before column 7 or behind column 72."""
    lines = "".join(f"! {line}\n" for line in ABOUT.splitlines())
    numbers = [(name, value) for name, _, value in constants(header)] + NUMBERS_OF_FORTRAN
    for name, value in numbers:
        lines += f"      INTEGER {name}\n      PARAMETER ({name}={value})\n"
    for name in SWITCHES:
        lines += f"      LOGICAL {name}\n      PARAMETER ({name}=.FALSE.)\n"
    lines += "      INTEGER*8 MPI_DISPLACEMENT_CURRENT\n      PARAMETER (MPI_DISPLACEMENT_CURRENT=-1)\n"
    lines += SPECIAL_NAMES + STATUS_NAMES + BLOCK
    lines += "      DOUBLE PRECISION MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK\n"
    lines += "      EXTERNAL MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK\n"
    lines += "      INTEGER*8 MPI_AINT_ADD, MPI_AINT_DIFF\n      EXTERNAL MPI_AINT_ADD, MPI_AINT_DIFF\n"
    for names in PREDEFINED_FUNCTIONS.values():
        lines += "".join(f"      EXTERNAL {name}\n" for name in names)
    lines += "      EXTERNAL MPI_CONVERSION_FN_NULL\n"
    return lines


def about_module():
    return "".join(f"! {line}\n" for line in ABOUT.splitlines())


def sizeof_interface():
    """MPI_SIZEOF for each type and kind: the array's shape does not matter. gfortran's preprocessor leaves out
    the kinds that the processor lacks: real(10) is that of x86."""
    optional = {"integer16": "__GFC_INT_16__", "logical16": "__GFC_INT_16__", "real10": "__GFC_REAL_10__",
                "complex10": "__GFC_REAL_10__", "real16": "__GFC_REAL_16__", "complex16": "__GFC_REAL_16__"}
    kinds = [("integer", (1, 2, 4, 8, 16)), ("real", (4, 8, 10, 16)), ("complex", (4, 8, 10, 16)),
             ("logical", (1, 2, 4, 8, 16))]
    text = "interface MPI_SIZEOF\n"
    for name, sizes in kinds:
        for kind in sizes:
            bytes_ = (16 if kind == 10 else kind) * (1 + (name == "complex"))
            body = unit(f"subroutine xylem_sizeof{bytes_}_{name}{kind}(x, size, ierror)",
                        [f"{name}(kind={kind}), dimension(..) :: x", "integer, intent(out) :: size",
                         "integer, optional, intent(out) :: ierror"], "subroutine")
            condition = optional.get(f"{name}{kind}")
            text += f"#ifdef {condition}\n{body}#endif\n" if condition else body
    text += unit("subroutine xylem_sizeof1_character(x, size, ierror)",
                 ["character(len=*), dimension(..) :: x", "integer, intent(out) :: size",
                  "integer, optional, intent(out) :: ierror"], "subroutine")
    return text + "end interface\n"


def sizeof_functions():
    """What stands behind it, in C: {symbol: bytes}."""
    return {m[0]: int(m[1]) for m in re.findall(r"subroutine (xylem_sizeof(\d+)_\w+)", sizeof_interface())}


def mpi_module(functions, header):
    view = View(False)
    text = about_module() + "module mpi_constants\nimplicit none\npublic\n"
    text += numbers_of_module(header, False)
    text += "".join(line.strip() + "\n" for line in (SPECIAL_NAMES + STATUS_NAMES + BLOCK).splitlines())
    text += "end module\nmodule mpi\nuse mpi_constants\nimplicit none\npublic\n"
    for names in PREDEFINED_FUNCTIONS.values():
        text += f"external :: {', '.join(names)}\n"
    text += "external :: MPI_CONVERSION_FN_NULL\n"
    plain = [f for f in functions if f.name not in REMOVED and not f.name.endswith("_c")]
    with_pointer = {f.name for f in plain if any(p.name == "baseptr" for p in f.parameters)}
    text += "interface\n" + "".join(view.subroutine(f) for f in plain if f.name not in with_pointer)
    text += profiling(view, [f for f in plain if f.result != "int"]) + "end interface\n"
    for f in plain:
        if f.name in with_pointer:
            text += pointer_interface(f, view)
    return text + sizeof_interface() + "end module\n"


def pointer_interface(function, view):
    """MPI_Alloc_mem and the like give the address as an integer or as a pointer of C."""
    other = view.subroutine(function, f"MPI_{function.name}_cptr").replace(
        "import\n", "use, intrinsic :: iso_c_binding, only: c_ptr\nimport\n").replace(
        "integer(kind=MPI_ADDRESS_KIND) :: baseptr", "type(c_ptr) :: baseptr")
    return f"interface MPI_{function.name}\n{view.subroutine(function)}{other}end interface\n"


def profiling(view, functions):
    return "".join(view.subroutine(f, full_name(f, "P")) for f in functions)


def numbers_of_module(header, is_f08):
    text = ""
    for name, value in NUMBERS_OF_FORTRAN:
        text += f"integer, parameter :: {name} = {value}\n"
    for name in SWITCHES:
        text += f"logical, parameter :: {name} = .false.\n"
    text += "integer(kind=MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1\n"
    for name, kind, value in constants(header):
        if kind == "integer" or not is_f08:
            text += f"integer, parameter :: {name} = {value}\n"
        else:
            text += f"type(MPI_{kind}), parameter :: {name} = MPI_{kind}({value})\n"
    return text


CALLBACKS = """abstract interface
subroutine MPI_User_function(invec, inoutvec, len, datatype)
use, intrinsic :: iso_c_binding, only: c_ptr
import
type(c_ptr), value :: invec, inoutvec
integer :: len
type(MPI_Datatype) :: datatype
end subroutine
subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
use, intrinsic :: iso_c_binding, only: c_ptr
import
type(c_ptr), value :: invec, inoutvec
integer(kind=MPI_COUNT_KIND) :: len
type(MPI_Datatype) :: datatype
end subroutine
subroutine MPI_Grequest_query_function(extra_state, status, ierror)
import
integer(kind=MPI_ADDRESS_KIND) :: extra_state
type(MPI_Status) :: status
integer :: ierror
end subroutine
subroutine MPI_Grequest_free_function(extra_state, ierror)
import
integer(kind=MPI_ADDRESS_KIND) :: extra_state
integer :: ierror
end subroutine
subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
import
integer(kind=MPI_ADDRESS_KIND) :: extra_state
logical :: complete
integer :: ierror
end subroutine
subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
import
type(MPI_Datatype) :: datatype
integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
integer :: ierror
end subroutine
subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, extra_state, ierror)
use, intrinsic :: iso_c_binding, only: c_ptr
import
type(c_ptr), value :: userbuf, filebuf
type(MPI_Datatype) :: datatype
integer :: count, ierror
integer(kind=MPI_OFFSET_KIND) :: position
integer(kind=MPI_ADDRESS_KIND) :: extra_state
end subroutine
subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, position, extra_state, ierror)
use, intrinsic :: iso_c_binding, only: c_ptr
import
type(c_ptr), value :: userbuf, filebuf
type(MPI_Datatype) :: datatype
integer(kind=MPI_COUNT_KIND) :: count
integer :: ierror
integer(kind=MPI_OFFSET_KIND) :: position
integer(kind=MPI_ADDRESS_KIND) :: extra_state
end subroutine
"""


def f08_callbacks():
    text = CALLBACKS
    for kind, handle in (("Comm", "comm"), ("Type", "datatype"), ("Win", "win")):
        object_type = "MPI_Datatype" if kind == "Type" else f"MPI_{kind}"
        keyval = f"{kind.lower()}_keyval"
        text += (f"subroutine MPI_{kind}_copy_attr_function({handle}, {keyval}, extra_state, "
                 "attribute_val_in, attribute_val_out, flag, ierror)\nimport\n"
                 f"type({object_type}) :: {handle}\ninteger :: {keyval}, ierror\n"
                 "integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out\n"
                 "logical :: flag\nend subroutine\n"
                 f"subroutine MPI_{kind}_delete_attr_function({handle}, {keyval}, attribute_val, "
                 "extra_state, ierror)\nimport\n"
                 f"type({object_type}) :: {handle}\ninteger :: {keyval}, ierror\n"
                 "integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state\nend subroutine\n")
    for kind in ("Comm", "Win", "File", "Session"):
        text += (f"subroutine MPI_{kind}_errhandler_function({kind.lower()}, error_code)\nimport\n"
                 f"type(MPI_{kind}) :: {kind.lower()}\ninteger :: error_code\nend subroutine\n")
    text += "end interface\n"
    for kind in ("Comm", "Type", "Win"):
        copy, dup, delete = PREDEFINED_FUNCTIONS[kind.upper() + "_"]
        text += (f"procedure(MPI_{kind}_copy_attr_function) :: {copy}, {dup}\n"
                 f"procedure(MPI_{kind}_delete_attr_function) :: {delete}\n")
    return text + ("procedure(MPI_Datarep_conversion_function) :: MPI_CONVERSION_FN_NULL\n"
                   "procedure(MPI_Datarep_conversion_function_c) :: MPI_CONVERSION_FN_NULL_C\n")


def f08_types():
    text = ""
    for name in HANDLES:
        text += f"type, bind(C) :: MPI_{name}\ninteger :: MPI_VAL\nend type\n"
    text += ("type, bind(C) :: MPI_Status\ninteger :: MPI_SOURCE, MPI_TAG, MPI_ERROR\n"
             "integer, private :: internal(5)\nend type\n")
    for sign, word in (("==", "eq"), ("/=", "ne")):
        text += f"interface operator({sign})\n"
        for name in HANDLES:
            text += (f"function xylem_{word}_{name.lower()}(a, b)\nimport\n"
                     f"type(MPI_{name}), intent(in) :: a, b\nlogical :: xylem_{word}_{name.lower()}\nend function\n")
        text += "end interface\n"
    return text


def f08_module(functions, header):
    view = View(True)
    named = {f.name: f for f in functions}
    text = about_module() + "module mpi_f08\nuse, intrinsic :: iso_c_binding, only: c_ptr\nimplicit none\npublic\n"
    text += "private :: c_ptr\n" + f08_types() + numbers_of_module(header, True)
    text += "".join(line.strip() + "\n" for line in SPECIAL_NAMES.splitlines())
    text += "type(MPI_Status) :: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)\n"
    text += "".join(line.strip() + "\n" for line in BLOCK.splitlines())
    text += f08_callbacks()
    done = set()
    for f in functions:
        if f.name in NOT_F08 or f.name in done:
            continue
        wide = named.get(f.name + "_c")
        bodies = [f]
        if wide and view.signature(wide) != view.signature(f) and not f.name.startswith(("Op_create", "Register")):
            bodies.append(wide)
            done.add(wide.name)
        elif wide and view.signature(wide) == view.signature(f):
            done.add(wide.name)
        for prefix in ("", "P"):
            name = full_name(f, prefix) if len(bodies) > 1 else ""
            text += f"interface {name}\n".replace(" \n", "\n")
            for b in bodies:
                body_name = full_name(b, prefix) + ("_f08" if "buffer_addr" in [p.name for p in b.parameters] else "")
                text += view.subroutine(b, body_name)
            text += "end interface\n"
    return text + sizeof_interface() + "end module\n"
