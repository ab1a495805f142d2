/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of ranks. Programs read it before MPI_Init. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/launch_node.h"
#include "mpi/bindings/bindings.h"

extern char **environ;

static size_t length(char *const *list)
{
    size_t n = 0;

    while (list[n] != NULL)
        n++;
    return n;
}

/* Replace or append "NAME=value"; the array has room. */
static void set(char **list, char *entry)
{
    size_t name = strcspn(entry, "=");
    size_t i = 0;

    for (; list[i] != NULL; i++)
        if (strncmp(list[i], entry, name + 1) == 0) {
            list[i] = entry;
            return;
        }
    list[i] = entry;
    list[i + 1] = NULL;
}

static xy_status_t set_pairs(char **list, const xy_vec_t *pairs)
{
    for (size_t i = 0; i + 1 < pairs->count; i += 2) {
        char *entry = xy_sprintf("%s=%s", XY_VEC_AT(pairs, const char *, i),
                                 XY_VEC_AT(pairs, const char *, i + 1));

        if (entry == NULL)
            return xy_fail_memory("making the environment");
        set(list, entry);
    }
    return XY_OK;
}

/* "VAR" alone asks for what ranks get anyway. */
static xy_status_t set_exports(char **list, const xy_vec_t *exports)
{
    for (size_t i = 0; i < exports->count; i++) {
        const char *text = XY_VEC_AT(exports, const char *, i);
        char *entry;

        if (strchr(text, '=') == NULL)
            continue;
        entry = xy_strdup(text);
        if (entry == NULL)
            return xy_fail_memory("making the environment");
        set(list, entry);
    }
    return XY_OK;
}

/* Remove the variables that the launcher of another MPI has set for its own processes; ranks are
 * none of them. */
static void hide_launcher(char **list)
{
    static const char *const prefixes[] = {"OMPI_", "PMIX_",  "PMI_",  "PRTE_",
                                           "HYDI_", "HYDRA_", "MPIR_", NULL};
    size_t kept = 0;

    for (size_t i = 0; list[i] != NULL; i++) {
        bool is_hidden = false;

        for (int p = 0; prefixes[p] != NULL; p++)
            is_hidden |= strncmp(list[i], prefixes[p], strlen(prefixes[p])) == 0;
        if (!is_hidden)
            list[kept++] = list[i];
    }
    list[kept] = NULL;
}

static const char *value_of(char *const *list, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; list[i] != NULL; i++)
        if (strncmp(list[i], name, n) == 0 && list[i][n] == '=')
            return list[i] + n + 1;
    return NULL;
}

/* Add to a list of words in a variable. */
static xy_status_t add_word(char **list, const char *name, const char *word)
{
    const char *before = value_of(list, name);
    bool is_set = before != NULL && *before != '\0';
    char *entry = xy_sprintf("%s=%s%s%s", name, is_set ? before : "", is_set ? ":" : "", word);

    if (entry == NULL)
        return xy_fail_memory("making the environment");
    set(list, entry);
    return XY_OK;
}

/* Add a library that lies beside this one to those that a variable names, behind the user's. */
static xy_status_t add_library(char **list, const char *variable, const char *name, bool *is_added)
{
    char path[4096];
    const char *slash;
    Dl_info own;

    *is_added = false;
    if (dladdr((const void *)(uintptr_t)mpi_launch_environment, &own) == 0)
        return XY_OK;
    slash = strrchr(own.dli_fname, '/');
    snprintf(path, sizeof(path), "%.*s/xylem/%s", slash != NULL ? (int)(slash - own.dli_fname) : 1,
             slash != NULL ? own.dli_fname : ".", name);
    if (strpbrk(path, " :") != NULL || access(path, R_OK) != 0) /* the variable cannot name it */
        return XY_OK;
    *is_added = true;
    return add_word(list, variable, path);
}

static bool is_valgrind(const char *program)
{
    const char *slash = strrchr(program, '/');

    return strcmp(slash != NULL ? slash + 1 : program, "valgrind") == 0;
}

/* In processes, libraries stand in for those of other MPIs (translate_process.c), and programs for
 * MPIs that have none are refused (foreign.c). With LD_AUDIT, valgrind reports an error of the C
 * library at the end of each process. */
