/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense linear algebra on MPI, between its files: a routine (a matrix product, a factorisation) has
 * several algorithms, one file each, which ends in a table; predictions and the choice are common.
 * What include/xylem_matmul.h and include/xylem_factor.h declare is all that programs see. Nothing
 * here uses another component but through headers for programs, so that the library works with
 * programs as any code of theirs.
 */
#ifndef XY_DENSE_MATMUL_H
#define XY_DENSE_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <xylem.h>
#include <xylem_matmul.h>

/* A product of m x k and k x n; a factorisation has n three times. */
typedef struct {
    int m, n, k;
} dense_size_t;

typedef struct dense_routine dense_routine_t;

/* The part of C that a rank computes. */
typedef struct {
    int row, rows, column, columns;
} dense_rect_t;

/* Ranks first, first + stride, ... that have collectives of their own. */
typedef struct {
    int first, stride, count;
    MPI_Comm comm; /* in a run */
    int number;    /* in a script */
} dense_group_t;

/* Used where an option is 0 and nothing else is known. */
#define DENSE_LATENCY   1e-6
#define DENSE_BANDWIDTH 8e9
#define DENSE_SPEED     4e9
#define DENSE_LOOPS     2e9 /* loops beside the kernel, at most */

/* Where products run, as far as predictions know it (dense_place.c). */
typedef struct {
    xylem_platform *platform;
    int ranks;
    double latency, per_byte; /* of a message from the first rank to the last */
    double overhead;          /* ... with the time of each of the two in it, */
    double copy;              /* ... and per byte of a small one so much */
    double agree;             /* an agreement of all ranks, and */
    double begin;             /* ... what comes before all algorithms */
    bool is_uniform;          /* between any two ranks, each on a node of its own */
} dense_place_t;

/* The operations of a product, written down rank by rank: the algorithms call nothing else. */
typedef enum {
    DENSE_COMPUTE,  /* seconds */
    DENSE_SEND,     /* bytes to peer; continues */
    DENSE_RECEIVE,  /* bytes from peer */
    DENSE_WAIT,     /* for all that it sends */
    DENSE_EXCHANGE, /* bytes to peer, more from source */
    DENSE_BCAST,    /* bytes in group, from its member number peer */
} dense_op_kind_t;

typedef struct {
    dense_op_kind_t kind;
    int peer, source, group;
    double seconds;
    unsigned long bytes, more;
} dense_op_t;

typedef struct {
    dense_op_t *ops;
    int count, room;
} dense_ops_t;

typedef struct {
    int ranks;
    dense_ops_t *of;     /* [ranks] */
    bool failed;         /* memory ran out */
    dense_rect_t *rects; /* [ranks] the partition, once for all; rows 0: none yet */
    int rows, columns;
    dense_group_t *groups; /* [2 * ranks + 2] */
    int group_count;
    int agreements;     /* of all ranks, in the algorithm */
    int steps;          /* of its loop that are written down; 0: all */
    double done, whole; /* their work; that of the whole loop */
} dense_record_t;

/* One call. */
typedef struct {
    const dense_routine_t *routine;
    dense_size_t size;
    const double *a, *b; /* on rank 0 */
    double *c;           /* likewise; what is factored */
    int *pivots;         /* of LU, likewise */
    int *info;           /* of factorisations: as LAPACK's; not with a record */
    MPI_Comm comm;
    int rank, ranks, block;
    double *speeds;  /* [ranks] flop/s */
    double per_byte; /* of messages, seconds: for grids */
    double sum;      /* seconds for two elements */
    double move;     /* seconds to copy one in memory; 0: not known */
    xylem_matmul_kernel kernel;
    xylem_matmul_kernel_seconds seconds; /* of the kernel, or NULL */
    void (*worked)(double operations, void *arg);
    void *arg;
    dense_record_t *record;         /* NULL: it is computed */
    const xylem_platform *platform; /* record: its model of dgemm is used; or NULL */
} dense_t;

