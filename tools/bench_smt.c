/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem bench smt: what a copying thread does to a computing one, by where it runs.
 *
 * A matrix product on one PU; beside it a thread that copies a buffer over and over, on another
 * package, another core, the same PU, or the sibling hardware thread of the core. Only the sibling
 * shares the L1 cache at the same time: where copies hurt, the misses say so.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "draw/draw.h"
#include "machine/machine.h"
#include "verbs.h"

typedef struct {
    long size, repetitions;
    bool json;
} values_t;

static const xy_option_t options[] = {
    {"size", 0, XY_OPT_LONG, "N", offsetof(values_t, size), .min = 16, .max = 8192,
     XY_COMMON("options"), .help = "set the size of the matrices", .preset = "1024"},
    {"repetitions", 'r', XY_OPT_LONG, "N", offsetof(values_t, repetitions), .min = 1, .max = 1000,
     XY_COMMON("options"), .help = "compute so many products per line; the median counts",
     .preset = "3"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("options"),
     .help = "print JSON"},
    {0}};

enum { PLACES = 5, BUFFERS = 3, REPETITIONS_MAX = 1000 };
static const uint64_t buffers[BUFFERS] = {4096, 128 << 10, 2 << 20};
static const char *const place_names[PLACES] = {"alone", "other package", "other core", "same PU",
                                                "sibling"};

typedef struct {
    double *a, *b, *c; /* n x n */
    long n;
} product_t;

typedef struct {
    int cpu;
    uint64_t bytes;
    atomic_int stop; /* relaxed: a flag to end; the join orders the rest */
    uint64_t copied;
    bool is_out_of_memory;
} copier_t;

typedef struct {
    double seconds;
    double misses; /* negative: not known */
    double copied; /* bytes per second */
} sample_t;

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* Rows of b stream through the cache; the row of c stays. */
static void multiply(const product_t *p)
{
    memset(p->c, 0, (size_t)(p->n * p->n) * sizeof(double));
    for (long i = 0; i < p->n; i++)
        for (long k = 0; k < p->n; k++) {
            double x = p->a[i * p->n + k];
            const double *from = &p->b[k * p->n];
            double *to = &p->c[i * p->n];

            for (long j = 0; j < p->n; j++)
                to[j] += x * from[j];
        }
}

/* Copies memory on a processor until it is stopped; the body of a thread. */
static void *copy_loop(void *arg)
{
    copier_t *c = arg;
    char *memory = xy_malloc(2 * c->bytes);

    if (memory == NULL) {
        c->is_out_of_memory = true;
        return NULL;
    }
    pin(c->cpu);
    memset(memory, 1, 2 * c->bytes);
    while (!atomic_load_explicit(&c->stop, memory_order_relaxed)) {
        memcpy(memory, memory + c->bytes, c->bytes);
        __asm__ volatile("" : : "r"(memory) : "memory");
        c->copied += c->bytes;
    }
    xy_free(memory);
    return NULL;
}

/* A counter of L1 read misses of this thread; -1: the kernel gives none. */
static int open_counter(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HW_CACHE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_CACHE_L1D |
                                             PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                             PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
                                   .disabled = 1,
                                   .exclude_kernel = 1};

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

/* Measures seconds and L1 misses of a matrix product; misses are -1 without a counter. */
static void timed_product(const product_t *p, int counter, sample_t *sample)
{
    uint64_t misses = 0;
    double begin = xy_clock_seconds(CLOCK_MONOTONIC);

    if (counter >= 0) {
        ioctl(counter, PERF_EVENT_IOC_RESET, 0);
        ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    }
    multiply(p);
    if (counter >= 0)
        ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    sample->seconds = xy_clock_seconds(CLOCK_MONOTONIC) - begin;
    sample->misses = counter >= 0 && read(counter, &misses, sizeof(misses)) == sizeof(misses)
                         ? (double)misses
                         : -1;
}

static void sort_samples(sample_t *s, long n)
{
    for (long i = 1; i < n; i++)
        for (long j = i; j > 0 && s[j].seconds < s[j - 1].seconds; j--) {
            sample_t t = s[j];

            s[j] = s[j - 1];
            s[j - 1] = t;
        }
}

/* The median of some products, beside a copier unless cpu < 0. */
static xy_status_t measure(const product_t *p, int counter, int cpu, uint64_t bytes,
                           long repetitions, sample_t *median)
{
    copier_t copier = {.cpu = cpu, .bytes = bytes};
    sample_t samples[REPETITIONS_MAX];
    pthread_t thread;
    double begin = xy_clock_seconds(CLOCK_MONOTONIC);

    if (cpu >= 0 && pthread_create(&thread, NULL, copy_loop, &copier) != 0)
        return xy_fail(XY_ENOMEM, "cannot start the copying thread");
    for (long i = 0; i < repetitions; i++)
        timed_product(p, counter, &samples[i]);
    atomic_store_explicit(&copier.stop, 1, memory_order_relaxed);
    if (cpu >= 0)
        pthread_join(thread, NULL);
    if (copier.is_out_of_memory)
        return xy_fail_memory("allocating a buffer");
    sort_samples(samples, repetitions);
    *median = samples[repetitions / 2];
    median->copied = (double)copier.copied / (xy_clock_seconds(CLOCK_MONOTONIC) - begin);
    return XY_OK;
}

