/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain coll: the algorithms of a collective, their costs, what runs inside a node and the
 * choice among the scheduled ones. */
#include <limits.h>

#include "coll/coll.h"
#include "cost/cost.h"
#include "draw/draw.h"
#include "explain.h"

/* The question, with the arrays that some collectives have. */
typedef struct {
    xy_coll_request_t request;
    xy_coll_link_t link;
    const char *source;               /* of the link's numbers */
    uint64_t *equal;                  /* [ranks]: the same count for all */
    const uint64_t **rows;            /* [ranks]: all the same row */
    int *nodes;                       /* [ranks] */
    const xy_coll_library_t *library; /* that is asked about, or NULL */
    xy_coll_choice_t choice;          /* its choice */
} question_t;

/* Replaces link costs by those given as options. */
static xy_status_t use_given(const explain_values_t *v, question_t *q)
{
    bool latency = xy_options_given("latency"), bandwidth = xy_options_given("bandwidth");
    bool reduce = xy_options_given("reduce");

    if ((bandwidth && v->bandwidth == 0) || (reduce && v->reduce == 0))
        return xy_fail(XY_EUSAGE, "--bandwidth and --reduce must be above 0");
    if (latency)
        q->link.alpha = v->latency;
    if (bandwidth)
        q->link.beta = q->link.copy = 1.0 / (double)v->bandwidth;
    if (reduce)
        q->link.gamma = 1.0 / (double)v->reduce;
    if (latency || bandwidth || reduce)
        q->source = "as given";
    return XY_OK;
}

/* Find the cost of messages: as given, else from the named file, else as calibrated here. */
static xy_status_t find_link(const explain_values_t *v, question_t *q)
{
    xy_link_cost_t c = {0};
    bool is_known = false;

    if (v->costs != NULL) {
        xy_costs_t *costs;
        xy_status_t st = xy_costs_load(v->costs, &costs);

        if (st != XY_OK)
            return st;
        is_known = xy_link_make(costs, &c);
        xy_costs_destroy(costs);
        if (!is_known)
            return xy_fail(
                XY_EINVAL,
                "%s: copies, sums or the hand-over of cache lines were not measured; run "
                "'xylem calibrate' without a choice of kernels",
                v->costs);
    } else {
        is_known = xy_link_read(&c);
    }
    q->link = is_known ? (xy_coll_link_t){c.alpha, c.beta, c.gamma, c.copy} : xy_coll_link_default;
    q->source = v->costs != NULL ? v->costs : is_known ? "calibrated" : "not calibrated";
    return use_given(v, q);
}

/* Makes the request of a collective with equal counts; the arrays of `q` are the caller's to
 * free. */
static xy_status_t ask(const explain_values_t *v, xy_collective_t collective, question_t *q)
{
    size_t ranks = (size_t)v->ranks;

    if (v->element == 0 || v->size % v->element != 0)
        return xy_fail(XY_EUSAGE,
                       "%llu bytes are not a whole number of elements of %llu bytes; give another "
                       "--size or --element",
                       (unsigned long long)v->size, (unsigned long long)v->element);
    q->equal = xy_malloc(ranks * sizeof(*q->equal));
    q->rows = xy_malloc(ranks * sizeof(*q->rows));
    q->nodes = xy_malloc(ranks * sizeof(*q->nodes));
    if (q->equal == NULL || q->rows == NULL || q->nodes == NULL)
        return xy_fail_memory("explaining a collective");
    for (size_t i = 0; i < ranks; i++) {
        q->nodes[i] = (int)i / (int)v->ranks_per_node;
        q->equal[i] = v->size / v->element;
        q->rows[i] = q->equal;
    }
    q->request = (xy_coll_request_t){.collective = collective,
                                     .procs = (int)v->ranks,
                                     .count = v->size / v->element,
                                     .element = v->element,
                                     .is_commutative = !v->ordered,
                                     .is_nonblocking = v->nonblocking,
                                     .segment = v->segment,
                                     .radix = (int)v->radix,
                                     .nodes = q->nodes,
                                     .counts = q->equal};
    if (collective == XY_COLL_ALLTOALLV || collective == XY_COLL_ALLTOALLW)
        q->request.matrix = q->request.send_offsets = q->request.receive_offsets = q->rows;
    return xy_coll_check(&q->request);
}

/* Algorithms of other libraries are shown only on request. */
static int find_candidates(const question_t *q, const xy_coll_algorithm_t *chosen,
                           xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX])
{
    int all = xy_coll_candidates(&q->request, &q->link, list), n = 0;

    for (int i = 0; i < all; i++)
        if (q->library != NULL || !list[i].algorithm->is_foreign || list[i].algorithm == chosen)
            list[n++] = list[i];
    return n;
}

