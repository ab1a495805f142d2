/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identical subtrees, found bottom up: the class of an object is the first object met with the
 * same own values and the same sequence of child classes. Equality is compared, not only hashed.
 */
#include <string.h>

#include "machine/machine_internal.h"

typedef struct {
    const xy_machine_t *m;
    uint32_t *classes;
    xy_hash_t index; /* hash to class + 1; collisions go to the next key */
    bool exact;
} fold_t;

static uint64_t mix(uint64_t h, uint64_t value)
{
    return xy_hash_u64(h ^ (value + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2)));
}

static uint64_t mix_link(uint64_t h, xy_link_t link)
{
    uint64_t bits[2];

    memcpy(&bits[0], &link.latency, sizeof(bits[0]));
    memcpy(&bits[1], &link.bandwidth, sizeof(bits[1]));
    return mix(mix(h, bits[0]), bits[1]);
}

static bool same_link(xy_link_t a, xy_link_t b)
{
    return a.latency == b.latency && a.bandwidth == b.bandwidth;
}

static bool same_gpu(const xy_gpu_t *a, const xy_gpu_t *b)
{
    return a->name == b->name && a->physical == b->physical && a->flags == b->flags &&
           a->memory == b->memory && same_link(a->in, b->in) && same_link(a->out, b->out) &&
           same_link(a->kernel, b->kernel);
}

/* Returns whether two groups of GPUs are alike. */
static bool same_group(const xy_machine_t *m, const xy_gpu_group_t *a, const xy_gpu_group_t *b)
{
    if (a->gpu_count != b->gpu_count || a->peer_count != b->peer_count ||
        !same_link(a->shared, b->shared) || !same_link(a->peer, b->peer))
        return false;
    for (uint32_t i = 0; i < a->gpu_count; i++)
        if (!same_gpu(&m->gpus[a->first_gpu + i], &m->gpus[b->first_gpu + i]))
            return false;
    for (uint32_t i = 0; i < a->peer_count; i++) {
        const xy_gpu_peer_t *p = &m->gpu_peers[a->first_peer + i];
        const xy_gpu_peer_t *q = &m->gpu_peers[b->first_peer + i];

        if (p->a != q->a || p->b != q->b || !same_link(p->link, q->link))
            return false;
    }
    return true;
}

static bool same_gpus(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    uint32_t i, j, count = machine_gpu_groups_of(m, a, &i);

    if (count != machine_gpu_groups_of(m, b, &j))
        return false;
    while (count-- > 0)
        if (!same_group(m, &m->gpu_groups[i++], &m->gpu_groups[j++]))
            return false;
    return true;
}

/* Do two objects with as many children, both with a grid, have the same one? */
static bool same_grid(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    const xy_grid_t *x = xy_machine_grid(m, a), *y = xy_machine_grid(m, b);

    return x->is_torus == y->is_torus && x->dimensions == y->dimensions &&
           memcmp(x->size, y->size, x->dimensions * sizeof(*x->size)) == 0 &&
           same_link(x->link, y->link) &&
           memcmp(&m->cells[x->first_cell], &m->cells[y->first_cell],
                  m->child_count[a] * sizeof(*m->cells)) == 0;
}

/* Only called when the shapes agree, so that both walks end together. */
static bool same_numbers(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    xy_obj_t x = machine_next(m, a, a), y = machine_next(m, b, b);

    while (x != XY_OBJ_NONE) {
        if (m->physical[x] != m->physical[y])
            return false;
        x = machine_next(m, a, x);
        y = machine_next(m, b, y);
    }
    return true;
}

/* Returns whether two objects are alike with all below them; `exact` also compares physical
 * numbers. */
static bool same(const fold_t *f, xy_obj_t a, xy_obj_t b)
{
    const xy_machine_t *m = f->m;

    if (m->type[a] != m->type[b] || m->bytes[a] != m->bytes[b] || m->flags[a] != m->flags[b] ||
        m->name_of[a] != m->name_of[b] || m->child_count[a] != m->child_count[b] ||
        !same_link(xy_machine_link(m, a), xy_machine_link(m, b)) ||
        xy_machine_parallel(m, a) != xy_machine_parallel(m, b))
        return false;
    if (m->child_count[a] > 0 &&
        memcmp(&f->classes[m->first_child[a]], &f->classes[m->first_child[b]],
               m->child_count[a] * sizeof(*f->classes)) != 0)
        return false;
    if (m->gpu_count > 0 && !same_gpus(m, a, b))
        return false;
    if (m->flags[a] & XY_OBJ_GRID && !same_grid(m, a, b))
        return false;
    return !f->exact || m->type[a] != XY_OBJ_NODE || same_numbers(m, a, b);
}

static uint64_t hash(const fold_t *f, xy_obj_t o)
{
    const xy_machine_t *m = f->m;
    uint64_t h = mix(mix(m->type[o], m->bytes[o]), m->name_of[o] * 256ull + m->flags[o]);

    h = mix(mix_link(h, xy_machine_link(m, o)), xy_machine_parallel(m, o));
    for (uint32_t c = 0; c < m->child_count[o]; c++)
        h = mix(h, f->classes[m->first_child[o] + c]);
    if (f->exact && m->type[o] == XY_OBJ_NODE)
        for (xy_obj_t x = machine_next(m, o, o); x != XY_OBJ_NONE; x = machine_next(m, o, x))
            h = mix(h, m->physical[x]);
    return h;
}

/* Sets the class of an object to the first one like it. */
static xy_status_t classify(fold_t *f, xy_obj_t o)
{
    uint64_t key = hash(f, o);
    uintptr_t known;

    /* A route names one object: it is like no other. */
    if (f->m->flags[o] & XY_OBJ_ROUTED) {
        f->classes[o] = o;
        return XY_OK;
    }
    while ((known = (uintptr_t)xy_hash_get(&f->index, key)) != 0) {
        if (same(f, (xy_obj_t)(known - 1), o)) {
            f->classes[o] = (uint32_t)(known - 1);
            return XY_OK;
        }
        key++;
    }
    f->classes[o] = o;
    return xy_hash_set(&f->index, key, (void *)((uintptr_t)o + 1));
}

xy_status_t machine_fold(const xy_machine_t *m, bool exact, uint32_t **class_p)
{
    fold_t f = {.m = m, .exact = exact};
    xy_status_t st = XY_OK;

    f.classes = xy_malloc(m->count * sizeof(*f.classes));
    if (f.classes == NULL)
        return xy_fail_memory("folding the machine");
    xy_hash_init(&f.index, XY_HASH_U64);
    for (xy_obj_t o = m->count; st == XY_OK && o-- > 0;)
        st = classify(&f, o);
    xy_hash_cleanup(&f.index);
    if (st != XY_OK) {
        xy_free(f.classes);
        return xy_fail_memory("folding the machine");
    }
    *class_p = f.classes;
    return XY_OK;
}

uint32_t machine_fold_run(const xy_machine_t *m, const uint32_t *classes, xy_obj_t object)
{
    xy_obj_t parent = m->parent[object], end, o = object;

    if (parent == XY_OBJ_NONE)
        return 1;
    end = m->first_child[parent] + m->child_count[parent];
    while (o < end && classes[o] == classes[object])
        o++;
    return o - object;
}
