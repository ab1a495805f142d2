/* SPDX-License-Identifier: BSD-3-Clause */
/* From relocations to fixups: what has to be stored where in every image. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "process/image/collect.h"
#include "process/image/lookup.h"
#include "process/ops/ops.h"

enum { R_NOTHING = 0 }; /* everywhere */

#if defined(__x86_64__)
enum {
    R_RELATIVE = R_X86_64_RELATIVE,
    R_ABSOLUTE = R_X86_64_64,
    R_GLOBAL = R_X86_64_GLOB_DAT,
    R_FUNCTION = R_X86_64_JUMP_SLOT,
    R_COPY = R_X86_64_COPY,
    R_CHOSEN = R_X86_64_IRELATIVE,
};
#elif defined(__aarch64__)
enum {
    R_RELATIVE = R_AARCH64_RELATIVE,
    R_ABSOLUTE = R_AARCH64_ABS64,
    R_GLOBAL = R_AARCH64_GLOB_DAT,
    R_FUNCTION = R_AARCH64_JUMP_SLOT,
    R_COPY = R_AARCH64_COPY,
    R_CHOSEN = R_AARCH64_IRELATIVE,
};
#else
enum { R_RELATIVE = 1, R_ABSOLUTE, R_GLOBAL, R_FUNCTION, R_COPY, R_CHOSEN };
#endif

bool process_fixup_fits(const process_module_t *module, uintptr_t address, uint64_t bytes)
{
    const process_elf_t *elf = module->elf;

    return address >= elf->writable && address < elf->high && bytes <= elf->high - address;
}

xy_status_t process_fixup_add(process_program_t *program, uint64_t where, process_fixup_kind_t kind,
                              int64_t value, uint64_t which)
{
    process_fixup_t fixup = {
        .where = where, .value = value, .which = (uint32_t)which, .kind = kind};

    if (!process_prototype_store(program, &fixup) &&
        xy_vec_append(&program->fixups, &fixup) != XY_OK)
        return xy_fail_memory("loading the program");
    return XY_OK;
}

xy_status_t process_fixup_undefined(const process_module_t *module, const char *name)
{
    return xy_fail_at(XY_ENOENT, module->elf->path, 0,
                      "undefined symbol '%s'; is the library that defines it where it was when the "
                      "program was linked?",
                      name);
}

/* The name of the function for the Fortran runtime's output, which it writes in pieces that are no
 * lines, flushing C's streams before each. */
static const char *fortran_name(const char *name)
{
    if (strcmp(name, "write") == 0)
        return "xylem_write_lines";
    return strcmp(name, "fflush") == 0 ? "xylem_flush_lines" : name;
}

