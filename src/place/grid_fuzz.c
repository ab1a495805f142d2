/* SPDX-License-Identifier: BSD-3-Clause */
/* Tori, meshes and weights from anywhere, as "torus:4x4 1:10": an error, or a target whose leaves
 * are the cells, each once, at the same distance there and back. */
#include "place/matrix_fuzz.h"
#include "place/target.h"

enum { CELLS_MAX = 1 << 14 }; /* larger ones take long and are no other */

static bool is_small(const char *text)
{
    double cells = 1;

    for (const char *at = strchr(text, ':'); at != NULL; at = strchr(at + 1, 'x'))
        cells *= strtod(at + 1, NULL);
    return cells <= CELLS_MAX;
}

/* Aborts unless the grid's cells are a permutation and its distances symmetric and finite. */
static void check(const xy_target_t *t)
{
    uint32_t last = t->leaves - 1;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->leaves; i++) {
        if (t->logical[i] >= t->leaves)
            abort();
        sum += t->logical[i];
    }
    if (sum != (uint64_t)t->leaves * last / 2)
        abort();
    if (xy_target_hops(t, 0, last) != xy_target_hops(t, last, 0) ||
        xy_target_weighted(t, 0, last) != xy_target_weighted(t, last, 0) ||
        !isfinite(xy_target_weighted(t, 0, last)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    const char *grid = text != NULL ? strsep(&rest, " ") : NULL;
    xy_weights_t weights = {0};
    xy_target_t *t;

    if (grid != NULL && xy_target_is_grid_text(grid) && is_small(grid) &&
        (rest == NULL || xy_weights_parse(rest, &weights) == XY_OK) &&
        xy_target_grid(grid, &weights, &t) == XY_OK) {
        check(t);
        xy_target_destroy(t);
    }
    free(text);
    return 0;
}
