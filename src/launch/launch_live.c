/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/launch_live.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "mpi/check/check.h"
#include "process/process.h"

enum { QUIET_MS = 10000, SEND_SECONDS = 2 };

static struct {
    _Atomic(mpi_job_t *) job; /* NULL: its ranks are not there yet */
    const char *program;
    int fd; /* the door; or in one process of several, what the head's questions are counted in */
    bool is_node;
} looking = {.fd = -1};

static const char *short_name(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash != NULL ? slash + 1 : program;
}

/* The name of this machine, where the job has not been told. */
static void name_host(xy_live_t *live)
{
    char own[256] = "";
    xy_live_process_t *p = &XY_VEC_AT(&live->processes, xy_live_process_t, 0);

    gethostname(own, sizeof(own) - 1);
    if (p->host[0] == '\0')
        p->host = xy_arena_strndup(live->arena, own, strlen(own));
    if (p->host == NULL)
        p->host = "";
}

/* This process's state of its ranks; NULL: memory ran out. */
static char *snapshot(size_t *size_p)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size_p);
    xy_live_t *live = NULL;
    bool is_good = file != NULL && xy_live_create(&live) == XY_OK &&
                   mpi_job_snapshot(looking.job, live) == XY_OK;

    if (is_good) {
        name_host(live);
        live->pid = (long)getpid();
        live->program = short_name(looking.program);
        if (!looking.is_node)
            xy_live_write_job(live, file);
        xy_live_write(live, file);
        if (!looking.is_node)
            fputs("end\n", file);
    }
    xy_live_destroy(live);
    if (file != NULL && fclose(file) == 0 && is_good)
        return text;
    free(text);
    return NULL;
}

/* All of it, or as much as the guest takes. */
static void give(int guest, const char *text, size_t size)
{
    const struct timeval limit = {.tv_sec = SEND_SECONDS};

    setsockopt(guest, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(guest, text + sent, size - sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    close(guest);
}

/* Answer one question with a snapshot of the ranks, to a guest or to the head. */
static void answer(void)
{
    int guest = looking.is_node ? -1 : xy_door_accept(looking.fd);
    uint64_t questions;
    size_t size = 0;
    char *text;

    if (looking.is_node && read(looking.fd, &questions, sizeof(questions)) < 0)
        return;
    if (!looking.is_node && guest < 0)
        return;
    text = snapshot(&size);
    if (looking.is_node)
        node_send(NODE_LOOK, text, text != NULL ? size : 0);
    else
        give(guest, text, text != NULL ? size : 0);
    free(text);
}

/* Thread: answer questions of xylem top, and end the observation when none has come for a while. */
static void *serve(void *unused)
{
    struct pollfd end = {.fd = looking.fd, .events = POLLIN};
    bool is_looked_at = false;

    (void)unused;
    xy_fiber_thread_is_bystander();
    for (;;) {
        int n = poll(&end, 1, is_looked_at ? QUIET_MS : -1);

        if (n == 0) {
            mpi_live_end(looking.job);
            is_looked_at = false;
        } else if (n > 0 && (end.revents & ~POLLIN) != 0) {
            break; /* the program has closed it, with all others that it does not know */
        } else if (n > 0) {
            is_looked_at = true;
            answer();
        }
    }
    return NULL;
}

void mpi_live_open(mpi_job_t *job, const char *program, bool is_node)
{
    looking.program = program;
    looking.is_node = is_node;
    atomic_store(&looking.job, job);
    if (!is_node)
        looking.fd = xy_door_open();
    if (looking.fd >= 0 && process_thread_without_signals(serve, NULL) != 0)
        close(looking.fd);
}

/* By the thread of the control connection. */
void mpi_live_asked(void)
{
    const uint64_t one = 1;

    if (looking.fd < 0 && atomic_load(&looking.job) != NULL) {
        looking.fd = eventfd(0, EFD_CLOEXEC);
        if (looking.fd >= 0 && process_thread_without_signals(serve, NULL) != 0) {
            close(looking.fd);
            looking.fd = -1;
        }
    }
    if (looking.fd < 0 || write(looking.fd, &one, sizeof(one)) < 0)
        node_send(NODE_LOOK, NULL, 0);
}

/* ---- In the head ---- */

/* Seconds in which processes answer. */
#define PATIENCE 2.0

static struct {
    int door;
    int guest; /* -1: none is waiting */
    double since;
    char *program;
    char **answers; /* [processes]; NULL: it has not answered */
} head_look = {.door = -1, .guest = -1};

void head_live_open(head_t *head)
{
    const mpi_part_t *part = &XY_VEC_AT(head->job->parts, mpi_part_t, 0);

    head_look.answers = xy_calloc((size_t)head->count, sizeof(*head_look.answers));
    head_look.program = xy_strdup(short_name(part->argv[0]));
    if (head_look.answers != NULL && head_look.program != NULL && !head->has_children)
        head_look.door = xy_door_open();
}

/* One guest at a time. */
int head_live_fd(void)
{
    return head_look.guest < 0 ? head_look.door : -1;
}

static bool is_asked(const head_process_t *p)
{
    return p->is_running && !p->has_left && p->link.fd >= 0;
}

void head_live_accept(head_t *head)
{
    head_look.guest = xy_door_accept(head_look.door);
    if (head_look.guest < 0)
        return;
    head_look.since = xy_now();
    for (int i = 0; i < head->count; i++)
        if (is_asked(&head->processes[i]))
            xy_channel_send(&head->processes[i].link, NODE_LOOK, NULL, 0);
    head_live_look(head);
}

void head_live_take(head_t *head, int process, const xy_frame_t *frame)
{
    xy_free(head_look.answers[process]);
    head_look.answers[process] =
        head_look.guest >= 0 ? xy_strdup(frame->size > 0 ? frame->bytes : "") : NULL;
    head_live_look(head);
}

/* A process that has ended or has not answered. */
static void write_silent(const head_process_t *p, int number, FILE *file)
{
    fprintf(file, "process\t%d\t%s\t0\n", number, p->host != NULL ? p->host : "?");
}

/* Send the collected answers of all processes to the guest and forget them. */
static void give_answers(const head_t *head)
{
    xy_live_t job = {
        .program = head_look.program, .pid = (long)getpid(), .size = (uint32_t)head->size};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (file != NULL)
        xy_live_write_job(&job, file);
    for (int i = 0; i < head->count; i++) {
        if (file != NULL && head_look.answers[i] != NULL && head_look.answers[i][0] != '\0')
            fputs(head_look.answers[i], file);
        else if (file != NULL)
            write_silent(&head->processes[i], i, file);
        xy_free(head_look.answers[i]);
        head_look.answers[i] = NULL;
    }
    if (file == NULL || fputs("end\n", file) < 0 || fclose(file) != 0)
        size = 0; /* memory ran out: the guest gets nothing */
    give(head_look.guest, text, size);
    head_look.guest = -1;
    free(text);
}

void head_live_look(head_t *head)
{
    if (head_look.guest < 0)
        return;
    for (int i = 0; i < head->count && xy_now() - head_look.since < PATIENCE; i++)
        if (is_asked(&head->processes[i]) && head_look.answers[i] == NULL)
            return;
    give_answers(head);
}
