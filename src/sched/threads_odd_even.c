/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads, `odd-even`: consecutive ranks never share a core, for chains (scan, exscan).
 *
 * p cores, n ranks, rank r:  ceil((r mod (p - n) + 1) * p / (p - n)) - 1
 *
 * which are exactly the cores that `scatter` leaves free. p = 64, n = 62: even ranks on core 31,
 * odd ranks on core 63, so that the send of one and the receive of the next run together. With
 * ranks placed otherwise it is the communication core number r mod their count.
 */
#include "sched/threads_internal.h"

static xy_status_t place(const xy_threads_query_t *query, int *thread_of)
{
    for (int r = 0; r < query->ranks; r++)
        thread_of[r] =
            query->comm_count > 0 ? query->comm[r % query->comm_count] : query->core_of[r];
    return XY_OK;
}

const xy_threads_t sched_threads_odd_even = {
    .name = "odd-even",
    .describe = "consecutive ranks on different free cores; for scan and exscan",
    .is_usual = true,
    .place = place,
};
