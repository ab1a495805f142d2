/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --map-by, --rank-by and --bind-to of Open MPI and MPICH. Ranks are placed on parts of the
 * machine in turn, each on the next core of its part. Two sockets of four cores, --map-by socket:
 *
 *   cores  0 1 2 3 | 4 5 6 7
 *   ranks  0 2 4 . | 1 3 5 .        with --rank-by core: 0 1 2 . | 3 4 5 .
 */
#include "launch/mapping.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/rankfile.h"
#include "launch/virtual_time.h"
#include "machine/machine.h"

typedef enum { SLOT, HWTHREAD, CORE, L1, L2, L3, NUMA, SOCKET, NODE, LEVELS } level_t;

static const struct {
    const char *name;
    level_t level;
    xy_obj_type_t object;
} levels[] = {
    {"slot", SLOT, XY_OBJ_CORE},  {"hwthread", HWTHREAD, XY_OBJ_PU},
    {"core", CORE, XY_OBJ_CORE},  {"l1cache", L1, XY_OBJ_L1},
    {"l2cache", L2, XY_OBJ_L2},   {"l3cache", L3, XY_OBJ_L3},
    {"numa", NUMA, XY_OBJ_NUMA},  {"socket", SOCKET, XY_OBJ_PACKAGE},
    {"node", NODE, XY_OBJ_NODE},  {"package", SOCKET, XY_OBJ_PACKAGE},
    {"board", NODE, XY_OBJ_NODE}, {"machine", NODE, XY_OBJ_NODE},
};

enum { NAMES = sizeof(levels) / sizeof(levels[0]), WORD = 32 };

/* The parsed --map-by. */
typedef struct {
    int name;   /* of levels */
    long per;   /* ppr: ranks on each; 0: in turn */
    long cores; /* PE; 0: not given */
} mapping_t;

/* ---- Reading ---- */

static int find_level(const char *word)
{
    for (int i = 0; i < NAMES; i++)
        if (strcasecmp(levels[i].name, word) == 0)
            return i;
    return -1;
}

static xy_status_t fail_level(const char *option, const char *text)
{
    return xy_fail(
        XY_EUSAGE,
        "%s %s: unknown level; use slot, hwthread, core, l1cache, l2cache, l3cache, numa, "
        "socket or node; see 'mpiexec --help'",
        option, text);
}

/* Cut the next word, up to a character of `end`, off a text; false: none, or it is too long. */
static bool next_word(const char **text, const char *end, char word[WORD])
{
    size_t n;

    if (*text == NULL || **text == '\0')
        return false;
    n = strcspn(*text, end);
    snprintf(word, WORD, "%.*s", (int)n, *text);
    *text += n + ((*text)[n] != '\0');
    return n < WORD;
}

/* One modifier after the level: "PE=2". `values` NULL: its effect is already stored. */
static xy_status_t read_modifier(const char *text, const char *word, mapping_t *m,
                                 mpi_launch_values_t *values)
{
    bool is_over = strcasecmp(word, "oversubscribe") == 0;

    if (strncasecmp(word, "pe=", 3) == 0 && xy_parse_long(word + 3, &m->cores) && m->cores > 0 &&
        m->cores < 1 << 20)
        return XY_OK;
    if (!is_over && strcasecmp(word, "nooversubscribe") != 0 && strcasecmp(word, "hwtcpus") != 0)
        return xy_fail(XY_EUSAGE,
                       "--map-by %s: '%s' is none of PE=N, OVERSUBSCRIBE, NOOVERSUBSCRIBE, HWTCPUS",
                       text, word);
    if (values != NULL && strcasecmp(word, "hwtcpus") == 0)
        values->each_thread = true;
    else if (values != NULL)
        values->no_oversubscribe = !is_over;
    return XY_OK;
}

