/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component: random machines: asymmetric, with names, links,
 * exclusions, numbers, GPUs and routes. */
#ifndef XY_TESTING_MACHINE_H
#define XY_TESTING_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/machine_equal.h"
#include "machine/machine_internal.h"
#include "testing/base.h"

static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return n > 0 ? (uint32_t)(*state >> 33) % n : 0;
}

static inline xy_link_t random_link(uint64_t *s)
{
    xy_link_t link = {0};

    if (random_below(s, 2))
        link.latency = (1 + random_below(s, 1000000)) * 1e-9 / (1 + random_below(s, 7));
    if (random_below(s, 2))
        link.bandwidth = (1 + random_below(s, 1000000)) * 1e5 / (1 + random_below(s, 7));
    return link;
}

static inline xy_bundle_t random_links(uint64_t *s, uint8_t type)
{
    bool are_parallel = machine_type_is_network(type) && random_below(s, 3) == 0;

    return (xy_bundle_t){random_link(s), are_parallel ? 2 + random_below(s, 7) : 0};
}

/* Adds a random group of GPUs. */
static inline void random_gpus(machine_builder_t *b, uint64_t *s)
{
    static const char *const names[] = {"", "a100", "h<200>&\"x\""};
    uint32_t n = 1 + random_below(s, 4);
    xy_gpu_group_t group = {.shared = random_link(s), .peer = random_link(s)};

    assert_int_equal(machine_builder_gpu_group(b, &group), XY_OK);
    for (uint32_t i = 0; i < n; i++) {
        xy_gpu_t gpu = {.physical = random_below(s, 3) ? XY_OBJ_NONE : random_below(s, 64),
                        .memory = random_below(s, 2) * (1ull << 31),
                        .flags = random_below(s, 4) == 0 ? XY_EXCLUDED_FILE : 0,
                        .in = random_link(s),
                        .out = random_link(s),
                        .kernel = random_link(s)};

        assert_int_equal(machine_builder_name(b, names[random_below(s, 3)], &gpu.name), XY_OK);
        assert_int_equal(machine_builder_gpu(b, &gpu), XY_OK);
    }
    if (n > 1 && random_below(s, 2)) {
        xy_gpu_peer_t peer = {.a = 0, .b = 1 + random_below(s, n - 1), .link = random_link(s)};

        assert_int_equal(machine_builder_peer(b, &peer), XY_OK);
    }
}

/* Adds random objects below an open one, at most `depth` levels. */
static inline void random_below_object(machine_builder_t *b, uint64_t *s, uint8_t parent, int depth)
{
    static const char *const names[] = {"", "n<&>'\"", "caf\xc3\xa9", "x y"};
    uint32_t n =
        depth == 0 || parent == XY_OBJ_PU ? 0 : random_below(s, 4) + (parent == XY_OBJ_MACHINE);

    for (uint32_t i = 0; i < n; i++) {
        machine_draft_t d = {.physical = XY_OBJ_NONE};
        uint32_t first;

        do
            d.type = (uint8_t)random_below(s, XY_OBJ_TYPES);
        while (!machine_type_fits(parent, d.type));
        if (machine_type_is_numbered(d.type) && random_below(s, 4) == 0)
            d.physical = random_below(s, 100);
        d.bytes = random_below(s, 3) ? 0 : random_below(s, 1u << 30) * 3ull;
        d.flags = random_below(s, 12) == 0 ? (uint8_t)random_below(s, 8) : 0;
        assert_int_equal(machine_builder_name(b, names[random_below(s, 4)], &d.name), XY_OK);
        assert_int_equal(machine_builder_link(b, random_links(s, d.type), &d.link), XY_OK);
        assert_int_equal(machine_builder_open(b, &d, &first), XY_OK);
        random_below_object(b, s, d.type, depth - 1);
        if (random_below(s, 16) == 0)
            random_gpus(b, s);
        machine_builder_close(b);
        if (random_below(s, 3) == 0)
            assert_int_equal(machine_builder_repeat(b, first, random_below(s, 4)), XY_OK);
    }
}

static inline bool random_is_inside(const machine_builder_t *b, uint32_t inner, uint32_t outer)
{
    while (inner != XY_OBJ_NONE && inner != outer)
        inner = XY_VEC_AT(&b->drafts, machine_draft_t, inner).parent;
    return inner == outer;
}

/* Returns a random machine, the same for the same seed; the caller owns it. */
static inline xy_machine_t *random_machine(uint64_t seed)
{
    uint64_t s = seed * 977 + 1;
    machine_builder_t b;
    xy_machine_t *m;

    assert_int_equal(machine_builder_init(&b, "random <machine>", "test"), XY_OK);
    random_below_object(&b, &s, XY_OBJ_MACHINE, 1 + (int)random_below(&s, 6));
    for (uint32_t i = random_below(&s, 4); i > 0; i--) {
        xy_route_t r = {.a = random_below(&s, (uint32_t)b.drafts.count),
                        .b = random_below(&s, (uint32_t)b.drafts.count),
                        .link = random_link(&s)};

        if (!random_is_inside(&b, r.a, r.b) && !random_is_inside(&b, r.b, r.a))
            assert_int_equal(machine_builder_route(&b, &r), XY_OK);
    }
    assert_int_equal(machine_builder_finish(&b, &m), XY_OK);
    machine_builder_cleanup(&b);
    return m;
}

#endif
