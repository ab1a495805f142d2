/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that faults in pages of its own variable, in a function called NAME. */
static char room[512 << 10];

void NAME(void);

void NAME(void)
{
    for (volatile char *c = room; c < room + sizeof(room); c += 4096)
        *c = 1;
}