/* "numa", "socket:PE=2", "ppr:4:node:PE=2". */
static xy_status_t read_map(const char *text, mapping_t *m, mpi_launch_values_t *values)
{
    const char *rest = text;
    char word[WORD];
    xy_status_t st = XY_OK;

    *m = (mapping_t){0};
    if (strncasecmp(text, "ppr:", 4) == 0) {
        rest += 4;
        if (!next_word(&rest, ":", word) || !xy_parse_long(word, &m->per) || m->per < 1 ||
            m->per > 1 << 20)
            return xy_fail(XY_EUSAGE, "--map-by %s: write ppr:N:WHAT, N ranks on each", text);
    }
    m->name = next_word(&rest, ":", word) ? find_level(word) : -1;
    if (m->name < 0)
        return fail_level("--map-by", text);
    while (st == XY_OK && next_word(&rest, ":,", word))
        st = read_modifier(text, word, m, values);
    return st;
}

/* Cores of each rank, which several options may give. */
static xy_status_t set_threads(mpi_launch_values_t *values, const char *option, const char *text,
                               long cores)
{
    if (cores == 0)
        return XY_OK;
    if (values->virtual_machine != NULL)
        return xy_fail(XY_EUSAGE, "%s %s: cores of threads have no effect with --virtual", option,
                       text);
    if (values->threads_per_rank > 0 && values->threads_per_rank != cores)
        return xy_fail(XY_EUSAGE, "%s %s: another option gives each rank %ld cores; leave one out",
                       option, text, values->threads_per_rank);
    values->threads_per_rank = cores;
    return XY_OK;
}

/* Translate --map-by into a rankfile, processes per node and threads per rank. */
static xy_status_t translate_map(mpi_launch_values_t *values)
{
    const char *file = "rankfile:file=";
    mapping_t m;
    xy_status_t st;

    if (strncasecmp(values->map_by, file, strlen(file)) == 0) {
        values->rankfile = values->map_by + strlen(file);
        values->map_by = NULL;
        return XY_OK;
    }
    st = read_map(values->map_by, &m, values);
    if (st == XY_OK && m.per > 0 && levels[m.name].level == NODE && values->ppn == 0)
        values->ppn = m.per;
    if (st == XY_OK && values->rank_by != NULL && find_level(values->rank_by) < 0)
        st = fail_level("--rank-by", values->rank_by);
    return st == XY_OK ? set_threads(values, "--map-by", values->map_by, m.cores) : st;
}

/* "core", "core:2", "user:0,2", "cpu-list:ordered", "socket:if-supported". */
static xy_status_t translate_bind(mpi_launch_values_t *values, bool is_quiet)
{
    const char *rest = values->bind_to, *text = values->bind_to;
    char word[WORD], more[WORD] = "";
    bool is_known = next_word(&rest, ":", word);
    long cores = 0;
    int level = is_known ? find_level(word) : -1;

    if (is_known && strcasecmp(word, "user") == 0 && *rest != '\0')
        return XY_OK; /* mpi_mapping_place reads the list */
    if (is_known && strcasecmp(word, "cpu-list") == 0) {
        if (values->cpu_set == NULL)
            return xy_fail(XY_EUSAGE, "--bind-to %s: name the cores with --cpu-list", text);
        if (values->map_by == NULL)
            values->map_by = "core";
        return XY_OK;
    }
    while (next_word(&rest, ":", more))
        if (!xy_parse_long(more, &cores) && strcasecmp(more, "overload-allowed") != 0 &&
            strcasecmp(more, "if-supported") != 0)
            is_known = false;
    if (!is_known || cores < 0 || cores >= 1 << 20 ||
        (level < 0 && strcasecmp(word, "none") != 0 && strcasecmp(word, "rr") != 0))
        return xy_fail(XY_EUSAGE,
                       "--bind-to %s: write core, core:N, hwthread, socket, numa, none or "
                       "user:LIST",
                       text);
    if (level < 0 || levels[level].level == HWTHREAD || levels[level].level <= CORE)
        return level >= 0 && levels[level].level == CORE
                   ? set_threads(values, "--bind-to", text, cores > 1 ? cores : 0)
                   : XY_OK;
    if (!is_quiet)
        xy_warn("--bind-to %s has no effect: a rank runs on one core, and its threads on those of "
                "--threads-per-rank",
                text);
    return XY_OK;
}

