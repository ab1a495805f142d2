/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP between those who know the secret of a job. Who connects says who it is;
 * both prove the secret by a keyed hash of what both have chosen at random:
 *
 *   connector -> listener   "xylem-1\n", own name, listener's name, random C         (32 bytes)
 *   listener  -> connector  random L, hash(secret, 'L' C L names)                    (32 bytes)
 *   connector -> listener   hash(secret, 'C' C L names)                              (16 bytes)
 *
 * The listener holds several half-finished greetings at once, so that a stranger who connects and
 * says nothing keeps none of the job waiting.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/greet.h"

enum { NONCE = 16, HASH = 16, FIRST = 32, SECOND = 32, THIRD = 16, PENDING = 64, BACKLOG = 1024 };
#define PATIENCE 20.0 /* seconds for a stranger to say who it is */

static const char magic[8] = {'x', 'y', 'l', 'e', 'm', '-', '1', '\n'};

double net_now(void)
{
    return xy_clock_seconds(CLOCK_MONOTONIC);
}

bool net_await(int fd, short events, double deadline)
{
    struct pollfd one = {.fd = fd, .events = events};

    for (;;) {
        double left = deadline - net_now();
        int n = poll(&one, 1, left <= 0 ? 0 : left > 1e6 ? 1000000000 : (int)(left * 1000) + 1);

        if (n > 0)
            return true;
        if ((n < 0 && errno != EINTR) || left <= 0)
            return false;
    }
}

xy_status_t xy_secret_make(uint8_t secret[XY_SECRET_BYTES])
{
    if (getrandom(secret, XY_SECRET_BYTES, 0) == XY_SECRET_BYTES)
        return XY_OK;
    return xy_fail_errno(errno, "random bytes for the job's secret", "get");
}

uint64_t xy_secret_number(const uint8_t secret[XY_SECRET_BYTES])
{
    static const char purpose[] = "number";
    uint8_t hash[16];
    uint64_t number;

    net_siphash(secret, purpose, sizeof(purpose), hash);
    memcpy(&number, hash, sizeof(number));
    return number;
}

void xy_secret_write(const uint8_t secret[XY_SECRET_BYTES], char text[2 * XY_SECRET_BYTES + 1])
{
    for (int i = 0; i < XY_SECRET_BYTES; i++)
        snprintf(text + 2 * (ptrdiff_t)i, 3, "%02x", secret[i]);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool xy_secret_read(const char *text, uint8_t secret[XY_SECRET_BYTES])
{
    for (int i = 0; i < 2 * XY_SECRET_BYTES; i++)
        if (digit_of(text[i]) < 0)
            return false;
    for (int i = 0; i < XY_SECRET_BYTES; i++)
        secret[i] = (uint8_t)(digit_of(text[2 * i]) << 4 | digit_of(text[2 * i + 1]));
    return text[(ptrdiff_t)2 * XY_SECRET_BYTES] == '\0';
}

static void put32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++, x >>= 8)
        p[i] = (uint8_t)x;
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* `first` is the connector's first message: its random bytes and both names are in it. */
static void prove(const uint8_t secret[XY_SECRET_BYTES], char who, const uint8_t first[FIRST],
                  const uint8_t nonce[NONCE], uint8_t hash[HASH])
{
    uint8_t text[1 + FIRST + NONCE];

    text[0] = (uint8_t)who;
    memcpy(text + 1, first, FIRST);
    memcpy(text + 1 + FIRST, nonce, NONCE);
    net_siphash(secret, text, sizeof(text), hash);
}

