# SPDX-License-Identifier: BSD-3-Clause
"""The functions of another ABI for Fortran, from functions.def (translate.py).

Fortran passes addresses: of an INTEGER for each handle, as the other MPI numbers them; a status is that of C. Texts have
their lengths behind all arguments. What cannot be written from the table is in fortran_special.c; functions that have
no translation end the job with a message, since Xylem's own would take other handles.
"""
import fortran
import generate as bindings

# In fortran_special.c.
BY_HAND = {"Init", "Init_thread", "Pcontrol", "Info_get", "Buffer_detach", "Op_create", "Comm_create_errhandler",
           "Errhandler_create", "File_create_errhandler", "Win_create_errhandler", "Comm_create_keyval",
           "Type_create_keyval", "Win_create_keyval", "Keyval_create", "Comm_get_attr", "Type_get_attr",
           "Win_get_attr", "Attr_get", "Comm_set_attr", "Type_set_attr", "Win_set_attr", "Attr_put", "Address",
           "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed", "Type_struct", "Get_version",
           "Type_get_contents", "Comm_idup", "Comm_idup_with_info", "Grequest_start", "Register_datarep",
           "Comm_spawn", "Comm_spawn_multiple"}


def argument_class(translate):
    """A subclass of translate.Argument, whose conversions of numbers and statuses are the same."""

    class FortranArgument(translate.Argument):
        def __init__(self, function, p):
            self.length = None
            super().__init__(function, p)
            handle, base = fortran.handle_of(p), p.base.removeprefix("const ")
            kind = translate.kind_of(function, p)
            if handle and not p.is_array and not p.base.endswith("*"):
                self.text = f"const MPI_Fint *{p.name}"
                self.value = f"(MPI_{handle})abi_{handle.lower()}_from_fortran(*{p.name})"
            elif base.startswith("void *"):
                self.text = f"void *{p.name}"
                self.value = p.name if p.name == "baseptr" else f"fortran_buffer({p.name})"
            elif base == "MPI_Status *":
                self.text = f"F_Status *{p.name}"
                self.before = f"    {p.name} = fortran_status({p.name});\n" + self.before
            elif p.name in translate.WEIGHTS:
                self.text, self.value = f"MPI_Fint *{p.name}", f"fortran_weights({p.name})"
            elif base == "char *" and not p.is_array:
                self.characters(function, p)
            elif not p.is_array and not p.base.endswith("*"):
                self.text = f"const {base} *{p.name}"
                self.value = f"{kind}_in(*{p.name})" if kind else f"*{p.name}"
            elif p.name in fortran.LOGICALS and p.base == "int *":
                self.after += f"    *{p.name} = *{p.name} != 0;\n"

        def list_of_handles(self, function, p, handle):
            is_const, name = p.base.startswith("const "), p.name
            length = fortran.length_of_list(function, p).replace(
                "(MPI_Comm)mpi_handle_from_int(*comm)", "(MPI_Comm)abi_comm_from_fortran(*comm)")
            first = "(MPI_%s)ABI_UNTOUCHED" % handle if name == "array_of_datatypes" \
                else f"(MPI_{handle})abi_{handle.lower()}_from_fortran({name}[i])"
            self.text = f"{'const ' if is_const else ''}MPI_Fint {name}[]"
            self.before = (f"    const long n_{name} = {length};\n    MPI_{handle} few_{name}[ABI_FEW];\n"
                           f"    MPI_{handle} *c_{name} = abi_list(few_{name}, n_{name}, sizeof *c_{name});\n"
                           f"    for (long i = 0; i < n_{name}; i++)\n        c_{name}[i] = {first};\n")
            self.value = f"c_{name}"
            if not is_const:
                self.after = (f"    for (long i = 0; i < n_{name}; i++)\n"
                              f"        if (c_{name}[i] != (MPI_{handle})ABI_UNTOUCHED)\n"
                              f"            {name}[i] = abi_to_fortran(c_{name}[i]);\n")
            self.after += f"    abi_list_end(c_{name}, few_{name});\n"

        def handle_place(self, function, p, handle):
            first = f"(MPI_{handle})abi_{handle.lower()}_from_fortran(*{p.name})" \
                if fortran.CHANGES_HANDLE.search(function.name) else f"(MPI_{handle})ABI_UNTOUCHED"
            self.text = f"MPI_Fint *{p.name}"
            self.before = f"    MPI_{handle} c_{p.name} = {first};\n"
            self.value = f"&c_{p.name}"
            self.after = (f"    if (c_{p.name} != (MPI_{handle})ABI_UNTOUCHED)\n"
                          f"        *{p.name} = abi_to_fortran(c_{p.name});\n")

        def characters(self, function, p):
            self.text, self.length = f"{p.base}{p.name}", f"size_t {p.name}_length"
            self.value = f"c_{p.name}"
            if p.base.startswith("const "):
                self.before = f"    char *c_{p.name} = fortran_text({p.name}, {p.name}_length);\n"
                self.after = f"    abi_list_free(c_{p.name});\n"
            else:
                room = translate.ROOM.get(function.name, "MPI_MAX_OBJECT_NAME")
                self.before = f'    char c_{p.name}[{room}] = "";\n'
                self.after = (f"    if (error == MPI_SUCCESS)\n"
                              f"        fortran_text_back({p.name}, {p.name}_length, c_{p.name});\n")

    return FortranArgument


