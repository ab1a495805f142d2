/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of tasks that several ranks share. */
#include "tasks/tasks.h"

enum { LINE = 64 };

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Data of others without an address get a place for the run. */
static xy_status_t place(const xylem_tasks *t, tasks_share_t *s)
{
    int32_t n = xy_graph_data_count(s->share->tasks);
    uint64_t bytes = LINE;

    s->addresses = xy_calloc((size_t)n + 1, sizeof(*s->addresses));
    for (int32_t d = 0; d < n; d++) {
        const xy_data_t *data = xy_graph_data_at(t->graph, s->share->data_of[d]);

        bytes += data->address == NULL ? round_up(data->bytes) : 0;
    }
    s->kept = xy_malloc(bytes);
    if (s->addresses == NULL || s->kept == NULL)
        return xy_fail_memory("keeping data of other ranks");
    bytes = 0;
    for (int32_t d = 0; d < n; d++) {
        const xy_data_t *data = xy_graph_data_at(t->graph, s->share->data_of[d]);

        s->addresses[d] = data->address != NULL ? data->address : s->kept + bytes;
        bytes += data->address == NULL ? round_up(data->bytes) : 0;
    }
    return XY_OK;
}

static xy_status_t check(const xylem_tasks *t, const xylem_messages *messages)
{
    for (int32_t d = 0; d < xy_graph_data_count(t->graph); d++)
        if (XY_VEC_AT(&t->owners, int32_t, d) >= messages->ranks)
            return xy_fail(XY_EINVAL, "datum %d belongs to rank %d, and there are %d ranks", d,
                           XY_VEC_AT(&t->owners, int32_t, d), messages->ranks);
    return XY_OK;
}

xy_status_t tasks_run_on_ranks(const xylem_tasks *t, const xylem_run_options *o, bool is_on_gpus,
                               const xy_task_observer_t *observer, xy_task_result_t *result_p)
{
    tasks_choice_t choice = {.policy = o->policy, .eviction = o->eviction};
    xylem_run_options how = *o;
    tasks_share_t s = {0};
    xy_status_t st = check(t, o->messages);

    how.gpus = is_on_gpus ? o->gpus : 0;
    if (st == XY_OK)
        st = xy_task_share_create(t->graph, t->owners.data, o->messages, &s.share);
    if (st == XY_OK)
        st = place(t, &s);
    if (st == XY_OK)
        st = tasks_run_on_gpus(t, &how, &choice, &s, observer, result_p);
    xy_task_share_destroy(s.share);
    xy_free(s.addresses);
    xy_free(s.kept);
    return st;
}
