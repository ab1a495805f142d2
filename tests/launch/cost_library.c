/* SPDX-License-Identifier: BSD-3-Clause */
/* 1 MiB of addresses, and with -DPLAIN 1 MiB of other data. */
enum { WORDS = 1 << 17 };

static int own;
int *cost_addresses[WORDS] = {[0 ... WORDS - 1] = &own};
#ifdef PLAIN
long cost_plain[WORDS] = {[0 ... WORDS - 1] = 7};
#endif

int cost_check(int index);

int cost_check(int index)
{
#ifdef PLAIN
    if (cost_plain[index] != 7)
        return 1;
#endif
    return cost_addresses[index] != &own;
}
