/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix products on MPI, between their files. One file per algorithm, each ending in a table;
 * programs see only include/xylem_matmul.h. The files use other components only through public
 * headers, so that the library works in programs like their own code.
 */
#ifndef XY_MATMUL_MATMUL_H
#define XY_MATMUL_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <xylem.h>
#include <xylem_matmul.h>

typedef struct {
    int m, n, k;
} matmul_size_t;

/* The part of C that a rank computes. */
typedef struct {
    int row, rows, column, columns;
} matmul_rect_t;

/* Ranks first, first + stride, ... that have collectives of their own. */
typedef struct {
    int first, stride, count;
    MPI_Comm comm; /* in a run */
    int number;    /* in a script */
} matmul_group_t;

/* Used where an option is 0 and nothing else is known. */
#define MATMUL_LATENCY   1e-6
#define MATMUL_BANDWIDTH 8e9
#define MATMUL_SPEED     4e9

/* Where products run, as far as predictions know it (place.c). */
typedef struct {
    xylem_platform *platform;
    int ranks;
    double latency, per_byte; /* of a message from the first rank to the last */
    double overhead;          /* ... of which each of the two spends so much, */
    double copy;              /* ... and per byte of a small one so much */
    double agree;             /* an agreement of all ranks, and */
    double begin;             /* ... what comes before all algorithms */
    bool is_uniform;          /* between any two ranks, each on a node of its own */
} matmul_place_t;

/* The operations of a product, rank by rank: algorithms run by nothing else. */
typedef enum {
    MATMUL_COMPUTE,  /* seconds */
    MATMUL_SEND,     /* bytes to peer; continues */
    MATMUL_RECEIVE,  /* bytes from peer */
    MATMUL_WAIT,     /* for all that it sends */
    MATMUL_EXCHANGE, /* bytes to peer, more from source */
    MATMUL_BCAST,    /* bytes in group, from its member number peer */
} matmul_op_kind_t;

typedef struct {
    matmul_op_kind_t kind;
    int peer, source, group;
    double seconds;
    unsigned long bytes, more;
} matmul_op_t;

typedef struct {
    matmul_op_t *ops;
    int count, room;
} matmul_ops_t;

typedef struct {
    int ranks;
    matmul_ops_t *of;     /* [ranks] */
    bool failed;          /* memory ran out */
    matmul_rect_t *rects; /* [ranks] the partition, once for all; rows 0: none yet */
    int rows, columns;
    matmul_group_t *groups; /* [2 * ranks + 2] */
    int group_count;
    int agreements;     /* of all ranks, in the algorithm */
    int steps;          /* of its loop that are written down; 0: all */
    double done, whole; /* what these do of all that the loop does */
} matmul_record_t;

/* One product. */
typedef struct {
    matmul_size_t size;
    const double *a, *b; /* on rank 0 */
    double *c;
    MPI_Comm comm;
    int rank, ranks, block;
    double *speeds;  /* [ranks] flop/s */
    double per_byte; /* of messages, seconds: for grids */
    double sum;      /* seconds for two elements */
    xylem_matmul_kernel kernel;
    xylem_matmul_kernel_seconds seconds; /* of the kernel, or NULL */
    void *arg;
    matmul_record_t *record;        /* NULL: it is computed */
    const xylem_platform *platform; /* record: of which a model of dgemm is used; or NULL */
} matmul_t;

typedef struct {
    const char *name;
    int least; /* ranks that it needs */
    /* It takes no less than this, nearly; NULL: nothing is known. For those that take long to
     * predict. */
    double (*bound)(const matmul_t *p, const matmul_place_t *place);
    int (*run)(const matmul_t *p); /* 0, or memory ran out */
} matmul_algorithm_t;

extern const matmul_algorithm_t matmul_columns, matmul_cartesian, matmul_fox, matmul_summa,
    matmul_strassen_cannon;

/* ---- Partitions (plan.c) ---- */

/* Where the i-th of `parts` equal parts of n begins; i may be `parts`. */
static inline int matmul_cut(int n, int parts, int i)
{
    return (int)((long long)n * i / parts);
}

/* Lastovetsky's column-based partition: areas in proportion to speeds, in columns, with the least
 * sum of half perimeters. False: memory ran out. */
bool matmul_plan_columns(const matmul_t *p, matmul_rect_t *rects);
/* A grid of rows times columns = ranks, rank = row * columns + column: heights and widths by the
 * speeds in them; the grid of the least time for the slowest. */
bool matmul_plan_grid(const matmul_t *p, int *rows_p, int *columns_p, matmul_rect_t *rects);
double matmul_slowest(const matmul_t *p); /* flop/s */
/* The most nearly square grid of all ranks. */
void matmul_square_grid(int ranks, int *rows_p, int *columns_p);

/* ---- Blocks of matrices stored by rows, and what is done with them (move.c) ---- */