xy_status_t mpi_mapping_read(mpi_launch_values_t *values, bool is_quiet)
{
    xy_status_t st = values->map_by != NULL ? translate_map(values) : XY_OK;

    if (st == XY_OK && values->bind_to != NULL)
        st = translate_bind(values, is_quiet);
    return st;
}

static const char *user_list(const mpi_launch_values_t *values)
{
    return values->bind_to != NULL && strncasecmp(values->bind_to, "user:", 5) == 0
               ? values->bind_to + 5
               : NULL;
}

void mpi_mapping_warn_processes(const mpi_launch_values_t *values, const char *program)
{
    /* Over hosts, processes are spread as ranks are. */
    bool is_spread = values->map_by != NULL && strcasecmp(values->map_by, "node") == 0;
    const struct {
        const char *name, *value;
    } options[] = {{"--place", values->place},
                   {"--cores", values->cores},
                   {"--cpu-set", values->cpu_set},
                   {"--rankfile", values->rankfile},
                   {"--map-by", values->rankfile != NULL || is_spread ? NULL : values->map_by},
                   {"--bind-to", values->bind_to}};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && !values->quiet; i++)
        if (options[i].value != NULL && strcasecmp(options[i].value, "none") != 0)
            xy_warn("%s %s does not bind '%s': it is not linked with Xylem's MPI, and the system "
                    "places its processes",
                    options[i].name, options[i].value, program);
}

bool mpi_mapping_is_given(const mpi_launch_values_t *values)
{
    return values->map_by != NULL || values->rankfile != NULL || user_list(values) != NULL;
}

/* The parsed --map-by, which has been checked. */
static mapping_t mapping_of(const mpi_launch_values_t *values)
{
    mapping_t m = {0};

    if (values->map_by != NULL)
        read_map(values->map_by, &m, NULL);
    return m;
}

bool mpi_mapping_is_by_node(const mpi_launch_values_t *values)
{
    mapping_t m = mapping_of(values);

    return values->map_by != NULL && levels[m.name].level == NODE && m.per == 0;
}

xy_status_t mpi_mapping_check_several(const mpi_launch_values_t *values)
{
    mapping_t m = mapping_of(values);

    if (values->rankfile == NULL && (m.per == 0 || levels[m.name].level == NODE))
        return XY_OK;
    return xy_fail(XY_EUNSUPPORTED,
                   "%s is for jobs in one process; distribute ranks with slots of hosts, --ppn or "
                   "--map-by node",
                   values->rankfile != NULL ? "--rankfile" : "--map-by ppr:N:WHAT");
}

/* ---- Parts of the machine ---- */

/* A number that the cores of one part share. */
static long key_of(level_t level, const mpi_launch_values_t *values, const xy_cores_t *cores, int c)
{
    int cpu = cores->cpu[c];

    switch (level) {
    case CORE:
        return values->each_thread
                   ? xy_sysfs_number(XY_SYSFS, cpu, "cpu/cpu%d/topology/thread_siblings_list", cpu)
                   : cpu;
    case L1:
    case L2:
    case L3:
        return xy_sysfs_number(XY_SYSFS, cpu, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu,
                               level == L1   ? 0
                               : level == L2 ? 2
                                             : 3);
    case NUMA:
        return cores->numa[c];
    case SOCKET:
        return xy_sysfs_number(XY_SYSFS, 0, "cpu/cpu%d/topology/physical_package_id", cpu);
    case NODE:
        return 0;
    default:
        return cpu;
    }
}