typedef struct {
    const char *name;
    int least; /* ranks that it needs */
    /* It takes no less than this, nearly; NULL: nothing is known. For those that take long to
     * predict. */
    double (*bound)(const dense_t *p, const dense_place_t *place);
    int (*run)(const dense_t *p); /* 0, or memory ran out */
} dense_algorithm_t;

enum { DENSE_ALGORITHMS_MAX = 5 };

/* A function of the library and its algorithms. */
struct dense_routine {
    const char *name;                           /* of the function: in messages, in the history */
    const char *sizes[3];                       /* names of m, n, k in the history; NULL: none */
    const dense_algorithm_t *const *algorithms; /* the cheap ones to predict first */
    int count;
    const char *list;        /* their names, for people */
    const char *few, *usual; /* without a prediction: where messages take long, and else */
    int block;               /* where the option is 0 */
    double (*operations)(const dense_size_t *size);
    double (*elements)(const dense_size_t *size); /* that leave rank 0, at least */
    double (*messages)(const dense_t *p);         /* of all ranks, nearly */
};

extern const dense_algorithm_t dense_columns, dense_cartesian, dense_fox, dense_summa,
    dense_strassen_cannon;
extern const dense_routine_t dense_matmul, dense_lu, dense_cholesky;

/* ---- Partitions (dense_plan.c) ---- */

/* Where the i-th of `parts` equal parts of n begins; i may be `parts`. */
static inline int dense_cut(int n, int parts, int i)
{
    return (int)((long long)n * i / parts);
}

/* Lastovetsky's column-based partition: areas in proportion to speeds, in columns, with the least
 * sum of half perimeters. False: memory ran out. */
bool dense_plan_columns(const dense_t *p, dense_rect_t *rects);
/* A grid of rows times columns = ranks, rank = row * columns + column: heights and widths by the
 * speeds in them; the grid of the least time for the slowest. */
bool dense_plan_grid(const dense_t *p, int *rows_p, int *columns_p, dense_rect_t *rects);
double dense_slowest(const dense_t *p); /* flop/s */
/* The most nearly square grid of all ranks. */
void dense_square_grid(int ranks, int *rows_p, int *columns_p);

/* ---- Blocks of matrices stored by rows, and what is done with them (dense_move.c) ---- */

double *dense_make(const dense_t *p, int rows, int columns); /* zeroed; NULL: no memory */
void dense_free(const dense_t *p, double *block);
void dense_copy(const dense_t *p, const double *from, int from_ld, double *to, int to_ld, int rows,
                int columns);
/* A block out of a matrix whose rows are `ld` apart, as one message; into one likewise. */
void dense_send(const dense_t *p, const double *from, int rows, int columns, int ld, int to,
                MPI_Request *request);
void dense_receive(const dense_t *p, double *to, int rows, int columns, int ld, int from);
void dense_wait(const dense_t *p, int count, MPI_Request *requests); /* for all sends */
/* `elements` to one rank and as many, or others, from another. */
void dense_exchange(const dense_t *p, const double *from, int elements, int to, double *into,
                    int more, int source);
void dense_replace(const dense_t *p, double *block, int elements, int to, int source);
dense_group_t dense_group(const dense_t *p, int first, int stride, int count);
dense_group_t dense_everyone(const dense_t *p); /* is not freed */
void dense_group_free(const dense_t *p, dense_group_t *group);
void dense_bcast(const dense_t *p, const dense_group_t *group, double *block, int elements,
                 int root);
void dense_multiply(const dense_t *p, int m, int n, int k, const double *a, int lda,
                    const double *b, int ldb, double *c, int ldc);
/* A loop beside the kernel did so many operations. */
void dense_worked(const dense_t *p, double operations);
/* It copied, or stored, so many elements of matrices that need not be in the cache. */
void dense_moved(const dense_t *p, double elements);
/* So many pairs of elements are added, in a run by the caller. True: this is one. */
bool dense_adds(const dense_t *p, double pairs);
/* Every rank's part of C, stored alone, to rank 0. */
void dense_collect(const dense_t *p, const dense_rect_t *rects, const double *own);
/* The loop over steps is at the beginning of one, has done so much of all that it does (the same on
 * all ranks). False: the record has enough of them. */
