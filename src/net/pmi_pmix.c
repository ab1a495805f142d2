/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx through its library, which is loaded at run time: mpirun of Open MPI 4 and 5, srun
 * --mpi=pmix, prterun. The few declarations that are used are the same in versions 3 to 6, and are
 * stated here: a build needs no header of PMIx.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "net/pmi_protocol.h"

enum { TYPE_BOOL = 1, TYPE_STRING = 3, TYPE_UINT32 = 14 };
enum { SCOPE_GLOBAL = 3, KEY_SIZE = 512, SPACE_SIZE = 256 };
#define EVERY_RANK (UINT32_MAX - 1) /* data of the whole job */

typedef struct {
    char space[SPACE_SIZE];
    uint32_t rank;
} proc_t;

typedef struct {
    uint16_t type;
    union {
        bool flag;
        char *string;
        uint32_t number;
        uint64_t room[8]; /* at least as long as the library's */
    } data;
} value_t;

typedef struct {
    char key[KEY_SIZE];
    uint32_t flags;
    value_t value;
} info_t;

typedef struct {
    int (*init)(proc_t *self, info_t *info, size_t count);
    int (*finalize)(const info_t *info, size_t count);
    int (*put)(uint8_t scope, const char *key, value_t *value);
    int (*commit)(void);
    int (*fence)(const proc_t *procs, size_t count, const info_t *info, size_t info_count);
    int (*get)(const proc_t *proc, const char *key, const info_t *info, size_t count,
               value_t **value_p);
    int (*abort)(int code, const char *message, proc_t *procs, size_t count);
    const char *(*describe)(int code);
} library_t;

static bool is_there(void)
{
    return getenv("PMIX_NAMESPACE") != NULL && pmi_number("PMIX_RANK") >= 0;
}

/* Load the library of PMIx; NULL if it is missing or incomplete. */
static const library_t *load(void)
{
    static const char *const files[] = {"libpmix.so.2", NULL};
    static const char *const names[] = {"PMIx_Init",   "PMIx_Finalize",     "PMIx_Put",
                                        "PMIx_Commit", "PMIx_Fence",        "PMIx_Get",
                                        "PMIx_Abort",  "PMIx_Error_string", NULL};
    static library_t functions;

    return pmi_load(files, false, names, (void **)&functions) ? &functions : NULL;
}

/* A value of process `rank`, which the caller frees; NULL: there is none. */
static value_t *find(const xy_pmi_t *pmi, uint32_t rank, const char *key)
{
    proc_t of = {.rank = rank};
    value_t *value = NULL;

    memcpy(of.space, pmi->space, sizeof(of.space));
    return ((const library_t *)pmi->library)->get(&of, key, NULL, 0, &value) == 0 ? value : NULL;
}

/* Connect to the launcher by PMIx and read the rank and the size of the job. */
static xy_status_t open_pmix(xy_pmi_t *pmi)
{
    const library_t *l = load();
    proc_t self = {.rank = 0};
    value_t *size;
    int code;

    if (l == NULL)
        return xy_fail(XY_ENOENT,
                       "the launcher offers PMIx, and its library libpmix.so.2 cannot be "
                       "used here; install it (package libpmix2), or name it in "
                       "XYLEM_PMI_LIBRARY");
    code = l->init(&self, NULL, 0);
    if (code != 0)
        return xy_fail(XY_EIO, "PMIx_Init failed: %s", l->describe(code));
    pmi->library = l;
    pmi->rank = (int)self.rank;
    memcpy(pmi->space, self.space, sizeof(pmi->space));
    size = find(pmi, EVERY_RANK, "pmix.job.size");
    if (size == NULL || size->type != TYPE_UINT32)
        return xy_fail(XY_EIO, "the launcher does not tell by PMIx how many processes the job has");
    pmi->size = (int)size->data.number;
    free(size);
    return XY_OK;
}

static bool put(xy_pmi_t *pmi, const char *key, const char *text)
{
    char copy[PMI_VALUE + 1];
    value_t value = {.type = TYPE_STRING, .data.string = copy};

    snprintf(copy, sizeof(copy), "%s", text);
    return ((const library_t *)pmi->library)->put(SCOPE_GLOBAL, key, &value) == 0;
}

static bool fence(xy_pmi_t *pmi)
{
    const library_t *l = pmi->library;
    proc_t all = {.rank = EVERY_RANK};
    info_t collect = {.key = "pmix.collect", .value = {.type = TYPE_BOOL, .data.flag = true}};

    memcpy(all.space, pmi->space, sizeof(all.space));
    return l->commit() == 0 && l->fence(&all, 1, &collect, 1) == 0;
}

static bool get(xy_pmi_t *pmi, int rank, const char *key, char text[PMI_VALUE + 1])
{
    value_t *value = find(pmi, (uint32_t)rank, key);
    bool is_text =
        value != NULL && value->type == TYPE_STRING && strlen(value->data.string) <= PMI_VALUE;

    if (is_text)
        snprintf(text, PMI_VALUE + 1, "%s", value->data.string);
    if (value != NULL && value->type == TYPE_STRING)
        free(value->data.string);
    free(value);
    return is_text;
}

static void abort_pmix(xy_pmi_t *pmi, int code)
{
    ((const library_t *)pmi->library)->abort(code, "", NULL, 0);
}

static void close_pmix(xy_pmi_t *pmi)
{
    ((const library_t *)pmi->library)->finalize(NULL, 0);
}

const pmi_protocol_t pmi_pmix = {
    .name = "pmix",
    .is_there = is_there,
    .open = open_pmix,
    .put = put,
    .fence = fence,
    .get = get,
    .abort = abort_pmix,
    .close = close_pmix,
    .describe = "PMIx by libpmix.so: mpirun of Open MPI, srun --mpi=pmix",
};
