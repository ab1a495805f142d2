/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values from a recorded run (recorded.h). A process that comes to a value that is not known is
 * copied for each candidate, and the copy runs ahead: its calls do nothing but be compared with
 * those that were recorded. The candidate that makes most of them, up to LOOK, wins, the first of
 * equals.
 *
 *   recorded   Allreduce:12 Allreduce:12 Allreduce:12 Finalize:15
 *   error = 1  Allreduce:12 Allreduce:12 Allreduce:12 Allreduce:12     3 calls
 *   error = 0  Finalize:15                                             0 calls
 *
 * Candidates that win with different work in their kernels and loops, or with calls to other ranks,
 * of other tags or blocks, leave the value open, with a message.
 */
#include "program/walk_oracle.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum {
    LOOK = 64,         /* calls that a copy may run ahead */
    CANDIDATES = 64,   /* that are tried */
    NEAR = 8,          /* lines: calls over several lines have one of them */
    PASSES = 1000000,  /* of loops of a copy */
    NOT_DESCRIBED = -1 /* a call that the description does not have */
};

struct walk_oracle {
    const xy_recorded_t *recorded;
    int32_t *key_of_site, *key_of_place; /* equal keys: the same call */
    xy_learned_t *learned;
};

/* ---- Which recorded call is which of the description ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* How often a process polls depends on the machine: such calls are not compared. */
static bool is_poll(const char *name)
{
    return strncmp(name, "MPI_Test", 8) == 0 || strcmp(name, "MPI_Iprobe") == 0 ||
           strcmp(name, "MPI_Improbe") == 0;
}

static bool is_same(const code_site_t *a, const code_site_t *b)
{
    return a->call == b->call && a->node->line == b->node->line &&
           strcmp(last_part(a->node->file), last_part(b->node->file)) == 0;
}

/* Calls that only touch the memory of the rank (MPI_Type_size, MPI_Group_incl) are not recorded;
 * those that communicate are. */
static bool is_compared(const walk_oracle_t *o, const xy_mpi_call_t *call)
{
    if (is_poll(call->name))
        return false;
    if (strchr(call->kinds, XY_ARG_BUFFER) != NULL || strncmp(call->name, "MPI_Wait", 8) == 0)
        return true;
    for (size_t p = 0; p < o->recorded->places.count; p++)
        if (strcmp(XY_VEC_AT(&o->recorded->places, recorded_place_t, p).name, call->name) == 0)
            return true;
    return false;
}

/* Gives sites of one source line and call the same key; sites left out of the comparison get
 * NOT_DESCRIBED. */
static void key_sites(walk_oracle_t *o, const code_t *code)
{
    for (size_t i = 0; i < code->sites.count; i++) {
        const code_site_t *site = &XY_VEC_AT(&code->sites, code_site_t, i);

        o->key_of_site[i] = NOT_DESCRIBED;
        if (site->call == NULL || !is_compared(o, site->call))
            continue;
        o->key_of_site[i] = (int32_t)i;
        for (size_t j = 0; j < i; j++)
            if (o->key_of_site[j] >= 0 && is_same(&XY_VEC_AT(&code->sites, code_site_t, j), site)) {
                o->key_of_site[i] = o->key_of_site[j];
                break;
            }
    }
}

/* Gives each recorded place the key of the nearest site with its call and file. */
static void key_places(walk_oracle_t *o, const code_t *code)
{
    for (size_t p = 0; p < o->recorded->places.count; p++) {
        const recorded_place_t *place = &XY_VEC_AT(&o->recorded->places, recorded_place_t, p);
        long best = NEAR + 1;

        o->key_of_place[p] = NOT_DESCRIBED;
        for (size_t i = 0; i < code->sites.count; i++) {
            const code_site_t *site = &XY_VEC_AT(&code->sites, code_site_t, i);
            long distance = labs(site->node->line - place->line);

            if (o->key_of_site[i] >= 0 && distance < best &&
                strcmp(site->call->name, place->name) == 0 &&
                strcmp(last_part(site->node->file), place->file) == 0) {
                best = distance;
                o->key_of_place[p] = o->key_of_site[i];
            }
        }
    }
}

/* ---- The recorded calls of a process ---- */

static const recorded_call_t *call_at(const walk_oracle_t *o, size_t i)
{
    return &XY_VEC_AT(&o->recorded->calls, recorded_call_t, i);
}

static int32_t key_at(const walk_oracle_t *o, size_t i)
{
    return o->key_of_place[call_at(o, i)->place];
}

