/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/libc/device_wait.h"

#include "fiber/fiber.h"
#include "process/libc/block.h"

bool process_device_may_wait(void)
{
    return process_is_main() && process_runtime.clock == NULL &&
           process_is_in_program(process_self) && !process_self->is_away;
}

/* Most kernels are short: look again after every turn of the other processes. What takes longer is
 * looked at after an eighth of the time that it has taken, so that it ends at most that much late
 * and the core is free for others. The process has a timer then, and no deadlock is suspected. */
void process_device_wait(bool (*is_over)(void *arg), void *arg)
{
    const double soon = 200e-6, longest = 1e-3;
    double begin = xy_now(), taken;
    unsigned looks = 0;

    while (!is_over(arg)) {
        if (!process_block_shares_core()) { /* no other process needs the core */
            process_yield();                /* but those elsewhere may need what it has begun */
            xy_back_off(&looks);
            continue;
        }
        taken = xy_now() - begin;
        if (taken < soon)
            process_yield();
        else
            process_sleep(taken / 8 < longest ? taken / 8 : longest);
    }
}
