/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/joined.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <xylem.h>

#include "mpi/bindings/bindings.h"
#include "mpi/launch/launch.h"
#include "net/net.h"

enum { BACKLOG = 4096, EVENTS = 64 };

typedef enum {
    STRANGER, /* has not said who it is */
    WAITING,  /* for all others to come */
    RUNNING,
    LEFT
} stage_t;

typedef struct {
    xy_channel_t link;
    stage_t stage;
    int rank;
    char *card; /* that it has sent and others have not got */
} member_t;

static struct {
    int size;
    int listener, events;
    member_t **members; /* [size]: who is, or was last, that rank; or NULL */
    int waiting, cards; /* how many of them */
    int lost;           /* rank; -1: none */
    double lost_at;
} joined = {.listener = -1, .events = -1, .lost = -1};

/* ---- The socket ---- */

static bool watch(int fd, void *member)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = member};

    return epoll_ctl(joined.events, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* The kernel chooses the name: an abstract one, which leaves no file behind. */
static bool listen_at(struct sockaddr_un *name, socklen_t *size)
{
    joined.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    joined.events = epoll_create1(EPOLL_CLOEXEC);
    return joined.listener >= 0 && joined.events >= 0 &&
           bind(joined.listener, (struct sockaddr *)name, sizeof(sa_family_t)) == 0 &&
           getsockname(joined.listener, (struct sockaddr *)name, size) == 0 &&
           listen(joined.listener, BACKLOG) == 0 && watch(joined.listener, NULL);
}

char *mpi_joined_open(int size)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(name);

    joined.size = size;
    joined.members = xy_calloc((size_t)size, sizeof(*joined.members));
    if (joined.members == NULL)
        return NULL;
    if (!listen_at(&name, &length)) {
        close(joined.events);
        joined.events = -1;
        return xy_strdup("process:");
    }
    return xy_sprintf("process:%.*s", (int)(length - offsetof(struct sockaddr_un, sun_path) - 1),
                      name.sun_path + 1);
}

int mpi_joined_fd(void)
{
    return joined.events;
}

/* Only processes of this user. */
static bool is_own(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

static void accept_all(void)
{
    int fd;

    while ((fd = accept4(joined.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        member_t *member = is_own(fd) ? xy_calloc(1, sizeof(*member)) : NULL;

        if (member == NULL || !watch(fd, member)) {
            xy_free(member);
            close(fd);
            continue;
        }
        xy_channel_init(&member->link, fd);
    }
}

/* ---- What they say ---- */

static void send_all(uint32_t kind, const void *bytes, size_t size)
{
    for (int r = 0; r < joined.size; r++) /* one that is gone is noticed when it is read */
        xy_channel_send(&joined.members[r]->link, kind, bytes, size);
}

static bool let_all_run(void)
{
    uint8_t secret[XY_SECRET_BYTES];
    char text[2 * XY_SECRET_BYTES + 1];

    if (xy_secret_make(secret) != XY_OK)
        return false;
    xy_secret_write(secret, text);
    for (int r = 0; r < joined.size; r++)
        joined.members[r]->stage = RUNNING;
    joined.waiting = 0;
    send_all(XMPI_JOIN_ALL, text, strlen(text));
    return true;
}

/* "3 0.1.0" */
static bool take_hello(member_t *member, const char *text)
{
    char *version;
    long rank = strtol(text, &version, 10);
    const member_t *before;

    if (*version != ' ' || strcmp(version + 1, xylem_version()) != 0) {
        mpi_launch_say("a process has loaded an MPI library of another version of Xylem than this "
                       "mpiexec, %s",
                       xylem_version());
        return false;
    }
    if (member->stage != STRANGER || rank < 0 || rank >= joined.size) {
        mpi_launch_say("a process calls MPI_Init as rank %ld, and there are %d; leave PMI_RANK as "
                       "mpiexec has set it",
                       rank, joined.size);
        return false;
    }
    before = joined.members[rank];
    if (before != NULL && (before->stage == WAITING || before->stage == RUNNING)) {
        mpi_launch_say("rank %ld calls MPI_Init in two processes at once; only one can be the "
                       "rank",
                       rank);
        return false;
    }
    member->stage = WAITING;
    member->rank = (int)rank;
    joined.members[rank] = member;
    return ++joined.waiting < joined.size || let_all_run();
}

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
    send_all(XMPI_JOIN_CARDS, text.s, text.length);
    xy_text_cleanup(&text);
    return true;
}

static bool take_card(member_t *member, xy_frame_t *frame)
{
    if (member->stage != RUNNING || member->card != NULL)
        return true;
    member->card = frame->bytes;
    frame->bytes = NULL;
    return ++joined.cards < joined.size || hand_out_cards();
}

/* One that is lost stays in the table: the job is about to end. */
static void take_end(member_t *member)
{
    xy_channel_close(&member->link);
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

static bool take_frames(member_t *member)
{
    xy_channel_answer_t answer;
    xy_frame_t frame;
    bool goes_on = true;

    while (goes_on && (answer = xy_channel_read(&member->link, &frame)) != XY_CHANNEL_NOTHING) {
        if (answer == XY_CHANNEL_END) {
            take_end(member);
            return true;
        }
        if (frame.kind == XMPI_JOIN_HELLO)
            goes_on = take_hello(member, frame.bytes);
        else if (frame.kind == XMPI_JOIN_CARD)
            goes_on = take_card(member, &frame);
        else if (frame.kind == XMPI_JOIN_LEAVE && member->stage == RUNNING)
            member->stage = LEFT;
        xy_frame_free(&frame);
    }
    return goes_on;
}

bool mpi_joined_take(void)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(joined.events, events, EVENTS, 0);

    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == NULL)
            accept_all();
        else if (!take_frames(events[i].data.ptr))
            return false;
    }
    return true;
}

/* ---- Ends ---- */

int mpi_joined_lost(double *seconds_p)
{
    *seconds_p = xy_now() - joined.lost_at;
    return joined.lost;
}

static char *list_waiting(void)
{
    xy_bitset_t members;
    char *list = NULL;

    if (xy_bitset_init(&members, (size_t)joined.size) != XY_OK)
        return NULL;
    for (int r = 0; r < joined.size; r++)
        if (joined.members[r] != NULL && joined.members[r]->stage == WAITING)
            xy_bitset_set(&members, (size_t)r);
    list = xy_bitset_format(&members);
    xy_bitset_cleanup(&members);
    return list;
}

bool mpi_joined_ended(int rank, int code)
{
    const member_t *member = joined.members[rank];
    char *list;

    if (joined.waiting == 0 || (member != NULL && member->stage != LEFT))
        return true;
    list = list_waiting();
    if (list != NULL)
        mpi_launch_say("rank %d has ended with exit code %d and without MPI_Init, in which rank%s "
                       "%s wait%s for it",
                       rank, code, joined.waiting > 1 ? "s" : "", list,
                       joined.waiting > 1 ? "" : "s");
    xy_free(list);
    return false;
}
