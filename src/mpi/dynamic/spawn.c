/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning ranks.
 *
 * The root has the launcher make them, gives them a world, and has their workers begin them. It
 * then tells the other members the context of the bridge, and all of them meet the new ranks, which
 * do the same in MPI_Init. On other hosts, new ranks are a job of their own (spawn_job.c).
 */
#include <string.h>
#include <sys/utsname.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/virtual/virtual.h"

/* Where spawned ranks come from: one for all of a call. */
typedef struct mpi_origin {
    _Atomic int references; /* ranks that have it */
    mpi_group_t *group;     /* their world: one reference each of both */
    mpi_coll_t *coll;
    uint32_t context;
    uint32_t bridge; /* context of the bridge to the root that has spawned them, */
    int root;        /* and its number */
} mpi_origin_t;

/* The arguments of a call. */
typedef struct {
    int count;
    char *const *commands;
    char ***argvs;
    const int *maxprocs;
    const MPI_Info *infos;
} wish_t;

/* Processes of a program: that were asked for, and that are started. */
typedef struct {
    int wanted, made;
} share_t;

static void origin_release(mpi_origin_t *origin)
{
    if (!origin || atomic_fetch_sub_explicit(&origin->references, 1, memory_order_acq_rel) > 1)
        return;
    mpi_group_release(origin->group);
    mpi_coll_release(origin->coll);
    xy_free(origin);
}

/* ---- On the workers of the new ranks ---- */

static void fail_start(void)
{
    xy_fail_memory("starting a rank");
    mpi_job->abort(1);
}

static void begin(mpi_rank_t *rank, mpi_origin_t *origin, int place, int appnum)
{
    xy_status_t st = mpi_rank_renew(rank);

    if (st == XY_OK)
        st = mpi_comm_give_world(rank, origin->group, origin->coll, origin->context, place);
    rank->origin = origin;
    rank->appnum = appnum;
    if (st == XY_OK)
        st = mpi_job->spawner->start(rank);
    if (st != XY_OK)
        fail_start();
}

static void on_start(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    (void)worker;
    (void)from;
    begin(&mpi_job->ranks[packet->to], packet->pointer, (int)packet->words[0],
          (int)packet->words[1]);
}

/* Begin a spawned rank on its worker, here or by a packet. */
static void post(mpi_rank_t *self, int rank, mpi_origin_t *origin, int place, int appnum)
{
    int home = mpi_job->home[rank];
    mpi_packet_t *packet;

    if (home == self->worker->index) {
        begin(&mpi_job->ranks[rank], origin, place, appnum);
        return;
    }
    packet = mpi_ring_reserve(self->worker, home);
    packet->kind = XMPI_PACKET_START;
    packet->to = rank;
    packet->pointer = origin;
    packet->words[0] = (uint64_t)place;
    packet->words[1] = (uint64_t)appnum;
    mpi_ring_commit(self->worker, home, packet);
}

static void rank_end(mpi_rank_t *rank)
{
    origin_release(rank->origin);
    rank->origin = NULL;
    rank->parent = NULL;
    dynamic_ports_close(rank);
}

/* ---- At the root ---- */

static const char *first_of(const mpi_info_t *info, const char *const *keys)
{
    const char *value = NULL;

    for (int i = 0; keys[i] && !value; i++)
        value = mpi_info_value(info, keys[i]);
    return value;
}

/* Where the ranks are to be started. */
static void read_place(const mpi_info_t *info, mpi_spawn_part_t *part, dynamic_found_t *found)
{
    static const char *const directory[] = {"wdir", "wd", NULL},
                             *const host[] = {"host", "hosts", "add-host", NULL},
                             *const file[] = {"hostfile", "add-hostfile", NULL};
    const char *arch = mpi_info_value(info, "arch");
    struct utsname system;

    part->path = mpi_info_value(info, "path");
    part->wdir = first_of(info, directory);
    part->host = first_of(info, host);
    part->hostfile = first_of(info, file);
    if (arch && uname(&system) == 0 && strcmp(arch, system.machine) != 0)
        dynamic_fail(found, MPI_ERR_SPAWN, "the info key arch is '%.60s', and this machine is %s",
                     arch, system.machine);
    if (mpi_job->clock &&
        (part->hostfile || (part->host && !mpi_job->spawner->is_here(part->host))))
        dynamic_fail(found, MPI_ERR_SPAWN,
                     "the info key %s is '%.200s': in virtual time new ranks run on the machine "
                     "that --virtual names; leave the key out",
                     part->hostfile ? "hostfile" : "host",
                     part->hostfile ? part->hostfile : part->host);
}

