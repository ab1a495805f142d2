/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/joined.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <xylem.h>

#include "launch/launch.h"
#include "mpi/bindings/bindings.h"

/* How long a wrapper may take to end after the rank that it has run, before others are ended. */
#define LOST_SECONDS 1.0

typedef enum {
    STRANGER, /* has not said who it is */
    WAITING,  /* for all others to come */
    RUNNING,
    LEFT
} stage_t;

struct mpi_member {
    stage_t stage;
    int rank;
    char *card; /* that it has sent and others have not got */
};

typedef struct {
    bool has_ended;
    int status;
} end_t;

static struct {
    const mpi_joined_config_t *config;
    int size;
    mpi_member_t **members; /* [size]: who is, or was last, that rank; or NULL */
    end_t *ends;            /* [size] */
    int waiting, cards;     /* how many of them */
    int failed, code;       /* rank that says so, and its exit code; -1: none */
    int lost;               /* rank; -1: none */
    double lost_at;
} joined = {.failed = -1, .lost = -1};

xy_status_t mpi_joined_begin(const mpi_joined_config_t *config)
{
    joined.config = config;
    joined.size = config->size;
    joined.members = xy_calloc((size_t)config->size, sizeof(*joined.members));
    joined.ends = xy_calloc((size_t)config->size, sizeof(*joined.ends));
    return joined.members != NULL && joined.ends != NULL ? XY_OK
                                                         : xy_fail_memory("starting processes");
}

mpi_member_t *mpi_joined_come(void)
{
    return xy_calloc(1, sizeof(mpi_member_t));
}

/* ---- What they say ---- */

static void add(xy_text_t *text, const char *field)
{
    xy_text_add_bytes(text, field, strlen(field) + 1);
}

static void add_seconds(xy_text_t *text, double seconds)
{
    char field[32];

    snprintf(field, sizeof(field), "%g", seconds);
    add(text, field);
}

/* Send the facts that all processes need: see bindings.h. */
static bool let_all_run(void)
{
    const mpi_joined_config_t *config = joined.config;
    uint8_t secret[XY_SECRET_BYTES];
    char digits[2 * XY_SECRET_BYTES + 1], rules[XY_RULES_SIZE];
    xy_text_t text = XY_TEXT_INIT;

    if (xy_secret_make(secret) != XY_OK)
        return false;
    xy_secret_write(secret, digits);
    add(&text, digits);
    add(&text, config->values->net);
    add(&text, config->is_local ? "1" : "0");
    xy_net_rules_write(rules);
    add(&text, rules);
    add_seconds(&text, config->values->deadlock_after);
    add_seconds(&text, config->values->polling_after);
    for (int r = 0; r < joined.size; r++) {
        joined.members[r]->stage = RUNNING;
        if (config->hosts != NULL)
            add(&text, config->hosts[r]);
    }
    joined.waiting = 0;
    if (text.failed) {
        xy_fail_memory("connecting the processes");
        return false;
    }
    config->send(XMPI_JOIN_ALL, text.s, text.length);
    xy_text_cleanup(&text);
    return true;
}

/* "3 0.1.0" */
static bool take_hello(mpi_member_t *member, const char *text)
{
    char *version;
    long rank = strtol(text, &version, 10);
    const mpi_member_t *before;

    if (*version != ' ' || strcmp(version + 1, xylem_version()) != 0) {
        process_say("a process has loaded an MPI library of another version of Xylem than this "
                    "mpiexec, %s",
                    xylem_version());
        return false;
    }
    if (member->stage != STRANGER || rank < 0 || rank >= joined.size) {
        process_say("a process calls MPI_Init as rank %ld, and there are %d; leave PMI_RANK as "
                    "mpiexec has set it",
                    rank, joined.size);
        return false;
    }
    before = joined.members[rank];
    if (before != NULL && (before->stage == WAITING || before->stage == RUNNING)) {
        process_say("rank %ld calls MPI_Init in two processes at once; only one can be the "
                    "rank",
                    rank);
        return false;
    }
    member->stage = WAITING;
    member->rank = (int)rank;
    joined.members[rank] = member;
    return ++joined.waiting < joined.size || let_all_run();
}

/* Send the cards of all ranks to all of them and free them; false without memory. */
static bool hand_out_cards(void)
{
    xy_text_t text = XY_TEXT_INIT;

    for (int r = 0; r < joined.size; r++) {
        char *card = joined.members[r]->card;

        xy_text_add_bytes(&text, card, strlen(card) + 1);
        joined.members[r]->card = NULL;
        xy_free(card);
    }
    joined.cards = 0;
    if (text.failed) {
        xy_fail_memory("connecting the processes");
        return false;
    }
    joined.config->send(XMPI_JOIN_CARDS, text.s, text.length);
    xy_text_cleanup(&text);
    return true;
}

static bool take_card(mpi_member_t *member, xy_frame_t *frame)
{
    if (member->stage != RUNNING || member->card != NULL)
        return true;
    member->card = frame->bytes;
    frame->bytes = NULL;
    return ++joined.cards < joined.size || hand_out_cards();
}

