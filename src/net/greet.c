/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP between those who know the secret of a job. Who connects says who it is;
 * both prove the secret by a keyed hash of what both have chosen at random:
 *
 *   connector -> listener   "xylem-2\n", own name, listener's name, ciphers, random C, key C
 *   listener  -> connector  random L, cipher, key L, proof L of all before
 *   connector -> listener   proof C of all before
 *
 * The listener decides whether the connection is encrypted (seal.h). A cipher of 0 says that it is
 * not: then the keys are zero. Proofs are HMAC-SHA256 in both cases. Nothing of an earlier greeting
 * helps in another, as both ends choose random numbers.
 *
 * The listener holds many half-finished greetings at once, so that a stranger who connects and
 * says nothing keeps none of the job waiting. When there are too many, the oldest of the address
 * that has most of them is sent away.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/greet.h"
#include "net/seal.h"

enum { NONCE = 16, PROOF = 32, FIRST = 68, SHOWN = 52, SECOND = SHOWN + PROOF };
enum { PENDING = 256, BACKLOG = 1024, ACCEPTED = 512 /* at once */ };
/* Where the parts of the messages are. */
enum { AT_OWN = 8, AT_NAME = 12, AT_CIPHERS = 16, AT_NONCE = 20, AT_KEY = 36 };
enum { AT_CIPHER = NONCE, AT_KEY_SECOND = NONCE + 4 };

static const char magic[8] = {'x', 'y', 'l', 'e', 'm', '-', '2', '\n'};
static xy_net_rules_t rules;

#define PATIENCE 15.0 /* seconds, where no rule says more */

void xy_net_rules_set(const xy_net_rules_t *given)
{
    rules = *given;
}

const xy_net_rules_t *net_rules(void)
{
    return &rules;
}

void xy_net_rules_write(char text[XY_RULES_SIZE])
{
    snprintf(text, XY_RULES_SIZE, "%d %.3f %u %u %s", (int)rules.seal, rules.patience,
             rules.port_low, rules.port_high, rules.interface);
}

bool xy_net_rules_read(const char *text, xy_net_rules_t *read)
{
    xy_net_rules_t found = {0};
    unsigned seal, low, high;
    int at = 0;

    if (text == NULL ||
        sscanf(text, "%u %lf %u %u %n", &seal, &found.patience, &low, &high, &at) < 4 || at == 0 ||
        seal > XY_SEAL_ALWAYS || low > high || high > 65535 ||
        strlen(text + at) >= sizeof(found.interface))
        return false;
    found.seal = (xy_seal_rule_t)seal;
    found.port_low = (uint16_t)low;
    found.port_high = (uint16_t)high;
    snprintf(found.interface, sizeof(found.interface), "%s", text + at);
    *read = found;
    return true;
}

bool xy_net_rules_ports(const char *text, xy_net_rules_t *into)
{
    char low[16];
    const char *dash = strchr(text, '-');
    long first, last;

    snprintf(low, sizeof(low), "%.*s", (int)strcspn(text, "-"), text);
    if (!xy_parse_long(low, &first) || !xy_parse_long(dash != NULL ? dash + 1 : low, &last) ||
        first < 1 || last < first || last > 65535)
        return false;
    into->port_low = (uint16_t)first;
    into->port_high = (uint16_t)last;
    return true;
}

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
    uint8_t hash[PROOF];
    uint64_t number;

    net_hmac(secret, XY_SECRET_BYTES, purpose, sizeof(purpose), hash);
    memcpy(&number, hash, sizeof(number));
    return number;
}

