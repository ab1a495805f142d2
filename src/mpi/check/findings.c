/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/findings.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/carry.h"
#include "mpi/check/conflicts.h"
#include "mpi/check/engine.h"
#include "mpi/check/suppress.h"
#include "mpi/object/object.h"

/* A thread that ends the job may have begun before. */
static _Atomic(const mpi_check_config_t *) config;
static xy_vec_t findings = XY_VEC_INIT(check_finding_t);
static xy_vec_t known = XY_VEC_INIT(mpi_finding_t); /* by address: what needs no words again */
static xy_vec_t rules = XY_VEC_INIT(check_rule_t);
static bool is_ended; /* the job, by an error that was found */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static check_finding_t *at(size_t i)
{
    return &XY_VEC_AT(&findings, check_finding_t, i);
}

static bool is_same(const mpi_finding_t *a, const mpi_finding_t *b)
{
    return a->kind == b->kind && a->rank == b->rank && a->sites[0] == b->sites[0] &&
           a->sites[1] == b->sites[1];
}

static bool is_known(const mpi_finding_t *finding)
{
    bool is_there = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < known.count && !is_there; i++)
        is_there = is_same(&XY_VEC_AT(&known, mpi_finding_t, i), finding);
    pthread_mutex_unlock(&lock);
    return is_there;
}

const char *check_place_text(const void *site, char text[CHECK_TEXT_SIZE])
{
    mpi_caller_describe(site, text, CHECK_TEXT_SIZE);
    return text[0] != '\0' ? text : "at an unknown place";
}

void check_place_name(const void *site, char place[CHECK_PLACE_SIZE])
{
    char text[CHECK_PLACE_SIZE + 3];

    mpi_caller_describe_path(site, text, sizeof(text));
    snprintf(place, CHECK_PLACE_SIZE, "%s", strncmp(text, "at ", 3) == 0 ? text + 3 : text);
}

static check_finding_t *find(const check_finding_t *f)
{
    for (size_t i = 0; i < findings.count; i++)
        if (at(i)->kind == f->kind && strcmp(at(i)->places[0], f->places[0]) == 0 &&
            strcmp(at(i)->places[1], f->places[1]) == 0 &&
            (f->places[0][0] != '\0' || strcmp(at(i)->message, f->message) == 0))
            return at(i);
    return NULL;
}

/* With the lock held. NULL: memory ran out. Takes all that it has. */
static check_finding_t *keep(check_finding_t *f)
{
    check_finding_t *there = find(f);

    if (there != NULL) {
        check_finding_cleanup(f);
        return there;
    }
    there = f->ranks.words != NULL || xy_bitset_init(&f->ranks, (size_t)mpi_job->numbers) == XY_OK
                ? xy_vec_push(&findings)
                : NULL;
    if (there == NULL) {
        check_finding_cleanup(f);
        return NULL;
    }
    f->is_suppressed =
        check_rules_match(&rules, f->kind, f->places[0]) ||
        (f->places[1][0] != '\0' && check_rules_match(&rules, f->kind, f->places[1]));
    *there = *f;
    return there;
}

/* "rank 0: ... [never-freed]", or "ranks 0-3: ..." */
static void print(check_finding_t *f)
{
    const mpi_finding_class_t *class = &mpi_finding_classes[f->kind];
    char *ranks = xy_bitset_format(&f->ranks);
    bool is_one = xy_bitset_count(&f->ranks) == 1;

    f->is_printed = true;
    if (class->is_error)
        xy_fail(XY_EINVAL, "error: rank%s %s: %s [%s]", is_one ? "" : "s",
                ranks != NULL ? ranks : "?", f->message, class->name);
    else
        xy_warn("rank%s %s: %s [%s]", is_one ? "" : "s", ranks != NULL ? ranks : "?", f->message,
                class->name);
    xy_free(ranks);
}

