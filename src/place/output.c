/* SPDX-License-Identifier: BSD-3-Clause */
/* Placements as launchers want them. */
#include "place/output.h"

const char *const xy_place_format_names[] = {"cores", "xylem", "rankfile", "rankfile5",
                                             "mpich", "slurm", NULL};

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

    for (uint32_t rank = 0; rank < p->n; rank++) {
        uint32_t leaf = p->leaf_of[rank], host = m != NULL ? t->host[leaf] : t->logical[leaf];

        fprintf(file, "rank %u=%s slot=%u\n", rank, host_name(m, host, "+n", buffer),
                core_in_host(t, m, leaf));
    }
}

/* The place of `rank` among the ranks of its host, and the physical core there. */
static xy_status_t mpich_lists(const xy_place_t *p, const xy_target_t *t, uint32_t *count,
                               uint32_t *core, uint32_t *longest)
{
    *longest = 0;
    for (uint32_t rank = 0; rank < p->n; rank++) {
        uint32_t leaf = p->leaf_of[rank], k = count[t->host[leaf]]++;

        if (k < *longest && core[k] != t->physical[leaf])
            return xy_fail(XY_EINVAL,
                           "rank %u: MPICH binds the ranks of every host to the same cores in the "
                           "same order, and this placement does not; write slurm or rankfile",
                           rank);
        if (k >= *longest) {
            core[k] = t->physical[leaf];
            *longest = k + 1;
        }
    }
    return XY_OK;
}

static xy_status_t print_mpich(const xy_place_t *p, const xy_target_t *t, FILE *file)
{
    uint32_t hosts = 0, longest = 0, *count, *core;
    xy_status_t st = XY_ENOMEM;

    for (uint32_t i = 0; i < t->leaves; i++)
        hosts = t->host[i] >= hosts ? t->host[i] + 1 : hosts;
    count = xy_calloc(hosts, sizeof(*count));
    core = xy_calloc((size_t)p->n + 1, sizeof(*core));
    if (count != NULL && core != NULL)
        st = mpich_lists(p, t, count, core, &longest);
    else
        xy_fail_memory("writing a placement");
    if (st == XY_OK) {
        fputs("-bind-to user:", file);
        for (uint32_t k = 0; k < longest; k++)
            fprintf(file, "%s%u", k > 0 ? "," : "", core[k]);
        if (hosts > 1) {
            fputs(" -rankmap (vector", file);
            for (uint32_t rank = 0; rank < p->n; rank++)
                fprintf(file, ",%u", t->host[p->leaf_of[rank]]);
            fputs(")", file);
        }
        fputs("\n", file);
    }
    xy_free(count);
    xy_free(core);
    return st;
}

static void print_slurm(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                        FILE *file)
{
    char buffer[32];

    for (uint32_t rank = 0; rank < p->n; rank++) {
        uint32_t leaf = p->leaf_of[rank], host = m != NULL ? t->host[leaf] : t->logical[leaf];

        fprintf(file, "%s\n", host_name(m, host, "node", buffer));
    }
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
        for (uint32_t rank = 0; rank < p->n; rank++)
            fprintf(file, "%u %u\n", rank, t->physical[p->leaf_of[rank]]);
        break;
    case XY_PLACE_RANKFILE:
    case XY_PLACE_RANKFILE5: /* the same file; it is given in another way */
        print_rankfile(p, t, m, file);
        break;
    case XY_PLACE_MPICH:
        return print_mpich(p, t, file);
    case XY_PLACE_SLURM:
        print_slurm(p, t, m, file);
        break;
    case XY_PLACE_FORMATS:
        break;
    }
    return XY_OK;
}
