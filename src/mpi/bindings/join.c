/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of one rank each that make one job: a wrapper, a script or an interpreter stands
 * between mpiexec and the program. They meet at a socket of mpiexec, or on several hosts of its
 * process there, exchange how to reach each other, and say there that they leave; the rest is
 * between themselves. What they say is in bindings.h, and mpiexec's half in launch/joined.c.
 * Processes of another launcher meet in its key-value space (join_launcher.c).
 *
 * A thread ends the process when the other end of the socket is gone: the process that was to end
 * it then cannot do so. Another looks for ranks that wait for each other, as in mpiexec.
 */
#include "mpi/bindings/join.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <xylem.h>

#include "mpi/bindings/bindings.h"
#include "mpi/check/check.h"
#include "mpi/p2p/p2p.h"
#include "net/net.h"

enum { OPEN_SECONDS = 60, FAIL_SECONDS = 2, RANKS_SHOWN = 32, MESSAGE_SIZE = 2400 };

static struct {
    xy_channel_t link;
    int size;
    xy_net_t *net;
    int *process_of;
    xy_frame_t all; /* the memory that the facts refer to */
    mpi_join_facts_t facts;
    bool is_in;
    _Atomic bool has_left;
} joined = {.link = {.fd = -1}};

static xy_status_t lost_mpiexec(void)
{
    return xy_fail(XY_EIO, "the mpiexec that started this process has ended");
}

