/* SPDX-License-Identifier: BSD-3-Clause */
/* Placements as launchers, people and programs want them. */
#include "place/output.h"
#include "draw/draw.h"

#include <math.h>
#include <string.h>

const char *const xy_place_format_names[] = {"cores", "xylem",       "rankfile", "rankfile5",
                                             "mpich", "mpich-hosts", "slurm",    NULL};

/* The name of a host; Open MPI takes +n3 for the fourth host of its allocation. */
static const char *host_name(const xy_machine_t *m, uint32_t host, const char *otherwise,
                             char buffer[32])
{
    xy_obj_t node = m != NULL ? xy_machine_object(m, XY_OBJ_NODE, host) : XY_OBJ_NONE;

    if (m != NULL && xy_machine_count(m, XY_OBJ_NODE) <= 1 &&
        (node == XY_OBJ_NONE || m->name_of[node] == 0))
        return "localhost";
    if (node != XY_OBJ_NONE && m->name_of[node] != 0)
        return xy_machine_object_name(m, node);
    snprintf(buffer, 32, "%s%u", otherwise, host);
    return buffer;
}

static uint32_t host_of(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                        uint32_t rank)
{
    return m != NULL ? t->host[p->leaf_of[rank]] : t->logical[p->leaf_of[rank]];
}

/* Launchers count the cores of a host in logical order, whatever is excluded. */
static uint32_t core_in_host(const xy_target_t *t, const xy_machine_t *m, uint32_t leaf)
{
    xy_obj_t object, host, core, first;

    if (m == NULL)
        return 0; /* a grid's leaf is a host */
    object = m->leaf[t->logical[leaf]];
    host = xy_machine_above(m, object, XY_OBJ_NODE);
    core = xy_machine_above(m, object, XY_OBJ_CORE);
    if (core == XY_OBJ_NONE)
        return m->first_leaf[object] - (host != XY_OBJ_NONE ? m->first_leaf[host] : 0);
    first =
        xy_machine_above(m, m->leaf[host != XY_OBJ_NONE ? m->first_leaf[host] : 0], XY_OBJ_CORE);
    return m->logical[core] - (first != XY_OBJ_NONE ? m->logical[first] : 0);
}

static void print_rankfile(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                           FILE *file)
{
    char buffer[32];

    for (uint32_t rank = 0; rank < p->n; rank++)
        fprintf(file, "rank %u=%s slot=%u\n", rank,
                host_name(m, host_of(p, t, m, rank), "+n", buffer),
                core_in_host(t, m, p->leaf_of[rank]));
}

/* The physical core of the k-th rank of every host: `longest` of them, if the hosts agree. `count`
 * and `core` are zero at first. */
static xy_status_t mpich_cores(const xy_place_t *p, const xy_target_t *t, uint32_t *count,
                               uint32_t *core, uint32_t *longest)
{
    *longest = 0;
    for (uint32_t rank = 0; rank < p->n; rank++) {
        uint32_t leaf = p->leaf_of[rank], k = count[t->host[leaf]]++;

        if (k < *longest && core[k] != t->physical[leaf])
            return xy_fail(XY_EINVAL,
                           "rank %u: MPICH binds the ranks of every host to the same cores in the "
                           "same order, and this placement does not; write mpich-hosts",
                           rank);
        if (k >= *longest) {
            core[k] = t->physical[leaf];
            *longest = k + 1;
        }
    }
    return XY_OK;
}

/* Prints the -bind-to option of MPICH; fails if hosts need different lists. */
static xy_status_t print_mpich_binding(const xy_place_t *p, const xy_target_t *t, uint32_t hosts,
                                       FILE *file)
{
    uint32_t longest = 0, *count = xy_calloc(hosts, sizeof(*count));
    uint32_t *core = xy_calloc((size_t)p->n + 1, sizeof(*core));
    xy_status_t st = XY_ENOMEM;

    if (count != NULL && core != NULL)
        st = mpich_cores(p, t, count, core, &longest);
    else
        xy_fail_memory("writing a placement");
    for (uint32_t k = 0; st == XY_OK && k < longest; k++)
        fprintf(file, "%s%u", k > 0 ? "," : "-bind-to user:", core[k]);
    xy_free(count);
    xy_free(core);
    return st;
}

