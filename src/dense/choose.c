/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choose the fastest algorithm here: predictions for xylem_choose(). Rank 0 keeps the machine and
 * the predictions of its last calls, with MPI_COMM_SELF, until MPI_Finalize: a program that
 * multiplies matrices of one size again and again predicts once.
 *
 * Predictions take at most a small part of the time of all calls: for small ones on many ranks
 * they wait until enough has been computed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dense/dense.h"

/* ---- What is kept ---- */

enum { KEPT = 16 };

typedef struct {
    const dense_routine_t *routine;
    dense_size_t size;
    int block;
    uint64_t speeds; /* and the rest of the options: a hash */
    double speed;    /* of the ranks, where none are given */
    double seconds[DENSE_ALGORITHMS_MAX];
    double took;   /* to predict them, processor time */
    bool is_final; /* nothing is to be simulated any more */
} known_t;

typedef struct {
    bool is_open;
    uint64_t options; /* of the place: a hash */
    dense_place_t place;
    known_t known[KEPT];
    int next;
    double ran, spent; /* seconds of all products and of all predictions */
} kept_t;

static int free_kept(MPI_Comm comm, int key, void *value, void *extra)
{
    kept_t *kept = value;

    (void)comm, (void)key, (void)extra;
    if (kept->is_open)
        dense_place_close(&kept->place);
    free(kept);
    return MPI_SUCCESS;
}

/* Returns the state kept with MPI_COMM_SELF until MPI_Finalize; NULL without memory. */
static kept_t *find_kept(void)
{
    static int key = MPI_KEYVAL_INVALID;
    kept_t *kept = NULL;
    int is_there = 0;

    if (key == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_kept, &key, NULL);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &kept, &is_there);
    if (is_there)
        return kept;
    kept = calloc(1, sizeof(*kept));
    if (kept != NULL)
        MPI_Comm_set_attr(MPI_COMM_SELF, key, kept);
    return kept;
}

static uint64_t hash(uint64_t h, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return text != NULL ? hash(h, text, strlen(text) + 1) : h + 1;
}

static uint64_t hash_place(const xylem_matmul_options *o, int ranks)
{
    uint64_t h = hash(UINT64_C(0xcbf29ce484222325), &ranks, sizeof(ranks));

    h = hash(h, &o->latency, sizeof(o->latency));
    h = hash(h, &o->bandwidth, sizeof(o->bandwidth));
    return hash_text(hash_text(h, o->machine), o->costs);
}

/* The machine of the options; NULL on failure (reported). */
static dense_place_t *find_place(kept_t *kept, const dense_t *p, const xylem_matmul_options *o)
{
    uint64_t h = hash_place(o, p->ranks);

    if (kept->is_open && kept->options == h)
        return &kept->place;
    if (kept->is_open)
        dense_place_close(&kept->place);
    memset(kept->known, 0, sizeof(kept->known));
    kept->options = h;
    kept->is_open = dense_place_open(o, p->ranks, &kept->place);
    return kept->is_open ? &kept->place : NULL;
}

static uint64_t hash_speeds(const dense_t *p, const xylem_matmul_options *o)
{
    uint64_t h = o->speeds != NULL ? hash(1, p->speeds, (size_t)p->ranks * sizeof(*p->speeds)) : 2;

    h = hash(h, &p->sum, sizeof(p->sum));
    h = hash(h, &o->seconds, sizeof(o->seconds));
    if (o->seconds != NULL)
        h = hash(h, &o->arg, sizeof(o->arg));
    return h + (o->kernel != NULL);
}

static known_t *find_known(kept_t *kept, const dense_t *p, const xylem_matmul_options *o)
{
    uint64_t h = hash_speeds(p, o);

    if (!kept->is_open || kept->options != hash_place(o, p->ranks))
        return NULL;
    for (known_t *k = kept->known; k < kept->known + KEPT; k++)
        if (k->routine == p->routine && k->size.m == p->size.m && k->size.n == p->size.n &&
            k->size.k == p->size.k && k->block == p->block && k->speeds == h)
            return k;
    return NULL;
}

static double share_of(const xylem_matmul_options *o)
{
    return o->share > 0 ? o->share : 0.01;
}

static double own_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NULL on failure (reported). */
static known_t *predict(kept_t *kept, dense_t *p, const xylem_matmul_options *o)
{
    double start = own_seconds();
    const dense_place_t *place = find_place(kept, p, o);
    known_t *k = &kept->known[kept->next];

    if (place == NULL)
        return NULL;
    kept->next = (kept->next + 1) % KEPT;
    *k = (known_t){
        .routine = p->routine, .size = p->size, .block = p->block, .speeds = hash_speeds(p, o)};
    dense_take_model(p, o, place);
    k->speed = p->speeds[0];
    dense_estimate_all(p, place, k->seconds);
    k->is_final = !dense_is_close(place, k->seconds, p->routine->count);
    k->took = own_seconds() - start;
    kept->spent += k->took;
    return k;
}

/* Simulate the closest candidates once that, too, is a small part of all products: it takes about
 * TIMES as long as the pass did. */
static void refine(kept_t *kept, const dense_t *p, const xylem_matmul_options *o, known_t *k)
{
    enum { TIMES = 3 };
    double start = own_seconds(), least = INFINITY;

    for (int i = 0; i < p->routine->count; i++)
        if (k->seconds[i] > 0)
            least = fmin(least, k->seconds[i]);
    if (k->is_final || kept->spent + TIMES * k->took > share_of(o) * (kept->ran + least))
        return;
    dense_refine(p, &kept->place, k->seconds);
    k->is_final = true;
    kept->spent += own_seconds() - start;
}

