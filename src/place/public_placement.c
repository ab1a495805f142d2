/* SPDX-License-Identifier: BSD-3-Clause */
/* Placing for programs: the functions of xylem.h over those of this component. */
#include <xylem.h>

#include "place/place.h"

struct xylem_matrix {
    xy_matrix_t *matrix;
};

struct xylem_placement {
    uint32_t n;
    uint32_t *logical, *physical;
    xy_place_cost_t cost;
};

static int wrap(xy_matrix_t *m, xylem_matrix **matrix_p)
{
    xylem_matrix *wrapped = xy_malloc(sizeof(*wrapped));

    if (wrapped == NULL) {
        xy_matrix_destroy(m);
        return (int)xy_fail_memory("making a matrix");
    }
    wrapped->matrix = m;
    *matrix_p = wrapped;
    return 0;
}

int xylem_matrix_create(unsigned n, unsigned long entries, const unsigned *from, const unsigned *to,
                        const double *bytes, xylem_matrix **matrix_p)
{
    xy_matrix_entry_t *e;
    xy_matrix_t *m;
    xy_status_t st;

    if (n > XY_MATRIX_RANKS_MAX)
        return (int)xy_fail(XY_ELIMIT, "a matrix of %u ranks; at most %d are possible", n,
                            XY_MATRIX_RANKS_MAX);
    for (unsigned long k = 0; k < entries; k++)
        if (from[k] >= n || to[k] >= n || !(bytes[k] >= 0 && bytes[k] <= XY_MATRIX_VALUE_MAX))
            return (int)xy_fail(XY_EINVAL,
                                "entry %lu, from %u to %u: ranks are below %u and bytes "
                                "from 0 to 1e100",
                                k, from[k], to[k], n);
    e = xy_malloc((entries + 1) * sizeof(*e));
    if (e == NULL)
        return (int)xy_fail_memory("making a matrix");
    for (unsigned long k = 0; k < entries; k++)
        e[k] = (xy_matrix_entry_t){from[k], to[k], bytes[k], 1};
    st = xy_matrix_build(n, e, entries, false, &m);
    xy_free(e);
    return st == XY_OK ? wrap(m, matrix_p) : (int)st;
}

int xylem_matrix_read(const char *path, xylem_matrix **matrix_p)
{
    xy_matrix_t *m;
    xy_status_t st = xy_matrix_read(path, &m);

    return st == XY_OK ? wrap(m, matrix_p) : (int)st;
}

unsigned xylem_matrix_size(const xylem_matrix *m)
{
    return m->matrix->n;
}

void xylem_matrix_free(xylem_matrix *m)
{
    if (m == NULL)
        return;
    xy_matrix_destroy(m->matrix);
    xy_free(m);
}

/* Loads a grid or a machine as target; the caller owns it. */
static xy_status_t load_target(const char *source, xy_target_t **target_p)
{
    xy_machine_t *machine;
    xy_status_t st;

    if (source != NULL && xy_target_is_grid_text(source))
        return xy_target_grid(source, NULL, target_p);
    st = xy_machine_load(source, &machine);
    if (st != XY_OK)
        return st;
    st = xy_target_check(machine);
    if (st == XY_OK)
        st = xy_target_create(machine, NULL, target_p);
    xy_machine_destroy(machine);
    return st;
}

/* Copies the core numbers of a placement into the public object; NULL without memory. */
static xylem_placement *keep(const xy_place_t *p, const xy_target_t *t)
{
    xylem_placement *kept = xy_calloc(1, sizeof(*kept));

    if (kept == NULL)
        return NULL;
    kept->n = p->n;
    kept->cost = p->cost;
    kept->logical = xy_malloc(((size_t)p->n + 1) * sizeof(*kept->logical));
    kept->physical = xy_malloc(((size_t)p->n + 1) * sizeof(*kept->physical));
    if (kept->logical == NULL || kept->physical == NULL) {
        xylem_placement_free(kept);
        return NULL;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        kept->logical[i] = t->logical[p->leaf_of[i]];
        kept->physical[i] = t->physical[p->leaf_of[i]];
    }
    return kept;
}

int xylem_place(const xylem_matrix *m, const char *machine, const char *strategy,
                xylem_placement **placement_p)
{
    xy_place_options_t options = {.strategy = strategy, .seed = 1};
    xylem_placement *kept;
    xy_target_t *t;
    xy_place_t *p;
    xy_status_t st = load_target(machine, &t);

    if (st != XY_OK)
        return (int)st;
    st = xy_place_compute(m->matrix, t, &options, &p);
    if (st == XY_OK) {
        kept = keep(p, t);
        xy_place_destroy(p);
        if (kept != NULL)
            *placement_p = kept;
        else
            st = xy_fail_memory("placing");
    }
    xy_target_destroy(t);
    return (int)st;
}

unsigned xylem_placement_core(const xylem_placement *p, unsigned rank)
{
    return p->logical[rank];
}

unsigned xylem_placement_physical(const xylem_placement *p, unsigned rank)
{
    return p->physical[rank];
}

double xylem_placement_hop_bytes(const xylem_placement *p)
{
    return p->cost.hop_bytes;
}

double xylem_placement_weighted(const xylem_placement *p)
{
    return p->cost.weighted;
}

void xylem_placement_free(xylem_placement *p)
{
    if (p == NULL)
        return;
    xy_free(p->logical);
    xy_free(p->physical);
    xy_free(p);
}
