/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * List the ranks by their calls: one line for each group of ranks that are in the same call, for
 * reports of deadlocks, time limits and aborts. Ranks of other workers may run meanwhile: they
 * change what they are doing and free what they use. So every record is copied once, through the
 * kernel (copy_memory.c), and only the copy is looked at: a copy may be of the past or half of it,
 * but no pointer in it is followed without asking whether there is memory.
 */
#include "mpi/check/check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/copy_memory.h"
#include "mpi/check/deadlock.h"
#include "mpi/check/findings.h"
#include "mpi/check/wait.h"
#include "mpi/check/windows.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

enum {
    REPORTED = 32,
    PENDING_SHOWN = 3,
    TEXT_SIZE = 1024,
    REQUESTS_MOST = 1 << 16,
    PARTITIONS_MOST = 1 << 14
};

/* Ranks in the same place. */
typedef struct {
    char text[TEXT_SIZE];
    const void *site; /* where the first of them calls, or NULL */
    xy_bitset_t members;
} group_t;

static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

int check_world_rank(const mpi_comm_t *comm, int peer)
{
    mpi_group_t group;
    mpi_comm_t copy;
    int world;

    if (peer < 0 || !check_copy_memory(&copy, comm, sizeof(copy)) ||
        !check_copy_memory(&group, copy.remote != NULL ? copy.remote : copy.group, sizeof(group)) ||
        peer >= group.size || group.ranks == NULL ||
        !check_copy_memory(&world, group.ranks + peer, sizeof(world)) || world == peer)
        return -1;
    return world;
}

void check_copy_call(const mpi_call_t *call, check_place_t *place)
{
    *place =
        (check_place_t){.caller = call->caller, .peer = call->peer, .tag = call->tag, .world = -1};
    if (call->name == NULL || !check_copy_string(place->name, call->name, CHECK_NAME_SIZE) ||
        strncmp(place->name, "MPI_", 4) != 0) {
        place->name[0] = '\0'; /* memory that is something else by now */
        return;
    }
    if (call->comm == NULL)
        return;
    if (!check_copy_string(place->comm, (const char *)call->comm + offsetof(mpi_comm_t, name),
                           sizeof(place->comm)))
        place->comm[0] = '\0';
    else if (place->comm[0] == '\0')
        strcpy(place->comm, "an unnamed communicator");
    make_printable(place->comm);
    place->world = check_world_rank(call->comm, call->peer);
}

/* Describe the peer and tag that a rank waits for; empty if the call has none. */
static void describe_peer(const check_place_t *call, char *text, size_t size)
{
    bool is_meeting = strstr(call->name, "Intercomm") != NULL; /* of two leaders */
    bool sends = strstr(call->name, "end") != NULL || is_meeting;
    bool receives =
        strstr(call->name, "ecv") != NULL || strstr(call->name, "robe") != NULL || is_meeting;
    const char *way = sends && receives ? "with" : sends ? "to" : "from";
    char tag[32] = "any tag";

    text[0] = '\0';
    if (call->peer == MPI_UNDEFINED)
        return;
    if (call->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof(tag), "tag %d", call->tag);
    if (call->peer == MPI_ANY_SOURCE)
        snprintf(text, size, " %s any rank, %s", way, tag);
    else if (call->world >= 0)
        snprintf(text, size, " %s rank %d (%d in %s), %s", way, call->world, call->peer, call->comm,
                 tag);
    else
        snprintf(text, size, " %s rank %d, %s", way, call->peer, tag);
}

static bool has_peer(const char *name)
{
    static const char *const names[] = {"Send",  "Recv",      "recv",         "send", "Probe",
                                        "probe", "Intercomm", "create_group", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strstr(name, names[i]) != NULL)
            return true;
    return false;
}

static bool is_wait(const char *name)
{
    return strncmp(name, "MPI_Wait", 8) == 0;
}

/* "MPI_Recv with rank 1, tag 7 on MPI_COMM_WORLD, at ring.c:25". */
static void describe_call(const check_place_t *call, char *text, size_t size)
{
    char peer[MPI_MAX_OBJECT_NAME + 96] = "", site[160];
    bool has_comm = call->comm[0] != '\0' && !is_wait(call->name);

    if (has_peer(call->name))
        describe_peer(call, peer, sizeof(peer));
    mpi_caller_describe(call->caller, site, sizeof(site));
    snprintf(text, size, "%s%s%s%s%s%s%s%s", call->is_started ? "MPI_Start of " : "", call->name,
             peer, has_comm ? " on " : "", has_comm ? call->comm : "", site[0] != '\0' ? ", " : "",
             site, call->partitions);
}

/* Read a flag of memory that may be free meanwhile, and then hold neither true nor false. */
static bool is_set(const bool *flag)
{
    return *(const unsigned char *)flag != 0;
}

