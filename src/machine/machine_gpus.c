/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs that were found by their drivers, which know what a file or hwloc does not tell. */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_internal.h"

/* The NUMA node of this physical number; without one, the node. */
static xy_obj_t host_of(const xy_machine_t *m, int numa)
{
    for (uint32_t i = 0; numa >= 0 && i < xy_machine_count(m, XY_OBJ_NUMA); i++) {
        xy_obj_t o = xy_machine_object(m, XY_OBJ_NUMA, i);

        if (m->physical[o] == (uint32_t)numa)
            return o;
    }
    return xy_machine_count(m, XY_OBJ_NODE) > 0 ? xy_machine_object(m, XY_OBJ_NODE, 0) : 0;
}

/* A name of its own for each; they are few. */
static xy_status_t add_name(xy_machine_t *m, const char *name, uint32_t *index_p)
{
    char **names = xy_realloc_array(m->names, (size_t)m->name_count + 1, sizeof(*names));
    char *copy = names != NULL ? xy_strdup(name) : NULL;

    if (names != NULL)
        m->names = names;
    if (copy == NULL)
        return xy_fail_memory("naming GPUs");
    m->names[m->name_count] = copy;
    *index_p = m->name_count++;
    return XY_OK;
}

static bool is_known(xy_link_t link)
{
    return link.latency > 0 || link.bandwidth > 0;
}

/* Replaces the values of a GPU by those found by its driver, as far as they are known. */
static xy_status_t describe(xy_machine_t *m, uint32_t i, const xy_gpu_found_t *found)
{
    xy_gpu_t *gpu = &m->gpus[i];

    if (found->memory > 0)
        gpu->memory = found->memory;
    if (is_known(found->in))
        gpu->in = found->in;
    if (is_known(found->out))
        gpu->out = found->out;
    if (is_known(found->kernel))
        gpu->kernel = found->kernel;
    if (is_known(found->shared))
        m->gpu_groups[gpu->group].shared = found->shared;
    return add_name(m, found->name, &gpu->name);
}

typedef struct {
    xy_obj_t host;
    uint32_t number;
} seat_t;

static int compare_seats(const void *a, const void *b)
{
    const seat_t *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Groups are sorted by host, and GPUs by group. */
static void seat(xy_machine_t *m, const seat_t *seats, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || seats[i].host != seats[i - 1].host)
            m->gpu_groups[m->gpu_group_count++] =
                (xy_gpu_group_t){.host = seats[i].host, .first_gpu = i};
        m->gpu_groups[m->gpu_group_count - 1].gpu_count++;
        m->gpus[i] = (xy_gpu_t){.group = m->gpu_group_count - 1, .physical = seats[i].number};
    }
    m->gpu_count = count;
}

/* Replace the GPUs of the machine by so many; none is described yet. */
static xy_status_t replace(xy_machine_t *m, const xy_gpu_found_t *found, uint32_t count)
{
    seat_t *seats = xy_calloc(count, sizeof(*seats));
    xy_gpu_t *gpus = xy_calloc(count, sizeof(*gpus));
    xy_gpu_group_t *groups = xy_calloc(count, sizeof(*groups));

    if (seats == NULL || gpus == NULL || groups == NULL) {
        xy_free(seats);
        xy_free(gpus);
        xy_free(groups);
        return xy_fail_memory("adding GPUs to the machine");
    }
    for (uint32_t i = 0; i < count; i++)
        seats[i] = (seat_t){host_of(m, found[i].numa), i};
    qsort(seats, count, sizeof(*seats), compare_seats);
    xy_free(m->gpus);
    xy_free(m->gpu_groups);
    m->gpus = gpus;
    m->gpu_groups = groups;
    m->gpu_group_count = m->gpu_peer_count = 0;
    seat(m, seats, count);
    xy_free(seats);
    return XY_OK;
}

xy_status_t xy_machine_set_gpus(xy_machine_t *m, const xy_gpu_found_t *found, uint32_t count)
{
    xy_status_t st = XY_OK;

    if (count > m->gpu_count)
        st = replace(m, found, count);
    for (uint32_t i = 0; i < m->gpu_count && st == XY_OK; i++)
        if (m->gpus[i].physical < count)
            st = describe(m, i, &found[m->gpus[i].physical]);
    return st;
}
