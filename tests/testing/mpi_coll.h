/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests: run a function as n ranks in several processes, forked by this one and connected
 * by sockets.
 *
 *   run_processes(&(processes_t){.processes = 2, .ranks = 5, .workers = 2}, body);
 */
#ifndef XY_TESTING_MPI_COLL_H
#define XY_TESTING_MPI_COLL_H

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/p2p/p2p.h"
#include "net/net.h"
#include "testing/mpi_p2p.h"

enum { PROCESSES_MOST = 8, PROCESSES_RANKS = 64, PROCESSES_CARD = 512, PROCESSES_SECONDS = 120 };

typedef struct {
    int processes, ranks;
    int workers;               /* of each process */
    int comm_workers;          /* besides */
    size_t eager;              /* 0: 16 KiB */
    const int *process_of;     /* [ranks]; NULL: in blocks */
    double latency, bandwidth; /* of messages, to choose algorithms by; 0: what tcp states */
    const char *net;           /* NULL: tcp */
} processes_t;

/* Memory that all processes share. */
typedef struct {
    _Atomic int here[2];
    char cards[PROCESSES_MOST][PROCESSES_CARD];
} processes_desk_t;

static processes_desk_t *processes_desk;
static int processes_own, processes_count;

static inline xy_status_t processes_exchange(void *arg, const char *card, char **cards)
{
    int *round = arg;

    snprintf(processes_desk->cards[processes_own], PROCESSES_CARD, "%s", card);
    for (int step = 0; step < 2; step++) {
        atomic_fetch_add(&processes_desk->here[step], 1);
        while (atomic_load(&processes_desk->here[step]) < (*round + 1) * processes_count)
            usleep(1000);
        for (int p = 0; step == 0 && p < processes_count; p++)
            cards[p] = strdup(processes_desk->cards[p]);
    }
    ++*round;
    return XY_OK;
}

static inline int processes_child(const processes_t *c, int own, void (*body)(int, int))
{
    static const uint8_t secret[XY_SECRET_BYTES] = {1, 2, 3};
    static const char *const hosts[PROCESSES_MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    int process_of[PROCESSES_RANKS], worker_of[PROCESSES_RANKS], round = 0, own_ranks = 0;
    xy_net_config_t n = {.process = own,
                         .processes = c->processes,
                         .transport = c->net != NULL ? c->net : "tcp",
                         .is_local = true,
                         .exchange = processes_exchange,
                         .exchange_arg = &round,
                         .seconds = PROCESSES_SECONDS,
                         .latency = c->latency,
                         .bandwidth = c->bandwidth};
    mpi_job_config_t j = {.layers = mpi_layers,
                          .size = c->ranks,
                          .workers = c->workers + c->comm_workers,
                          .comm_workers = c->comm_workers,
                          .settings = &ranks_settings,
                          .node = ranks_node,
                          .yield_on_start = true,
                          .worker_of = worker_of,
                          .process = own,
                          .processes = c->processes,
                          .process_of = process_of,
                          .hosts = hosts,
                          .stack_size = 256 << 10,
                          .eager_limit = c->eager > 0 ? c->eager : XMPI_EAGER_LIMIT,
                          .limits_between = c->eager > 0,
                          .spin_seconds = 20e-6,
                          .overflow = ranks_overflow,
                          .abort = ranks_abort,
                          .stuck = ranks_stuck};
    mpi_job_t *job;

    processes_own = own;
    processes_count = c->processes;
    memcpy(n.secret, secret, sizeof(secret));
    for (int r = 0; r < c->ranks; r++) {
        process_of[r] = c->process_of ? c->process_of[r] : r * c->processes / c->ranks;
        worker_of[r] = process_of[r] == own ? own_ranks++ % c->workers : -1;
    }
    ranks_body = body;
    if (xy_net_open(&n, &j.net) != XY_OK || mpi_job_create(&j, &job) != XY_OK)
        return 1;
    for (int r = 0; r < c->ranks; r++)
        if (process_of[r] == own && mpi_rank_start(job, r, ranks_main, NULL) != XY_OK)
            return 1;
    if (xy_pool_run(job->pool) != XY_OK)
        return 1;
    mpi_network_end();
    xy_net_close(j.net);
    mpi_monitor_stop(job); /* started by xylem_replace */
    mpi_job_destroy(job);
    return 0;
}

/* The first exit code that is not 0. */
static inline int processes_wait(const pid_t *children, int count)
{
    int code = 0;

    for (int i = 0; i < count; i++) {
        int status;

        waitpid(children[i], &status, 0);
        if (code == 0 && status != 0)
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return code;
}

static inline int try_processes(const processes_t *c, void (*body)(int, int))
{
    pid_t children[PROCESSES_MOST];

    processes_desk = mmap(NULL, sizeof(*processes_desk), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(processes_desk, MAP_FAILED);
    fflush(NULL);
    for (int p = 0; p < c->processes; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p] == 0) {
            alarm(PROCESSES_SECONDS);
            exit(processes_child(c, p, body));
        }
    }
    munmap(processes_desk, sizeof(*processes_desk));
    return processes_wait(children, c->processes);
}

static inline void run_processes(const processes_t *c, void (*body)(int, int))
{
    assert_int_equal(try_processes(c, body), 0);
}

#endif
