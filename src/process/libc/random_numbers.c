/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers and strtok: one state per process, with the numbers the C library would give to a
 * process of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

/* NULL: not a process, or no memory; the C library's shared state is used then. */
static process_random_t *state(void)
{
    process_t *process = process_self;

    if (process == NULL || process->random != NULL)
        return process != NULL ? process->random : NULL;
    process->random = xy_calloc(1, sizeof(*process->random));
    if (process->random != NULL)
        initstate_r(1, process->random->random_state, sizeof(process->random->random_state),
                    &process->random->random);
    return process->random;
}

XY_INTERPOSE long random(void)
{
    process_random_t *mine = state();
    int32_t value;

    if (mine == NULL)
        return XY_NEXT(random)();
    random_r(&mine->random, &value);
    return value;
}

XY_INTERPOSE int rand(void)
{
    return (int)random();
}

XY_INTERPOSE void srandom(unsigned seed)
{
    process_random_t *mine = state();

    if (mine != NULL)
        srandom_r(seed, &mine->random);
    else
        XY_NEXT(srandom)(seed);
}

XY_INTERPOSE void srand(unsigned seed)
{
    srandom(seed);
}

XY_INTERPOSE char *initstate(unsigned seed, char *buffer, size_t size)
{
    process_random_t *mine = state();
    char *old;

    if (mine == NULL)
        return XY_NEXT(initstate)(seed, buffer, size);
    old = (char *)(mine->random.state - 1);
    return initstate_r(seed, buffer, size, &mine->random) == 0 ? old : NULL;
}

XY_INTERPOSE char *setstate(char *buffer)
{
    process_random_t *mine = state();
    char *old;

    if (mine == NULL)
        return XY_NEXT(setstate)(buffer);
    old = (char *)(mine->random.state - 1);
    return setstate_r(buffer, &mine->random) == 0 ? old : NULL;
}

/* A function of the family drand48 and the one with a state of the caller: drand48() and
 * drand48_r(), erand48(x) and erand48_r(x, state). */
#define RAND48(type, from_state, from_numbers)                                                     \
    XY_INTERPOSE type from_state(void)                                                             \
    {                                                                                              \
        process_random_t *mine = state();                                                          \
        type value = 0;                                                                            \
                                                                                                   \
        if (mine == NULL)                                                                          \
            return XY_NEXT(from_state)();                                                          \
        from_state##_r(&mine->drand48, &value);                                                    \
        return value;                                                                              \
    }                                                                                              \
                                                                                                   \
    XY_INTERPOSE type from_numbers(unsigned short x[3])                                            \
    {                                                                                              \
        process_random_t *mine = state();                                                          \
        type value = 0;                                                                            \
                                                                                                   \
        if (mine == NULL)                                                                          \
            return XY_NEXT(from_numbers)(x);                                                       \
        from_numbers##_r(x, &mine->drand48, &value);                                               \
        return value;                                                                              \
    }

RAND48(double, drand48, erand48)
RAND48(long, lrand48, nrand48)
RAND48(long, mrand48, jrand48)

XY_INTERPOSE void srand48(long seed)
{
    process_random_t *mine = state();

    if (mine != NULL)
        srand48_r(seed, &mine->drand48);
    else
        XY_NEXT(srand48)(seed);
}

XY_INTERPOSE unsigned short *seed48(unsigned short seed[3])
{
    process_random_t *mine = state();

    if (mine == NULL)
        return XY_NEXT(seed48)(seed);
    seed48_r(seed, &mine->drand48);
    return mine->drand48.__old_x;
}

XY_INTERPOSE void lcong48(unsigned short parameters[7])
{
    process_random_t *mine = state();

    if (mine != NULL)
        lcong48_r(parameters, &mine->drand48);
    else
        XY_NEXT(lcong48)(parameters);
}

XY_INTERPOSE char *strtok(char *s, const char *delimiters)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(strtok)(s, delimiters);
    return strtok_r(s, delimiters, &process->strtok_rest);
}