/* The keys of all cores become 0, 1, ... in the order of their first cores; returns how many. */
static int number_parts(long *key, int count)
{
    int parts = 0;

    for (int c = 0; c < count; c++) {
        int same = 0;

        while (same < c && key[count + same] != key[c])
            same++;
        key[count + c] = key[c];
        key[c] = same < c ? key[same] : parts++;
    }
    return parts;
}

/* The part of each core: parts_of[cores], and how many there are. */
static xy_status_t find_parts(int name, const mpi_launch_values_t *values, const xy_cores_t *cores,
                              const xy_machine_t *machine, long **part_of_p, int *parts_p)
{
    long *key = xy_calloc(2 * (size_t)cores->count, sizeof(*key));
    xy_machine_t *all = NULL;
    xy_status_t st = key == NULL       ? xy_fail_memory("placing the ranks")
                     : machine != NULL ? xy_cores_machine(machine, &all)
                                       : XY_OK;

    for (int c = 0; c < cores->count && st == XY_OK; c++)
        key[c] = all == NULL
                     ? key_of(levels[name].level, values, cores, c)
                     : (long)xy_machine_above(all, all->leaf[cores->cpu[c]], levels[name].object);
    xy_machine_destroy(all);
    if (st != XY_OK) {
        xy_free(key);
        return st;
    }
    *parts_p = number_parts(key, cores->count);
    *part_of_p = key;
    return XY_OK;
}

/* With ppr:N:WHAT: the ranks that these cores get. */
static xy_status_t count_ranks(const mpi_launch_values_t *values, const xy_cores_t *cores,
                               const xy_machine_t *machine, int *count_p)
{
    mapping_t m = mapping_of(values);
    long *part_of;
    int parts;
    xy_status_t st;

    if (m.per == 0)
        return XY_OK;
    st = find_parts(m.name, values, cores, machine, &part_of, &parts);
    if (st != XY_OK)
        return st;
    xy_free(part_of);
    *count_p = (int)m.per * parts;
    return XY_OK;
}

xy_status_t mpi_mapping_default_count(const mpi_launch_values_t *values, int *count_p)
{
    xy_cores_t cores;
    xy_status_t st;

    if (values->virtual_machine != NULL) {
        const xy_machine_t *machine;
        const xy_cores_t *there;

        st = mpi_virtual_cores(values, count_p);
        if (st == XY_OK && values->map_by != NULL)
            st = mpi_virtual_target(values, &machine, &there);
        return st == XY_OK && values->map_by != NULL ? count_ranks(values, there, machine, count_p)
                                                     : st;
    }
    st = mpi_placement_cores(values, &cores);
    if (st != XY_OK)
        return st;
    *count_p = values->ppn > 0 ? (int)values->ppn : cores.count;
    st = count_ranks(values, &cores, NULL, count_p);
    xy_cores_cleanup(&cores);
    return st;
}

/* ---- Placing ---- */

/* Cores by part, and where each part begins: the k-th core of part p is order[begin[p] + k]. */
typedef struct {
    int parts;
    int *order, *begin, *used;
} dealer_t;

/* Sort the cores by parts; the caller frees d->order. */
static xy_status_t make_dealer(const long *part_of, int cores, int parts, dealer_t *d)
{
    int n = 0;

    if (parts == 0)
        return xy_fail(XY_EINVAL, "there is no core for the ranks");
    d->parts = parts;
    d->order = xy_calloc((size_t)cores + 2 * (size_t)parts + 1, sizeof(int));
    if (d->order == NULL)
        return xy_fail_memory("placing the ranks");
    d->begin = d->order + cores;
    d->used = d->begin + parts + 1;
    for (int p = 0; p < parts; p++) {
        d->begin[p] = n;
        for (int c = 0; c < cores; c++)
            if (part_of[c] == p)
                d->order[n++] = c;
    }
    d->begin[parts] = n;
    return XY_OK;
}