/* Read the info object of program `i`. */
static void read_info(const wish_t *wish, int i, mpi_spawn_part_t *part, dynamic_found_t *found)
{
    MPI_Info handle = wish->infos ? wish->infos[i] : MPI_INFO_NULL;
    const mpi_info_t *info = handle != MPI_INFO_NULL ? mpi_info_of(handle) : NULL;
    const char *soft;

    if (handle != MPI_INFO_NULL && !info) {
        dynamic_fail(found, MPI_ERR_INFO, "the info argument for '%s' is not an info object",
                     part->command);
        return;
    }
    if (!info)
        return;
    read_place(info, part, found);
    soft = mpi_info_value(info, "soft");
    if (soft)
        part->count = dynamic_soft(soft, part->count);
    if (soft && part->count < 0)
        dynamic_fail(found, part->count == -1 ? MPI_ERR_SPAWN : MPI_ERR_INFO_VALUE,
                     part->count == -1
                         ? "the info key soft, '%.200s', allows no number from 1 to %d"
                         : "the info key soft is '%.200s'; it is a list of numbers and of ranges "
                           "'from:to:step', such as '1,2,4:16:4' (%d at most)",
                     soft, wish->maxprocs[i]);
}

static void read_part(const wish_t *wish, int i, mpi_spawn_part_t *part, dynamic_found_t *found)
{
    *part = (mpi_spawn_part_t){.command = wish->commands[i],
                               .argv = wish->argvs ? wish->argvs[i] : NULL,
                               .count = wish->maxprocs[i]};
    if (!part->command || !*part->command)
        dynamic_fail(found, MPI_ERR_ARG, "the command of program %d is empty", i);
    else if (part->count < 1)
        dynamic_fail(found, MPI_ERR_ARG, "maxprocs is %d for '%s'; at least 1 must be asked for",
                     part->count, part->command);
    else
        read_info(wish, i, part, found);
}

/* NULL: memory ran out. Takes `ranks`. */
static mpi_origin_t *origin_new(const mpi_rank_t *self, int *ranks, int size)
{
    mpi_origin_t *origin = xy_calloc(1, sizeof *origin);
    mpi_group_t *group = origin ? mpi_group_create(ranks, size) : NULL;

    if (!origin)
        xy_free(ranks);
    if (!group) {
        xy_free(origin);
        return NULL;
    }
    origin->context = mpi_context_new(1);
    origin->bridge = mpi_context_new(1);
    origin->root = self->world;
    origin->group = group;
    if (mpi_coll_create(group, origin->context, &origin->coll) != XY_OK) {
        mpi_group_release(group);
        xy_free(origin);
        return NULL;
    }
    mpi_coll_hold(origin->coll);
    atomic_init(&origin->references, size);
    return origin;
}

static int *copy_of(const int *ranks, int size)
{
    int *copy = xy_malloc((size_t)size * sizeof *copy);

    if (copy)
        memcpy(copy, ranks, (size_t)size * sizeof *copy);
    return copy;
}

/* The ranks are made: begin them. */
static void begin_all(mpi_rank_t *self, const mpi_spawn_part_t *parts, int count, const int *ranks,
                      int size, dynamic_found_t *found)
{
    int *copy = copy_of(ranks, size), place = 0;
    mpi_origin_t *origin = copy ? origin_new(self, copy, size) : NULL;

    if (!origin) {
        mpi_job->spawner->drop(ranks, size);
        dynamic_fail(found, MPI_ERR_NO_MEM, "memory ran out for the new ranks");
        return;
    }
    found->context = origin->bridge;
    found->other = ranks[0];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < parts[i].count; k++, place++)
            post(self, ranks[place], origin, place, i);
    if (mpi_job->clock)
        mpi_virtual_start(self, ranks, size);
}

/* Have the launcher make the ranks, and begin them; a failure is noted in `found`. */
static void start(mpi_comm_t *comm, const mpi_spawn_part_t *parts, int count,
                  dynamic_found_t *found)
{
    mpi_rank_t *self = comm->owner;
    int *ranks, size = 0;

    for (int i = 0; i < count; i++)
        size += parts[i].count;
    if (mpi_job->clock)
        mpi_virtual_sync(self); /* a rank that has ended leaves its core */
    ranks = xy_malloc((size_t)size * sizeof *ranks);
    if (!ranks)
        dynamic_fail(found, MPI_ERR_NO_MEM, "memory ran out for the new ranks");
    else if (mpi_job->spawner->make(parts, count, ranks, found->why) != XY_OK)
        found->code = MPI_ERR_SPAWN;
    else
        begin_all(self, parts, count, ranks, size, found);
    xy_free(ranks);
}

/* *shares_p is of found->count. */
static void spawn_at_root(mpi_comm_t *comm, const wish_t *wish, share_t **shares_p,
                          dynamic_found_t *found)
{
    size_t count = wish->count > 0 ? (size_t)wish->count : 1;
    mpi_spawn_part_t *parts = xy_calloc(count, sizeof *parts);

    *shares_p = xy_calloc(count, sizeof **shares_p);
    if (!parts || !*shares_p)
        dynamic_fail(found, MPI_ERR_NO_MEM, "memory ran out for the new ranks");
    else if (mpi_job->has_progress_threads)
        dynamic_fail(found, MPI_ERR_SPAWN,
                     "with --progress threads a job has the ranks that it was started with; leave "
                     "that option out");
    else if (wish->count < 1 || !wish->commands || !wish->maxprocs)
        dynamic_fail(found, MPI_ERR_ARG, "there is no program to spawn");
    for (int i = 0; i < wish->count && found->code == MPI_SUCCESS; i++)
        read_part(wish, i, &parts[i], found);
    if (found->code == MPI_SUCCESS)
        (dynamic_needs_job(parts, wish->count) ? dynamic_spawn_job : start)(comm, parts,
                                                                            wish->count, found);
    found->count = *shares_p && wish->count > 0 ? wish->count : 0;
    for (int i = 0; i < found->count && wish->maxprocs; i++)
        (*shares_p)[i] = (share_t){wish->maxprocs[i] > 0 ? wish->maxprocs[i] : 0,
                                   parts && found->code == MPI_SUCCESS ? parts[i].count : 0};
    xy_free(parts);
}