/* ", partitions 1, 3-5 of 8 have not arrived". */
static void copy_partitions(const mpi_request_t *request, char *text, size_t size)
{
    bool is_receive = request->kind == XMPI_KIND_PRECV;
    unsigned char over[PARTITIONS_MOST];
    char missing[CHECK_PARTITIONS_TEXT - 80];
    mpi_partitioned_t p;

    if (!check_copy_memory(&p, request->extra, sizeof(p)))
        return;
    if (!is_set(&p.is_met)) {
        snprintf(text, size, ", which no MPI_Psend_init has matched");
        return;
    }
    if (p.head.partitions < 0 || p.head.partitions > PARTITIONS_MOST ||
        !check_copy_memory(over, p.over, (size_t)p.head.partitions))
        return;
    if (mpi_partitioned_list_missing(&p, is_receive, over, missing, sizeof(missing)))
        snprintf(text, size, ", partitions %s of %d %s", missing, p.partitions,
                 is_receive ? "have not arrived" : "were not marked ready");
}

bool check_copy_request(const mpi_waiter_t *waiter, int i, mpi_request_t *request)
{
    const mpi_request_t *address;

    return check_copy_memory(&address, waiter->waits + i, sizeof(address)) &&
           check_copy_memory(request, address, sizeof(*request)) && !is_set(&request->is_done) &&
           is_set(&request->is_active);
}

/* Is request `i` of those that one waits for pending? Its call is copied then. */
static bool copy_pending(const mpi_waiter_t *waiter, int i, check_place_t *place)
{
    mpi_request_t request;

    if (!check_copy_request(waiter, i, &request))
        return false;
    check_copy_call(&request.call, place);
    place->is_started = is_set(&request.is_persistent);
    if (request.kind == XMPI_KIND_PSEND || request.kind == XMPI_KIND_PRECV)
        copy_partitions(&request, place->partitions, sizeof(place->partitions));
    return place->name[0] != '\0';
}

/* The requests that a rank in MPI_Wait or a relative of it waits for: the first pending ones. */
static void describe_pending(const mpi_waiter_t *waiter, char *text, size_t size)
{
    int shown = 0, pending = 0;
    int requests = mpi_waiter_requests(waiter);
    int count = requests < REQUESTS_MOST ? requests : REQUESTS_MOST;
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        check_place_t place;
        char call[256 + CHECK_PARTITIONS_TEXT];

        if (!copy_pending(waiter, i, &place) || pending++ >= PENDING_SHOWN)
            continue;
        describe_call(&place, call, sizeof(call));
        length += (size_t)snprintf(text + length, size - length, "%s %s",
                                   shown++ == 0 ? ", for" : "; for", call);
        if (length >= size)
            return;
    }
    if (pending > shown)
        snprintf(text + length, size - length, "; and for %d more", pending - shown);
}

/* "in MPI_Recv ...", after `who`; false: in no call. */
static bool describe_place(const char *who, const mpi_call_t *call, const mpi_waiter_t *waiter,
                           char *text, size_t size)
{
    char name[384], pending[TEXT_SIZE - 400] = "";
    check_place_t place;

    check_copy_call(call, &place);
    if (place.name[0] == '\0')
        return false;
    describe_call(&place, name, sizeof(name));
    if (is_wait(place.name))
        describe_pending(waiter, pending, sizeof(pending));
    else if (strncmp(place.name, "MPI_Win_", 8) == 0)
        check_describe_window(place.name, call, pending, sizeof(pending));
    snprintf(text, size, "%sin %s%s", who, name, pending);
    return true;
}

static void describe(const mpi_rank_t *rank, char *text, size_t size)
{
    if (!describe_place("", &rank->call, &rank->own, text, size))
        snprintf(text, size, "%s",
                 rank->phase == XMPI_RANK_FINALIZED     ? "has called MPI_Finalize"
                 : rank->phase == XMPI_RANK_BEFORE_INIT ? "has not called MPI_Init"
                                                        : "in its own code");
}

static void print_group(const mpi_job_t *job, const group_t *group, FILE *out)
{
    char *list = xy_bitset_format(&group->members);
    const char *host = job->hosts ? job->hosts[job->process] : NULL;

    fprintf(out, "  rank%s %s%s%s: %s\n", xy_bitset_count(&group->members) > 1 ? "s" : "",
            list ? list : "?", host ? " on " : "", host ? host : "", group->text);
    xy_free(list);
    if (mpi_finding_store != NULL && out == stderr) /* else it is printed elsewhere */
        check_line_add(&group->members, group->text, group->site);
}

/* The group of that text, a new one where there is none; NULL: there are `at_most`. The site in it
 * is an offset in the program: it does not tell private images apart. */
static group_t *find_group(group_t *groups, int *count_p, int at_most, size_t ranks,
                           const char *text, const void *site)
{
    group_t *group = groups;

    for (; group < groups + *count_p; group++)
        if (strcmp(group->text, text) == 0)
            return group;
    if (*count_p == at_most || xy_bitset_init(&group->members, ranks) != XY_OK)
        return NULL;
    strcpy(group->text, text);
    group->site = site;
    ++*count_p;
    return group;
}

typedef struct {
    group_t *groups;
    int count, at_most;
    int ranks;
} report_t;