bool dense_goes_on(const dense_t *p, int step, double done, double whole);
/* Whether all ranks have what they need. */
bool dense_all(const dense_t *p, bool is_good);

/* ---- Predicting ---- */

/* False on failure (reported). */
bool dense_place_open(const xylem_matmul_options *o, int ranks, dense_place_t *place);
void dense_place_close(dense_place_t *place);
/* The speed of one core by the model of dgemm, flop/s; 0: there is none. */
double dense_model_speed(const xylem_platform *platform);
/* Where no speeds are given, products of a kernel of the caller take what the model of dgemm says,
 * if there is one. */
void dense_take_model(dense_t *p, const xylem_matmul_options *o, const dense_place_t *place);

/* Record an algorithm (dense_record.c): the first steps of its loop (0: all), and the parts before
 * and after it. False: memory ran out. Clean up in any case. */
bool dense_record(const dense_t *p, const dense_algorithm_t *algorithm, int steps,
                  dense_record_t *record);
void dense_record_cleanup(dense_record_t *record);
void dense_record_add(const dense_t *p, const dense_op_t *op);

/* The time of a record: by the virtual clock, exactly (simulate.c), and by one pass over all
 * messages (pass.c). Returns 0 on failure (reported). */
double dense_simulate(const dense_record_t *record, const dense_place_t *place);
double dense_pass(const dense_record_t *record, const dense_place_t *place);
/* The time of an algorithm there, estimated from some of its steps (dense_estimate.c). Returns 0 on
 * failure (reported). */
double dense_estimate(const dense_t *p, const dense_algorithm_t *algorithm,
                      const dense_place_t *place);
/* All of the routine, in their order; of those that cannot be the best a bound. 0: it needs more
 * ranks. */
void dense_estimate_all(const dense_t *p, const dense_place_t *place, double *seconds);
/* Simulate the algorithms that a pass alone has left close to the best. */
void dense_refine(const dense_t *p, const dense_place_t *place, double *seconds);
/* Whether there are any. */
bool dense_is_close(const dense_place_t *place, const double *seconds, int count);

/* ---- Choosing (choose.c) ---- */

/* On rank 0: the number of the algorithm, or -1 (reported). The predictions are kept for
 * later calls until MPI_Finalize. The caller tells how long the call took. */
typedef struct dense_choice dense_choice_t;
int dense_choose(dense_t *p, const xylem_matmul_options *o, dense_choice_t **choice_p);
void dense_chosen(dense_choice_t *choice, double seconds, bool learns);
void dense_choice_free(dense_choice_t *choice); /* NULL is fine */

/* ---- What all routines do (routine.c) ---- */

int dense_find(const dense_routine_t *routine, const char *name); /* its number; -1: none */

/* Whether rank 0 has what the routine needs; else it has reported what is missing. */
typedef bool (*dense_check_fn)(const dense_t *p);

/* Run `p`, with routine, size and the pointers of rank 0 set, by the best algorithm or by the one
 * in the options. 0, or not on all ranks; rank 0 has said why. */
int dense_run(dense_t *p, const xylem_matmul_options *o, MPI_Comm comm, dense_check_fn check);

/* The seconds of an algorithm by `dense_estimate` or `dense_simulated`; 0: not for these arguments,
 * or it failed (reported). */
typedef double (*dense_predict_fn)(const dense_t *p, const dense_algorithm_t *algorithm,
                                   const dense_place_t *place);
double dense_predict(const dense_routine_t *routine, const char *algorithm, dense_size_t size,
                     int ranks, const xylem_matmul_options *o, dense_predict_fn how);
double dense_simulated(const dense_t *p, const dense_algorithm_t *algorithm,
                       const dense_place_t *place);
/* The name of the best by predictions; NULL: none (reported). */
const char *dense_best(const dense_routine_t *routine, dense_size_t size, int ranks,
                       const xylem_matmul_options *o, double *seconds_p);

#endif