/* ---- At all members ---- */

static void fill_codes(int *codes, const share_t *shares, const dynamic_found_t *found)
{
    int fail = found->code == MPI_SUCCESS ? MPI_ERR_SPAWN : found->code;

    for (int i = 0; codes && shares && i < found->count; i++)
        for (int k = 0; k < shares[i].wanted; k++)
            *codes++ = k < shares[i].made ? MPI_SUCCESS : fail;
}

/* Spawn ranks and make the intercommunicator with them; returns an MPI error code. */
static int spawn(const wish_t *wish, int root, MPI_Comm handle, MPI_Comm *intercomm, int *codes)
{
    dynamic_found_t found = {.code = MPI_SUCCESS};
    mpi_comm_t *comm, *made = NULL;
    share_t *shares = NULL;
    dynamic_bridge_t bridge;
    int code = dynamic_check(handle, root, &comm), leader;

    if (code != MPI_SUCCESS)
        return code;
    *intercomm = MPI_COMM_NULL;
    if (comm->rank == root)
        spawn_at_root(comm, wish, &shares, &found);
    mpi_spread_bcast(comm, root, &found, sizeof found);
    if (!shares)
        shares = xy_calloc((size_t)found.count + 1, sizeof *shares);
    if (!shares) { /* the others wait for this one */
        xy_fail_memory("spawning ranks");
        mpi_job->abort(1);
    }
    mpi_spread_bcast(comm, root, shares, (size_t)found.count * sizeof *shares);
    fill_codes(codes, shares, &found);
    xy_free(shares);
    if (found.code != MPI_SUCCESS)
        return mpi_error(comm, found.code, "%s", found.why);
    leader = mpi_comm_world_rank(comm, root);
    dynamic_bridge(&bridge, comm, found.context, found.is_job ? found.other : leader,
                   found.is_job ? leader : found.other);
    code = mpi_intercomm_make(comm, root, &bridge.comm, found.is_job ? 0 : 1, 0, &made);
    if (found.is_job && comm->rank == root)
        mpi_link_expect(-1);
    if (found.is_job && !mpi_rank_is_here(mpi_job, leader))
        dynamic_spawned_by_other();
    if (code == MPI_SUCCESS)
        *intercomm = mpi_comm_handle(made);
    return code;
}

int impl_comm_spawn(mpi_rank_t *self, const char *command, char *argv[], int maxprocs,
                    MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
                    int array_of_errcodes[])
{
    char *commands[] = {(char *)(uintptr_t)command};
    char **argvs[] = {argv};
    wish_t wish = {1, commands, argvs, &maxprocs, &info};

    (void)self;
    return spawn(&wish, root, comm, intercomm, array_of_errcodes);
}

int impl_comm_spawn_multiple(mpi_rank_t *self, int count, char *array_of_commands[],
                             char **array_of_argv[], const int array_of_maxprocs[],
                             const MPI_Info array_of_info[], int root, MPI_Comm comm,
                             MPI_Comm *intercomm, int array_of_errcodes[])
{
    wish_t wish = {count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info};

    (void)self;
    return spawn(&wish, root, comm, intercomm, array_of_errcodes);
}

/* ---- Spawned ranks ---- */

int mpi_origin_meet(mpi_rank_t *self)
{
    const mpi_origin_t *origin = self->origin;
    mpi_comm_t *world = self->comm_world;
    dynamic_bridge_t bridge;
    int code;

    if (!origin)
        return dynamic_parent_meet(self);
    dynamic_bridge(&bridge, world, origin->bridge, origin->root, mpi_comm_world_rank(world, 0));
    code = mpi_intercomm_make(world, 0, &bridge.comm, 0, 0, &self->parent);
    if (code == MPI_SUCCESS)
        strcpy(self->parent->name, DYNAMIC_PARENT_NAME);
    return code;
}

int impl_comm_get_parent(mpi_rank_t *self, MPI_Comm *parent)
{
    *parent = self->parent ? mpi_comm_handle(self->parent) : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static void job_end(mpi_job_t *job)
{
    (void)job;
    dynamic_names_end();
}

const mpi_layer_t mpi_dynamic_layer = {.packet = {[XMPI_PACKET_START] = on_start},
                                       .far = {.answer_port = dynamic_port_answer,
                                               .answer_name = dynamic_name_answer,
                                               .spawned_code = dynamic_spawned_code},
                                       .job_end = job_end,
                                       .rank_end = rank_end};