void xy_secret_derive(const uint8_t secret[XY_SECRET_BYTES], const uint8_t salt[XY_SECRET_BYTES],
                      uint8_t derived[XY_SECRET_BYTES])
{
    static const char purpose[] = "derive";
    uint8_t said[sizeof(purpose) + XY_SECRET_BYTES], hash[PROOF];

    memcpy(said, purpose, sizeof(purpose));
    memcpy(said + sizeof(purpose), salt, XY_SECRET_BYTES);
    net_hmac(secret, XY_SECRET_BYTES, said, sizeof(said), hash);
    memcpy(derived, hash, XY_SECRET_BYTES);
    explicit_bzero(hash, sizeof(hash));
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

/* The handshake so far, in order. */
typedef struct {
    uint8_t who, first[FIRST], second[SECOND];
} transcript_t;

_Static_assert(sizeof(transcript_t) == 1 + FIRST + SECOND, "a transcript has no holes");

/* `who` proves the secret: 'L' for the listener, up to its proof, or 'C' for the connector. */
static void prove(const uint8_t secret[XY_SECRET_BYTES], char who, transcript_t *t,
                  uint8_t proof[PROOF])
{
    t->who = (uint8_t)who;
    net_hmac(secret, XY_SECRET_BYTES, t, who == 'L' ? 1 + FIRST + SHOWN : sizeof(*t), proof);
}

/* In a time that does not depend on where they differ. */
static bool is_same(const uint8_t *a, const uint8_t *b, size_t size)
{
    unsigned difference = 0;

    for (size_t i = 0; i < size; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

/* Small messages leave at once; a machine that vanished is noticed in time. */
void xy_socket_tune(int fd)
{
    double patience = rules.patience > 0 ? rules.patience : PATIENCE;
    int yes = 1, watch = rules.patience >= 0, count = 5;
    int idle = patience < 3 ? 1 : patience < 1e5 ? (int)(patience / 3) : 32767;
    int interval = (patience - idle) < 5 ? 1
                   : patience < 1e5      ? (int)((patience - idle) / 5)
                                         : 32767;
    unsigned unanswered =
        watch ? (unsigned)(fmin(patience, 1e6) * 1000) : 0; /* ms; 0: the kernel's */

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &watch, sizeof(watch));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof(unanswered));
}

/* ---- The listener ---- */

typedef struct {
    int fd;          /* -1: free */
    uint64_t number; /* growing */
    struct in6_addr address;
    size_t got;
    bool is_answered;
    transcript_t said;
    uint8_t third[PROOF];
} stranger_t;

struct xy_listener {
    int fd, epoll;
    int name, count;
    uint16_t port;
    bool is_local, has_key;
    uint8_t secret[XY_SECRET_BYTES];
    uint8_t key[NET_SEAL_KEY], shown[NET_SEAL_KEY]; /* for as long as it listens */
    uint64_t strangers_count;
    stranger_t strangers[PENDING];
};

/* A socket of one family at a port, 0 for any. -1: with errno. */
static int bind_at(int family, bool is_local, uint16_t port)
{
    struct sockaddr_in6 any6 = {
        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT, .sin6_port = htons(port)};
    struct sockaddr_in any4 = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(is_local ? INADDR_LOOPBACK : INADDR_ANY),
                               .sin_port = htons(port)};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), no = 0, yes = 1, code;

    if (fd < 0)
        return -1;
    if (port != 0) /* connections of the job before may still be in TIME_WAIT there */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (family == AF_INET6)
        code = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) != 0 ||
               bind(fd, (struct sockaddr *)&any6, sizeof(any6)) != 0;
    else
        code = bind(fd, (struct sockaddr *)&any4, sizeof(any4)) != 0;
    if (code == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    code = errno;
    close(fd);
    errno = code;
    return -1;
}

/* Listen on all addresses; on those of IPv4 where there is no IPv6. */
static int bind_any(bool is_local, uint16_t port)
{
    int fd = is_local ? -1 : bind_at(AF_INET6, false, port);

    return fd >= 0 || (!is_local && errno == EADDRINUSE) ? fd : bind_at(AF_INET, is_local, port);
}

/* At a port of the rules. Processes that start together do not all begin with the same. */
static int bind_ruled(bool is_local)
{
    unsigned count = (unsigned)rules.port_high - rules.port_low + 1, first = 0;
    int fd = -1;

    if (rules.port_high == 0 || is_local)
        return bind_any(is_local, 0);
    if (getrandom(&first, sizeof(first), 0) != (ssize_t)sizeof(first))
        first = 0;
    for (unsigned i = 0; i < count && fd < 0; i++) {
        fd = bind_any(false, (uint16_t)(rules.port_low + (first % count + i) % count));
        if (fd < 0 && errno != EADDRINUSE && errno != EACCES)
            break;
    }
    return fd;
}

