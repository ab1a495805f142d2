/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/monitor.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "place/place.h"

typedef struct {
    int to;
    uint32_t context, phase;
    uint64_t bytes[2], messages[2]; /* [0] of the program, [1] inside collectives */
} record_t;

struct mpi_monitor {
    xy_hash_t table; /* (phase, context, to) -> record */
    xy_arena_t *arena;
    uint32_t phase;
    record_t *last; /* most messages go where the one before went */
    bool is_lossy;  /* memory ran out: some were not counted */
};

typedef struct mpi_monitor monitor_t;

/* The last two are small numbers in practice; should they not be, records of different pairs would
 * share a key, so they are cut where the fields meet. */
static uint64_t key_of(int to, uint32_t context, uint32_t phase)
{
    return (uint64_t)(uint32_t)to | (uint64_t)(context & 0xfffff) << 24 | (uint64_t)phase << 44;
}

xy_status_t mpi_monitor_start(mpi_job_t *job)
{
    for (int r = 0; r < job->size; r++) {
        monitor_t *m = xy_calloc(1, sizeof(*m));

        if (m == NULL || xy_arena_create(&m->arena) != XY_OK) {
            xy_free(m);
            mpi_monitor_stop(job);
            return xy_fail_memory("preparing to count messages");
        }
        xy_hash_init(&m->table, XY_HASH_U64);
        job->ranks[r].monitor = m;
    }
    job->is_monitored = true;
    return XY_OK;
}

void mpi_monitor_stop(mpi_job_t *job)
{
    job->is_monitored = false;
    for (int r = 0; r < job->size; r++) {
        monitor_t *m = job->ranks[r].monitor;

        if (m == NULL)
            continue;
        xy_hash_cleanup(&m->table);
        xy_arena_destroy(m->arena);
        xy_free(m);
        job->ranks[r].monitor = NULL;
    }
}

static record_t *record_of(monitor_t *m, int to, uint32_t context)
{
    uint64_t key = key_of(to, context, m->phase);
    record_t *record = m->last;

    if (record != NULL && record->to == to && record->context == context &&
        record->phase == m->phase)
        return record;
    record = xy_hash_get(&m->table, key);
    if (record == NULL) {
        record = xy_arena_alloc(m->arena, sizeof(*record));
        if (record == NULL || xy_hash_set(&m->table, key, record) != XY_OK)
            return NULL;
        record->to = to;
        record->context = context;
        record->phase = m->phase;
    }
    m->last = record;
    return record;
}

void mpi_monitor_add(mpi_rank_t *self, int to, uint32_t context, uint64_t bytes, bool collective)
{
    record_t *record = record_of(self->monitor, to, context);

    if (record == NULL) {
        self->monitor->is_lossy = true;
        return;
    }
    record->bytes[collective] += bytes;
    record->messages[collective]++;
}

void mpi_monitor_phase(mpi_rank_t *self)
{
    if (self->monitor != NULL)
        self->monitor->phase++;
}

/* ---- Collectives ---- */

static int world_of(const mpi_coll_t *coll, int rank)
{
    return coll->group->ranks ? coll->group->ranks[rank] : rank;
}

static void count(const coll_part_t *part, int from, int to, uint64_t bytes)
{
    const mpi_coll_t *coll = part->coll;

    if (from != to && bytes > 0)
        mpi_monitor_add(&mpi_job->ranks[world_of(coll, from)], world_of(coll, to), coll->context,
                        bytes, true);
}

static uint64_t sent_bytes(const coll_call_t *call, int peer)
{
    const mpi_type_t *type;
    int64_t n;

    if (call->is_in_place) {
        type = call->receive_types ? mpi_type_of(call->receive_types[peer]) : call->receive_type;
        n = call->receive_counts.data ? coll_at(call->receive_counts, peer) : call->receive_count;
    } else {
        type = call->send_types ? mpi_type_of(call->send_types[peer]) : call->send_type;
        n = call->send_counts.data ? coll_at(call->send_counts, peer) : call->send_count;
    }
    return (uint64_t)n * type->size;
}

