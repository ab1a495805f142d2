/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies and sums against their size: by one core and by several at once, in near and far memory.
 *
 *   cores 1      core 0 |copy|copy|copy|...        each core works on two buffers of its own and
 *   cores 2      core 0 |copy |copy |copy |...     starts with the others: what they take from
 *                core 1 |copy |copy |copy |...     each other is in the time
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/machine.h"
#include "measure/calibrate_internal.h"
#include "measure/curve.h"
#include "measure/timing.h"

enum { TIMES_MAX = 400, BIND = 2 /* MPOL_BIND */ };

static const char *const kinds[] = {"copy", "reduce", NULL};

/* One point of a curve. */
typedef struct {
    int kind;
    size_t bytes;
    int cores;
    const int *pu; /* physical numbers, `cores` of them */
    int node;      /* NUMA node of the memory; -1: where it falls */
    double seconds;
    atomic_int ready; /* threads that have their memory */
    atomic_int go;    /* 1: start; -1: do not */
} point_t;

typedef struct {
    point_t *point;
    int index;
    bool is_good;
    measure_time_t measure;
} crew_t;

static void reduce(double *restrict y, const double *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

static void work(const point_t *p, char *to, const char *from)
{
    if (p->kind == 0)
        memcpy(to, from, p->bytes);
    else
        reduce((double *)to, (const double *)from, p->bytes / sizeof(double));
    __asm__ volatile("" : : "r"(to) : "memory");
}

static bool bind_thread(int pu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(pu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* Memory of one node, touched; NULL: there is none. */
static char *take_memory(size_t bytes, int node)
{
    unsigned long mask[16] = {0};
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (node >= 0 && node < 1024) {
        mask[node / 64] = 1ul << (node % 64);
        syscall(SYS_mbind, p, bytes, BIND, mask, 1024ul, 0u);
    }
    memset(p, 0, bytes);
    return p;
}

/* Times the copy of one core for the given seconds; it works on until the other cores have
 * measured. */
static void time_work(const point_t *p, char *to, const char *from, measure_time_t *measure)
{
    double times[TIMES_MAX], begin = measure_now(), once, end = begin + p->seconds;
    long batch = 1, n = 0;

    for (int i = 0; i < 3; i++) {
        begin = measure_now();
        work(p, to, from);
        once = measure_now() - begin;
    }
    if (once < 10e-6)
        batch = (long)(10e-6 / fmax(once, 1e-9)) + 1;
    for (double now = measure_now(), next; n < TIMES_MAX && (n < 3 || now < end); now = next, n++) {
        for (long i = 0; i < batch; i++)
            work(p, to, from);
        next = measure_now();
        times[n] = (next - now) / (double)batch;
    }
    /* The others still measure: keep them company. */
    while (measure_now() < end)
        work(p, to, from);
    *measure = measure_best(times, n);
    /* Several at once: the moments when the others are held up are not what is asked for. */
    if (p->cores > 1)
        measure->seconds = measure_median(times, n, &measure->spread);
}

/* Measures one of several cores at once, on memory of a NUMA node; the body of a thread. */
static void *run_crew(void *arg)
{
    crew_t *crew = arg;
    point_t *p = crew->point;
    char *to = NULL, *from = NULL;

    crew->is_good = bind_thread(p->pu[crew->index]);
    if (crew->is_good) {
        to = take_memory(p->bytes, p->node);
        from = take_memory(p->bytes, p->node);
        crew->is_good = to != NULL && from != NULL;
    }
    atomic_fetch_add(&p->ready, 1);
    while (atomic_load(&p->go) == 0)
        sched_yield();
    if (crew->is_good && atomic_load(&p->go) > 0)
        time_work(p, to, from, &crew->measure);
    if (to != NULL)
        munmap(to, p->bytes);
    if (from != NULL)
        munmap(from, p->bytes);
    return NULL;
}

/* The mean over the cores. */
static xy_status_t measure_point(point_t *p, measure_time_t *measure_p)
{
    crew_t *crew = xy_calloc((size_t)p->cores, sizeof(*crew));
    pthread_t *threads = xy_calloc((size_t)p->cores, sizeof(*threads));
    measure_time_t m = {0};
    int started = 0, error = 0;

    if (crew == NULL || threads == NULL) {
        xy_free(crew);
        xy_free(threads);
        return xy_fail_memory("measuring memory");
    }
    atomic_store(&p->ready, 0);
    atomic_store(&p->go, 0);
    for (; started < p->cores && error == 0; started += error == 0) {
        crew[started] = (crew_t){.point = p, .index = started};
        error = pthread_create(&threads[started], NULL, run_crew, &crew[started]);
    }
    while (error == 0 && atomic_load(&p->ready) < started)
        sched_yield();
    atomic_store(&p->go, error == 0 ? 1 : -1);
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (!crew[i].is_good)
            error = EINVAL;
        m.seconds += crew[i].measure.seconds / p->cores;
        m.spread = fmax(m.spread, crew[i].measure.spread);
        m.repetitions += crew[i].measure.repetitions;
    }
    xy_free(crew);
    xy_free(threads);
    if (error != 0)
        return xy_fail_errno(error, "a thread with memory of its own", "start");
    *measure_p = m;
    return XY_OK;
}

static xy_status_t name_result(const xy_calibration_t *c, const point_t *p, long distance,
                               xy_kernel_cost_t *k)
{
    k->name = xy_strdup(kinds[p->kind]);
    k->cluster = xy_strdup(c->cluster != NULL ? c->cluster : XY_COSTS_LOCAL);
    k->unit = xy_strdup("B");
    k->criterion = xy_strdup(c->criterion != NULL ? c->criterion : xy_fit_criteria()[0]);
    k->threads = p->cores;
    k->distance = distance;
    return k->name != NULL && k->cluster != NULL && k->unit != NULL && k->criterion != NULL
               ? XY_OK
               : xy_fail_memory("storing a model");
}

typedef struct {
    const xy_calibration_t *c;
    point_t *point;
} curve_arg_t;

static xy_status_t measure_size(void *arg, double x, double seconds, measure_time_t *m_p)
{
    const curve_arg_t *a = arg;
    double begin = measure_now();
    xy_status_t st;

    a->point->bytes = (size_t)x;
    a->point->seconds = seconds;
    st = measure_point(a->point, m_p);
    calibrate_step(a->c, measure_now() - begin);
    return st;
}

/* All sizes of one kind, number of cores and distance. */
static xy_status_t measure_curve(const xy_calibration_t *c, point_t *p, long distance,
                                 double seconds, xy_costs_t *costs)
{
    curve_arg_t arg = {.c = c, .point = p};
    char what[96];
    const measure_curve_t curve = {.what = what,
                                   .measure = measure_size,
                                   .arg = &arg,
                                   .smallest = 256,
                                   .largest = 32 << 20,
                                   .grain = sizeof(double),
                                   .seconds = seconds,
                                   .options = {.criterion = c->criterion, .degree_max = 2}};
    xy_kernel_cost_t k = {0};
    xy_status_t st = name_result(c, p, distance, &k);

    snprintf(what, sizeof(what), "%s by %d core%s", kinds[p->kind], p->cores,
             p->cores == 1 ? "" : "s");
    if (distance > 0)
        snprintf(what + strlen(what), sizeof(what) - strlen(what), " at distance %ld", distance);
    if (st == XY_OK)
        st = measure_curve_run(&curve, &k);
    if (st == XY_OK) {
        calibrate_report(c, &k);
        st = xy_costs_set_kernel(costs, &k);
    }
    xy_kernel_cost_cleanup(&k);
    return st;
}

/* One that is too noisy was reported; the others continue. */
static xy_status_t count_failed(xy_status_t st, int *failed_p)
{
    if (st != XY_EINVAL)
        return st;
    ++*failed_p;
    return XY_OK;
}

/* The first usable PU of each core, by its physical number. */
static xy_status_t list_cores(const xy_machine_t *m, xy_vec_t *pus)
{
    xy_obj_t last = XY_OBJ_NONE;

    for (uint32_t i = 0; i < m->leaves; i++) {
        xy_obj_t leaf = m->leaf[i], core = xy_machine_above(m, leaf, XY_OBJ_CORE);
        int pu = (int)m->physical[leaf];

        if (!xy_machine_is_usable(m, leaf) || m->physical[leaf] >= CPU_SETSIZE ||
            (core != XY_OBJ_NONE && core == last))
            continue;
        last = core;
        if (xy_vec_append(pus, &pu) != XY_OK)
            return xy_fail_memory("listing cores");
    }
    return pus->count > 0 ? XY_OK : xy_fail(XY_EUNSUPPORTED, "this process may not use any core");
}

/* Distances of the first core's NUMA node as the firmware reports them: nodes[i] is the first one
 * at distance distances[i]. The number of different ones; 0: unknown. */
static int list_distances(int pu, int nodes[8], long distances[8])
{
    int home = xy_sysfs_node(XY_SYSFS, pu), count = 0, node = 0;
    char text[XY_SYSFS_TEXT_MAX], *at = text, *end;

    if (!xy_sysfs_text(XY_SYSFS, text, "node/node%d/distance", home))
        return 0;
    for (long d = strtol(at, &end, 10); end != at; at = end, d = strtol(at, &end, 10), node++) {
        bool is_known = node == home;

        for (int i = 0; i < count; i++)
            is_known = is_known || distances[i] == d;
        if (!is_known && count < 8) {
            nodes[count] = node;
            distances[count++] = d;
        }
    }
    return count;
}

/* 1, 2, 4, ... and all of them; beyond, the end. */
static size_t more_cores(size_t k, size_t all)
{
    if (k == all)
        return all + 1;
    return 2 * k < all ? 2 * k : all;
}

xy_status_t xy_calibrate_memory(const xy_calibration_t *c, const xy_machine_t *live,
                                xy_costs_t *costs, int *failed_p)
{
    xy_vec_t pus = XY_VEC_INIT(int);
    int nodes[8], far;
    long distances[8];
    double seconds = c->seconds > 0 ? c->seconds : 60;
    xy_status_t st = list_cores(live, &pus);

    if (st == XY_OK) {
        int curves = 0;

        far = list_distances(XY_VEC_AT(&pus, int, 0), nodes, distances);
        for (size_t k = 1; k <= pus.count; k = more_cores(k, pus.count))
            curves++;
        seconds = fmin(seconds / (2 * (curves + far) + 1), 2);
        measure_warm_up(0.2);
        for (int kind = 0; kinds[kind] != NULL && st == XY_OK; kind++) {
            point_t p = {.kind = kind, .pu = pus.data, .node = -1};

            for (size_t k = 1; k <= pus.count && st == XY_OK; k = more_cores(k, pus.count)) {
                p.cores = (int)k;
                st = count_failed(measure_curve(c, &p, 0, seconds, costs), failed_p);
            }
            p.cores = 1;
            for (int i = 0; i < far && st == XY_OK; i++) {
                p.node = nodes[i];
                st = count_failed(measure_curve(c, &p, distances[i], seconds, costs), failed_p);
            }
        }
    }
    xy_vec_cleanup(&pus);
    return st == XY_OK ? calibrate_cache_line(c, live, costs) : st;
}

/* The point that a model is of, with no size yet; false: there is no such thing here. */
static bool find_point(const xy_vec_t *pus, const xy_kernel_cost_t *k, point_t *p)
{
    int nodes[8], far;
    long distances[8];

    *p = (point_t){.kind = -1, .pu = pus->data, .node = -1, .cores = (int)k->threads};
    for (int kind = 0; kinds[kind] != NULL; kind++)
        if (strcmp(kinds[kind], k->name) == 0)
            p->kind = kind;
    far = k->distance > 0 ? list_distances(XY_VEC_AT(pus, int, 0), nodes, distances) : 0;
    for (int i = 0; i < far; i++)
        if (distances[i] == k->distance)
            p->node = nodes[i];
    return p->kind >= 0 && k->threads >= 1 && (size_t)k->threads <= pus->count &&
           (k->distance == 0 || p->node >= 0);
}

xy_status_t calibrate_memory_again(const xy_calibration_t *c, const xy_machine_t *live,
                                   const xy_kernel_cost_t *k, xy_sample_t *samples, size_t count)
{
    xy_vec_t pus = XY_VEC_INIT(int);
    point_t p;
    xy_status_t st = list_cores(live, &pus);

    if (st == XY_OK && !find_point(&pus, k, &p))
        st = xy_fail(XY_EUNSUPPORTED, "%s by %ld cores at distance %ld cannot be measured here",
                     k->name, k->threads, k->distance);
    if (st == XY_OK)
        measure_warm_up(0.05);
    for (size_t i = 0; i < count && st == XY_OK; i++) {
        measure_time_t m = {0};
        double begin = measure_now();

        p.bytes = (size_t)samples[i].x / sizeof(double) * sizeof(double);
        p.seconds = 0.1;
        st = measure_point(&p, &m);
        calibrate_step(c, measure_now() - begin);
        if (st == XY_OK)
            samples[i] = (xy_sample_t){.x = (double)p.bytes,
                                       .t = fmax(m.seconds, 1e-10),
                                       .spread = m.spread,
                                       .repetitions = m.repetitions};
    }
    xy_vec_cleanup(&pus);
    return st;
}