static double sum_speeds(const dense_t *p)
{
    double speed = 0;

    for (int i = 0; i < p->ranks; i++)
        speed += p->speeds[i];
    return speed;
}

/* Whether a prediction takes a small part of the products that were computed and of this one, of
 * which only the sum of all work and the way out of rank 0 is known. */
static bool is_worth_it(const kept_t *kept, const dense_t *p, const xylem_matmul_options *o)
{
    static const double of_message = 2e-6;
    double least = p->routine->operations(&p->size) / sum_speeds(p) +
                   8 * p->routine->elements(&p->size) * p->per_byte;

    return kept->spent + of_message * p->routine->messages(p) <= share_of(o) * (kept->ran + least);
}

/* Without a prediction: the algorithm of few messages for calls between nodes in which a rank's
 * part, its work and its rows and columns, takes less than so many messages; the one that is the
 * best most often for the rest. */
static int guess(const kept_t *kept, const dense_t *p, const xylem_matmul_options *o)
{
    static const double messages = 8;
    const dense_routine_t *routine = p->routine;
    bool is_known = kept->is_open && kept->place.is_uniform;
    double latency = is_known ? kept->place.latency : o->latency > 0 ? o->latency : DENSE_LATENCY;
    double per_byte = is_known ? kept->place.per_byte : p->per_byte;
    double part = routine->operations(&p->size) / sum_speeds(p) +
                  8 * routine->elements(&p->size) / sqrt(p->ranks) * per_byte;
    bool is_network = is_known || o->latency > 0 || o->bandwidth > 0;
    int few = dense_find(routine, routine->few);

    return is_network && p->ranks >= routine->algorithms[few]->least && part < messages * latency
               ? few
               : dense_find(routine, routine->usual);
}

/* ---- Choosing ---- */

/* The problem that xylem_choose() is asked, with what it points to. */
struct dense_choice {
    kept_t *kept;
    double seconds[DENSE_ALGORITHMS_MAX];
    xylem_parameter parameters[4];
    xylem_alternative alternatives[DENSE_ALGORITHMS_MAX];
    xylem_problem problem;
    xylem_choice choice;
};

#define SECONDS_OF(number)                                                                         \
    static double seconds_##number(void *arg)                                                      \
    {                                                                                              \
        return ((const dense_choice_t *)arg)->seconds[number];                                     \
    }
SECONDS_OF(0)
SECONDS_OF(1)
SECONDS_OF(2)
SECONDS_OF(3)
SECONDS_OF(4)

/* Fills the problem with parameters and alternatives for xylem_choose(). */
static void fill(const dense_t *p, dense_choice_t *q)
{
    static double (*const seconds[DENSE_ALGORITHMS_MAX])(void *) = {seconds_0, seconds_1, seconds_2,
                                                                    seconds_3, seconds_4};
    const double values[] = {p->size.m, p->size.n, p->size.k};
    int count = 0;

    for (; count < 3 && p->routine->sizes[count] != NULL; count++)
        q->parameters[count] = (xylem_parameter){p->routine->sizes[count], values[count]};
    q->parameters[count++] = (xylem_parameter){"p", p->ranks};
    for (int i = 0; i < p->routine->count; i++)
        q->alternatives[i] =
            (xylem_alternative){p->routine->algorithms[i]->name, seconds[i], NULL, 0};
    q->problem = (xylem_problem){.name = p->routine->name,
                                 .parameters = q->parameters,
                                 .parameter_count = count,
                                 .alternatives = q->alternatives,
                                 .alternative_count = p->routine->count,
                                 .arg = q};
}

int dense_choose(dense_t *p, const xylem_matmul_options *o, dense_choice_t **choice_p)
{
    kept_t *kept = find_kept();
    dense_choice_t *q = calloc(1, sizeof(*q));
    known_t *known = kept != NULL ? find_known(kept, p, o) : NULL;

    *choice_p = q;
    if (kept == NULL || q == NULL) {
        fprintf(stderr, "%s: out of memory\n", p->routine->name);
        return -1;
    }
    q->kept = kept;
    /* A machine or costs that cannot be read are an error of the first call. */
    if ((o->machine != NULL || o->costs != NULL) && find_place(kept, p, o) == NULL)
        return -1;
    if (known == NULL && !is_worth_it(kept, p, o))
        return guess(kept, p, o);
    known = known != NULL ? known : predict(kept, p, o);
    if (known == NULL)
        return -1;
    for (int i = 0; o->speeds == NULL && i < p->ranks; i++)
        p->speeds[i] = known->speed;
    dense_take_model(p, o, &kept->place);
    refine(kept, p, o, known);
    memcpy(q->seconds, known->seconds, sizeof(q->seconds));
    fill(p, q);
    return xylem_choose(&q->problem, &q->choice) == 0 ? q->choice.chosen : -1;
}

void dense_chosen(dense_choice_t *q, double seconds, bool learns)
{
    q->kept->ran += seconds;
    if (learns && q->problem.name != NULL)
        (void)xylem_chosen(&q->problem, &q->choice, seconds);
}

void dense_choice_free(dense_choice_t *q)
{
    free(q);
}
