/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Find the files that make an image, and those that are shared.
 *
 * A library is private to the process, as the program is, except
 *   - libraries of the table in known_libraries.c, and allocators, which define malloc and free;
 *   - those of --share, and what they need: one library must not have two states for one user;
 *   - those whose functions are simulated (--compute-call);
 *   - those without variables, unless they use something that is private: their addresses of it
 *     would be those of one process.
 * The runtime of gfortran is private for what is private, and shared for what is shared.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "process/image/collect.h"
#include "process/ops/ops.h"

typedef enum { PRIVATE, SHARED, CONSTANT /* not decided: it has no variables */ } fate_t;

typedef struct {
    const char *name;   /* as it is needed; it belongs to the file that needs it */
    process_elf_t *elf; /* NULL: not looked into */
    fate_t fate;
    const char *reason, *other; /* "it uses", "libx.so" */
    bool is_taken;              /* the file is a module's */
} library_t;

typedef struct {
    process_program_t *program;
    const process_program_config_t *config;
    /* The libraries (library_t), breadth first: the order in which the dynamic linker looks for
     * symbols. The first is the program or the plug-in. */
    xy_vec_t libraries;
} gathering_t;

static library_t *at(const gathering_t *g, size_t i)
{
    return &XY_VEC_AT(&g->libraries, library_t, i);
}

static const char *name_of(const library_t *library)
{
    return library->elf != NULL ? basename(library->elf->path) : library->name;
}

/* "foo", "libfoo.so" and "libfoo.so.1" all name libfoo.so.1. */
static bool is_named(const char *wanted, const char *name)
{
    size_t n;

    wanted = basename(wanted);
    n = strlen(wanted);
    if (strncmp(name, wanted, n) == 0 && (name[n] == '\0' || name[n] == '.'))
        return true;
    return strncmp(name, "lib", 3) == 0 && strncmp(name + 3, wanted, n) == 0 &&
           strncmp(name + 3 + n, ".so", 3) == 0;
}

static bool is_library_named(const char *wanted, const library_t *library)
{
    const process_elf_t *elf = library->elf;

    return (library->name != NULL && is_named(wanted, basename(library->name))) ||
           (elf != NULL && is_named(wanted, basename(elf->path))) ||
           (elf != NULL && elf->soname != NULL && is_named(wanted, elf->soname));
}

static bool is_listed(const xy_vec_t *list, const library_t *library)
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        if (is_library_named(XY_VEC_AT(list, const char *, i), library))
            return true;
    return false;
}

static library_t *find(const gathering_t *g, const char *name)
{
    for (size_t i = 0; i < g->libraries.count; i++) {
        library_t *library = at(g, i);

        if ((library->name != NULL && strcmp(library->name, name) == 0) ||
            (library->elf != NULL && process_library_has_name(library->elf, name)))
            return library;
    }
    return NULL;
}

/* ---- Finding all libraries ---- */

/* A library that wants more room for thread-local variables than is left can be loaded only when
 * the process starts. */
static xy_status_t fail_loading(const gathering_t *g, const process_elf_t *user, const char *name,
                                const char *path)
{
    const char *why = dlerror();

    if (why != NULL && strstr(why, "static TLS") != NULL &&
        !process_preload_has(g->config->preloaded, name))
        return process_preload_add(g->program, g->config->preloaded, path != NULL ? path : name);
    return xy_fail(XY_ENOENT, "%s: cannot load the library '%s': %s", user->path, name,
                   why != NULL ? why : "no reason given");
}

/* Have the dynamic linker load a library for all processes. */
static xy_status_t open_shared(const gathering_t *g, const process_elf_t *user, const char *name)
{
    char *path = process_elf_find_own_library(user, name);
    xy_status_t st = XY_OK;

    if (dlopen(path != NULL ? path : name, RTLD_LAZY | RTLD_GLOBAL) == NULL)
        st = fail_loading(g, user, name, path);
    xy_free(path);
    return st;
}

static bool is_simulated(const char *name, void *argument)
{
    return ((const process_program_config_t *)argument)->is_simulated(name);
}

