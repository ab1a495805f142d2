/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/meet_jobs.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launch/other_mpi.h"
#include "mpi/bindings/bindings.h"

enum { BACKLOG = 4096, EVENTS = 64 };

typedef struct guest {
    struct guest *next, **before;
    xy_channel_t link;
    bool is_in; /* has said HELLO, and not LEAVE */
    void *member;
} guest_t;

static struct {
    const mpi_meet_events_t *events;
    int listener, fd;
    guest_t *guests;
    long count; /* so far */
} meet = {.listener = -1, .fd = -1};

static bool watch(int fd, void *guest)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = guest};

    return epoll_ctl(meet.fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* The kernel chooses the name: an abstract one, which leaves no file behind. */
static bool listen_at(struct sockaddr_un *name, socklen_t *size)
{
    meet.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    meet.fd = epoll_create1(EPOLL_CLOEXEC);
    return meet.listener >= 0 && meet.fd >= 0 &&
           bind(meet.listener, (struct sockaddr *)name, sizeof(sa_family_t)) == 0 &&
           getsockname(meet.listener, (struct sockaddr *)name, size) == 0 &&
           listen(meet.listener, BACKLOG) == 0 && watch(meet.listener, NULL);
}

/* Open the socket where one process claims the report of a refusal (other_mpi.h). It lives as long
 * as the job: without it each process reports. */
static void open_claim(const char *launched)
{
    struct sockaddr_un name;
    socklen_t size = mpi_other_claim(launched, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) == 0)
        listen(fd, 0);
}

char *mpi_meet_open(const mpi_meet_events_t *events, const char *address, const char *library)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(name);
    char *launched;

    meet.events = events;
    if (!listen_at(&name, &length)) {
        close(meet.fd);
        meet.fd = -1;
        return xy_strdup("process:");
    }
    launched =
        xy_sprintf("process:%.*s,%s,%s", (int)(length - offsetof(struct sockaddr_un, sun_path) - 1),
                   name.sun_path + 1, address, library);
    if (launched != NULL)
        open_claim(launched);
    return launched;
}

int mpi_meet_fd(void)
{
    return meet.fd;
}

/* Only processes of this user. */
static bool is_own(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

/* Take in a guest that has connected; false if it belongs to another user or memory is short. */
static bool take_in(int fd)
{
    guest_t *guest = is_own(fd) ? xy_calloc(1, sizeof(*guest)) : NULL;

    if (guest == NULL)
        return false;
    guest->member = meet.events->come(meet.count++);
    if (guest->member == NULL || !watch(fd, guest)) {
        if (guest->member != NULL)
            meet.events->gone(guest->member);
        xy_free(guest);
        return false;
    }
    xy_channel_init(&guest->link, fd, NULL);
    guest->next = meet.guests;
    guest->before = &meet.guests;
    if (guest->next != NULL)
        guest->next->before = &guest->next;
    meet.guests = guest;
    return true;
}

static void accept_all(void)
{
    int fd;

    while ((fd = accept4(meet.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        if (!take_in(fd))
            close(fd);
}

static void see_off(guest_t *guest)
{
    void *member = guest->member;

    xy_channel_close(&guest->link);
    *guest->before = guest->next;
    if (guest->next != NULL)
        guest->next->before = guest->before;
    xy_free(guest);
    meet.events->gone(member);
}

/* Handle all frames of a guest and see it off at the end of its connection; false if the job must
 * end. */
static bool take_frames(guest_t *guest)
{
    xy_channel_answer_t answer;
    xy_frame_t frame;
    bool goes_on = true;

    while (goes_on && (answer = xy_channel_read(&guest->link, &frame)) != XY_CHANNEL_NOTHING) {
        if (answer == XY_CHANNEL_END) {
            see_off(guest);
            return true;
        }
        if (frame.kind == XMPI_JOIN_HELLO || frame.kind == XMPI_JOIN_LEAVE)
            guest->is_in = frame.kind == XMPI_JOIN_HELLO;
        goes_on = meet.events->said(guest->member, &frame);
        xy_frame_free(&frame);
    }
    return goes_on;
}

bool mpi_meet_take(void)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(meet.fd, events, EVENTS, 0);

    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == NULL)
            accept_all();
        else if (!take_frames(events[i].data.ptr))
            return false;
    }
    return true;
}

void mpi_meet_send(uint32_t kind, const void *bytes, size_t size)
{
    for (guest_t *guest = meet.guests; guest != NULL; guest = guest->next)
        if (guest->is_in) /* one that is gone is noticed when it is read */
            xy_channel_send(&guest->link, kind, bytes, size);
}
