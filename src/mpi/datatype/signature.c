/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sequence is a list of runs of one element. Its shortest part that gives it when it is repeated
 * (its root) is found among the runs; the last run and the first are one where they meet.
 */
#include "mpi/datatype/signature.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "mpi/datatype/type_build.h"

enum {
    RUNS_MOST = 4096,         /* of one signature */
    RUNS_ALL = 1 << 20,       /* of all that are kept */
    NUMBERS = 1 << 16,        /* they have two bytes in a packet */
    BYTE = XMPI_SIGNATURE_ANY /* the element that is like any other */
};

#define PLACE(id) ((uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST)

/* No padding: lists of them are compared as bytes. */
typedef struct {
    uint64_t element; /* place in mpi_type_table, of one type for all that are alike */
    uint64_t count;
} run_t;

typedef struct sequence {
    size_t runs;
    uint64_t bytes;
    struct sequence *next; /* with the same hash */
    uint16_t number;
    run_t run[];
} sequence_t;

/* Numbers are given with the lock held, and published before they are. */
static struct {
    pthread_mutex_t lock;
    xy_hash_t by_hash;
    size_t used, runs;
    sequence_t *_Atomic of[NUMBERS];
} table = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .by_hash = {.kind = XY_HASH_U64}, .used = XMPI_TYPE_TABLE};

/* ---- Predefined types -------------------------------------------------------------------- */

static const struct {
    uint8_t first, second; /* elements; the second is 0 where there is none */
} elements_of_kind[XMPI_BASIC_KINDS] = {
    [XMPI_BASIC_INT8] = {PLACE(CHAR), 0},
    [XMPI_BASIC_INT16] = {PLACE(SHORT), 0},
    [XMPI_BASIC_INT32] = {PLACE(INT), 0},
    [XMPI_BASIC_INT64] = {PLACE(INT64_T), 0},
    [XMPI_BASIC_INT128] = {PLACE(INTEGER16), 0},
    [XMPI_BASIC_UINT8] = {PLACE(CHAR), 0},
    [XMPI_BASIC_UINT16] = {PLACE(SHORT), 0},
    [XMPI_BASIC_UINT32] = {PLACE(INT), 0},
    [XMPI_BASIC_UINT64] = {PLACE(INT64_T), 0},
    [XMPI_BASIC_FLOAT16] = {PLACE(REAL2), 0},
    [XMPI_BASIC_FLOAT] = {PLACE(FLOAT), 0},
    [XMPI_BASIC_DOUBLE] = {PLACE(DOUBLE), 0},
    [XMPI_BASIC_LONG_DOUBLE] = {PLACE(LONG_DOUBLE), 0},
    [XMPI_BASIC_FLOAT128] = {PLACE(REAL16), 0},
    [XMPI_BASIC_COMPLEX16] = {PLACE(REAL2), PLACE(REAL2)},
    [XMPI_BASIC_COMPLEX_FLOAT] = {PLACE(FLOAT), PLACE(FLOAT)},
    [XMPI_BASIC_COMPLEX_DOUBLE] = {PLACE(DOUBLE), PLACE(DOUBLE)},
    [XMPI_BASIC_COMPLEX_LONG_DOUBLE] = {PLACE(LONG_DOUBLE), PLACE(LONG_DOUBLE)},
    [XMPI_BASIC_COMPLEX128] = {PLACE(REAL16), PLACE(REAL16)},
    [XMPI_BASIC_BOOL] = {PLACE(LOGICAL1), 0},
    [XMPI_BASIC_LOGICAL8] = {PLACE(LOGICAL1), 0},
    [XMPI_BASIC_LOGICAL16] = {PLACE(LOGICAL2), 0},
    [XMPI_BASIC_LOGICAL32] = {PLACE(LOGICAL4), 0},
    [XMPI_BASIC_LOGICAL64] = {PLACE(LOGICAL8), 0},
    [XMPI_BASIC_LOGICAL128] = {PLACE(LOGICAL16), 0},
    [XMPI_BASIC_FLOAT_INT] = {PLACE(FLOAT), PLACE(INT)},
    [XMPI_BASIC_DOUBLE_INT] = {PLACE(DOUBLE), PLACE(INT)},
    [XMPI_BASIC_LONG_INT] = {PLACE(INT64_T), PLACE(INT)},
    [XMPI_BASIC_2INT] = {PLACE(INT), PLACE(INT)},
    [XMPI_BASIC_SHORT_INT] = {PLACE(SHORT), PLACE(INT)},
    [XMPI_BASIC_LONG_DOUBLE_INT] = {PLACE(LONG_DOUBLE), PLACE(INT)},
    [XMPI_BASIC_2FLOAT] = {PLACE(FLOAT), PLACE(FLOAT)},
    [XMPI_BASIC_2DOUBLE] = {PLACE(DOUBLE), PLACE(DOUBLE)},
};
_Static_assert(sizeof(long) == sizeof(int64_t), "MPI_LONG_INT begins with 64 bits");

static size_t element_size(uint64_t element)
{
    return element == BYTE ? 1 : mpi_type_table[element].size;
}

