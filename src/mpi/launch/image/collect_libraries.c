/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files make an image, and which are shared.
 *
 * The program is copied, and so are the libraries the user listed. A library must be copied as well
 * when sharing it would silently give wrong results:
 *   - it uses a symbol of the program (a callback by name): whose?
 *   - the program has a copy of one of its variables (a copy relocation): the library would not see
 *     the ranks' values;
 *   - it stands before this library and defines functions of MPI: a tool that counts, per rank;
 *   - it has the variables by whose addresses Fortran knows MPI_IN_PLACE and its like, of which
 *     there is one per rank: it calls MPI from Fortran;
 *   - it needs a library that is copied, or uses a symbol of one.
 * The C and C++ runtimes are never copied: what of their state programs rely on is made private by
 * other means. The Fortran runtime is copied where the program, or what is copied with it, is
 * written in Fortran: units, options and the command line are the rank's. Shared libraries that use
 * it (BLAS) have the process's, and are no less shared for it.
 */
#include <dlfcn.h>
#include <string.h>

#include "mpi/launch/image/collect.h"
#include "mpi/launch/image/lookup.h"
#include "mpi/launch/image/say.h"

static const char *const base[] = {"libmpi_abi.so", "libc.so.",  "libm.so.", "libpthread.so.",
                                   "libdl.so.",     "librt.so.", "ld-linux", NULL};
static const char *const runtimes[] = {
    "libstdc++.so.", "libgcc_s.so.", "libgomp.so.", "libasan.so.",
    "libubsan.so.",  "libtsan.so.",  NULL};

static bool begins_with(const char *name, const char *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

bool mpi_library_is_base(const char *name)
{
    return begins_with(name, base);
}

bool mpi_library_is_runtime(const char *name)
{
    return begins_with(name, base) || begins_with(name, runtimes);
}

bool mpi_library_is_fortran(const char *name)
{
    return strncmp(basename(name), "libgfortran.so.", 15) == 0;
}

/* "foo", "libfoo.so" and "libfoo.so.1" all name libfoo.so.1. */
static bool is_listed(const xy_vec_t *list, const char *name)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const char *wanted = basename(XY_VEC_AT(list, const char *, i));
        size_t n = strlen(wanted);

        if (strncmp(name, wanted, n) == 0 && (name[n] == '\0' || name[n] == '.'))
            return true;
        if (strncmp(name, "lib", 3) == 0 && strncmp(name + 3, wanted, n) == 0 &&
            strncmp(name + 3 + n, ".so", 3) == 0)
            return true;
    }
    return false;
}

/* A program has copies of these; a shared library's go to the rank's streams all the same (the C
 * library's functions see to it). */
static bool is_stream(const char *name)
{
    int variable = mpi_lookup_variable(name);

    return variable == XMPI_VARIABLE_STDIN || variable == XMPI_VARIABLE_STDOUT ||
           variable == XMPI_VARIABLE_STDERR;
}

static bool defines(const mpi_elf_t *module, const char *name)
{
    return mpi_elf_lookup(module, name) != NULL && !is_stream(name);
}

/* Does it use one of the C++ streams, of which images have copies? */
static bool uses_cxx_stream(const mpi_elf_t *library)
{
    const ElfW(Rela) *entry = mpi_elf_at(library, library->rela.address, library->rela.size);

    for (size_t i = 0; entry != NULL && i < library->rela.size / sizeof(*entry); i++) {
        const ElfW(Sym) *symbol = mpi_elf_symbol(library, ELF64_R_SYM(entry[i].r_info));

        if (symbol != NULL && symbol->st_name != 0 && symbol->st_shndx == SHN_UNDEF &&
            mpi_lookup_cxx_stream(mpi_elf_string(library, symbol->st_name)) >= 0)
            return true;
    }
    return false;
}

/* Only relocations tell which symbols it uses. */
bool mpi_library_uses(const mpi_elf_t *library, const mpi_elf_t *module)
{
    const mpi_elf_part_t *parts[] = {&library->rela, &library->plt};

    for (int p = 0; p < 2; p++) {
        const ElfW(Rela) *entry = mpi_elf_at(library, parts[p]->address, parts[p]->size);

        for (size_t i = 0; entry != NULL && i < parts[p]->size / sizeof(*entry); i++) {
            const ElfW(Sym) *symbol = mpi_elf_symbol(library, ELF64_R_SYM(entry[i].r_info));

            if (symbol != NULL && symbol->st_name != 0 && symbol->st_shndx == SHN_UNDEF &&
                defines(module, mpi_elf_string(library, symbol->st_name)))
                return true;
        }
    }
    return false;
}

