/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From relocations to fixups: what has to be stored where in every image.
 *
 * A symbol is looked for in the modules first (the program, then its private libraries), then in
 * this library, whose functions stand before those of the C library, then wherever the dynamic
 * linker finds it.
 */
#include <dlfcn.h>
#include <string.h>

#include "mpi/launch/image/program.h"

#if defined(__x86_64__)
enum {
    R_RELATIVE = R_X86_64_RELATIVE,
    R_ABSOLUTE = R_X86_64_64,
    R_GLOBAL = R_X86_64_GLOB_DAT,
    R_FUNCTION = R_X86_64_JUMP_SLOT,
    R_COPY = R_X86_64_COPY,
    R_THREAD = R_X86_64_TPOFF64,
    R_CHOSEN = R_X86_64_IRELATIVE,
};
#elif defined(__aarch64__)
enum {
    R_RELATIVE = R_AARCH64_RELATIVE,
    R_ABSOLUTE = R_AARCH64_ABS64,
    R_GLOBAL = R_AARCH64_GLOB_DAT,
    R_FUNCTION = R_AARCH64_JUMP_SLOT,
    R_COPY = R_AARCH64_COPY,
    R_THREAD = R_AARCH64_TLS_TPREL,
    R_CHOSEN = R_AARCH64_IRELATIVE,
};
#else
enum { R_RELATIVE = 1, R_ABSOLUTE, R_GLOBAL, R_FUNCTION, R_COPY, R_THREAD, R_CHOSEN };
#endif

/* The bounds of this library: what the linker puts at its two ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static const struct {
    const char *name;
    mpi_variable_t variable;
} private_variables[] = {
    {"stdin", XMPI_VARIABLE_STDIN},       {"stdout", XMPI_VARIABLE_STDOUT},
    {"stderr", XMPI_VARIABLE_STDERR},     {"environ", XMPI_VARIABLE_ENVIRON},
    {"__environ", XMPI_VARIABLE_ENVIRON}, {"_environ", XMPI_VARIABLE_ENVIRON},
    {"optarg", XMPI_VARIABLE_OPTARG},     {"optind", XMPI_VARIABLE_OPTIND},
    {"opterr", XMPI_VARIABLE_OPTERR},     {"optopt", XMPI_VARIABLE_OPTOPT},
};

static int private_variable(const char *name)
{
    for (size_t i = 0; i < sizeof(private_variables) / sizeof(private_variables[0]); i++)
        if (strcmp(private_variables[i].name, name) == 0)
            return (int)private_variables[i].variable;
    return -1;
}

/* Outside of the modules: this library, then what the dynamic linker knows. */
static void *find_outside(const char *name, const char *version)
{
    static void *self;
    char *found;
    Dl_info info;

    if (self == NULL && dladdr(__ehdr_start, &info) != 0)
        self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    found = self != NULL ? dlsym(self, name) : NULL;
    if (found != NULL && found >= (const char *)__ehdr_start && found < (const char *)_end)
        return found;
    found = version != NULL ? dlvsym(RTLD_DEFAULT, name, version) : NULL;
    return found != NULL ? found : dlsym(RTLD_DEFAULT, name);
}

static xy_status_t add(mpi_program_t *program, uint64_t where, mpi_fixup_kind_t kind, int64_t value,
                       uint64_t which)
{
    mpi_fixup_t fixup = {.where = where, .value = value, .which = (uint32_t)which, .kind = kind};

    if (xy_vec_append(&program->fixups, &fixup) != XY_OK)
        return xy_fail_memory("loading the program");
    return XY_OK;
}

/* The first module that defines a name; a copy relocation asks behind the module that holds the
 * copy. */
static const mpi_module_t *find_inside(const mpi_program_t *program, const char *name,
                                       const mpi_module_t *behind, const ElfW(Sym) * *symbol_p)
{
    const mpi_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++) {
        const ElfW(Sym) *symbol =
            &modules[i] != behind ? mpi_elf_lookup(modules[i].elf, name) : NULL;

        if (symbol != NULL) {
            *symbol_p = symbol;
            return &modules[i];
        }
    }
    return NULL;
}

