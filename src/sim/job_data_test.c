/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of simulated jobs move data: every step as the driver gets it, with send buffers that
 * are overwritten as soon as their call is complete. The results must be those of MPI, whatever the
 * library, the machine and the progress.
 */
#include "testing/sim_job.h"

enum { PROCS = 6, COUNT = 96, BUFFERS = 16 };

typedef struct {
    uint64_t *buffer[BUFFERS];
    xy_vreq_t *request;
    int phase;
} rank_t;

typedef struct {
    xy_vjob_t *job;
    xy_vcomm_t *world;
    xy_vjob_coll_t call;
    uint64_t counts[PROCS];
    uint64_t rows[PROCS][PROCS];
    rank_t ranks[PROCS];
    int over, in_flight;
} driver_t;

static driver_t d;

/* ---- Steps ---- */

static uint64_t *at(xy_vcoll_t *coll, const xy_spot_t *spot)
{
    rank_t *r = &d.ranks[spot->rank];
    uint64_t bytes = xy_graph_buffer_bytes(xy_vjob_coll_graph(coll), spot->rank, spot->buffer);

    assert_true(spot->buffer < BUFFERS);
    if (r->buffer[spot->buffer] == NULL)
        r->buffer[spot->buffer] = calloc(bytes + 8, 1);
    assert_non_null(r->buffer[spot->buffer]);
    return r->buffer[spot->buffer] + spot->offset / 8;
}

static void combine(uint64_t *to, const uint64_t *a, const uint64_t *b, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / 8; i++)
        to[i] = a[i] + b[i];
}

static void finish(xy_vcoll_t *coll, const xy_op_t *op, const uint64_t *from, const uint64_t *other)
{
    uint64_t *to;

    if (op->bytes == 0)
        return;
    to = at(coll, &op->to);
    if (op->kind == XY_OP_MOVE)
        memmove(to, from, op->bytes);
    else if (op->kind == XY_OP_REDUCE)
        combine(to, from, to, op->bytes);
    else
        combine(to, from, other, op->bytes);
}

/* Does the other operand of a combination come from another process? */
static bool is_other_remote(const xy_op_t *op)
{
    return op->kind == XY_OP_COMBINE && op->from.rank == op->to.rank;
}

static bool are_both_remote(const xy_op_t *op)
{
    return op->kind == XY_OP_COMBINE && op->from.rank != op->to.rank &&
           op->other.rank != op->to.rank;
}

static void step(void *owner, xy_vcoll_t *coll, const xy_op_t *op, xy_vjob_phase_t phase,
                 void **slot_p)
{
    const xy_spot_t *remote = is_other_remote(op) ? &op->other : &op->from;
    int here = phase == XY_VJOB_CAPTURE ? remote->rank : op->actor;

    assert_ptr_equal(owner, &d);
    assert_ptr_equal(xy_vjob_coll_data(coll, here), &d.ranks[here]);
    if (op->kind < XY_OP_MOVE)
        return;
    if (phase == XY_VJOB_CAPTURE) {
        *slot_p = malloc(op->bytes + 8);
        assert_non_null(*slot_p);
        if (op->bytes > 0 && are_both_remote(op))
            combine(*slot_p, at(coll, &op->from), at(coll, &op->other), op->bytes);
        else if (op->bytes > 0)
            memcpy(*slot_p, at(coll, remote), op->bytes);
        d.in_flight++;
    } else if (phase == XY_VJOB_DELIVER) {
        if (is_other_remote(op))
            finish(coll, op, at(coll, &op->from), *slot_p);
        else if (op->kind == XY_OP_COMBINE && !are_both_remote(op))
            finish(coll, op, *slot_p, at(coll, &op->other));
        else if (op->kind == XY_OP_COMBINE && op->bytes > 0)
            memcpy(at(coll, &op->to), *slot_p, op->bytes);
        else
            finish(coll, op, *slot_p, NULL);
        free(*slot_p);
        d.in_flight--;
    } else {
        finish(coll, op, op->bytes > 0 ? at(coll, &op->from) : NULL,
               op->kind == XY_OP_COMBINE && op->bytes > 0 ? at(coll, &op->other) : NULL);
    }
}

static void coll_over(void *owner, xy_vcoll_t *coll)
{
    ((driver_t *)owner)->over++;
    assert_int_equal(xy_vjob_coll_ranks(coll), PROCS);
}

