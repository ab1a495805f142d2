/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library: arithmetic, numbers from strings, memory. */
#include "program/c_library.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

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
OF_ONE(exp2)
OF_ONE(log1p)
OF_ONE(expm1)
OF_ONE(nearbyint)
OF_TWO(copysign)
OF_TWO(fdim)
OF_TWO(remainder)

#define OF_ONE_FLOAT(name)                                                                         \
    static int64_t run_##name(process_t *p, const int64_t *args)                                   \
    {                                                                                              \
        (void)p;                                                                                   \
        return real_cell((double)name((float)cell_real(args[0])));                                 \
    }
#define OF_TWO_FLOAT(name)                                                                         \
    static int64_t run_##name(process_t *p, const int64_t *args)                                   \
    {                                                                                              \
        (void)p;                                                                                   \
        return real_cell((double)name((float)cell_real(args[0]), (float)cell_real(args[1])));      \
    }

OF_ONE_FLOAT(sqrtf)
OF_ONE_FLOAT(cbrtf)
OF_ONE_FLOAT(expf)
OF_ONE_FLOAT(logf)
OF_ONE_FLOAT(log2f)
OF_ONE_FLOAT(log10f)
OF_ONE_FLOAT(fabsf)
OF_ONE_FLOAT(floorf)
OF_ONE_FLOAT(ceilf)
OF_ONE_FLOAT(roundf)
OF_ONE_FLOAT(truncf)
OF_TWO_FLOAT(powf)
OF_TWO_FLOAT(fmodf)
OF_TWO_FLOAT(fminf)
OF_TWO_FLOAT(fmaxf)

#define OF_CHAR(name)                                                                              \
    static int64_t run_##name(process_t *p, const int64_t *args)                                   \
    {                                                                                              \
        (void)p;                                                                                   \
        return name((unsigned char)args[0]);                                                       \
    }

OF_CHAR(isdigit)
OF_CHAR(isalpha)
OF_CHAR(isalnum)
OF_CHAR(isspace)
OF_CHAR(isupper)
OF_CHAR(islower)
OF_CHAR(isxdigit)
OF_CHAR(ispunct)
OF_CHAR(tolower)
OF_CHAR(toupper)

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
        process_fail(p, "lround() of a value that does not fit into a long");
        return 0;
    }
    return (int64_t)value;
}

static int64_t run_lrint(process_t *p, const int64_t *args)
{
    int64_t rounded = real_cell(rint(cell_real(args[0])));

    return run_lround(p, &rounded);
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

static int64_t run_strcasecmp(process_t *p, const int64_t *args)
{
    const char *a = process_string(p, (uint64_t)args[0]);
    const char *b = a != NULL ? process_string(p, (uint64_t)args[1]) : NULL;

    return b != NULL ? strcasecmp(a, b) : 0;
}

static int64_t run_strncasecmp(process_t *p, const int64_t *args)
{
    const char *a = process_string(p, (uint64_t)args[0]);
    const char *b = a != NULL ? process_string(p, (uint64_t)args[1]) : NULL;

    return b != NULL ? strncasecmp(a, b, (size_t)args[2]) : 0;
}

/* Where `found` in the string at the first argument is. */
static int64_t address_in(const int64_t *args, const char *s, const char *found)
{
    return found != NULL ? args[0] + (found - s) : 0;
}

static int64_t run_strchr(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return s != NULL ? address_in(args, s, strchr(s, (int)args[1])) : 0;
}

static int64_t run_strrchr(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return s != NULL ? address_in(args, s, strrchr(s, (int)args[1])) : 0;
}

static int64_t run_strstr(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);
    const char *t = s != NULL ? process_string(p, (uint64_t)args[1]) : NULL;

    return t != NULL ? address_in(args, s, strstr(s, t)) : 0;
}

/* A copy in memory of its own. */
static int64_t copy_string(process_t *p, const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = xy_strndup(s, size - 1); /* the memory of the process may move */
    uint64_t address = copy != NULL ? process_allocate(p, size) : 0;
    void *to = address != 0 ? process_at(p, address, size) : NULL;

    if (copy == NULL)
        process_fail_memory(p);
    if (to != NULL)
        memcpy(to, copy, size);
    xy_free(copy);
    return (int64_t)address;
}

static int64_t run_strdup(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[0]);

    return s != NULL ? copy_string(p, s) : 0;
}

/* The environment is what the prediction was given. */
static int64_t run_getenv(process_t *p, const int64_t *args)
{
    const char *name = process_string(p, (uint64_t)args[0]);
    size_t length = name != NULL ? strlen(name) : 0;

    for (size_t i = 0; name != NULL && i < p->config->env_count; i++)
        if (strncmp(p->config->env[i], name, length) == 0 && p->config->env[i][length] == '=')
            return copy_string(p, p->config->env[i] + length + 1);
    if (name != NULL && p->config->ops->unset != NULL)
        p->config->ops->unset(p, name);
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

    return (int64_t)process_allocate_cleared(
        p, size > 0 && count > UINT64_MAX / size ? UINT64_MAX : count * size);
}