/* The next one that the description has, from `i` on; `end`: none. */
static size_t skip(const walk_oracle_t *o, size_t i, size_t end)
{
    while (i < end && key_at(o, i) == NOT_DESCRIBED)
        i++;
    return i;
}

static size_t end_of(const walk_oracle_t *o, int32_t rank)
{
    return o->recorded->first[rank + 1];
}

/* ---- Bytes of a call, as far as its arguments say ---- */

static int argument(const code_site_t *site, const char *name)
{
    for (int i = 0; i < XY_MPI_ARGS_MAX && site->call->args[i] != NULL; i++)
        if (strcmp(site->call->args[i], name) == 0)
            return (site->given >> i & 1) != 0 ? i : -1;
    return -1;
}

/* Returns whether a call states its bytes, in *bytes_p, by count and datatype. */
static bool bytes_of(walker_t *w, const code_site_t *site, const int64_t *args, uint64_t *bytes_p)
{
    int count = argument(site, "count"), type = argument(site, "datatype");
    walk_type_t t;

    if (count < 0) {
        count = argument(site, "sendcount");
        type = argument(site, "sendtype");
    }
    if (count < 0 || type < 0 || args[count] < 0 || !walk_type_find(w, args[type], &t))
        return false;
    *bytes_p = (uint64_t)args[count] * t.map.size;
    return true;
}

/* ---- Running ahead ---- */

typedef struct {
    process_t process; /* first: a copy */
    walker_t *w;       /* the walker that it belongs to */
    double value;      /* the candidate */
    size_t next, end;  /* recorded calls */
    int matched;       /* calls; twice, and once more where the bytes agree */
    int calls;
    uint64_t work; /* a hash of its kernels and loops, and of what its calls do */
    int32_t unknown;
    bool is_asked, is_open; /* the value was given; another one was asked for since */
    bool is_mixed;          /* ... of another unknown */
} copy_t;

static copy_t *copy_of(process_t *p)
{
    return (copy_t *)(void *)p;
}

/* NULL: the communicator of the call is not known here; it may be made on the way. */
static const walk_member_t *member_of(const copy_t *c, const code_site_t *site, const int64_t *args)
{
    int comm = argument(site, "comm");
    const walk_member_t *m = comm < 0 ? NULL : walk_comm_find(c->w, args[comm]);

    return m != NULL && m->comm != NULL && m->comm->lows == 0 ? m : NULL;
}

/* Whether the message goes to, or comes from, another process than the recorded one. */
static bool has_other_peer(const copy_t *c, const code_site_t *site, const int64_t *args)
{
    const recorded_call_t *call = call_at(c->w->walk->oracle, c->next);
    const walk_member_t *m = member_of(c, site, args);
    int peer = argument(site, call->is_received ? "source" : "dest");

    if (peer < 0 || m == NULL || call->peer < 0 ||
        (call->is_received && args[peer] == MPI_ANY_SOURCE))
        return false;
    return args[peer] < 0 || args[peer] >= m->comm->size ||
           walk_comm_proc(m->comm, (int32_t)args[peer]) != call->peer;
}

/* A match of bytes counts more than none, which counts more than a contradiction. */
static int score(copy_t *c, const code_site_t *site, const int64_t *args)
{
    const recorded_call_t *call = call_at(c->w->walk->oracle, c->next);
    uint64_t bytes;

    if (!c->is_open && has_other_peer(c, site, args))
        return 1;
    if (c->is_open || (!call->has_bytes && !call->is_received) ||
        !bytes_of(c->w, site, args, &bytes))
        return 2;
    if (call->is_received)
        return bytes == call->bytes ? 3 : bytes > call->bytes ? 2 : 0;
    return bytes == call->bytes ? 3 : 0;
}

static void add_work(copy_t *c, const code_site_t *site, double size)
{
    uint64_t bits;

    memcpy(&bits, &size, sizeof(bits));
    c->work = (c->work ^ bits ^ (uint64_t)site->index) * UINT64_C(0x9e3779b97f4a7c15);
    c->work ^= c->work >> 29;
}

/* A trace has the bytes of all blocks together, which determine no value: blocks count also where
 * values of other unknowns are in them. */
static void add_blocks(copy_t *c, const code_site_t *site, const int64_t *args)
{
    const walk_member_t *m = member_of(c, site, args);
    int counts = argument(site, "sendcounts"), root = argument(site, "root");
    const uint8_t *at;
    int32_t count;

    if (counts < 0)
        counts = argument(site, "recvcounts");
    if (m == NULL || counts < 0 || (root >= 0 && args[root] != m->rank))
        return;
    at = process_at(&c->process, (uint64_t)args[counts], (uint64_t)m->comm->size * sizeof(count));
    for (int32_t r = 0; at != NULL && r < m->comm->size; r++) {
        memcpy(&count, at + (size_t)r * sizeof(count), sizeof(count));
        add_work(c, site, count);
    }
}