/* The rule, for one library by itself. */
static void decide(const gathering_t *g, library_t *library)
{
    const process_program_config_t *config = g->config;
    const process_elf_t *elf = library->elf;
    const process_known_t *known = process_library_known(name_of(library));

    if (known == NULL && elf != NULL && elf->soname != NULL)
        known = process_library_known(elf->soname);
    library->fate = SHARED;
    if (known != NULL &&
        (known->kind >= PROCESS_KNOWN_RUNTIME || !is_listed(config->privat, library)))
        library->reason = known->reason;
    else if (elf == NULL)
        library->reason = "the dynamic linker loads it";
    else if (is_listed(config->privat, library))
        library->fate = PRIVATE, library->reason = "--privatize";
    else if (is_listed(config->shared, library))
        library->reason = "--share";
    else if (process_elf_is_allocator(elf))
        library->reason = "an allocator; all ranks share one heap";
    else if (config->is_simulated != NULL &&
             process_elf_defines_any(elf, is_simulated, (void *)(uintptr_t)config))
        library->reason = "its functions are simulated";
    else if (config->is_shared && process_library_is_fortran(elf->path))
        library->reason = "--share-globals";
    else if (process_elf_stands_in(elf, elf->path))
        library->fate = PRIVATE, library->reason = "it stands in for another library of its name";
    else if (process_elf_has_variables(elf))
        library->fate = PRIVATE, library->reason = "it has variables";
    else
        library->fate = CONSTANT, library->reason = "it has no variables";
}

static xy_status_t append(gathering_t *g, const char *name, process_elf_t *elf, fate_t fate,
                          const char *reason)
{
    library_t library = {.name = name, .elf = elf, .fate = fate, .reason = reason};

    if (xy_vec_append(&g->libraries, &library) != XY_OK) {
        process_elf_close(elf);
        return xy_fail_memory("loading the program");
    }
    return XY_OK;
}

/* The libraries of the table are not looked into, but drivers and allocators may have to be
 * preloaded. */
static xy_status_t add_needed(gathering_t *g, const process_elf_t *user, const char *name)
{
    char *path;
    process_elf_t *elf = NULL;
    xy_status_t st = XY_OK;

    if (find(g, name) != NULL || process_library_is_module(g->program->parent, name))
        return XY_OK;
    path = process_library_is_runtime(basename(name)) ? NULL : process_elf_find_library(user, name);
    if (path != NULL)
        st = process_elf_open(path, &elf);
    else if (!process_library_is_runtime(basename(name)))
        st = open_shared(g, user, name);
    xy_free(path);
    if (st == XY_OK)
        st = append(g, name, elf, SHARED, NULL);
    if (st == XY_OK)
        decide(g, at(g, g->libraries.count - 1));
    return st;
}

static bool is_in_table(const library_t *library)
{
    return library->elf == NULL || process_library_known(name_of(library)) != NULL;
}

/* Add the libraries that all libraries need, recursively; known shared ones are not followed. */
static xy_status_t add_all(gathering_t *g)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < g->libraries.count && st == XY_OK; i++) {
        const process_elf_t *elf = at(g, i)->elf;

        if (at(g, i)->fate == SHARED && is_in_table(at(g, i)))
            continue;
        for (size_t k = 0; k < elf->needed.count && st == XY_OK; k++)
            st = add_needed(g, elf, XY_VEC_AT(&elf->needed, const char *, k));
    }
    return st;
}

/* ---- What follows from other libraries ---- */

/* Dependencies of a shared library are shared. */
static bool share_needed(const gathering_t *g)
{
    bool has_changed = false;

    for (size_t i = 0; i < g->libraries.count; i++) {
        const library_t *library = at(g, i);

        for (size_t k = 0;
             library->fate == SHARED && !is_in_table(library) && k < library->elf->needed.count;
             k++) {
            library_t *needed = find(g, XY_VEC_AT(&library->elf->needed, const char *, k));

            if (needed == NULL || needed->fate == SHARED || needed == at(g, 0) ||
                process_library_is_fortran(needed->elf->path) ||
                is_listed(g->config->privat, needed))
                continue;
            needed->fate = SHARED;
            needed->reason = "it is needed by a shared library,";
            needed->other = name_of(library);
            has_changed = true;
        }
    }
    return has_changed;
}