static size_t size_of(void *found)
{
    void *symbol = NULL;
    Dl_info info;

    return dladdr1(found, &info, &symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL
               ? ((const ElfW(Sym) *)symbol)->st_size
               : SIZE_MAX;
}

/* The image's copy of a C++ stream: of the program, where that has one, or of its plug-in. A
 * plug-in looks for symbols in its program first. */
static xy_status_t fix_cxx_stream(process_program_t *program, uint64_t where, int stream,
                                  void *found, int64_t addend)
{
    const process_program_t *parent = program->parent;
    bool is_parents = parent != NULL && parent->has_cxx_stream[stream];
    size_t at =
        (is_parents ? parent : program)->cxx_streams + (size_t)stream * PROCESS_CXX_STREAM_ROOM;
    size_t owner = is_parents ? 0 : program->self;
    xy_status_t st = XY_OK;

    if (!is_parents && !program->has_cxx_stream[stream]) {
        program->has_cxx_stream[stream] = true;
        st = process_fixup_add(program, at, PROCESS_FIXUP_COPY, (int64_t)(intptr_t)found,
                               size_of(found));
    }
    return st == XY_OK
               ? process_fixup_add(program, where, PROCESS_FIXUP_IMAGE, (int64_t)at + addend, owner)
               : st;
}

/* A function that nothing defines may be one that is never called: the dynamic linker looks for it
 * at the first call, unless it is asked for all at once. */
static bool is_lazy(const process_program_t *program, const process_module_t *module, unsigned type)
{
    static const char *all_at_once;

    if (all_at_once == NULL) {
        all_at_once = getenv("LD_BIND_NOW");
        all_at_once = all_at_once != NULL ? all_at_once : "";
    }
    return type == R_FUNCTION && !module->elf->binds_now && !program->binds_now &&
           *all_at_once == '\0';
}

/* A symbol that no private module defines. */
static xy_status_t fix_outside(process_program_t *program, const process_module_t *module,
                               uint64_t where, const ElfW(Rela) * entry, const ElfW(Sym) * symbol)
{
    size_t index = ELF64_R_SYM(entry->r_info);
    int64_t addend = entry->r_addend;
    const char *name = process_elf_string(module->elf, symbol->st_name);
    int variable = program->is_shared ? -1 : process_lookup_variable(name);
    int stream = program->is_shared ? -1 : process_lookup_cxx_stream(name);
    void *found;

    if (variable >= 0)
        return process_fixup_add(program, where, PROCESS_FIXUP_VARIABLE, addend,
                                 (uint64_t)variable);
    if (process_library_is_fortran(module->elf->path))
        name = fortran_name(name);
    found = process_lookup_outside(name, process_elf_version(module->elf, index));
    if (found == NULL && ELF64_ST_BIND(symbol->st_info) != STB_WEAK) {
        if (is_lazy(program, module, (unsigned)ELF64_R_TYPE(entry->r_info)))
            found = process_undefined_function(module->elf->path, name);
        if (found == NULL)
            return process_fixup_undefined(module, name);
    }
    if (found != NULL && stream >= 0 && size_of(found) <= PROCESS_CXX_STREAM_ROOM)
        return fix_cxx_stream(program, where, stream, found, addend);
    return process_fixup_add(program, where, PROCESS_FIXUP_VALUE,
                             found != NULL ? (int64_t)(intptr_t)found + addend : 0, 0);
}

/* The number in the scope of the program that a module belongs to. */
static size_t owner_of(const process_program_t *program, const process_module_t *module)
{
    for (size_t i = 0; i < program->scope.count; i++) {
        const process_program_t *other = XY_VEC_AT(&program->scope, const process_program_t *, i);
        const process_module_t *modules = other->modules.data;

        if (module >= modules && module < modules + other->modules.count)
            return i;
    }
    return program->self;
}

/* May another definition of the symbol come before the module's own? */
static bool is_open(const process_module_t *module, const ElfW(Sym) * symbol)
{
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT &&
           (symbol->st_shndx == SHN_UNDEF || !module->elf->is_symbolic);
}

/* Add the fixup of a relocation that names a symbol, found in the program or outside. */
static xy_status_t fix_symbol(process_program_t *program, const process_module_t *module,
                              uint64_t where, const ElfW(Rela) * entry)
{
    size_t index = ELF64_R_SYM(entry->r_info);
    const ElfW(Sym) *symbol = process_elf_symbol(module->elf, index), *other = NULL;
    const process_module_t *owner = module;
    int64_t addend = entry->r_addend;
    const char *name;
    void *guard;

    if (symbol == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the symbol table is broken");
    if (index == 0)
        return process_fixup_add(program, where, PROCESS_FIXUP_VALUE, addend, 0);
    name = process_elf_string(module->elf, symbol->st_name);
    if (is_open(module, symbol))
        owner = process_lookup_inside(program, name, process_elf_version(module->elf, index), NULL,
                                      &other);
    if (other != NULL)
        symbol = other;
    else
        owner = module;
    if (symbol->st_shndx == SHN_UNDEF)
        return fix_outside(program, module, where, entry, symbol);
    guard = process_lookup_guarded(owner->elf, name);
    if (guard != NULL)
        return process_fixup_add(program, where, PROCESS_FIXUP_VALUE, (int64_t)(intptr_t)guard, 0);
    if (symbol->st_shndx == SHN_ABS)
        return process_fixup_add(program, where, PROCESS_FIXUP_VALUE,
                                 (int64_t)symbol->st_value + addend, 0);
    return process_fixup_add(
        program, where,
        ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? PROCESS_FIXUP_IFUNC : PROCESS_FIXUP_IMAGE,
        (int64_t)process_module_offset(owner, symbol->st_value) + addend, owner_of(program, owner));
}

/* Add the fixup of a copy relocation: the initial value of a variable of a library. */
static xy_status_t fix_copy(process_program_t *program, const process_module_t *module,
                            uint64_t where, const ElfW(Rela) * entry)
{
    size_t index = ELF64_R_SYM(entry->r_info);
    const ElfW(Sym) *symbol = process_elf_symbol(module->elf, index), *other = NULL;
    const process_module_t *owner;
    const char *name;
    int variable;
    void *found;

    if (symbol == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the symbol table is broken");
    if (!process_fixup_fits(module, entry->r_offset, symbol->st_size))
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
    name = process_elf_string(module->elf, symbol->st_name);
    variable = process_lookup_variable(name);
    if (variable >= 0) {
        program->variable_at[variable] = where;
        if (!program->is_shared)
            return XY_OK;
    }
    owner = process_lookup_inside(program, name, process_elf_version(module->elf, index), module,
                                  &other);
    if (owner != NULL &&
        (other->st_value < owner->elf->low || other->st_value > owner->elf->high ||
         symbol->st_size > owner->elf->high - other->st_value)) /* it may be read only */
        return xy_fail_at(XY_EPARSE, owner->elf->path, 0, "the symbol table is broken");
    if (owner != NULL) /* with the addresses that relocation has stored there */
        return process_fixup_add(program, where, PROCESS_FIXUP_MOVE,
                                 (int64_t)process_module_offset(owner, other->st_value),
                                 symbol->st_size);
    found = process_lookup_outside(name, process_elf_version(module->elf, index));
    if (found == NULL)
        return process_fixup_undefined(module, name);
    return process_fixup_add(program, where, PROCESS_FIXUP_COPY, (int64_t)(intptr_t)found,
                             symbol->st_size);
}

/* Add the fixup of one relocation; unsupported types are reported. */
static xy_status_t fix_entry(process_program_t *program, const process_module_t *module,
                             const ElfW(Rela) * entry)
{
    uint64_t where = process_module_offset(module, entry->r_offset);

    if (ELF64_R_TYPE(entry->r_info) != R_COPY &&
        !process_fixup_fits(module, entry->r_offset, sizeof(uint64_t)))
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
    if (process_fixup_is_local((unsigned)ELF64_R_TYPE(entry->r_info)))
        return process_fixup_local(program, module, entry);
    switch (ELF64_R_TYPE(entry->r_info)) {
    case R_RELATIVE:
        return process_fixup_add(program, where, PROCESS_FIXUP_IMAGE,
                                 (int64_t)process_module_offset(module, (uintptr_t)entry->r_addend),
                                 program->self);
    case R_CHOSEN:
        return process_fixup_add(program, where, PROCESS_FIXUP_IFUNC,
                                 (int64_t)process_module_offset(module, (uintptr_t)entry->r_addend),
                                 program->self);
    case R_ABSOLUTE:
    case R_GLOBAL:
    case R_FUNCTION:
        return fix_symbol(program, module, where, entry);
    case R_COPY:
        return fix_copy(program, module, where, entry);
    default:
        return xy_fail_at(
            XY_EUNSUPPORTED, module->elf->path, 0,
            "relocation type %u is not supported in a private image; link the program "
            "with the default options",
            (unsigned)ELF64_R_TYPE(entry->r_info));
    }
}

/* Add the fixups of a relocation table; types that depend on others are left to the second pass. */
static xy_status_t fix_table(process_program_t *program, const process_module_t *module,
                             const process_elf_part_t *part, bool is_second)
{
    const ElfW(Rela) *entry = process_elf_at(module->elf, part->address, part->size);
    xy_status_t st = XY_OK;

    if (part->size == 0)
        return XY_OK;
    if (entry == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
    for (size_t i = 0; st == XY_OK && i < part->size / sizeof(*entry); i++)
        if (ELF64_R_TYPE(entry[i].r_info) ==
                R_NOTHING || /* left by the linker: it names no place */
            process_fixup_is_second((unsigned)ELF64_R_TYPE(entry[i].r_info)) != is_second)
            continue;
        else if (entry[i].r_offset < module->elf->writable ||
                 entry[i].r_offset >= module->elf->high)
            st = xy_fail_at(XY_EUNSUPPORTED, module->elf->path, 0,
                            "the code must be changed to be loaded; compile it as "
                            "position-independent code (-fPIE)");
        else
            st = fix_entry(program, module, &entry[i]);
    return st;
}

static xy_status_t fix_packed_word(process_program_t *program, const process_module_t *module,
                                   uintptr_t address)
{
    const uint64_t *content = process_elf_at(module->elf, address, sizeof(*content));

    if (content == NULL || address < module->elf->writable)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
    return process_fixup_add(program, process_module_offset(module, address), PROCESS_FIXUP_IMAGE,
                             (int64_t)process_module_offset(module, *content), program->self);
}

/* DT_RELR: an even word is an address, an odd one a bitmap of the 63 words behind the last. */
static xy_status_t fix_packed(process_program_t *program, const process_module_t *module)
{
    const process_elf_part_t *part = &module->elf->relr;
    const uint64_t *word = process_elf_at(module->elf, part->address, part->size);
    uintptr_t next = 0;
    xy_status_t st = XY_OK;

    for (size_t i = 0; word != NULL && st == XY_OK && i < part->size / sizeof(*word); i++) {
        if ((word[i] & 1) == 0) {
            st = fix_packed_word(program, module, word[i]);
            next = word[i] + 8;
            continue;
        }
        for (int bit = 0; bit < 63 && st == XY_OK; bit++)
            if ((word[i] >> (bit + 1)) & 1)
                st = fix_packed_word(program, module, next + 8 * (uintptr_t)bit);
        next += 63 * 8;
    }
    return st;
}

static void find_block(process_program_t *program)
{
    const ElfW(Sym) * symbol;
    const process_module_t *owner =
        process_runtime.block != NULL
            ? process_lookup_inside(program, process_runtime.block, NULL, NULL, &symbol)
            : NULL;

    if (owner != NULL && owner_of(program, owner) == program->self)
        program->block_at = process_module_offset(owner, symbol->st_value);
}

/* Note the plug-ins that must be loaded before this one: those whose addresses are stored. */
static xy_status_t note_uses(process_program_t *program)
{
    const process_fixup_t *fixups = program->fixups.data;

    for (size_t i = 0; i < program->scope.count && program->parent != NULL; i++) {
        process_program_t *other = XY_VEC_AT(&program->scope, process_program_t *, i);
        bool is_used = false;

        for (size_t f = 0; f < program->fixups.count && other->parent != NULL && !is_used; f++)
            is_used =
                (fixups[f].kind == PROCESS_FIXUP_IMAGE || fixups[f].kind == PROCESS_FIXUP_IFUNC) &&
                fixups[f].which == i;
        if (is_used && other != program && xy_vec_append(&program->uses, &other) != XY_OK)
            return xy_fail_memory("loading a plug-in");
    }
    return XY_OK;
}

xy_status_t process_program_resolve(process_program_t *program)
{
    const process_module_t *modules = program->modules.data;
    xy_status_t st = process_prototype_make(program);

    for (size_t i = 0; i < program->modules.count && st == XY_OK; i++) {
        const process_elf_t *elf = modules[i].elf;

        st = fix_packed(program, &modules[i]);
        for (int second = 0; second < 2 && st == XY_OK; second++) {
            st = fix_table(program, &modules[i], &elf->rela, second);
            if (st == XY_OK)
                st = fix_table(program, &modules[i], &elf->plt, second);
        }
    }
    find_block(program);
    if (st == XY_OK)
        st = note_uses(program);
    return st == XY_OK ? process_prototype_finish(program) : st;
}
