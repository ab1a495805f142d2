/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/peer_link.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "mpi/p2p/link_number.h"
#include "mpi/p2p/p2p.h"
#include "xylem.h"

enum { BLOCK = XMPI_CONTEXT_FOREIGN / XMPI_LINKS, MOST_NUMBER = 1 << 20, WHERE_TEXT = 80 };
#define CONNECT_SECONDS 20.0
#define AWAIT_SECONDS   30.0 /* longer: who connects knows best why it does not */
#define FIRST_PAUSE     20e-6
#define LONGEST_PAUSE   2e-3

/* The first message of both sides. */
typedef struct {
    char version[32];
    uint64_t job;
    int32_t process;  /* there */
    uint32_t refuses; /* the other one: it has too many links */
    uint32_t head;    /* bytes of remote_head_t */
    uint32_t word;    /* bytes of long, and the order of those of this one */
    char where[WHERE_TEXT];
} hello_t;

/* GREETED: who it is is known, and not the number of its link. */
typedef enum { PEER_FREE, PEER_GREETING, PEER_GREETED, PEER_READY, PEER_REFUSED } state_t;

/* A process of another job. */
typedef struct {
    state_t state;
    uint64_t job;
    int there;          /* its number in its job */
    _Atomic int link;   /* 0: none, yet */
    bool has_connected; /* this side did */
    bool has_left;
    bool owes_answer;       /* a hello, from this side */
    bool is_full;           /* REFUSED: one of the two jobs has too many links */
    char where[WHERE_TEXT]; /* "process 17 on host" */
} peer_t;

/* Another job. */
typedef struct {
    bool is_there;
    uint64_t job;
    int peers, left;   /* connections to it, and those of them that are complete */
    int holds;         /* communicators with contexts of it, */
    int uses;          /* and those of them that have ranks of the other job */
    uint32_t contexts; /* that this process has taken */
    int *rank_of;      /* [ranks]: by number there; 0: none, yet */
    int ranks;
} link_t;

static struct {
    pthread_mutex_t lock;
    pthread_mutex_t connecting; /* one at a time: two to the same process make one connection */
    bool is_open;
    char *card;
    char secret[2 * XY_SECRET_BYTES + 1];
    peer_t peers[XMPI_PEERS + 1]; /* by number in the hub */
    link_t all[XMPI_LINKS + 1];   /* by number */
    int number_of[XMPI_FOREIGN];  /* there; by rank here, less capacity */
    int next;                     /* where a free one is looked for */
} links = {.lock = PTHREAD_MUTEX_INITIALIZER, .connecting = PTHREAD_MUTEX_INITIALIZER};

static peer_t *peer_of(int process)
{
    return &links.peers[mpi_network_number(process)];
}

static bool has_ended(const link_t *link)
{
    return link->left == link->peers;
}

/* ---- Beginning ---- */

static uint32_t word_of(void)
{
    const uint32_t order = 0x01020304;
    unsigned char first;

    memcpy(&first, &order, 1);
    return (uint32_t)sizeof(long) << 8 | first;
}

/* The greeting that this process sends to a process of another job. */
static hello_t hello_own(bool refuses)
{
    hello_t hello = {.version = XYLEM_VERSION,
                     .job = mpi_job->id,
                     .process = mpi_job->process,
                     .refuses = refuses,
                     .head = (uint32_t)sizeof(remote_head_t),
                     .word = word_of()};
    char host[48] = "";

    gethostname(host, sizeof(host) - 1);
    snprintf(hello.where, sizeof(hello.where), "process %ld on %s", (long)getpid(), host);
    return hello;
}

