/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables: names to pointers, and 64-bit keys to pointers. Open addressing, power of two.
 *
 *   xy_hash_t h;
 *   xy_hash_init(&h, XY_HASH_STRING);
 *   st = xy_hash_set(&h, XY_HASH_KEY("core"), object);
 *   p  = xy_hash_get(&h, XY_HASH_KEY("core"));      (NULL: not there)
 *   xy_hash_cleanup(&h);
 *
 * String keys are not copied: they must live as long as the table. Not thread safe.
 */
#ifndef XY_BASE_HASH_H
#define XY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum { XY_HASH_STRING, XY_HASH_U64 } xy_hash_kind_t;

typedef struct {
    uint64_t key; /* a number, or a pointer to characters */
    void *value;  /* NULL: free slot */
} xy_hash_slot_t;

typedef struct {
    xy_hash_slot_t *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
    xy_hash_kind_t kind;
} xy_hash_t;

#define XY_HASH_KEY(string) ((uint64_t)(uintptr_t)(string))

void xy_hash_init(xy_hash_t *hash, xy_hash_kind_t kind);
void xy_hash_cleanup(xy_hash_t *hash);
xy_status_t xy_hash_set(xy_hash_t *hash, uint64_t key,
                        void *value); /* value != NULL; silent XY_ENOMEM */
void *xy_hash_get(const xy_hash_t *hash, uint64_t key);

/* The mixing function itself, for tables of other shapes. */
uint64_t xy_hash_u64(uint64_t key);

#endif
