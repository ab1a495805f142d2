/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 and PMI-2 through the launcher's own library, which is loaded at run time: Slurm without a
 * plugin (libpmi.so), Slurm's pmi2 and others (libpmi2.so). XYLEM_PMI_LIBRARY names another file.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "net/pmi_protocol.h"

/* As both libraries declare them. 0 is success. */
typedef struct {
    int (*init)(int *has_spawned);
    int (*get_rank)(int *rank);
    int (*get_size)(int *size);
    int (*get_space)(char *name, int length);
    int (*put)(const char *space, const char *key, const char *value);
    int (*commit)(const char *space);
    int (*barrier)(void);
    int (*get)(const char *space, const char *key, char *value, int length);
    int (*abort)(int code, const char *message);
    int (*finalize)(void);
} library1_t;

typedef struct {
    int (*init)(int *has_spawned, int *size, int *rank, int *application);
    int (*get_space)(char *name, int length);
    int (*put)(const char *key, const char *value);
    int (*fence)(void);
    int (*get)(const char *space, int rank, const char *key, char *value, int room, int *length);
    int (*abort)(int flag, const char *message);
    int (*finalize)(void);
} library2_t;

bool pmi_load(const char *const *files, bool is_global, const char *const *names, void **table)
{
    const char *named = getenv("XYLEM_PMI_LIBRARY");
    int flags = RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL);
    void *loaded = named != NULL ? dlopen(named, flags) : NULL;

    for (int i = 0; named == NULL && files[i] != NULL && loaded == NULL; i++)
        loaded = dlopen(files[i], flags);
    for (int i = 0; names[i] != NULL; i++) {
        table[i] = loaded != NULL ? dlsym(loaded, names[i]) : NULL;
        if (table[i] == NULL)
            return false;
    }
    return true;
}

/* Load the library of PMI-1; NULL if it is missing or incomplete. */
static const library1_t *load1(void)
{
    static const char *const files[] = {"libpmi.so.0", "libpmi.so", NULL};
    static const char *const names[] = {"PMI_Init",
                                        "PMI_Get_rank",
                                        "PMI_Get_size",
                                        "PMI_KVS_Get_my_name",
                                        "PMI_KVS_Put",
                                        "PMI_KVS_Commit",
                                        "PMI_Barrier",
                                        "PMI_KVS_Get",
                                        "PMI_Abort",
                                        "PMI_Finalize",
                                        NULL};
    static library1_t functions;

    return pmi_load(files, true, names, (void **)&functions) ? &functions : NULL;
}

static const library2_t *load2(void)
{
    static const char *const files[] = {"libpmi2.so.0", "libpmi2.so", NULL};
    static const char *const names[] = {
        "PMI2_Init",    "PMI2_Job_GetId", "PMI2_KVS_Put",  "PMI2_KVS_Fence",
        "PMI2_KVS_Get", "PMI2_Abort",     "PMI2_Finalize", NULL};
    static library2_t functions;

    return pmi_load(files, true, names, (void **)&functions) ? &functions : NULL;
}

static xy_status_t missing(const char *file, const char *package)
{
    const char *named = getenv("XYLEM_PMI_LIBRARY");

    return xy_fail(XY_ENOENT,
                   "the launcher's library '%s' cannot be used; install it (package %s), or start "
                   "the program by 'srun --mpi=pmi2' or 'srun --mpi=pmix'",
                   named != NULL ? named : file, package);
}

/* ---- PMI-1 ---- */

/* Slurm has started several, and left no connection. */
static bool is_there1(void)
{
    return pmi_is_bare_srun() && pmi_number("SLURM_STEP_NUM_TASKS") > 1 &&
           (getenv("XYLEM_PMI_LIBRARY") != NULL || load1() != NULL);
}

static xy_status_t open1(xy_pmi_t *pmi)
{
    const library1_t *l = load1();
    int has_spawned;

    if (l == NULL)
        return missing("libpmi.so.0", "libpmi0");
    pmi->library = l;
    if (l->init(&has_spawned) != 0 || l->get_rank(&pmi->rank) != 0 ||
        l->get_size(&pmi->size) != 0 || l->get_space(pmi->space, (int)sizeof(pmi->space)) != 0)
        return xy_fail(XY_EIO, "PMI_Init of the launcher's library failed");
    return XY_OK;
}

static bool put1(xy_pmi_t *pmi, const char *key, const char *value)
{
    return ((const library1_t *)pmi->library)->put(pmi->space, key, value) == 0;
}

static bool fence1(xy_pmi_t *pmi)
{
    const library1_t *l = pmi->library;

    return l->commit(pmi->space) == 0 && l->barrier() == 0;
}

static bool get1(xy_pmi_t *pmi, int rank, const char *key, char value[PMI_VALUE + 1])
{
    (void)rank;
    return ((const library1_t *)pmi->library)->get(pmi->space, key, value, PMI_VALUE + 1) == 0;
}

static void abort1(xy_pmi_t *pmi, int code)
{
    ((const library1_t *)pmi->library)->abort(code, "");
}

static void close1(xy_pmi_t *pmi)
{
    ((const library1_t *)pmi->library)->finalize();
}

const pmi_protocol_t pmi_library1 = {
    .name = "libpmi",
    .is_there = is_there1,
    .open = open1,
    .put = put1,
    .fence = fence1,
    .get = get1,
    .abort = abort1,
    .close = close1,
    .describe = "PMI-1 by libpmi.so: srun --mpi=none",
};

/* ---- PMI-2 ---- */

/* Without PMI_FD a library may know another way; that it is installed says nothing about the
 * launcher. */
static bool is_there2(void)
{
    return getenv("XYLEM_PMI_LIBRARY") != NULL && pmi_number("PMI_RANK") >= 0 &&
           pmi_number("PMI_SIZE") > 1 && load2() != NULL;
}

static xy_status_t open2(xy_pmi_t *pmi)
{
    const library2_t *l = load2();
    int has_spawned, application;

    if (l == NULL)
        return missing("libpmi2.so.0", "libpmi2-0");
    pmi->library = l;
    if (l->init(&has_spawned, &pmi->size, &pmi->rank, &application) != 0 ||
        l->get_space(pmi->space, (int)sizeof(pmi->space)) != 0)
        return xy_fail(XY_EIO, "PMI2_Init of the launcher's library failed");
    return XY_OK;
}

static bool put2(xy_pmi_t *pmi, const char *key, const char *value)
{
    return ((const library2_t *)pmi->library)->put(key, value) == 0;
}

static bool fence2(xy_pmi_t *pmi)
{
    return ((const library2_t *)pmi->library)->fence() == 0;
}

static bool get2(xy_pmi_t *pmi, int rank, const char *key, char value[PMI_VALUE + 1])
{
    int length = 0;

    value[0] = '\0';
    return ((const library2_t *)pmi->library)
                   ->get(pmi->space, rank, key, value, PMI_VALUE + 1, &length) == 0 &&
           value[0] != '\0';
}

static void abort2(xy_pmi_t *pmi, int code)
{
    (void)code; /* it has none */
    ((const library2_t *)pmi->library)->abort(1, "");
}

static void close2(xy_pmi_t *pmi)
{
    ((const library2_t *)pmi->library)->finalize();
}

const pmi_protocol_t pmi_library2 = {
    .name = "pmi2",
    .is_there = is_there2,
    .open = open2,
    .put = put2,
    .fence = fence2,
    .get = get2,
    .abort = abort2,
    .close = close2,
    .describe = "PMI-2 by libpmi2.so: srun --mpi=pmi2 and others",
};
