/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guarantees of every transport (net.h), between real processes. Each case is a function that
 * runs in every process of a small job; it ends with exit code 0 in all of them.
 *
 *   test_net_transport               over each transport that needs no launcher, in processes it
 * forks mpirun -n 2 test_net_transport   this process is one of them: XYLEM_TEST_NET names the
 * transport, XYLEM_TEST_DIR a directory that all see; with XYLEM_TEST_HIDES the memory of one is
 * out of reach
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/shm.h"
#include "testing/base.h"

enum { MOST = 3, PATIENCE = 60, LONGEST = 60000 };

#define REQUIRE(condition) ((condition) ? (void)0 : fail_here(#condition, __func__, __LINE__))

static int process, processes;
static xy_seal_rule_t rule = XY_SEAL_NEVER;
static const char *interfaces = ""; /* of several lanes */
static xy_net_t *net;

static void fail_here(const char *what, const char *function, int line)
{
    fprintf(stderr, "%s:%d: process %d: not so: %s\n", function, line, process, what);
    _exit(1);
}

/* ---- Cards through files ---- */

typedef struct {
    char directory[256];
    int round;
    bool hides; /* the first card of process 0 is no use to the others */
} desk_t;

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    nanosleep(&pause, NULL);
}

static xy_status_t exchange(void *arg, const char *card, char **cards)
{
    desk_t *desk = arg;
    char path[320], hidden[340];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%d.%d", desk->directory, desk->round, process);
    snprintf(hidden, sizeof(hidden), "%s.new", path);
    file = fopen(hidden, "we");
    REQUIRE(file != NULL);
    fprintf(file, "%s", card);
    REQUIRE(fclose(file) == 0);
    REQUIRE(rename(hidden, path) == 0);
    for (int p = 0; p < processes; p++) {
        double deadline = net_now() + PATIENCE;
        size_t size;

        snprintf(path, sizeof(path), "%s/%d.%d", desk->directory, desk->round, p);
        while (access(path, F_OK) != 0) {
            REQUIRE(net_now() < deadline);
            nap();
        }
        REQUIRE(xy_file_read(path, 1 << 16, &cards[p], &size) == XY_OK);
        if (desk->hides && desk->round == 0 && p == 0 && process != 0)
            cards[p][0] = '\0';
    }
    desk->round++;
    return XY_OK;
}

/* ---- What the events say ---- */

typedef struct {
    uint32_t kind, number;
    uint64_t id, size;
} head_t;

enum { PLAIN, READY_TO_TAKE };

static struct {
    int messages[MOST]; /* from each */
    int done, lost[MOST];
    char why[128];
    void (*on_message)(int from, const head_t *head, const char *data, size_t size);
    void (*on_done)(void *token);
} seen;

static void on_message(void *context, int from, const void *bytes, size_t size)
{
    head_t head;

    REQUIRE(context == &seen);
    REQUIRE(from >= 0 && from < processes && from != process);
    REQUIRE(size >= sizeof(head));
    memcpy(&head, bytes, sizeof(head));
    if (seen.on_message != NULL)
        seen.on_message(from, &head, (const char *)bytes + sizeof(head), size - sizeof(head));
    seen.messages[from]++;
}

static void on_done(void *context, void *token)
{
    REQUIRE(context == &seen);
    if (seen.on_done != NULL)
        seen.on_done(token);
    seen.done++;
}

static void on_lost(void *context, int who, const char *why)
{
    REQUIRE(context == &seen);
    seen.lost[who]++;
    snprintf(seen.why, sizeof(seen.why), "%s", why);
}

static const xy_net_events_t events = {on_message, on_done, on_lost};

static void wait_for(bool (*is_so)(void))
{
    double deadline = net_now() + PATIENCE;

    while (!is_so()) {
        REQUIRE(net_now() < deadline);
        if (!xy_net_poll(net))
            xy_net_sleep(net, 0.02);
    }
}

static int wanted;

static bool has_all_messages(void)
{
    for (int p = 0; p < processes; p++)
        if (p != process && seen.messages[p] < wanted)
            return false;
    return true;
}

