/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growing. Each worker but the first allocates from an arena that consists of heaps of 64 MiB. A
 * heap grows by as many pages as an allocation lacks, with one mprotect each: a program that
 * allocates 1 GiB in pieces of 4 KiB makes 260,000 calls, and all workers share the lock they take.
 * M_TOP_PAD counts only when a heap is created: with nearly the size of a heap, the heap is opened
 * at once. Pages are still allocated as they are touched, and where the kernel uses huge pages, a
 * touch finds 2 MiB that belong to the heap. Setting any of these parameters stops the C library
 * from adjusting its limit for mmap, so this limit gets the value that it would reach.
 *
 * Giving back. The C library deletes the last heap of an arena when it and the one before it (less
 * the pad) are free, and the first worker's heap shrinks by brk. All else stays: free memory below
 * other allocations, which in an arena of many processes is the usual case, and the last heap. So a
 * worker that is about to sleep looks how much is free. If it is much more than what was left last
 * time, and there is memory behind it (an open heap is free and was never touched), malloc_trim
 * returns whole free pages of all arenas. It leaves the top of the other workers'
 * heaps, which can be returned only by a free that finds the pad low: each worker does that for
 * itself, with the pad set low for a moment. A heap that another worker creates in this moment
 * grows in small steps; nothing else is affected.
 *
 * Some programs use memory that they have just freed (LAMMPS destroys FFTW plans after
 * fftw_cleanup). In a process of their own the memory keeps its contents. So it is returned while
 * all workers rest, and no process is between a free and such a use; while others run only if it
 * is a large part of the machine's memory.
 */
#include "process/libc/malloc_heap.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "process/libc/interpose.h"

enum {
    HEAP = 64 << 20, /* HEAP_MAX_SIZE of the C library on 64-bit machines */
    TOP_PAD =
        HEAP - (128 << 10),    /* less than a heap: an empty one can go while this much is used */
    TRIM_THRESHOLD = 2 * HEAP, /* of the first worker's heap, which keeps TOP_PAD */
    MMAP_THRESHOLD = HEAP / 2, /* the largest that the C library accepts */
    TRIMMING_FREE = 128 << 10, /* a free of 64 KiB or more looks at the top */
    MUCH = 32 << 20,           /* free memory that is worth returning */
    MUCH_SHARE = 8,            /* and this share of what is in use */
    PRESSING_SHARE = 16        /* of the machine's memory: returned while processes run */
};

/* Looking may take one fiftieth of the time, and clearing pages again that were returned and then
 * used a tenth; but a pause ends after some seconds, as a deadlock is not seen before. */
static const double looking_share = 50, clearing_share = 10, least_pause = 1e-3, most_pause = 3,
                    clear_bytes_per_second = 2e9;

static _Atomic bool is_ours;                           /* the parameters are those set here */
static atomic_flag is_looked_after = ATOMIC_FLAG_INIT; /* one worker at a time: protects `kept` */
static size_t kept;                        /* free bytes after the last time, or fewer since */
static _Atomic unsigned returns;           /* how often memory was returned */
static _Thread_local unsigned own_returns; /* of them with this worker's top */
static _Thread_local double next_look;

static int set(int parameter, int value)
{
    return XY_NEXT(mallopt)(parameter, value);
}

static bool is_about_growth(int parameter)
{
    return parameter == M_TOP_PAD || parameter == M_TRIM_THRESHOLD ||
           parameter == M_MMAP_THRESHOLD || parameter == M_MMAP_MAX;
}

/* A worker that returns memory sets parameters back to what they were: not over the user's. */
XY_INTERPOSE int mallopt(int parameter, int value)
{
    if (is_about_growth(parameter) && is_ours) {
        while (atomic_flag_test_and_set(&is_looked_after))
            xy_relax();
        is_ours = false;
        atomic_flag_clear(&is_looked_after);
    }
    return set(parameter, value);
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33) && __SIZEOF_POINTER__ == 8

/* Is malloc the C library's, and not one that was preloaded or linked, or a sanitizer's? */
static bool is_plain_malloc(void)
{
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info found, library;

    return function != NULL && dladdr(function, &found) != 0 &&
           dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &library) != 0 &&
           found.dli_fbase == library.dli_fbase;
}

