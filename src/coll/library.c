/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the rule of a library that holds for a call, and the builder of its algorithm. */
#include <limits.h>
#include <string.h>

#include "coll/build.h"
#include "coll/rules.h"

static const xy_coll_library_t xylem = {.name = "xylem", .describe = "Xylem"};
static const xy_coll_library_t openmpi = {.name = "openmpi",
                                          .describe = "Open MPI 4.1",
                                          .table = "src/coll/rules/openmpi-4.1.csv",
                                          .rules = coll_rules_openmpi};
static const xy_coll_library_t mpich = {.name = "mpich",
                                        .describe = "MPICH 4.0",
                                        .table = "src/coll/rules/mpich-4.0.csv",
                                        .rules = coll_rules_mpich};

static const xy_coll_library_t *const libraries[] = {&xylem, &openmpi, &mpich, NULL};

const xy_coll_library_t *const *xy_coll_libraries(void)
{
    return libraries;
}

const xy_coll_library_t *xy_coll_library_find(const char *name)
{
    for (int i = 0; libraries[i] != NULL; i++)
        if (strcmp(libraries[i]->name, name) == 0)
            return libraries[i];
    return NULL;
}

/* MPICH calls blocking functions in all but those that serve everybody from a list; of Open MPI
 * this is known of exchanges in pairs alone. */
xy_coll_order_t xy_coll_library_order(const xy_coll_library_t *library,
                                      const xy_coll_algorithm_t *algorithm)
{
    if (library->rules == NULL)
        return XY_COLL_AT_ONCE;
    if (strncmp(algorithm->name, "pairwise", 8) == 0)
        return XY_COLL_IN_ROUNDS;
    return library == &mpich && strncmp(algorithm->name, "linear", 6) != 0 ? XY_COLL_IN_ORDER
                                                                           : XY_COLL_AT_ONCE;
}

/* ---- What holds for a call ---- */

static bool is_of(const xy_coll_request_t *q, uint32_t collectives)
{
    return (collectives >> q->collective & 1) != 0;
}

static const uint32_t with_counts = 1u << XY_COLL_GATHERV | 1u << XY_COLL_SCATTERV |
                                    1u << XY_COLL_ALLGATHERV | 1u << XY_COLL_REDUCE_SCATTER;
static const uint32_t with_matrix = 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW;

/* Elements of all blocks. */
static uint64_t sum_of(const xy_coll_request_t *q)
{
    uint64_t sum = 0;

    if (!is_of(q, with_counts))
        return q->count * (uint64_t)q->procs;
    for (int i = 0; i < q->procs; i++)
        sum += q->counts[i];
    return sum;
}

static bool has_pairs(const xy_coll_request_t *q)
{
    for (int i = 0; i < q->procs; i++)
        for (int j = 0; j < q->procs; j++)
            if (q->matrix[i][j] > 0)
                return true;
    return false;
}

static bool has_data(const xy_coll_request_t *q)
{
    if (q->collective == XY_COLL_BARRIER)
        return true;
    return is_of(q, with_matrix) ? has_pairs(q) : sum_of(q) > 0;
}

static bool is_in_place(const xy_coll_request_t *q)
{
    for (int i = 0; q->in_place != NULL && i < q->procs; i++)
        if (q->in_place[i])
            return true;
    return false;
}

static bool has_equal_blocks(const xy_coll_request_t *q)
{
    for (int i = 1; is_of(q, with_counts) && i < q->procs; i++)
        if (q->counts[i] != q->counts[0])
            return false;
    return true;
}

static bool is_one_node(const xy_coll_request_t *q)
{
    for (int i = 1; i < q->procs; i++)
        if (q->nodes == NULL || q->nodes[i] != 0)
            return false;
    return true;
}

/* Has some node several ranks, and are they consecutive everywhere? */
static bool is_shared(const xy_coll_request_t *q, bool *is_consecutive_p)
{
    int nodes = 1;

    *is_consecutive_p = true;
    for (int i = 1; q->nodes != NULL && i < q->procs; i++)
        if (q->nodes[i] == nodes)
            nodes++;
        else if (q->nodes[i] != q->nodes[i - 1])
            *is_consecutive_p = false;
    return q->nodes != NULL && nodes < q->procs;
}

