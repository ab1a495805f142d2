/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library: arithmetic, numbers from strings, memory. */
#include "program/library.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define OF_ONE(name)                                                                               \
    static int64_t run_##name(process_t *p, const int64_t *args)                                   \
    {                                                                                              \
        (void)p;                                                                                   \
        return real_cell(name(cell_real(args[0])));                                                \
    }
#define OF_TWO(name)                                                                               \
    static int64_t run_##name(process_t *p, const int64_t *args)                                   \
    {                                                                                              \
        (void)p;                                                                                   \
        return real_cell(name(cell_real(args[0]), cell_real(args[1])));                            \
    }

OF_ONE(sqrt)
OF_ONE(cbrt)
OF_ONE(exp)
OF_ONE(log)
OF_ONE(log2)
OF_ONE(log10)
OF_ONE(sin)
OF_ONE(cos)
OF_ONE(tan)
OF_ONE(atan)
OF_ONE(fabs)
OF_ONE(floor)
OF_ONE(ceil)
OF_ONE(round)
OF_ONE(trunc)
OF_ONE(rint)
OF_TWO(pow)
OF_TWO(fmod)
OF_TWO(fmin)
OF_TWO(fmax)
OF_TWO(hypot)
OF_TWO(atan2)

static int64_t run_abs(process_t *p, const int64_t *args)
{
    (void)p;
    return args[0] < 0 ? (int32_t)(0 - (uint32_t)args[0]) : args[0];
}

static int64_t run_labs(process_t *p, const int64_t *args)
{
    (void)p;
    return args[0] < 0 ? (int64_t)(0 - (uint64_t)args[0]) : args[0];
}

static int64_t run_lround(process_t *p, const int64_t *args)
{
    double value = round(cell_real(args[0]));

    if (!(value > -9e18 && value < 9e18)) {
        process_fail(p, "lround() of what no long holds");
        return 0;
    }
    return (int64_t)value;
}

/* ---- Numbers from strings ---- */

static int64_t run_atoi(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return s != NULL ? (int32_t)strtol(s, NULL, 10) : 0;
}

static int64_t run_atol(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return s != NULL ? strtol(s, NULL, 10) : 0;
}

static int64_t run_atof(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return real_cell(s != NULL ? strtod(s, NULL) : 0);
}

/* Where the number ended goes to the pointer that the second argument points to. */
static void set_end(process_t *p, uint64_t at, uint64_t string, const char *s, const char *end)
{
    uint64_t address = string + (uint64_t)(end - s);
    void *to = at != 0 ? process_at(p, at, 8) : NULL;

    if (to != NULL)
        memcpy(to, &address, 8);
}

static int64_t run_strtol(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);
    char *end;
    int64_t value;

    if (s == NULL || args[2] < 0 || args[2] == 1 || args[2] > 36)
        return 0;
    value = strtol(s, &end, (int)args[2]);
    set_end(p, (uint64_t)args[1], (uint64_t)args[0], s, end);
    return value;
}

static int64_t run_strtoul(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);
    char *end;
    uint64_t value;

    if (s == NULL || args[2] < 0 || args[2] == 1 || args[2] > 36)
        return 0;
    value = strtoul(s, &end, (int)args[2]);
    set_end(p, (uint64_t)args[1], (uint64_t)args[0], s, end);
    return (int64_t)value;
}

static int64_t run_strtod(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);
    char *end;
    double value;

    if (s == NULL)
        return 0;
    value = strtod(s, &end);
    set_end(p, (uint64_t)args[1], (uint64_t)args[0], s, end);
    return real_cell(value);
}

static int64_t run_strcmp(process_t *p, const int64_t *args)
{
    const char *a = process_string(p, (uint64_t)args[0]);
    const char *b = a != NULL ? process_string(p, (uint64_t)args[1]) : NULL;

    return b != NULL ? strcmp(a, b) : 0;
}

static int64_t run_strncmp(process_t *p, const int64_t *args)
{
    const char *a = process_string(p, (uint64_t)args[0]);
    const char *b = a != NULL ? process_string(p, (uint64_t)args[1]) : NULL;

    return b != NULL ? strncmp(a, b, (size_t)args[2]) : 0;
}

static int64_t run_strlen(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return s != NULL ? (int64_t)strlen(s) : 0;
}

/* There is no environment: a prediction does not depend on it. */
static int64_t run_getenv(process_t *p, const int64_t *args)
{
    (void)p, (void)args;
    return 0;
}