/* Add the work of a call besides moving its bytes. */
static void add_call(copy_t *c, const code_site_t *site, const int64_t *args)
{
    static const char *const names[] = {"dest", "source", "tag", "sendtag", "recvtag", "root"};

    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]) && !c->is_mixed; n++) {
        int i = argument(site, names[n]);

        if (i >= 0)
            add_work(c, site, (double)args[i]);
    }
    add_blocks(c, site, args);
}

/* Compares an MPI call of a trial copy with the next recorded one; stops the copy at a mismatch or
 * after LOOK calls. */
static bool copy_mpi(process_t *p, const code_site_t *site, int64_t *args)
{
    copy_t *c = copy_of(p);
    const walk_oracle_t *o = c->w->walk->oracle;
    int32_t key = o->key_of_site[site->index];
    int more;

    if (key == NOT_DESCRIBED)
        return true;
    c->next = skip(o, c->next, c->end);
    more = c->next < c->end && key_at(o, c->next) == key ? score(c, site, args) : 0;
    c->matched += more;
    if (more > 0)
        add_call(c, site, args);
    c->next++;
    if (more == 0 || ++c->calls >= LOOK)
        return process_stop(p);
    return true;
}

static bool copy_kernel(process_t *p, const code_site_t *site, const double *sizes)
{
    for (int i = 0; i < site->count; i++)
        add_work(copy_of(p), site, sizes[i]);
    return true;
}

static bool copy_compute(process_t *p, const code_site_t *site, double count)
{
    add_work(copy_of(p), site, count);
    return true;
}

static double copy_now(process_t *p)
{
    (void)p;
    return 0;
}

/* Another value that is asked for on the way is taken to be the same; bytes tell nothing then. */
static bool copy_recorded(process_t *p, int32_t unknown, double *value_p)
{
    copy_t *c = copy_of(p);

    c->is_mixed = c->is_mixed || unknown != c->unknown;
    c->is_open = c->is_asked;
    c->is_asked = true;
    *value_p = c->value;
    return true;
}

static const process_ops_t copy_ops = {.mpi = copy_mpi,
                                       .kernel = copy_kernel,
                                       .compute = copy_compute,
                                       .now = copy_now,
                                       .recorded = copy_recorded};

/* False: memory ran out (reported). */
static bool look_ahead(walker_t *w, int32_t unknown, double value, copy_t *c)
{
    const walk_oracle_t *o = w->walk->oracle;
    process_config_t config = *w->process.config;

    *c = (copy_t){.w = w,
                  .unknown = unknown,
                  .value = value,
                  .next = w->recorded_next,
                  .end = end_of(o, w->rank)};
    config.ops = &copy_ops;
    config.pass_limit = w->process.passes + PASSES < config.pass_limit ? w->process.passes + PASSES
                                                                       : config.pass_limit;
    if (process_copy(&c->process, &w->process) != XY_OK)
        return process_fail_memory(&w->process);
    c->process.config = &config;
    c->process.is_silent = true;
    if (process_run(&c->process) && c->process.status == XY_OK && c->calls < LOOK &&
        skip(o, c->next, c->end) == c->end)
        c->matched += 3; /* it ends where the recorded one does */
    process_cleanup(&c->process);
    if (c->process.status == XY_ENOMEM)
        return process_fail_memory(&w->process);
    return true;
}

/* ---- Candidates ---- */

typedef struct {
    double values[CANDIDATES];
    int count;
} candidates_t;

static void offer(candidates_t *list, double value)
{
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return;
    if (list->count < CANDIDATES)
        list->values[list->count++] = value;
}

/* How often the recorded calls from here on repeat themselves: passes of a loop. */
static void offer_passes(candidates_t *list, const walk_oracle_t *o, size_t first, size_t end)
{
    enum { PERIOD = 256, MOST = 100000 };
    int32_t keys[PERIOD];
    size_t i = first, length = 0, at, same = 0, passes;

    if (first >= end)
        return;
    for (; i < end && length < PERIOD; i = skip(o, i + 1, end)) {
        if (length > 0 && key_at(o, i) == keys[0])
            break;
        keys[length++] = key_at(o, i);
    }
    for (i = first, at = 0; i < end && same < MOST && key_at(o, i) == keys[at % length];
         i = skip(o, i + 1, end), at++)
        same++;
    passes = same / length;
    for (int more = 0; more < 3; more++)
        offer(list, (double)passes + (double)(more == 2 ? -1 : more));
}

