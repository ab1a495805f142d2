/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a buffer that a count and a datatype name. */
#ifndef XY_MPI_CHECK_AREA_H
#define XY_MPI_CHECK_AREA_H

#include "mpi/datatype/datatype.h"

typedef struct {
    const char *buffer;
    int64_t count;
    const mpi_type_t *type;
    const char *low, *high; /* all bytes are in here; equal: there are none */
} check_area_t;

check_area_t check_area_make(const void *buffer, int64_t count, const mpi_type_t *type);

/* A byte that belongs to both. Of interleaved data none does. */
bool check_area_overlaps(const check_area_t *a, const check_area_t *b);

/* Call `visit` for each run of bytes, until it returns false. */
void check_area_each(const check_area_t *area,
                     bool (*visit)(const char *run, size_t length, void *argument), void *argument);

/* A hash of the bytes as they are now; and of bytes behind others that have the hash `hash`. */
uint64_t check_area_hash(const check_area_t *area);
uint64_t check_area_hash_bytes(uint64_t hash, const char *bytes, size_t length);

/* Areas of one length that follow each other are one area, whose hash grows with each of them:
 *
 *   hash = check_area_hash_more(hash, parts++, &next);
 *   ...
 *   is_changed = check_area_hash_parts(&whole, parts) != hash;
 *
 * `parts` 1: as check_area_hash. The type is contiguous. */
bool check_area_follows(const check_area_t *whole, uint64_t parts, const check_area_t *next);
uint64_t check_area_hash_more(uint64_t hash, uint64_t parts, const check_area_t *next);
uint64_t check_area_hash_parts(const check_area_t *area, uint64_t parts);

/* The use of the buffer by the call: "receives into", "sends from", and others for files and calls
 * that only compute. */
const char *check_area_verb(const char *call, bool is_receive);

#endif