/* The first usable PU that stands in this relation to the first one; -1: the machine lacks it. */
static int find_cpu(const xy_machine_t *m, xy_obj_t first, int place)
{
    for (uint32_t i = 0; i < m->leaves; i++) {
        xy_obj_t leaf = m->leaf[i];
        bool same_core =
            xy_machine_above(m, leaf, XY_OBJ_CORE) == xy_machine_above(m, first, XY_OBJ_CORE);
        bool same_package =
            xy_machine_above(m, leaf, XY_OBJ_PACKAGE) == xy_machine_above(m, first, XY_OBJ_PACKAGE);

        if (!xy_machine_is_usable(m, leaf) || m->physical[leaf] == XY_OBJ_NONE)
            continue;
        if ((place == 1 && !same_package) || (place == 2 && same_package && !same_core) ||
            (place == 3 && leaf == first) || (place == 4 && same_core && leaf != first))
            return (int)m->physical[leaf];
    }
    return -1;
}

static xy_obj_t first_usable(const xy_machine_t *m)
{
    for (uint32_t i = 0; i < m->leaves; i++)
        if (xy_machine_is_usable(m, m->leaf[i]) && m->physical[m->leaf[i]] != XY_OBJ_NONE)
            return m->leaf[i];
    return XY_OBJ_NONE;
}

static void print_line(int place, uint64_t bytes, const sample_t *s, double alone)
{
    char size[32], time[32], copied[32], misses[32] = "-";

    if (s->misses >= 0)
        snprintf(misses, sizeof(misses), "%.3g", s->misses);
    printf("%-14s %9s %10s %7.2f %10s %12s\n", place_names[place],
           place > 0 ? xy_format_size(bytes, size) : "-", xy_format_seconds(s->seconds, time),
           s->seconds / alone, misses, place > 0 ? xy_format_bandwidth(s->copied, copied) : "-");
}

static void print_json(xy_json_t *j, int place, uint64_t bytes, const sample_t *s, double alone)
{
    xy_fields_object(j, NULL,
                     "place %s buffer %ld seconds %g ratio %g l1_misses %g copied_per_second %g",
                     place_names[place], place > 0 ? (int64_t)bytes : 0, s->seconds,
                     s->seconds / alone, s->misses >= 0 ? s->misses : (double)NAN, s->copied);
}

/* All lines of one place, or a word about its absence. */
static xy_status_t run_place(const values_t *v, const product_t *p, int counter, int place, int cpu,
                             double *alone, xy_json_t *j)
{
    xy_status_t st = XY_OK;

    if (place > 0 && cpu < 0) {
        if (!v->json)
            printf("%-14s this machine, or its usable part, has none\n", place_names[place]);
        return XY_OK;
    }
    for (int i = 0; i < (place > 0 ? BUFFERS : 1) && st == XY_OK; i++) {
        sample_t sample;

        st = measure(p, counter, place > 0 ? cpu : -1, buffers[i], v->repetitions, &sample);
        if (st != XY_OK)
            break;
        if (place == 0)
            *alone = sample.seconds;
        if (v->json)
            print_json(j, place, buffers[i], &sample, *alone);
        else
            print_line(place, buffers[i], &sample, *alone);
        fflush(stdout);
    }
    return st;
}

/* Measures the product beside a copying thread at each place. */
static xy_status_t run_places(const values_t *v, const product_t *p, const xy_machine_t *m)
{
    xy_obj_t first = first_usable(m);
    int counter;
    double alone = 1;
    xy_json_t j;
    xy_status_t st = XY_OK;

    if (first == XY_OBJ_NONE)
        return xy_fail(XY_EUNSUPPORTED, "the numbers of this machine's PUs are not known");
    pin((int)m->physical[first]);
    counter = open_counter();
    xy_json_init(&j, stdout, true);
    if (v->json)
        xy_json_begin_array(&j, NULL);
    else
        printf(
            "product of %ld x %ld matrices beside a copying thread\n%-14s %9s %10s %7s %10s %12s\n",
            p->n, p->n, "copier", "buffer", "time", "ratio", "L1 misses", "copied");
    for (int place = 0; place < PLACES && st == XY_OK; place++)
        st = run_place(v, p, counter, place, find_cpu(m, first, place), &alone, &j);
    if (v->json)
        xy_json_end(&j);
    else if (counter < 0)
        puts("The kernel gives no counter of L1 misses here.");
    if (counter >= 0)
        close(counter);
    return st == XY_OK ? xy_stdout_check() : st;
}

/* Entry point of 'xylem bench smt'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    size_t elements = (size_t)(v->size * v->size);
    double *memory = xy_calloc(3 * elements, sizeof(*memory));
    product_t p = {memory, memory + elements, memory + 2 * elements, v->size};
    xy_machine_t *m;
    xy_status_t st;

    (void)command;
    (void)argc;
    (void)argv;
    if (memory == NULL)
        return xy_fail_memory("allocating the matrices");
    for (size_t i = 0; i < 2 * elements; i++)
        memory[i] = (double)(i % 7) - 3;
    st = xy_machine_live(&m);
    if (st == XY_OK) {
        st = run_places(v, &p, m);
        xy_machine_destroy(m);
    }
    xy_free(memory);
    return st;
}

const xy_command_t bench_smt = {
    .name = "smt",
    .prefix = "xylem bench",
    .summary = "measure the effect of a copying thread on a computation, by placement",
    .description =
        "Measures a matrix product on one PU while a thread copies buffers of 4 KiB, 128 "
        "KiB and 2 MiB on another package, another core, the same PU, or the sibling "
        "hardware thread, with the L1 misses of the product where the kernel counts "
        "them. Placements that the machine lacks are named.",
    .options = options,
    .values_size = sizeof(values_t),
    .run = run,
};
