/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles as integers, for Fortran and for languages that keep them so (MPI_Comm_c2f and
 * MPI_Comm_toint are the same here).
 *
 * Predefined handles are small numbers already. The others are addresses: each address that was
 * ever asked for gets a number behind them, and keeps it. An object that is made later at the same
 * address has the same number, so nothing need be told when objects go, and the table never holds
 * more entries than there were different addresses. One table serves all kinds and all ranks of the
 * process.
 *
 * Requests of Fortran programs pass here with every message, so that looking up takes no lock: a
 * number, once given, does not change, and a table that is too small is replaced by a larger copy
 * while others still read it.
 */
#include "mpi/object/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"

enum { FIRST = 4096 };                       /* below: predefined */
enum { BLOCKS = 19, BLOCK_FIRST = FIRST };   /* block b has BLOCK_FIRST << b addresses */
enum { TABLE_FIRST = 1024 };                 /* places, a power of two */
static const int number_end = INT32_MAX / 4; /* more than the blocks hold are not given out */

typedef struct {
    _Atomic uintptr_t address; /* written last; 0: free */
    int number;
} place_t;

/* Numbers by address: at least half of it is free. */
typedef struct table {
    struct table *smaller; /* the one before, which may still be read */
    size_t size;
    place_t places[];
} table_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all changes */
static _Atomic(table_t *) table;
static _Atomic(void **) blocks[BLOCKS]; /* addresses by number */
static int count;                       /* of numbers given */

static inline size_t hash(uintptr_t address)
{
    return (size_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

/* Where it is, or the free place where it belongs. */
static inline place_t *find(table_t *in, uintptr_t address)
{
    for (size_t i = hash(address);; i++) {
        place_t *place = &in->places[i & (in->size - 1)];
        uintptr_t there = atomic_load_explicit(&place->address, memory_order_acquire);

        if (there == address || there == 0)
            return place;
    }
}

static void put(table_t *in, uintptr_t address, int number)
{
    place_t *place = find(in, address);

    place->number = number;
    atomic_store_explicit(&place->address, address, memory_order_release);
}

/* With the lock held. NULL: memory ran out. */
static table_t *grown(table_t *old)
{
    size_t size = old ? 2 * old->size : TABLE_FIRST;
    table_t *made = xy_calloc(1, sizeof *made + size * sizeof made->places[0]);

    if (!made)
        return NULL;
    made->smaller = old;
    made->size = size;
    for (size_t i = 0; old && i < old->size; i++)
        if (old->places[i].address != 0)
            put(made, old->places[i].address, old->places[i].number);
    atomic_store_explicit(&table, made, memory_order_release);
    return made;
}

/* The place of the `index`-th number; NULL: there is none yet. */
static inline void **address_of(int index, bool make)
{
    unsigned multiple = (unsigned)index / BLOCK_FIRST + 1;
    int b = 31 - __builtin_clz(multiple);
    void **block = atomic_load_explicit(&blocks[b], memory_order_acquire);

    if (!block && make) {
        block = xy_calloc((size_t)BLOCK_FIRST << b, sizeof *block);
        atomic_store_explicit(&blocks[b], block, memory_order_release);
    }
    return block ? &block[index - BLOCK_FIRST * ((1 << b) - 1)] : NULL;
}

/* With the lock held. 0: memory ran out; that is no handle of any kind. */
static int number_new(uintptr_t address)
{
    table_t *now = table;
    void **place;

    if (!now || 2 * (size_t)(count + 1) > now->size)
        now = grown(now);
    place = now && count < number_end ? address_of(count, true) : NULL;
    if (!place)
        return 0;
    *place = (void *)address;
    put(now, address, FIRST + count);
    return FIRST + count++;
}

static inline int number_of(table_t *in, uintptr_t address)
{
    place_t *place = in ? find(in, address) : NULL;

    return place && place->address == address ? place->number : 0;
}

/* The number of an address that had none when the caller looked. Apart from that path, which takes
 * half of the instructions so. */
__attribute__((cold, noinline)) static int number_make(uintptr_t address)
{
    int number;

    pthread_mutex_lock(&lock);
    number = number_of(table, address);
    if (number == 0)
        number = number_new(address);
    pthread_mutex_unlock(&lock);
    return number;
}

int mpi_handle_to_int(const void *handle)
{
    uintptr_t address = (uintptr_t)handle;
    int number;

    if (address < FIRST)
        return (int)address;
    number = number_of(atomic_load_explicit(&table, memory_order_acquire), address);
    return __builtin_expect(number != 0, 1) ? number : number_make(address);
}

void *mpi_handle_from_int(int number)
{
    void **place;

    if (number >= 0 && number < FIRST)
        return (void *)(uintptr_t)number;
    place =
        number >= FIRST && number - FIRST < number_end ? address_of(number - FIRST, false) : NULL;
    return place ? *place : NULL;
}
