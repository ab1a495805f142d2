/* SPDX-License-Identifier: BSD-3-Clause */
/* Set up a prediction: the machine, the models, the cores of processes. */
#include <stdlib.h>
#include <string.h>

#include "predict.h"

/* ---- Loading ---- */

/* The first usable hardware thread of each core, as xy_cores_init counts them. */
static xy_status_t find_leaves(predict_t *p)
{
    xy_obj_t last = XY_OBJ_NONE;
    int core = 0;

    p->leaf_of = xy_calloc((size_t)p->cores.count, sizeof(*p->leaf_of));
    if (p->leaf_of == NULL)
        return xy_fail_memory("listing the cores");
    for (uint32_t i = 0; i < p->machine->leaves && core < p->cores.count; i++) {
        xy_obj_t leaf = p->machine->leaf[i], of = xy_machine_above(p->machine, leaf, XY_OBJ_CORE);

        of = of != XY_OBJ_NONE ? of : leaf;
        if (!xy_machine_is_usable(p->machine, leaf) || of == last)
            continue;
        last = of;
        p->leaf_of[core++] = leaf;
    }
    /* Numbers of the operating system begin again in each node: cores are counted through. */
    for (int c = 0; c < p->cores.count; c++)
        p->cores.cpu[c] = c;
    return XY_OK;
}

/* ---- Cores for communication ---- */

static xy_obj_t node_of(const predict_t *p, int core)
{
    return xy_machine_above(p->machine, p->leaf_of[core], XY_OBJ_NODE);
}

/* The last K cores of each node. */
static xy_status_t reserve_per_node(const predict_t *p, long k, xy_bitset_t *reserved)
{
    int end = p->cores.count, begin;

    for (; end > 0; end = begin) {
        xy_obj_t node = node_of(p, end - 1);

        for (begin = end - 1; begin > 0 && node_of(p, begin - 1) == node; begin--)
            ;
        if (end - begin <= k)
            return xy_fail(XY_EUSAGE,
                           "--comm-cores %ld: a node of %s has %d cores, and the processes need "
                           "one",
                           k, p->machine->name, end - begin);
        for (int c = end - (int)k; c < end; c++)
            xy_bitset_set(reserved, (size_t)c);
    }
    return XY_OK;
}

/* Splits the cores into reserved ones and those kept for ranks, by a number per node or a list. */
static xy_status_t list_reserved(predict_t *p, const char *text, xy_bitset_t *reserved,
                                 xy_bitset_t *kept)
{
    long k = 0;
    xy_status_t st = xy_parse_long(text, &k) && k >= 0
                         ? reserve_per_node(p, k, reserved)
                         : xy_bitset_parse(reserved, text, "--comm-cores");

    for (int c = 0; c < p->cores.count && st == XY_OK; c++)
        if (xy_bitset_has(reserved, (size_t)c))
            p->comm[p->comm_count++] = c;
        else
            xy_bitset_set(kept, (size_t)c);
    return st;
}

/* Cores that no process gets leave `ranks`. */
static xy_status_t reserve(predict_t *p, const char *text)
{
    xy_bitset_t reserved, kept;
    xy_status_t st = xy_bitset_init(&reserved, (size_t)p->cores.count);

    if (st == XY_OK && xy_bitset_init(&kept, (size_t)p->cores.count) != XY_OK) {
        xy_bitset_cleanup(&reserved);
        st = XY_ENOMEM;
    }
    if (st != XY_OK)
        return xy_fail_memory("listing the cores");
    p->comm = xy_calloc((size_t)p->cores.count, sizeof(*p->comm));
    st = p->comm != NULL ? list_reserved(p, text, &reserved, &kept)
                         : xy_fail_memory("listing the cores");
    if (st == XY_OK && p->comm_count > 0)
        st = xy_cores_restrict(&p->ranks, &kept);
    xy_bitset_cleanup(&reserved);
    xy_bitset_cleanup(&kept);
    return st;
}

/* Of each T cores of a node the first one is for a rank, the others are for its threads. */
static xy_status_t leave_cores(predict_t *p, long threads)
{
    xy_bitset_t kept;
    xy_status_t st = xy_bitset_init(&kept, (size_t)p->cores.count);
    int begin = 0;

    if (st != XY_OK)
        return xy_fail_memory("listing the cores");
    for (int i = 0; i < p->ranks.count; i++) {
        if (node_of(p, p->ranks.cpu[i]) != node_of(p, p->ranks.cpu[begin]))
            begin = i;
        if ((i - begin) % threads == 0)
            xy_bitset_set(&kept, (size_t)p->ranks.cpu[i]);
    }
    st = xy_cores_restrict(&p->ranks, &kept);
    xy_bitset_cleanup(&kept);
    return st;
}

static xy_status_t find_ranks(predict_t *p)
{
    xy_status_t st = xy_cores_init(&p->ranks, p->machine);

    for (int c = 0; st == XY_OK && c < p->ranks.count; c++)
        p->ranks.cpu[c] = c;
    if (st == XY_OK && p->v->comm_cores != NULL)
        st = reserve(p, p->v->comm_cores);
    return st == XY_OK && p->v->threads > 1 ? leave_cores(p, p->v->threads) : st;
}