#if defined(__x86_64__)
enum { R_COPY = R_X86_64_COPY };
#elif defined(__aarch64__)
enum { R_COPY = R_AARCH64_COPY };
#else
enum { R_COPY = -1 };
#endif

static bool is_copied_by_program(const mpi_elf_t *library, const mpi_elf_t *program)
{
    const ElfW(Rela) *entry = mpi_elf_at(program, program->rela.address, program->rela.size);

    for (size_t i = 0; entry != NULL && i < program->rela.size / sizeof(*entry); i++) {
        const ElfW(Sym) *symbol = mpi_elf_symbol(program, ELF64_R_SYM(entry[i].r_info));

        if ((int)ELF64_R_TYPE(entry[i].r_info) == R_COPY && symbol != NULL &&
            mpi_elf_lookup(library, mpi_elf_string(program, symbol->st_name)) != NULL)
            return true;
    }
    return false;
}

typedef struct {
    mpi_program_t *program;
    const mpi_program_config_t *config;
    xy_vec_t seen; /* of mpi_elf_t *: libraries that were looked at and are not (yet) copied */
    bool has_changed;
} gathering_t;

bool mpi_library_is_module(const mpi_program_t *program, const char *name)
{
    for (size_t i = 0; i < program->modules.count; i++) {
        const mpi_elf_t *elf = XY_VEC_AT(&program->modules, mpi_module_t, i).elf;

        if (strcmp(basename(elf->path), basename(name)) == 0 ||
            (elf->soname != NULL && strcmp(elf->soname, name) == 0))
            return true;
    }
    return program->parent != NULL && mpi_library_is_module(program->parent, name);
}

static bool is_module(const gathering_t *g, const char *name)
{
    return mpi_library_is_module(g->program, name);
}

static bool uses_module(const mpi_program_t *program, const mpi_elf_t *library)
{
    for (size_t i = 0; i < program->modules.count; i++) {
        const mpi_elf_t *module = XY_VEC_AT(&program->modules, mpi_module_t, i).elf;

        if (!mpi_library_is_fortran(module->path) && mpi_library_uses(library, module))
            return true;
    }
    return program->parent != NULL && uses_module(program->parent, library);
}

/* A tool in the way of PMPI, linked to the program before MPI. */
static bool is_tool(const mpi_elf_t *library, const mpi_elf_t *program)
{
    return mpi_library_stands_before(program, library, "libmpi_abi.so") &&
           mpi_elf_defines_prefix(library, "MPI_");
}

static bool must_be_copied(const gathering_t *g, const mpi_elf_t *library)
{
    const mpi_elf_t *program = XY_VEC_AT(&g->program->modules, mpi_module_t, 0).elf;

    if (is_listed(g->config->privat, basename(library->path)) ||
        (library->soname != NULL && is_listed(g->config->privat, library->soname)))
        return true;
    for (size_t i = 0; i < library->needed.count; i++) {
        const char *name = XY_VEC_AT(&library->needed, const char *, i);

        if (!mpi_library_is_fortran(name) && is_module(g, name))
            return true;
    }
    if (mpi_elf_lookup(library, XMPI_FORTRAN_BLOCK) != NULL)
        return true;
    return uses_module(g->program, library) || is_copied_by_program(library, program) ||
           is_tool(library, program) || (uses_cxx_stream(program) && uses_cxx_stream(library));
}

static xy_status_t add_module(gathering_t *g, mpi_elf_t *elf)
{
    mpi_module_t module = {.elf = elf, .code_fd = -1};

    if (xy_vec_append(&g->program->modules, &module) != XY_OK) {
        mpi_elf_close(elf);
        return xy_fail_memory("loading the program");
    }
    g->has_changed = true;
    if (g->program->modules.count > 1 && g->config->is_verbose)
        mpi_launch_say("every rank gets its own '%s'", elf->path);
    return XY_OK;
}

/* A library that wants more room for thread-local variables than is left can be loaded only when
 * the process starts. */