static bool has_all_done(void)
{
    return seen.done >= wanted;
}

static char pattern(int from, uint64_t number, size_t i)
{
    return (char)((size_t)from * 31 + number * 17 + i * 7 + (i >> 8));
}

/* ---- The cases ---- */

static size_t size_number(uint32_t k)
{
    static const size_t some[] = {0, 1, 2, 3, 5, 8, 63, 64, 65, 255, 1000, 1024, 1500, 4095, 4096};
    size_t limit = xy_net_short_limit(net) - sizeof(head_t);

    if (k < sizeof(some) / sizeof(some[0]))
        return some[k] < limit ? some[k] : limit;
    return k % 7 == 0 ? limit : (size_t)k * 2654435761u % (limit + 1);
}

static void check_sized(int from, const head_t *head, const char *data, size_t size)
{
    REQUIRE(head->number == (uint32_t)seen.messages[from]);
    REQUIRE(size == size_number(head->number));
    for (size_t i = 0; i < size; i++)
        REQUIRE(data[i] == pattern(from, head->number, i));
}

static void sizes_and_order(void)
{
    char *bytes = malloc(xy_net_short_limit(net));

    wanted = 100;
    seen.on_message = check_sized;
    REQUIRE(xy_net_short_limit(net) >= 256 + sizeof(head_t));
    for (uint32_t k = 0; k < (uint32_t)wanted; k++)
        for (int to = 0; to < processes; to++) {
            head_t head = {.number = k};
            size_t size = size_number(k);

            for (size_t i = 0; i < size; i++)
                bytes[i] = pattern(process, k, i);
            if (to != process)
                xy_net_send(net, to, &head, sizeof(head), bytes, size);
            memset(bytes, 0x55, size); /* it was copied or sent */
        }
    wait_for(has_all_messages);
    free(bytes);
}

static void check_number(int from, const head_t *head, const char *data, size_t size)
{
    (void)data, (void)size;
    REQUIRE(head->number == (uint32_t)seen.messages[from]);
}

/* Both directions are full before the first message is read. */
static void flood(void)
{
    static char bytes[3000]; /* all of them are more than sockets hold */

    wanted = 10000;
    seen.on_message = check_number;
    for (uint32_t k = 0; k < (uint32_t)wanted; k++)
        for (int to = 0; to < processes; to++) {
            head_t head = {.number = k};

            if (to != process)
                xy_net_send(net, to, &head, sizeof(head), bytes, k % sizeof(bytes));
        }
    wait_for(has_all_messages);
}

static size_t length_of(uint32_t k)
{
    return k * 7919u % (k % 3 == 0 ? 900u : (unsigned)(LONGEST - sizeof(head_t)));
}

static void check_bytes(int from, const head_t *head, const char *data, size_t size)
{
    check_number(from, head, data, size);
    REQUIRE(size == length_of(head->number));
    for (size_t i = 0; i < size; i++)
        REQUIRE(data[i] == (char)(head->number + i));
}

/* The same with messages of all lengths, so that what is read ends anywhere in one. */
static void flood_of_lengths(void)
{
    static char bytes[LONGEST];

    wanted = 400;
    seen.on_message = check_bytes;
    for (uint32_t k = 0; k < (uint32_t)wanted; k++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)(k + i);
        for (int to = 0; to < processes; to++) {
            head_t head = {.number = k};

            if (to != process)
                xy_net_send(net, to, &head, sizeof(head), bytes, length_of(k));
        }
    }
    wait_for(has_all_messages);
}

/* Large buffers: the taker says when it is ready, and the giver gives. */
enum { LARGE = XYLEM_SANITIZED ? 8 : 24 };

static struct {
    char *out[MOST][LARGE], *in[MOST][LARGE];
    bool is_given[MOST][LARGE], is_taken[MOST][LARGE];
} large;

static size_t large_size(int k)
{
    static const size_t some[] = {1, 7, 1000, 65536, 65537, 1 << 20, (1 << 20) + 1, 3000001};

    return (size_t)k < sizeof(some) / sizeof(some[0]) ? some[k] : 30000 * (size_t)k + 11;
}

