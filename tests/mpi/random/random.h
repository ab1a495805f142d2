/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs: every rank derives the same list of steps from one seed and carries out its part
 * of each. All results are checked.
 *
 * No program deadlocks, because all ranks take the steps in the same order, and a rank that blocks
 * in step s waits only for what other ranks do in steps up to s:
 *
 *   - A rank starts its part of step s before it completes anything, and completes only what was
 *     started in steps up to s. The rank that is furthest behind can therefore always go on.
 *   - Messages of one step have a tag of their own, and the receives of the step match no others.
 *   - Receives from anyone with any tag use a communicator of their own. A message of a later step
 *     may match one of them, so their sends are `late`: a rank waits for those at the end only.
 *
 * What all ranks must agree on comes from shared_random, what each decides for itself (how it
 * waits, when, for which requests first) from own_random. Both depend on the seed and on the step
 * alone, so that steps can be left out to make a program smaller.
 */
#ifndef XY_TESTS_MPI_RANDOM_RANDOM_H
#define XY_TESTS_MPI_RANDOM_RANDOM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMMS_MAX = 8, INTERS_MAX = 4, STEPS_MAX = 30000 };

/* ---- main.c: the run ---- */

typedef struct {
    uint64_t state;
} random_t;

extern int rank, size; /* in MPI_COMM_WORLD */
extern int step;       /* the one in progress */
extern int turn;       /* of a persistent call: how often it was started before; else 0 */
extern random_t shared_random, own_random;
extern bool is_verbose;

uint64_t hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* 0 .. below - 1 */
int draw(random_t *random, int below);
bool chance(random_t *random, int percent);
/* Report, with seed, step and rank, and end the job. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- data.c: elements, layouts and buffers ---- */

typedef enum { BYTES, INTS, LONGS, DOUBLES, BASIC_COUNT } basic_t;
typedef enum { PLAIN, STRIDED, SCATTERED, PADDED, LAYOUT_COUNT } layout_t;

enum { PER_ITEM = 4 }; /* elements of an item of a layout that is not plain */

typedef struct {
    basic_t basic;
    layout_t layout;
} form_t;

/* Where the data of a call are. */
typedef enum {
    MEMORY_PLAIN,
    MEMORY_OF_DEVICE,
    MEMORY_OF_STREAM, /* a stream of the device allocates and frees it */
    MEMORY_PINNED,
    MEMORY_MANAGED,
    MEMORY_KINDS
} kind_of_memory_t;

/* Memory of a call: `data` has `bytes`, with guards around it. `expected` is what it must be when
 * the call is complete; NULL: the program only sends from it. MPI is given `at`: `data`, or memory
 * of another kind, which has the same content (with --device). */
typedef struct {
    form_t form;
    kind_of_memory_t memory;
    char *data, *expected, *at;
    void *base; /* to pass with the type of buffer_type: `at`, or another address */
    size_t bytes;
    uint64_t sum; /* of the data when it was last sealed */
} buffer_t;

void data_begin(void);
void data_end(void);
size_t basic_size(basic_t basic);
MPI_Datatype basic_type(basic_t basic);
/* A form for `elements` elements of `basic`, which fit into whole items. */
form_t form_draw(random_t *random, basic_t basic, int elements);
void form_type_release(MPI_Datatype type);
int form_count(form_t form, int elements);
/* Elements of an item. */
int form_unit(form_t form);

void buffer_create(buffer_t *buffer, form_t form, int elements, bool is_received);
void buffer_destroy(buffer_t *buffer);
/* The datatype for a call, with buffer->base: it may be one that was made for this call, and that
 * has absolute addresses or starts at a base that many buffers have. Give it back after the call
 * with form_type_release. */
MPI_Datatype buffer_type(buffer_t *buffer);
/* The same for calls with basic types: where the data are. */
void *buffer_at(buffer_t *buffer);
/* Element i is (or, in a received buffer, will be) the value. */
void buffer_set(buffer_t *buffer, int i, uint64_t value);
void buffer_expect(buffer_t *buffer, int i, uint64_t value);
/* Remember what a buffer that is sent contains. */
void buffer_seal(buffer_t *buffer);
void buffer_check(buffer_t *buffer, const char *what);
/* Take over the contents of one that was made in the same way. */
void buffer_refill(buffer_t *buffer, const buffer_t *from);
/* The value of element i that `from` sends to `to` in the current step and turn. */
uint64_t value_of(int from, int to, int i);
uint64_t value_at(int at_step, int from, int to, int i);
/* A number of elements, mostly small, at most `limit`. */
int draw_elements(random_t *random, int limit);

/* ---- comms.c: communicators ---- */

typedef struct {
    MPI_Comm handle; /* MPI_COMM_NULL where this rank is no member */
    int *part;       /* [size]: the communicator that a rank of the world is in; -1: none */
    int *place;      /* [size]: its rank there */
    int size, rank;  /* of this rank's part */
    bool is_ring;    /* periodic, of one dimension */
} comm_t;

extern comm_t comms[COMMS_MAX];
extern MPI_Comm wild; /* for receives that match everything */

void comms_begin(void);
void comms_end(void);
comm_t *comm_draw(random_t *random);
/* One that is a ring; NULL: there is none. */
const comm_t *comm_draw_ring(random_t *random);
/* The world rank of `place` in the part of world rank `member`. */
int comm_world(const comm_t *comm, int member, int place);
int comm_part_size(const comm_t *comm, int member);
void step_make_comm(void);
void step_free_comm(void);

/* ---- pending.c: what was started and is not over ---- */

typedef struct pending {
    const char *name;
    int step;
    buffer_t send, receive;
    bool has_status; /* the three below are checked */
    int source, tag, bytes;
    bool is_wild;                  /* the status says what was received */
    void *arrays;                  /* of the call that is made, or what must live as long */
    bool is_persistent, is_active; /* it is kept when it is over, and can be started again */
} pending_t;