static void run(void *owner, int32_t p)
{
    driver_t *x = owner;
    rank_t *r = &x->ranks[p];
    xy_vjob_coll_t call = x->call;

    if (r->phase == 0) {
        r->phase++;
        if (!xy_vjob_compute(x->job, p, 1e-6 * ((p * 5) % PROCS) + 1e-9))
            return;
    }
    if (r->phase == 1) {
        r->phase++;
        if (call.collective == XY_COLL_ALLTOALLV || call.collective == XY_COLL_ALLTOALLW)
            call.counts = x->rows[p];
        r->request = xy_vjob_collective(x->job, p, x->world, &call, r);
        assert_non_null(r->request);
        if (!xy_vjob_wait(x->job, p, &r->request, 1, XY_VJOB_ALL))
            return;
    }
    if (x->call.collective != XY_COLL_BCAST && r->buffer[XY_BUFFER_SEND] != NULL)
        memset(r->buffer[XY_BUFFER_SEND], 0xee, 8 * PROCS * COUNT);
    xy_vjob_release(x->job, r->request);
    xy_vjob_finish(x->job, p);
}

/* ---- What should come out ---- */

/* Element i of the input of rank r. */
static uint64_t input(int r, uint64_t i)
{
    return (uint64_t)(r + 1) * 1000003 + i;
}

static uint64_t sum(int first, int last, uint64_t i)
{
    uint64_t value = 0;

    for (int r = first; r <= last; r++)
        value += input(r, i);
    return value;
}

static uint64_t before(const uint64_t *counts, int rank)
{
    uint64_t n = 0;

    for (int r = 0; r < rank; r++)
        n += counts[r];
    return n;
}

/* Element i of block b (or of the vector) that rank r should have. */
static void check_rank(int r)
{
    const uint64_t *got = d.ranks[r].buffer[XY_BUFFER_RECEIVE];
    int root = d.call.root;
    uint64_t n = d.call.count;

    switch (d.call.collective) {
    case XY_COLL_BCAST:
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(got[i], input(root, i));
        break;
    case XY_COLL_GATHER:
    case XY_COLL_ALLGATHER:
        for (int b = 0; b < PROCS && (r == root || d.call.collective == XY_COLL_ALLGATHER); b++)
            for (uint64_t i = 0; i < n; i++)
                assert_int_equal(got[(uint64_t)b * n + i], input(b, i));
        break;
    case XY_COLL_GATHERV:
    case XY_COLL_ALLGATHERV:
        for (int b = 0; b < PROCS && (r == root || d.call.collective == XY_COLL_ALLGATHERV); b++)
            for (uint64_t i = 0; i < d.counts[b]; i++)
                assert_int_equal(got[before(d.counts, b) + i], input(b, i));
        break;
    case XY_COLL_SCATTER:
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(got[i], input(root, (uint64_t)r * n + i));
        break;
    case XY_COLL_SCATTERV:
        for (uint64_t i = 0; i < d.counts[r]; i++)
            assert_int_equal(got[i], input(root, before(d.counts, r) + i));
        break;
    case XY_COLL_ALLTOALL:
        for (int b = 0; b < PROCS; b++)
            for (uint64_t i = 0; i < n; i++)
                assert_int_equal(got[(uint64_t)b * n + i], input(b, (uint64_t)r * n + i));
        break;
    case XY_COLL_ALLTOALLV:
        for (int b = 0, k = 0; b < PROCS; k += (int)d.rows[b][r], b++)
            for (uint64_t i = 0; i < d.rows[b][r]; i++)
                assert_int_equal(got[(uint64_t)k + i], input(b, before(d.rows[b], r) + i));
        break;
    case XY_COLL_REDUCE:
    case XY_COLL_ALLREDUCE:
        for (uint64_t i = 0; i < n && (r == root || d.call.collective == XY_COLL_ALLREDUCE); i++)
            assert_int_equal(got[i], sum(0, PROCS - 1, i));
        break;
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(got[i], sum(0, PROCS - 1, (uint64_t)r * n + i));
        break;
    case XY_COLL_REDUCE_SCATTER:
        for (uint64_t i = 0; i < d.counts[r]; i++)
            assert_int_equal(got[i], sum(0, PROCS - 1, before(d.counts, r) + i));
        break;
    case XY_COLL_SCAN:
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(got[i], sum(0, r, i));
        break;
    case XY_COLL_EXSCAN:
        for (uint64_t i = 0; i < n && r > 0; i++)
            assert_int_equal(got[i], sum(0, r - 1, i));
        break;
    default:
        break;
    }
}

/* ---- Runs ---- */

