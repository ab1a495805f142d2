/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do the members agree about a collective? What they do not agree about would mix up their data in
 * silence, so the job ends, with the one report that there is.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/interprocess.h"
#include "mpi/coll/star.h"

enum { TEXT = 160 };

static bool is_agreement(const coll_claim_t *c)
{
    return c->kind->collective == XY_COLL_COUNT;
}

/* "MPI_Barrier", "MPI_Ibarrier" or "MPI_Start of MPI_Barrier_init"; an agreement has the name of
 * the call that asks for it. */
static const char *name_of(const coll_claim_t *c, char text[TEXT])
{
    if (is_agreement(c))
        return (const char *)(uintptr_t)c->agreed;
    if (c->how == COLL_BLOCKING)
        return c->kind->name;
    if (c->how == COLL_PERSISTENT) {
        snprintf(text, TEXT, "MPI_Start of %s_init", c->kind->name);
        return text;
    }
    snprintf(text, TEXT, "MPI_I%s", c->kind->name + strlen("MPI_"));
    text[5] = (char)tolower((unsigned char)text[5]);
    return text;
}

/* Is `root`, known or not, in the group that a member of the root's group names? */
static bool is_of_group(const mpi_coll_t *coll, int open, int root)
{
    return root < 0 ? root == open : (root >= coll->lows) == (open == COLL_ROOT_HIGH);
}

/* The object of a member, which may be gone. */
static const mpi_comm_t *comm_of(const mpi_coll_t *coll, int rank)
{
    return atomic_load_explicit(&coll->comms[rank], memory_order_acquire);
}

static int world_of(const mpi_coll_t *coll, int rank)
{
    return coll->group->ranks ? coll->group->ranks[rank] : rank;
}

/* Where member `rank` called collective `number`; NULL when it has called many since. */
static const void *site_of(const mpi_coll_t *coll, int rank, uint64_t number)
{
    const mpi_comm_t *comm = comm_of(coll, rank);

    if (coll->interprocess != NULL && atomic_load(&coll->interprocess->told) == rank)
        return atomic_load(&coll->interprocess->told_at);
    if (comm == NULL || coll_is_before(number + XMPI_COMM_SITES, comm->coll_seq) ||
        !coll_is_before(number, comm->coll_seq))
        return NULL;
    return comm->sites[number % XMPI_COMM_SITES];
}

/* The same as " at ring.c:25", or "". */
static const char *place_of(const mpi_coll_t *coll, int rank, uint64_t number, char text[TEXT])
{
    const void *site = site_of(coll, rank, number);

    text[0] = '\0';
    if (site == NULL)
        return text;
    text[0] = ' ';
    mpi_caller_describe(site, text + 1, TEXT - 1);
    return text[1] != '\0' ? text : text + 1;
}

/* The property in which claims `a` and `b` differ. */
typedef enum {
    ABOUT_KIND,
    ABOUT_ROOT,
    ABOUT_BYTES,
    ABOUT_BYTES_AND_TYPE,
    ABOUT_TYPE,
    ABOUT_WHAT,
    ABOUT_SPLIT /* reduce_scatter: other counts */
} about_t;

/* The first thing in which two claims about a collective differ. */
static about_t difference(const coll_claim_t *a, const coll_claim_t *b)
{
    if (a->kind != b->kind || a->how != b->how || is_agreement(a))
        return ABOUT_KIND;
    if (a->root != b->root && a->kind->is_rooted)
        return ABOUT_ROOT;
    if (a->what != b->what)
        return ABOUT_WHAT;
    if (a->root != b->root)
        return ABOUT_SPLIT;
    if (coll_agreed_bytes(a->agreed) == coll_agreed_bytes(b->agreed))
        return ABOUT_TYPE;
    return mpi_signatures_match(coll_agreed_signature(a->agreed), coll_agreed_signature(b->agreed),
                                1)
               ? ABOUT_BYTES
               : ABOUT_BYTES_AND_TYPE;
}

/* " with 16 bytes", " with 16 bytes of MPI_INT", " with MPI_INT". */
static void describe_data(const coll_claim_t *c, about_t about, char text[TEXT])
{
    unsigned long long bytes = coll_agreed_bytes(c->agreed);
    char type[XMPI_SIGNATURE_TEXT];

    mpi_signature_describe(coll_agreed_signature(c->agreed), type);
    if (about == ABOUT_BYTES)
        snprintf(text, TEXT, " with %llu bytes", bytes);
    else if (about == ABOUT_TYPE)
        snprintf(text, TEXT, " with %.120s", type);
    else
        snprintf(text, TEXT, " with %llu bytes of %.100s", bytes, type);
}

