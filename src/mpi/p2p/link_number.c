/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of links: process 0 knows how many processes use each. A number that nobody uses any more
 * is given again after all others.
 */
#include "mpi/p2p/link_number.h"

#include <pthread.h>
#include <string.h>

#include "mpi/p2p/peer_link.h"

typedef enum { TAKE, GIVE, DROP } what_t;

/* A message about link numbers. */
typedef struct {
    uint64_t job;
    uint32_t what;
    int32_t number;
} word_t;

static struct {
    pthread_mutex_t lock;
    uint64_t job[XMPI_LINKS + 1]; /* by number */
    int uses[XMPI_LINKS + 1];     /* processes */
    int last;                     /* that was given */
} numbers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The number of the link to a job, or a free one for it; 0 if all are in use. Called under the
 * lock. */
static int number_of(uint64_t job)
{
    for (int n = 1; n <= XMPI_LINKS; n++)
        if (numbers.uses[n] > 0 && numbers.job[n] == job)
            return n;
    for (int tries = 0; tries < XMPI_LINKS; tries++) {
        int n = 1 + (numbers.last + tries) % XMPI_LINKS;

        if (numbers.uses[n] == 0) {
            numbers.last = n;
            numbers.job[n] = job;
            return n;
        }
    }
    return 0;
}

static int take(uint64_t job)
{
    int n;

    pthread_mutex_lock(&numbers.lock);
    n = number_of(job);
    if (n > 0)
        numbers.uses[n]++;
    pthread_mutex_unlock(&numbers.lock);
    return n;
}

static void drop(int n)
{
    pthread_mutex_lock(&numbers.lock);
    if (n > 0 && n <= XMPI_LINKS && numbers.uses[n] > 0)
        numbers.uses[n]--;
    pthread_mutex_unlock(&numbers.lock);
}

void link_number_take(uint64_t job)
{
    word_t word = {.job = job, .what = TAKE};

    if (mpi_job->process == 0)
        link_number_came(job, take(job));
    else
        mpi_network_send_link(0, &word, sizeof(word));
}

void link_number_drop(int number)
{
    word_t word = {.what = DROP, .number = number};

    if (mpi_job->process == 0)
        drop(number);
    else
        mpi_network_send_link(0, &word, sizeof(word));
}

void mpi_link_message(int from, const void *data, size_t size)
{
    word_t word;

    if (size < sizeof(word))
        return;
    memcpy(&word, data, sizeof(word));
    if (word.what == TAKE) {
        word.what = GIVE;
        word.number = take(word.job);
        mpi_network_send_link(from, &word, sizeof(word));
    } else if (word.what == DROP) {
        drop(word.number);
    } else if (word.number >= 0 && word.number <= XMPI_LINKS) {
        link_number_came(word.job, word.number);
    }
}

void link_number_reset(void)
{
    memset(numbers.job, 0, sizeof(numbers.job));
    memset(numbers.uses, 0, sizeof(numbers.uses));
    numbers.last = 0;
}