static int open_port(bool is_local, uint16_t *port_p)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof(bound);
    int fd = bind_ruled(is_local);

    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&bound, &size) == 0)
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
    if (!is_local && !net_has_interface()) {
        xy_free(l);
        return xy_fail(XY_EUSAGE,
                       "--net-interface %s: there is no such interface with an address; 'ip addr' "
                       "lists them",
                       rules.interface);
    }
    for (int i = 0; i < PENDING; i++)
        l->strangers[i].fd = -1;
    l->name = name;
    l->count = count;
    l->is_local = is_local;
    memcpy(l->secret, secret, sizeof(l->secret));
    l->fd = open_port(is_local, &l->port);
    l->epoll = l->fd < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fd, &event) != 0) {
        char what[80] = "a port for the processes of the job";
        int code = errno;
        xy_status_t st;

        if (rules.port_high != 0 && !is_local)
            snprintf(what, sizeof(what), "one of the ports %u-%u for the processes of the job",
                     rules.port_low, rules.port_high);
        st = xy_fail_errno(code, what, "open");

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

/* The address of the other end, or of this one; IPv4 as IPv6 writes it. */
static struct in6_addr address_of(int fd, bool is_own)
{
    struct sockaddr_storage at = {.ss_family = AF_UNSPEC};
    struct in6_addr address = IN6ADDR_ANY_INIT;
    socklen_t size = sizeof(at);
    int code = is_own ? getsockname(fd, (struct sockaddr *)&at, &size)
                      : getpeername(fd, (struct sockaddr *)&at, &size);

    if (code == 0 && at.ss_family == AF_INET6)
        return ((struct sockaddr_in6 *)&at)->sin6_addr;
    if (code == 0 && at.ss_family == AF_INET) {
        address.s6_addr[10] = address.s6_addr[11] = 0xff;
        memcpy(address.s6_addr + 12, &((struct sockaddr_in *)&at)->sin_addr, 4);
    }
    return address;
}

static bool is_same_address(const struct in6_addr *a, const struct in6_addr *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* May the listener want this connection to be encrypted? What stays on a machine need not be. */
static bool may_be_sealed(int fd)
{
    struct in6_addr own = address_of(fd, true), other = address_of(fd, false);

    return rules.seal == XY_SEAL_ALWAYS || !is_same_address(&own, &other);
}

/* The oldest stranger of the address that has most of them; NULL: there is none. */
static stranger_t *find_unwanted(xy_listener_t *l)
{
    stranger_t *found = NULL;
    int most = 0;

    for (int i = 0; i < PENDING; i++) {
        stranger_t *s = &l->strangers[i], *oldest = s;
        int count = 0;

        for (int k = 0; k < PENDING && s->fd >= 0; k++) {
            stranger_t *other = &l->strangers[k];

            if (other->fd < 0 || !is_same_address(&s->address, &other->address))
                continue;
            count++;
            if (other->number < oldest->number)
                oldest = other;
        }
        if (count > most) {
            most = count;
            found = oldest;
        }
    }
    return found;
}

/* Accept the next connection: -1: none. Descriptors of strangers are given up for it. */
static int accept_next(xy_listener_t *l)
{
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    stranger_t *unwanted;

    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && (unwanted = find_unwanted(l)) != NULL) {
        dismiss(unwanted);
        fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    return fd;
}

/* Accept waiting connections and begin their greetings; when all places are taken, an unfinished
 * one is dismissed. */
static void invite(xy_listener_t *l)
{
    for (int n = 0, at = 0; n < ACCEPTED; n++) {
        struct epoll_event event = {.events = EPOLLIN};
        int fd = accept_next(l);
        stranger_t *s;

        if (fd < 0)
            return;
        while (at < PENDING && l->strangers[at].fd >= 0)
            at++;
        s = at < PENDING ? &l->strangers[at] : find_unwanted(l);
        if (s->fd >= 0)
            dismiss(s);
        *s = (stranger_t){
            .fd = fd, .number = l->strangers_count++, .address = address_of(fd, false)};
        event.data.u32 = (uint32_t)(s - l->strangers);
        xy_socket_tune(fd);
        if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
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

/* The cipher for a stranger that has said which it has; 0: none. False: there must be one. */
static bool choose_cipher(xy_listener_t *l, const stranger_t *s, unsigned *cipher_p)
{
    unsigned own;

    *cipher_p = 0;
    if (rules.seal == XY_SEAL_NEVER || !may_be_sealed(s->fd))
        return true;
    own = net_seal_ciphers();
    if (!l->has_key && !net_seal_pair(l->key, l->shown))
        return false;
    l->has_key = true;
    *cipher_p = net_seal_choose(own, get32(s->said.first + AT_CIPHERS));
    if (*cipher_p == 0) /* it has none, and is to know why it is refused */
        *cipher_p = own;
    return true;
}

/* Check the first message of a stranger and send the second; false if the stranger is to be
 * dismissed. */
static bool answer(xy_listener_t *l, stranger_t *s)
{
    uint8_t *first = s->said.first, *second = s->said.second;
    unsigned cipher;

    if (memcmp(first, magic, sizeof(magic)) != 0 || get32(first + AT_OWN) >= (uint32_t)l->count ||
        get32(first + AT_NAME) != (uint32_t)l->name)
        return false;
    if (!choose_cipher(l, s, &cipher) || getrandom(second, NONCE, 0) != NONCE)
        return false;
    put32(second + AT_CIPHER, cipher);
    if (cipher != 0)
        memcpy(second + AT_KEY_SECOND, l->shown, NET_SEAL_KEY);
    s->got = 0;
    s->is_answered = true;
    prove(l->secret, 'L', &s->said, second + SHOWN);
    return send(s->fd, second, SECOND, MSG_NOSIGNAL | MSG_DONTWAIT) == SECOND;
}

/* Has it proved the secret? *seal_p: what the connection is encrypted with, or NULL. */
static bool is_proved(const xy_listener_t *l, stranger_t *s, xy_seal_t **seal_p)
{
    uint8_t expected[PROOF];
    unsigned cipher = get32(s->said.second + AT_CIPHER);

    *seal_p = NULL;
    prove(l->secret, 'C', &s->said, expected);
    if (!is_same(expected, s->third, PROOF))
        return false;
    if (cipher != 0)
        *seal_p = net_seal_make(cipher, l->secret, &s->said, sizeof(s->said), l->key,
                                s->said.first + AT_KEY, false);
    return cipher == 0 || *seal_p != NULL;
}

/* One that has proved the secret: its descriptor. -1: not (yet). */
static int talk(xy_listener_t *l, stranger_t *s, xy_seal_t **seal_p)
{
    size_t size = s->is_answered ? PROOF : FIRST;
    int fd = s->fd;

    if (!hear(s, s->is_answered ? s->third : s->said.first, size)) {
        dismiss(s);
        return -1;
    }
    if (s->got < size)
        return -1;
    if (!s->is_answered) {
        if (!answer(l, s))
            dismiss(s);
        return -1;
    }
    if (!is_proved(l, s, seal_p)) {
        dismiss(s);
        return -1;
    }
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    s->fd = -1;
    return fd;
}

int xy_listener_accept(xy_listener_t *l, int *name_p, xy_seal_t **seal_p)
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
        fd = s->fd >= 0 ? talk(l, s, seal_p) : -1;
        if (fd >= 0) {
            *name_p = (int)get32(s->said.first + AT_OWN);
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
    explicit_bzero(l, sizeof(*l));
    xy_free(l);
}

/* ---- The connector ---- */

/* Read exactly `size` bytes; false at the end of the connection, on an error or after the deadline.
 */
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

/* The first message, and the key that belongs to it; without the library there is none. */
static bool introduce(int fd, uint8_t first[FIRST], int name, int own, uint8_t key[NET_SEAL_KEY])
{
    unsigned ciphers = may_be_sealed(fd) ? net_seal_ciphers() : 0;

    memset(first, 0, FIRST);
    memcpy(first, magic, sizeof(magic));
    put32(first + AT_OWN, (uint32_t)own);
    put32(first + AT_NAME, (uint32_t)name);
    put32(first + AT_CIPHERS, ciphers);
    return getrandom(first + AT_NONCE, NONCE, 0) == NONCE &&
           (ciphers == 0 || net_seal_pair(key, first + AT_KEY));
}

/* The listener has answered: is it of this job, and what has it chosen? Half a line, or NULL. */
static const char *judge(const uint8_t secret[XY_SECRET_BYTES], transcript_t *said)
{
    unsigned cipher = get32(said->second + AT_CIPHER);
    uint8_t expected[PROOF];

    if (cipher != 0 && net_seal_ciphers() == 0)
        return "connections between hosts are encrypted, and OpenSSL's libcrypto.so.3 is missing "
               "here: install libssl3, or use --net-plain";
    prove(secret, 'L', said, expected);
    if (!is_same(expected, said->second + SHOWN, PROOF))
        return "the process that answers there does not know this job's secret";
    return NULL;
}

bool net_greet(int fd, const uint8_t secret[XY_SECRET_BYTES], int name, int own, double deadline,
               xy_seal_t **seal_p, char why[XY_WHY_SIZE])
{
    uint8_t key[NET_SEAL_KEY] = {0}, proof[PROOF];
    transcript_t said = {0};
    const char *wrong;
    unsigned cipher;

    *seal_p = NULL;
    if (!introduce(fd, said.first, name, own, key) ||
        send(fd, said.first, FIRST, MSG_NOSIGNAL) != FIRST ||
        !read_all(fd, said.second, SECOND, deadline)) {
        snprintf(why, XY_WHY_SIZE, "the process that answers there is not part of this job");
        return false;
    }
    wrong = judge(secret, &said);
    if (wrong != NULL) {
        snprintf(why, XY_WHY_SIZE, "%s", wrong);
        return false;
    }
    cipher = get32(said.second + AT_CIPHER);
    prove(secret, 'C', &said, proof);
    if (send(fd, proof, PROOF, MSG_NOSIGNAL) != PROOF) {
        snprintf(why, XY_WHY_SIZE, "%s", strerror(errno));
        return false;
    }
    if (cipher != 0)
        *seal_p = net_seal_make(cipher, secret, &said, sizeof(said), key,
                                said.second + AT_KEY_SECOND, true);
    explicit_bzero(key, sizeof(key));
    if (cipher == 0 || *seal_p != NULL)
        return true;
    snprintf(why, XY_WHY_SIZE, "no key can be agreed on with the process that answers there");
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
        xy_socket_tune(fd);
        return fd;
    }
    snprintf(why, XY_WHY_SIZE, "%s", strerror(code));
    if (fd >= 0)
        close(fd);
    errno = code;
    return -1;
}