/* In a time that does not depend on where they differ. */
static bool is_same(const uint8_t *a, const uint8_t *b, size_t size)
{
    unsigned difference = 0;

    for (size_t i = 0; i < size; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

/* Small messages leave at once; a machine that vanished is noticed within seconds. */
static void tune(int fd)
{
    int yes = 1, idle = 5, interval = 2, count = 5;
    unsigned unanswered = 15000; /* ms */

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof(unanswered));
}

/* ---- The listener ---- */

typedef struct {
    int fd; /* -1: free */
    double since;
    size_t got;
    bool is_answered;
    uint8_t first[FIRST], nonce[NONCE], third[THIRD];
} stranger_t;

struct xy_listener {
    int fd, epoll;
    int name, count;
    uint16_t port;
    bool is_local;
    uint8_t secret[XY_SECRET_BYTES];
    stranger_t strangers[PENDING];
};

static int bind_any(bool is_local, uint16_t *port_p)
{
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(is_local ? INADDR_LOOPBACK : INADDR_ANY)};
    struct sockaddr_storage bound;
    socklen_t size = sizeof(bound);
    int fd = is_local ? -1 : socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int no = 0;

    if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) != 0 ||
                    bind(fd, (struct sockaddr *)&any6, sizeof(any6)) != 0)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            return -1;
        if (bind(fd, (struct sockaddr *)&any4, sizeof(any4)) != 0) {
            close(fd);
            return -1;
        }
    }
    if (listen(fd, BACKLOG) != 0 || getsockname(fd, (struct sockaddr *)&bound, &size) != 0) {
        close(fd);
        return -1;
    }
    *port_p = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                : ((struct sockaddr_in *)&bound)->sin_port);
    return fd;
}

xy_status_t xy_listener_open(const uint8_t secret[XY_SECRET_BYTES], int name, int count,
                             bool is_local, xy_listener_t **listener_p)
{
    xy_listener_t *l = xy_calloc(1, sizeof(*l));
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = PENDING};

    if (l == NULL)
        return xy_fail_memory("listening for processes");
    for (int i = 0; i < PENDING; i++)
        l->strangers[i].fd = -1;
    l->name = name;
    l->count = count;
    l->is_local = is_local;
    memcpy(l->secret, secret, sizeof(l->secret));
    l->fd = bind_any(is_local, &l->port);
    l->epoll = l->fd < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fd, &event) != 0) {
        xy_status_t st = xy_fail_errno(errno, "a port for the processes of the job", "open");

        xy_listener_close(l);
        return st;
    }
    *listener_p = l;
    return XY_OK;
}

int xy_listener_fd(const xy_listener_t *listener)
{
    return listener->epoll;
}

uint16_t net_listener_port(const xy_listener_t *listener)
{
    return listener->port;
}

bool net_listener_is_local(const xy_listener_t *listener)
{
    return listener->is_local;
}

static void dismiss(stranger_t *s)
{
    close(s->fd);
    s->fd = -1;
}

static void invite(xy_listener_t *l)
{
    for (int i = 0; i < PENDING; i++) {
        stranger_t *s = &l->strangers[i];
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};

        if (s->fd >= 0 && net_now() - s->since > PATIENCE)
            dismiss(s);
        if (s->fd >= 0)
            continue;
        *s = (stranger_t){.fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK),
                          .since = net_now()};
        if (s->fd < 0)
            return;
        tune(s->fd);
        if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, s->fd, &event) != 0)
            dismiss(s);
    }
}