bool mpi_joined_said(mpi_member_t *member, xy_frame_t *frame)
{
    if (frame->kind == XMPI_JOIN_HELLO)
        return take_hello(member, frame->bytes);
    if (frame->kind == XMPI_JOIN_CARD)
        return take_card(member, frame);
    if (frame->kind == XMPI_JOIN_LEAVE && member->stage == RUNNING)
        member->stage = LEFT;
    if (frame->kind == XMPI_JOIN_FAIL && member->stage == RUNNING && joined.failed < 0) {
        joined.failed = member->rank;
        joined.code = (int)strtol(frame->bytes, NULL, 10) & 0377;
    }
    return true;
}

/* One that is lost stays in the table: the job is about to end. */
void mpi_joined_gone(mpi_member_t *member)
{
    if (member->stage == WAITING || member->stage == RUNNING) {
        if (joined.lost < 0) {
            joined.lost = member->rank;
            joined.lost_at = xy_now();
        }
        return;
    }
    if (member->stage == LEFT && joined.members[member->rank] == member)
        joined.members[member->rank] = NULL; /* unless its rank has come again */
    xy_free(member);
}

/* ---- Ends ---- */

void mpi_joined_note_end(int rank, int status)
{
    joined.ends[rank] = (end_t){true, status};
}

static bool has_ended(int rank)
{
    return joined.ends[rank].has_ended;
}

static int code_of(int rank)
{
    int status = joined.ends[rank].status;

    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* "rank 3", "rank 3 on b" */
static const char *name_of(int rank, char text[280])
{
    const char *const *hosts = joined.config->hosts;

    snprintf(text, 280, "rank %d%s%.250s", rank, hosts != NULL ? " on " : "",
             hosts != NULL ? hosts[rank] : "");
    return text;
}

/* The exit code, if that is not 0. */
static int report_end(int rank)
{
    int status = joined.ends[rank].status, code = code_of(rank);
    char name[280];

    if (WIFSIGNALED(status))
        process_say("%s was ended by signal %d (%s)", name_of(rank, name), WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
    else if (code != 0)
        process_say("%s ended with exit code %d", name_of(rank, name), code);
    return code;
}

int mpi_joined_code(void)
{
    int code = 0;

    for (int r = 0; r < joined.size && code == 0; r++)
        code = report_end(r);
    return code;
}

/* A rank that has joined others is gone without MPI_Finalize: they would wait for it. Its process
 * says why, when it ends. */
static int end_with_lost(void)
{
    int code = 0;
    char name[280];

    if (joined.ends[joined.lost].has_ended)
        code = report_end(joined.lost);
    if (code == 0)
        process_say("%s has ended without MPI_Finalize", name_of(joined.lost, name));
    return code == 0 ? 1 : code;
}

/* "ranks 0,2-3" of those that `is_in` says; NULL: there are none, or no memory. */
static char *list(bool (*is_in)(int rank))
{
    xy_bitset_t members;
    char *ranks = NULL, *text = NULL;

    if (xy_bitset_init(&members, (size_t)joined.size) != XY_OK)
        return NULL;
    for (int r = 0; r < joined.size; r++)
        if (is_in(r))
            xy_bitset_set(&members, (size_t)r);
    if (xy_bitset_count(&members) > 0)
        ranks = xy_bitset_format(&members);
    if (ranks != NULL)
        text = xy_sprintf("rank%s %s", xy_bitset_count(&members) > 1 ? "s" : "", ranks);
    xy_free(ranks);
    xy_bitset_cleanup(&members);
    return text;
}

static bool is_waiting(int rank)
{
    return joined.members[rank] != NULL && joined.members[rank]->stage == WAITING;
}

static bool is_running(int rank)
{
    return !joined.ends[rank].has_ended;
}

/* One that others wait for in MPI_Init. */
static bool is_missed(int rank)
{
    const mpi_member_t *member = joined.members[rank];

    return joined.waiting > 0 && joined.ends[rank].has_ended &&
           (member == NULL || member->stage == LEFT);
}

static void report_missed(int rank)
{
    char *waiting = list(is_waiting), name[280];

    if (waiting != NULL)
        process_say(
            "%s has ended with exit code %d without calling MPI_Init, where %s wait%s for it",
            name_of(rank, name), code_of(rank), waiting, joined.waiting > 1 ? "" : "s");
    xy_free(waiting);
}

int mpi_joined_judge(void)
{
    char name[280];

    if (joined.failed >= 0) {
        process_say("%s ended with exit code %d", name_of(joined.failed, name), joined.code);
        return joined.code != 0 ? joined.code : 1;
    }
    if (joined.lost >= 0 &&
        (joined.ends[joined.lost].has_ended || xy_now() - joined.lost_at > LOST_SECONDS))
        return end_with_lost();
    for (int r = 0; r < joined.size; r++)
        if (is_missed(r)) {
            report_missed(r);
            return 1;
        }
    return -1;
}

bool mpi_joined_is_uncertain(void)
{
    return joined.lost >= 0;
}

void mpi_joined_report(void)
{
    char *running = list(is_running), *ended = list(has_ended);

    if (running != NULL)
        fprintf(stderr, "  %s: running\n", running);
    if (ended != NULL)
        fprintf(stderr, "  %s: ended\n", ended);
    xy_free(running);
    xy_free(ended);
}
