/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection to the other processes of the job, and that to processes of other jobs: what comes
 * from there goes into the mailboxes of the workers, and the network progresses.
 *
 * Idle workers drive both. When all compute, or all sleep, a thread of each does: it sleeps until
 * something comes, fetches it and rings the worker that it is for. While workers drive the network
 * the thread keeps away from it: a worker that goes to sleep calls it, and it looks now and then
 * whether they still do.
 *
 * A worker whose ranks compute does not look into its mailbox. Its communication core does it then,
 * or, where there is none, the thread; both come in through the gate of the worker (gate.h). So
 * what needs several messages, such as a large message or a collective, continues meanwhile.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mpi/p2p/offload.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/peer_link.h"
#include "mpi/p2p/quiet.h"
#include "mpi/p2p/remote.h"
#include "mpi/p2p/survive.h"
#include "net/net.h"

/* How often the thread looks whether workers still drive the network, and how long it sleeps when
 * they do not: it is woken by what comes. */
#define LOOK_SECONDS  0.5e-3
#define SLEEP_SECONDS 1.0
/* Looks between which workers may only send. */
enum { SENT_LOOKS = 32 };
/* How long a place in another process is waited for. */
#define ANSWER_SECONDS 5.0

/* Messages that are not for ranks. */
enum { WHERE = REMOTE_SERVICE, HERE, ASK, TOLD, QUIET, HELLO, ASK_PORT, ASK_NAME, NEWS, LINK };

enum { SITES = 1024, SITE_TEXT = 160, QUIET_TEXT = 8192 };

/* A place in the program of another process. */
typedef struct {
    int process;
    uint64_t site;
    bool is_answered;
    char text[SITE_TEXT];
} site_t;

typedef struct {
    xy_net_t *net;
    bool is_hub;
    pthread_t thread;
    bool is_running;
    _Atomic uint32_t rest; /* the thread waits for a worker to sleep */
    unsigned looks, sends; /* when the thread looked last, */
    unsigned sent;         /* and how often before that only sends had changed */
} driver_t;

enum { OWN, HUB, DRIVERS };