/* All conditions that hold. */
static uint32_t facts_of(const xy_coll_request_t *q, int *ranks_p)
{
    bool commutes = q->is_commutative, in_place = is_in_place(q), equal = has_equal_blocks(q);
    bool power = coll_is_power(q->procs), is_consecutive;
    uint32_t facts = has_data(q) ? COLL_IF_DATA : COLL_IF_NO_DATA;

    *ranks_p = is_shared(q, &is_consecutive) ? COLL_RANKS_NODE : COLL_RANKS_FLAT;
    facts |= commutes ? COLL_IF_COMMUTES : COLL_IF_ORDERED;
    facts |= in_place ? COLL_IF_IN_PLACE : COLL_IF_NOT_IN_PLACE;
    facts |= !commutes || in_place ? COLL_IF_ORDERED_OR_IN_PLACE : 0;
    facts |= coll_has_element_per_member(q) ? COLL_IF_ENOUGH : COLL_IF_FEW;
    facts |= power ? COLL_IF_POWER : COLL_IF_NO_POWER;
    facts |= q->is_user_op ? COLL_IF_USER : COLL_IF_PREDEFINED;
    facts |= equal ? COLL_IF_EQUAL : 0;
    facts |= !equal || !power ? COLL_IF_UNEQUAL_OR_NO_POWER : 0;
    facts |= is_one_node(q) ? COLL_IF_ONE_NODE : COLL_IF_SEVERAL_NODES;
    return facts | (is_consecutive ? COLL_IF_CONSECUTIVE : COLL_IF_SCATTERED);
}

/* The number that the limits of a rule are compared with: bytes or elements of the call, by
 * `measure`. */
static uint64_t measure_of(const xy_coll_request_t *q, int measure)
{
    switch (measure) {
    case COLL_BYTES_BLOCK:
        return q->count * q->element;
    case COLL_BYTES_MEAN:
        return sum_of(q) * q->element / (uint64_t)q->procs;
    case COLL_BYTES_SUM:
        return sum_of(q) * q->element;
    case COLL_BYTES_SUM_ELEMENTS:
        return sum_of(q);
    default:
        return 0;
    }
}

/* ---- The rule ---- */

/* Find the rules that hold for the call, in their order; returns their number, which may exceed
 * `most`. */
static int find_rules(const xy_coll_library_t *library, const xy_coll_request_t *q, int collective,
                      const xy_coll_rule_t **list, int most)
{
    int ranks, n = 0;
    uint32_t facts = facts_of(q, &ranks);

    for (const xy_coll_rule_t *r = library->rules; r != NULL && r->algorithm != NULL; r++) {
        uint64_t bytes;

        if (r->collective != collective || r->is_nonblocking != q->is_nonblocking ||
            q->procs < r->procs_min || q->procs > r->procs_max || (r->conditions & ~facts) != 0 ||
            (r->ranks != COLL_RANKS_ANY && r->ranks != ranks))
            continue;
        bytes = measure_of(q, r->measure);
        if (bytes < r->bytes_min || bytes > r->bytes_max)
            continue;
        if (n < most)
            list[n] = r;
        n++;
    }
    return n;
}

/* No table has alltoallw: it is done as alltoallv. */
int xy_coll_library_rules(const xy_coll_library_t *library, const xy_coll_request_t *q,
                          const xy_coll_rule_t **list, int most)
{
    return find_rules(library, q,
                      q->collective == XY_COLL_ALLTOALLW ? XY_COLL_ALLTOALLV : (int)q->collective,
                      list, most);
}

/* ---- The builder ---- */