/* An error does not wait for the end. */
static void send_at_once(check_finding_t *f)
{
    xy_text_t text = XY_TEXT_INIT;
    check_finding_t now = *f;

    now.count = 0; /* it is counted when all are sent */
    check_carry_begin(&text, f->ranks.bits, false);
    check_carry_add(&text, &now);
    f->is_printed = true;
    if (text.failed || !config->send(text.s, text.length))
        print(f);
    xy_text_cleanup(&text);
}

/* Record a finding; a new error is printed at once and ends the job unless it may continue. Takes
 * the lock. */
static void add(const mpi_finding_t *finding, const char *message)
{
    bool is_error = mpi_finding_classes[finding->kind].is_error, ends = false;
    check_finding_t made = {.kind = finding->kind, .lines = XY_VEC_INIT(check_line_t)}, *kept;

    if (is_known(finding))
        return;
    made.message = xy_strdup(message);
    check_place_name(finding->sites[0], made.places[0]);
    check_place_name(finding->sites[1], made.places[1]);
    pthread_mutex_lock(&lock);
    (void)xy_vec_append(&known, finding); /* else it is put into words once more */
    kept = made.message != NULL ? keep(&made) : NULL;
    if (kept != NULL) {
        kept->count++;
        xy_bitset_set(&kept->ranks, (size_t)finding->rank);
        if (is_error && !kept->is_suppressed && !kept->is_printed)
            (config->send != NULL ? send_at_once : print)(kept);
        ends = is_error && !kept->is_suppressed && !mpi_checks.goes_on;
        is_ended = is_ended || ends;
    }
    pthread_mutex_unlock(&lock);
    if (ends)
        mpi_job->abort(XMPI_EXIT_ERRORS);
}

/* Is the exit code the program's own? */
static bool is_own_code(mpi_finding_kind_t kind)
{
    return kind == XMPI_FINDING_CRASH || kind == XMPI_FINDING_EARLY_EXIT ||
           kind == XMPI_FINDING_ABORTED;
}

void check_findings_end(check_finding_t *made)
{
    pthread_mutex_lock(&lock);
    (void)xy_vec_append(&findings, made); /* else it is not in the files */
    is_ended = is_ended || !is_own_code(made->kind);
    pthread_mutex_unlock(&lock);
}

static const mpi_finding_store_t store = {
    .is_known = is_known, .add = add, .end = check_end_of_finding};

static xy_status_t read_rules(const char *path)
{
    char *text; /* the rules point into it */
    xy_status_t st;

    if (path == NULL)
        return XY_OK;
    st = xy_file_read_text(path, 16 << 20, &text);
    return st == XY_OK ? check_rules_parse(text, path, &rules) : st;
}

xy_status_t mpi_check_begin(const mpi_check_config_t *given)
{
    xy_status_t st = read_rules(given->suppress);

    config = given;
    if (st == XY_OK && mpi_checks.is_on) {
        mpi_finding_store = &store;
        st = check_engine_begin(mpi_job->numbers);
        if (mpi_checks.windows || mpi_checks.buffers)
            check_conflicts_begin();
    }
    mpi_findings_wait = !mpi_checks.is_on;
    mpi_made_is_noted = mpi_checks.leaks || given->is_verbose;
    return st;
}

/* ---- Several processes ---- */

xy_status_t mpi_check_collect(const mpi_check_config_t *given)
{
    config = given;
    return read_rules(given->suppress);
}

/* Where the ranks of all processes are: one finding. */
static check_finding_t *find_other_part(const check_finding_t *f)
{
    for (size_t i = 0; i < findings.count; i++)
        if (at(i)->kind == f->kind && f->kind == XMPI_FINDING_TIME_LIMIT)
            return at(i);
    return find(f);
}

static void add_lines(xy_vec_t *lines, xy_vec_t *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (xy_vec_append(lines, &XY_VEC_AT(more, check_line_t, i)) != XY_OK)
            return; /* the rest is not in the files */
    xy_vec_cleanup(more);
    *more = XY_VEC_INIT(check_line_t);
}