static xy_status_t fail_undefined(const mpi_module_t *module, const char *name)
{
    return xy_fail_at(XY_ENOENT, module->elf->path, 0,
                      "undefined symbol '%s'; is the library that defines it where it was when the "
                      "program was linked?",
                      name);
}

/* A symbol that another module defines, or none. */
static xy_status_t fix_outside(mpi_program_t *program, const mpi_module_t *module, uint64_t where,
                               size_t index, const ElfW(Sym) * symbol, int64_t addend)
{
    const char *name = mpi_elf_string(module->elf, symbol->st_name);
    int variable = program->is_shared ? -1 : private_variable(name);
    void *found;

    if (variable >= 0)
        return add(program, where, XMPI_FIXUP_VARIABLE, addend, (uint64_t)variable);
    found = find_outside(name, mpi_elf_version(module->elf, index));
    if (found == NULL && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
        return fail_undefined(module, name);
    return add(program, where, XMPI_FIXUP_VALUE,
               found != NULL ? (int64_t)(intptr_t)found + addend : 0, 0);
}

static xy_status_t fix_symbol(mpi_program_t *program, const mpi_module_t *module, uint64_t where,
                              size_t index, int64_t addend)
{
    const ElfW(Sym) *symbol = mpi_elf_symbol(module->elf, index), *other = NULL;
    const mpi_module_t *owner = module;
    const char *name;

    if (symbol == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the symbol table is broken");
    if (index == 0)
        return add(program, where, XMPI_FIXUP_VALUE, addend, 0);
    name = mpi_elf_string(module->elf, symbol->st_name);
    if (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && program->modules.count > 1 &&
        ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT)
        owner = find_inside(program, name, NULL, &other);
    if (other != NULL)
        symbol = other;
    else
        owner = module;
    if (symbol->st_shndx == SHN_UNDEF)
        return fix_outside(program, module, where, index, symbol, addend);
    if (symbol->st_shndx == SHN_ABS)
        return add(program, where, XMPI_FIXUP_VALUE, (int64_t)symbol->st_value + addend, 0);
    return add(program, where,
               ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? XMPI_FIXUP_IFUNC
                                                               : XMPI_FIXUP_IMAGE,
               (int64_t)mpi_module_offset(owner, symbol->st_value) + addend, 0);
}

static xy_status_t fix_copy(mpi_program_t *program, const mpi_module_t *module, uint64_t where,
                            size_t index)
{
    const ElfW(Sym) *symbol = mpi_elf_symbol(module->elf, index), *other = NULL;
    const mpi_module_t *owner;
    const char *name;
    int variable;
    void *found;

    if (symbol == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the symbol table is broken");
    name = mpi_elf_string(module->elf, symbol->st_name);
    variable = private_variable(name);
    if (variable >= 0) {
        program->variable_at[variable] = where;
        if (!program->is_shared)
            return XY_OK;
    }
    owner = find_inside(program, name, module, &other);
    if (owner != NULL) { /* copied from the private library's own first content */
        const void *content =
            mpi_elf_at(owner->elf, other->st_value, symbol->st_size < 1 ? 1 : symbol->st_size);

        return content == NULL ? XY_OK
                               : add(program, where, XMPI_FIXUP_COPY, (int64_t)(intptr_t)content,
                                     symbol->st_size);
    }
    found = find_outside(name, mpi_elf_version(module->elf, index));
    if (found == NULL)
        return fail_undefined(module, name);
    return add(program, where, XMPI_FIXUP_COPY, (int64_t)(intptr_t)found, symbol->st_size);
}

/* Thread-local variables by their distance from the thread pointer: the program's own are where the
 * linker counts them to be; those of libraries where the dynamic linker has put them. */
static xy_status_t fix_thread(mpi_program_t *program, const mpi_module_t *module, uint64_t where,
                              size_t index, int64_t addend)
{
    const ElfW(Sym) *symbol = mpi_elf_symbol(module->elf, index);
    const char *name = symbol != NULL ? mpi_elf_string(module->elf, symbol->st_name) : "";
    char *found;

    if (module == program->modules.data && (index == 0 || symbol->st_shndx != SHN_UNDEF))
        return xy_fail_at(XY_EUNSUPPORTED, module->elf->path, 0,
                          "a thread-local variable is addressed in a way that cannot be made "
                          "private; compile the program without -fPIC");
    found = index != 0 && symbol->st_shndx == SHN_UNDEF
                ? find_outside(name, mpi_elf_version(module->elf, index))
                : NULL;
    if (found == NULL)
        return fail_undefined(module, name);
    return add(program, where, XMPI_FIXUP_VALUE,
               found - (char *)__builtin_thread_pointer() + addend, 0);
}

static xy_status_t fix_entry(mpi_program_t *program, const mpi_module_t *module,
                             const ElfW(Rela) * entry)
{
    uint64_t where = mpi_module_offset(module, entry->r_offset);
    size_t index = ELF64_R_SYM(entry->r_info);

    switch (ELF64_R_TYPE(entry->r_info)) {
    case 0:
        return XY_OK;
    case R_RELATIVE:
        return add(program, where, XMPI_FIXUP_IMAGE,
                   (int64_t)mpi_module_offset(module, (uintptr_t)entry->r_addend), 0);
    case R_CHOSEN:
        return add(program, where, XMPI_FIXUP_IFUNC,
                   (int64_t)mpi_module_offset(module, (uintptr_t)entry->r_addend), 0);
    case R_ABSOLUTE:
    case R_GLOBAL:
    case R_FUNCTION:
        return fix_symbol(program, module, where, index, entry->r_addend);
    case R_COPY:
        return fix_copy(program, module, where, index);
    case R_THREAD:
        return fix_thread(program, module, where, index, entry->r_addend);
    default:
        return xy_fail_at(XY_EUNSUPPORTED, module->elf->path, 0,
                          "relocation type %u is not supported in a private image%s",
                          (unsigned)ELF64_R_TYPE(entry->r_info),
                          module->elf->tls != NULL && module->elf->kind == XMPI_ELF_LIBRARY
                              ? "; a library with thread-local variables cannot be private"
                              : "; link the program with the default options");
    }
}

static xy_status_t fix_table(mpi_program_t *program, const mpi_module_t *module,
                             const mpi_elf_part_t *part)
{
    const ElfW(Rela) *entry = mpi_elf_at(module->elf, part->address, part->size);
    xy_status_t st = XY_OK;

    if (part->size == 0)
        return XY_OK;
    if (entry == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
    for (size_t i = 0; st == XY_OK && i < part->size / sizeof(*entry); i++)
        if (entry[i].r_offset < module->elf->writable || entry[i].r_offset >= module->elf->high)
            st = xy_fail_at(XY_EUNSUPPORTED, module->elf->path, 0,
                            "the code must be changed to be loaded; compile it as "
                            "position-independent code (-fPIE)");
        else
            st = fix_entry(program, module, &entry[i]);
    return st;
}

static xy_status_t fix_packed_word(mpi_program_t *program, const mpi_module_t *module,
                                   uintptr_t address)
{
    const uint64_t *content = mpi_elf_at(module->elf, address, sizeof(*content));

    if (content == NULL || address < module->elf->writable)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
    return add(program, mpi_module_offset(module, address), XMPI_FIXUP_IMAGE,
               (int64_t)mpi_module_offset(module, *content), 0);
}

/* DT_RELR: an even word is an address, an odd one a bitmap of the 63 words behind the last. */
static xy_status_t fix_packed(mpi_program_t *program, const mpi_module_t *module)
{
    const mpi_elf_part_t *part = &module->elf->relr;
    const uint64_t *word = mpi_elf_at(module->elf, part->address, part->size);
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

xy_status_t mpi_program_resolve(mpi_program_t *program)
{
    const mpi_module_t *modules = program->modules.data;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < program->modules.count && st == XY_OK; i++) {
        st = fix_packed(program, &modules[i]);
        if (st == XY_OK)
            st = fix_table(program, &modules[i], &modules[i].elf->rela);
        if (st == XY_OK)
            st = fix_table(program, &modules[i], &modules[i].elf->plt);
    }
    return st;
}