/* Open the hub for connections with other jobs, with a secret of its own. */
static xy_status_t open_hub(void)
{
    uint8_t secret[XY_SECRET_BYTES];
    xy_net_t *net = NULL;
    xy_status_t st = xy_secret_make(secret);

    if (st == XY_OK)
        st = xy_net_hub_open(XMPI_PEERS, secret, &net);
    if (st != XY_OK)
        return st;
    links.card = xy_net_hub_card(net);
    xy_secret_write(secret, links.secret);
    if (links.card == NULL) {
        xy_net_close(net);
        return xy_fail_memory("listening for other jobs");
    }
    st = mpi_network_begin(mpi_job, net, true);
    if (st != XY_OK) {
        xy_net_close(net);
        return st;
    }
    mpi_job->reach = mpi_job->processes + XMPI_PEERS;
    mpi_job->is_apart = true;
    links.is_open = true;
    return XY_OK;
}

xy_status_t mpi_link_open(void)
{
    xy_status_t st = XY_OK;

    if (mpi_job->numbers == mpi_job->capacity || mpi_job->processes > XMPI_LINK_PROCESSES)
        return XY_EUNSUPPORTED;
    pthread_mutex_lock(&links.lock);
    if (!links.is_open)
        st = open_hub();
    pthread_mutex_unlock(&links.lock);
    return st;
}

const char *mpi_link_card(void)
{
    return links.is_open ? links.card : NULL;
}

const char *mpi_link_secret(void)
{
    return links.secret;
}

/* ---- The other processes ---- */

/* Work for after the lock is released. */
typedef struct {
    int parts[XMPI_PEERS]; /* nothing is expected from there any more */
    int count;
    int dropped; /* a link; 0: none */
} after_t;

static void free_peer(int number, after_t *after)
{
    links.peers[number] = (peer_t){.state = PEER_FREE};
    after->parts[after->count++] = number;
}

/* A job that has ended and that nobody has a communicator with: its numbers may be used again. With
 * the lock. */
static void forget(int number, after_t *after)
{
    link_t *link = &links.all[number];

    for (int i = 0; i < link->ranks; i++)
        if (link->rank_of[i] > 0)
            mpi_job->foreign_of[link->rank_of[i]] = 0;
    xy_free(link->rank_of);
    *link = (link_t){.is_there = false};
    for (int p = 1; p <= XMPI_PEERS; p++)
        if (links.peers[p].link == number)
            free_peer(p, after);
    after->dropped = number;
}

static void finish(const after_t *after)
{
    for (int i = 0; i < after->count && mpi_job->hub != NULL; i++)
        xy_net_hub_part(mpi_job->hub, after->parts[i]);
    if (after->dropped > 0 && links.is_open)
        link_number_drop(after->dropped);
}

/* Answer processes that have connected, once this one knows them. */
static void answer_hellos(void)
{
    for (int p = 1; p <= XMPI_PEERS; p++) {
        bool owes, refuses;
        hello_t hello;

        pthread_mutex_lock(&links.lock);
        owes = links.peers[p].owes_answer;
        refuses = links.peers[p].is_full;
        links.peers[p].owes_answer = false;
        pthread_mutex_unlock(&links.lock);
        if (!owes)
            continue;
        hello = hello_own(refuses);
        mpi_network_send_hello(mpi_job->processes - 1 + p, &hello, sizeof(hello));
    }
}

/* With the lock. */
static void attach(peer_t *peer, int number)
{
    atomic_store_explicit(&peer->link, number, memory_order_release);
    peer->state = PEER_READY;
    peer->owes_answer = !peer->has_connected;
    links.all[number].peers++;
    links.all[number].left += peer->has_left;
}

/* With the lock; 0: there is none. */
static int link_to_job(uint64_t job)
{
    int n = XMPI_LINKS;

    while (n > 0 && (!links.all[n].is_there || links.all[n].job != job))
        n--;
    return n;
}

void link_number_came(uint64_t job, int number)
{
    link_t *link = &links.all[number];
    after_t after = {.count = 0};

    pthread_mutex_lock(&links.lock);
    if (number > 0 && link->is_there)
        after.dropped = number; /* it was asked for twice */
    else if (number > 0)
        *link = (link_t){.is_there = true, .job = job};
    for (int p = 1; p <= XMPI_PEERS; p++) {
        peer_t *peer = &links.peers[p];

        if (peer->state != PEER_GREETED || peer->job != job)
            continue;
        if (number > 0) {
            attach(peer, number);
            continue;
        }
        peer->state = PEER_REFUSED;
        peer->is_full = true;
        peer->owes_answer = !peer->has_connected;
    }
    if (number > 0 && has_ended(link) && link->holds == 0)
        forget(number, &after);
    pthread_mutex_unlock(&links.lock);
    answer_hellos();
    finish(&after);
}

