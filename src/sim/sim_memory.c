/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/sim_memory.h"

/* Finds where the cores are; returns the number of cores of the largest host. */
static int find_places(sim_memory_t *memory, const xy_cores_t *cores, const int *host_of)
{
    int most = 0, first = 0;

    memory->columns = 1;
    for (int c = 0; c < cores->count; c++) {
        sim_place_t *p = &memory->places[c];

        if (c > 0 && host_of[c] != host_of[c - 1])
            first = c;
        *p = (sim_place_t){cores->numa[c], host_of[c], cores->numa[c] - cores->numa[first]};
        memory->columns = p->column >= memory->columns ? p->column + 1 : memory->columns;
        most = c - first >= most ? c - first + 1 : most;
    }
    return most;
}

/* Of a domain; a capacity that `most` users never reach needs no bookkeeping. */
static double capacity_of(const sim_limits_t *limits, bool is_inside, int most)
{
    double bandwidth = is_inside ? limits->numa : limits->link;
    double capacity = limits->copy > 0 ? bandwidth / limits->copy : 0;

    return capacity >= most ? 0 : capacity;
}

xy_status_t sim_memory_make(sim_memory_t *memory, xy_vclock_t *clock, const xy_cores_t *cores,
                            const int *host_of, const sim_limits_t *limits)
{
    int most;

    *memory = (sim_memory_t){.places = xy_calloc((size_t)cores->count, sizeof(sim_place_t))};
    if (memory->places == NULL)
        return xy_fail_memory("simulating memory");
    most = limits->threads * find_places(memory, cores, host_of);
    memory->domains =
        xy_calloc((size_t)cores->numa_count * (size_t)memory->columns, sizeof(*memory->domains));
    if (memory->domains == NULL)
        return xy_fail_memory("simulating memory");
    memory->count = cores->numa_count * memory->columns;
    for (int i = 0; i < memory->count; i++) {
        int from = i / memory->columns, column = memory->places[cores->numa_first[from]].column;

        xy_share_init(&memory->domains[i], clock,
                      capacity_of(limits, i % memory->columns == column, most));
        memory->is_limited |= memory->domains[i].capacity > 0;
    }
    return XY_OK;
}

void sim_memory_reset(sim_memory_t *memory)
{
    for (int i = 0; i < memory->count; i++)
        xy_share_reset(&memory->domains[i]);
}

void sim_memory_cleanup(sim_memory_t *memory)
{
    for (int i = 0; i < memory->count; i++)
        xy_share_cleanup(&memory->domains[i]);
    xy_free(memory->domains);
    xy_free(memory->places);
    *memory = (sim_memory_t){0};
}

int32_t sim_memory_domain(const sim_memory_t *memory, int from, int to)
{
    const sim_place_t *a = &memory->places[from], *b = &memory->places[to];

    return a->host == b->host ? a->numa * memory->columns + b->column : -1;
}

int32_t sim_memory_piece(const sim_memory_t *memory, xy_hash_t *read, const xy_op_t *op, int from,
                         int to)
{
    uint64_t key = (uint64_t)op->from.rank << 48 | (uint64_t)op->from.buffer << 44 |
                   (uint64_t)memory->places[to].column << 36 | op->from.offset;

    if (op->kind == XY_OP_MOVE && op->from.offset < UINT64_C(1) << 36) {
        if (xy_hash_get(read, key) != NULL)
            from = to;
        else
            xy_hash_set(read, key, read); /* without memory for it nothing is in a cache */
    }
    return sim_memory_domain(memory, from, to);
}
