/* SPDX-License-Identifier: BSD-3-Clause */
#include "scan_trace.h"

#include <string.h>

#include "predict.h"

/* Has any other entry of this name another value? */
static bool is_constant(const xy_vec_t *names, const xy_learned_name_t *n)
{
    for (size_t i = 0; i < names->count; i++) {
        const xy_learned_name_t *other = &XY_VEC_AT(names, xy_learned_name_t, i);

        if (strcmp(other->name, n->name) == 0 &&
            (other->least != n->least || other->most != n->least))
            return false;
    }
    return true;
}

static bool is_first(const xy_vec_t *names, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(XY_VEC_AT(names, xy_learned_name_t, i).name,
                   XY_VEC_AT(names, xy_learned_name_t, at).name) == 0)
            return false;
    return true;
}

static xy_status_t assume(const xy_learned_name_t *n, xy_vec_t *assumed)
{
    char *text = xy_sprintf("%s=%.17g", n->name, n->least);

    if (text != NULL && xy_vec_append(assumed, &text) == XY_OK)
        return XY_OK;
    xy_free(text);
    return xy_fail_memory("scanning a program");
}

/* Assumes the constant values learned from a trace; others get a warning. */
static xy_status_t take(const xy_learned_t *learned, const char *trace, xy_vec_t *assumed)
{
    xy_vec_t names = XY_VEC_INIT(xy_learned_name_t);
    xy_status_t st = xy_learned_names(learned, &names);

    if (st != XY_OK)
        xy_fail_memory("scanning a program");
    for (size_t i = 0; i < names.count && st == XY_OK; i++) {
        const xy_learned_name_t *n = &XY_VEC_AT(&names, xy_learned_name_t, i);

        if (!is_constant(&names, n))
            xy_warn(
                "%s (line %ld) has %zu values in %s, from %g to %g, and stays open: give the run "
                "to 'xylem predict --from-trace', too",
                n->name, n->line, n->values, trace, n->least, n->most);
        else if (is_first(&names, i))
            st = assume(n, assumed);
    }
    xy_vec_cleanup(&names);
    return st;
}

xy_status_t scan_from_trace(const char *trace, const xy_vec_t *arguments,
                            const xy_program_t *program, xy_vec_t *assumed)
{
    /* Where the processes are, and what messages take, does not matter: only which calls follow. */
    predict_values_t v = {.machine = "core:1",
                          .progress = "none",
                          .split = "off",
                          .progress_place = "auto",
                          .progress_order = "auto",
                          .from_trace = trace,
                          .arg = *arguments,
                          .assume = *assumed,
                          .oversubscribe = true,
                          .limit = 1000000000};
    predict_t p = {.v = &v, .speed = 1, .name = trace, .program = program};
    xy_status_t st = predict_load(&p);

    if (st == XY_OK)
        st = predict_learn(&p);
    if (st == XY_OK)
        st = take(p.learned, trace, assumed);
    predict_cleanup(&p);
    return st;
}