/* False: there are too many groups already. */
static bool add_line(report_t *report, int rank, const char *text, const mpi_call_t *call)
{
    group_t *group =
        find_group(report->groups, &report->count, report->at_most, (size_t)report->ranks, text,
                   call != NULL && call->name != NULL ? call->caller : NULL);

    if (group != NULL)
        xy_bitset_set(&group->members, (size_t)rank);
    return group != NULL;
}

static void add_threads(report_t *report, const mpi_rank_t *rank)
{
    mpi_thread_t thread;
    char text[TEXT_SIZE], name[32];

    for (const mpi_thread_t *t = rank->threads;
         t != NULL && check_copy_memory(&thread, t, sizeof(thread)); t = thread.next) {
        snprintf(name, sizeof(name), thread.number > 0 ? "thread %d " : "a thread ", thread.number);
        if (!thread.is_main &&
            describe_place(name, &thread.call, &thread.waiter, text, sizeof(text)))
            add_line(report, rank->world, text, &thread.call);
    }
}

/* Add what a rank does to the report; false if there is no line left for it. */
static bool add_rank(report_t *report, const mpi_rank_t *of, int r)
{
    static const char unknown[] =
        "not known: the system does not let a process read its own memory";
    char text[TEXT_SIZE];
    mpi_rank_t rank;
    bool is_added;

    if (!check_copy_memory(&rank, of, sizeof(rank)))
        return add_line(report, r, unknown, NULL);
    describe(&rank, text, sizeof(text));
    is_added = add_line(report, r, text, &rank.call);
    add_threads(report, &rank);
    return is_added;
}

bool check_is_gone(const mpi_job_t *job, int r)
{
    const mpi_rank_t *rank = &job->ranks[r];
    const mpi_comm_t *comm = rank->comms;

    if (r < job->started)
        return false;
    while (comm != NULL &&
           (comm->mark != XMPI_COMM_LIVE || comm == rank->comm_world || comm == rank->comm_self))
        comm = comm->next;
    return rank->worker == NULL || (rank->phase == XMPI_RANK_FINALIZED && comm == NULL);
}

/* Print one line for each group of ranks in the same call, at most `at_most` of them. */
static void report_to(const mpi_job_t *job, int at_most, FILE *out)
{
    report_t report = {.at_most = at_most, .ranks = job->capacity};
    int others = 0;

    report.groups = xy_calloc((size_t)at_most, sizeof(*report.groups));
    if (report.groups == NULL)
        return;
    for (int r = 0; r < job->size; r++)
        others += mpi_rank_is_here(job, r) && !check_is_gone(job, r) &&
                  !add_rank(&report, &job->ranks[r], r);
    for (int i = 0; i < report.count; i++) {
        print_group(job, &report.groups[i], out);
        xy_bitset_cleanup(&report.groups[i].members);
    }
    if (others > 0)
        fprintf(out, "  and %d ranks more\n", others);
    xy_free(report.groups);
}

/* "  ranks 2-3 on b: in MPI_Recv from rank 0, tag 7 on MPI_COMM_WORLD, at ring.c:12": a line of
 * another process, for the files of --check. */
static void note_line(const mpi_job_t *job, char *line)
{
    char *list = strncmp(line, "  rank", 6) == 0 ? strchr(line + 2, ' ') : NULL;
    char *host = list ? strstr(list, " on ") : NULL;
    char *text = host ? strstr(host, ": ") : NULL;
    char place[CHECK_PLACE_SIZE] = "";
    const char *at = text ? strstr(text, ", at ") : NULL;
    xy_bitset_t ranks;

    if (!text)
        return;
    *host = '\0';
    if (at)
        snprintf(place, sizeof(place), "%.*s", (int)strcspn(at + 5, ",;"), at + 5);
    if (xy_bitset_init(&ranks, (size_t)job->capacity) == XY_OK &&
        xy_bitset_parse(&ranks, list + 1, "ranks") == XY_OK)
        check_line_add_at(&ranks, text + 2, place);
    xy_bitset_cleanup(&ranks);
}

static void note_lines(const mpi_job_t *job, const char *text, size_t length)
{
    char *copy = xy_sprintf("%.*s", (int)length, text), *rest = copy;

    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        note_line(job, line);
    xy_free(copy);
}

void check_report(const mpi_job_t *job, int at_most, char *const *reports)
{
    report_to(job, at_most, stderr);
    for (int p = 0; reports && p < job->processes; p++) {
        const char *text = reports[p] ? reports[p] : "";
        size_t length = strcspn(text, (char[]){CHECK_TOLD_MARK, '\0'});

        fprintf(stderr, "%.*s", (int)length, text);
        if (mpi_finding_store != NULL)
            note_lines(job, text, length);
    }
}

void mpi_job_report(const mpi_job_t *job, int at_most)
{
    check_report(job, at_most, job->reports);
}

void check_report_write(FILE *out)
{
    report_to(mpi_job, REPORTED, out);
}

char *check_report_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    report_to(mpi_job, REPORTED, out);
    fputc(CHECK_TOLD_MARK, out);
    check_told_write(out);
    fclose(out);
    return text;
}