/* The next core for rank `i` in mapping order; where a part is full, the next one that has room. */
static int deal(dealer_t *d, long per, int i)
{
    int p = per > 0 ? (int)(i / per) : i % d->parts, size;

    for (int tries = 0; per == 0 && tries < d->parts; tries++, p = (p + 1) % d->parts)
        if (d->used[p] < d->begin[p + 1] - d->begin[p])
            break;
    size = d->begin[p + 1] - d->begin[p];
    return d->order[d->begin[p] + d->used[p]++ % size];
}

/* Compute the core of each rank by --map-by; an error if the parts have too little room. */
static xy_status_t map_ranks(const mapping_t *m, const mpi_launch_values_t *values,
                             const xy_cores_t *cores, const xy_machine_t *machine, int ranks,
                             int *core_of)
{
    dealer_t d = {0};
    long *part_of;
    int parts;
    xy_status_t st = find_parts(m->name, values, cores, machine, &part_of, &parts);

    if (st != XY_OK)
        return st;
    if (m->per > 0 && ranks > m->per * parts && (machine != NULL || levels[m->name].level != NODE))
        st = xy_fail(XY_EUSAGE, "--map-by %s: there is room for %ld ranks; the job has %d",
                     values->map_by, m->per * parts, ranks);
    if (st == XY_OK)
        st = make_dealer(part_of, cores->count, parts, &d);
    for (int i = 0; i < ranks && st == XY_OK; i++)
        core_of[i] = deal(&d, levels[m->name].level == NODE && machine == NULL ? 0 : m->per, i);
    xy_free(d.order);
    xy_free(part_of);
    return st;
}

/* Renumber the mapped ranks over the parts in turn, in mapping order within a part. */
static xy_status_t number_ranks(int name, const mpi_launch_values_t *values,
                                const xy_cores_t *cores, const xy_machine_t *machine, int ranks,
                                int *core_of)
{
    int *mapped = xy_malloc((size_t)ranks * sizeof(int)), *next = NULL, parts = 0, rank = 0;
    long *part_of = NULL;
    xy_status_t st = find_parts(name, values, cores, machine, &part_of, &parts);

    if (st == XY_OK)
        next = xy_calloc((size_t)parts, sizeof(int));
    if (st == XY_OK && (mapped == NULL || next == NULL))
        st = xy_fail_memory("placing the ranks");
    if (st == XY_OK)
        memcpy(mapped, core_of, (size_t)ranks * sizeof(int));
    for (int p = 0; st == XY_OK && rank < ranks; p = p + 1 < parts ? p + 1 : 0) {
        while (next[p] < ranks && part_of[mapped[next[p]]] != p)
            next[p]++;
        if (next[p] < ranks)
            core_of[rank++] = mapped[next[p]++];
    }
    xy_free(mapped);
    xy_free(next);
    xy_free(part_of);
    return st;
}

xy_status_t mpi_mapping_place(const mpi_launch_values_t *values, const xy_cores_t *cores,
                              const xy_machine_t *machine, int ranks, int *core_of)
{
    mapping_t m = mapping_of(values);
    int name = values->rank_by != NULL ? find_level(values->rank_by) : 0;
    xy_status_t st;

    if (values->rankfile != NULL) {
        long *socket_of;
        int sockets;

        st = find_parts(find_level("socket"), values, cores, machine, &socket_of, &sockets);
        if (st != XY_OK)
            return st;
        st = mpi_rankfile_read(values->rankfile, cores, socket_of, ranks, core_of);
        xy_free(socket_of);
        return st;
    }
    if (values->map_by == NULL)
        return mpi_rankfile_user(user_list(values), cores, ranks, core_of);
    st = map_ranks(&m, values, cores, machine, ranks, core_of);
    if (st == XY_OK && levels[name].level != SLOT)
        st = number_ranks(name, values, cores, machine, ranks, core_of);
    return st;
}