static xy_status_t guard_processes(char **list, const char *program)
{
    bool is_added;
    xy_status_t st = XY_OK;

    if (!is_valgrind(program))
        st = add_library(list, "LD_AUDIT", "libxylem-translate.so", &is_added);
    if (st == XY_OK)
        st = add_library(list, "LD_PRELOAD", "libxylem-foreign.so", &is_added);
    /* The sanitizer wants to be the first library that is loaded. */
    return st == XY_OK && is_added ? add_word(list, "ASAN_OPTIONS", "verify_asan_link_order=0")
                                   : st;
}

xy_status_t mpi_launch_environment(mpi_part_t *part, const mpi_launch_values_t *first,
                                   const char *launched)
{
    size_t n = length(environ);
    size_t more =
        first->genv.count + first->x.count + part->values->env.count + part->values->x.count;
    char **list = xy_calloc(n + more + 6, sizeof(char *));
    char *entry = xy_sprintf("%s=%s", XMPI_LAUNCHED, launched);
    char *options = mpi_launch_for_spawned(first);
    xy_status_t st;

    if (list == NULL || entry == NULL || options == NULL)
        return xy_fail_memory("making the environment");
    memcpy(list, environ, n * sizeof(char *));
    if (mpi_node_hides_launcher(part->is_mpi))
        hide_launcher(list);
    part->environment = list;
    set(list, entry);
    set(list, options);
    st = set_pairs(list, &first->genv);
    if (st == XY_OK)
        st = set_exports(list, &first->x);
    if (st == XY_OK && part->values != first)
        st = set_exports(list, &part->values->x);
    if (st == XY_OK)
        st = set_pairs(list, &part->values->env);
    return st == XY_OK && strcmp(launched, XMPI_LAUNCHED_RANK) != 0
               ? guard_processes(list, part->argv[0])
               : st;
}

typedef enum { RANK, SIZE, RANK_HERE, SIZE_HERE } what_t;

static const struct {
    const char *name;
    what_t what;
} rank_variables[] = {
    {"OMPI_COMM_WORLD_RANK", RANK},
    {"OMPI_COMM_WORLD_SIZE", SIZE},
    {"OMPI_COMM_WORLD_LOCAL_RANK", RANK_HERE},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", SIZE_HERE},
    {"PMI_RANK", RANK},
    {"PMI_SIZE", SIZE},
    {"MPI_LOCALRANKID", RANK_HERE},
    {"MPI_LOCALNRANKS", SIZE_HERE},
};

enum { VARIABLES = sizeof(rank_variables) / sizeof(rank_variables[0]), TEXT = 48 };

/* Array and texts in one piece. */
char **mpi_launch_rank_environment(const mpi_part_t *part, int rank, int size, int first, int count)
{
    const int values[] = {
        [RANK] = rank, [SIZE] = size, [RANK_HERE] = rank - first, [SIZE_HERE] = count};
    size_t n = length(part->environment), slots = n + VARIABLES + 1;
    char **list = xy_malloc(slots * sizeof(char *) + VARIABLES * TEXT);
    char *text;

    if (list == NULL)
        return NULL;
    text = (char *)(list + slots);
    memcpy(list, part->environment, (n + 1) * sizeof(char *));
    for (int i = 0; i < VARIABLES; i++, text += TEXT) {
        snprintf(text, TEXT, "%s=%d", rank_variables[i].name, values[rank_variables[i].what]);
        set(list, text);
    }
    return list;
}

xy_status_t mpi_launch_become(mpi_part_t *part, const mpi_launch_values_t *values)
{
    xy_status_t st = mpi_launch_environment(part, values, XMPI_LAUNCHED_RANK);
    char **environment;

    if (st == XY_OK)
        st = guard_processes(part->environment, part->argv[0]);
    environment = st == XY_OK ? mpi_launch_rank_environment(part, 0, 1, 0, 1) : NULL;
    if (environment == NULL)
        return st == XY_OK ? xy_fail_memory("starting a rank") : st;
    execve(part->path, part->argv, environment);
    return xy_fail_errno(errno, part->path, "execute");
}