static int64_t run_realloc(process_t *p, const int64_t *args)
{
    return (int64_t)process_reallocate(p, (uint64_t)args[0], (uint64_t)args[1]);
}

static int64_t run_free(process_t *p, const int64_t *args)
{
    process_release(p, (uint64_t)args[0]);
    return 0;
}

static int64_t run_malloc_usable_size(process_t *p, const int64_t *args)
{
    return (int64_t)process_room(p, (uint64_t)args[0]);
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

/* ---- Texts ---- */

/* Put a text of a known length, and its end, at an address. */
static int64_t put_text(process_t *p, uint64_t address, const char *s, size_t length)
{
    char *copy = xy_strndup(s, length); /* source and target may overlap */
    char *to = copy != NULL ? process_at(p, address, length + 1) : NULL;

    if (copy == NULL)
        process_fail_memory(p);
    if (to != NULL)
        memcpy(to, copy, length + 1);
    xy_free(copy);
    return (int64_t)address;
}

/* A text of at most `most` letters: it need not have an end there. NULL: said. */
static const char *text_at(process_t *p, uint64_t address, uint64_t most, size_t *length_p)
{
    for (size_t i = 0; i <= most; i++) {
        const char *s = i < most ? process_at(p, address + i, 1) : NULL;

        if (i < most && s == NULL)
            return NULL;
        if (i < most && (uint8_t)*s == PROCESS_BLANK) {
            process_fail_blank(p);
            return NULL;
        }
        if (i == most || *s == '\0') {
            *length_p = i;
            return i > 0 ? process_at(p, address, i) : "";
        }
    }
    return NULL;
}

static int64_t run_strcpy(process_t *p, const int64_t *args)
{
    const char *s = process_string(p, (uint64_t)args[1]);

    return s != NULL ? put_text(p, (uint64_t)args[0], s, strlen(s)) : 0;
}

static int64_t run_strncpy(process_t *p, const int64_t *args)
{
    size_t length = 0;
    const char *s = text_at(p, (uint64_t)args[1], (uint64_t)args[2], &length);
    char *to =
        s != NULL && args[2] > 0 ? process_at(p, (uint64_t)args[0], (uint64_t)args[2]) : NULL;

    if (to != NULL) {
        memmove(to, s, length);
        memset(to + length, 0, (size_t)args[2] - length);
    }
    return args[0];
}

static int64_t append_text(process_t *p, const int64_t *args, uint64_t most)
{
    size_t length = 0;
    const char *to = process_string(p, (uint64_t)args[0]);
    uint64_t at = to != NULL ? (uint64_t)args[0] + strlen(to) : 0;
    const char *s = to != NULL ? text_at(p, (uint64_t)args[1], most, &length) : NULL;

    if (s != NULL)
        put_text(p, at, s, length);
    return args[0];
}

static int64_t run_strcat(process_t *p, const int64_t *args)
{
    return append_text(p, args, UINT64_MAX);
}

static int64_t run_strncat(process_t *p, const int64_t *args)
{
    return append_text(p, args, (uint64_t)args[2]);
}

static int64_t run_strnlen(process_t *p, const int64_t *args)
{
    size_t length = 0;

    text_at(p, (uint64_t)args[0], (uint64_t)args[1], &length);
    return (int64_t)length;
}

static int64_t run_memcmp(process_t *p, const int64_t *args)
{
    const void *a = process_at(p, (uint64_t)args[0], (uint64_t)args[2]);
    const void *b = a != NULL ? process_at(p, (uint64_t)args[1], (uint64_t)args[2]) : NULL;

    if (b != NULL && args[2] > 0 &&
        (memchr(a, PROCESS_BLANK, (size_t)args[2]) != NULL ||
         memchr(b, PROCESS_BLANK, (size_t)args[2]) != NULL)) {
        process_fail_blank(p);
        return 0;
    }
    return b != NULL ? memcmp(a, b, (size_t)args[2]) : 0;
}

/* ---- The process ---- */

static int64_t run_exit(process_t *p, const int64_t *args)
{
    const process_ops_t *ops = p->config->ops;

    if (args[0] != 0 && ops->is_finalized != NULL && !ops->is_finalized(p))
        process_fail(p, "exit(%d) without MPI_Finalize: look at the arguments (--arg)",
                     (int)args[0]);
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
    {"sqrt", 'd', "d", run_sqrt},
    {"cbrt", 'd', "d", run_cbrt},
    {"exp", 'd', "d", run_exp},
    {"log", 'd', "d", run_log},
    {"log2", 'd', "d", run_log2},
    {"log10", 'd', "d", run_log10},
    {"sin", 'd', "d", run_sin},
    {"cos", 'd', "d", run_cos},
    {"tan", 'd', "d", run_tan},
    {"atan", 'd', "d", run_atan},
    {"fabs", 'd', "d", run_fabs},
    {"floor", 'd', "d", run_floor},
    {"ceil", 'd', "d", run_ceil},
    {"round", 'd', "d", run_round},
    {"trunc", 'd', "d", run_trunc},
    {"rint", 'd', "d", run_rint},
    {"pow", 'd', "dd", run_pow},
    {"fmod", 'd', "dd", run_fmod},
    {"fmin", 'd', "dd", run_fmin},
    {"fmax", 'd', "dd", run_fmax},
    {"hypot", 'd', "dd", run_hypot},
    {"atan2", 'd', "dd", run_atan2},
    {"abs", 'i', "i", run_abs},
    {"labs", 'l', "l", run_labs},
    {"llabs", 'l', "l", run_labs},
    {"lround", 'l', "d", run_lround},
    {"atoi", 'i', "p", run_atoi},
    {"atol", 'l', "p", run_atol},
    {"atoll", 'l', "p", run_atol},
    {"atof", 'd', "p", run_atof},
    {"strtol", 'l', "ppi", run_strtol},
    {"strtoll", 'l', "ppi", run_strtol},
    {"strtoul", 'u', "ppi", run_strtoul},
    {"strtoull", 'u', "ppi", run_strtoul},
    {"strtod", 'd', "pp", run_strtod},
    {"strcmp", 'i', "pp", run_strcmp},
    {"strncmp", 'i', "ppu", run_strncmp},
    {"strlen", 'u', "p", run_strlen},
    {"getenv", 'p', "p", run_getenv},
    {"getopt", 'i', "ipp", library_getopt},
    {"malloc", 'p', "u", run_malloc},
    {"calloc", 'p', "uu", run_calloc},
    {"free", 'v', "p", run_free},
    {"malloc_usable_size", 'u', "p", run_malloc_usable_size},
    {"memset", 'p', "piu", run_memset},
    {"memcpy", 'p', "ppu", run_memcpy},
    {"memmove", 'p', "ppu", run_memcpy},
    {"exp2", 'd', "d", run_exp2},
    {"log1p", 'd', "d", run_log1p},
    {"expm1", 'd', "d", run_expm1},
    {"nearbyint", 'd', "d", run_nearbyint},
    {"copysign", 'd', "dd", run_copysign},
    {"fdim", 'd', "dd", run_fdim},
    {"remainder", 'd', "dd", run_remainder},
    {"lrint", 'l', "d", run_lrint},
    {"llround", 'l', "d", run_lround},
    {"llrint", 'l', "d", run_lrint},
    {"lroundf", 'l', "d", run_lround},
    {"lrintf", 'l', "d", run_lrint},
    {"sqrtf", 'd', "d", run_sqrtf},
    {"cbrtf", 'd', "d", run_cbrtf},
    {"expf", 'd', "d", run_expf},
    {"logf", 'd', "d", run_logf},
    {"log2f", 'd', "d", run_log2f},
    {"log10f", 'd', "d", run_log10f},
    {"fabsf", 'd', "d", run_fabsf},
    {"floorf", 'd', "d", run_floorf},
    {"ceilf", 'd', "d", run_ceilf},
    {"roundf", 'd', "d", run_roundf},
    {"truncf", 'd', "d", run_truncf},
    {"powf", 'd', "dd", run_powf},
    {"fmodf", 'd', "dd", run_fmodf},
    {"fminf", 'd', "dd", run_fminf},
    {"fmaxf", 'd', "dd", run_fmaxf},
    {"isdigit", 'i', "i", run_isdigit},
    {"isalpha", 'i', "i", run_isalpha},
    {"isalnum", 'i', "i", run_isalnum},
    {"isspace", 'i', "i", run_isspace},
    {"isupper", 'i', "i", run_isupper},
    {"islower", 'i', "i", run_islower},
    {"isxdigit", 'i', "i", run_isxdigit},
    {"ispunct", 'i', "i", run_ispunct},
    {"tolower", 'i', "i", run_tolower},
    {"toupper", 'i', "i", run_toupper},
    {"strcasecmp", 'i', "pp", run_strcasecmp},
    {"strncasecmp", 'i', "ppu", run_strncasecmp},
    {"strchr", 'p', "pi", run_strchr},
    {"strrchr", 'p', "pi", run_strrchr},
    {"strstr", 'p', "pp", run_strstr},
    {"strdup", 'p', "p", run_strdup},
    {"realloc", 'p', "pu", run_realloc},
    {"getopt_long", 'i', "ipppp", library_getopt_long},
    {"sscanf", 'i', "pp.", library_sscanf},
    {"sprintf", 'i', "pp,", library_sprintf},
    {"snprintf", 'i', "pup,", library_snprintf},
    {"strcpy", 'p', "pp", run_strcpy},
    {"strncpy", 'p', "ppu", run_strncpy},
    {"strcat", 'p', "pp", run_strcat},
    {"strncat", 'p', "ppu", run_strncat},
    {"strnlen", 'u', "pu", run_strnlen},
    {"memcmp", 'i', "ppu", run_memcmp},
    {"exit", 'v', "i", run_exit},
    {"MPI_Wtime", 'd', "", run_wtime},
    {"MPI_Wtick", 'd', "", run_wtick},
};

int library_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
        if (strncmp(library[i].name, name, length) == 0 && library[i].name[length] == '\0')
            return (int)i;
    return -1;
}