/* The same among the program and the plug-ins that are loaded. */
static const char *private_use_in(const process_program_t *program, const process_elf_t *elf,
                                  const char **owner_p)
{
    const process_program_t *next = program != NULL ? program->plugins : NULL;
    const char *found = NULL;

    for (; program != NULL && found == NULL; program = next, next = next ? next->next : NULL)
        for (size_t i = 0; i < program->modules.count && found == NULL; i++) {
            const process_elf_t *module = XY_VEC_AT(&program->modules, process_module_t, i).elf;

            found =
                process_library_is_fortran(module->path) ? NULL : process_library_uses(elf, module);
            *owner_p = basename(module->path);
        }
    return found;
}

/* The name that a library uses of something private; NULL: none. */
static const char *private_use(const gathering_t *g, const library_t *library, const char **owner_p)
{
    const process_elf_t *program = g->program->parent == NULL ? at(g, 0)->elf : NULL;
    const char *found = private_use_in(g->program->parent, library->elf, owner_p);

    for (size_t i = 0; i < g->libraries.count && found == NULL; i++) {
        const library_t *other = at(g, i);

        if (other->fate != PRIVATE || other == library ||
            process_library_is_fortran(other->elf->path))
            continue;
        found = process_library_uses(library->elf, other->elf);
        *owner_p = name_of(other);
    }
    if (found == NULL && program != NULL) {
        found = process_library_copied(library->elf, program);
        *owner_p = basename(program->path);
    }
    return found;
}

static const library_t *private_need(const gathering_t *g, const library_t *library)
{
    for (size_t i = 0; i < library->elf->needed.count; i++) {
        const library_t *needed = find(g, XY_VEC_AT(&library->elf->needed, const char *, i));

        if (needed != NULL && needed->fate == PRIVATE)
            return needed;
    }
    return NULL;
}

/* A library without variables is private where it uses something private. */
static bool settle_constant(const gathering_t *g, library_t *library)
{
    const library_t *needed = private_need(g, library);
    const char *owner = needed != NULL ? name_of(needed) : "the C or C++ library";

    if (needed == NULL && !process_library_uses_copies(library->elf) &&
        private_use(g, library, &owner) == NULL)
        return false;
    library->fate = PRIVATE;
    library->reason = "it uses private symbols of";
    library->other = owner;
    return true;
}

/* Decide between private and shared for libraries that are still undecided. */
static void settle(const gathering_t *g)
{
    bool has_changed;

    while (share_needed(g))
        ;
    do {
        has_changed = false;
        for (size_t i = 0; i < g->libraries.count; i++)
            if (at(g, i)->fate == CONSTANT)
                has_changed |= settle_constant(g, at(g, i));
    } while (has_changed);
    for (size_t i = 0; i < g->libraries.count; i++)
        if (at(g, i)->fate == CONSTANT)
            at(g, i)->fate = SHARED;
}

/* ---- Requests that cannot be honoured ---- */

/* Report a library of --share that cannot be shared, because it uses private symbols or must be
 * private. */
static xy_status_t check_shared(const gathering_t *g, const library_t *library)
{
    const char *owner = "", *name = private_use(g, library, &owner);

    if (process_runtime.block != NULL &&
        process_elf_lookup(library->elf, process_runtime.block) != NULL)
        return xy_fail(XY_EUSAGE, "--share %s: it %s and must be private; leave it out",
                       name_of(library), process_runtime.block_reason);
    if (name == NULL)
        return XY_OK;
    return xy_fail(XY_EUSAGE,
                   "--share %s: it uses '%s' of '%s', which is private to each rank; leave it out",
                   name_of(library), name, owner);
}

static xy_status_t check_private(const gathering_t *g, const library_t *library)
{
    if (is_listed(g->config->shared, library))
        return xy_fail(XY_EUSAGE, "%s is in the lists of both --share and --privatize",
                       name_of(library));
    if (library->fate == SHARED)
        return xy_fail(XY_EUSAGE, "--privatize %s: it must be shared: %s", name_of(library),
                       library->reason);
    return XY_OK;
}