static void give_when_ready(int from, const head_t *head, const char *data, size_t size)
{
    (void)data, (void)size;
    REQUIRE(head->kind == READY_TO_TAKE && head->number < LARGE);
    xy_net_give(net, from, head->id, large.out[from][head->number], large_size((int)head->number),
                &large.is_given[from][head->number]);
}

static void note_done(void *token)
{
    bool *is_done = token;

    REQUIRE(!*is_done);
    *is_done = true;
}

static void make_large(int other, int k)
{
    size_t size = large_size(k);

    large.out[other][k] = malloc(size);
    large.in[other][k] = malloc(size);
    REQUIRE(large.out[other][k] != NULL && large.in[other][k] != NULL);
    for (size_t i = 0; i < size; i++)
        large.out[other][k][i] = pattern(process, (uint64_t)k + 100 * (uint64_t)other, i);
    memset(large.in[other][k], 0x55, size);
}

static void check_large(int other, int k)
{
    size_t size = large_size(k);

    REQUIRE(large.is_given[other][k] && large.is_taken[other][k]);
    for (size_t i = 0; i < size; i++)
        REQUIRE(large.in[other][k][i] == pattern(other, (uint64_t)k + 100 * (uint64_t)process, i));
    free(large.out[other][k]);
    free(large.in[other][k]);
}

/* The library of another MPI moves a large buffer in small parts, one with each poll. */
static bool rests_long(void)
{
    return net->transport->rest == NULL || net->transport->rest(net) > 0.5e-3;
}

static void large_buffers(void)
{
    seen.on_message = give_when_ready;
    seen.on_done = note_done;
    for (int k = 0; k < LARGE; k++)
        for (int p = 0; p < processes; p++)
            if (p != process)
                make_large(p, k);
    for (int k = LARGE - 1; k >= 0; k--)
        for (int p = 0; p < processes; p++) {
            head_t head = {.kind = READY_TO_TAKE,
                           .number = (uint32_t)k,
                           .id = 0x1234567800000000u + (uint64_t)k};

            if (p == process)
                continue;
            xy_net_take(net, p, head.id, large.in[p][k], large_size(k), &large.is_taken[p][k]);
            xy_net_send(net, p, &head, sizeof(head), NULL, 0);
        }
    REQUIRE(net->transport->rest == NULL || !rests_long());
    wanted = 2 * LARGE * (processes - 1);
    wait_for(has_all_done);
    REQUIRE(rests_long());
    for (int k = 0; k < LARGE; k++)
        for (int p = 0; p < processes; p++)
            if (p != process)
                check_large(p, k);
    REQUIRE(seen.done == wanted);
}

/* The same number again and again, while messages go both ways. */
static char again_in[300000], again_out[300000];
static uint32_t again_round;

static void again_message(int from, const head_t *head, const char *data, size_t size)
{
    (void)data, (void)size;
    if (head->kind != READY_TO_TAKE)
        return;
    memset(again_out, (int)head->number, sizeof(again_out));
    xy_net_give(net, from, 7, again_out, sizeof(again_out), NULL);
}

static void take_again(int from)
{
    head_t ready = {.kind = READY_TO_TAKE, .number = again_round};

    xy_net_take(net, from, 7, again_in, sizeof(again_in), again_in);
    xy_net_send(net, from, &ready, sizeof(ready), NULL, 0);
}

static void again_done(void *token)
{
    head_t plain = {.kind = PLAIN};

    if (token != again_in)
        return;
    for (size_t i = 0; i < sizeof(again_in); i += 997)
        REQUIRE(again_in[i] == (char)again_round);
    again_round++;
    xy_net_send(net, 1 - process, &plain, sizeof(plain), again_in, 100);
    if (again_round < 30)
        take_again(1 - process);
}

static void the_same_number_again(void)
{
    if (process > 1)
        return;
    seen.on_message = again_message;
    seen.on_done = again_done;
    take_again(1 - process);
    wanted = 60;
    wait_for(has_all_done);
    REQUIRE(again_round == 30);
}