/* ---- Memory ---- */

static int64_t run_malloc(process_t *p, const int64_t *args)
{
    return (int64_t)process_allocate(p, (uint64_t)args[0]);
}

static int64_t run_calloc(process_t *p, const int64_t *args)
{
    uint64_t count = (uint64_t)args[0], size = (uint64_t)args[1];

    return (int64_t)process_allocate(p, size > 0 && count > UINT64_MAX / size ? UINT64_MAX
                                                                              : count * size);
}

static int64_t run_free(process_t *p, const int64_t *args)
{
    process_release(p, (uint64_t)args[0]);
    return 0;
}

static int64_t run_memset(process_t *p, const int64_t *args)
{
    void *to = process_at(p, (uint64_t)args[0], (uint64_t)args[2]);

    if (to != NULL)
        memset(to, (int)args[1], (size_t)args[2]);
    return args[0];
}

static int64_t run_memcpy(process_t *p, const int64_t *args)
{
    void *to = process_at(p, (uint64_t)args[0], (uint64_t)args[2]);
    const void *from = to != NULL ? process_at(p, (uint64_t)args[1], (uint64_t)args[2]) : NULL;

    if (from != NULL)
        memmove(to, from, (size_t)args[2]);
    return args[0];
}

/* ---- The process ---- */

static int64_t run_exit(process_t *p, const int64_t *args)
{
    (void)args;
    p->is_over = true;
    return 0;
}

static int64_t run_wtime(process_t *p, const int64_t *args)
{
    (void)args;
    return real_cell(p->config->ops->now(p));
}

static int64_t run_wtick(process_t *p, const int64_t *args)
{
    (void)p, (void)args;
    return real_cell(1e-9);
}

const library_t library[] = {
    {"sqrt", 'd', "d", run_sqrt},         {"cbrt", 'd', "d", run_cbrt},
    {"exp", 'd', "d", run_exp},           {"log", 'd', "d", run_log},
    {"log2", 'd', "d", run_log2},         {"log10", 'd', "d", run_log10},
    {"sin", 'd', "d", run_sin},           {"cos", 'd', "d", run_cos},
    {"tan", 'd', "d", run_tan},           {"atan", 'd', "d", run_atan},
    {"fabs", 'd', "d", run_fabs},         {"floor", 'd', "d", run_floor},
    {"ceil", 'd', "d", run_ceil},         {"round", 'd', "d", run_round},
    {"trunc", 'd', "d", run_trunc},       {"rint", 'd', "d", run_rint},
    {"pow", 'd', "dd", run_pow},          {"fmod", 'd', "dd", run_fmod},
    {"fmin", 'd', "dd", run_fmin},        {"fmax", 'd', "dd", run_fmax},
    {"hypot", 'd', "dd", run_hypot},      {"atan2", 'd', "dd", run_atan2},
    {"abs", 'i', "i", run_abs},           {"labs", 'l', "l", run_labs},
    {"llabs", 'l', "l", run_labs},        {"lround", 'l', "d", run_lround},
    {"atoi", 'i', "p", run_atoi},         {"atol", 'l', "p", run_atol},
    {"atoll", 'l', "p", run_atol},        {"atof", 'd', "p", run_atof},
    {"strtol", 'l', "ppi", run_strtol},   {"strtoll", 'l', "ppi", run_strtol},
    {"strtoul", 'u', "ppi", run_strtoul}, {"strtoull", 'u', "ppi", run_strtoul},
    {"strtod", 'd', "pp", run_strtod},    {"strcmp", 'i', "pp", run_strcmp},
    {"strncmp", 'i', "ppu", run_strncmp}, {"strlen", 'u', "p", run_strlen},
    {"getenv", 'p', "p", run_getenv},     {"getopt", 'i', "ipp", library_getopt},
    {"malloc", 'p', "u", run_malloc},     {"calloc", 'p', "uu", run_calloc},
    {"free", 'v', "p", run_free},         {"memset", 'p', "piu", run_memset},
    {"memcpy", 'p', "ppu", run_memcpy},   {"memmove", 'p', "ppu", run_memcpy},
    {"exit", 'v', "i", run_exit},         {"MPI_Wtime", 'd', "", run_wtime},
    {"MPI_Wtick", 'd', "", run_wtick},
};

int library_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
        if (strncmp(library[i].name, name, length) == 0 && library[i].name[length] == '\0')
            return (int)i;
    return -1;
}