/* ---- Progress ---- */

/* Reads --split, --progress-place and --progress-order. */
static xy_status_t read_progress(predict_t *p)
{
    const predict_values_t *v = p->v;
    const xy_threads_t *place = NULL;
    const xy_order_t *order = NULL;
    xy_status_t st = XY_OK;
    long levels;

    if (strcmp(v->split, "auto") == 0)
        p->split = XY_VJOB_SPLIT_AUTO;
    else if (strcmp(v->split, "adaptive") == 0)
        p->split = XY_VJOB_SPLIT_ADAPTIVE;
    else if (xy_parse_long(v->split, &levels) && levels >= 0 && levels <= 64)
        p->split = (int)levels + 1;
    else if (strcmp(v->split, "off") != 0)
        return xy_fail(XY_EUSAGE, "--split %s: give a number of levels, auto, adaptive or off",
                       v->split);
    if (strcmp(v->progress_place, "auto") != 0)
        st = xy_threads_find(v->progress_place, &place);
    if (st == XY_OK && strcmp(v->progress_order, "auto") != 0)
        st = xy_order_find(v->progress_order, &order);
    if (st == XY_OK && place != NULL && place->on_sibling)
        return xy_fail(XY_EUSAGE,
                       "--progress-place %s: predictions have no model of sibling hardware "
                       "threads; 'xylem bench nbc --simulate' has",
                       place->name);
    for (int c = 0; c < XY_COLL_COUNT; c++) {
        p->places[c] = place;
        p->orders[c] = order;
    }
    return st;
}

/* ---- All of it ---- */

xy_status_t predict_load(predict_t *p)
{
    const predict_values_t *v = p->v;
    xy_status_t st;

    st = xy_machine_load(v->machine, &p->machine);
    if (st == XY_OK)
        st = xy_cores_init(&p->cores, p->machine);
    if (st == XY_OK)
        st = find_leaves(p);
    if (st == XY_OK)
        st = find_ranks(p);
    if (st == XY_OK)
        st = read_progress(p);
    if (st == XY_OK)
        st = v->costs != NULL ? xy_costs_load(v->costs, &p->costs)
                              : xy_costs_load_beside(v->machine, &p->costs);
    return st;
}

void predict_cleanup(predict_t *p)
{
    xy_free(p->leaf_of);
    xy_free(p->comm);
    xy_cores_cleanup(&p->ranks);
    xy_cores_cleanup(&p->cores);
    xy_machine_destroy(p->machine);
    xy_costs_destroy(p->costs);
    xy_learned_destroy(p->learned);
    xy_program_destroy(p->read);
    xy_scan_free(p->scan);
}

/* ---- Places ---- */

static xy_status_t find_node(const predict_t *p, const char *path, long line, const char *name,
                             int *first_p)
{
    for (int c = 0; c < p->ranks.count; c++) {
        xy_obj_t node = node_of(p, p->ranks.cpu[c]);

        if (node != XY_OBJ_NONE && strcmp(xy_machine_object_name(p->machine, node), name) == 0) {
            *first_p = c;
            return XY_OK;
        }
    }
    return xy_fail_at(XY_EINVAL, path, line, "the machine %s has no node '%s'", p->machine->name,
                      name);
}

/* The first core of the node of each line. */
static xy_status_t read_hosts(const predict_t *p, const char *path, xy_vec_t *firsts)
{
    char *data, *rest, *text;
    xy_status_t st = xy_file_read_text(path, 64 << 20, &data);
    long line = 0;

    if (st != XY_OK)
        return st;
    for (rest = data; st == XY_OK && (text = strsep(&rest, "\n")) != NULL;) {
        int first;

        line++;
        text += strspn(text, " \t\r");
        text[strcspn(text, " \t\r#")] = '\0';
        if (*text == '\0')
            continue;
        st = find_node(p, path, line, text, &first);
        if (st == XY_OK && xy_vec_append(firsts, &first) != XY_OK)
            st = xy_fail_memory("reading the hosts");
    }
    if (st == XY_OK && firsts->count == 0)
        st = xy_fail_at(XY_EINVAL, path, 0, "no hosts: write one name of a node per line");
    xy_free(data);
    return st;
}

/* Process i is on line i, and from the beginning again; on the next core of the node, likewise. */
static xy_status_t place_hosts(const predict_t *p, int32_t procs, int32_t *core_of)
{
    xy_vec_t firsts = XY_VEC_INIT(int);
    int32_t *used = xy_calloc((size_t)p->cores.count, sizeof(*used));
    xy_status_t st = used != NULL ? read_hosts(p, p->v->hosts, &firsts)
                                  : xy_fail_memory("placing the processes");

    for (int32_t r = 0; st == XY_OK && r < procs; r++) {
        int first = XY_VEC_AT(&firsts, int, (size_t)r % firsts.count), cores = 1;

        while (first + cores < p->ranks.count &&
               node_of(p, p->ranks.cpu[first + cores]) == node_of(p, p->ranks.cpu[first]))
            cores++;
        core_of[r] = p->ranks.cpu[first + used[first]++ % cores];
    }
    xy_free(used);
    xy_vec_cleanup(&firsts);
    return st;
}

