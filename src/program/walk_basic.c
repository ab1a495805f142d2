/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all calls; memory of processes; the calls that only look. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "program/walk.h"

static bool nothing(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)w, (void)site, (void)args;
    return true;
}

static bool init(walker_t *w, const code_site_t *site, int64_t *args)
{
    w->is_initialized = true;
    return site->count < 4 || walk_set_int(w, args[3], (int32_t)args[2]);
}

static bool initialized(walker_t *w, const code_site_t *site, int64_t *args)
{
    return walk_set_int(w, args[0], walk_extra(site) ? w->is_finalized : w->is_initialized);
}

/* All wait for each other, as when a communicator is made. */
static bool finalize(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site, (void)args;
    w->is_finalized = walk_agree(w, walk_comm(w, (int64_t)(intptr_t)MPI_COMM_WORLD), 0);
    return w->is_finalized;
}

static bool abort_all(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return process_fail(&w->process, "MPI_Abort(%lld)", (long long)args[1]);
}

/* MPI_Get_count and MPI_Get_elements: MPI_UNDEFINED for bytes that no whole number of elements
 * has. */
static bool get_count(walker_t *w, const code_site_t *site, int64_t *args)
{
    uint8_t *status = process_at(&w->process, (uint64_t)args[0], 32);
    walk_type_t type;
    uint64_t bytes, size;

    if (status == NULL || !walk_type(w, args[1], &type))
        return false;
    memcpy(&bytes, status + 16, sizeof(bytes));
    if (bytes == (uint64_t)PROCESS_BLANK_64)
        return process_fail_blank(&w->process);
    size = walk_extra(site) ? walk_type_element(&type) : type.map.size;
    return walk_set_int(w, args[2],
                        size == 0           ? 0
                        : bytes % size != 0 ? MPI_UNDEFINED
                                            : (int32_t)(bytes / size));
}

/* As in a run in virtual time: that of the machine on which it is predicted. */
static bool processor_name(walker_t *w, const code_site_t *site, int64_t *args)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "localhost";
    void *to;

    (void)site;
    if (gethostname(name, sizeof(name)) != 0)
        strcpy(name, "localhost");
    name[sizeof(name) - 1] = '\0';
    to = args[0] != 0 ? process_at(&w->process, (uint64_t)args[0], strlen(name) + 1) : NULL;
    if (to != NULL)
        memcpy(to, name, strlen(name) + 1);
    return walk_set_int(w, args[1], (int32_t)strlen(name));
}

static const walk_call_t calls_basic[] = {{"Init", init, 0},
                                          {"Init_thread", init, 0},
                                          {"Initialized", initialized, 0},
                                          {"Finalized", initialized, 1},
                                          {"Finalize", finalize, 0},
                                          {"Abort", abort_all, 0},
                                          {"Get_count", get_count, 0},
                                          {"Get_elements", get_count, 1},
                                          {"Comm_set_errhandler", nothing, 0},
                                          {"Comm_set_name", nothing, 0},
                                          {"Get_processor_name", processor_name, 0},
                                          {"Buffer_attach", nothing, 0},
                                          {"Buffer_detach", nothing, 0},
                                          {"Type_commit", nothing, 0},
                                          {"Op_free", nothing, 0},
                                          {0}};

static const walk_call_t *const tables[] = {
    walk_calls_p2p,   walk_calls_wait,     walk_calls_coll,  walk_calls_persistent,
    walk_calls_comm,  walk_calls_group,    walk_calls_inter, walk_calls_cart,
    walk_calls_type,  walk_calls_neighbor, walk_calls_pack,  walk_calls_window,
    walk_calls_epoch, walk_calls_file,     calls_basic};

const walk_call_t *walk_call_find(const char *name)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const walk_call_t *call = tables[t]; call->name != NULL; call++)
            if (strcmp(call->name, name + strlen("MPI_")) == 0)
                return call;
    return NULL;
}
