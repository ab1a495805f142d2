/* SPDX-License-Identifier: BSD-3-Clause */
/* The containers of src/base: what one operation costs. */
#include <stdint.h>

#include "base/base.h"
#include "bench.h"

static double round_vec_push(long n)
{
    xy_vec_t vec = XY_VEC_INIT(long);
    double begin = bench_now();
    double took;

    for (long i = 0; i < n; i++) {
        long *p = xy_vec_push(&vec);

        if (p == NULL) {
            xy_vec_cleanup(&vec);
            return -1.0;
        }
        *p = i;
    }
    took = bench_now() - begin;
    bench_use(vec.data);
    xy_vec_cleanup(&vec);
    return took;
}

/* Fill a table with scattered keys; the value is never followed. */
static xy_status_t fill(xy_hash_t *hash, long n)
{
    for (long i = 1; i <= n; i++) {
        xy_status_t st = xy_hash_set(hash, (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15), hash);

        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

static double round_hash_set(long n)
{
    xy_hash_t hash;
    double begin = bench_now();
    xy_status_t st;
    double took;

    xy_hash_init(&hash, XY_HASH_U64);
    st = fill(&hash, n);
    took = bench_now() - begin;
    xy_hash_cleanup(&hash);
    return st == XY_OK ? took : -1.0;
}

static double round_hash_get(long n)
{
    xy_hash_t hash;
    double begin;
    double took;

    xy_hash_init(&hash, XY_HASH_U64);
    if (fill(&hash, n) != XY_OK) {
        xy_hash_cleanup(&hash);
        return -1.0;
    }
    begin = bench_now();
    for (long i = 1; i <= n; i++)
        bench_use(xy_hash_get(&hash, (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15)));
    took = bench_now() - begin;
    xy_hash_cleanup(&hash);
    return took;
}

/* All in, all out: the event list of a simulation, at its fullest. */
static double round_heap(long n)
{
    xy_heap_t heap = XY_HEAP_INIT;
    double begin = bench_now();
    double took;

    for (long i = 0; i < n; i++)
        if (xy_heap_push(&heap, (double)(i * 7919 % n), &heap) != XY_OK) {
            xy_heap_cleanup(&heap);
            return -1.0;
        }
    while (xy_heap_pop(&heap, NULL) != NULL)
        ;
    took = bench_now() - begin;
    xy_heap_cleanup(&heap);
    return took;
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    bench_rate("vector: push", round_vec_push, 10000000, "ns", 1e9);
    bench_rate("hash of numbers: set", round_hash_set, 1000000, "ns", 1e9);
    bench_rate("hash of numbers: get", round_hash_get, 1000000, "ns", 1e9);
    bench_rate("heap: push and pop", round_heap, 1000000, "ns", 1e9);
    return 0;
}