static struct {
    driver_t drivers[DRIVERS];
    _Atomic bool is_ending;
    _Atomic unsigned looks; /* of idle workers */
    _Atomic unsigned sends; /* of all */
    mpi_traffic_t traffic;
    pthread_mutex_t lock; /* of the sites and the answer */
    site_t sites[SITES];
    int site_count;
    pthread_mutex_t ask_lock; /* of mpi_network_ask: one at a time */
    _Atomic uint64_t asked, told;
    size_t answer_size;
    char answer[XMPI_NEWS_MOST];
} network = {.lock = PTHREAD_MUTEX_INITIALIZER, .ask_lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool is_driver; /* this is one of the threads */
/* The worker that polls on this thread, and may handle letters; NULL: none may. */
static _Thread_local mpi_worker_t *fetcher;

/* It is enough that the number changes. */
static inline void note(_Atomic unsigned *number)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* ---- What goes ---- */

/* Most messages, whose head is made short: with some bytes it fits into one line of a cache. */
static bool is_small(const remote_head_t *head)
{
    return head->kind == REMOTE_EAGER && (head->flags & REMOTE_SYNCHRONOUS) == 0 &&
           (head->claim[0] | head->claim[1]) == 0;
}

/* Not those of windows, whose flags are their own. */
static bool is_timed(const remote_head_t *head)
{
    return (head->flags & REMOTE_TIMED) != 0 &&
           (head->kind <= REMOTE_DONE || head->kind == REMOTE_SMALL);
}

/* Send head, stamp and data of a message as one. */
static void send_whole(int process, const void *head, size_t head_size, const mpi_stamp_t *stamp,
                       const void *data, size_t size)
{
    char both[sizeof(remote_head_t) + sizeof(*stamp)];

    if (__builtin_expect(stamp != NULL, 0)) {
        memcpy(both, head, head_size);
        both[offsetof(remote_head_t, flags)] |= REMOTE_TIMED;
        memcpy(both + head_size, stamp, sizeof(*stamp));
        head = both;
        head_size += sizeof(*stamp);
    }
    xy_net_send(mpi_network_to(process), mpi_network_number(process), head, head_size, data, size);
}

void mpi_network_send(int process, const remote_head_t *head, const mpi_stamp_t *stamp,
                      const void *data, size_t size)
{
    char small[REMOTE_SMALL_HEAD];
    remote_head_t there;

    if (process >= mpi_job->processes) {
        there = *head;
        mpi_link_head_out(process, &there);
        head = &there;
    } else {
        atomic_fetch_add_explicit(&network.traffic.sent, 1, memory_order_relaxed);
    }
    if (!is_driver)
        note(&network.sends);
    if (!is_small(head)) {
        send_whole(process, head, sizeof(*head), stamp, data, size);
        return;
    }
    memcpy(small, head, REMOTE_BEGINNING);
    small[0] = REMOTE_SMALL;
    memcpy(small + REMOTE_BEGINNING, &head->site, sizeof(head->site));
    send_whole(process, small, sizeof(small), stamp, data, size);
}

/* The head and the stamp of what has come; their size there. */
static size_t read_head(const char *bytes, size_t size, remote_head_t *head, mpi_stamp_t *stamp)
{
    size_t read = sizeof(*head);

    if (bytes[0] != REMOTE_SMALL) {
        memcpy(head, bytes, sizeof(*head));
    } else {
        read = REMOTE_SMALL_HEAD;
        *head = (remote_head_t){0};
        memcpy(head, bytes, REMOTE_BEGINNING);
        head->kind = REMOTE_EAGER;
        memcpy(&head->site, bytes + REMOTE_BEGINNING, sizeof(head->site));
    }
    if (__builtin_expect(is_timed(head), 0)) {
        memcpy(stamp, bytes + read, sizeof(*stamp));
        read += sizeof(*stamp);
    }
    if (bytes[0] == REMOTE_SMALL)
        head->bytes = size - read;
    return read;
}

void mpi_network_count_pieces(int change)
{
    atomic_fetch_add_explicit(&network.traffic.pieces, change, memory_order_relaxed);
}

void mpi_network_count_take(void)
{
    atomic_fetch_add_explicit(&network.traffic.sent, 1, memory_order_relaxed);
}

/* Not for ranks, and not counted: it says nothing about what they do. */
static void send_service(int process, int kind, uint64_t id, const void *data, size_t size)
{
    remote_head_t head = {.kind = (uint8_t)kind, .id = id};

    xy_net_send(mpi_network_to(process), mpi_network_number(process), &head, sizeof(head), data,
                size);
}

void mpi_network_send_hello(int process, const void *data, size_t size)
{
    send_service(process, HELLO, 0, data, size);
}

void mpi_network_send_link(int process, const void *data, size_t size)
{
    send_service(process, LINK, 0, data, size);
}

void mpi_network_send_news(int process, const void *bytes, size_t size)
{
    send_service(process, NEWS, 0, bytes, size);
}

/* Send a quiet message; text that does not fit into a short message is cut. */
void mpi_network_send_quiet(int process, const mpi_quiet_t *quiet, const char *text)
{
    remote_head_t head = {.kind = QUIET};
    struct {
        mpi_quiet_t quiet;
        char text[QUIET_TEXT];
    } message = {.quiet = *quiet};
    size_t most = xy_net_short_limit(mpi_job->net) - sizeof(head) - sizeof(*quiet);
    size_t left = strlen(text);

    most = (most < sizeof(message.text) ? most : sizeof(message.text)) - 1;
    do {
        size_t size = left < most ? left : most;

        left -= size;
        message.quiet.has_more = left > 0;
        memcpy(message.text, text, size);
        message.text[size] = '\0';
        xy_net_send(mpi_job->net, process, &head, sizeof(head), &message,
                    sizeof(*quiet) + size + 1);
        text += size;
    } while (left > 0);
}

const mpi_traffic_t *mpi_network_traffic(void)
{
    return &network.traffic;
}

static bool poll_all(void)
{
    xy_net_t *net = mpi_job->net, *hub = mpi_job->hub;
    bool has_come = xy_net_poll(net);

    if (__builtin_expect(hub != NULL, 0) && hub != net)
        has_come |= xy_net_poll(hub);
    if (__builtin_expect(mpi_survives, 0))
        mpi_survive_settle();
    return has_come;
}

/* ---- Places in other processes ---- */

const void *mpi_network_site(int process, uint64_t site)
{
    const site_t *found = NULL;

    pthread_mutex_lock(&network.lock);
    for (int i = 0; i < network.site_count && found == NULL; i++)
        if (network.sites[i].process == process && network.sites[i].site == site)
            found = &network.sites[i];
    if (found == NULL && network.site_count < SITES) {
        network.sites[network.site_count] = (site_t){.process = process, .site = site};
        found = &network.sites[network.site_count++];
    }
    pthread_mutex_unlock(&network.lock);
    return found;
}

static bool is_answered(site_t *site)
{
    bool is;

    pthread_mutex_lock(&network.lock);
    is = site->is_answered;
    pthread_mutex_unlock(&network.lock);
    return is;
}

/* The other process looks it up, and the thread that polls here gets the answer. */
static void ask(site_t *site)
{
    double end = xy_now() + ANSWER_SECONDS;

    send_service(site->process, WHERE, (uint64_t)(site - network.sites), &site->site,
                 sizeof(site->site));
    while (!is_answered(site) && xy_now() < end)
        if (!poll_all())
            xy_thread_yield();
}

bool mpi_network_describe(const void *place, char *text, size_t size)
{
    site_t *site = (site_t *)(uintptr_t)place;

    if (site < network.sites || site >= network.sites + SITES)
        return false;
    if (!is_answered(site))
        ask(site);
    pthread_mutex_lock(&network.lock);
    snprintf(text, size, "%s", site->text);
    pthread_mutex_unlock(&network.lock);
    return true;
}

static void tell_where(int from, const remote_head_t *head, const char *data)
{
    char text[SITE_TEXT];
    uint64_t site;

    memcpy(&site, data, sizeof(site));
    mpi_caller_describe((const void *)(uintptr_t)site, text, sizeof(text));
    send_service(from, HERE, head->id, text, strlen(text) + 1);
}

static void note_where(const remote_head_t *head, const char *data)
{
    site_t *site = &network.sites[head->id % SITES];

    pthread_mutex_lock(&network.lock);
    snprintf(site->text, sizeof(site->text), "%s", data);
    site->is_answered = true;
    pthread_mutex_unlock(&network.lock);
}

/* ---- Questions ---- */

/* Ask one question and poll for its answer; the size of the answer, or 0 where none came in
 * `seconds`. */
static size_t ask_bytes(int process, int kind, const void *question, size_t size, double seconds,
                        void *answer, size_t room)
{
    double end = xy_now() + seconds;
    size_t answered = 0;
    uint64_t id;

    pthread_mutex_lock(&network.ask_lock);
    pthread_mutex_lock(&network.lock);
    id = atomic_fetch_add(&network.asked, 1) + 1;
    pthread_mutex_unlock(&network.lock);
    send_service(process, kind, id, question, size);
    while (atomic_load(&network.told) != id && xy_now() < end)
        if (!poll_all())
            xy_thread_yield();
    pthread_mutex_lock(&network.lock);
    if (atomic_load(&network.told) == id) {
        answered = network.answer_size < room ? network.answer_size : room;
        memcpy(answer, network.answer, answered);
    }
    pthread_mutex_unlock(&network.lock);
    pthread_mutex_unlock(&network.ask_lock);
    return answered;
}

static bool ask_word(int process, int kind, uint64_t question, uint64_t *answer_p)
{
    return ask_bytes(process, kind, &question, sizeof(question), ANSWER_SECONDS, answer_p,
                     sizeof(*answer_p)) == sizeof(*answer_p);
}

bool mpi_network_ask(int process, uint64_t question, uint64_t *answer_p)
{
    return ask_word(process, ASK, question, answer_p);
}

bool mpi_network_ask_port(int process, uint64_t question, uint64_t *answer_p)
{
    return ask_word(process, ASK_PORT, question, answer_p);
}

void mpi_network_ask_name(int process, const void *question, size_t size, void *answer, size_t room)
{
    while (ask_bytes(process, ASK_NAME, question, size, INFINITY, answer, room) != room)
        xy_thread_yield(); /* it has not begun */
}

/* Answer a question of another process. */
static void tell(int from, const remote_head_t *head, const char *data, size_t size)
{
    const mpi_far_t *far = &mpi_dispatch.far;
    uint64_t (*answer)(uint64_t) = head->kind == ASK ? far->answer : far->answer_port;
    char bytes[XMPI_NEWS_MOST];
    uint64_t word;

    if (head->kind == ASK_NAME) {
        size = far->answer_name != NULL ? far->answer_name(data, size, bytes) : 0;
        send_service(from, TOLD, head->id, bytes, size);
        return;
    }
    memcpy(&word, data, sizeof(word));
    word = answer != NULL ? answer(word) : 0;
    send_service(from, TOLD, head->id, &word, sizeof(word));
}

/* Keep the answer to the question that is asked now; one that comes too late is dropped. */
static void note_answer(const remote_head_t *head, const char *data, size_t size)
{
    pthread_mutex_lock(&network.lock);
    if (head->id == atomic_load(&network.asked) && size <= sizeof(network.answer)) {
        memcpy(network.answer, data, size);
        network.answer_size = size;
        atomic_store(&network.told, head->id);
    }
    pthread_mutex_unlock(&network.lock);
}

/* ---- What comes ---- */

/* The ranks of `worker` compute: its helper has to look. */
static void call_helper(const mpi_worker_t *worker)
{
    if (mpi_job->offloads)
        xy_worker_notify(mpi_job->worker[mpi_offload_server(worker->index)].base);
    else if (!is_driver)
        xy_net_wake(mpi_job->net);
}

/* Into the mailbox of `worker`, on top; the worker turns the list round. Any thread. */
static void post(mpi_worker_t *worker, remote_mail_t *mail)
{
    void *top = atomic_load_explicit(&worker->network, memory_order_relaxed);

    do
        mail->next = top;
    while (!atomic_compare_exchange_weak_explicit(&worker->network, &top, mail,
                                                  memory_order_release, memory_order_relaxed));
    xy_worker_notify(worker->base);
    if (mpi_gate_needs_helper(&worker->gate))
        call_helper(worker);
}

void mpi_network_post(mpi_worker_t *worker, remote_errand_t *errand)
{
    errand->mail.kind = REMOTE_ERRAND;
    post(worker, &errand->mail);
}

/* May another job send such a message? Its hello, answers to questions, and questions. */
static bool is_for_others(int kind)
{
    return kind == HELLO || kind == WHERE || kind == HERE || kind == ASK_PORT || kind == TOLD;
}

/* Handle a message that is for the process and no rank; malformed ones of other jobs are dropped.
 */
static void on_service(int from, const remote_head_t *head, const char *data, size_t size)
{
    mpi_quiet_t quiet;

    if (from >= mpi_job->processes &&
        (!is_for_others(head->kind) || size < (head->kind == HERE ? 1 : sizeof(uint64_t))))
        return;
    if (head->kind == HELLO) {
        if (from >= mpi_job->processes)
            mpi_link_hello(from, data, size);
    } else if (head->kind == LINK) {
        mpi_link_message(from, data, size);
    } else if (head->kind == WHERE) {
        tell_where(from, head, data);
    } else if (head->kind == HERE) {
        note_where(head, data);
    } else if (head->kind == ASK || head->kind == ASK_PORT || head->kind == ASK_NAME) {
        tell(from, head, data, size);
    } else if (head->kind == TOLD) {
        note_answer(head, data, size);
    } else if (head->kind == NEWS) {
        if (mpi_dispatch.far.news != NULL)
            mpi_dispatch.far.news(from, data, size);
    } else {
        memcpy(&quiet, data, sizeof(quiet));
        mpi_quiet_message(from, &quiet, data + sizeof(quiet));
    }
}

/* Messages of this job, as those that are sent. */
static void count_handled(int from)
{
    if (from < mpi_job->processes)
        atomic_fetch_add_explicit(&network.traffic.handled, 1, memory_order_relaxed);
}

/* The content of the mailbox comes first. */
static bool deliver(mpi_worker_t *to, int from, const remote_head_t *head, const mpi_stamp_t *stamp,
                    const char *data, mpi_request_t **met_p)
{
    if (to != fetcher || atomic_load_explicit(&to->network, memory_order_relaxed) != NULL ||
        !mpi_remote_deliver(head, stamp, data, met_p))
        return false;
    count_handled(from);
    return true;
}

static int process_of(const driver_t *driver, int number)
{
    return driver->is_hub ? mpi_job->processes - 1 + number : number;
}

/* A message of another job, which has no stamp: has it a whole head? */
static bool is_whole(const char *bytes, size_t size)
{
    return size >= REMOTE_SMALL_HEAD &&
           size >= (bytes[0] == REMOTE_SMALL ? (size_t)REMOTE_SMALL_HEAD : sizeof(remote_head_t)) &&
           ((unsigned char)bytes[offsetof(remote_head_t, flags)] & REMOTE_TIMED) == 0;
}

/* Handle a message of another process: deliver it at once, or put it into the mailbox of its
 * worker. */
static void on_message(void *context, int from, const void *bytes, size_t size)
{
    const driver_t *driver = context;
    mpi_request_t *receive = NULL;
    remote_letter_t *letter;
    remote_head_t head;
    mpi_stamp_t stamp;
    const char *data;
    mpi_worker_t *to;
    size_t head_size;

    from = process_of(driver, from);
    if (driver->is_hub && !is_whole(bytes, size))
        return;
    head_size = read_head(bytes, size, &head, &stamp);
    data = (const char *)bytes + head_size;
    size -= head_size;
    if (head.kind >= REMOTE_SERVICE) {
        on_service(from, &head, data, size);
        return;
    }
    if (from >= mpi_job->processes && !mpi_link_head_in(from, &head))
        return;
    to = mpi_remote_reader(&head);
    if (deliver(to, from, &head, &stamp, data, &receive))
        return;
    letter = xy_malloc(sizeof(*letter) + size);
    if (letter == NULL) {
        xy_fail_memory("keeping a message of another process");
        mpi_job->abort(1);
        return;
    }
    letter->mail.kind = receive != NULL ? REMOTE_MET : (remote_kind_t)head.kind;
    letter->from = from;
    letter->head = head;
    if (is_timed(&head))
        letter->stamp = stamp;
    letter->receive = receive;
    memcpy(letter->data, data, size);
    post(to, &letter->mail);
}

static void on_done(void *context, void *token)
{
    (void)context;
    if (!mpi_remote_is_scrap(token))
        post(mpi_remote_owner(token), token);
}

/* mpiexec notices a process that has died, and ends the others. One that lives and is not reached
 * any more is noticed here alone. */
static void on_lost(void *context, int process, const char *why)
{
    const driver_t *driver = context;

    if (driver->is_hub)
        mpi_link_lost(process_of(driver, process), why);
    else if (mpi_survives)
        mpi_survive_lost(process);
    else
        mpi_quiet_lost(process, why);
}

static const xy_net_events_t events = {.message = on_message, .done = on_done, .lost = on_lost};

/* ---- Progress ---- */

/* In order of arrival. */
static remote_mail_t *turn_round(remote_mail_t *mail)
{
    remote_mail_t *first = NULL;

    for (remote_mail_t *next; mail != NULL; mail = next) {
        next = mail->next;
        mail->next = first;
        first = mail;
    }
    return first;
}

/* Handle the mail of a worker in the order of arrival; true if there was any. */
static bool read_mail(mpi_worker_t *worker)
{
    remote_mail_t *mail;
    bool was_handling = worker->is_handling;

    if (atomic_load_explicit(&worker->network, memory_order_relaxed) == NULL)
        return false;
    mail = turn_round(atomic_exchange_explicit(&worker->network, NULL, memory_order_acquire));
    worker->is_handling = true;
    for (remote_mail_t *next; mail != NULL; mail = next) {
        bool is_letter = mail->kind != REMOTE_PIECE && mail->kind != REMOTE_ERRAND;
        bool is_given = mail->kind == REMOTE_GAVE;
        int from = is_letter && !is_given ? ((remote_letter_t *)(void *)mail)->from : 0;

        next = mail->next;
        mpi_remote_handle(worker, mail);
        if (is_letter)
            count_handled(from);
    }
    worker->is_handling = was_handling;
    return true;
}

void mpi_network_read(mpi_worker_t *worker)
{
    read_mail(worker);
}

/* Fetch what has come; `worker` handles what is for it. */
static bool fetch(mpi_worker_t *worker)
{
    bool has_come;

    fetcher = worker;
    has_come = poll_all();
    fetcher = NULL;
    if (has_come)
        read_mail(worker);
    return has_come;
}

void mpi_network_look(mpi_worker_t *worker)
{
    if (worker->is_handling)
        (void)poll_all(); /* others may send more; what has come waits */
    else if (!fetch(worker))
        read_mail(worker); /* another thread may have fetched it */
}

/* Look into the mailboxes of workers whose ranks compute, as their helper: a communication core, or
 * (-1) the thread. */
static void look_for_others(int core)
{
    mpi_trace_t *trace = core >= 0 ? mpi_job->worker[core].trace : NULL;

    for (int w = 0; w < mpi_job->workers - mpi_job->comm_workers; w++) {
        mpi_worker_t *worker = &mpi_job->worker[w];

        if ((core < 0 || mpi_offload_server(w) == core) &&
            atomic_load_explicit(&worker->network, memory_order_relaxed) != NULL &&
            atomic_load_explicit(&worker->gate.is_inside, memory_order_relaxed) == 0) {
            mpi_trace_state_t before = mpi_trace_begin(trace, "network");

            mpi_gate_try(worker, mpi_network_read);
            mpi_trace_end(trace, before);
        }
    }
}

static bool is_helper(const mpi_worker_t *worker)
{
    return mpi_job->offloads && worker->index >= mpi_job->workers - mpi_job->comm_workers;
}

bool mpi_network_help(mpi_worker_t *worker)
{
    bool found = read_mail(worker);

    if (mpi_dispatch.far.more != NULL)
        found |= mpi_dispatch.far.more(worker);
    if (is_helper(worker))
        look_for_others(worker->index);
    note(&network.looks);
    if (!found)
        found = fetch(worker);
    if (!found && xy_worker_is_last_look(worker->base)) {
        for (int i = 0; i < DRIVERS; i++)
            xy_watcher_call(&network.drivers[i].rest); /* the thread takes over */
        if (mpi_job->processes > 1)
            mpi_quiet_call();
    }
    return found;
}

/* Have workers driven the network since the last look? One that sends will soon look, or else some
 * looks later the thread does. */
static bool is_driven(driver_t *driver)
{
    unsigned looks = atomic_load_explicit(&network.looks, memory_order_relaxed);
    unsigned sends = atomic_load_explicit(&network.sends, memory_order_relaxed);
    bool has_looked = looks != driver->looks, has_sent = sends != driver->sends;

    driver->looks = looks;
    driver->sends = sends;
    driver->sent = has_looked || !has_sent ? 0 : driver->sent + 1;
    return has_looked || (has_sent && driver->sent < SENT_LOOKS);
}

/* Thread: drive a network while no worker does, until the job ends. */
static void *drive(void *arg)
{
    driver_t *driver = arg;
    bool is_called = false;

    is_driver = true;
    while (!atomic_load_explicit(&network.is_ending, memory_order_acquire)) {
        if (!mpi_job->offloads)
            look_for_others(-1);
        if (is_driven(driver) && !is_called) {
            is_called = xy_watcher_wait(&driver->rest, LOOK_SECONDS);
            continue;
        }
        is_called = false;
        while (xy_net_poll(driver->net))
            if (!mpi_job->offloads)
                look_for_others(-1);
        if (mpi_survives)
            mpi_survive_settle();
        if (xy_net_is_polled(driver->net)) { /* it wants the processor that this one has */
            xy_watcher_sleep(LOOK_SECONDS);
            continue;
        }
        if (!driver->is_hub)
            mpi_quiet_look();
        xy_net_sleep(driver->net, driver->is_hub ? SLEEP_SECONDS : mpi_quiet_pause(SLEEP_SECONDS));
    }
    return NULL;
}

/* Signals are for the ranks. */
static int start_thread(const mpi_job_t *job, driver_t *driver)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    cpu_set_t cpu;
    int code = pthread_attr_init(&attributes);

    if (code != 0)
        return code;
    CPU_ZERO(&cpu);
    if (job->network_cpu != NULL) {
        CPU_SET((size_t)*job->network_cpu, &cpu);
        code = pthread_attr_setaffinity_np(&attributes, sizeof(cpu), &cpu);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (code == 0)
        code = !driver->is_hub ? pthread_create(&driver->thread, &attributes, drive, driver)
                               : mpi_caller_create_thread(&driver->thread, drive, driver);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (code == 0)
        pthread_setname_np(driver->thread, "xylem-net"); /* for tools that show threads */
    return code;
}

xy_status_t mpi_network_begin(mpi_job_t *job, xy_net_t *net, bool is_hub)
{
    driver_t *driver = &network.drivers[is_hub ? HUB : OWN];
    int code;

    atomic_store(&network.is_ending, false);
    driver->net = net;
    driver->is_hub = is_hub;
    xy_net_listen(net, &events, driver);
    if (is_hub)
        job->hub = net;
    if (job->net == NULL)
        job->net = net;
    if (!is_hub)
        xy_pool_outside_add(job->pool, 1); /* messages from there may wake any rank */
    code = start_thread(job, driver);
    driver->is_running = code == 0;
    if (code == 0)
        return XY_OK;
    if (is_hub)
        job->hub = NULL;
    if (job->net == net)
        job->net = NULL;
    return xy_fail_errno(code, "a thread for the network", "start");
}

void mpi_network_end(void)
{
    if (!network.drivers[OWN].is_running && !network.drivers[HUB].is_running)
        return;
    mpi_remote_take_left();
    atomic_store_explicit(&network.is_ending, true, memory_order_release);
    for (int i = 0; i < DRIVERS; i++)
        if (network.drivers[i].is_running) {
            xy_net_wake(network.drivers[i].net);
            pthread_join(network.drivers[i].thread, NULL);
            network.drivers[i].is_running = false;
        }
    mpi_link_end();
}