/* With the lock. True: the number of its link is to be asked for. */
static bool greet(peer_t *peer, const hello_t *hello, bool is_same)
{
    int number = link_to_job(hello->job);

    peer->job = hello->job;
    peer->there = hello->process;
    peer->has_left = false;
    memcpy(peer->where, hello->where, sizeof(peer->where));
    peer->is_full = hello->refuses != 0;
    if (!is_same || peer->is_full) {
        peer->state = PEER_REFUSED;
        peer->owes_answer = !peer->has_connected;
        return false;
    }
    peer->state = PEER_GREETED;
    if (number > 0)
        attach(peer, number);
    return number == 0;
}

void mpi_link_hello(int process, const void *data, size_t size)
{
    hello_t own = hello_own(false), hello = {.job = 0};
    peer_t *peer = peer_of(process);
    bool is_same, asks;

    if (size >= sizeof(hello))
        memcpy(&hello, data, sizeof(hello));
    hello.where[sizeof(hello.where) - 1] = '\0';
    is_same = memcmp(hello.version, own.version, sizeof(own.version)) == 0 &&
              hello.head == own.head && hello.word == own.word && hello.job != own.job;
    pthread_mutex_lock(&links.lock);
    asks = peer->link == 0 && greet(peer, &hello, is_same);
    pthread_mutex_unlock(&links.lock);
    if (asks)
        link_number_take(hello.job);
    else
        answer_hellos();
}

static peer_t state_of(int number)
{
    peer_t peer;

    pthread_mutex_lock(&links.lock);
    peer = links.peers[number];
    pthread_mutex_unlock(&links.lock);
    return peer;
}

/* The other side says who it is. */
static bool await_hello(int number, uint64_t id, int there, char why[XY_WHY_SIZE])
{
    double pause = FIRST_PAUSE, end = xy_now() + CONNECT_SECONDS;
    peer_t peer;

    for (;;) {
        peer = state_of(number);
        if (peer.state > PEER_GREETED || peer.has_left || xy_now() >= end)
            break;
        xy_fiber_sleep(pause);
        pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
    }
    if (peer.state == PEER_READY && peer.job == id && peer.there == there)
        return true;
    if (peer.state == PEER_READY)
        snprintf(why, XY_WHY_SIZE, "another job listens there");
    else if (peer.is_full)
        snprintf(why, XY_WHY_SIZE, "one of the two jobs is connected to %d others already",
                 XMPI_LINKS);
    else if (peer.state == PEER_REFUSED)
        snprintf(why, XY_WHY_SIZE,
                 "it runs with another version of Xylem, or on another kind of processor");
    else
        snprintf(why, XY_WHY_SIZE, "it does not answer");
    return false;
}

/* Connect to a process of another job and exchange greetings; returns its number, or -1 and the
 * reason in `why`. */
static int connect_new(uint64_t id, int there, const char *card,
                       const uint8_t secret[XY_SECRET_BYTES], char why[XY_WHY_SIZE])
{
    hello_t hello = hello_own(false);
    int number = xy_net_hub_connect(mpi_job->hub, card, secret, xy_now() + CONNECT_SECONDS, why);
    after_t after = {.count = 0};
    peer_t *peer;

    if (number < 0)
        return -1;
    peer = &links.peers[number];
    pthread_mutex_lock(&links.lock);
    if (peer->state == PEER_FREE)
        peer->state = PEER_GREETING;
    peer->has_connected = true;
    pthread_mutex_unlock(&links.lock);
    mpi_network_send_hello(mpi_job->processes - 1 + number, &hello, sizeof(hello));
    if (await_hello(number, id, there, why))
        return mpi_job->processes - 1 + number;
    pthread_mutex_lock(&links.lock);
    if (peer->link == 0)
        free_peer(number, &after);
    pthread_mutex_unlock(&links.lock);
    finish(&after);
    return -1;
}

