/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: the names they are counted by, and the ranks of their members in MPI_COMM_WORLD.
 *
 * A communicator is named by the world rank of its first member and a number that this one gives;
 * the first member sends it to the others when the communicator is made, which is collective
 * anyway.
 */
#include <limits.h>
#include <stdlib.h>

#include "monitor.h"

/* Kept with a communicator. */
typedef struct {
    monitor_name_t name;
    int ranks[]; /* in MPI_COMM_WORLD, of those it sends to */
} info_t;

static int key = MPI_KEYVAL_INVALID;
static int made; /* communicators that this rank has named */

/* The last communicator asked for; not MPI_COMM_WORLD. */
static struct {
    MPI_Comm comm;
    const info_t *info;
} latest;

static int forget(MPI_Comm comm, int keyval, void *info, void *extra)
{
    (void)keyval, (void)extra;
    if (latest.info == info)
        latest.info = NULL;
    monitor_forget(); /* the handle may come back as another communicator */
    monitor_profile_forget(comm);
    free(info);
    return MPI_SUCCESS;
}

/* The ranks in MPI_COMM_WORLD of those that a communicator sends to, kept with it. */
static info_t *keep(MPI_Comm comm, monitor_name_t name)
{
    MPI_Group group, world;
    int size, is_inter, *all;
    info_t *info;

    if (key == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    info = malloc(sizeof(*info) + (size_t)size * sizeof(int));
    all = malloc(((size_t)size + 1) * sizeof(*all));
    if (info != NULL && all != NULL) {
        for (int i = 0; i < size; i++)
            all[i] = i;
        info->name = name;
        PMPI_Group_translate_ranks(group, size, all, world, info->ranks);
        PMPI_Comm_set_attr(comm, key, info);
    } else {
        free(info);
        info = NULL;
    }
    free(all);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return info;
}

/* Communicators that were made in another way share one name, which comes last. */
static const info_t *info_of(MPI_Comm comm)
{
    void *info = NULL;
    int found = 0;

    if (latest.info != NULL && latest.comm == comm && !monitor_is_threaded())
        return latest.info;
    if (key != MPI_KEYVAL_INVALID)
        PMPI_Comm_get_attr(comm, key, &info, &found);
    if (!found)
        info = keep(comm, (monitor_name_t){INT_MAX, 0});
    if (!monitor_is_threaded()) {
        latest.comm = comm;
        latest.info = info;
    }
    return info;
}

monitor_sent_t *monitor_bytes(MPI_Comm comm, int to, double bytes, int messages, int kind)
{
    monitor_name_t name = {0, 0};
    int partner = to;

    if (to < 0)
        return NULL; /* MPI_PROC_NULL */
    if (comm != MPI_COMM_WORLD) {
        const info_t *info = info_of(comm);

        if (info == NULL)
            return NULL;
        name = info->name;
        partner = info->ranks[to];
    }
    if (partner == MPI_UNDEFINED) /* a spawned process is not in MPI_COMM_WORLD */
        return NULL;
    return monitor_count(partner, name, bytes, messages, kind);
}

int monitor_world_rank(MPI_Comm comm, int rank)
{
    const info_t *info = comm != MPI_COMM_WORLD ? info_of(comm) : NULL;

    if (comm == MPI_COMM_WORLD)
        return rank;
    return info != NULL && info->ranks[rank] != MPI_UNDEFINED ? info->ranks[rank] : -1;
}

monitor_before_t monitor_before;

int MPI_Type_free(MPI_Datatype *type)
{
    monitor_forget(); /* the handle may come back as another type */
    return PMPI_Type_free(type);
}

/* Replace or forget the record of the previous message. The size of its type is asked for only when
 * the type is another. */
void monitor_other_message(MPI_Comm comm, int to, int count, MPI_Datatype type)
{
    int is_known = monitor_before.sent != NULL && monitor_before.type == type;
    int size = monitor_before.size;
    monitor_sent_t *sent;

    if (to < 0)
        return;
    if (!is_known)
        PMPI_Type_size(type, &size);
    sent = monitor_bytes(comm, to, (double)size * count, 1, MONITOR_PROGRAM);
    if (!monitor_is_threaded() && !monitor_is_sliced())
        monitor_before = (monitor_before_t){sent, comm, type, to, size};
}

/* Name a communicator that was just made; all its members come here. */
static int named(int rc, const MPI_Comm *comm)
{
    int is_inter = 0, rank, name[2];

    if (rc != MPI_SUCCESS || *comm == MPI_COMM_NULL)
        return rc;
    PMPI_Comm_test_inter(*comm, &is_inter);
    if (is_inter)
        return rc;
    PMPI_Comm_rank(*comm, &rank);
    if (rank == 0) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &name[0]);
        name[1] = ++made;
    }
    PMPI_Bcast(name, 2, MPI_INT, 0, *comm);
    keep(*comm, (monitor_name_t){name[0], name[1]});
    return rc;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *new)
{
    return named(PMPI_Comm_dup(comm, new), new);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *new)
{
    return named(PMPI_Comm_dup_with_info(comm, info, new), new);
}

int MPI_Comm_split(MPI_Comm comm, int color, int rank, MPI_Comm *new)
{
    return named(PMPI_Comm_split(comm, color, rank, new), new);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int rank, MPI_Info info, MPI_Comm *new)
{
    return named(PMPI_Comm_split_type(comm, type, rank, info, new), new);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *new)
{
    return named(PMPI_Comm_create(comm, group, new), new);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *new)
{
    return named(PMPI_Comm_create_group(comm, group, tag, new), new);
}

int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *new)
{
    return named(PMPI_Intercomm_merge(comm, high, new), new);
}

int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[], int reorder,
                    MPI_Comm *new)
{
    return named(PMPI_Cart_create(comm, n, dims, periods, reorder, new), new);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *new)
{
    return named(PMPI_Cart_sub(comm, remain, new), new);
}

int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int edges[], int reorder,
                     MPI_Comm *new)
{
    return named(PMPI_Graph_create(comm, n, index, edges, reorder, new), new);
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm *new)
{
    return named(PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info,
                                        reorder, new),
                 new);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                   const int source_weights[], int outdegree,
                                   const int destinations[], const int weights[], MPI_Info info,
                                   int reorder, MPI_Comm *new)
{
    return named(PMPI_Dist_graph_create_adjacent(comm, indegree, sources, source_weights, outdegree,
                                                 destinations, weights, info, reorder, new),
                 new);
}