static xy_status_t fail_loading(const gathering_t *g, const mpi_elf_t *user, const char *name,
                                const char *path)
{
    const char *why = dlerror();

    if (why != NULL && strstr(why, "static TLS") != NULL &&
        !mpi_preload_has(g->config->preloaded, name))
        return mpi_preload_add(g->program, g->config->preloaded, path != NULL ? path : name);
    return xy_fail(XY_ENOENT, "%s: cannot load the library '%s': %s", user->path, name,
                   why != NULL ? why : "no reason given");
}

/* Have the dynamic linker load a library for all ranks. Its path is needed to read it. */
static xy_status_t open_shared(const gathering_t *g, const mpi_elf_t *user, const char *name,
                               char **path_p)
{
    char *path = mpi_elf_find_library(user, name);
    void *handle = dlopen(path != NULL ? path : name, RTLD_LAZY | RTLD_GLOBAL);
    struct link_map *map;

    *path_p = NULL;
    if (handle == NULL) {
        xy_status_t st = fail_loading(g, user, name, path);

        xy_free(path);
        return st;
    }
    if (path == NULL && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/')
        path = xy_strdup(map->l_name);
    *path_p = path;
    return XY_OK;
}

static bool is_seen(const gathering_t *g, const char *name)
{
    for (size_t i = 0; i < g->seen.count; i++) {
        const mpi_elf_t *elf = XY_VEC_AT(&g->seen, mpi_elf_t *, i);

        if (strcmp(basename(elf->path), basename(name)) == 0 ||
            (elf->soname != NULL && strcmp(elf->soname, name) == 0))
            return true;
    }
    return false;
}

static bool is_copied(const gathering_t *g, const mpi_elf_t *elf)
{
    for (size_t i = 0; i < g->program->modules.count; i++)
        if (XY_VEC_AT(&g->program->modules, mpi_module_t, i).elf == elf)
            return true;
    return false;
}

/* Look at a library that cannot be found by its name alone only after the linker has loaded it. */
static xy_status_t look_at(gathering_t *g, const mpi_elf_t *user, const char *name)
{
    char *path = mpi_elf_find_library(user, name);
    mpi_elf_t *elf;
    xy_status_t st;

    bool is_fortran = mpi_library_is_fortran(name);

    if (mpi_library_is_runtime(name) || is_module(g, name) || is_seen(g, name) ||
        (is_fortran && (g->config->is_shared || !is_copied(g, user)))) {
        xy_free(path);
        return XY_OK;
    }
    if (path == NULL) {
        st = open_shared(g, user, name, &path);
        if (st != XY_OK || path == NULL)
            return st;
    }
    st = mpi_elf_open(path, &elf);
    xy_free(path);
    if (st != XY_OK)
        return st;
    if (is_fortran || must_be_copied(g, elf))
        return add_module(g, elf);
    if (xy_vec_append(&g->seen, &elf) != XY_OK) {
        mpi_elf_close(elf);
        return xy_fail_memory("loading the program");
    }
    return XY_OK;
}

static xy_status_t look_at_needed(gathering_t *g, const mpi_elf_t *user)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < user->needed.count && st == XY_OK; i++)
        st = look_at(g, user, XY_VEC_AT(&user->needed, const char *, i));
    return st;
}

/* A library seen earlier may need one that has become a module since. */
static xy_status_t look_again(gathering_t *g)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < g->seen.count && st == XY_OK; i++) {
        mpi_elf_t *elf = XY_VEC_AT(&g->seen, mpi_elf_t *, i);

        st = look_at_needed(g, elf);
        if (st == XY_OK && must_be_copied(g, elf)) {
            mpi_elf_t **last = &XY_VEC_AT(&g->seen, mpi_elf_t *, g->seen.count - 1);

            XY_VEC_AT(&g->seen, mpi_elf_t *, i) = *last;
            xy_vec_pop(&g->seen);
            return add_module(g, elf);
        }
    }
    return st;
}

static xy_status_t choose_modules(gathering_t *g)
{
    xy_status_t st = XY_OK;

    do {
        g->has_changed = false;
        for (size_t i = 0; i < g->program->modules.count && st == XY_OK; i++)
            st = look_at_needed(g, XY_VEC_AT(&g->program->modules, mpi_module_t, i).elf);
        if (st == XY_OK)
            st = look_again(g);
    } while (st == XY_OK && g->has_changed);
    return st;
}

