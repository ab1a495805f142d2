/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of the job that the head sends to each process. */
#include <math.h>

#include "launch/head.h"
#include "launch/launch.h"

/* Add the user's calibration of libraries that may carry messages. */
static void add_measured(const head_t *h, xy_text_t *text)
{
    xy_carrier_cost_t list[XY_CARRIERS_MAX];
    int count = xy_carriers_read(!h->is_local, list);

    node_field_add_number(text, count);
    for (int i = 0; i < count; i++) {
        node_field_add(text, list[i].name);
        node_field_add_number(text, (long)fmax(1, fmin(list[i].latency * 1e9, 1e15)));
        node_field_add_number(text, (long)fmax(1, fmin(list[i].bandwidth, 1e15)));
        node_field_add_number(text, (long)fmin(list[i].eager, 1e15));
    }
}

void head_make_job(const head_t *h, int process, xy_text_t *text)
{
    char secret[2 * XY_SECRET_BYTES + 1] = "";

    if (!head_needs_launcher(h))
        xy_secret_write(h->secret, secret);
    node_field_add_number(text, process);
    node_field_add_number(text, h->count);
    node_field_add(text, h->values->net);
    node_field_add(text, secret);
    node_field_add_number(text, h->is_local);
    node_field_add_number(text, h->shares_cores);
    node_field_add_number(text, h->is_input_sent);
    node_field_add_number(text, h->input_rank);
    node_field_add(text, h->processes[process].cores != NULL ? h->processes[process].cores : "");
    node_field_add(text, mpi_launch_adapt_plan());
    node_field_add_number(text, mpi_launch_adapt_counts());
    add_measured(h, text);
    for (int i = 0; i < h->count; i++) {
        node_field_add(text, h->processes[i].host);
        node_field_add_number(text, h->processes[i].ranks);
    }
    for (int r = 0; r < h->size && h->process_of != NULL; r++) {
        node_field_add_number(text, h->process_of[r]);
        node_field_add_number(text, h->slot_of[r]);
    }
}