/* One at a time; others of this worker run meanwhile. */
static void begin_connecting(void)
{
    double pause = FIRST_PAUSE;

    while (pthread_mutex_trylock(&links.connecting) != 0) {
        xy_fiber_sleep(pause);
        pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
    }
}

int mpi_link_connect(uint64_t id, int there, const char *card, const char *text,
                     char why[XY_WHY_SIZE])
{
    uint8_t secret[XY_SECRET_BYTES];
    int process;

    if (!xy_secret_read(text, secret)) {
        snprintf(why, XY_WHY_SIZE, "its name has no secret");
        return -1;
    }
    if (mpi_link_open() != XY_OK) {
        snprintf(why, XY_WHY_SIZE, "this job cannot be connected to others");
        return -1;
    }
    begin_connecting();
    process = mpi_link_find(id, there);
    if (process < 0)
        process = connect_new(id, there, card, secret, why);
    pthread_mutex_unlock(&links.connecting);
    return process;
}

int mpi_link_await(uint64_t id, int there, char why[XY_WHY_SIZE])
{
    double pause = FIRST_PAUSE, end = xy_now() + AWAIT_SECONDS;
    int process;

    while ((process = mpi_link_find(id, there)) < 0 && xy_now() < end) {
        xy_fiber_sleep(pause);
        pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
    }
    if (process < 0)
        snprintf(why, XY_WHY_SIZE, "it has not connected to this process in %.0f s", AWAIT_SECONDS);
    return process;
}

/* With the lock; 0: there is none. */
static int find_peer(uint64_t id, int there)
{
    int p = XMPI_PEERS;

    while (p > 0 && (links.peers[p].state != PEER_READY || links.peers[p].job != id ||
                     links.peers[p].there != there || links.peers[p].has_left))
        p--;
    return p;
}

int mpi_link_find(uint64_t id, int there)
{
    int found;

    pthread_mutex_lock(&links.lock);
    found = find_peer(id, there);
    pthread_mutex_unlock(&links.lock);
    return found > 0 ? mpi_job->processes - 1 + found : -1;
}

int mpi_link_to(int process)
{
    return atomic_load_explicit(&peer_of(process)->link, memory_order_acquire);
}

bool mpi_link_is_high(int link)
{
    return mpi_job->id > links.all[link].job;
}

/* ---- Ranks ---- */

/* A number here for one that has none yet; with the lock. */
static int give_number(int process, int number)
{
    for (int tries = 0; tries < XMPI_FOREIGN; tries++) {
        int place = (links.next + tries) % XMPI_FOREIGN, rank = mpi_job->capacity + place;

        if (mpi_job->foreign_of[rank] != 0)
            continue;
        links.next = place + 1;
        links.number_of[place] = number;
        mpi_job->foreign_of[rank] = process;
        mpi_job->home[rank] = mpi_job->workers + process;
        mpi_job->ranks[rank].world = rank;
        if (atomic_load(&mpi_job->foreign) <= rank)
            atomic_store_explicit(&mpi_job->foreign, rank + 1, memory_order_release);
        return rank;
    }
    return -1;
}

/* With the lock. */
static bool has_room(link_t *link, int number)
{
    int ranks = link->ranks > 0 ? link->ranks : 64, *grown;

    if (number < 0 || number >= MOST_NUMBER)
        return false;
    while (ranks <= number)
        ranks *= 2;
    if (ranks == link->ranks)
        return true;
    grown = xy_realloc_array(link->rank_of, (size_t)ranks, sizeof(int));
    if (grown == NULL)
        return false;
    memset(grown + link->ranks, 0, (size_t)(ranks - link->ranks) * sizeof(int));
    link->rank_of = grown;
    link->ranks = ranks;
    return true;
}

