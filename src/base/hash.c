/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear probing in a table at most three quarters full. Nothing is ever removed, so that a probe
 * sequence ends at the first free slot.
 */
#include "base/hash.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 16 };

uint64_t xy_hash_u64(uint64_t key)
{
    /* The finalizer of splitmix64: every input bit reaches every output bit. */
    key ^= key >> 30;
    key *= UINT64_C(0xbf58476d1ce4e5b9);
    key ^= key >> 27;
    key *= UINT64_C(0x94d049bb133111eb);
    return key ^ (key >> 31);
}

/* Hash of a string of bytes; it depends on the byte order of the machine. */
static uint64_t hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ n;
    uint64_t word;

    for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        hash = xy_hash_u64(hash ^ word);
    }
    for (word = 0; n > 0; n--)
        word = word << 8 | *p++;
    return xy_hash_u64(hash ^ word);
}

static const char *key_string(uint64_t key)
{
    return (const char *)(uintptr_t)key;
}

static uint64_t key_hash(const xy_hash_t *hash, uint64_t key)
{
    if (hash->kind == XY_HASH_U64)
        return xy_hash_u64(key);
    return hash_bytes(key_string(key), strlen(key_string(key)));
}

static bool key_equal(const xy_hash_t *hash, uint64_t a, uint64_t b)
{
    return a == b || (hash->kind == XY_HASH_STRING && strcmp(key_string(a), key_string(b)) == 0);
}

/* The slot of `key`, or the free slot where it belongs. The table is never full. */
static size_t find_slot(const xy_hash_t *hash, uint64_t key)
{
    size_t mask = hash->capacity - 1;
    size_t i = (size_t)key_hash(hash, key) & mask;

    while (hash->slots[i].value != NULL && !key_equal(hash, hash->slots[i].key, key))
        i = (i + 1) & mask;
    return i;
}

void xy_hash_init(xy_hash_t *hash, xy_hash_kind_t kind)
{
    *hash = (xy_hash_t){.kind = kind};
}

void xy_hash_cleanup(xy_hash_t *hash)
{
    xy_free(hash->slots);
    xy_hash_init(hash, hash->kind);
}

/* Double the capacity and insert all entries again; the table is unchanged on XY_ENOMEM. */
static xy_status_t grow(xy_hash_t *hash)
{
    xy_hash_t larger = {.kind = hash->kind, .count = hash->count};

    larger.capacity = hash->capacity == 0 ? FIRST_CAPACITY : hash->capacity * 2;
    larger.slots = xy_calloc(larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL)
        return XY_ENOMEM;
    for (size_t i = 0; i < hash->capacity; i++)
        if (hash->slots[i].value != NULL)
            larger.slots[find_slot(&larger, hash->slots[i].key)] = hash->slots[i];
    xy_free(hash->slots);
    *hash = larger;
    return XY_OK;
}

xy_status_t xy_hash_set(xy_hash_t *hash, uint64_t key, void *value)
{
    size_t i;

    if (hash->count >= hash->capacity / 4 * 3 && grow(hash) != XY_OK)
        return XY_ENOMEM;
    i = find_slot(hash, key);
    if (hash->slots[i].value == NULL) {
        hash->slots[i].key = key;
        hash->count++;
    }
    hash->slots[i].value = value;
    return XY_OK;
}

void *xy_hash_get(const xy_hash_t *hash, uint64_t key)
{
    return hash->count == 0 ? NULL : hash->slots[find_slot(hash, key)].value;
}
