/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a description: its memory and its place in the code. It runs until an MPI call must
 * wait, and continues there later.
 *
 * Addresses have the number of a block of memory above and an offset below. Block 0 has everything
 * but the heap: variables, literals, argv, frames. Every access is checked against the size of its
 * block.
 */
#ifndef XY_PROGRAM_PROCESS_H
#define XY_PROGRAM_PROCESS_H

#include <string.h>

#include "program/code.h"

enum { PROCESS_BLOCK_BITS = 40, PROCESS_NULL = 16 };

/* Unwritten memory is full of this byte: a value made of it is not known, and a process that reads
 * it fails. It is copied, sent and received as it is. */
enum { PROCESS_BLANK = 0xf7 };
#define PROCESS_BLANK_32 ((int32_t)0xf7f7f7f7)
#define PROCESS_BLANK_64 ((int64_t)0xf7f7f7f7f7f7f7f7)

typedef struct {
    uint8_t *data; /* NULL: freed */
    uint64_t size;
    uint8_t *touched; /* one for each page: 0, it is to be blanked first; NULL: all are */
} block_t;

typedef struct {
    int32_t pc; /* where the caller continues */
    int32_t function;
    int32_t made; /* blocks of arrays that the caller had made */
    uint32_t frame;
} frame_t;

typedef struct process process_t;

/* The driver does MPI calls and kernels. Each returns true when the process may continue after the
 * call, false when it must stop: it is called again, with the same arguments, when process_run() is
 * called next. After a failure (reported) it calls process_fail(). */
typedef struct {
    bool (*mpi)(process_t *p, const code_site_t *site, int64_t *args);
    bool (*kernel)(process_t *p, const code_site_t *site, const double *sizes);
    bool (*compute)(process_t *p, const code_site_t *site, double count);
    double (*now)(process_t *p);
    /* The value of an unknown of the code, from a recorded run. False without a failure: there is
     * none. May be NULL: there never is. */
    bool (*recorded)(process_t *p, int32_t unknown, double *value_p);
    /* Has it called MPI_Finalize? May be NULL: exit() is always well. */
    bool (*is_finalized)(const process_t *p);
    /* getenv() of what is not in the environment. May be NULL. */
    void (*unset)(process_t *p, const char *name);
} process_ops_t;

typedef struct {
    const code_t *code;
    const process_ops_t *ops;
    int argc;
    const char *const *argv;
    int64_t pass_limit;     /* of loops, per process */
    uint64_t stack_limit;   /* bytes of frames */
    uint64_t heap_limit;    /* bytes of malloc() */
    const char *const *env; /* NAME=VALUE, for getenv() */
    size_t env_count;
} process_config_t;

struct process {
    const process_config_t *config;
    void *driver; /* of the driver, as is `phase`, 0 when a call begins */
    int32_t rank;
    int32_t phase;
    uint8_t *memory; /* block 0 */
    uint64_t used, capacity;
    int64_t *stack;
    int32_t depth, stack_capacity;
    int32_t pc, function;
    uint32_t frame;
    xy_vec_t frames; /* of frame_t */
    xy_vec_t blocks; /* of block_t: number i + 1 */
    xy_vec_t made;   /* of int32_t: blocks that go with their frames */
    uint64_t heap;
    int64_t passes;
    int32_t option; /* getopt: where it is in a cluster of letters */
    bool is_over;
    bool is_silent; /* errors are not reported */
    xy_status_t status;
};

xy_status_t process_init(process_t *p, const process_config_t *config, int32_t rank);
void process_cleanup(process_t *p); /* of a zeroed one too */
/* One that continues by itself from where `from` is. XY_ENOMEM in silence. */
xy_status_t process_copy(process_t *p, const process_t *from);

/* Go on until a call must wait (false) or the process has ended, well or not (true). */
bool process_run(process_t *p);

/* Where it is. */
uint32_t process_place(const process_t *p);
/* Say what is wrong, with rank, file and line, and end the process; false. */
bool process_fail(process_t *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool process_fail_memory(process_t *p);
/* The same after a failure that has been said. */
bool process_stop(process_t *p);

/* The memory at an address, or NULL (reported). */
void *process_at_slow(process_t *p, uint64_t address, uint64_t size);
static inline void *process_at(process_t *p, uint64_t address, uint64_t size)
{
    if (address >= PROCESS_NULL && address < p->used && size <= p->used - address)
        return p->memory + address;
    return process_at_slow(p, address, size);
}
/* Bytes from the address to the end of its block of the heap; 0: it is in none. */
uint64_t process_room(const process_t *p, uint64_t address);
/* The string there, or NULL (reported). */
char *process_string(process_t *p, uint64_t address);

/* The value is not known; false. */
bool process_fail_blank(process_t *p);
bool process_is_blank(const void *at, size_t size);

/* Blocks; 0: it failed, which has been said. */
uint64_t process_allocate(process_t *p, uint64_t size);
/* The same, of zeros. */
uint64_t process_allocate_cleared(process_t *p, uint64_t size);
uint64_t process_reallocate(process_t *p, uint64_t address, uint64_t size);
bool process_release(process_t *p, uint64_t address);

static inline double cell_real(int64_t cell)
{
    double value;

    memcpy(&value, &cell, sizeof(value));
    return value;
}
static inline int64_t real_cell(double value)
{
    int64_t cell;

    memcpy(&cell, &value, sizeof(cell));
    return cell;
}

#endif