int mpi_link_rank(int process, int number)
{
    link_t *link = &links.all[mpi_link_to(process)];
    int rank = -1;

    pthread_mutex_lock(&links.lock);
    if (link->is_there && has_room(link, number)) {
        rank = link->rank_of[number];
        if (rank == 0)
            rank = give_number(process, number);
        if (rank > 0)
            link->rank_of[number] = rank;
    }
    pthread_mutex_unlock(&links.lock);
    return rank;
}

mpi_rank_name_t mpi_rank_name(int rank)
{
    const peer_t *peer;

    if (!mpi_rank_is_foreign(mpi_job, rank))
        return (mpi_rank_name_t){.job = mpi_job->id,
                                 .rank = rank,
                                 .process =
                                     mpi_job->process_of != NULL ? mpi_job->process_of[rank] : 0};
    peer = peer_of(mpi_job->process_of[rank]);
    return (mpi_rank_name_t){.job = peer->job,
                             .rank = links.number_of[rank - mpi_job->capacity],
                             .process = peer->there};
}

int mpi_rank_named(const mpi_rank_name_t *name)
{
    int process;

    if (name->job == mpi_job->id)
        return name->rank >= 0 && name->rank < mpi_job->size ? name->rank : -1;
    process = mpi_link_find(name->job, name->process);
    return process < 0 ? -1 : mpi_link_rank(process, name->rank);
}

int mpi_link_of(const mpi_group_t *group)
{
    int link = 0;

    if (mpi_job->reach == mpi_job->processes)
        return 0;
    for (int i = 0; i < group->size; i++) {
        int rank = group->ranks != NULL ? group->ranks[i] : i, other;

        if (!mpi_rank_is_foreign(mpi_job, rank))
            continue;
        other = mpi_link_to(mpi_job->process_of[rank]);
        if (other != link && link != 0)
            return -1;
        link = other;
    }
    return link;
}

/* ---- Contexts ---- */

/* A new context from the half of this job, which is the lower one where its number is: a part for
 * each process. */
uint32_t mpi_link_context_new(int number, int count)
{
    link_t *link = &links.all[number];
    uint32_t share = BLOCK / 2 / (uint32_t)mpi_job->processes, first;

    if (number <= 0)
        return atomic_fetch_add_explicit(&mpi_job->next_context, (uint32_t)count,
                                         memory_order_relaxed);
    pthread_mutex_lock(&links.lock);
    if (link->contexts + (uint32_t)count > share)
        link->contexts = 0; /* the first are complete: there were so many since */
    first = link->contexts;
    link->contexts += (uint32_t)count;
    pthread_mutex_unlock(&links.lock);
    return XMPI_CONTEXT_FOREIGN + (mpi_link_is_high(number) ? BLOCK / 2 : 0) +
           (uint32_t)mpi_job->process * share + first;
}

uint32_t mpi_link_context(int link, uint32_t wire)
{
    return link <= 0 ? wire : wire + (uint32_t)(link - 1) * BLOCK;
}

void mpi_link_head_out(int process, remote_head_t *head)
{
    head->to = links.number_of[head->to - mpi_job->capacity];
    if ((head->kind == REMOTE_EAGER || head->kind == REMOTE_RTS) &&
        (head->context & ~XMPI_CONTEXT_BITS) >= XMPI_CONTEXT_FOREIGN)
        head->context -= (uint32_t)(mpi_link_to(process) - 1) * BLOCK;
}

bool mpi_link_head_in(int process, remote_head_t *head)
{
    int link = mpi_link_to(process);

    if (head->to < 0 || head->to >= mpi_job->size || mpi_job->ranks[head->to].worker == NULL ||
        head->kind >= REMOTE_PIECE || head->kind == REMOTE_ONE_SIDED || link == 0)
        return false;
    if (head->kind != REMOTE_EAGER && head->kind != REMOTE_RTS && head->kind != REMOTE_CANCEL)
        return true;
    head->owner = mpi_link_rank(process, head->owner);
    if (head->kind != REMOTE_CANCEL && (head->context & ~XMPI_CONTEXT_BITS) >= XMPI_CONTEXT_FOREIGN)
        head->context += (uint32_t)(link - 1) * BLOCK;
    return head->owner >= 0;
}