/* "16 to 31", "4096 or more", "2" */
static const char *format_range(uint64_t low, uint64_t high, bool is_open, char text[64])
{
    if (is_open)
        snprintf(text, 64, "%llu or more", (unsigned long long)low);
    else if (low == high)
        snprintf(text, 64, "%llu", (unsigned long long)low);
    else
        snprintf(text, 64, "%llu to %llu", (unsigned long long)low, (unsigned long long)high);
    return text;
}

/* Prints the rule by which a library chooses. */
static void print_rule(const question_t *q)
{
    const xy_coll_rule_t *r = q->choice.rule;
    char procs[64], bytes[64];

    printf("* %s: %s", q->library->describe, q->choice.algorithm->name);
    if (r == NULL) {
        puts(q->library->rules != NULL ? ", as there is nothing to send"
             : q->choice.algorithm->is_direct
                 ? ", as all ranks are on one node"
                 : ", on two levels or the cheapest of its own between nodes");
        return;
    }
    printf(", by line %d of %s\n  %s ranks", r->line, q->library->table,
           format_range((uint64_t)r->procs_min, (uint64_t)r->procs_max, r->procs_max == INT_MAX,
                        procs));
    if (r->bytes_min > 0 || r->bytes_max < UINT64_MAX)
        printf("; %s of %s bytes", r->measured,
               format_range(r->bytes_min, r->bytes_max, r->bytes_max == UINT64_MAX, bytes));
    printf("%s%s: %s", r->when[0] != '\0' ? "; " : "", r->when, r->algorithm);
    if (r->segment > 0)
        printf(", in pieces of %llu bytes", (unsigned long long)r->segment);
    printf(" (its name there: %s)\n", r->native);
    if (r->inside[0] != '\0')
        printf("  %s: %s\n", q->choice.is_fallback ? "it turns into another" : "inside", r->inside);
}

/* Prints all algorithms with their costs, and the one chosen. */
static void print_text(const question_t *q, const xy_coll_algorithm_t *chosen, bool is_forced)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    int n = find_candidates(q, chosen, list);
    char size[32], seconds[32], rate[32];

    if (q->request.collective == XY_COLL_BARRIER)
        printf("barrier of %d ranks\n", q->request.procs);
    else
        printf("%s of %s among %d ranks\n", xy_coll_name(q->request.collective),
               xy_format_size(q->request.count * q->request.element, size), q->request.procs);
    printf("a = %s, ", xy_format_seconds(q->link.alpha, seconds));
    if (q->link.copy == q->link.beta)
        printf("1/b = 1/c = %s, ", xy_format_bandwidth(1.0 / q->link.beta, rate));
    else
        printf("1/b = %s, ", xy_format_bandwidth(1.0 / q->link.beta, rate));
    if (q->link.copy != q->link.beta)
        printf("1/c = %s, ", xy_format_bandwidth(1.0 / q->link.copy, rate));
    printf("1/g = %s (%s)\n\n", xy_format_bandwidth(1.0 / q->link.gamma, rate), q->source);
    for (int i = 0; i < n; i++) {
        const xy_coll_algorithm_t *a = list[i].algorithm;
        char mark = a == chosen ? '*' : a->is_direct ? '=' : ' ';

        if (list[i].is_applicable)
            printf("%c %-18s %10s  %s\n", mark, a->name,
                   xy_format_seconds(list[i].seconds, seconds), a->formula);
        else
            printf("  %-18s %10s  needs %s\n", a->name, "-", a->needs);
        printf("%33s%s\n", "", a->describe);
    }
    putchar('\n');
    if (q->library != NULL) {
        print_rule(q);
        return;
    }
    if (is_forced) {
        printf("* forced: %s%s\n", chosen->name,
               chosen->is_direct ? ", as by default inside a node" : "");
        return;
    }
    printf("= inside a node: %s, unless a scheduled one is asked for\n",
           xy_coll_direct(q->request.collective)->name);
    printf("* chosen: %s, when one is: by --progress threads, --split or --algorithm\n",
           chosen->name);
}

/* Writes an algorithm as a JSON object. */
static void json_candidate(xy_json_t *j, const xy_coll_candidate_t *c,
                           const xy_coll_algorithm_t *chosen)
{
    xy_json_begin_object(j, NULL);
    xy_fields(j, "name %s applicable %i engine %s chosen %i", c->algorithm->name, c->is_applicable,
              c->algorithm->is_direct ? "direct" : "scheduled", c->algorithm == chosen);
    if (c->is_applicable)
        xy_json_double(j, "seconds", c->seconds);
    else
        xy_json_string(j, "needs", c->algorithm->needs);
    xy_fields(j, "formula %s describe %s", c->algorithm->formula, c->algorithm->describe);
    xy_json_end(j);
}