/* " with MPI_SUM", " in place", " not in place". */
static void describe_what(const coll_claim_t *c, char text[TEXT])
{
    int op = c->what - COLL_WHAT_OP;

    if (op < 0 || c->what == COLL_WHAT_IN_PLACE) {
        snprintf(text, TEXT, "%s in place", c->what == COLL_WHAT_IN_PLACE ? "" : " not");
        return;
    }
    snprintf(text, TEXT, " with a user-defined operation");
    for (int i = 0; i < XMPI_OP_TABLE && op != XMPI_OP_KIND_USER; i++)
        if (mpi_op_table[i].is_predefined && (int)mpi_op_table[i].kind == op)
            snprintf(text, TEXT, " with %s", mpi_op_table[i].name);
}

/* Describe the root of a claim for a report, by its world rank and its rank in the communicator. */
static void describe_root(const mpi_coll_t *coll, const coll_claim_t *c, char text[TEXT])
{
    const mpi_comm_t *comm = comm_of(coll, c->rank);
    int world = c->root < 0 ? c->root : world_of(coll, c->root);

    if (c->root < 0)
        snprintf(text, TEXT, " with root MPI_PROC_NULL");
    else if (coll->lows > 0 && c->root == c->rank)
        snprintf(text, TEXT, " with root MPI_ROOT");
    else if (coll->lows > 0)
        snprintf(text, TEXT, " with root %d (%d in the other group)", world,
                 c->root >= coll->lows ? c->root - coll->lows : c->root);
    else if (world == c->root)
        snprintf(text, TEXT, " with root %d", c->root);
    else if (comm != NULL && comm->name[0] != '\0')
        snprintf(text, TEXT, " with root %d (%d in %s)", world, c->root, comm->name);
    else
        snprintf(text, TEXT, " with root %d (%d in it)", world, c->root);
}

/* The counts that a member gave to reduce_scatter. False: they are not known any more, or are in
 * another process. */
static bool find_shares(const mpi_coll_t *coll, const coll_claim_t *c, coll_vector_t *shares_p)
{
    const mpi_comm_t *comm = comm_of(coll, c->rank);

    if (comm == NULL || comm->shares == NULL)
        return false;
    *shares_p = (coll_vector_t){.data = comm->shares, .is_wide = comm->shares_are_wide};
    return coll_split_of(*shares_p, coll->size) == c->root;
}

/* " with recvcounts 2, 1, 0": the first of them. */
static void list_shares(coll_vector_t shares, int count, char text[TEXT])
{
    size_t length = 0;

    for (int i = 0; i < count && length + 32 < TEXT; i++)
        length += (size_t)snprintf(text + length, TEXT - length, "%s%lld",
                                   i > 0 ? ", " : " with recvcounts ",
                                   (long long)coll_count_at(shares, i));
}

/* " with recvcounts[1] = 4", the first that differs from that of `other`. */
static void describe_shares(const mpi_coll_t *coll, const coll_claim_t *c,
                            const coll_claim_t *other, char text[TEXT])
{
    coll_vector_t own, theirs;
    int i = 0;

    if (!find_shares(coll, c, &own)) {
        snprintf(text, TEXT, " with other recvcounts");
    } else if (!find_shares(coll, other, &theirs)) {
        list_shares(own, coll->size, text);
    } else {
        while (i < coll->size - 1 && coll_count_at(own, i) == coll_count_at(theirs, i))
            i++;
        snprintf(text, TEXT, " with recvcounts[%d] = %lld", i, (long long)coll_count_at(own, i));
    }
}

