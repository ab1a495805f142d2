/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times, for an engine that decides far ahead of a GPU: there a load counts as done when it was put
 * on its way, and what is picked next may be run long after. The policy keeps a clock of each
 * memory, of the tasks that it picked one after the other and of the loads on their link:
 *
 *   tasks   |....|t1|...|t2|t3|..|t4 ...        . nothing was there to run
 *   loads   | d1 | d2   | d3   | d4   | ...
 *
 * A task whose data come later by that clock is left for later while there are others. That matters
 * at the beginning, where loads take longer than the work that they free. Once the plan gives data
 * up the order of the plan is kept, as it says when they go: the clock has ended. In the end stores
 * take longer than what is left to run: then tasks that finish data go first, rather than many that
 * share a launch. The clock is made of what the graph and the links declare, so decisions do not
 * depend on what happens when.
 */
#include <math.h>

#include "tasks/policy/closure.h"

void closure_came(closure_t *c, int32_t memory, int32_t data)
{
    closure_memory_t *m = &c->memories[memory];
    double rate = c->view->transfer_rate[memory];

    if (!c->is_far || !m->copies[data].is_asked)
        return;
    m->copies[data].is_asked = false;
    if (rate <= 0 || isinf(m->clock))
        return;
    m->link = fmax(m->link, m->clock) + c->view->transfer_latency[memory] +
              (double)c->data[data].bytes / rate;
    m->copies[data].comes = m->link;
}

double closure_comes(const closure_t *c, xy_op_id_t op, int32_t memory)
{
    const closure_task_t *x = &c->tasks[op];
    const uint8_t *copies = c->view->copies[memory];
    double last = 0;

    for (int32_t i = 0; i < x->access_count; i++) {
        int32_t data = x->accesses[i].data;

        if (!(x->accesses[i].mode & XY_ACCESS_READ))
            continue;
        if (copies[data] != XY_TASK_HERE)
            return INFINITY;
        last = fmax(last, c->memories[memory].copies[data].comes);
    }
    return last;
}

void closure_begin(closure_t *c, int32_t memory, xy_op_id_t op)
{
    closure_memory_t *m = &c->memories[memory];
    double comes;

    if (!c->is_far || isinf(m->clock))
        return;
    comes = closure_comes(c, op, memory);
    if (isinf(comes)) /* it is loaded for this task */
        comes = m->link;
    m->clock = fmax(m->clock, comes) + c->tasks[op].seconds / m->speed;
}

void closure_wrote(closure_t *c, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];

    for (int32_t i = 0; i < x->access_count; i++) {
        closure_datum_t *datum = &c->data[x->accesses[i].data];

        if ((x->accesses[i].mode & XY_ACCESS_WRITE) && --datum->writers == 0 &&
            !xy_graph_data_at(c->graph, x->accesses[i].data)->is_scrap)
            c->unfinished -= (double)datum->bytes;
    }
}

bool closure_is_storing(const closure_t *c, int32_t memory)
{
    const closure_memory_t *m = &c->memories[memory];
    double rate = c->view->transfer_rate[memory * c->view->memories];

    return c->view->memories == 2 && closure_is_ending(c, memory) &&
           m->left / m->speed * rate < c->unfinished;
}