/* The contents of a signature; `own` is room for that of a predefined type. */
typedef struct {
    const run_t *run;
    size_t runs;
    uint64_t bytes;
} view_t;

static view_t view_predefined(const mpi_type_t *type, run_t own[2])
{
    uint64_t first = elements_of_kind[type->basic].first;
    uint64_t second = elements_of_kind[type->basic].second;

    if (type->basic == XMPI_BASIC_CHARACTER) /* text of one byte, and wchar_t */
        first = type->size == 1 ? PLACE(CHAR) : PLACE(INT);
    own[0] = (run_t){first, 1};
    own[1] = (run_t){second, 1};
    if (second == 0 || second == first)
        return (view_t){own, 1, element_size(first)};
    return (view_t){own, 2, element_size(first) + element_size(second)};
}

static view_t view(uint16_t signature, run_t own[2])
{
    const sequence_t *s;

    if (signature == XMPI_SIGNATURE_ANY) {
        own[0] = (run_t){BYTE, 1};
        return (view_t){own, 1, 1};
    }
    if (signature < XMPI_TYPE_TABLE)
        return view_predefined(&mpi_type_table[signature], own);
    s = atomic_load_explicit(&table.of[signature], memory_order_acquire);
    return (view_t){s->run, s->runs, s->bytes};
}

/* ---- Comparing --------------------------------------------------------------------------- */

typedef struct {
    view_t of;
    size_t i;
    uint64_t left; /* bytes of run i */
} cursor_t;

static void next_run(cursor_t *c)
{
    c->left = c->of.run[c->i].count * element_size(c->of.run[c->i].element);
}

static void advance(cursor_t *c, uint64_t bytes)
{
    c->left -= bytes;
    if (c->left > 0)
        return;
    c->i = (c->i + 1) % c->of.runs;
    next_run(c);
}

/* Two sequences, repeated, that agree as far as both are long agree everywhere. */
static bool compare(view_t a, view_t b, uint64_t bytes)
{
    uint64_t most = a.bytes + b.bytes, n;
    cursor_t x = {.of = a}, y = {.of = b};

    next_run(&x);
    next_run(&y);
    for (bytes = bytes < most ? bytes : most; bytes > 0; bytes -= n) {
        uint64_t p = x.of.run[x.i].element, q = y.of.run[y.i].element;

        if (p != q && p != BYTE && q != BYTE)
            return false;
        n = x.left < y.left ? x.left : y.left;
        /* A run repeated is as long as any. */
        if (x.of.runs == 1)
            n = y.of.runs == 1 ? bytes : y.left;
        else if (y.of.runs == 1)
            n = x.left;
        n = n < bytes ? n : bytes;
        if (x.of.runs > 1)
            advance(&x, n);
        if (y.of.runs > 1)
            advance(&y, n);
    }
    return true;
}

bool mpi_signatures_match(uint16_t a, uint16_t b, uint64_t bytes)
{
    run_t own_a[2], own_b[2];

    if (a == b || a == XMPI_SIGNATURE_ANY || b == XMPI_SIGNATURE_ANY)
        return true;
    return compare(view(a, own_a), view(b, own_b), bytes);
}

bool mpi_signatures_are_equal(uint16_t a, uint16_t b)
{
    run_t own_a[2], own_b[2];
    view_t x, y;

    if (a == b)
        return true;
    x = view(a, own_a);
    y = view(b, own_b);
    return x.runs == y.runs && memcmp(x.run, y.run, x.runs * sizeof(*x.run)) == 0;
}

const mpi_type_t *mpi_elements_next(mpi_elements_t *e)
{
    run_t own[2];
    view_t v = view(e->signature, own);
    uint64_t element = v.run[e->run].element;

    if (++e->done == v.run[e->run].count) {
        e->done = 0;
        e->run = (e->run + 1) % v.runs;
    }
    return element != BYTE ? &mpi_type_table[element] : NULL;
}

/* ---- The signature of a struct ----------------------------------------------------------- */

typedef struct {
    run_t *run; /* [RUNS_MOST + 1] */
    size_t runs;
} draft_t;

/* False: too long. */
static bool append(draft_t *draft, uint64_t element, uint64_t count)
{
    run_t *last = draft->run + draft->runs - 1;

    if (count == 0)
        return true;
    if (draft->runs > 0 && last->element == element) {
        last->count += count;
        return true;
    }
    if (draft->runs == RUNS_MOST)
        return false;
    draft->run[draft->runs++] = (run_t){element, count};
    return true;
}

/* Append the sequence of a type, repeated; false if the draft has no room. */
static bool append_part(draft_t *draft, const mpi_type_t *part, size_t times)
{
    run_t own[2];
    view_t v = view(part->signature, own);
    uint64_t bytes = part->size * times;

    if (v.runs == 1)
        return append(draft, v.run[0].element, bytes / element_size(v.run[0].element));
    for (uint64_t n = bytes / v.bytes; n > 0; n--)
        for (size_t i = 0; i < v.runs; i++)
            if (!append(draft, v.run[i].element, v.run[i].count))
                return false;
    return true;
}