/* What `call` reduces: the slices of the vector go to the first member of each part, and what they
 * become goes to those who want it; a small vector goes to the part first. */
static void count_reduction(const coll_part_t *part, const coll_slot_t *slot,
                            const coll_call_t *call)
{
    const mpi_coll_t *coll = part->coll;
    uint64_t slice = slot->is_small ? slot->bytes : slot->bytes / (uint64_t)coll->parts;
    bool is_for_all = slot->kind == &coll_allreduce;

    for (int p = 0; p < coll->parts; p++)
        if (!slot->is_small || p == part->index)
            count(part, call->rank, coll->part[p]->member[0], slice);
    if (call->rank != part->member[0])
        return;
    if (!is_for_all) {
        count(part, call->rank, slot->root, slice);
        return;
    }
    for (int p = 0; p < coll->parts && slot->is_small; p++)
        count(part, call->rank, coll->part[p]->member[0], slice);
    for (int r = 0; r < coll->size; r++)
        if (!slot->is_small || coll->part_of[r] == part->index)
            count(part, call->rank, r, slice);
}

static void count_call(const coll_part_t *part, const coll_slot_t *slot, const coll_call_t *call)
{
    const mpi_coll_t *coll = part->coll;
    const coll_kind_t *kind = slot->kind;

    if (kind == &coll_bcast || kind == &coll_scatter) {
        for (int r = 0; call->rank == slot->root && r < coll->size; r++)
            count(part, call->rank, r, kind == &coll_bcast ? slot->bytes : sent_bytes(call, r));
    } else if (kind == &coll_gather) {
        if (call->rank != slot->root)
            count(part, call->rank, slot->root, sent_bytes(call, slot->root));
    } else if (kind == &coll_allgather) {
        for (int r = 0; r < coll->size; r++)
            count(part, call->rank, r, sent_bytes(call, call->rank));
    } else if (kind == &coll_alltoall) {
        for (int r = 0; r < coll->size; r++)
            count(part, call->rank, r, sent_bytes(call, r));
    } else if (kind == &coll_reduce || kind == &coll_allreduce) {
        count_reduction(part, slot, call);
    } else if (kind == &coll_scan || kind == &coll_exscan) {
        if (call->rank + 1 < coll->size)
            count(part, call->rank, call->rank + 1, slot->bytes);
    } else if (kind == &coll_reduce_scatter) {
        for (int r = 0; r < coll->size; r++)
            count(part, call->rank, r,
                  (uint64_t)(call->receive_counts.data ? coll_at(call->receive_counts, r)
                                                       : call->receive_count) *
                      call->receive_type->size);
    }
}

void mpi_monitor_add_collective(const coll_part_t *part, const coll_slot_t *slot)
{
    for (int m = 0; m < part->members; m++)
        count_call(part, slot, slot->calls[m]);
}

/* ---- Writing ---- */

/* Which records a file is about; -1: all of them. */
typedef struct {
    const char *kind; /* "all", "program", "collectives" */
    bool program, collectives;
    long phase, context;
} choice_t;

static xy_status_t collect(const mpi_job_t *job, const choice_t *c, xy_vec_t *entries)
{
    for (int r = 0; r < job->size; r++) {
        const monitor_t *m = job->ranks[r].monitor;
        const xy_hash_slot_t *s;
        size_t position = 0;

        while ((s = xy_hash_next(&m->table, &position)) != NULL) {
            const record_t *record = s->value;
            xy_matrix_entry_t e = {.from = (uint32_t)r, .to = (uint32_t)record->to};

            if ((c->phase >= 0 && record->phase != (uint32_t)c->phase) ||
                (c->context >= 0 && record->context != (uint32_t)c->context))
                continue;
            for (int k = 0; k < 2; k++)
                if (k == 0 ? c->program : c->collectives) {
                    e.bytes += (double)record->bytes[k];
                    e.messages += (double)record->messages[k];
                }
            if (e.messages > 0 && xy_vec_append(entries, &e) != XY_OK)
                return XY_ENOMEM;
        }
    }
    return XY_OK;
}

