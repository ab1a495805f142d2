/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/image/lookup.h"

#include <dlfcn.h>
#include <string.h>

#include "process/ops/ops.h"

extern void *__tls_get_addr(process_tls_index_t *index);

static const struct {
    const char *name;
    process_variable_t variable;
} private_variables[] = {
    {"stdin", PROCESS_VARIABLE_STDIN},       {"stdout", PROCESS_VARIABLE_STDOUT},
    {"stderr", PROCESS_VARIABLE_STDERR},     {"environ", PROCESS_VARIABLE_ENVIRON},
    {"__environ", PROCESS_VARIABLE_ENVIRON}, {"_environ", PROCESS_VARIABLE_ENVIRON},
    {"optarg", PROCESS_VARIABLE_OPTARG},     {"optind", PROCESS_VARIABLE_OPTIND},
    {"opterr", PROCESS_VARIABLE_OPTERR},     {"optopt", PROCESS_VARIABLE_OPTOPT},
    {"tzname", PROCESS_VARIABLE_TZNAME},     {"__tzname", PROCESS_VARIABLE_TZNAME},
    {"timezone", PROCESS_VARIABLE_TIMEZONE}, {"__timezone", PROCESS_VARIABLE_TIMEZONE},
    {"daylight", PROCESS_VARIABLE_DAYLIGHT}, {"__daylight", PROCESS_VARIABLE_DAYLIGHT},
};

int process_lookup_variable(const char *name)
{
    for (size_t i = 0; i < sizeof(private_variables) / sizeof(private_variables[0]); i++)
        if (strcmp(private_variables[i].name, name) == 0)
            return (int)private_variables[i].variable;
    return -1;
}

int process_lookup_cxx_stream(const char *name)
{
    static const char *const streams[PROCESS_CXX_STREAMS] = {
        "_ZSt3cin",  "_ZSt4cout",  "_ZSt4cerr",  "_ZSt4clog",
        "_ZSt4wcin", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"};

    for (int i = 0; i < PROCESS_CXX_STREAMS; i++)
        if (strcmp(streams[i], name) == 0)
            return i;
    return -1;
}

/* Look up a symbol in all modules of the program but `behind`; returns the module, or NULL. */
static const process_module_t *look_in(const process_program_t *program,
                                       const process_elf_name_t *wanted,
                                       const process_module_t *behind, const ElfW(Sym) * *symbol_p)
{
    const process_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++) {
        const ElfW(Sym) *symbol =
            &modules[i] != behind ? process_elf_lookup_name(modules[i].elf, wanted) : NULL;

        if (symbol != NULL) {
            *symbol_p = symbol;
            return &modules[i];
        }
    }
    return NULL;
}

const process_module_t *process_lookup_inside(const process_program_t *program, const char *name,
                                              const char *version, const process_module_t *behind,
                                              const ElfW(Sym) * *symbol_p)
{
    process_elf_name_t wanted = process_elf_name(name, version);
    const process_module_t *found = NULL;

    for (size_t i = 0; i < program->scope.count && found == NULL; i++)
        found = look_in(XY_VEC_AT(&program->scope, const process_program_t *, i), &wanted, behind,
                        symbol_p);
    return found;
}

typedef struct {
    const char *address;
    process_tls_index_t index;
} block_search_t;

/* Callback of dl_iterate_phdr: stop at the library whose thread-local block holds the address. */
static int is_block(struct dl_phdr_info *info, size_t size, void *argument)
{
    block_search_t *search = argument;

    (void)size;
    if (info->dlpi_tls_modid == 0 || info->dlpi_tls_data == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const char *block = info->dlpi_tls_data;

        if (info->dlpi_phdr[i].p_type != PT_TLS || search->address < block ||
            search->address >= block + info->dlpi_phdr[i].p_memsz)
            continue;
        search->index.module = info->dlpi_tls_modid;
        search->index.offset = (unsigned long)(search->address - block);
        return 1;
    }
    return 0;
}

bool process_lookup_block(const void *address, process_tls_index_t *index_p)
{
    block_search_t search = {.address = address};

    if (dl_iterate_phdr(is_block, &search) == 0)
        return false;
    *index_p = search.index;
    return true;
}

typedef struct {
    uintptr_t address;
    const ElfW(Dyn) * dynamic;
} object_search_t;

/* Callback of dl_iterate_phdr: stop at the object that contains the address and note its dynamic
 * section. */
static int is_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    object_search_t *search = argument;
    const ElfW(Dyn) *dynamic = NULL;
    bool is_inside = false;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + s->p_vaddr;

        if (s->p_type == PT_DYNAMIC)
            dynamic = (const void *)begin;
        is_inside |= s->p_type == PT_LOAD && search->address - begin < s->p_memsz;
    }
    if (is_inside)
        search->dynamic = dynamic;
    return is_inside;
}

/* The dynamic section of the object around an address, code or data; NULL: none (a thread-local
 * variable). dladdr() would read all symbols of the object for the nearest one. */
static const ElfW(Dyn) * object_of(void *address)
{
    object_search_t search = {.address = (uintptr_t)address};

    dl_iterate_phdr(is_object, &search);
    return search.dynamic;
}

static bool defines_versions(const ElfW(Dyn) * dynamic)
{
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_VERDEF)
            return true;
    return false;
}

/* A definition without a version serves every version, so the first one counts (that of a preloaded
 * library, say). The versioned one counts where the first lies in the same object, as another
 * version, or in one that defines versions and lacks this. */
static void *look_up(const char *name, const char *version)
{
    void *first = dlsym(RTLD_DEFAULT, name);
    void *versioned = version != NULL ? dlvsym(RTLD_DEFAULT, name, version) : NULL;
    const ElfW(Dyn) * object;

    if (first == NULL || versioned == NULL || first == versioned)
        return first != NULL ? first : versioned;
    object = object_of(first);
    return object == NULL || object == object_of(versioned) || defines_versions(object) ? versioned
                                                                                        : first;
}

void *process_lookup_outside(const char *name, const char *version)
{
    void *found = look_up(name, version);

    return process_runtime.substitute != NULL ? process_runtime.substitute(name, found) : found;
}

void *process_lookup_guarded(const process_elf_t *elf, const char *name)
{
    void *refusal =
        process_runtime.refuse != NULL
            ? process_runtime.refuse(elf->soname != NULL ? elf->soname : basename(elf->path), name)
            : NULL;

    return refusal != NULL && !process_elf_stands_in(elf, elf->path) ? refusal : NULL;
}