/* Places the processes by a strategy, a plug-in or a file. */
static xy_status_t place_by(const predict_t *p, const char *strategy, int32_t procs,
                            int32_t *core_of)
{
    int *places = xy_calloc((size_t)procs, sizeof(*places));
    bool is_file = strategy != NULL && !xy_strategy_is_plugin(strategy) &&
                   xy_table_find(XY_TABLE(xy_strategies), strategy) == NULL;
    xy_status_t st;

    if (places == NULL)
        return xy_fail_memory("placing the processes");
    st = is_file ? xy_place_read(strategy, &p->ranks, procs, places)
                 : xy_place_ranks(strategy != NULL ? strategy : "scatter_numa", &p->ranks, procs,
                                  places);
    for (int32_t r = 0; st == XY_OK && r < procs; r++)
        core_of[r] = p->ranks.cpu[places[r]];
    xy_free(places);
    return st;
}

static bool is_by_matrix(const char *strategy)
{
    const xy_strategy_t *s = NULL;

    if (xy_strategy_is_plugin(strategy))
        return xy_strategy_find(strategy, &s) == XY_OK && s->needs_matrix;
    if (strategy != NULL)
        s = xy_table_find(XY_TABLE(xy_strategies), strategy);
    return s != NULL && s->needs_matrix;
}

xy_status_t predict_place(const predict_t *p, int32_t procs, int32_t **core_of_p,
                          bool *needs_matrix_p)
{
    int32_t *core_of = xy_calloc((size_t)procs, sizeof(*core_of));
    xy_status_t st;

    *needs_matrix_p = is_by_matrix(p->v->place);
    if (core_of == NULL)
        return xy_fail_memory("placing the processes");
    if (procs > p->cores.count && !p->v->oversubscribe && p->v->hosts == NULL)
        st = xy_fail(XY_EUSAGE,
                     "%d processes on %s, which has %d core%s; give --oversubscribe to let "
                     "processes share cores, or a larger machine",
                     procs, p->machine->name, p->cores.count, p->cores.count == 1 ? "" : "s");
    else if (p->v->hosts != NULL)
        st = place_hosts(p, procs, core_of);
    else
        st = place_by(p, *needs_matrix_p ? NULL : p->v->place, procs, core_of);
    if (st == XY_OK)
        *core_of_p = core_of;
    else
        xy_free(core_of);
    return st;
}

xy_status_t predict_matrix(const xy_prediction_t *counted, xy_matrix_t **matrix_p)
{
    return xy_pairs_matrix(&counted->pairs, counted->procs, matrix_p);
}

/* The leaves of a machine of cores are the cores, in their order. */
static xy_status_t place_matrix(const predict_t *p, const xy_matrix_t *matrix, int32_t *core_of)
{
    xy_machine_t *cores = NULL;
    xy_target_t *target = NULL;
    xy_place_options_t o = {.strategy = p->v->place, .seed = 1, .restarts = 5};
    xy_place_t *place = NULL;
    uint32_t *capacity = xy_calloc((size_t)p->cores.count, sizeof(*capacity));
    xy_status_t st = capacity != NULL ? xy_cores_machine(p->machine, &cores)
                                      : xy_fail_memory("placing the processes");

    for (int c = 0; st == XY_OK && c < p->ranks.count; c++)
        capacity[p->ranks.cpu[c]] =
            (matrix->n + (uint32_t)p->ranks.count - 1) / (uint32_t)p->ranks.count;
    if (p->comm_count > 0)
        o.capacity = capacity;
    if (st == XY_OK)
        st = xy_target_check(p->machine);
    if (st == XY_OK)
        st = xy_target_create(cores, NULL, &target);
    if (st == XY_OK)
        st = xy_place_compute(matrix, target, &o, &place);
    for (uint32_t r = 0; st == XY_OK && r < matrix->n; r++)
        core_of[r] = (int32_t)place->leaf_of[r];
    xy_place_destroy(place);
    xy_target_destroy(target);
    xy_machine_destroy(cores);
    xy_free(capacity);
    return st;
}

xy_status_t predict_place_again(const predict_t *p, const xy_prediction_t *counted,
                                int32_t **core_of_p)
{
    int32_t *core_of = xy_calloc((size_t)counted->procs, sizeof(*core_of));
    xy_matrix_t *matrix = NULL;
    xy_status_t st = core_of != NULL ? predict_matrix(counted, &matrix)
                                     : xy_fail_memory("placing the processes");

    if (st == XY_OK)
        st = place_matrix(p, matrix, core_of);
    xy_matrix_destroy(matrix);
    if (st == XY_OK)
        *core_of_p = core_of;
    else
        xy_free(core_of);
    return st;
}