/* Threads that send at the same time: each one's messages stay in order. */
enum { THREADS = 4, EACH = XYLEM_SANITIZED ? 300 : 2000 };

static uint32_t next_of[MOST][THREADS];

static void check_thread(int from, const head_t *head, const char *data, size_t size)
{
    REQUIRE(head->id < THREADS);
    REQUIRE(head->number == next_of[from][head->id]++);
    for (size_t i = 0; i < size; i++)
        REQUIRE(data[i] == (char)head->number);
}

static void *send_from_thread(void *argument)
{
    uint64_t id = (uint64_t)(uintptr_t)argument;
    char bytes[600];

    for (uint32_t k = 0; k < EACH; k++)
        for (int to = 0; to < processes; to++) {
            head_t head = {.number = k, .id = id};

            memset(bytes, (int)k, sizeof(bytes));
            if (to != process)
                xy_net_send(net, to, &head, sizeof(head), bytes, k % sizeof(bytes));
        }
    return NULL;
}

static void threads_send(void)
{
    pthread_t threads[THREADS];

    seen.on_message = check_thread;
    for (int t = 0; t < THREADS; t++)
        REQUIRE(pthread_create(&threads[t], NULL, send_from_thread, (void *)(uintptr_t)t) == 0);
    wanted = THREADS * EACH;
    wait_for(has_all_messages);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

/* Threads that poll at the same time: events come one at a time. */
static _Atomic int inside;
static _Atomic bool all_have_come;

static void check_alone(int from, const head_t *head, const char *data, size_t size)
{
    (void)data, (void)size;
    REQUIRE(atomic_fetch_add(&inside, 1) == 0);
    REQUIRE(xy_net_is_polled(net));
    REQUIRE(head->number == (uint32_t)seen.messages[from]);
    REQUIRE(atomic_fetch_sub(&inside, 1) == 1);
}

static void *poll_from_thread(void *argument)
{
    (void)argument;
    while (!atomic_load(&all_have_come))
        if (!xy_net_poll(net))
            xy_net_sleep(net, 0.001);
    return NULL;
}

static bool have_all_come(void)
{
    bool has_come = false;

    /* Only who polls may look at what events write. */
    if (net_poll_begin(net)) {
        has_come = has_all_messages();
        net_poll_end(net);
    }
    return has_come;
}

static void threads_poll(void)
{
    pthread_t threads[2];

    seen.on_message = check_alone;
    wanted = 3000;
    for (int t = 0; t < 2; t++)
        REQUIRE(pthread_create(&threads[t], NULL, poll_from_thread, NULL) == 0);
    for (uint32_t k = 0; k < (uint32_t)wanted; k++)
        for (int to = 0; to < processes; to++) {
            head_t head = {.number = k};

            if (to != process)
                xy_net_send(net, to, &head, sizeof(head), NULL, 0);
        }
    wait_for(have_all_come);
    atomic_store(&all_have_come, true);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
}

static void *wake_later(void *argument)
{
    (void)argument;
    nap();
    xy_net_wake(net);
    return NULL;
}

static void sleep_ends_early(void)
{
    double begin = net_now();
    pthread_t thread;
    head_t head = {0};

    xy_net_wake(net); /* before the sleep */
    xy_net_sleep(net, PATIENCE);
    REQUIRE(pthread_create(&thread, NULL, wake_later, NULL) == 0);
    xy_net_sleep(net, PATIENCE);
    pthread_join(thread, NULL);
    for (int to = 0; to < processes; to++)
        if (to != process)
            xy_net_send(net, to, &head, sizeof(head), NULL, 0);
    wanted = 1;
    while (!has_all_messages())
        if (!xy_net_poll(net))
            xy_net_sleep(net, PATIENCE);
    REQUIRE(net_now() - begin < PATIENCE);
}

/* Process 0 polls the ring away that is meant for another thread, which sleeps on: the next message
 * has to ring again. */
static bool is_to_be_rung(void)
{
    return atomic_load(&((shm_net_t *)net)->segment->rung) == 0;
}

static void a_ring_is_taken_away(void)
{
    head_t head = {0};

    if (strcmp(xy_net_name(net), "shm") != 0)
        return;
    wanted = process == 0 ? 2 : 1;
    if (process == 0) {
        double end = net_now() + PATIENCE / 2;
        bool is_taken = false; /* once: the last message may still ring when it has been received */

        atomic_fetch_add(&((shm_net_t *)net)->segment->sleepers, 1);
        xy_net_send(net, 1, &head, sizeof(head), NULL, 0);
        while (!is_taken && net_now() < end) {
            xy_net_poll(net); /* and no sleep, which would set it, too */
            is_taken = has_all_messages() && is_to_be_rung();
        }
        REQUIRE(is_taken);
        atomic_fetch_sub(&((shm_net_t *)net)->segment->sleepers, 1);
        return;
    }
    wait_for(has_all_messages);
    for (int k = 0; k < 2; k++)
        xy_net_send(net, 0, &head, sizeof(head), NULL, 0);
}

static bool has_lost_the_last(void)
{
    return seen.lost[processes - 1] > 0;
}

/* The last process dies; the others hear of it once, and can continue. */
static void a_process_dies(void)
{
    static char bytes[1000];
    head_t head = {0};

    if (process == processes - 1)
        kill(getpid(), SIGKILL);
    wait_for(has_lost_the_last);
    REQUIRE(seen.why[0] != '\0');
    for (int i = 0; i < 1000; i++)
        xy_net_send(net, processes - 1, &head, sizeof(head), bytes, sizeof(bytes));
    xy_net_give(net, processes - 1, 1, bytes, sizeof(bytes), NULL);
    xy_net_take(net, processes - 1, 1, bytes, sizeof(bytes), NULL);
    for (int i = 0; i < 10; i++)
        xy_net_poll(net);
    REQUIRE(seen.lost[processes - 1] == 1);
}

/* Data sent before the end arrives, though the sender reads nothing and leaves at once. */
static void leave_at_once(void)
{
    static char bytes[1000];

    wanted = process == 0 ? 2000 : 0;
    if (process == 0) {
        seen.on_message = check_number;
        wait_for(has_all_messages);
    }
    for (uint32_t k = 0; k < 2000 && process != 0; k++) {
        head_t head = {.number = k};

        xy_net_send(net, 0, &head, sizeof(head), bytes, sizeof(bytes));
    }
}

static void check_no_loss(void)
{
    for (int p = 0; p < processes; p++)
        REQUIRE(seen.lost[p] == 0);
}

/* ---- Running them ---- */

typedef struct {
    const char *name;
    void (*body)(void);
    int processes; /* of the job; 0: any */
    bool dies;
} case_t;

static const case_t cases[] = {
    {"sizes_and_order", sizes_and_order, 0, false},
    {"flood", flood, 0, false},
    {"flood_of_lengths", flood_of_lengths, 0, false},
    {"large_buffers", large_buffers, 0, false},
    {"the_same_number_again", the_same_number_again, 2, false},
    {"threads_send", threads_send, 0, false},
    {"threads_poll", threads_poll, 0, false},
    {"sleep_ends_early", sleep_ends_early, 0, false},
    {"a_ring_is_taken_away", a_ring_is_taken_away, 2, false},
    {"leave_at_once", leave_at_once, 0, false},
    {"a_process_dies", a_process_dies, 0, true},
};

static int run_case(const case_t *c, const char *transport, const char *directory, bool hides)
{
    static desk_t desk;
    xy_net_config_t config = {.process = process,
                              .processes = processes,
                              .transport = transport,
                              .secret = {9, 8, 7},
                              .is_local = interfaces[0] == '\0',
                              .exchange = exchange,
                              .exchange_arg = &desk,
                              .seconds = PATIENCE};
    xy_net_rules_t rules = {0};

    snprintf(desk.directory, sizeof(desk.directory), "%s", directory);
    desk.hides = hides;
    rules.seal = rule;
    snprintf(rules.interface, sizeof(rules.interface), "%s", interfaces);
    xy_net_rules_set(&rules);
    REQUIRE(xy_net_open(&config, &net) == XY_OK);
    REQUIRE(xy_net_lanes(net) == (interfaces[0] == '\0' ? 1 : 3));
    REQUIRE(strcmp(xy_net_name(net), transport) == 0);
    xy_net_listen(net, &events, &seen);
    c->body();
    xy_net_close(net);
    if (!c->dies)
        check_no_loss();
    return 0;
}

static void remove_all(const char *directory)
{
    char path[320];

    for (int round = 0; round < 8; round++)
        for (int p = 0; p < MOST; p++) {
            snprintf(path, sizeof(path), "%s/%d.%d", directory, round, p);
            unlink(path);
        }
    assert_int_equal(rmdir(directory), 0);
}

static void fork_and_run(const case_t *c, const char *transport, int count, bool hides)
{
    char directory[] = "/tmp/xylem-test-XXXXXX";
    pid_t children[MOST];

    assert_non_null(mkdtemp(directory));
    processes = count;
    for (int p = 0; p < count; p++) {
        children[p] = fork();
        if (children[p] == 0) {
            process = p;
            alarm(2 * PATIENCE);
            _exit(run_case(c, transport, directory, hides));
        }
    }
    for (int p = 0; p < count; p++) {
        int status;

        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        if (c->dies && p == count - 1)
            assert_true(WIFSIGNALED(status));
        else
            assert_int_equal(status, 0);
    }
    remove_all(directory);
}

/* With shm also where memory of one process is out of reach: there is a way through sockets to it,
 * and one through shared memory from it. Sanitizers see each case with one or two of the three. */
static void run_forked(void **state)
{
    const case_t *c = *state;
    unsigned n = (unsigned)(c - cases), share = XYLEM_SANITIZED ? 2 : 1;
    char why[XY_WHY_SIZE];

    for (int count = 2; count <= MOST; count++)
        if (c->processes == count || (c->processes == 0 && (!XYLEM_SANITIZED || count == MOST))) {
            if (testing_is_chosen(n, share))
                fork_and_run(c, "tcp", count, false);
            rule = XY_SEAL_ALWAYS;
            if (count == MOST && testing_is_chosen(n, share) && xy_seal_is_there(why))
                fork_and_run(c, "tcp", count, false);
            interfaces = "lo,lo,nosuch0,lo"; /* one is nowhere */
            if (count == MOST && testing_is_chosen(n, share) && xy_seal_is_there(why))
                fork_and_run(c, "tcp", count, false);
            rule = XY_SEAL_NEVER;
            if (count == 2 && testing_is_chosen(n, share))
                fork_and_run(c, "tcp", count, false);
            interfaces = "";
            if (testing_is_chosen(n + 1, share))
                fork_and_run(c, "shm", count, false);
            if (count == MOST && testing_is_chosen(n, share))
                fork_and_run(c, "shm", count, true);
        }
}

static int number_of(const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if (getenv(names[i]) != NULL)
            return (int)strtol(getenv(names[i]), NULL, 10);
    return -1;
}

/* One of several, which a launcher has started: the case that XYLEM_TEST_CASE names. */
static int run_launched(const char *transport)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    const char *name = getenv("XYLEM_TEST_CASE"), *directory = getenv("XYLEM_TEST_DIR");

    process = number_of(ranks);
    processes = number_of(sizes);
    if (name == NULL || directory == NULL || process < 0 || processes < 2 || processes > MOST)
        return 2;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(cases[i].name, name) == 0)
            return run_case(&cases[i], transport, directory, getenv("XYLEM_TEST_HIDES") != NULL);
    return 2;
}

int main(void)
{
    struct CMUnitTest tests[sizeof(cases) / sizeof(cases[0])];

    if (getenv("XYLEM_TEST_NET") != NULL)
        return run_launched(getenv("XYLEM_TEST_NET"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].name,
                                       .test_func = run_forked,
                                       .initial_state = (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