/* Unknown names may be plug-ins that are loaded later. */
static void warn_unused(const gathering_t *g, const xy_vec_t *list, const char *option)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const char *name = XY_VEC_AT(list, const char *, i);
        bool is_used = false;

        for (size_t k = 1; k < g->libraries.count; k++)
            is_used |= is_library_named(name, at(g, k));
        if (!is_used)
            process_say("%s %s: '%s' is not linked with such a library ('ldd %s' lists them); "
                        "the option applies to plug-ins of this name",
                        option, name, g->program->path, g->program->path);
    }
}

/* Report libraries for which --share or --privatize cannot be obeyed, and private ones that need
 * text relocations. */
static xy_status_t check(const gathering_t *g)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < g->libraries.count && st == XY_OK; i++) {
        const library_t *library = at(g, i);

        if (is_listed(g->config->privat, library) && i > 0)
            st = check_private(g, library);
        else if (library->fate == SHARED && is_listed(g->config->shared, library) &&
                 library->elf != NULL)
            st = check_shared(g, library);
        if (st == XY_OK && library->fate == PRIVATE && library->elf->has_text_relocations && i > 0)
            st = xy_fail_at(XY_EUNSUPPORTED, library->elf->path, 0,
                            "its code needs relocations, so ranks cannot have "
                            "copies of it; compile it with -fPIC, or share it: --share %s",
                            name_of(library));
    }
    return st;
}

/* ---- Tools ---- */