/* Merge a finding of another process, which it takes over, and print it if it is a new error. */
static void take_one(check_finding_t *f)
{
    check_finding_t *there = find_other_part(f);
    bool is_printed = f->is_printed;

    if (there != NULL) {
        for (size_t r = xy_bitset_next(&f->ranks, 0); r < f->ranks.bits;
             r = xy_bitset_next(&f->ranks, r + 1))
            xy_bitset_set(&there->ranks, r);
        if (f->kind != XMPI_FINDING_TIME_LIMIT)
            there->count += f->count;
        add_lines(&there->lines, &f->lines);
        check_finding_cleanup(f);
    } else {
        there = keep(f);
    }
    if (there == NULL)
        return;
    there->is_printed |= is_printed;
    if (mpi_finding_classes[there->kind].is_error && !there->is_suppressed && !there->is_printed)
        print(there);
}

void mpi_check_take(const void *bytes, size_t size)
{
    bool has_ended;

    pthread_mutex_lock(&lock);
    if (!check_carry_read(bytes, size, &has_ended, take_one))
        xy_warn("the findings of a process are not understood; some are missing");
    else
        is_ended |= has_ended;
    pthread_mutex_unlock(&lock);
}

/* False: the rest is not reached. */
static bool send_all(void)
{
    xy_text_t text = XY_TEXT_INIT;
    bool is_sent;

    pthread_mutex_lock(&lock);
    check_carry_begin(&text, (size_t)mpi_job->capacity, is_ended);
    for (size_t i = 0; i < findings.count; i++)
        check_carry_add(&text, at(i));
    is_sent = !text.failed && config->send(text.s, text.length);
    xy_text_cleanup(&text);
    pthread_mutex_unlock(&lock);
    return is_sent;
}

/* ---- The end ---- */

/* Count errors, warnings and hints, and print what was not printed yet. */
static void count(check_results_t *results)
{
    for (size_t i = 0; i < findings.count; i++) {
        bool is_error = mpi_finding_classes[at(i)->kind].is_error;

        if (at(i)->is_suppressed)
            continue;
        results->errors += is_error;
        results->warnings += !is_error;
        results->hints += !mpi_checks.is_strict && at(i)->kind == XMPI_FINDING_WILDCARD;
        if (!at(i)->is_printed)
            print(at(i));
    }
}

static void report_unused_rules(void)
{
    for (size_t i = 0; i < rules.count; i++) {
        const check_rule_t *rule = &XY_VEC_AT(&rules, check_rule_t, i);

        if (!rule->is_used)
            xy_warn("%s:%ld: nothing was suppressed by this rule", config->suppress, rule->line);
    }
}

static int code_of(const check_results_t *results)
{
    if (results->code != 0)
        return results->code;
    if (results->errors > 0)
        return XMPI_EXIT_ERRORS;
    return results->warnings > results->hints ? XMPI_EXIT_WARNINGS : 0;
}

int mpi_check_finish(int code)
{
    check_results_t results = {.config = config, .findings = &findings, .code = code};

    mpi_findings_flush();
    if (!mpi_checks.is_on || config == NULL)
        return code;
    check_engine_finish();
    if (config->send != NULL) {
        if (!send_all())
            xy_warn("the findings of this process could not be sent to mpiexec");
        return code;
    }
    pthread_mutex_lock(&lock); /* other ranks may still report */
    results.is_ended = is_ended;
    count(&results);
    if (config->is_verbose)
        report_unused_rules();
    results.final_code = code_of(&results);
    if (xy_out_write(config->json, check_write_json, &results) != XY_OK ||
        xy_out_write(config->sarif, check_write_sarif, &results) != XY_OK)
        results.final_code = code != 0 ? code : 1;
    pthread_mutex_unlock(&lock);
    code = results.final_code;
    if (code != 0 && mpi_checks.shuffles)
        xy_fail(XY_OK, "--check=shuffle:%llu makes this run again",
                (unsigned long long)mpi_checks.seed);
    return code;
}