static xy_status_t load_shared(gathering_t *g)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < g->program->modules.count; i++) {
        const mpi_elf_t *elf = XY_VEC_AT(&g->program->modules, mpi_module_t, i).elf;

        for (size_t k = 0; k < elf->needed.count && st == XY_OK; k++) {
            const char *name = XY_VEC_AT(&elf->needed, const char *, k);
            char *path = NULL;

            /* This library is there already, perhaps under another path than the program's. */
            if (strncmp(name, "libmpi_abi.so", 13) != 0 && !is_module(g, name))
                st = open_shared(g, elf, name, &path);
            xy_free(path);
        }
    }
    return st;
}

static xy_status_t check_list(const gathering_t *g)
{
    const xy_vec_t *list = g->config->privat;

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        xy_vec_t one = {
            .data = (char *)list->data + i * list->size, .count = 1, .size = list->size};
        bool is_found = false;

        for (size_t m = 1; m < g->program->modules.count; m++) {
            const mpi_elf_t *elf = XY_VEC_AT(&g->program->modules, mpi_module_t, m).elf;

            is_found |= is_listed(&one, basename(elf->path)) ||
                        (elf->soname != NULL && is_listed(&one, elf->soname));
        }
        if (!is_found)
            return xy_fail(
                XY_EUSAGE,
                "--privatize %s: '%s' does not use such a library; 'ldd %s' lists what it "
                "uses",
                XY_VEC_AT(list, const char *, i), g->program->path, g->program->path);
    }
    return XY_OK;
}

typedef struct {
    const char *name;
    char *path;
} file_search_t;

static int is_file(struct dl_phdr_info *info, size_t size, void *argument)
{
    file_search_t *search = argument;

    (void)size;
    if (strcmp(basename(info->dlpi_name), search->name) != 0)
        return 0;
    search->path = xy_strdup(info->dlpi_name);
    return 1;
}

/* A preloaded tool in the way of PMPI is copied; all else that is preloaded is shared. */
static xy_status_t look_at_preloaded(gathering_t *g, const char *name, size_t length)
{
    char *entry = xy_sprintf("%.*s", (int)length, name);
    file_search_t search = {.name = entry, .path = entry};
    mpi_elf_t *elf;

    if (entry == NULL)
        return xy_fail_memory("loading the program");
    if (strchr(entry, '/') == NULL && dl_iterate_phdr(is_file, &search) != 0)
        xy_free(entry);
    if (search.path == NULL || mpi_elf_open(search.path, &elf) != XY_OK)
        elf = NULL; /* the dynamic linker has said what is wrong with it */
    xy_free(search.path);
    if (elf != NULL && !mpi_library_is_base(basename(elf->path)) &&
        mpi_elf_defines_prefix(elf, "MPI_"))
        return add_module(g, elf);
    mpi_elf_close(elf);
    return XY_OK;
}

static xy_status_t choose_tools(gathering_t *g)
{
    const char *list = g->config->preloaded;
    xy_status_t st = XY_OK;

    while (st == XY_OK && list != NULL && *list != '\0') {
        size_t n = strcspn(list, ": ");

        if (n > 0)
            st = look_at_preloaded(g, list, n);
        list += n;
        list += strspn(list, ": ");
    }
    return st;
}

static xy_status_t preload(gathering_t *g)
{
    xy_status_t st = mpi_preload_choose(g->program, &g->seen, g->config->preloaded);

    return st == XY_OK ? g->config->must_preload(&g->program->preloads, g->config->is_verbose) : st;
}

xy_status_t mpi_program_gather(mpi_program_t *program, const mpi_program_config_t *config)
{
    gathering_t g = {.program = program, .config = config, .seen = XY_VEC_INIT(mpi_elf_t *)};
    mpi_elf_t *elf;
    xy_status_t st = mpi_elf_open(program->path, &elf);

    if (st == XY_OK)
        st = add_module(&g, elf);
    if (st == XY_OK)
        st = choose_tools(&g);
    if (st == XY_OK)
        st = choose_modules(&g);
    if (st == XY_OK && !config->is_shared)
        st = check_list(&g);
    if (st == XY_OK)
        st = preload(&g);
    if (st == XY_OK)
        st = load_shared(&g);
    if (st == XY_OK)
        st = config->must_preload(&program->preloads, config->is_verbose);
    for (size_t i = 0; i < g.seen.count; i++)
        mpi_elf_close(XY_VEC_AT(&g.seen, mpi_elf_t *, i));
    xy_vec_cleanup(&g.seen);
    return st;
}