double *matmul_make(const matmul_t *p, int rows, int columns); /* zeroed; NULL: no memory */
void matmul_free(const matmul_t *p, double *block);
void matmul_copy(const matmul_t *p, const double *from, int from_ld, double *to, int to_ld,
                 int rows, int columns);
/* A block out of a matrix whose rows are `ld` apart, as one message; into one likewise. */
void matmul_send(const matmul_t *p, const double *from, int rows, int columns, int ld, int to,
                 MPI_Request *request);
void matmul_receive(const matmul_t *p, double *to, int rows, int columns, int ld, int from);
void matmul_wait(const matmul_t *p, int count, MPI_Request *requests); /* all that were sent */
/* `elements` to one rank and as many, or others, from another. */
void matmul_exchange(const matmul_t *p, const double *from, int elements, int to, double *into,
                     int more, int source);
void matmul_replace(const matmul_t *p, double *block, int elements, int to, int source);
matmul_group_t matmul_group(const matmul_t *p, int first, int stride, int count);
void matmul_group_free(const matmul_t *p, matmul_group_t *group);
void matmul_bcast(const matmul_t *p, const matmul_group_t *group, double *block, int elements,
                  int root);
void matmul_multiply(const matmul_t *p, int m, int n, int k, const double *a, int lda,
                     const double *b, int ldb, double *c, int ldc);
/* So many pairs of elements are added, in a run by the caller. True: this is one. */
bool matmul_adds(const matmul_t *p, double pairs);
/* Every rank's part of C, stored alone, to rank 0. */
void matmul_collect(const matmul_t *p, const matmul_rect_t *rects, const double *own);
/* The loop over steps is at the beginning of one, has done so much of all that it does (the same on
 * all ranks). False: the record has enough of them. */
bool matmul_goes_on(const matmul_t *p, int step, double done, double whole);
/* Whether all ranks have what they need. */
bool matmul_all(const matmul_t *p, bool is_good);

/* ---- Predicting ---- */

/* False: reported. */
bool matmul_place_open(const xylem_matmul_options *o, int ranks, matmul_place_t *place);
void matmul_place_close(matmul_place_t *place);
/* The speed of one core by the model of dgemm, flop/s; 0: there is none. */
double matmul_model_speed(const xylem_platform *platform);
/* Where no speeds are given, products of a kernel of the caller take what the model of dgemm says,
 * if there is one. */
void matmul_take_model(matmul_t *p, const xylem_matmul_options *o, const matmul_place_t *place);

/* What an algorithm does (record.c): the first steps of its loop (0: all), and what comes before
 * and behind. False: memory ran out. Clean up in any case. */
bool matmul_record(const matmul_t *p, const matmul_algorithm_t *algorithm, int steps,
                   matmul_record_t *record);
void matmul_record_cleanup(matmul_record_t *record);
void matmul_record_add(const matmul_t *p, const matmul_op_t *op);

/* The time of the product: exactly, by the virtual clock (simulate.c), and by one pass over all
 * messages (pass.c). 0 on failure (reported). */
double matmul_simulate(const matmul_record_t *record, const matmul_place_t *place);
double matmul_pass(const matmul_record_t *record, const matmul_place_t *place);
/* The time of an algorithm there, from some of its steps (estimate.c). 0 on failure (reported).
 */
double matmul_estimate(const matmul_t *p, const matmul_algorithm_t *algorithm,
                       const matmul_place_t *place);
/* All of them, in their order; of those that cannot be the best a bound. 0: it needs more ranks. */
void matmul_estimate_all(const matmul_t *p, const matmul_algorithm_t *const *algorithms, int count,
                         const matmul_place_t *place, double *seconds);
/* Those that may be the best after all are simulated, where a pass was all so far. */
void matmul_refine(const matmul_t *p, const matmul_algorithm_t *const *algorithms, int count,
                   const matmul_place_t *place, double *seconds);
/* Whether there are any. */
bool matmul_is_close(const matmul_place_t *place, const double *seconds, int count);

/* ---- Choosing (choose.c) ---- */

enum { MATMUL_ALGORITHMS = 5 };
/* The cheap ones to predict come first. */
extern const matmul_algorithm_t *const matmul_algorithms[MATMUL_ALGORITHMS];

int matmul_find(const char *name); /* its number; -1: there is none */

/* On rank 0: the number of the algorithm, or -1 (reported). Predictions are kept for later calls
 * until MPI_Finalize. The caller reports the time of the product. */
typedef struct matmul_choice matmul_choice_t;
int matmul_choose(matmul_t *p, const xylem_matmul_options *o, matmul_choice_t **choice_p);
void matmul_chosen(matmul_choice_t *choice, double seconds, bool learns);
void matmul_choice_free(matmul_choice_t *choice); /* NULL is fine */

#endif