/* Does a name begin with the prefix? */
static bool has_prefix(const char *name, void *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Does it stand in front of functions of the runtime, and is a copy of it therefore made for each
 * rank? */
static bool is_tool(const process_elf_t *elf)
{
    return !process_library_is_base(basename(elf->path)) && process_runtime.tool_prefix != NULL &&
           process_elf_defines_any(elf, has_prefix, (void *)(uintptr_t)process_runtime.tool_prefix);
}

bool process_library_is_tool(const char *path)
{
    process_elf_t *elf;
    bool is;

    if (access(path, R_OK) != 0 || process_elf_open(path, &elf) != XY_OK)
        return false;
    is = is_tool(elf) && !process_elf_is_allocator(elf);
    process_elf_close(elf);
    return is;
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

/* A preloaded tool that stands in front of functions of the runtime is copied; all else that is
 * preloaded is shared. */
static xy_status_t look_at_preloaded(gathering_t *g, const char *name, size_t length)
{
    char *entry = xy_sprintf("%.*s", (int)length, name);
    file_search_t search = {.name = entry, .path = entry};
    process_elf_t *elf;

    if (entry == NULL)
        return xy_fail_memory("loading the program");
    if (strchr(entry, '/') == NULL && dl_iterate_phdr(is_file, &search) != 0)
        xy_free(entry);
    if (search.path == NULL || process_elf_open(search.path, &elf) != XY_OK)
        elf = NULL; /* the dynamic linker has said what is wrong with it */
    xy_free(search.path);
    if (elf != NULL && is_tool(elf))
        return append(g, NULL, elf, PRIVATE, process_runtime.tool_reason);
    process_elf_close(elf);
    return XY_OK;
}

/* Examine each library in LD_PRELOAD. */
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

/* ---- The result ---- */

/* Record the decision about a library, with its reason, in the program. */
static xy_status_t note_choice(process_program_t *program, const library_t *library)
{
    const char *path = library->elf != NULL ? library->elf->path : library->name;
    process_choice_t choice = {
        .is_private = library->fate == PRIVATE,
        .name = xy_strdup(path),
        .reason = library->other != NULL ? xy_sprintf("%s '%s'", library->reason, library->other)
                                         : xy_strdup(library->reason),
    };

    if (choice.name == NULL || choice.reason == NULL ||
        xy_vec_append(&program->choices, &choice) != XY_OK)
        return xy_fail_memory("loading the program");
    return XY_OK;
}

/* The private libraries become modules; the others go to `shared`. Those of a shared plug-in are
 * the dynamic linker's. */
static xy_status_t take(gathering_t *g, xy_vec_t *shared)
{
    xy_status_t st = XY_OK;
    size_t count = at(g, 0)->fate == PRIVATE ? g->libraries.count : 1;

    for (size_t i = 0; i < count && st == XY_OK; i++) {
        library_t *library = at(g, i);
        process_module_t module = {.elf = library->elf, .code_fd = -1};

        if (g->config->is_verbose && (i > 0 || g->program->parent != NULL))
            st = note_choice(g->program, library);
        if (st != XY_OK || library->elf == NULL)
            continue;
        if (library->fate == PRIVATE ? xy_vec_append(&g->program->modules, &module) != XY_OK
                                     : xy_vec_append(shared, &library->elf) != XY_OK)
            st = xy_fail_memory("loading the program");
        else
            library->is_taken = library->fate == PRIVATE;
    }
    return st;
}

/* Libraries that only shared ones need are loaded with those. */
static xy_status_t load_shared(const gathering_t *g)
{
    xy_status_t st = XY_OK;

    /* The dependencies of a shared library may be in directories that only the program names. */
    for (size_t i = g->libraries.count; i-- > 0 && st == XY_OK;)
        if (at(g, i)->fate == SHARED && at(g, i)->other != NULL)
            st = open_shared(g, at(g, 0)->elf, at(g, i)->elf->path);

    for (size_t i = 0; i < g->program->modules.count; i++) {
        const process_elf_t *elf = XY_VEC_AT(&g->program->modules, process_module_t, i).elf;

        for (size_t k = 0; k < elf->needed.count && st == XY_OK; k++) {
            const char *name = XY_VEC_AT(&elf->needed, const char *, k);

            /* This library is there already, perhaps under another path than the program's. */
            if (!process_library_is_own(name) && !process_library_is_module(g->program, name))
                st = open_shared(g, elf, name);
        }
    }
    return st;
}

static xy_status_t load(gathering_t *g, const xy_vec_t *shared)
{
    const process_program_config_t *config = g->config;
    xy_vec_t *preloads = &g->program->preloads;
    xy_status_t st = process_preload_choose(g->program, shared, config->preloaded);

    if (st == XY_OK)
        st = config->must_preload(preloads, config->is_verbose);
    if (st == XY_OK)
        st = load_shared(g);
    return st == XY_OK ? config->must_preload(preloads, config->is_verbose) : st;
}

/* A plug-in may turn out to be shared: then it has no module. */
static xy_status_t begin(gathering_t *g)
{
    process_elf_t *elf;
    xy_status_t st = process_elf_open(g->program->path, &elf);

    if (st == XY_OK)
        st = append(g, NULL, elf, PRIVATE, "the program");
    if (st == XY_OK && g->program->parent == NULL)
        return choose_tools(g);
    if (st == XY_OK && elf->kind != PROCESS_ELF_LIBRARY)
        at(g, 0)->fate = SHARED;
    else if (st == XY_OK)
        decide(g, at(g, 0));
    return st;
}

xy_status_t process_program_gather(process_program_t *program,
                                   const process_program_config_t *config)
{
    gathering_t g = {.program = program, .config = config, .libraries = XY_VEC_INIT(library_t)};
    xy_vec_t shared = XY_VEC_INIT(process_elf_t *);
    xy_status_t st = begin(&g);

    if (st == XY_OK && at(&g, 0)->elf->kind != PROCESS_ELF_NONE)
        st = add_all(&g);
    if (st == XY_OK) {
        settle(&g);
        st = check(&g);
    }
    if (st == XY_OK)
        st = take(&g, &shared);
    if (st == XY_OK && program->modules.count > 0)
        st = load(&g, &shared);
    if (st == XY_OK && program->parent == NULL && !config->is_quiet) {
        warn_unused(&g, config->privat, "--privatize");
        warn_unused(&g, config->shared, "--share");
    }
    for (size_t i = 0; i < g.libraries.count; i++)
        if (!at(&g, i)->is_taken)
            process_elf_close(at(&g, i)->elf);
    xy_vec_cleanup(&g.libraries);
    xy_vec_cleanup(&shared);
    return st;
}
