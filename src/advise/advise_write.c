/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "advise/advise.h"
#include "draw/draw.h"

/* Prints the best remedy and how well the replay matches the run. */
static void put_head(const xy_advice_t *a, FILE *file)
{
    const xy_remedy_t *best =
        a->remedies.count > 0 ? &XY_VEC_AT(&a->remedies, xy_remedy_t, 0) : NULL;
    char run[32], replayed[32];

    if (best == NULL || best->gain < XY_ADVISE_LITTLE)
        fputs(a->unsure > 0 ? "nothing is sure to help by more than 2 %\n"
                            : "nothing would help by more than 2 %\n",
              file);
    else
        fprintf(file, "%.0f %% less time: %s\n", 100 * best->gain,
                best->option[0] != '\0' ? best->option : best->change);
    fprintf(file, "%s: %s on %d rank%s and %d core%s; its replay takes %s", a->program,
            xy_format_seconds(a->run, run), a->ranks, xy_s((uint64_t)a->ranks), a->cores,
            xy_s((uint64_t)a->cores), xy_format_seconds(a->replayed, replayed));
    fprintf(file, a->scale != 1 ? ", with message costs %.2g times the default\n" : "\n", a->scale);
    if (a->stolen > XY_ADVISE_LEAST)
        fprintf(
            file,
            "other programs used the cores during %.0f %% of the computation: gains are for a run "
            "without them\n",
            100 * a->stolen);
    if (fabs(a->replayed - a->run) > XY_ADVISE_DOUBT * a->run)
        fputs("the replay does not take as long as the run, so gains are uncertain: did other "
              "programs\n"
              "use the cores? Record the run on an idle machine\n",
              file);
}

/* `columns`: how much of the measurement any remedy has: 0, its gain, its noise. */
static void put_remedy(const xy_remedy_t *r, int columns, FILE *file)
{
    static const int indents[] = {28, 40, 48};
    int indent = indents[columns];

    fprintf(file, "%6.1f %%  %5.1f to %5.1f %%", 100 * r->gain, 100 * r->low, 100 * r->high);
    if (columns > 0 && isnan(r->measured))
        fprintf(file, "%*s", indent - 28, "");
    else if (columns > 0)
        fprintf(file, "  %8.1f %%", 100 * r->measured);
    if (columns > 1 && !isnan(r->measured))
        fprintf(file, " +-%5.1f", 100 * r->noise);
    if (r->option[0] != '\0')
        fprintf(file, "  mpiexec %s: %s\n", r->option, r->change);
    else
        fprintf(file, "  %s\n", r->change);
    fprintf(file, "%*s%s\n", indent, "", r->reason);
    if (xy_remedy_is_noise(r))
        fprintf(file,
                "%*srun times differ by more than the gain: measure on an idle machine, or "
                "with more --rounds\n",
                indent, "");
}

void xy_advice_text(const xy_advice_t *a, FILE *file)
{
    static const char *const heads[] = {"", "    measured", "    measured   noise"};
    int columns = 0;

    put_head(a, file);
    for (size_t i = 0; i < a->remedies.count; i++) {
        const xy_remedy_t *r = &XY_VEC_AT(&a->remedies, xy_remedy_t, i);
        int own = isnan(r->measured) ? 0 : isnan(r->noise) ? 1 : 2;

        columns = own > columns ? own : columns;
    }
    if (a->remedies.count > 0)
        fprintf(file, "%8s  %16s%s  %s\n", "gain", "range", heads[columns], "remedy");
    for (size_t i = 0; i < a->remedies.count; i++)
        put_remedy(&XY_VEC_AT(&a->remedies, xy_remedy_t, i), columns, file);
    if (a->unsure > 0)
        fprintf(file, "not listed: %d change%s that may gain or lose\n", a->unsure,
                xy_s((uint64_t)a->unsure));
}

void xy_advice_json(const xy_advice_t *a, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "program %s ranks %d cores %d run %g replayed %g scale %g stolen %g unsure %d",
              a->program, a->ranks, a->cores, a->run, a->replayed, a->scale, a->stolen, a->unsure);
    xy_json_begin_array(&j, "remedies");
    for (size_t i = 0; i < a->remedies.count; i++) {
        const xy_remedy_t *r = &XY_VEC_AT(&a->remedies, xy_remedy_t, i);

        xy_fields_object(
            &j, NULL,
            "kind %s option %s change %s reason %s gain %g low %g high %g measured %g noise %g",
            r->kind, r->option, r->change, r->reason, r->gain, r->low, r->high, r->measured,
            r->noise);
    }
    xy_json_end(&j);
    xy_json_end(&j);
}