/* Lists values to try for an unknown: the previous one, counts of the recorded calls, and some
 * plain numbers. */
static void make_candidates(const walker_t *w, const xy_vec_t *values, candidates_t *list)
{
    static const double plain[] = {-1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1e9, -1e9, 1e300, -1e300};
    static const int sizes[] = {1, 2, 4, 8, 16};
    const walk_oracle_t *o = w->walk->oracle;
    size_t end = end_of(o, w->rank), i = skip(o, w->recorded_next, end);

    list->count = 0;
    if (values->count > 0)
        offer(list, XY_VEC_AT(values, double, values->count - 1));
    offer(list, 1);
    offer(list, 0);
    offer_passes(list, o, i, end);
    for (int calls = 0; calls < 4 && i < end; calls++, i = skip(o, i + 1, end)) {
        const recorded_call_t *call = call_at(o, i);

        if (call->peer >= 0)
            offer(list, call->peer);
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            uint64_t elements = call->bytes / (uint64_t)sizes[s];

            if ((call->has_bytes || call->is_received) &&
                elements * (uint64_t)sizes[s] == call->bytes)
                offer(list, (double)elements);
        }
    }
    for (size_t p = 0; p < sizeof(plain) / sizeof(plain[0]); p++)
        offer(list, plain[p]);
}

/* ---- Asking ---- */

static xy_vec_t *values_of(const xy_learned_t *l, int32_t rank, int32_t unknown)
{
    return &l->values[(size_t)(rank % l->procs) * l->count + (size_t)unknown];
}

static bool fail_open(walker_t *w, const code_unknown_t *u, double a, double b)
{
    return process_fail(
        &w->process,
        "%s (line %ld: %s) cannot be determined from %s: with %g and with %g the calls are "
        "the recorded ones, but not their ranks, tags or blocks, or kernels or loops; give "
        "it with --assume %s=VALUE",
        u->name, u->place.line, u->reason, w->walk->oracle->recorded->path, a, b, u->name);
}

bool walk_oracle_ask(walker_t *w, int32_t unknown, double *value_p)
{
    const code_unknown_t *u = &XY_VEC_AT(&w->walk->code->unknowns, code_unknown_t, unknown);
    xy_vec_t *values = values_of(w->walk->oracle->learned, w->rank, unknown);
    candidates_t list;
    copy_t best = {.matched = -1}, other = {.matched = -1}, c;

    make_candidates(w, values, &list);
    for (int i = 0; i < list.count; i++) {
        if (!look_ahead(w, unknown, list.values[i], &c))
            return false;
        if (c.matched > best.matched) {
            best = c;
            other = (copy_t){.matched = -1};
        } else if (c.matched == best.matched && c.work != best.work && other.matched < 0) {
            other = c;
        }
    }
    if (other.matched >= 0)
        return fail_open(w, u, best.value, other.value);
    if (xy_vec_append(values, &best.value) != XY_OK)
        return process_fail_memory(&w->process);
    *value_p = best.value;
    return true;
}

/* ---- Following ---- */

/* Fails where the description and the recorded run differ, with both calls. */
static bool fail_parted(walker_t *w, const char *made, size_t next)
{
    const walk_oracle_t *o = w->walk->oracle;
    const recorded_place_t *p =
        next < end_of(o, w->rank)
            ? &XY_VEC_AT(&o->recorded->places, recorded_place_t, call_at(o, next)->place)
            : NULL;

    if (p == NULL)
        return process_fail(&w->process,
                            "%s has no more calls, and the description makes %s here: they are "
                            "not of the same program and arguments, or a value has to be given "
                            "with --assume",
                            o->recorded->path, made);
    return process_fail(&w->process,
                        "%s continues with %s at %s:%ld, and the description with %s: they are not "
                        "of the same program and arguments, or a value has to be given with "
                        "--assume",
                        o->recorded->path, p->name, p->file, p->line, made);
}

bool walk_oracle_follow(walker_t *w, const code_site_t *site)
{
    const walk_oracle_t *o = w->walk->oracle;
    int32_t key = o->key_of_site[site->index];
    size_t end = end_of(o, w->rank);

    if (key == NOT_DESCRIBED)
        return true;
    w->recorded_next = skip(o, w->recorded_next, end);
    if (w->recorded_next == end || key_at(o, w->recorded_next) != key)
        return fail_parted(w, site->call->name, w->recorded_next);
    w->recorded_next++;
    return true;
}