/* The words of tables, where the builder has another name than the same word with dashes. */
static const struct {
    const char *word;
    uint32_t collectives; /* 0: all */
    const char *builder;
} builders[] = {
    {"binomial", 1u << XY_COLL_GATHER | 1u << XY_COLL_SCATTER, "binomial-whole"},
    {"binomial_high_bit", 0, "binomial-high"},
    {"two_level_A", 0, "two-level"},
    {"two_level_B", 0, "two-level-root"},
    {"two_level_C", 0, "two-level"},
    {"two_level_D", 0, "two-level-zero"},
    {"two_level_scan", 0, "two-level"},
    {"root to its leader; leaders bcast; intra-node bcast (flat nonblocking rules on each)", 0,
     "two-level"},
    {"intra-node reduce (not on root node); leaders reduce; intra-node reduce on root node", 0,
     "two-level"},
    {"intra-node reduce to leader; leaders allreduce by flat rules; intra-node bcast", 0,
     "two-level"},
    {"intra-node barrier; leaders barrier by flat rules; 1-byte intra-node bcast", 0, "two-level"},
    {"binomial_reduce_bcast", 0, "reduce-bcast-high"},
    {"binomial_reduce_then_linear_scatter", 0, "binomial-scatter"},
    {"gatherv_then_bcast", 0, "gather-then-bcast"},
    {"inplace_neighbours_at_distance", 0, "pairwise"},
    {"knomial:radix4", 0, "knomial"},
    {"linear_nonblocking", 0, "linear"},
    {"linear_reduce_bcast", 0, "linear"},
    {"linear_sync", 1u << XY_COLL_ALLTOALL, "linear"},
    {"linear_throttled:32", 0, "linear"},
    {"noncommutative_butterfly", 0, "mirrored"},
    {"pairwise_sendrecv_replace", 0, "pairwise"},
    {"pipeline", 0, "chain"},
    {"recursive_halving", 0, "halving"},
    {"reduce_then_scatterv", 0, "reduce-then-scatter"},
    {"scatter_recursive_doubling_allgather", 0, "scatter-doubling"},
    {"scatter_ring_allgather", 0, "scatter-ring"},
    {"two_procs", 1u << XY_COLL_ALLTOALL, "pairwise"},
    {"two_procs", 0, "ring"},
};

/* The fallbacks of Open MPI's algorithms for calls that they cannot do. */
static const struct {
    const char *builder;
    uint32_t collectives;
    const char *instead;
} fallbacks[] = {
    {"ring", 1u << XY_COLL_ALLREDUCE, "recursive-doubling"},
    {"rabenseifner-halves", 1u << XY_COLL_ALLREDUCE | 1u << XY_COLL_REDUCE, "linear"},
    {"scatter-doubling", 1u << XY_COLL_BCAST, "linear"},
    {"split-binary", 1u << XY_COLL_BCAST, "chain"},
    {"neighbor-exchange", 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV, "ring"},
    {"recursive-doubling", 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV, "bruck"},
    {"recursive-doubling", 1u << XY_COLL_REDUCE_SCATTER_BLOCK, "reduce-then-scatter"},
};

static const xy_coll_algorithm_t *builder_named(const xy_coll_request_t *q, const char *name)
{
    for (int i = 0; xy_coll_algorithms()[i] != NULL; i++) {
        const xy_coll_algorithm_t *a = xy_coll_algorithms()[i];

        if (is_of(q, a->collectives) && strcmp(a->name, name) == 0)
            return a;
    }
    return NULL;
}

/* Words have an underscore where names have a dash. */
static const xy_coll_algorithm_t *builder_like(const xy_coll_request_t *q, const char *word)
{
    char name[64];
    size_t i = 0;

    for (; word[i] != '\0' && i + 1 < sizeof(name); i++)
        name[i] = word[i] == '_' ? '-' : word[i];
    name[i] = '\0';
    return builder_named(q, name);
}