/* Writes the library and its rule. */
static void json_library(xy_json_t *j, const question_t *q)
{
    const xy_coll_rule_t *r = q->choice.rule;

    xy_json_begin_object(j, "library");
    xy_fields(j, "name %s fallback %i", q->library->name, q->choice.is_fallback);
    if (r != NULL)
        xy_fields(j, "table %s line %d algorithm %s native %s when %s inside %s segment %lu",
                  q->library->table, r->line, r->algorithm, r->native, r->when, r->inside,
                  r->segment);
    xy_json_end(j);
}

/* Writes all algorithms, and the one chosen, as JSON. */
static void print_json(const question_t *q, const xy_coll_algorithm_t *chosen, bool is_forced)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    int n = find_candidates(q, chosen, list);
    xy_json_t j;

    xy_json_init(&j, stdout, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "collective %s ranks %d bytes %lu commutative %i",
              xy_coll_name(q->request.collective), q->request.procs,
              q->request.count * q->request.element, q->request.is_commutative);
    xy_fields_object(&j, "link", "source %s alpha %g beta %g gamma %g copy %g", q->source,
                     q->link.alpha, q->link.beta, q->link.gamma, q->link.copy);
    xy_fields(&j, "default %s chosen %s", xy_coll_direct(q->request.collective)->name,
              chosen->name);
    if (q->library != NULL)
        json_library(&j, q);
    xy_json_bool(&j, "forced", is_forced);
    xy_json_begin_array(&j, "candidates");
    for (int i = 0; i < n; i++)
        json_candidate(&j, &list[i], chosen);
    xy_json_end(&j);
    xy_json_end(&j);
}

static xy_status_t fail_collective(const char *name)
{
    const char *nearest = xy_nearest_word(name, xy_coll_names());

    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown collective '%s'; did you mean '%s'?", name, nearest);
    return xy_fail(XY_EUSAGE, "unknown collective '%s'; see 'xylem explain --help'", name);
}

/* Finds a library by name; a misspelt name gets a suggestion. */
static xy_status_t find_library(const char *name, const xy_coll_library_t **library_p)
{
    enum { MOST = 8 };
    const char *words[MOST] = {NULL};
    const char *nearest;

    *library_p = xy_coll_library_find(name);
    if (*library_p != NULL)
        return XY_OK;
    for (int i = 0; i < MOST - 1 && xy_coll_libraries()[i] != NULL; i++)
        words[i] = xy_coll_libraries()[i]->name;
    nearest = xy_nearest_word(name, words);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown library '%s'; did you mean '%s'?", name, nearest);
    return xy_fail(XY_EUSAGE, "unknown library '%s'; there are xylem, openmpi and mpich", name);
}

/* Forced, by the rules of a library, or by cost. */
static xy_status_t choose(const explain_values_t *v, question_t *q,
                          const xy_coll_algorithm_t **chosen_p)
{
    xy_status_t st;

    if (v->library == NULL)
        return xy_coll_choose(&q->request, &q->link, v->algorithm, chosen_p);
    if (v->algorithm != NULL)
        return xy_fail(XY_EUSAGE, "--algorithm and --library exclude each other");
    st = find_library(v->library, &q->library);
    if (st == XY_OK)
        st = xy_coll_library_choose(q->library, &q->request, &q->link, &q->choice);
    *chosen_p = q->choice.algorithm;
    return st;
}

/* Explains the choice of a collective's algorithm. */
static xy_status_t run(const explain_values_t *v, int argc, char **argv)
{
    const xy_coll_algorithm_t *chosen;
    question_t q = {.equal = NULL};
    xy_collective_t collective;
    xy_status_t st;

    (void)argc;
    if (!xy_coll_parse(argv[0], &collective))
        return fail_collective(argv[0]);
    st = find_link(v, &q);
    if (st == XY_OK)
        st = ask(v, collective, &q);
    if (st == XY_OK)
        st = choose(v, &q, &chosen);
    if (st == XY_OK && v->json)
        print_json(&q, chosen, v->algorithm != NULL);
    else if (st == XY_OK)
        print_text(&q, chosen, v->algorithm != NULL);
    xy_free(q.equal);
    xy_free(q.rows);
    xy_free(q.nodes);
    return st;
}

const explain_topic_t explain_coll = {
    .name = "coll",
    .synopsis = "COLLECTIVE",
    .summary = "the algorithms of a collective, their costs, what runs and the choice",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run,
};
