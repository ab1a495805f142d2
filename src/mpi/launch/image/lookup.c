/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/image/lookup.h"

#include <dlfcn.h>
#include <string.h>

extern void *__tls_get_addr(mpi_tls_index_t *index);

static const struct {
    const char *name;
    mpi_variable_t variable;
} private_variables[] = {
    {"stdin", XMPI_VARIABLE_STDIN},       {"stdout", XMPI_VARIABLE_STDOUT},
    {"stderr", XMPI_VARIABLE_STDERR},     {"environ", XMPI_VARIABLE_ENVIRON},
    {"__environ", XMPI_VARIABLE_ENVIRON}, {"_environ", XMPI_VARIABLE_ENVIRON},
    {"optarg", XMPI_VARIABLE_OPTARG},     {"optind", XMPI_VARIABLE_OPTIND},
    {"opterr", XMPI_VARIABLE_OPTERR},     {"optopt", XMPI_VARIABLE_OPTOPT},
    {"tzname", XMPI_VARIABLE_TZNAME},     {"__tzname", XMPI_VARIABLE_TZNAME},
    {"timezone", XMPI_VARIABLE_TIMEZONE}, {"__timezone", XMPI_VARIABLE_TIMEZONE},
    {"daylight", XMPI_VARIABLE_DAYLIGHT}, {"__daylight", XMPI_VARIABLE_DAYLIGHT},
};

int mpi_lookup_variable(const char *name)
{
    for (size_t i = 0; i < sizeof(private_variables) / sizeof(private_variables[0]); i++)
        if (strcmp(private_variables[i].name, name) == 0)
            return (int)private_variables[i].variable;
    return -1;
}

int mpi_lookup_cxx_stream(const char *name)
{
    static const char *const streams[XMPI_CXX_STREAMS] = {"_ZSt3cin",   "_ZSt4cout", "_ZSt4cerr",
                                                          "_ZSt4clog",  "_ZSt4wcin", "_ZSt5wcout",
                                                          "_ZSt5wcerr", "_ZSt5wclog"};

    for (int i = 0; i < XMPI_CXX_STREAMS; i++)
        if (strcmp(streams[i], name) == 0)
            return i;
    return -1;
}

static const mpi_module_t *look_in(const mpi_program_t *program, const char *name,
                                   const char *version, const mpi_module_t *behind,
                                   const ElfW(Sym) * *symbol_p)
{
    const mpi_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++) {
        const ElfW(Sym) *symbol =
            &modules[i] != behind ? mpi_elf_lookup_version(modules[i].elf, name, version) : NULL;

        if (symbol != NULL) {
            *symbol_p = symbol;
            return &modules[i];
        }
    }
    return NULL;
}

const mpi_module_t *mpi_lookup_inside(const mpi_program_t *program, const char *name,
                                      const char *version, const mpi_module_t *behind,
                                      const ElfW(Sym) * *symbol_p)
{
    const mpi_module_t *found = NULL;

    for (size_t i = 0; i < program->scope.count && found == NULL; i++)
        found = look_in(XY_VEC_AT(&program->scope, const mpi_program_t *, i), name, version, behind,
                        symbol_p);
    return found;
}

typedef struct {
    const char *address;
    mpi_tls_index_t index;
} block_search_t;

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

bool mpi_lookup_block(const void *address, mpi_tls_index_t *index_p)
{
    block_search_t search = {.address = address};

    if (dl_iterate_phdr(is_block, &search) == 0)
        return false;
    *index_p = search.index;
    return true;
}

/* The object that an address belongs to, code or data; NULL: none (a thread-local variable). */
static const struct link_map *object_of(void *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

static bool defines_versions(const struct link_map *map)
{
    for (const ElfW(Dyn) *d = map->l_ld; d != NULL && d->d_tag != DT_NULL; d++)
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
    const struct link_map *object;

    if (first == NULL || versioned == NULL || first == versioned)
        return first != NULL ? first : versioned;
    object = object_of(first);
    return object == NULL || object == object_of(versioned) || defines_versions(object) ? versioned
                                                                                        : first;
}

enum { MAX_SUBSTITUTES = 3 };

static void *(*substitutes[MAX_SUBSTITUTES])(const char *name, void *found);
static int substitute_count;

void mpi_lookup_add_substitute(void *(*function)(const char *name, void *found))
{
    substitutes[substitute_count++] = function;
}

void *mpi_lookup_outside(const char *name, const char *version)
{
    void *found = look_up(name, version);

    for (int i = 0; i < substitute_count; i++)
        found = substitutes[i](name, found);
    return found;
}

static void *(*guard_of)(const char *library, const char *name);

void mpi_lookup_set_guard(void *(*guard)(const char *library, const char *name))
{
    guard_of = guard;
}

void *mpi_lookup_guarded(const mpi_elf_t *elf, const char *name)
{
    return guard_of != NULL
               ? guard_of(elf->soname != NULL ? elf->soname : basename(elf->path), name)
               : NULL;
}