/* Connect to an abstract socket of mpiexec; returns the descriptor, or -1. */
static int connect_to(const char *name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    int fd =
        length + 1 <= sizeof(to.sun_path) ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

    if (fd < 0)
        return -1;
    memcpy(to.sun_path + 1, name, length);
    if (connect(fd, (const struct sockaddr *)&to,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The next frame, which is of that kind. */
static xy_status_t await(uint32_t kind, xy_frame_t *frame)
{
    xy_channel_answer_t answer;

    do
        answer = xy_channel_await(&joined.link, 1e9, frame);
    while (answer == XY_CHANNEL_NOTHING);
    if (answer == XY_CHANNEL_END)
        return lost_mpiexec();
    if (frame->kind == kind)
        return XY_OK;
    xy_frame_free(frame);
    return xy_fail(
        XY_EPARSE,
        "cannot understand the message of mpiexec; do all parts of Xylem have the same version?");
}

/* Send our card to mpiexec and receive those of all ranks; the caller frees them. */
static xy_status_t exchange(void *arg, const char *card, char **cards)
{
    xy_frame_t frame;
    const char *at, *end;
    xy_status_t st;

    (void)arg;
    if (!xy_channel_send(&joined.link, XMPI_JOIN_CARD, card, strlen(card)))
        return lost_mpiexec();
    st = await(XMPI_JOIN_CARDS, &frame);
    if (st != XY_OK)
        return st;
    at = frame.bytes;
    end = frame.bytes + frame.size;
    for (int p = 0; p < joined.size && st == XY_OK; p++) {
        cards[p] = at < end ? xy_strdup(at) : NULL; /* a frame has a NUL behind it in any case */
        if (cards[p] == NULL)
            st = xy_fail_memory("connecting the processes");
        else
            at += strlen(at) + 1;
    }
    xy_frame_free(&frame);
    return st;
}

/* The next text of a frame; NULL: there are no more. */
static const char *text_at(const char **at)
{
    const char *text = *at;

    if (text >= joined.all.bytes + joined.all.size)
        return NULL;
    *at += strlen(text) + 1; /* a frame has a NUL behind it in any case */
    return text;
}

static bool read_seconds(const char *text, double *seconds_p)
{
    char *end;

    *seconds_p = text != NULL ? strtod(text, &end) : -1;
    return *seconds_p >= 0 && end > text && *end == '\0';
}

static bool read_hosts(const char **at)
{
    const char *host = text_at(at);

    if (host == NULL)
        return true;
    joined.facts.hosts = xy_calloc((size_t)joined.size, sizeof(*joined.facts.hosts));
    for (int r = 0; r < joined.size && joined.facts.hosts != NULL && host != NULL; r++) {
        joined.facts.hosts[r] = host;
        host = r + 1 < joined.size ? text_at(at) : "";
    }
    return joined.facts.hosts != NULL && host != NULL;
}

/* Read the facts that are common to all processes. The frame stays. */
static bool read_all(void)
{
    const char *at = joined.all.bytes, *secret = text_at(&at), *is_local;
    xy_net_rules_t rules;

    joined.facts.transport = text_at(&at);
    is_local = text_at(&at);
    joined.facts.is_local = is_local != NULL && strcmp(is_local, "1") == 0;
    if (!xy_net_rules_read(text_at(&at), &rules))
        return false;
    xy_net_rules_set(&rules);
    return is_local != NULL && xy_secret_read(secret, joined.facts.secret) &&
           read_seconds(text_at(&at), &joined.facts.deadlock_after) &&
           read_seconds(text_at(&at), &joined.facts.polling_after) && read_hosts(&at);
}

/* Wait until all others have come. */
static xy_status_t meet(const mpi_others_t *others)
{
    char hello[64];
    xy_status_t st;
    int n;

    xy_channel_init(&joined.link, connect_to(others->socket), NULL);
    if (joined.link.fd < 0)
        return lost_mpiexec();
    n = snprintf(hello, sizeof(hello), "%d %s", others->rank, xylem_version());
    if (!xy_channel_send(&joined.link, XMPI_JOIN_HELLO, hello, (size_t)n))
        return lost_mpiexec();
    st = await(XMPI_JOIN_ALL, &joined.all);
    if (st == XY_OK && !read_all())
        st = xy_fail(XY_EPARSE, "cannot understand the message of mpiexec");
    return st;
}

/* Inside an installed MPI this is no rank: replaced functions behave as the C library's. */
static void step_aside(bool is_inside)
{
    static _Thread_local mpi_rank_t *rank;

    if (is_inside)
        rank = mpi_self;
    mpi_self = is_inside ? NULL : rank;
}

/* Open the network to all other ranks of the job. */
static xy_status_t connect_all(const mpi_others_t *others)
{
    bool is_launched = others->is_launched;
    xy_net_config_t config = {.process = others->rank,
                              .processes = others->size,
                              .transport = joined.facts.transport,
                              .is_local = joined.facts.is_local,
                              .address = others->address[0] != '\0' ? others->address : NULL,
                              .library = others->library[0] != '\0' ? others->library : NULL,
                              .exchange = is_launched ? mpi_launcher_exchange : exchange,
                              .mark = step_aside,
                              .seconds = OPEN_SECONDS};

    memcpy(config.secret, joined.facts.secret, sizeof(config.secret));
    return xy_net_open(&config, &joined.net);
}

/* ---- Threads, which take no signals: they are for the program ---- */

/* Start a detached thread with all signals blocked. */
static xy_status_t start_thread(void *(*function)(void *))
{
    pthread_t thread;
    sigset_t all, before;
    int code;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, NULL, function, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return xy_fail_errno(code, "a thread for the job's connection", "start");
    pthread_detach(thread);
    return XY_OK;
}

/* No more messages go there. */
static void *watch_link(void *unused)
{
    xy_channel_answer_t answer;
    xy_frame_t frame;

    (void)unused;
    while ((answer = xy_channel_await(&joined.link, 1e9, &frame)) != XY_CHANNEL_END)
        if (answer == XY_CHANNEL_FRAME)
            xy_frame_free(&frame);
    if (!joined.has_left)
        _exit(1);
    return NULL;
}

/* Process 0 looks, and the others tell it what they see. */
static void *look(void *unused)
{
    char message[MESSAGE_SIZE];
    mpi_watch_t found = XMPI_WATCH_NONE;

    (void)unused;
    if (mpi_job->process > 0) {
        mpi_watch_serve();
        return NULL;
    }
    while (!joined.has_left && (found == XMPI_WATCH_NONE ||
                                (found == XMPI_WATCH_PARKED && joined.facts.deadlock_after <= 0))) {
        xy_watcher_sleep(joined.facts.deadlock_after > 0 ? joined.facts.deadlock_after
                                                         : 0.5 * joined.facts.polling_after);
        found = mpi_watch_look();
    }
    if (joined.has_left)
        return NULL;
    mpi_report_claim();
    mpi_watch_describe(found, joined.facts.polling_after, message, sizeof(message));
    xy_fail(XY_EINVAL, "deadlock: %s", message);
    mpi_watch_report(RANKS_SHOWN);
    mpi_watch_say_cause(message, sizeof(message));
    mpi_job->abort(1);
    return NULL;
}

xy_status_t mpi_join_watch(mpi_job_t *job)
{
    xy_status_t st = XY_OK;

    if (!joined.is_in || (joined.facts.deadlock_after <= 0 && joined.facts.polling_after <= 0))
        return XY_OK;
    st = mpi_watch_begin(job, joined.facts.polling_after);
    return st == XY_OK ? start_thread(look) : st;
}

/* ---- Beginning and end ---- */

/* Are there more processes on this machine than cores for them? Those of mpiexec are not bound;
 * another launcher may have bound each to its own. */
static bool shares_cores(const mpi_others_t *others)
{
    const char **hosts = joined.facts.hosts;
    long here = 0, cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t allowed;

    for (int r = 0; r < others->size; r++)
        here += hosts == NULL || strcmp(hosts[r], hosts[others->rank]) == 0;
    if (!others->is_launched && sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        cores = CPU_COUNT(&allowed);
    return here > cores;
}

xy_status_t mpi_join(mpi_others_t *others, mpi_job_config_t *config)
{
    xy_status_t st;

    if (others->is_launched)
        st = mpi_launcher_meet(others, &joined.facts);
    joined.size = others->size;
    if (!others->is_launched)
        st = meet(others);
    if (st == XY_OK)
        st = connect_all(others);
    if (st == XY_OK && !others->is_launched)
        st = start_thread(watch_link);
    if (st != XY_OK)
        return st;
    joined.process_of = xy_calloc((size_t)others->size, sizeof(int));
    if (joined.process_of == NULL)
        return xy_fail_memory("joining the other processes");
    for (int r = 0; r < others->size; r++)
        joined.process_of[r] = r;
    setenv(XMPI_LAUNCHED, XMPI_LAUNCHED_RANK, 1); /* for processes that the program starts */
    config->id = xy_secret_number(joined.facts.secret);
    config->size = others->size;
    config->process = others->rank;
    config->processes = others->size;
    config->process_of = joined.process_of;
    config->hosts = joined.facts.hosts;
    config->shares_cores = shares_cores(others);
    config->net = joined.net;
    joined.is_in = true;
    return XY_OK;
}

bool mpi_join_is_in(void)
{
    return joined.is_in;
}

bool mpi_join_is_over(void)
{
    return joined.has_left;
}

void mpi_join_fail(int code)
{
    struct timespec left = {.tv_sec = FAIL_SECONDS};
    char text[16];
    int n = snprintf(text, sizeof(text), "%d", code & 0377);

    if (mpi_launcher_is_there()) {
        mpi_launcher_abort(code & 0377);
        return;
    }
    if (joined.link.fd < 0 || joined.has_left ||
        !xy_channel_send_last(&joined.link, XMPI_JOIN_FAIL, text, (size_t)n + 1))
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

void mpi_join_leave(void)
{
    if (!joined.is_in) {
        if (mpi_job->adopted != NULL) /* other jobs that it is connected to hear of its end */
            mpi_network_end();
        return;
    }
    joined.has_left = true;
    mpi_watch_stop();
    mpi_network_end();
    xy_net_close(joined.net);
    if (joined.link.fd < 0) {
        mpi_launcher_leave();
        return;
    }
    xy_channel_send(&joined.link, XMPI_JOIN_LEAVE, NULL, 0);
    shutdown(joined.link.fd, SHUT_RDWR); /* the thread still reads there */
}