/* The shortest list that gives these runs when it is repeated. */
static size_t period(const run_t *run, size_t n)
{
    for (size_t p = 1; p <= n / 2; p++)
        if (n % p == 0 && memcmp(run, run + p, (n - p) * sizeof(*run)) == 0)
            return p;
    return n;
}

/* Shorten to the root. Where the last run continues in the first of the next repetition, the
 * sequence is looked at from there on. */
static void shorten(draft_t *draft)
{
    run_t last = draft->run[draft->runs - 1];
    size_t p;

    if (draft->runs == 1) {
        draft->run[0].count = 1;
        return;
    }
    if (last.element != draft->run[0].element) {
        draft->runs = period(draft->run, draft->runs);
        return;
    }
    draft->run[0].count += last.count;
    p = period(draft->run, draft->runs - 1);
    draft->run[0].count -= last.count;
    draft->run[p] = last;
    draft->runs = p + 1;
}

static uint64_t hash_of(const draft_t *draft)
{
    uint64_t hash = draft->runs;

    for (size_t i = 0; i < draft->runs; i++)
        hash = xy_hash_u64(xy_hash_u64(hash ^ draft->run[i].element) + draft->run[i].count);
    return hash;
}

static sequence_t *sequence_new(const draft_t *draft)
{
    sequence_t *s = xy_malloc(sizeof(*s) + draft->runs * sizeof(*s->run));

    if (s == NULL)
        return NULL;
    *s = (sequence_t){.runs = draft->runs};
    memcpy(s->run, draft->run, draft->runs * sizeof(*s->run));
    for (size_t i = 0; i < s->runs; i++)
        s->bytes += s->run[i].count * element_size(s->run[i].element);
    return s;
}

/* The rest is called with the lock held. */
static uint16_t add(const draft_t *draft, uint64_t hash, sequence_t *others)
{
    sequence_t *s;

    if (table.used == NUMBERS || table.runs + draft->runs > RUNS_ALL)
        return XMPI_SIGNATURE_ANY;
    s = sequence_new(draft);
    if (s == NULL)
        return XMPI_SIGNATURE_ANY;
    s->next = others;
    s->number = (uint16_t)table.used;
    if (xy_hash_set(&table.by_hash, hash, s) != XY_OK) {
        xy_free(s);
        return XMPI_SIGNATURE_ANY;
    }
    /* Pairs with the acquire in view(). */
    atomic_store_explicit(&table.of[s->number], s, memory_order_release);
    table.used++;
    table.runs += s->runs;
    return s->number;
}

static uint16_t number_of(const draft_t *draft)
{
    uint64_t hash = hash_of(draft);
    sequence_t *others = xy_hash_get(&table.by_hash, hash);

    for (const sequence_t *s = others; s != NULL; s = s->next)
        if (s->runs == draft->runs && memcmp(s->run, draft->run, s->runs * sizeof(*s->run)) == 0)
            return s->number;
    return add(draft, hash, others);
}

uint16_t mpi_signature_of_parts(const mpi_type_t *type)
{
    draft_t draft = {.run = xy_malloc((RUNS_MOST + 1) * sizeof(run_t))};
    bool fits = draft.run != NULL;
    uint16_t number = XMPI_SIGNATURE_ANY;
    const mpi_type_t *part;
    size_t times;

    for (size_t i = 0; fits && mpi_type_part(type, i, &part, &times); i++)
        fits = append_part(&draft, part, times);
    if (fits && draft.runs > 0) {
        shorten(&draft);
        pthread_mutex_lock(&table.lock);
        number = number_of(&draft);
        pthread_mutex_unlock(&table.lock);
    }
    xy_free(draft.run);
    return number;
}

/* ---- Text -------------------------------------------------------------------------------- */

const char *mpi_signature_describe(uint16_t signature, char text[XMPI_SIGNATURE_TEXT])
{
    enum { SHOWN = 6 };
    run_t own[2];
    view_t v = view(signature, own);
    size_t at = 1;

    if (signature < XMPI_TYPE_TABLE) {
        snprintf(text, XMPI_SIGNATURE_TEXT, "%s",
                 signature == XMPI_SIGNATURE_ANY ? "MPI_BYTE" : mpi_type_table[signature].name);
        return text;
    }
    text[0] = '(';
    for (size_t i = 0; i < v.runs && i < SHOWN; i++) {
        const char *name =
            v.run[i].element == BYTE ? "MPI_BYTE" : mpi_type_table[v.run[i].element].name;

        if (i > 0)
            at += (size_t)snprintf(text + at, XMPI_SIGNATURE_TEXT - at, ", ");
        if (v.run[i].count > 1)
            at += (size_t)snprintf(text + at, XMPI_SIGNATURE_TEXT - at, "%llu ",
                                   (unsigned long long)v.run[i].count);
        at += (size_t)snprintf(text + at, XMPI_SIGNATURE_TEXT - at, "%s", name);
    }
    snprintf(text + at, XMPI_SIGNATURE_TEXT - at, v.runs > SHOWN ? ", ...)" : ")");
    return text;
}