/* The algorithm that builds what the library calls `word` for this call; NULL if there is none. */
static const xy_coll_algorithm_t *builder_of(const xy_coll_library_t *library,
                                             const xy_coll_request_t *q, const char *word)
{
    if (library == &openmpi && strcmp(word, "rabenseifner") == 0)
        return builder_named(q, "rabenseifner-halves");
    if (library == &mpich && q->collective == XY_COLL_REDUCE && strcmp(word, "rabenseifner") == 0)
        return builder_named(q, "rabenseifner-even");
    if (library == &openmpi && strcmp(word, "butterfly") == 0 && coll_is_power(q->procs) &&
        q->collective == XY_COLL_REDUCE_SCATTER_BLOCK)
        return builder_named(q, "mirrored");
    if (library == &mpich && strcmp(word, "pairwise") == 0 && coll_is_power(q->procs) &&
        !is_of(q, 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK))
        return builder_named(q, "pairwise-xor");
    for (size_t i = 0; i < sizeof(builders) / sizeof(builders[0]); i++)
        if (strcmp(builders[i].word, word) == 0 &&
            (builders[i].collectives == 0 || is_of(q, builders[i].collectives)))
            return builder_named(q, builders[i].builder);
    return builder_like(q, word);
}

/* Does the library itself turn to another algorithm, though the builder could do it? */
static bool is_refused(const xy_coll_library_t *library, const xy_coll_request_t *q,
                       const xy_coll_algorithm_t *a)
{
    if (!xy_coll_is_applicable(a, q))
        return true;
    if (library != &openmpi)
        return false;
    if (q->collective == XY_COLL_BCAST && strcmp(a->name, "scatter-doubling") == 0)
        return q->count < (uint64_t)q->procs;
    return q->collective == XY_COLL_REDUCE_SCATTER_BLOCK &&
           strcmp(a->name, "recursive-doubling") == 0 && q->count > INT_MAX / (uint64_t)q->procs;
}

static const xy_coll_algorithm_t *fallback_of(const xy_coll_request_t *q,
                                              const xy_coll_algorithm_t *a)
{
    for (size_t i = 0; i < sizeof(fallbacks) / sizeof(fallbacks[0]); i++)
        if (strcmp(fallbacks[i].builder, a->name) == 0 && is_of(q, fallbacks[i].collectives))
            return builder_named(q, fallbacks[i].instead);
    return NULL;
}

/* ---- The choice ---- */

/* Choose as this library does: direct inside a node and in levels if `is_own`, else the lowest
 * cost. */
static xy_status_t choose_own(const xy_coll_request_t *q, const xy_coll_link_t *link, bool is_own,
                              xy_coll_choice_t *choice)
{
    bool is_direct = is_own && is_one_node(q);

    if (is_direct) {
        choice->algorithm = xy_coll_direct(q->collective);
        return XY_OK;
    }
    if (is_own) {
        choice->algorithm = xy_coll_levels(q);
        if (choice->algorithm != NULL)
            return XY_OK;
    }
    return xy_coll_choose(q, link, NULL, &choice->algorithm);
}

static bool is_flat(const xy_coll_rule_t *rule)
{
    return strcmp(rule->algorithm, "flat rules on the whole communicator") == 0 ||
           strcmp(rule->algorithm, "intra-node allreduce") == 0;
}

xy_status_t xy_coll_library_choose(const xy_coll_library_t *library, xy_coll_request_t *q,
                                   const xy_coll_link_t *link, xy_coll_choice_t *choice_p)
{
    xy_coll_choice_t choice = {0};
    const xy_coll_algorithm_t *a = NULL;
    xy_coll_request_t flat = *q;

    *choice_p = choice;
    q->library = library;
    q->segment = 0;
    if (library->rules == NULL || q->procs == 1)
        return choose_own(q, link, library->rules == NULL, choice_p);
    if (xy_coll_library_rules(library, q, &choice.rule, 1) > 0 && is_flat(choice.rule)) {
        flat.nodes = NULL;
        xy_coll_library_rules(library, &flat, &choice.rule, 1);
    }
    if (choice.rule != NULL) {
        q->segment = choice.rule->segment > 0 ? choice.rule->segment : XY_COLL_WHOLE;
        a = builder_of(library, q, choice.rule->algorithm);
    }
    if (a != NULL && is_refused(library, q, a)) {
        a = fallback_of(q, a);
        choice.is_fallback = true;
    }
    choice.algorithm = a;
    *choice_p = choice;
    if (a != NULL && xy_coll_is_applicable(a, q))
        return XY_OK;
    return choose_own(q, link, false, choice_p); /* there is nothing to send */
}