static void prepare(xy_collective_t collective, uint64_t count)
{
    memset(&d, 0, sizeof(d));
    d.call = (xy_vjob_coll_t){.collective = collective,
                              .root = 2,
                              .count = count,
                              .element = 8,
                              .is_commutative = true,
                              .counts = d.counts};
    for (int r = 0; r < PROCS; r++) {
        int in = collective == XY_COLL_BCAST ? XY_BUFFER_RECEIVE : XY_BUFFER_SEND;

        d.counts[r] = (uint64_t)((r * 7) % 5) * count / 8;
        for (int k = 0; k < PROCS; k++)
            d.rows[r][k] = (uint64_t)((r * 3 + k * 5) % 4) * count / 8;
        d.ranks[r].buffer[XY_BUFFER_SEND] = calloc(PROCS * COUNT, 8);
        d.ranks[r].buffer[XY_BUFFER_RECEIVE] = calloc(PROCS * COUNT, 8);
        for (uint64_t i = 0; i < PROCS * COUNT; i++)
            d.ranks[r].buffer[in][i] = input(r, i);
    }
    if (collective == XY_COLL_ALLTOALLW || collective == XY_COLL_BARRIER)
        d.call.counts = NULL;
    for (int r = 0; collective == XY_COLL_BCAST && r < PROCS; r++)
        if (r != d.call.root)
            memset(d.ranks[r].buffer[XY_BUFFER_RECEIVE], 0, PROCS * COUNT * 8);
}

static void release(void)
{
    for (int r = 0; r < PROCS; r++)
        for (int b = 0; b < BUFFERS; b++)
            free(d.ranks[r].buffer[b]);
}

static void check(xy_vjob_config_t *config, xy_collective_t collective, uint64_t count)
{
    int32_t all[PROCS];

    prepare(collective, count);
    for (int r = 0; r < PROCS; r++)
        all[r] = r;
    assert_int_equal(xy_vjob_create(config, &d.job), XY_OK);
    d.world = xy_vjob_comm(d.job, 7, all, PROCS);
    assert_non_null(d.world);
    assert_int_equal(xy_vjob_run(d.job), XY_OK);
    assert_int_equal(d.over, 1);
    assert_int_equal(d.in_flight, 0);
    for (int r = 0; r < PROCS; r++)
        check_rank(r);
    xy_vjob_destroy(d.job);
    release();
}

static void every_collective_moves_its_data(void **state)
{
    static const char *const machines[] = {"core:8", "node:3(latency=1us bandwidth=1GB/s) core:4",
                                           "core:8"};
    static const char *const libraries[] = {"xylem", "openmpi", "mpich"};
    static const int32_t cores[3][PROCS] = {
        {0, 1, 2, 3, 4, 5}, {0, 4, 1, 5, 8, 9}, {1, 0, 0, 1, 0, 2}};
    static const int32_t comm[3][2] = {{6, 7}, {3, 7}, {6, 7}};

    (void)state;
    for (int k = 0; k < 3 * 3 * 3; k++) {
        xy_machine_t *machine;
        xy_vjob_config_t config = {.procs = PROCS,
                                   .core_of = cores[k % 3],
                                   .library = libraries[k / 3 % 3],
                                   .progress = (xy_sim_progress_t)(k / 9),
                                   .comm_cores = comm[k % 3],
                                   .comm_core_count = k / 9 == XY_SIM_TASKS ? 2 : 0,
                                   .owner = &d,
                                   .run = run,
                                   .step = step,
                                   .coll_over = coll_over};

        assert_int_equal(xy_machine_load(machines[k % 3], &machine), XY_OK);
        config.machine = machine;
        xy_vjob_costs_default(&config.costs);
        config.costs.eager = config.costs.eager_net = 256; /* both protocols */
        config.costs.packet = 128;
        for (int c = 0; c < XY_COLL_COUNT; c++)
            for (uint64_t count = 8; count <= COUNT && c != XY_COLL_ALLTOALLW; count += 88)
                check(&config, (xy_collective_t)c, count);
        xy_machine_destroy(machine);
    }
}

static void every_algorithm_moves_its_data(void **state)
{
    const xy_coll_algorithm_t *const *list = xy_coll_algorithms();
    static const int32_t cores[] = {0, 1, 4, 5, 8, 9};
    xy_machine_t *machine;

    (void)state;
    assert_int_equal(xy_machine_load("node:3(latency=1us bandwidth=1GB/s) core:4", &machine),
                     XY_OK);
    for (int i = 0; list[i] != NULL; i++)
        for (int c = 0; c < XY_COLL_COUNT; c++) {
            xy_vjob_config_t config = {.machine = machine,
                                       .procs = PROCS,
                                       .core_of = cores,
                                       .algorithm = list[i]->name,
                                       .owner = &d,
                                       .run = run,
                                       .step = step,
                                       .coll_over = coll_over};

            xy_vjob_costs_default(&config.costs);
            config.costs.eager = config.costs.eager_net = 256;
            if ((list[i]->collectives >> c & 1) != 0 && c != XY_COLL_ALLTOALLW)
                check(&config, (xy_collective_t)c, COUNT);
        }
    xy_machine_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_collective_moves_its_data),
        cmocka_unit_test(every_algorithm_moves_its_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