/* Prints the placement as options of MPICH's mpiexec. */
static xy_status_t print_mpich(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                               FILE *file)
{
    uint32_t hosts = 0;
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < t->leaves; i++)
        hosts = t->host[i] >= hosts ? t->host[i] + 1 : hosts;
    if (m != NULL) /* otherwise a leaf is a host, and there is nothing to bind to */
        st = print_mpich_binding(p, t, hosts, file);
    if (st == XY_OK && (hosts > 1 || m == NULL)) {
        fputs(m != NULL ? " -rankmap " : "-rankmap ", file);
        for (uint32_t rank = 0; rank < p->n; rank++)
            fprintf(file, "%s%u", rank > 0 ? "," : "", host_of(p, t, m, rank));
    }
    if (st == XY_OK)
        fputs("\n", file);
    return st;
}

/* Hydra starts ranks in the order of the lines, and a line may bind its own ranks: any placement
 * can be written, for any version. It takes each line for a node of its own, though. */
static void print_mpich_hosts(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                              FILE *file)
{
    char buffer[32];

    for (uint32_t first = 0, end; first < p->n; first = end) {
        uint32_t host = host_of(p, t, m, first);

        end = first + 1;
        while (end < p->n && host_of(p, t, m, end) == host)
            end++;
        fprintf(file, "%s:%u", host_name(m, host, "node", buffer), end - first);
        for (uint32_t rank = first; m != NULL && rank < end; rank++)
            fprintf(file, "%s%u",
                    rank > first ? "," : " binding=user:", t->physical[p->leaf_of[rank]]);
        fputs("\n", file);
    }
}

static xy_status_t print_xylem(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                               FILE *file)
{
    for (uint32_t rank = 1; rank < p->n; rank++)
        if (host_of(p, t, m, rank) != host_of(p, t, m, 0))
            return xy_fail(XY_EINVAL,
                           "ranks 0 and %u are on different hosts; xylem run --place "
                           "works on one",
                           rank);
    for (uint32_t rank = 0; rank < p->n; rank++)
        fprintf(file, "%u %u\n", rank, t->physical[p->leaf_of[rank]]);
    return XY_OK;
}

static void print_slurm(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                        FILE *file)
{
    char buffer[32];

    for (uint32_t rank = 0; rank < p->n; rank++)
        fprintf(file, "%s\n", host_name(m, host_of(p, t, m, rank), "node", buffer));
}

xy_status_t xy_place_print(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                           xy_place_format_t format, FILE *file)
{
    switch (format) {
    case XY_PLACE_CORES:
        for (uint32_t rank = 0; rank < p->n; rank++)
            fprintf(file, "%s%u", rank > 0 ? "," : "", t->physical[p->leaf_of[rank]]);
        fputs("\n", file);
        break;
    case XY_PLACE_XYLEM:
        return print_xylem(p, t, m, file);
    case XY_PLACE_RANKFILE:
    case XY_PLACE_RANKFILE5: /* the same file; it is given in another way */
        print_rankfile(p, t, m, file);
        break;
    case XY_PLACE_MPICH:
        return print_mpich(p, t, m, file);
    case XY_PLACE_MPICH_HOSTS:
        print_mpich_hosts(p, t, m, file);
        break;
    case XY_PLACE_SLURM:
        print_slurm(p, t, m, file);
        break;
    case XY_PLACE_FORMATS:
        break;
    }
    return XY_OK;
}

/* ---- For people and programs ---- */