/* A new one for a call of this step. */
pending_t *pending_create(const char *name);
/* The call is over: check and destroy. */
void pending_finish(pending_t *pending, const MPI_Status *status);
/* The call goes on with this request. */
void pending_add(pending_t *pending, MPI_Request request, bool is_late);
/* Wait for this one, which is active. */
void pending_await(pending_t *pending);
void pending_destroy(pending_t *pending);
/* Its request was freed: its buffers live until the end. */
void pending_forget(pending_t *pending);
/* Memory that must live until all is over. */
void pending_keep(void *memory);
/* Wait for this request, or test it until it is over. */
void wait_somehow(MPI_Request *request, MPI_Status *status);
/* Between two looks of a loop that polls. */
void pause_somehow(void);
/* Perhaps complete some, all but the late ones, or all. */
void pending_complete_some(void);
void pending_complete(bool with_late);
/* Nothing is pending on any rank. */
void pending_end(void);

/* ---- messages.c, partitioned.c, collectives.c, repeated.c, inter.c, windows.c ---- */

void messages_begin(void);
void messages_end(void);
void step_messages(void);
void step_flood(void);
void step_fan_in(void);
void step_wild(void);
void step_poll(void);
void step_cancel(void);
void step_persistent(void);
void step_shift(void);
void step_partitioned(void);
void step_collective(void);
void step_neighbors(void);
void step_window(void);
/* Make a persistent collective and start it; start some again. */
void step_repeated(void);
void step_repeat(void);
void repeated_end(void);
/* Collectives between two groups. */
void step_make_inter(void);
void step_inter(void);
void inter_end(void);

/* ---- files.c ---- */

/* An empty file for all of `comm`, removed when it is closed. */
MPI_File file_open(MPI_Comm comm);
void step_file(void);

/* ---- device.c: memory of a GPU; the host does not touch it ---- */

/* Without it there is none. */
void device_begin(uint64_t seed);
/* Any thread. */
void *device_alloc(size_t bytes); /* NULL: there is no device */
void device_free(void *memory);   /* NULL is fine */
void device_copy(void *to, const void *from, size_t bytes);
/* The thread of the rank. The default stream writes zeros, some time. */
void device_clear(void *memory, size_t bytes);

/* A kind for memory of this step; MEMORY_PLAIN, and no other, without --device. */
kind_of_memory_t memory_draw(void);
char *memory_alloc(kind_of_memory_t kind, size_t bytes);
void memory_free(kind_of_memory_t kind, char *memory);
/* Somehow; it is complete for MPI, not for the host. */
void memory_store(kind_of_memory_t kind, char *memory, const char *from, size_t bytes);
void memory_load(kind_of_memory_t kind, const char *memory, char *to, size_t bytes);

/* ---- threads.c: threads that call MPI, where the library allows it ---- */

void threads_begin(int provided);
void threads_end(void);
void step_threads(void);

/* How a collective is called. REFILL: not at all; its buffers are made, for another start. */
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, REFILL } how_t;

/* A collective of this rank: on which communicator, who is the root, in place or not. */
typedef struct {
    pending_t *pending;
    const comm_t *comm; /* between two groups: its rank and size are those of the own group */
    MPI_Comm handle;
    int root, limit;
    bool is_in_place;
    how_t how;
    MPI_Request request;
    basic_t basic;
    /* Between two groups: the own one, its peers, the place of the root and its group. */
    int side, peers, root_place, root_side;
} call_t;

typedef struct {
    const char *name;
    void (*run)(call_t *call);
    bool is_large; /* each rank has blocks for all others */
    bool has_counts;
} kind_t;

/* Call MPI_`name`, MPI_`started` or MPI_`name`_init. */
#define COLLECTIVE(call, name, started, ...)                                                       \
    do {                                                                                           \
        if ((call)->how == BLOCKING)                                                               \
            MPI_##name(__VA_ARGS__);                                                               \
        else if ((call)->how == NONBLOCKING)                                                       \
            MPI_##started(__VA_ARGS__, &(call)->request);                                          \
        else if ((call)->how == PERSISTENT)                                                        \
            MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &(call)->request);                       \
    } while (0)

/* Elements of the block from `a` to `b` of a collective with counts: the same for all who ask. */
int block_elements(const call_t *call, int a, int b);
void block_fill(buffer_t *buffer, int first, int elements, int from, int to);
void block_expect(buffer_t *buffer, int first, int elements, int from, int to);
/* Blocks with gaps, some of them in reverse order; returns one past the last element. */
int lay_out(int blocks, const int *counts, int *offsets);
/* A kind of collective, and what all ranks agree on; NULL: this one has no part in it. */
const kind_t *collective_draw(call_t *call);
const kind_t *neighbors_draw(call_t *call);
const kind_t *inter_draw(call_t *call);
/* Call it; arrays of counts and displacements are freed as soon as the call has returned. */
void collective_run(const kind_t *kind, call_t *call);
/* It has been called: check it, or leave it to its request. */
void collective_finish(call_t *call);
/* Members of the two groups, as senders. */
static inline int inter_id(int side, int place)
{
    return side * 4096 + place;
}

void reductions_begin(void);
void reductions_end(void);
void collective_reduce(call_t *call);
void collective_allreduce(call_t *call);
void collective_scan(call_t *call);
void collective_exscan(call_t *call);
void collective_reduce_scatter(call_t *call);
void collective_reduce_scatter_block(call_t *call);
void inter_reduce(call_t *call);
void inter_allreduce(call_t *call);
void inter_reduce_scatter(call_t *call);
void inter_reduce_scatter_block(call_t *call);

#endif
