/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded calls, between the files that read and follow them. */
#ifndef XY_PROGRAM_RECORDED_CALLS_H
#define XY_PROGRAM_RECORDED_CALLS_H

#include "program/recorded.h"

typedef struct {
    const char *name, *file; /* "MPI_Send"; the last part of its path */
    long line;
} recorded_place_t;

typedef struct {
    uint32_t place;
    bool has_bytes, is_received; /* bytes were sent or moved by a collective; were received */
    uint64_t bytes;
    int32_t peer; /* the process of the job that it was sent to or received from; -1: none */
} recorded_call_t;

struct xy_recorded {
    char *path;
    int32_t procs;
    xy_vec_t places; /* of recorded_place_t */
    xy_vec_t calls;  /* of recorded_call_t, by rank */
    size_t *first;   /* [procs + 1] */
    xy_arena_t *arena;
};

/* Values of each unknown of the description, by process. */
struct xy_learned {
    char *path;
    int32_t procs;
    size_t count;             /* of unknowns */
    xy_learned_name_t *names; /* [count] */
    xy_vec_t *values;         /* [procs * count] of double */
};

#endif
