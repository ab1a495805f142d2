/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/libc/device.h"

#include "fiber/fiber.h"
#include "mpi/launch/libc/block.h"

bool mpi_device_may_wait(void)
{
    return mpi_process_is_rank() && mpi_process_runtime.clock == NULL &&
           mpi_process_is_in_program(mpi_process_self) && !mpi_process_self->is_away;
}

/* Most kernels are short: look again after every turn of the other ranks. What takes longer is
 * looked at after an eighth of the time that it has taken, so that it ends at most that much late
 * and the core is free for others. The rank has a timer then, and no deadlock is suspected. */
void mpi_device_wait(bool (*is_over)(void *arg), void *arg)
{
    const double soon = 200e-6, longest = 1e-3;
    double begin = xy_now(), taken;
    unsigned looks = 0;

    while (!is_over(arg)) {
        if (!mpi_block_shares_core()) { /* no other rank needs the core */
            xy_back_off(&looks);
            continue;
        }
        taken = xy_now() - begin;
        if (taken < soon)
            mpi_rank_yield();
        else
            mpi_rank_sleep(taken / 8 < longest ? taken / 8 : longest);
    }
}
