/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One read or write of one rank: typed memory on the one side, bytes of a view on the other.
 *
 *   io_access_t access = {.shared = shared, .view = view, .memory = buffer, .count = 100,
 *                         .type = type, .at = byte of the view, .bytes = 100 * type->size};
 *   io_access_run(&access);
 *
 * Functions here run on any thread and do not park. They fail with errno values, in
 * io_access_t.error.
 */
#ifndef XY_MPI_IO_ACCESS_H
#define XY_MPI_IO_ACCESS_H

#include <pthread.h>

#include "mpi/io/view.h"

enum { IO_LINES = 128 }; /* bytes that cores take from each other at a time */

/* The shared data of the members of a process. */
typedef struct io_shared {
    int fd;
    int amode;
    atomic_long references;
    bool is_local;  /* memory that is mapped is what other processes see, at once */
    bool may_map;   /* ... and writable */
    bool is_memory; /* it is on no disk: tmpfs */
    char *name;     /* of the file */
    char *counter;  /* of the file with the shared pointer, where there are other processes */
    int counter_fd; /* -1: not open */
    int64_t start;  /* where pointers begin: 0, or the end of the file */
    _Atomic int64_t pointer; /* shared, in etypes, where there are none */
    pthread_mutex_t turn;    /* of accesses in atomic mode */
    struct io_own *own;      /* descriptors of workers (descriptor.h); NULL: all use `fd` */
    int workers;             /* how many of them; others use `fd`, too */
    atomic_int users;        /* workers that have made many calls */
    atomic_bool is_stale;    /* the time of the file: see map.h */
    /* Data that writers change (io_write.h), in a line of its own: */
    char before[IO_LINES];
    atomic_bool is_busy; /* one of them is in the kernel with much data */
    char behind[IO_LINES];
} io_shared_t;

typedef struct io_access {
    io_shared_t *shared;
    io_view_t *view;
    char *memory;
    int64_t count;
    mpi_type_t *type;
    char *staged; /* the same in the representation of the file, in place of memory; or NULL */
    int64_t at;   /* the first byte, of the view */
    size_t bytes; /* in the file */
    bool is_write;
    bool is_atomic;
    bool is_direct; /* hint: holes are neither read nor mapped */
    size_t done;    /* bytes that were read or written; a read ends where the file does */
    int error;      /* errno; 0: none */
} io_access_t;

enum { IO_PIECE = 256 << 10 }; /* bytes that are packed, or read with what is between, at a time */

/* All of it. */
void io_access_run(io_access_t *access);
/* Is its data one run of bytes in memory? Where it begins, then; NULL otherwise. */
char *io_access_bytes(const io_access_t *access);
/* The address that a filetype is relative to where `memory` holds the file from `from` on. Only
 * bytes of that memory are touched through it. */
char *io_view_base(const io_view_t *view, char *memory, int64_t from);

/* The accesses of `count` members, all reads or all writes, in large pieces. Sets their `done` and
 * `error`. `piece`: bytes of the file at a time; `run` does the pieces (mpi_parallel_run), or NULL:
 * the calling thread does them one by one. */
typedef struct {
    size_t piece;
    bool is_split; /* each access for itself */
    void (*run)(void (*fn)(void *arg, int64_t piece), void *arg, int64_t pieces);
} io_how_t;

/* Is it better made at once than together with those of the others? A read in long runs is: nobody
 * waits for it, and its data comes into the caches of its rank. */
bool io_is_alone(const io_access_t *access);
void io_collective_run(io_access_t *const *accesses, int count, const io_how_t *how);
/* The same where they are runs of bytes, one right behind the other. False: they are not, and
 * nothing was done. */
bool io_runs_run(io_access_t *const *accesses, int count);

/* pread and pwrite until all is done; errno. A read that meets the end of the file gets less. */
int io_read_at(int fd, char *to, size_t bytes, int64_t offset, size_t *got_p);
int io_write_at(int fd, const char *from, size_t bytes, int64_t offset);

#endif
