/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in. -DUSES uses a function and variables of the program that loads it; without, it has
 * thread-local variables of its own only. */
#include <stdio.h>

static _Thread_local int steps = 70;
static int calls;
static const char *ends = "";

int plugin_run(int by);

#ifdef USES
extern int program_value;
extern _Thread_local int program_local;
int program_add(int to);

static __attribute__((constructor)) void begin(void)
{
    calls = program_value; /* the constructor sees the rank's program */
}

static __attribute__((destructor)) void end(void)
{
    printf("%splug-in of %d ends\n", ends, program_value);
}

int plugin_run(int by)
{
    calls++;
    steps += by;
    program_local++;
    ends = calls == program_value + 2 ? "" : "wrong: ";
    return program_add(steps);
}
#else
int plugin_run(int by)
{
    (void)calls;
    (void)ends;
    steps += by;
    return steps;
}
#endif
