/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Can any thread of the process still move?
 *
 * Threads of the program wait for each other in ways that the pool does not see: pthread_join, a
 * barrier of OpenMP, a condition. In the kernel all of them are the same: a futex without a time
 * limit, which only another thread can wake. When every thread is there, and visitors wait in their
 * parks, none will ever run again, but for the one that looks.
 *
 * The kernel shows the system call of each thread in /proc/self/task/N/syscall. A look takes time,
 * and threads may run meanwhile; so there are two, and each thread must be in the same call, and
 * must not have been scheduled since the first: then all of them were still between the two. A
 * futex of other processes (a semaphore in shared memory) has other threads to wake it; those are
 * recognised by the flag, and pthread_join, which lacks it too, by what it waits for: the number of
 * a thread here. One thread that only looks at others may wait for anything: the bystander.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fiber/fiber_private.h"

typedef struct {
    unsigned long number, address, operation, value, timeout, unused, mask;
    unsigned long switches;
} call_t;

enum { TEXT_SIZE = 256 };

static atomic_long bystander;

void xy_fiber_thread_is_bystander(void)
{
    atomic_store(&bystander, (long)gettid());
}

/* Read a file of a thread in /proc as text; false if it is empty or the thread has ended. */
static bool read_text(long thread, const char *what, char text[TEXT_SIZE])
{
    char path[64];
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/%s", thread, what);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, text, TEXT_SIZE - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* `count` numbers, decimal or with 0x, with blanks between them. */
static bool read_numbers(const char *text, unsigned long *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;

        numbers[i] = strtoul(text, &end, 0);
        if (end == text)
            return false;
        text = end;
    }
    return true;
}

/* The number of the call, its arguments, and how often the thread was scheduled. False: it runs, or
 * cannot be looked at. */
static bool read_call(long thread, call_t *call)
{
    unsigned long call_words[7], time_words[3];
    char text[TEXT_SIZE];

    if (!read_text(thread, "syscall", text) || !read_numbers(text, call_words, 7) ||
        !read_text(thread, "schedstat", text) || !read_numbers(text, time_words, 3))
        return false;
    *call = (call_t){.number = call_words[0],
                     .address = call_words[1],
                     .operation = call_words[2],
                     .value = call_words[3],
                     .timeout = call_words[4],
                     .unused = call_words[5],
                     .mask = call_words[6],
                     .switches = time_words[2]};
    return true;
}

static bool is_thread(unsigned long number)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%lu", number);
    return access(path, F_OK) == 0;
}

/* Does it wait for a thread of this process, without a time limit? */
static bool waits_for_ever(const call_t *call)
{
    unsigned long operation = call->operation & (unsigned long)FUTEX_CMD_MASK;

    if (call->number != SYS_futex ||
        (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET && operation != FUTEX_LOCK_PI))
        return false;
    if ((uint32_t)call->mask == FIBER_VISITOR_MASK && operation == FUTEX_WAIT_BITSET)
        return true; /* it looks at the clock, but does nothing for others */
    return call->timeout == 0 &&
           ((call->operation & FUTEX_PRIVATE_FLAG) != 0 || is_thread(call->value));
}

/* Add up what all threads but this one do; false: one of them may move. */
static bool look_at_all(uint64_t *sum)
{
    DIR *directory = opendir("/proc/self/task");
    long self = (long)gettid();
    bool is_still = directory != NULL;

    *sum = 0;
    for (struct dirent *e; is_still && (e = readdir(directory)) != NULL;) {
        long thread = strtol(e->d_name, NULL, 10);
        call_t call = {0};

        if (thread <= 0 || thread == self || thread == atomic_load(&bystander))
            continue;
        is_still = read_call(thread, &call) && waits_for_ever(&call);
        *sum = (*sum ^ (uint64_t)thread) * UINT64_C(0x9e3779b97f4a7c15) + call.address;
        *sum = (*sum ^ call.switches) * UINT64_C(0xbf58476d1ce4e5b9) + call.operation;
    }
    if (directory != NULL)
        closedir(directory);
    return is_still;
}

/* Another that looks at the same time is not still: one at a time, and again after a moment. */
bool fiber_threads_are_still(void)
{
    static atomic_flag one = ATOMIC_FLAG_INIT;
    bool is_still = false;
    uint64_t first, second;

    if (atomic_flag_test_and_set(&one))
        return false;
    for (int i = 0; i < 3 && !is_still; i++) {
        if (i > 0)
            fiber_thread_sleep(0.005);
        is_still = look_at_all(&first) && look_at_all(&second) && first == second;
    }
    atomic_flag_clear(&one);
    return is_still;
}