/* "rank 2 calls MPI_Bcast with root 1 at ring.c:25", where `other` differs from it. */
static void describe(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *c,
                     const coll_claim_t *other, about_t about, char text[3 * TEXT])
{
    char name[TEXT], detail[TEXT] = "", place[TEXT], host[80] = "";

    if (about == ABOUT_BYTES || about == ABOUT_BYTES_AND_TYPE || about == ABOUT_TYPE)
        describe_data(c, about, detail);
    else if (about == ABOUT_WHAT)
        describe_what(c, detail);
    else if (about == ABOUT_SPLIT)
        describe_shares(coll, c, other, detail);
    else if (c->kind->is_rooted && c->kind != &coll_making_bcast) /* the program gave no root */
        describe_root(coll, c, detail);
    if (coll->interprocess != NULL && mpi_job->hosts != NULL &&
        !mpi_rank_is_foreign(mpi_job, world_of(coll, c->rank)))
        snprintf(host, sizeof(host), " on %s",
                 mpi_job->hosts[mpi_job->process_of[world_of(coll, c->rank)]]);
    snprintf(text, 3 * TEXT, "rank %d%s calls %s%s%s", world_of(coll, c->rank), host,
             name_of(c, name), detail, place_of(coll, c->rank, number, place));
}

/* "MPI_COMM_WORLD"; "a communicator of 4 ranks". */
static const char *describe_comm(const mpi_coll_t *coll, char text[TEXT])
{
    const mpi_comm_t *comm = NULL;

    for (int r = 0; r < coll->size && comm == NULL; r++) /* some may have freed theirs */
        comm = comm_of(coll, r);
    if (comm != NULL && comm->name[0] != '\0')
        snprintf(text, TEXT, "%s", comm->name);
    else if (coll->lows > 0)
        snprintf(text, TEXT, "an intercommunicator of %d and %d ranks", coll->lows,
                 coll->size - coll->lows);
    else
        snprintf(text, TEXT, "a communicator of %d ranks", coll->size);
    return text;
}

/* About members `rank` and `other`. */
static mpi_finding_t finding_of(mpi_finding_kind_t kind, const mpi_coll_t *coll, int rank,
                                int other, uint64_t number)
{
    return (mpi_finding_t){.kind = kind,
                           .rank = world_of(coll, rank),
                           .other = world_of(coll, other),
                           .sites = {site_of(coll, rank, number), site_of(coll, other, number)}};
}

static void report(const mpi_coll_t *coll, uint64_t number, const mpi_finding_t *finding,
                   const char *a, const char *b)
{
    char comm[TEXT];

    mpi_finding_end(finding,
                    "ranks disagree about collective %llu of %s: %s, %s; all members must make the "
                    "same calls in the same order",
                    (unsigned long long)number + 1, describe_comm(coll, comm), a, b);
    mpi_job->abort(1);
}

/* ---- Types: other elements of the same size are a warning where data is only moved ---- */

static mpi_finding_t mismatch(const mpi_coll_t *coll, int rank, int other, uint64_t number)
{
    return finding_of(XMPI_FINDING_TYPE_MISMATCH, coll, rank, other, number);
}

/* Warn once that two members of a collective give different types. */
static void warn_types(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                       const coll_claim_t *b)
{
    char text_a[3 * TEXT], text_b[3 * TEXT], comm[TEXT];
    mpi_finding_t finding;

    if (world_of(coll, a->rank) > world_of(coll, b->rank)) { /* both may find it: in one order */
        warn_types(coll, number, b, a);
        return;
    }
    finding = mismatch(coll, a->rank, b->rank, number);
    if (mpi_finding_is_known(&finding))
        return;
    describe(coll, number, a, b, ABOUT_TYPE, text_a);
    describe(coll, number, b, a, ABOUT_TYPE, text_b);
    mpi_finding_add(&finding,
                    "collective %llu of %s has different types: %s, %s; give the same types in all",
                    (unsigned long long)number + 1, describe_comm(coll, comm), text_a, text_b);
}

/* Two claims that differ in no more than what they say about the data. */
static bool is_same_data(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                         const coll_claim_t *b)
{
    uint64_t bytes = coll_agreed_bytes(a->agreed);

    if (is_agreement(a) || coll_agreed_bytes(b->agreed) != bytes)
        return false;
    /* Where blocks have different sizes, the first elements are compared. */
    if (mpi_signatures_match(coll_agreed_signature(a->agreed), coll_agreed_signature(b->agreed),
                             bytes > 0 ? bytes : 1))
        return true;
    if (coll_is_reduction(a->kind))
        return false;
    warn_types(coll, number, a, b);
    return true;
}

bool coll_claims_agree(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                       const coll_claim_t *b)
{
    if (a->kind != b->kind || a->how != b->how)
        return false;
    if (a->root < 0 || b->root < 0)
        return a->root < 0 ? is_of_group(coll, a->root, b->root)
                           : is_of_group(coll, b->root, a->root);
    return coll_is_same_claim(a, b) ||
           (a->root == b->root && a->what == b->what && is_same_data(coll, number, a, b));
}

