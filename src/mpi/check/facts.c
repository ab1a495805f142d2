/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/facts.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* Calls that tell nothing of other ranks; those that return data of a window report that to
 * check_order_hear_all themselves. */
// clang-format off
static const char *const hears_nothing[] = {
    "MPI_Put", "MPI_Accumulate", "MPI_Rput", "MPI_Raccumulate", "MPI_Send", "MPI_Isend",
    "MPI_Irecv", "MPI_Win_lock", "MPI_Win_flush", "MPI_Win_unlock", "MPI_Win_flush_all",
    "MPI_Win_flush_local", "MPI_Win_lock_all", "MPI_Win_unlock_all", "MPI_Comm_rank",
    "MPI_Comm_size", "MPI_Comm_group", "MPI_Comm_get_name", "MPI_Comm_set_name",
    "MPI_Comm_get_attr", "MPI_Comm_set_errhandler", "MPI_Group_size", "MPI_Group_rank",
    "MPI_Group_incl", "MPI_Group_excl", "MPI_Group_free", "MPI_Group_translate_ranks",
    "MPI_Cart_coords", "MPI_Cart_rank", "MPI_Cart_shift", "MPI_Cart_get", "MPI_Info_create",
    "MPI_Info_set", "MPI_Info_get", "MPI_Info_free", "MPI_File_read", "MPI_File_write",
    "MPI_File_read_at", "MPI_File_write_at", "MPI_File_iread", "MPI_File_iwrite",
    "MPI_File_iread_at", "MPI_File_iwrite_at", "MPI_File_seek", "MPI_File_get_position",
    "MPI_File_get_byte_offset", "MPI_File_get_view", "MPI_File_get_amode",
    "MPI_File_get_atomicity", "MPI_File_get_info", "MPI_File_set_errhandler", NULL};
static const char *const hears_members[] = {
    "MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Scatter", "MPI_Scatterv",
    "MPI_Gather", "MPI_Gatherv", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall",
    "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Scan", "MPI_Exscan", "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block", "MPI_File_open", "MPI_File_set_view", "MPI_File_sync",
    "MPI_File_set_size", "MPI_File_preallocate", "MPI_File_set_atomicity", "MPI_Win_create",
    "MPI_Win_allocate", "MPI_Win_create_dynamic", "MPI_Win_fence", "MPI_Win_free", NULL};
static const char *const hears_messages[] = {
    "MPI_Recv", "MPI_Sendrecv", NULL};
// clang-format on
static const char *const starts[] = {
    "MPI_Isend",    "MPI_Issend",   "MPI_Irsend",  "MPI_Irecv",    "MPI_Imrecv", "MPI_Isend_c",
    "MPI_Issend_c", "MPI_Irsend_c", "MPI_Irecv_c", "MPI_Imrecv_c", NULL};

static bool is_one_of(const char *call, const char *const *names)
{
    while (*names != NULL && strcmp(*names, call) != 0)
        names++;
    return *names != NULL;
}

static bool begins(const char *call, const char *with)
{
    return strncmp(call, with, strlen(with)) == 0;
}

static bool is_collective_access(const char *call)
{
    return begins(call, "MPI_File_") && strstr(call, "_all") != NULL;
}

static check_hears_t find_hears(const char *call)
{
    return is_one_of(call, hears_nothing)                                 ? CHECK_HEARS_NOTHING
           : is_one_of(call, hears_members) || is_collective_access(call) ? CHECK_HEARS_MEMBERS
           : is_one_of(call, hears_messages)                              ? CHECK_HEARS_MESSAGES
                                                                          : CHECK_HEARS_ALL;
}

static check_what_t find_what(const char *call)
{
    if (begins(call, "MPI_Put") || begins(call, "MPI_Rput"))
        return CHECK_WRITE;
    if (strcmp(call, "MPI_Get") == 0 || strcmp(call, "MPI_Get_c") == 0 || begins(call, "MPI_Rget"))
        return begins(call, "MPI_Rget_a") ? CHECK_UPDATE : CHECK_READ;
    return CHECK_UPDATE;
}

/* All of them, by comparing the name. */
static check_facts_t find(const char *call)
{
    check_what_t what = find_what(call);

    return (check_facts_t){.hears = find_hears(call),
                           .what = what,
                           .has_request = begins(call, "MPI_R"),
                           .is_rget = begins(call, "MPI_Rget"),
                           .returns = what == CHECK_READ ||
                                      (what == CHECK_UPDATE && !begins(call, "MPI_Accumulate") &&
                                       !begins(call, "MPI_Racc")),
                           .is_standard = begins(call, "MPI_Send") || begins(call, "MPI_Isend"),
                           .starts = is_one_of(call, starts),
                           .is_window = begins(call, "MPI_Win_"),
                           .is_hidden = strcmp(call, "MPI_Win_allocate_shared") == 0};
}

check_fact_slot_t check_fact_slots[CHECK_FACT_SLOTS];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* to fill a slot */

/* The slot of the name, or the free one for it. */
static check_fact_slot_t *slot_of(const char *call, bool *is_there_p)
{
    unsigned i = check_fact_place(call);
    const char *there;

    while ((there = atomic_load_explicit(&check_fact_slots[i].call, memory_order_acquire)) !=
               NULL &&
           there != call)
        i = (i + 1) % CHECK_FACT_SLOTS;
    *is_there_p = there != NULL;
    return &check_fact_slots[i];
}

/* A table that is half full stays as it is. */
const check_facts_t *check_facts_find(const char *call)
{
    static _Thread_local check_facts_t other;
    bool is_there;
    check_fact_slot_t *slot = slot_of(call, &is_there);

    if (is_there)
        return &slot->facts;
    pthread_mutex_lock(&lock);
    slot = slot_of(call, &is_there);
    if (!is_there && count < CHECK_FACT_SLOTS / 2) {
        count++;
        slot->facts = find(call);
        atomic_store_explicit(&slot->call, call, memory_order_release);
        is_there = true;
    }
    pthread_mutex_unlock(&lock);
    if (!is_there)
        other = find(call);
    return is_there ? &slot->facts : &other;
}
