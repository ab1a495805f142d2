/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols that a library uses of others, found by its relocations. */
#include <string.h>

#include "process/image/collect.h"
#include "process/image/lookup.h"

#if defined(__x86_64__)
enum { R_COPY = R_X86_64_COPY };
#elif defined(__aarch64__)
enum { R_COPY = R_AARCH64_COPY };
#else
enum { R_COPY = -1 };
#endif

bool process_library_has_name(const process_elf_t *elf, const char *name)
{
    return strcmp(basename(elf->path), basename(name)) == 0 ||
           (elf->soname != NULL && strcmp(elf->soname, basename(name)) == 0) ||
           process_elf_stands_in(elf, name);
}

bool process_library_needs(const process_elf_t *user, const process_elf_t *library)
{
    for (size_t i = 0; i < user->needed.count; i++)
        if (process_library_has_name(library, XY_VEC_AT(&user->needed, const char *, i)))
            return true;
    return false;
}

xy_status_t process_library_each_use(const process_elf_t *elf, process_use_fn visit, void *argument)
{
    const process_elf_part_t *parts[] = {&elf->rela, &elf->plt};
    xy_status_t st = XY_OK;

    for (int p = 0; p < 2; p++) {
        const ElfW(Rela) *entry = process_elf_at(elf, parts[p]->address, parts[p]->size);

        for (size_t i = 0; entry != NULL && i < parts[p]->size / sizeof(*entry); i++) {
            const ElfW(Sym) *symbol = process_elf_symbol(elf, ELF64_R_SYM(entry[i].r_info));

            if (symbol != NULL && symbol->st_name != 0 && symbol->st_shndx == SHN_UNDEF &&
                st == XY_OK)
                st = visit(process_elf_string(elf, symbol->st_name),
                           (unsigned)ELF64_R_TYPE(entry[i].r_info), argument);
        }
    }
    return st;
}

/* A program has copies of these; a shared library's go to the process's streams all the same (the C
 * library's functions see to it). */
static bool is_stream(const char *name)
{
    int variable = process_lookup_variable(name);

    return variable == PROCESS_VARIABLE_STDIN || variable == PROCESS_VARIABLE_STDOUT ||
           variable == PROCESS_VARIABLE_STDERR;
}

typedef struct {
    const process_elf_t *module;
    const char *found;
} use_search_t;

static xy_status_t note_use(const char *name, unsigned type, void *argument)
{
    use_search_t *search = argument;

    (void)type;
    if (search->found == NULL && process_elf_lookup(search->module, name) != NULL &&
        !is_stream(name))
        search->found = name;
    return XY_OK;
}

const char *process_library_uses(const process_elf_t *library, const process_elf_t *module)
{
    use_search_t search = {.module = module};

    process_library_each_use(library, note_use, &search);
    return search.found;
}

static xy_status_t note_copy(const char *name, unsigned type, void *argument)
{
    (void)type;
    *(bool *)argument |= process_lookup_cxx_stream(name) >= 0 ||
                         (process_lookup_variable(name) >= 0 && !is_stream(name));
    return XY_OK;
}

bool process_library_uses_copies(const process_elf_t *library)
{
    bool is_found = false;

    process_library_each_use(library, note_copy, &is_found);
    return is_found;
}

const char *process_library_copied(const process_elf_t *library, const process_elf_t *program)
{
    const ElfW(Rela) *entry = process_elf_at(program, program->rela.address, program->rela.size);

    for (size_t i = 0; entry != NULL && i < program->rela.size / sizeof(*entry); i++) {
        const ElfW(Sym) *symbol = process_elf_symbol(program, ELF64_R_SYM(entry[i].r_info));
        const char *name = symbol != NULL ? process_elf_string(program, symbol->st_name) : "";

        if ((int)ELF64_R_TYPE(entry[i].r_info) == R_COPY &&
            process_elf_lookup(library, name) != NULL)
            return name;
    }
    return NULL;
}

bool process_library_stands_before(const process_elf_t *program, const process_elf_t *first,
                                   const char *second)
{
    for (size_t i = 0; i < program->needed.count; i++) {
        const char *name = basename(XY_VEC_AT(&program->needed, const char *, i));

        if (process_library_has_name(first, name))
            return true;
        if (strncmp(name, second, strlen(second)) == 0)
            return false;
    }
    return false;
}