void xy_place_print_text(const xy_place_t *p, const xy_target_t *t, FILE *file)
{
    char seconds[32];

    fprintf(file, "%u processes on %u cores by %s", p->n, t->leaves, p->strategy);
    if (strcmp(p->strategy, p->winner) != 0)
        fprintf(file, " (%s)", p->winner);
    fprintf(file, " in %s\n", xy_format_seconds(p->seconds, seconds));
    fprintf(file, "hop-bytes %.6g, weighted %.6g, busiest link %.6g\n", p->cost.hop_bytes,
            p->cost.weighted, p->cost.max_load);
    for (uint32_t i = 0; i < p->n; i++)
        fprintf(file, "%s%u", i == 0 ? "cores " : " ", t->logical[p->leaf_of[i]]);
    fprintf(file, "\n");
}

void xy_place_print_json(const xy_place_t *p, const xy_target_t *t, double run, xy_json_t *json)
{
    xy_json_begin_object(json, NULL);
    xy_fields(json, "strategy %s winner %s seconds %g hop_bytes %g weighted %g max_load %g",
              p->strategy, p->winner, p->seconds, p->cost.hop_bytes, p->cost.weighted,
              p->cost.max_load);
    if (run >= 0)
        xy_json_double(json, "predicted", run);
    xy_json_begin_array(json, "core_of");
    for (uint32_t i = 0; i < p->n; i++)
        xy_json_int(json, NULL, t->logical[p->leaf_of[i]]);
    xy_json_end(json);
    xy_json_end(json);
}

/* The placements that cost least and most by the weights of links; NULL where there is none. */
static void find_ends(xy_place_t *const *places, int count, const xy_place_t **best_p,
                      const xy_place_t **worst_p, double *hops_p)
{
    *best_p = *worst_p = NULL;
    for (int i = 0; i < count; i++) {
        const xy_place_t *p = places[i];

        if (p == NULL)
            continue;
        if (*best_p == NULL || p->cost.weighted < (*best_p)->cost.weighted)
            *best_p = p;
        if (*worst_p == NULL || p->cost.weighted > (*worst_p)->cost.weighted)
            *worst_p = p;
        *hops_p = p->cost.hop_bytes < *hops_p ? p->cost.hop_bytes : *hops_p;
    }
}

void xy_place_print_table(xy_place_t *const *places, const char *const *why, const double *runs,
                          int count, FILE *file)
{
    const xy_place_t *best, *worst;
    double hops = INFINITY, weighted;
    char seconds[32], run[32];

    find_ends(places, count, &best, &worst, &hops);
    weighted = best != NULL ? best->cost.weighted : 0;
    if (weighted > 0 && worst->cost.weighted < 1.005 * weighted)
        fprintf(file, "all strategies cost the same, within half a percent\n");
    else if (weighted > 0)
        fprintf(file, "%s costs least, %s %.2f times as much\n", best->strategy, worst->strategy,
                worst->cost.weighted / weighted);
    fprintf(file, "%-13s %12s %8s %12s %8s %12s %12s%s\n", "strategy", "hop-bytes", "to best",
            "weighted", "to best", "busiest link", "time", runs != NULL ? "    predicted" : "");
    for (int i = 0; i < count; i++) {
        const xy_place_t *p = places[i];

        if (p == NULL)
            fprintf(file, "%-13s %s\n", xy_strategies[i]->name, why[i]);
        else
            fprintf(file, "%-13s %12.6g %8.4f %12.6g %8.4f %12.6g %12s%s%*s\n", p->strategy,
                    p->cost.hop_bytes, hops > 0 ? p->cost.hop_bytes / hops : 1, p->cost.weighted,
                    weighted > 0 ? p->cost.weighted / weighted : 1, p->cost.max_load,
                    xy_format_seconds(p->seconds, seconds), runs != NULL ? " " : "",
                    runs != NULL ? 12 : 0, runs != NULL ? xy_format_seconds(runs[i], run) : "");
    }
}