bool walk_oracle_end(walker_t *w)
{
    size_t end = end_of(w->walk->oracle, w->rank);

    w->recorded_next = skip(w->walk->oracle, w->recorded_next, end);
    return w->recorded_next == end || fail_parted(w, "its end", w->recorded_next);
}

/* ---- Values that were learned ---- */

bool walk_learned_next(walker_t *w, int32_t unknown, double *value_p)
{
    const xy_learned_t *l = w->walk->config->learned;
    const xy_vec_t *values = values_of(l, w->rank, unknown);
    const xy_learned_name_t *name = &l->names[unknown];

    if (w->learned_at == NULL) {
        w->learned_at = xy_calloc(l->count, sizeof(*w->learned_at));
        if (w->learned_at == NULL)
            return process_fail_memory(&w->process);
    }
    if (w->learned_at[unknown] >= values->count)
        return process_fail(&w->process,
                            "process %d of %s has %zu values of %s (line %ld), and one more is "
                            "needed; give it with --assume %s=VALUE",
                            w->rank % l->procs, l->path, values->count, name->name, name->line,
                            name->name);
    *value_p = XY_VEC_AT(values, double, w->learned_at[unknown]++);
    return true;
}

/* ---- Making ---- */

/* Returns an empty table of learned values, one list per rank and unknown; NULL without memory. */
static xy_learned_t *learned_new(const xy_recorded_t *recorded, const code_t *code)
{
    xy_learned_t *l = xy_calloc(1, sizeof(*l));
    size_t n = code->unknowns.count;

    if (l == NULL)
        return NULL;
    *l = (xy_learned_t){.path = xy_strdup(recorded->path),
                        .procs = recorded->procs,
                        .count = n,
                        .names = xy_calloc(n + 1, sizeof(*l->names)),
                        .values = xy_calloc((size_t)recorded->procs * n + 1, sizeof(*l->values))};
    if (l->path == NULL || l->names == NULL || l->values == NULL) {
        xy_learned_destroy(l);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const code_unknown_t *u = &XY_VEC_AT(&code->unknowns, code_unknown_t, i);

        l->names[i] = (xy_learned_name_t){.name = u->name, .line = u->place.line};
    }
    for (size_t i = 0; i < (size_t)l->procs * n; i++)
        l->values[i] = XY_VEC_INIT(double);
    return l;
}

void xy_learned_destroy(xy_learned_t *learned)
{
    if (learned == NULL)
        return;
    for (size_t i = 0; learned->values != NULL && i < (size_t)learned->procs * learned->count; i++)
        xy_vec_cleanup(&learned->values[i]);
    xy_free(learned->values);
    xy_free(learned->names);
    xy_free(learned->path);
    xy_free(learned);
}

xy_status_t xy_learned_names(const xy_learned_t *learned, xy_vec_t *names)
{
    for (size_t u = 0; u < learned->count; u++) {
        xy_learned_name_t name = learned->names[u];

        for (int32_t r = 0; r < learned->procs; r++) {
            const xy_vec_t *values = values_of(learned, r, (int32_t)u);

            for (size_t i = 0; i < values->count; i++) {
                double v = XY_VEC_AT(values, double, i);

                name.least = name.values == 0 || v < name.least ? v : name.least;
                name.most = name.values == 0 || v > name.most ? v : name.most;
                name.values++;
            }
        }
        if (name.values > 0 && xy_vec_append(names, &name) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

walk_oracle_t *walk_oracle_new(const xy_recorded_t *recorded, const code_t *code)
{
    walk_oracle_t *o = xy_calloc(1, sizeof(*o));

    if (o == NULL)
        return NULL;
    o->recorded = recorded;
    o->key_of_site = xy_calloc(code->sites.count + 1, sizeof(*o->key_of_site));
    o->key_of_place = xy_calloc(recorded->places.count + 1, sizeof(*o->key_of_place));
    o->learned = learned_new(recorded, code);
    if (o->key_of_site == NULL || o->key_of_place == NULL || o->learned == NULL) {
        walk_oracle_free(o);
        return NULL;
    }
    key_sites(o, code);
    key_places(o, code);
    return o;
}

void walk_oracle_free(walk_oracle_t *oracle)
{
    if (oracle == NULL)
        return;
    xy_learned_destroy(oracle->learned);
    xy_free(oracle->key_of_site);
    xy_free(oracle->key_of_place);
    xy_free(oracle);
}

size_t walk_oracle_first(const walk_oracle_t *oracle, int32_t rank)
{
    return oracle->recorded->first[rank];
}

xy_learned_t *walk_oracle_take(walk_oracle_t *oracle)
{
    xy_learned_t *learned = oracle->learned;

    oracle->learned = NULL;
    return learned;
}
