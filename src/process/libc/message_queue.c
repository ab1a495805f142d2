/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues and semaphores of System V, and queues of POSIX: a process that waits for one lets the
 * other processes of its core run. */
#include <errno.h>
#include <math.h>
#include <mqueue.h>
#include <poll.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- System V ---- */

XY_INTERPOSE ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
    bool may_park = XY_MAY_PARK();
    ssize_t n = XY_NEXT(msgrcv)(queue, message, size, type, may_park ? flags | IPC_NOWAIT : flags);

    if (!may_park || n >= 0 || errno != ENOMSG)
        return n;
    if ((flags & IPC_NOWAIT) == 0)
        return process_block_call(SYS_msgrcv,
                                  XY_ARGUMENTS(queue, (long)message, (long)size, type, flags));
    process_yield();
    return n;
}

XY_INTERPOSE int msgsnd(int queue, const void *message, size_t size, int flags)
{
    bool may_park = XY_MAY_PARK();
    int result = XY_NEXT(msgsnd)(queue, message, size, may_park ? flags | IPC_NOWAIT : flags);

    if (!may_park || result == 0 || errno != EAGAIN)
        return result;
    if ((flags & IPC_NOWAIT) == 0)
        return (int)process_block_call(SYS_msgsnd,
                                       XY_ARGUMENTS(queue, (long)message, (long)size, flags));
    process_yield();
    return result;
}

/* Can they be done now? More than these are left to the other thread at once. */
static int try_operations(int set, const struct sembuf *operations, size_t n)
{
    enum { FEW = 16 };
    struct sembuf copy[FEW];

    if (n == 0 || n > FEW) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(copy, operations, n * sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i].sem_flg = (short)(copy[i].sem_flg | IPC_NOWAIT);
    return (int)syscall(SYS_semtimedop, set, copy, n, NULL);
}

static bool is_patient(const struct sembuf *operations, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((operations[i].sem_flg & IPC_NOWAIT) != 0)
            return false;
    return true;
}

typedef struct {
    int set;
    const struct sembuf *operations;
    size_t n;
    int result;
} operate_t;

static bool is_operated(void *arg)
{
    operate_t *o = arg;

    o->result = try_operations(o->set, o->operations, o->n);
    return o->result == 0 || errno != EAGAIN;
}

/* semtimedop() for a process: try at once, then let others run, in virtual time by polling. */
static int operate(int set, struct sembuf *operations, size_t n, const struct timespec *limit)
{
    operate_t o = {.set = set, .operations = operations, .n = n};

    if (is_operated(&o))
        return o.result;
    if (!is_patient(operations, n))
        process_yield();
    else if (limit != NULL && process_runtime.clock != NULL) {
        if (process_block_look(is_operated, &o,
                               (double)limit->tv_sec + 1e-9 * (double)limit->tv_nsec, true))
            return o.result;
        errno = EAGAIN;
        return -1;
    }
    return (int)process_block_call(SYS_semtimedop,
                                   XY_ARGUMENTS(set, (long)operations, (long)n, (long)limit));
}

XY_INTERPOSE int semop(int set, struct sembuf *operations, size_t n)
{
    return XY_MAY_PARK() ? operate(set, operations, n, NULL) : XY_NEXT(semop)(set, operations, n);
}

XY_INTERPOSE int semtimedop(int set, struct sembuf *operations, size_t n,
                            const struct timespec *limit)
{
    return XY_MAY_PARK() ? operate(set, operations, n, limit)
                         : XY_NEXT(semtimedop)(set, operations, n, limit);
}

/* ---- POSIX: a queue is a descriptor here ---- */

static bool is_ready(mqd_t queue, short events)
{
    struct pollfd one = {.fd = queue, .events = events};
    struct timespec none = {0, 0};

    return syscall(SYS_ppoll, &one, 1, &none, NULL, 8) != 0;
}

static bool would_wait(mqd_t queue, short events)
{
    struct mq_attr attributes;

    if (is_ready(queue, events))
        return false;
    if (mq_getattr(queue, &attributes) == 0 && (attributes.mq_flags & O_NONBLOCK) == 0)
        return true;
    process_yield();
    return false;
}

typedef struct {
    mqd_t queue;
    short events;
} ready_t;

static bool is_queue_ready(void *arg)
{
    const ready_t *r = arg;

    return is_ready(r->queue, r->events);
}

/* The deadline is one of the process's clock; false: it has passed. */
static bool wait_until(mqd_t queue, short events, const struct timespec *deadline)
{
    ready_t r = {.queue = queue, .events = events};

    if (process_block_look(is_queue_ready, &r,
                           fmax(0, process_seconds_until(CLOCK_REALTIME, deadline)), true))
        return true;
    errno = ETIMEDOUT;
    return false;
}

static bool is_virtual_deadline(const struct timespec *deadline)
{
    return process_runtime.clock != NULL && deadline != NULL && deadline->tv_nsec >= 0 &&
           deadline->tv_nsec < 1000000000L;
}

XY_INTERPOSE ssize_t mq_timedreceive(mqd_t queue, char *message, size_t size, unsigned *priority,
                                     const struct timespec *deadline)
{
    if (!XY_MAY_PARK() || !would_wait(queue, POLLIN))
        return XY_NEXT(mq_timedreceive)(queue, message, size, priority, deadline);
    if (is_virtual_deadline(deadline))
        return wait_until(queue, POLLIN, deadline)
                   ? XY_NEXT(mq_timedreceive)(queue, message, size, priority, deadline)
                   : -1;
    return process_block_call(SYS_mq_timedreceive, XY_ARGUMENTS(queue, (long)message, (long)size,
                                                                (long)priority, (long)deadline));
}

XY_INTERPOSE ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority)
{
    if (!XY_MAY_PARK() || !would_wait(queue, POLLIN))
        return XY_NEXT(mq_receive)(queue, message, size, priority);
    return process_block_call(SYS_mq_timedreceive,
                              XY_ARGUMENTS(queue, (long)message, (long)size, (long)priority));
}

XY_INTERPOSE int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority,
                              const struct timespec *deadline)
{
    if (!XY_MAY_PARK() || !would_wait(queue, POLLOUT))
        return XY_NEXT(mq_timedsend)(queue, message, size, priority, deadline);
    if (is_virtual_deadline(deadline))
        return wait_until(queue, POLLOUT, deadline)
                   ? XY_NEXT(mq_timedsend)(queue, message, size, priority, deadline)
                   : -1;
    return (int)process_block_call(
        SYS_mq_timedsend, XY_ARGUMENTS(queue, (long)message, (long)size, priority, (long)deadline));
}

XY_INTERPOSE int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority)
{
    if (!XY_MAY_PARK() || !would_wait(queue, POLLOUT))
        return XY_NEXT(mq_send)(queue, message, size, priority);
    return (int)process_block_call(SYS_mq_timedsend,
                                   XY_ARGUMENTS(queue, (long)message, (long)size, priority));
}