/* Read up to `size` bytes of a message; false: the stranger has left. */
static bool hear(stranger_t *s, uint8_t *message, size_t size)
{
    ssize_t n = recv(s->fd, message + s->got, size - s->got, MSG_DONTWAIT);

    if (n > 0)
        s->got += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool answer(const xy_listener_t *l, stranger_t *s)
{
    uint8_t second[SECOND];

    if (memcmp(s->first, magic, sizeof(magic)) != 0 || get32(s->first + 8) >= (uint32_t)l->count ||
        get32(s->first + 12) != (uint32_t)l->name)
        return false;
    if (getrandom(s->nonce, NONCE, 0) != NONCE)
        return false;
    memcpy(second, s->nonce, NONCE);
    prove(l->secret, 'L', s->first, s->nonce, second + NONCE);
    s->got = 0;
    s->is_answered = true;
    return send(s->fd, second, SECOND, MSG_NOSIGNAL | MSG_DONTWAIT) == SECOND;
}

/* One that has proved the secret: its descriptor, blocking. -1: not (yet). */
static int talk(const xy_listener_t *l, stranger_t *s)
{
    uint8_t expected[HASH];
    int fd = s->fd;

    if (!hear(s, s->is_answered ? s->third : s->first, s->is_answered ? THIRD : FIRST)) {
        dismiss(s);
        return -1;
    }
    if (s->got < (s->is_answered ? THIRD : FIRST))
        return -1;
    if (!s->is_answered) {
        if (!answer(l, s))
            dismiss(s);
        return -1;
    }
    prove(l->secret, 'C', s->first, s->nonce, expected);
    if (!is_same(expected, s->third, HASH)) {
        dismiss(s);
        return -1;
    }
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    s->fd = -1;
    return fd;
}

int xy_listener_accept(xy_listener_t *l, int *name_p)
{
    struct epoll_event events[16];
    int n = epoll_wait(l->epoll, events, 16, 0);

    for (int i = 0; i < n; i++) {
        stranger_t *s = &l->strangers[events[i].data.u32 % PENDING];
        int fd;

        if (events[i].data.u32 == PENDING) {
            invite(l);
            continue;
        }
        fd = s->fd >= 0 ? talk(l, s) : -1;
        if (fd >= 0) {
            *name_p = (int)get32(s->first + 8);
            return fd;
        }
    }
    return -1;
}

void xy_listener_close(xy_listener_t *l)
{
    if (l == NULL)
        return;
    for (int i = 0; i < PENDING; i++)
        if (l->strangers[i].fd >= 0)
            close(l->strangers[i].fd);
    if (l->fd >= 0)
        close(l->fd);
    if (l->epoll >= 0)
        close(l->epoll);
    xy_free(l);
}

/* ---- The connector ---- */

static bool read_all(int fd, uint8_t *bytes, size_t size, double deadline)
{
    while (size > 0) {
        ssize_t n;

        if (!net_await(fd, POLLIN, deadline))
            return false;
        n = recv(fd, bytes, size, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
    return true;
}

bool net_greet(int fd, const uint8_t secret[XY_SECRET_BYTES], int name, int own, double deadline,
               char why[XY_WHY_SIZE])
{
    uint8_t first[FIRST], second[SECOND], hash[HASH];

    memcpy(first, magic, sizeof(magic));
    put32(first + 8, (uint32_t)own);
    put32(first + 12, (uint32_t)name);
    if (getrandom(first + 16, NONCE, 0) != NONCE || send(fd, first, FIRST, MSG_NOSIGNAL) != FIRST ||
        !read_all(fd, second, SECOND, deadline)) {
        snprintf(why, XY_WHY_SIZE, "what answers there is not this job");
        return false;
    }
    prove(secret, 'L', first, second, hash);
    if (!is_same(hash, second + NONCE, HASH)) {
        snprintf(why, XY_WHY_SIZE, "what answers there does not know this job's secret");
        return false;
    }
    prove(secret, 'C', first, second, hash);
    if (send(fd, hash, HASH, MSG_NOSIGNAL) == HASH)
        return true;
    snprintf(why, XY_WHY_SIZE, "%s", strerror(errno));
    return false;
}

int net_connect_to(const struct sockaddr *to, socklen_t size, double deadline,
                   char why[XY_WHY_SIZE])
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int code = 0;
    socklen_t code_size = sizeof(code);
    bool is_begun = fd >= 0 && (connect(fd, to, size) == 0 || errno == EINPROGRESS);

    if (is_begun && !net_await(fd, POLLOUT, deadline))
        code = ETIMEDOUT;
    else if (!is_begun || getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &code_size) != 0)
        code = errno;
    if (code == 0) {
        tune(fd);
        return fd;
    }
    snprintf(why, XY_WHY_SIZE, "%s", strerror(code));
    if (fd >= 0)
        close(fd);
    errno = code;
    return -1;
}
