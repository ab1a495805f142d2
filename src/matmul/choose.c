/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm is the fastest here: predictions for xylem_choose(). Rank 0 keeps the machine and
 * the predictions of its last products, with MPI_COMM_SELF, until MPI_Finalize: a program that
 * multiplies matrices of one size again and again predicts once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "matmul/matmul.h"

const matmul_algorithm_t *const matmul_algorithms[MATMUL_ALGORITHMS] = {
    &matmul_strassen_cannon, &matmul_columns, &matmul_cartesian, &matmul_summa, &matmul_fox};

/* ---- What is kept ---- */

enum { KEPT = 16 };

typedef struct {
    matmul_size_t size;
    int block;
    uint64_t speeds; /* and the rest of the options: a hash */
    double seconds[MATMUL_ALGORITHMS];
} known_t;

typedef struct {
    bool is_open;
    uint64_t options; /* of the place: a hash */
    matmul_place_t place;
    known_t known[KEPT];
    int next;
} kept_t;

static int free_kept(MPI_Comm comm, int key, void *value, void *extra)
{
    kept_t *kept = value;

    (void)comm, (void)key, (void)extra;
    if (kept->is_open)
        matmul_place_close(&kept->place);
    free(kept);
    return MPI_SUCCESS;
}

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

/* The machine of the options; NULL: it was said why. */
static matmul_place_t *find_place(kept_t *kept, const xylem_matmul_options *o, int ranks)
{
    uint64_t h = hash_place(o, ranks);

    if (kept->is_open && kept->options == h)
        return &kept->place;
    if (kept->is_open)
        matmul_place_close(&kept->place);
    memset(kept->known, 0, sizeof(kept->known));
    kept->options = h;
    kept->is_open = matmul_place_open(o, ranks, &kept->place);
    return kept->is_open ? &kept->place : NULL;
}

static const double *predict(kept_t *kept, const matmul_t *p, const matmul_place_t *place)
{
    uint64_t h = hash(1, p->speeds, (size_t)p->ranks * sizeof(*p->speeds));
    known_t *k = kept->known;

    h = hash(h, &p->sum, sizeof(p->sum)) + (p->platform != NULL);
    for (; k < kept->known + KEPT; k++)
        if (k->size.m == p->size.m && k->size.n == p->size.n && k->size.k == p->size.k &&
            k->block == p->block && k->speeds == h)
            return k->seconds;
    k = &kept->known[kept->next];
    kept->next = (kept->next + 1) % KEPT;
    *k = (known_t){.size = p->size, .block = p->block, .speeds = h};
    matmul_estimate_all(p, matmul_algorithms, MATMUL_ALGORITHMS, place, k->seconds);
    return k->seconds;
}

/* ---- Choosing ---- */

/* The problem that xylem_choose() is asked, with what it points to. */
struct matmul_choice {
    double seconds[MATMUL_ALGORITHMS];
    xylem_parameter parameters[4];
    xylem_alternative alternatives[MATMUL_ALGORITHMS];
    xylem_problem problem;
    xylem_choice choice;
};

#define SECONDS_OF(number)                                                                         \
    static double seconds_##number(void *arg)                                                      \
    {                                                                                              \
        return ((const matmul_choice_t *)arg)->seconds[number];                                    \
    }
SECONDS_OF(0)
SECONDS_OF(1)
SECONDS_OF(2)
SECONDS_OF(3)
SECONDS_OF(4)

static void fill(const matmul_t *p, matmul_choice_t *q)
{
    static double (*const seconds[MATMUL_ALGORITHMS])(void *) = {seconds_0, seconds_1, seconds_2,
                                                                 seconds_3, seconds_4};
    const double values[] = {p->size.m, p->size.n, p->size.k, p->ranks};
    static const char *const names[] = {"m", "n", "k", "p"};

    for (int i = 0; i < 4; i++)
        q->parameters[i] = (xylem_parameter){names[i], values[i]};
    for (int i = 0; i < MATMUL_ALGORITHMS; i++)
        q->alternatives[i] = (xylem_alternative){matmul_algorithms[i]->name, seconds[i], NULL, 0};
    q->problem = (xylem_problem){.name = "xylem_matmul",
                                 .parameters = q->parameters,
                                 .parameter_count = 4,
                                 .alternatives = q->alternatives,
                                 .alternative_count = MATMUL_ALGORITHMS,
                                 .arg = q};
}

int matmul_choose(matmul_t *p, const xylem_matmul_options *o, matmul_choice_t **choice_p)
{
    kept_t *kept = find_kept();
    matmul_choice_t *q = calloc(1, sizeof(*q));
    matmul_place_t *place = kept != NULL ? find_place(kept, o, p->ranks) : NULL;

    if (place == NULL || q == NULL) {
        free(q);
        return -1;
    }
    matmul_take_model(p, o, place);
    memcpy(q->seconds, predict(kept, p, place), sizeof(q->seconds));
    fill(p, q);
    *choice_p = q;
    return xylem_choose(&q->problem, &q->choice) == 0 ? q->choice.chosen : -1;
}

void matmul_chosen(matmul_choice_t *q, double seconds)
{
    (void)xylem_chosen(&q->problem, &q->choice, seconds);
}

void matmul_choice_free(matmul_choice_t *q)
{
    free(q);
}
