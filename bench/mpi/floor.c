/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The best that the machine can do, in seconds, by two bare threads on the first two PUs:
 *
 *   line    one cache line from a core to the other; no message between them can be faster
 *   copies  1 MiB copied to 63 other places, half by each thread; no broadcast to 64 can be faster
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 200000, COPIES = 63, BYTES = 1 << 20, PIECE = 1 << 16, TURNS = 15 };

static _Alignas(128) _Atomic unsigned ping;
static _Alignas(128) _Atomic unsigned pong;
static char *source, *target[COPIES];

static void pin(int which)
{
    cpu_set_t allowed, one;

    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
            return;
        }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The two threads answer each other: one sends i, the other sends it back. */
static void send(_Atomic unsigned *word, unsigned i)
{
    atomic_store_explicit(word, i, memory_order_release);
}

static void await(_Atomic unsigned *word, unsigned i)
{
    while (atomic_load_explicit(word, memory_order_acquire) != i)
        continue;
}

static void copy_half(int first)
{
    for (size_t at = 0; at < BYTES; at += PIECE)
        for (int i = first; i < COPIES; i += 2)
            memcpy(target[i] + at, source + at, PIECE);
}

static void *answer(void *arg)
{
    (void)arg;
    pin(1);
    for (unsigned i = 1; i <= ROUNDS + TURNS; i++) {
        await(&ping, i);
        if (i > ROUNDS)
            copy_half(1);
        send(&pong, i);
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    double begin, turns[TURNS];
    pthread_t other;

    source = malloc(BYTES);
    if (source == NULL)
        return 1;
    memset(source, 1, BYTES);
    for (int i = 0; i < COPIES; i++) {
        target[i] = malloc(BYTES);
        if (target[i] == NULL)
            return 1;
        memset(target[i], 0, BYTES);
    }
    if (pthread_create(&other, NULL, answer, NULL) != 0)
        return 1;
    pin(0);
    begin = now();
    for (unsigned i = 1; i <= ROUNDS; i++) {
        send(&ping, i);
        await(&pong, i);
    }
    printf("line %.9g\n", (now() - begin) / ROUNDS / 2);
    for (unsigned i = 0; i < TURNS; i++) {
        begin = now();
        send(&ping, ROUNDS + 1 + i);
        copy_half(0);
        await(&pong, ROUNDS + 1 + i);
        turns[i] = now() - begin;
    }
    qsort(turns, TURNS, sizeof(*turns), compare);
    printf("copies %.9g\n", turns[TURNS / 2]);
    pthread_join(other, NULL);
    return 0;
}