def is_plain(function):
    """Its numbers by address have the size of C's: lists of lengths in C are read through `count`."""
    return all(p.type != "const MPI_Info[]" for p in function.parameters)


def names(function):
    """The other names of a function: of other compilers, with a pointer of C (MPI_Alloc_mem and the like), and of
    Open MPI 4's extensions."""
    low = function.name.lower()
    text = f"FORTRAN_ALIAS({low})\n"
    if any(p.name == "baseptr" for p in function.parameters):
        for prefix in ("mpi_", "pmpi_"):
            text += f'FORTRAN_NAMES("{prefix}", "{prefix.upper()}", {low}_cptr, "{low.upper()}_CPTR", {low})\n'
    if function.is_persistent_collective:
        text += "#ifdef ABI_OPENMPI\n"
        for prefix in ("mpix_", "pmpix_"):
            text += f'FORTRAN_NAMES("{prefix}", "{prefix.upper()}", {low}, "{low.upper()}", {low})\n'
        text += f'FORTRAN_NAME("ompix_{low}_f", {low})\n#endif\n'
    return text


def definition(function, cls, kinds):
    arguments = [cls(function, p) for p in function.parameters]
    low = function.name.lower()
    if function.result != "int":
        texts = [a.text for a in arguments] or ["void"]
        call = bindings.wrapped(f"    return xylem_mpi_table.{function.name}", [a.value for a in arguments] or [""], ");")
        return bindings.wrapped(f"{function.result} pmpi_{low}_", texts, ")") + f"\n{{\n{call}\n}}\n" + names(function)
    texts = [a.text for a in arguments] + ["MPI_Fint *ierror"] + [a.length for a in arguments if a.length]
    after = "".join(a.after for a in reversed(arguments))
    if function.name in fortran.POSITIONS:
        after = "    fortran_position(index);\n" + after
    if function.name in fortran.LISTS_OF_POSITIONS:
        after = ("    for (int i = 0; (error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS) && i < *outcount; i++)\n"
                 "        fortran_position(&array_of_indices[i]);\n") + after
    # Lengths that C has as values are addresses here.
    before = "".join(a.before for a in arguments)
    for name in ("incount", "count", "n", "ndims"):
        if any(p.name == name and not p.base.endswith("*") for p in function.parameters):
            for text in (f", {name});", f", {name}, abi_"):
                before = before.replace(text, text.replace(f" {name}", f" *{name}"))
                after = after.replace(text, text.replace(f" {name}", f" *{name}"))
    values = [bindings.HERE] + [a.value for a in arguments]
    call = bindings.wrapped(f"    error = xylem_mpi_table.{function.name}", values, ");")
    text = f"{before}    int error;\n\n{call}\n{after}    fortran_return(ierror, error_out(error));\n"
    return bindings.wrapped(f"void pmpi_{low}_", texts, ")") + f"\n{{\n{text}}}\n" + names(function)


def missing(function):
    low = function.name.lower()
    return f'void pmpi_{low}_(void)\n{{\n    fortran_missing("MPI_{function.name.upper()}");\n}}\n' + names(function)


def capitals_file(functions, translate):
    """Names in capitals, which the preprocessor cannot make."""
    names = [f.name for f in functions if fortran.is_fortran(f)] + ["F_sync_reg"]
    text = translate.ABOUT.format(what="Names of functions in capitals.")
    return text + "".join(f'#define FORTRAN_CAPITALS_{name.lower()} "{name.upper()}"\n' for name in names)


def calls_file(functions, translate):
    cls = argument_class(translate)
    text = translate.ABOUT.format(what="The MPI functions for Fortran with the handles of another ABI.")
    text += '#include "mpi/abi/translated_fortran.h"\n\n#pragma GCC diagnostic ignored "-Wmissing-prototypes"\n'
    text += "#pragma GCC visibility push(default)\n\n"
    for f in functions:
        if not fortran.is_fortran(f) or f.name in BY_HAND:
            continue
        special = f.name in fortran.SPECIAL or f.name in translate.SPECIAL
        text += (missing(f) if special else definition(f, cls, translate)) + "\n"
    return text + "#pragma GCC visibility pop\n"
