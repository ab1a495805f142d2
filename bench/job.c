/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated jobs: messages per second of one core, for a loop of halo, broadcast and allreduce. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "sim/sim.h"

enum { SIDE = 32, PROCS = SIDE * SIDE, NEIGHBOURS = 4 };

typedef struct {
    int phase, iteration;
    xy_vreq_t *requests[2 * NEIGHBOURS];
} rank_t;

typedef struct {
    xy_vjob_t *job;
    xy_vcomm_t *world;
    rank_t ranks[PROCS];
    int iterations;
} driver_t;

static driver_t driver;
static xy_vjob_config_t config;
static int has_collectives;

static int32_t neighbour(int32_t proc, int direction)
{
    int32_t x = proc % SIDE, y = proc / SIDE;

    if (direction < 2)
        x = (x + (direction == 0 ? 1 : SIDE - 1)) % SIDE;
    else
        y = (y + (direction == 2 ? 1 : SIDE - 1)) % SIDE;
    return y * SIDE + x;
}

static int begin_halo(driver_t *d, int32_t p)
{
    rank_t *r = &d->ranks[p];

    xy_vjob_compute(d->job, p, 1e-6 * (1 + p % 7));
    for (int k = 0; k < NEIGHBOURS; k++) {
        xy_vjob_p2p_t m = {.peer = neighbour(p, k ^ 1), .tag = k, .bytes = 1024};

        r->requests[k] = xy_vjob_irecv(d->job, p, &m, NULL);
    }
    for (int k = 0; k < NEIGHBOURS; k++) {
        xy_vjob_p2p_t m = {.peer = neighbour(p, k), .tag = k, .bytes = 1024};

        r->requests[NEIGHBOURS + k] = xy_vjob_isend(d->job, p, &m, NULL);
    }
    return xy_vjob_wait(d->job, p, r->requests, 2 * NEIGHBOURS, XY_VJOB_ALL);
}

static int begin_collective(driver_t *d, int32_t p, xy_collective_t collective)
{
    xy_vjob_coll_t call = {
        .collective = collective, .count = 16, .element = 8, .is_commutative = true};

    d->ranks[p].requests[0] = xy_vjob_collective(d->job, p, d->world, &call, NULL);
    return xy_vjob_wait(d->job, p, d->ranks[p].requests, 1, XY_VJOB_ALL);
}

static void release(driver_t *d, int32_t p, int count)
{
    for (int i = 0; i < count; i++)
        xy_vjob_release(d->job, d->ranks[p].requests[i]);
}

/* Phases: 0 and 1 the halo, 2 and 3 the broadcast, 4 and 5 the allreduce. */
static void run(void *owner, int32_t p)
{
    driver_t *d = owner;
    rank_t *r = &d->ranks[p];

    for (;;) {
        if (r->phase % 2 == 1) {
            release(d, p, r->phase == 1 ? 2 * NEIGHBOURS : 1);
            r->phase = (r->phase + 1) % (has_collectives ? 6 : 2);
            if (r->phase == 0 && ++r->iteration == d->iterations)
                break;
        }
        r->phase++;
        if (!(r->phase == 1
                  ? begin_halo(d, p)
                  : begin_collective(d, p, r->phase == 3 ? XY_COLL_BCAST : XY_COLL_ALLREDUCE)))
            return;
    }
    xy_vjob_finish(d->job, p);
}

static double round_messages(long n)
{
    int32_t all[PROCS];
    xy_vjob_totals_t totals;
    double begin, took;

    driver.iterations = (int)(n / (has_collectives ? 15000 : 4096)) + 1;
    for (int i = 0; i < PROCS; i++) {
        all[i] = i;
        driver.ranks[i] = (rank_t){0};
    }
    if (xy_vjob_create(&config, &driver.job) != XY_OK)
        return -1;
    driver.world = xy_vjob_comm(driver.job, 1, all, PROCS);
    begin = bench_now();
    if (driver.world == NULL || xy_vjob_run(driver.job) != XY_OK)
        return -1;
    took = bench_now() - begin;
    xy_vjob_totals(driver.job, &totals);
    xy_vjob_destroy(driver.job);
    return took * (double)n / (double)(totals.messages + totals.coll_messages);
}

static void measure(const char *name, const char *text)
{
    int32_t cores[PROCS];
    xy_machine_t *machine;

    if (xy_machine_load(text, &machine) != XY_OK)
        exit(1);
    for (int i = 0; i < PROCS; i++)
        cores[i] = i;
    config = (xy_vjob_config_t){
        .machine = machine, .procs = PROCS, .core_of = cores, .owner = &driver, .run = run};
    xy_vjob_costs_default(&config.costs);
    bench_rate(name, round_messages, 1000000, "ns/message", 1e9);
    xy_machine_destroy(machine);
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    measure("job: halo in a node", "core:1024");
    measure("job: halo, 64 nodes", "node:64(latency=1us bandwidth=12.5GB/s) core:16");
    has_collectives = 1;
    measure("job: halo, bcast, allreduce, 64 nodes",
            "node:64(latency=1us bandwidth=12.5GB/s) core:16");
    return 0;
}