/* ---- Use, and the end ---- */

void mpi_link_expect(int change)
{
    xy_pool_outside_add(mpi_job->pool, change);
}

int mpi_link_of_context(uint32_t context)
{
    uint32_t place = context - XMPI_CONTEXT_FOREIGN;

    return mpi_job->numbers == mpi_job->capacity || context < XMPI_CONTEXT_FOREIGN
               ? 0
               : 1 + (int)(place / BLOCK);
}

void mpi_link_hold(int number, bool is_used)
{
    link_t *link = &links.all[number];

    pthread_mutex_lock(&links.lock);
    link->holds++;
    link->uses += is_used;
    if (is_used && !has_ended(link))
        mpi_link_expect(1);
    pthread_mutex_unlock(&links.lock);
}

void mpi_link_release(int number, bool is_used)
{
    link_t *link = &links.all[number];
    after_t after = {.count = 0};

    if (!links.is_open) /* the job has ended */
        return;
    pthread_mutex_lock(&links.lock);
    link->holds--;
    link->uses -= is_used;
    if (is_used && !has_ended(link))
        mpi_link_expect(-1);
    if (has_ended(link) && link->holds == 0)
        forget(number, &after);
    pthread_mutex_unlock(&links.lock);
    finish(&after);
}

/* With the lock: how many communicators cannot be used any more. */
static int lose(int number, after_t *after)
{
    peer_t *peer = &links.peers[number];
    link_t *link = &links.all[peer->link];
    int uses;

    if (peer->has_left)
        return 0;
    peer->has_left = true;
    if (peer->link == 0) {
        if (!peer->has_connected) /* or who does sees it */
            free_peer(number, after);
        return 0;
    }
    uses = link->uses;
    link->left++;
    if (has_ended(link))
        mpi_link_expect(-uses);
    if (has_ended(link) && link->holds == 0)
        forget(peer->link, after);
    return uses;
}

/* A job that ends in order was not needed any more, or its ranks are waited for in vain: workers
 * look whether any of their ranks can move. */
void mpi_link_lost(int process, const char *why)
{
    after_t after = {.count = 0};
    char where[WHERE_TEXT];
    bool is_used;
    int code = -1;

    /* This may take a while. Until the link is lost, its ranks are not taken to wait in vain. */
    if (why != NULL && links.is_open && mpi_dispatch.far.spawned_code != NULL)
        code = mpi_dispatch.far.spawned_code();
    pthread_mutex_lock(&links.lock);
    memcpy(where, peer_of(process)->where, sizeof(where));
    is_used = lose(mpi_network_number(process), &after) > 0;
    pthread_mutex_unlock(&links.lock);
    if (is_used && why != NULL && links.is_open) {
        if (code <= 0)
            xy_fail(XY_EIO,
                    "the job that this one is connected to (%s) has ended without "
                    "MPI_Comm_disconnect or MPI_Finalize: %s",
                    where, why);
        mpi_job->abort(code > 0 ? code : 1);
    }
    finish(&after);
    for (int w = 0; is_used && w < mpi_job->workers; w++)
        xy_worker_notify(mpi_job->worker[w].base);
}

void mpi_link_end(void)
{
    link_number_reset();
    if (!links.is_open)
        return;
    links.is_open = false;
    xy_net_close(mpi_job->hub);
    if (mpi_job->net == mpi_job->hub)
        mpi_job->net = NULL;
    mpi_job->hub = NULL;
    for (int n = 0; n <= XMPI_LINKS; n++)
        xy_free(links.all[n].rank_of);
    memset(links.all, 0, sizeof(links.all));
    memset((void *)links.peers, 0, sizeof(links.peers));
    xy_free(links.card);
    links.card = NULL;
    links.next = 0;
}