void coll_compare_types(const coll_call_t *from, uint16_t given, const coll_call_t *to,
                        uint16_t taken, uint64_t sent)
{
    const mpi_coll_t *coll = from->comm->coll;
    coll_claim_t claim = coll_claim_of(from);
    char name[TEXT], here[TEXT], there[TEXT], comm[TEXT];
    char text[XMPI_SIGNATURE_TEXT], other[XMPI_SIGNATURE_TEXT];
    mpi_finding_t finding = mismatch(coll, to->rank, from->rank, from->number);

    if (mpi_signatures_match(given, taken, sent) || mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(
        &finding,
        "%s on %s: rank %d sends %s to rank %d%s, which receives %s%s; give the same types in both",
        name_of(&claim, name), describe_comm(coll, comm), world_of(coll, from->rank),
        mpi_signature_describe(given, text), world_of(coll, to->rank),
        place_of(coll, from->rank, from->number, here), mpi_signature_describe(taken, other),
        place_of(coll, to->rank, to->number, there));
}

/* The same function may be named by another copy of its name. Accesses to a file with an offset and
 * at the pointer do the same with it, and members may mix them: PnetCDF does. */
static bool is_same_function(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] != '\0' && a[n] == b[n])
        n++;
    return strcmp(a + n, b + n) == 0 || (strcmp(a + n, "t_all") == 0 && strcmp(b + n, "ll") == 0) ||
           (strcmp(a + n, "ll") == 0 && strcmp(b + n, "t_all") == 0);
}

void coll_disagree(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                   const coll_claim_t *b)
{
    about_t about = difference(a, b);
    char text_a[3 * TEXT], text_b[3 * TEXT];
    mpi_finding_t finding;

    if (a->kind == b->kind && a->how == b->how && is_agreement(a) &&
        is_same_function((const char *)(uintptr_t)a->agreed, (const char *)(uintptr_t)b->agreed))
        return;
    mpi_report_claim();
    describe(coll, number, a, b, about, text_a);
    describe(coll, number, b, a, about, text_b);
    finding = finding_of(XMPI_FINDING_DISAGREEMENT, coll, a->rank, b->rank, number);
    report(coll, number, &finding, text_a, text_b);
}

void coll_disagree_about(const coll_call_t *a, const char *said, const coll_call_t *b,
                         const char *other)
{
    const mpi_coll_t *coll = a->comm->coll;
    mpi_finding_t finding =
        finding_of(XMPI_FINDING_DISAGREEMENT, coll, a->rank, b->rank, a->number);
    const coll_call_t *calls[] = {a, b};
    const char *details[] = {said, other};
    char text[2][3 * TEXT], place[TEXT];

    mpi_report_claim();
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof(text[i]), "rank %d calls %s%.150s%s",
                 world_of(coll, calls[i]->rank), (const char *)(uintptr_t)calls[i]->agreed,
                 details[i], place_of(coll, calls[i]->rank, calls[i]->number, place));
    report(coll, a->number, &finding, text[0], text[1]);
}

void coll_disagree_told(const mpi_comm_t *comm, int a, const char *said, int b, const char *other)
{
    const mpi_coll_t *coll = comm->coll;
    mpi_finding_t finding = {.kind = XMPI_FINDING_DISAGREEMENT,
                             .rank = world_of(coll, b),
                             .other = world_of(coll, a),
                             .sites = {comm->owner->call.caller, NULL}};
    char name[TEXT];

    mpi_report_claim();
    mpi_finding_end(&finding,
                    "ranks disagree about a collective call on %s: rank %d %s, rank %d %s; all "
                    "members must give the same",
                    describe_comm(coll, name), world_of(coll, a), said, world_of(coll, b), other);
    mpi_job->abort(1);
}

void coll_disagree_unseen(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a, int other)
{
    char text_a[3 * TEXT], text_b[3 * TEXT], place[TEXT];
    mpi_finding_t finding = finding_of(XMPI_FINDING_DISAGREEMENT, coll, a->rank, other, number);

    mpi_report_claim();
    describe(coll, number, a, a, ABOUT_KIND, text_a);
    snprintf(text_b, sizeof(text_b), "rank %d calls another one%s", world_of(coll, other),
             place_of(coll, other, number, place));
    report(coll, number, &finding, text_a, text_b);
}

