/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with thread-local variables of every kind that says what it does on stderr. */
#include <stdio.h>

static int target = 7;
_Thread_local int level = 3;                 /* the program's, too */
static _Thread_local int calls = 40;         /* local dynamic */
static _Thread_local int *pointer = &target; /* an address as initial value */
static _Thread_local char zero[100];
_Thread_local long exported[4] = {1, 2, 3, 4}; /* global dynamic */

/* A number that is right if all variables have seen this rank's (or this thread's) steps only. */
int locals_step(int by)
{
    calls += by;
    zero[99] = (char)(zero[99] + by);
    exported[3] += by;
    *pointer = 7;
    if (calls - 40 != zero[99] || exported[3] - 4 != zero[99] || pointer != &target)
        fprintf(stderr, "thread-local variables differ: %d %d %ld\n", calls, zero[99], exported[3]);
    return level * 1000 + calls;
}

int *locals_level(void)
{
    return &level;
}
