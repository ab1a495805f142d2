/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines with a delay, for kernels without netem: each joins two TAP devices, which it makes, and
 * holds every frame for so many microseconds in both directions.
 *
 *   delay NAMESPACE:DEVICE NAMESPACE:DEVICE MICROSECONDS ...      (three words for each line)
 *
 * A qdisc of the devices limits the bandwidth. Prints "ready" when all devices are there and runs
 * until it is ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_MAX = 9300, FRAMES_MAX = 2048, LINES_MAX = 64 };

typedef struct {
    double due;
    int length;
    char data[FRAME_MAX];
} frame_t;

/* One direction of a line: all frames wait equally long, so they leave in their order. */
typedef struct {
    int from, to;
    double delay;
    frame_t *ring;
    unsigned first, count;
} way_t;

static way_t ways[2 * LINES_MAX];
static struct pollfd polls[2 * LINES_MAX];
static int way_count;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "delay: %s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of "namespace:device". */
static int make_device(const char *word)
{
    char path[256];
    const char *colon = strchr(word, ':');
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int name, fd;

    if (colon == NULL) {
        errno = EINVAL;
        fail("name", word);
    }
    snprintf(path, sizeof(path), "/var/run/netns/%.*s", (int)(colon - word), word);
    name = open(path, O_RDONLY | O_CLOEXEC);
    if (name < 0 || setns(name, CLONE_NEWNET) != 0)
        fail("enter", path);
    close(name);
    fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", colon + 1);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        fail("make", word);
    return fd;
}

static void add_way(int from, int to, double delay)
{
    ways[way_count] = (way_t){.from = from, .to = to, .delay = delay};
    ways[way_count].ring = malloc(FRAMES_MAX * sizeof(frame_t));
    if (ways[way_count].ring == NULL)
        fail("allocate", "frames");
    polls[way_count++] = (struct pollfd){.fd = from, .events = POLLIN};
}

static void take(way_t *w)
{
    while (w->count < FRAMES_MAX) {
        frame_t *f = &w->ring[(w->first + w->count) % FRAMES_MAX];
        ssize_t n = read(w->from, f->data, FRAME_MAX);

        if (n <= 0)
            return;
        f->length = (int)n;
        f->due = now() + w->delay;
        w->count++;
    }
}

/* When the next frame is due, at most `next`. A device that is gone loses its frames. */
static double give(way_t *w, double next)
{
    while (w->count > 0) {
        const frame_t *f = &w->ring[w->first];

        if (f->due > now())
            return f->due < next ? f->due : next;
        if (write(w->to, f->data, (size_t)f->length) < 0 && errno == EAGAIN)
            return next < now() + 1e-4 ? next : now() + 1e-4;
        w->first = (w->first + 1) % FRAMES_MAX;
        w->count--;
    }
    return next;
}

static void relay(void)
{
    for (;;) {
        double next = now() + 1;
        struct timespec wait;

        for (int i = 0; i < way_count; i++) {
            next = give(&ways[i], next);
            /* A full line takes no more until it has given. */
            polls[i].fd = ways[i].count < FRAMES_MAX ? ways[i].from : -1;
        }
        next -= now();
        next = next > 0 ? next : 0;
        wait.tv_sec = (time_t)next;
        wait.tv_nsec = (long)(1e9 * (next - (double)wait.tv_sec));
        if (ppoll(polls, (nfds_t)way_count, &wait, NULL) > 0)
            for (int i = 0; i < way_count; i++)
                if (polls[i].revents != 0)
                    take(&ways[i]);
    }
}

int main(int argc, char **argv)
{
    struct sched_param first = {.sched_priority = 2};

    if (argc < 4 || argc % 3 != 1 || argc / 3 > LINES_MAX) {
        fprintf(stderr, "usage: delay NAMESPACE:DEVICE NAMESPACE:DEVICE MICROSECONDS ...\n");
        return 2;
    }
    for (int i = 1; i < argc; i += 3) {
        int a = make_device(argv[i]), b = make_device(argv[i + 1]);
        double delay = 1e-6 * strtod(argv[i + 2], NULL);

        add_way(a, b, delay);
        add_way(b, a, delay);
    }
    /* Before processes that poll, where that is allowed: they share the cores with us. */
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        fprintf(stderr, "delay: at ordinary priority: %s\n", strerror(errno));
    puts("ready");
    fflush(stdout);
    relay();
    return 0;
}
