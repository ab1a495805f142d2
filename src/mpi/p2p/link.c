/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/link.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "mpi/p2p/p2p.h"
#include "xylem.h"

enum { BLOCK = XMPI_CONTEXT_FOREIGN / XMPI_LINKS, MOST_NUMBER = 1 << 20, WHERE_TEXT = 80 };
#define CONNECT_SECONDS 20.0
#define FIRST_PAUSE     20e-6
#define LONGEST_PAUSE   2e-3

/* What both say first. */
typedef struct {
    char version[32];
    uint64_t job;
    uint32_t head; /* bytes of remote_head_t */
    uint32_t word; /* bytes of long, and the order of those of this one */
    char where[WHERE_TEXT];
} hello_t;

typedef enum { LINK_FREE, LINK_GREETING, LINK_READY, LINK_REFUSED } state_t;

typedef struct {
    state_t state;
    uint64_t job;
    bool has_connected; /* this side did */
    bool has_left;
    int holds;         /* communicators with contexts of it, */
    int uses;          /* and those of them that have ranks of the other job */
    uint32_t contexts; /* that this side has taken */
    int *rank_of;      /* [ranks_of]: by number there; 0: none, yet */
    int ranks;
    char where[WHERE_TEXT]; /* "process 17 on host" */
} link_t;

static struct {
    pthread_mutex_t lock;
    pthread_mutex_t connecting; /* one at a time: two for the same job make one link */
    bool is_open;
    char *card;
    char secret[2 * XY_SECRET_BYTES + 1];
    link_t all[XMPI_LINKS + 1];  /* by process */
    int number_of[XMPI_FOREIGN]; /* there; by rank here, less capacity */
    int next;                    /* where a free one is looked for */
} links = {.lock = PTHREAD_MUTEX_INITIALIZER, .connecting = PTHREAD_MUTEX_INITIALIZER};

/* ---- Beginning ---- */

static uint32_t word_of(void)
{
    const uint32_t order = 0x01020304;
    unsigned char first;

    memcpy(&first, &order, 1);
    return (uint32_t)sizeof(long) << 8 | first;
}

static hello_t hello_own(void)
{
    hello_t hello = {.version = XYLEM_VERSION,
                     .job = mpi_job->id,
                     .head = (uint32_t)sizeof(remote_head_t),
                     .word = word_of()};
    char host[48] = "";

    gethostname(host, sizeof(host) - 1);
    snprintf(hello.where, sizeof(hello.where), "process %ld on %s", (long)getpid(), host);
    return hello;
}

static xy_status_t open_hub(void)
{
    uint8_t secret[XY_SECRET_BYTES];
    xy_net_t *net = NULL;
    xy_status_t st = xy_secret_make(secret);

    if (st == XY_OK)
        st = xy_net_hub_open(XMPI_LINKS, secret, &net);
    if (st != XY_OK)
        return st;
    links.card = xy_net_hub_card(net);
    xy_secret_write(secret, links.secret);
    if (links.card == NULL) {
        xy_net_close(net);
        return xy_fail_memory("listening for other jobs");
    }
    st = mpi_network_begin(mpi_job, net);
    if (st != XY_OK) {
        mpi_job->net = NULL;
        xy_net_close(net);
        return st;
    }
    mpi_job->reach = mpi_job->processes + XMPI_LINKS;
    mpi_job->is_apart = true;
    links.is_open = true;
    return XY_OK;
}