void coll_refuse_excess(const coll_call_t *from, const coll_call_t *to, uint64_t sent,
                        uint64_t room)
{
    const mpi_coll_t *coll = from->comm->coll;
    coll_claim_t claim = coll_claim_of(from);
    mpi_finding_t finding =
        finding_of(XMPI_FINDING_EXCESS, coll, from->rank, to->rank, from->number);
    char name[TEXT], here[TEXT], there[TEXT], comm[TEXT];

    mpi_report_claim();
    mpi_finding_end(
        &finding,
        "%s on %s: rank %d sends %llu bytes to rank %d%s, which has room for %llu%s; the "
        "counts and types of both must describe the same data",
        name_of(&claim, name), describe_comm(coll, comm), world_of(coll, from->rank),
        (unsigned long long)sent, world_of(coll, to->rank),
        place_of(coll, from->rank, from->number, here), (unsigned long long)room,
        place_of(coll, to->rank, to->number, there));
    mpi_job->abort(MPI_ERR_TRUNCATE);
}

void coll_compare_scheduled(mpi_coll_t *coll, uint64_t number, const coll_claim_t *direct)
{
    coll_claim_t other;

    if (coll_engine_scheduled()->find(coll, number, &other))
        coll_disagree(coll, number, &other, direct);
}

/* Do local groups `a` and `b` wait for different things? All workers are asleep. */
static void compare_groups(const mpi_coll_t *coll, int a, int b)
{
    uint64_t number, other_number;
    coll_claim_t claim, other;

    for (int i = 0; i < COLL_SLOTS + STAR_SLOTS; i++)
        for (int j = 0;
             j < COLL_SLOTS + STAR_SLOTS && coll_claim_at(coll->local[a], i, &number, &claim); j++)
            if (coll_claim_at(coll->local[b], j, &other_number, &other) &&
                coll_is_same_number(number, other_number) &&
                !coll_claims_agree(coll, number, &claim, &other))
                coll_disagree(coll, number, &claim, &other);
}

/* Where the collective of a request takes place; NULL: it is none. A persistent one has a place of
 * its own. */
static const mpi_comm_t *comm_of_request(const mpi_request_t *request)
{
    const coll_call_t *call = coll_call_of_request(request);

    if (call != NULL)
        return call->comm;
    if (request == mpi_request_of(MPI_REQUEST_NULL) || request->kind != XMPI_KIND_COLL)
        return NULL;
    return request->comm;
}

/* A group that waits in a star has perhaps sent nothing to the one that it disagrees with. */
static void compare_waiting(const mpi_waiter_t *waiter)
{
    const mpi_coll_t *coll = NULL;

    for (int i = 0; waiter->count > 0 && i < mpi_waiter_requests(waiter); i++) {
        const mpi_comm_t *comm = comm_of_request(waiter->waits[i]);

        if (comm != NULL && comm->coll != coll) {
            coll = comm->coll;
            for (int p = 0; p < coll->locals; p++)
                compare_groups(coll, coll->local_of[comm->rank], p);
        }
    }
}

/* One that waits for a direct collective has perhaps seen its number taken by a scheduled one of
 * another rank, when it could no longer compare them. */
static void compare_with_schedules(const mpi_waiter_t *waiter)
{
    for (int i = 0; waiter->count > 0 && i < mpi_waiter_requests(waiter); i++) {
        const coll_call_t *call = coll_call_of_request(waiter->waits[i]);

        if (call != NULL && call->schedule == NULL &&
            atomic_load_explicit(&call->comm->coll->open_schedules, memory_order_acquire) > 0) {
            coll_claim_t claim = coll_claim_of(call);

            coll_compare_scheduled(call->comm->coll, call->number, &claim);
        }
    }
}

static void for_all_waiters(void (*fn)(const mpi_waiter_t *waiter))
{
    for (int r = 0; r < mpi_job->size; r++) {
        fn(&mpi_job->ranks[r].own);
        for (const mpi_thread_t *t = mpi_job->ranks[r].threads; t != NULL; t = t->next)
            fn(&t->waiter);
    }
}

/* No rank can move. */
void coll_compare_stuck(void)
{
    for_all_waiters(compare_waiting);
    for_all_waiters(compare_with_schedules);
    if (mpi_job->processes > 1)
        for_all_waiters(coll_interprocess_compare_stuck);
}