static xy_status_t write_matrix(const xy_matrix_t *m, const char *path)
{
    xy_out_t *out;
    xy_status_t st = xy_out_open(path, &out);

    if (st != XY_OK)
        return st;
    st = xy_matrix_write(m, XY_MATRIX_CSV, xy_out_file(out));
    if (st != XY_OK) {
        xy_out_cancel(out);
        return st;
    }
    return xy_out_commit(out);
}

static xy_status_t write_choice(const mpi_job_t *job, const choice_t *c, const char *path)
{
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_matrix_t *m = NULL;
    xy_status_t st = collect(job, c, &entries);

    if (st == XY_OK)
        st = xy_matrix_build((uint32_t)job->size, entries.data, entries.count, true, &m);
    if (st == XY_OK)
        st = write_matrix(m, path);
    else
        xy_fail_memory("writing the communication matrix");
    xy_matrix_destroy(m);
    xy_vec_cleanup(&entries);
    return st;
}

static uint32_t last_phase(const mpi_job_t *job)
{
    uint32_t last = 0;

    for (int r = 0; r < job->size; r++)
        last = job->ranks[r].monitor->phase > last ? job->ranks[r].monitor->phase : last;
    return last;
}

/* The contexts that occur, as a set of bits. */
static xy_status_t find_contexts(const mpi_job_t *job, xy_bitset_t *set)
{
    if (xy_bitset_init(set, 1 << 20) != XY_OK)
        return xy_fail_memory("writing the communication matrix");
    for (int r = 0; r < job->size; r++) {
        const xy_hash_slot_t *s;
        size_t position = 0;

        while ((s = xy_hash_next(&job->ranks[r].monitor->table, &position)) != NULL)
            xy_bitset_set(set, ((const record_t *)s->value)->context & 0xfffff);
    }
    return XY_OK;
}

static xy_status_t write_file(const mpi_job_t *job, const choice_t *c, const char *folder,
                              const char *label, long number)
{
    char *path = number < 0 ? xy_sprintf("%s/%s.csv", folder, c->kind)
                            : xy_sprintf("%s/%s-%ld.csv", folder, label, number);
    xy_status_t st = path == NULL ? xy_fail_memory("writing the communication matrix")
                                  : write_choice(job, c, path);

    xy_free(path);
    return st;
}

static xy_status_t write_all(const mpi_job_t *job, const char *folder)
{
    static const choice_t whole[] = {{"all", true, true, -1, -1},
                                     {"program", true, false, -1, -1},
                                     {"collectives", false, true, -1, -1}};
    xy_bitset_t contexts;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < 3 && st == XY_OK; i++)
        st = write_file(job, &whole[i], folder, NULL, -1);
    for (uint32_t p = 0; last_phase(job) > 0 && p <= last_phase(job) && st == XY_OK; p++)
        st = write_file(job, &(choice_t){"phase", true, true, p, -1}, folder, "phase", p);
    if (st == XY_OK)
        st = find_contexts(job, &contexts);
    if (st != XY_OK)
        return st;
    if (xy_bitset_count(&contexts) > 1)
        for (size_t c = xy_bitset_next(&contexts, 0); c < contexts.bits && st == XY_OK;
             c = xy_bitset_next(&contexts, c + 1))
            st = write_file(job, &(choice_t){"communicator", true, true, -1, (long)c}, folder,
                            "communicator", (long)c);
    xy_bitset_cleanup(&contexts);
    return st;
}

xy_status_t mpi_monitor_write(const mpi_job_t *job, const char *path)
{
    for (int r = 0; r < job->size; r++)
        if (job->ranks[r].monitor->is_lossy) {
            xy_warn("memory ran out while messages were counted: some are missing");
            break;
        }
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return xy_fail_errno(errno, path, "make the directory");
    return write_all(job, path);
}