/* Whether the environment sets one of the malloc parameters that would be changed here. */
static bool is_set_by_user(void)
{
    static const char *const names[] = {"top_pad", "trim_threshold", "mmap_threshold", "mmap_max"};
    static const char *const variables[] = {"MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_",
                                            "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_"};
    const char *tunables = getenv("GLIBC_TUNABLES");
    char name[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(name, sizeof(name), "glibc.malloc.%s=", names[i]);
        if (getenv(variables[i]) != NULL || (tunables != NULL && strstr(tunables, name) != NULL))
            return true;
    }
    return false;
}

static bool is_limited(void)
{
    static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
    struct rlimit limit;

    for (int i = 0; i < 2; i++)
        if (getrlimit(kinds[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            return true;
    return false;
}

/* An open heap counts as used where the kernel promises no more memory than it has, and under the
 * limits of ulimit: an allocation would then fail because of its pad. */
static bool is_address_space_free(void)
{
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
    int mode = '0';

    if (file != NULL) {
        mode = fgetc(file);
        fclose(file);
    }
    return mode != '2' && !is_limited();
}

void process_heap_setup(void)
{
    if (!is_plain_malloc() || is_set_by_user() || !is_address_space_free())
        return;
    is_ours = set(M_TOP_PAD, TOP_PAD) != 0 && set(M_TRIM_THRESHOLD, TRIM_THRESHOLD) != 0 &&
              set(M_MMAP_THRESHOLD, MMAP_THRESHOLD) != 0;
}

/* The memory comes from this worker's arena; freeing it returns the top. It is allocated before the
 * pad is low, as it may need a new heap. */
static void return_top(void)
{
    void *memory = malloc(TRIMMING_FREE);

    set(M_TRIM_THRESHOLD, 0);
    set(M_TOP_PAD, 0);
    free(memory);
    set(M_TOP_PAD, TOP_PAD);
    set(M_TRIM_THRESHOLD, TRIM_THRESHOLD);
}

/* Bytes of memory that the process has; SIZE_MAX: not known. */
static size_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[128], *end = line;
    size_t pages = 0;

    if (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        strtoul(line, &end, 10); /* address space */
        pages = strtoul(end, &end, 10);
    }
    if (file != NULL)
        fclose(file);
    return pages > 0 ? pages * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX;
}

static bool is_pressing(size_t bytes)
{
    return bytes / (size_t)sysconf(_SC_PAGESIZE) >=
           (size_t)sysconf(_SC_PHYS_PAGES) / PRESSING_SHARE;
}

/* Return free memory to the system if there is much of it; returns the bytes that were free. One
 * worker at a time. `*is_late_p`: there is much, but other workers run. */
static size_t look(const xy_worker_t *worker, bool *is_late_p)
{
    struct mallinfo2 now = mallinfo2();
    size_t much = MUCH + now.uordblks / MUCH_SHARE, returned = 0;

    if (now.fordblks < kept)
        kept = now.fordblks;
    if (now.fordblks - kept >= much && resident() >= now.uordblks + much) {
        returned = now.fordblks - kept;
        *is_late_p = !xy_worker_others_sleep(worker) && !is_pressing(returned);
        if (*is_late_p)
            return 0;
        returns++;
    }
    if (own_returns != returns) {
        own_returns = returns;
        return_top();
    }
    if (returned > 0) {
        size_t left;

        malloc_trim(0);
        left = mallinfo2().fordblks;
        kept =
            left < now.fordblks ? left : now.fordblks; /* processes may have freed more meanwhile */
    }
    return returned;
}

double process_heap_rest(xy_worker_t *worker)
{
    double begin, end, pause;
    size_t returned;
    bool is_late = false;

    if (!is_ours)
        return 0;
    begin = xy_now();
    if (begin < next_look)
        return next_look - begin;
    if (atomic_flag_test_and_set(&is_looked_after))
        return least_pause;
    returned = is_ours ? look(worker, &is_late) : 0; /* mallopt may have come in between */
    atomic_flag_clear(&is_looked_after);
    end = xy_now();
    pause = least_pause + looking_share * (end - begin) +
            clearing_share * (double)returned / clear_bytes_per_second;
    pause = pause < most_pause ? pause : most_pause;
    next_look = end + pause;
    return is_late ? pause : 0;
}

#else

void process_heap_setup(void) {}

double process_heap_rest(xy_worker_t *worker)
{
    (void)worker;
    return 0;
}

#endif