xy_status_t mpi_link_open(void)
{
    xy_status_t st = XY_OK;

    if (mpi_job->numbers == mpi_job->capacity)
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

/* Its ranks, and its number, may be used again. With the lock. */
static void forget(int process)
{
    link_t *link = &links.all[process];

    for (int i = 0; i < link->ranks; i++)
        if (link->rank_of[i] > 0)
            mpi_job->foreign_of[link->rank_of[i]] = 0;
    xy_free(link->rank_of);
    *link = (link_t){.state = LINK_FREE};
}

static state_t state_of(int process, bool *has_left_p)
{
    state_t state;

    pthread_mutex_lock(&links.lock);
    state = links.all[process].state;
    *has_left_p = links.all[process].has_left;
    pthread_mutex_unlock(&links.lock);
    return state;
}

/* The other side says who it is. */
static bool await_hello(int process, char why[XY_WHY_SIZE])
{
    double pause = FIRST_PAUSE, end = xy_now() + CONNECT_SECONDS;
    bool has_left;
    state_t state;

    while ((state = state_of(process, &has_left)) == LINK_GREETING && !has_left && xy_now() < end) {
        xy_fiber_sleep(pause);
        pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
    }
    if (state == LINK_READY)
        return true;
    if (state == LINK_REFUSED)
        snprintf(why, XY_WHY_SIZE,
                 "it runs with another version of Xylem, or on another kind of "
                 "processor");
    else
        snprintf(why, XY_WHY_SIZE, "it does not answer");
    return false;
}

static int connect_new(uint64_t id, const char *card, const uint8_t secret[XY_SECRET_BYTES],
                       char why[XY_WHY_SIZE])
{
    hello_t hello = hello_own();
    int process = xy_net_hub_connect(mpi_job->net, card, secret, xy_now() + CONNECT_SECONDS, why);
    link_t *link;

    if (process < 0)
        return -1;
    pthread_mutex_lock(&links.lock);
    link = &links.all[process];
    if (link->state == LINK_FREE) { /* or its greeting has come already */
        link->state = LINK_GREETING;
        link->has_left = false;
    }
    link->has_connected = true;
    pthread_mutex_unlock(&links.lock);
    mpi_network_send_hello(process, &hello, sizeof(hello));
    if (await_hello(process, why) && links.all[process].job == id)
        return process;
    if (links.all[process].state == LINK_READY)
        snprintf(why, XY_WHY_SIZE, "another job listens there");
    pthread_mutex_lock(&links.lock);
    forget(process);
    pthread_mutex_unlock(&links.lock);
    xy_net_hub_part(mpi_job->net, process);
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

int mpi_link_connect(uint64_t id, const char *card, const char *text, char why[XY_WHY_SIZE])
{
    uint8_t secret[XY_SECRET_BYTES];
    int process;

    if (!xy_secret_read(text, secret)) {
        snprintf(why, XY_WHY_SIZE, "its name has no secret");
        return -1;
    }
    if (mpi_link_open() != XY_OK) {
        snprintf(why, XY_WHY_SIZE, "this job has several processes");
        return -1;
    }
    begin_connecting();
    process = mpi_link_find(id);
    if (process < 0)
        process = connect_new(id, card, secret, why);
    pthread_mutex_unlock(&links.connecting);
    return process;
}

int mpi_link_find(uint64_t id)
{
    int found = -1;

    pthread_mutex_lock(&links.lock);
    for (int p = 1; p <= XMPI_LINKS; p++)
        if (links.all[p].state == LINK_READY && links.all[p].job == id && !links.all[p].has_left)
            found = p;
    pthread_mutex_unlock(&links.lock);
    return found;
}

void mpi_link_hello(int process, const void *data, size_t size)
{
    hello_t own = hello_own(), hello = {.job = 0};
    link_t *link = &links.all[process];
    bool answers, is_same;

    if (size >= sizeof(hello))
        memcpy(&hello, data, sizeof(hello));
    hello.where[sizeof(hello.where) - 1] = '\0';
    is_same = memcmp(hello.version, own.version, sizeof(own.version)) == 0 &&
              hello.head == own.head && hello.word == own.word;
    pthread_mutex_lock(&links.lock);
    answers = !link->has_connected;
    link->state = is_same ? LINK_READY : LINK_REFUSED;
    link->job = hello.job;
    link->has_left = false;
    memcpy(link->where, hello.where, sizeof(link->where));
    pthread_mutex_unlock(&links.lock);
    if (answers)
        mpi_network_send_hello(process, &own, sizeof(own));
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
    link_t *link = &links.all[process];
    int rank = -1;

    pthread_mutex_lock(&links.lock);
    if (has_room(link, number)) {
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
    if (!mpi_rank_is_foreign(mpi_job, rank))
        return (mpi_rank_name_t){.job = mpi_job->id, .rank = rank};
    return (mpi_rank_name_t){.job = links.all[mpi_job->process_of[rank]].job,
                             .rank = links.number_of[rank - mpi_job->capacity]};
}

int mpi_rank_named(const mpi_rank_name_t *name)
{
    int process;

    if (name->job == mpi_job->id)
        return name->rank >= 0 && name->rank < mpi_job->size ? name->rank : -1;
    process = mpi_link_find(name->job);
    return process < 0 ? -1 : mpi_link_rank(process, name->rank);
}

int mpi_link_of(const mpi_group_t *group)
{
    int link = 0;

    if (mpi_job->numbers == mpi_job->capacity || mpi_job->reach == mpi_job->processes)
        return 0;
    for (int i = 0; i < group->size; i++) {
        int process = mpi_job->process_of[group->ranks != NULL ? group->ranks[i] : i];

        if (process == mpi_job->process || process == link)
            continue;
        if (link != 0)
            return -1;
        link = process;
    }
    return link;
}

/* ---- Contexts ---- */

uint32_t mpi_link_context_new(int process, int count)
{
    link_t *link = &links.all[process];
    uint32_t first;

    if (process <= 0)
        return atomic_fetch_add_explicit(&mpi_job->next_context, (uint32_t)count,
                                         memory_order_relaxed);
    pthread_mutex_lock(&links.lock);
    if (link->contexts + (uint32_t)count > BLOCK / 2)
        link->contexts = 0; /* the first are over: there were a million since */
    first = link->contexts;
    link->contexts += (uint32_t)count;
    pthread_mutex_unlock(&links.lock);
    return XMPI_CONTEXT_FOREIGN + first + (link->has_connected ? 0 : BLOCK / 2);
}

uint32_t mpi_link_context(int process, uint32_t wire)
{
    return process <= 0 ? wire : wire + (uint32_t)(process - 1) * BLOCK;
}

void mpi_link_head_out(int process, remote_head_t *head)
{
    head->to = links.number_of[head->to - mpi_job->capacity];
    if ((head->kind == REMOTE_EAGER || head->kind == REMOTE_RTS) &&
        (head->context & ~XMPI_CONTEXT_BITS) >= XMPI_CONTEXT_FOREIGN)
        head->context -= (uint32_t)(process - 1) * BLOCK;
}

bool mpi_link_head_in(int process, remote_head_t *head)
{
    if (head->to < 0 || head->to >= mpi_job->size || mpi_job->ranks[head->to].worker == NULL ||
        head->kind == REMOTE_ONE_SIDED)
        return false;
    if (head->kind != REMOTE_EAGER && head->kind != REMOTE_RTS && head->kind != REMOTE_CANCEL)
        return true;
    head->owner = mpi_link_rank(process, head->owner);
    if (head->kind != REMOTE_CANCEL && (head->context & ~XMPI_CONTEXT_BITS) >= XMPI_CONTEXT_FOREIGN)
        head->context += (uint32_t)(process - 1) * BLOCK;
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

void mpi_link_hold(int process, bool is_used)
{
    link_t *link = &links.all[process];

    pthread_mutex_lock(&links.lock);
    link->holds++;
    link->uses += is_used;
    if (is_used && !link->has_left)
        mpi_link_expect(1);
    pthread_mutex_unlock(&links.lock);
}

void mpi_link_release(int process, bool is_used)
{
    link_t *link = &links.all[process];
    bool parts;

    if (!links.is_open) /* the job is over */
        return;
    pthread_mutex_lock(&links.lock);
    link->holds--;
    link->uses -= is_used;
    if (is_used && !link->has_left)
        mpi_link_expect(-1);
    parts = link->has_left && link->holds == 0;
    if (parts)
        forget(process);
    pthread_mutex_unlock(&links.lock);
    if (parts && mpi_job->net != NULL)
        xy_net_hub_part(mpi_job->net, process);
}

/* A job that ends in order was not needed any more, or its ranks are waited for in vain: workers
 * look whether any of their ranks can move. */
void mpi_link_lost(int process, const char *why)
{
    link_t *link = &links.all[process];
    char where[WHERE_TEXT];
    bool parts, is_used;

    pthread_mutex_lock(&links.lock);
    memcpy(where, link->where, sizeof(where));
    is_used = link->uses > 0;
    if (!link->has_left)
        mpi_link_expect(-link->uses);
    link->has_left = true;
    parts = link->holds == 0 && link->state != LINK_GREETING;
    if (parts)
        forget(process);
    pthread_mutex_unlock(&links.lock);
    if (is_used && why != NULL && links.is_open) {
        xy_fail(XY_EIO,
                "the job that this one is connected to (%s) is gone without MPI_Comm_disconnect or "
                "MPI_Finalize: %s",
                where, why);
        mpi_job->abort(1);
    }
    if (parts)
        xy_net_hub_part(mpi_job->net, process);
    for (int w = 0; is_used && w < mpi_job->workers; w++)
        xy_worker_notify(mpi_job->worker[w].base);
}

void mpi_link_end(void)
{
    if (!links.is_open)
        return;
    links.is_open = false;
    xy_net_close(mpi_job->net);
    mpi_job->net = NULL;
    for (int p = 0; p <= XMPI_LINKS; p++)
        xy_free(links.all[p].rank_of);
    memset(links.all, 0, sizeof(links.all));
    xy_free(links.card);
    links.card = NULL;
    links.next = 0;
}
