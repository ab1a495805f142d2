/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of OpenCL that wait. They stand in front of those of its loader (libOpenCL), for
 * programs and for libraries that call them; a process that looks them up with dlsym gets them,
 * too. A process starts what it would wait for, looks at the event until it is complete, and lets
 * other processes run meanwhile.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "process/libc/device_wait.h"
#include "process/libc/interpose.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The interface is stable, and its headers are not needed. Handles are pointers. */
enum {
    CL_SUCCESS_CODE = 0,
    CL_COMPLETE_STATUS = 0,
    CL_EVENTS_FAILED = -14,
    CL_EVENT_QUEUE = 0x11D0,
    CL_EVENT_STATUS = 0x11D3,
};

/* ---- What is behind them ---- */

#define FUNCTIONS(X)                                                                               \
    X(clFinish)                                                                                    \
    X(clWaitForEvents)                                                                             \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueReadBufferRect)                                                                     \
    X(clEnqueueWriteBufferRect)                                                                    \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueSVMMemcpy)

#define NUMBER(name) NUMBER_##name,
enum { FUNCTIONS(NUMBER) FUNCTION_COUNT };

#define NAME(name) #name,
static const char *const names[] = {FUNCTIONS(NAME)};
static void *_Atomic behind[FUNCTION_COUNT];

/* A function of the loader: the program is linked with it, or has loaded it. */
static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    void *library;

    if (found != NULL)
        return found;
    library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
    found = library != NULL ? dlsym(library, name) : NULL;
    return found != NULL ? found : process_interpose_next(name);
}

static void *real(int number)
{
    void *found = behind[number];

    if (found == NULL)
        behind[number] = found = find(names[number]);
    return found;
}

static int get_info(void *event, unsigned what, size_t size, void *value)
{
    static int (*next)(void *, unsigned, size_t, void *, size_t *);

    if (next == NULL)
        next = (int (*)(void *, unsigned, size_t, void *, size_t *))find("clGetEventInfo");
    return next(event, what, size, value, NULL);
}

static void flush(void *queue)
{
    static int (*next)(void *);

    if (next == NULL)
        next = (int (*)(void *))find("clFlush");
    next(queue);
}

static void release(void *event)
{
    static int (*next)(void *);

    if (next == NULL)
        next = (int (*)(void *))find("clReleaseEvent");
    next(event);
}

/* ---- Waiting ---- */

typedef struct {
    unsigned count;
    void *const *events;
} events_t;

/* An event that cannot be asked is left to the function behind. */
static bool are_over(void *arg)
{
    events_t *list = arg;

    for (; list->count > 0; list->count--, list->events++) {
        int status = CL_COMPLETE_STATUS;

        if (get_info(*list->events, CL_EVENT_STATUS, sizeof(status), &status) == CL_SUCCESS_CODE &&
            status > CL_COMPLETE_STATUS)
            return false;
    }
    return true;
}

static void wait_for(unsigned count, void *const *events)
{
    events_t list = {count, events};

    process_device_wait(are_over, &list);
}

/* Nothing is done before it was handed to the device. */
static void flush_queue_of(void *event)
{
    void *queue = NULL;

    if (get_info(event, CL_EVENT_QUEUE, sizeof(void *), &queue) == CL_SUCCESS_CODE && queue != NULL)
        flush(queue);
}

/* Wait for the command of a blocking call. The event is the caller's, or goes. */
static int finish(int code, void *queue, void *event, void **event_p)
{
    int status = CL_COMPLETE_STATUS;

    if (code != CL_SUCCESS_CODE)
        return code;
    flush(queue);
    wait_for(1, &event);
    get_info(event, CL_EVENT_STATUS, sizeof(status), &status);
    if (event_p != NULL)
        *event_p = event;
    else
        release(event);
    return status < CL_COMPLETE_STATUS ? CL_EVENTS_FAILED : CL_SUCCESS_CODE;
}

XY_INTERPOSE int clFinish(void *queue)
{
    static int (*mark)(void *, unsigned, void *const *, void **);
    int (*next)(void *) = (int (*)(void *))real(NUMBER_clFinish);
    void *event = NULL;

    if (process_device_may_wait()) {
        if (mark == NULL)
            mark = (int (*)(void *, unsigned, void *const *, void **))find(
                "clEnqueueMarkerWithWaitList");
        finish(mark(queue, 0, NULL, &event), queue, event, NULL);
    }
    return next(queue);
}

XY_INTERPOSE int clWaitForEvents(unsigned count, void *const *events)
{
    int (*next)(unsigned, void *const *) =
        (int (*)(unsigned, void *const *))real(NUMBER_clWaitForEvents);

    if (events != NULL && process_device_may_wait()) {
        for (unsigned i = 0; i < count; i++)
            flush_queue_of(events[i]);
        wait_for(count, events);
    }
    return next(count, events);
}

/* ---- Copies that block ---- */

#define PLAIN                                                                                      \
    (void *queue, void *memory, unsigned blocks, size_t offset, size_t bytes, void *host,          \
     unsigned count, void *const *events, void **event_p)
typedef int(*plain_fn) PLAIN;

static int copy_plain(plain_fn next, void *queue, void *memory, unsigned blocks, size_t offset,
                      size_t bytes, void *host, unsigned count, void *const *events, void **event_p)
{
    void *event = NULL;

    if (blocks == 0 || !process_device_may_wait())
        return next(queue, memory, blocks, offset, bytes, host, count, events, event_p);
    return finish(next(queue, memory, 0, offset, bytes, host, count, events, &event), queue, event,
                  event_p);
}

XY_INTERPOSE int clEnqueueReadBuffer PLAIN
{
    return copy_plain((plain_fn)real(NUMBER_clEnqueueReadBuffer), queue, memory, blocks, offset,
                      bytes, host, count, events, event_p);
}

XY_INTERPOSE int clEnqueueWriteBuffer PLAIN
{
    return copy_plain((plain_fn)real(NUMBER_clEnqueueWriteBuffer), queue, memory, blocks, offset,
                      bytes, host, count, events, event_p);
}

/* The places and pitches of a block in two memories. */
#define RECT                                                                                       \
    (void *queue, void *memory, unsigned blocks, const size_t *origin, const size_t *host_origin,  \
     const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,           \
     void *host, unsigned count, void *const *events, void **event_p)
typedef int(*rect_fn) RECT;

static int copy_rect(rect_fn next, void *queue, void *memory, unsigned blocks, const size_t *origin,
                     const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                     size_t host_row, size_t host_slice, void *host, unsigned count,
                     void *const *events, void **event_p)
{
    void *event = NULL;
    int code;

    if (blocks == 0 || !process_device_may_wait())
        return next(queue, memory, blocks, origin, host_origin, region, row, slice, host_row,
                    host_slice, host, count, events, event_p);
    code = next(queue, memory, 0, origin, host_origin, region, row, slice, host_row, host_slice,
                host, count, events, &event);
    return finish(code, queue, event, event_p);
}

XY_INTERPOSE int clEnqueueReadBufferRect RECT
{
    return copy_rect((rect_fn)real(NUMBER_clEnqueueReadBufferRect), queue, memory, blocks, origin,
                     host_origin, region, row, slice, host_row, host_slice, host, count, events,
                     event_p);
}

XY_INTERPOSE int clEnqueueWriteBufferRect RECT
{
    return copy_rect((rect_fn)real(NUMBER_clEnqueueWriteBufferRect), queue, memory, blocks, origin,
                     host_origin, region, row, slice, host_row, host_slice, host, count, events,
                     event_p);
}

typedef void *(*map_fn)(void *, void *, unsigned, uint64_t, size_t, size_t, unsigned, void *const *,
                        void **, int *);

XY_INTERPOSE void *clEnqueueMapBuffer(void *queue, void *memory, unsigned blocks, uint64_t flags,
                                      size_t offset, size_t bytes, unsigned count,
                                      void *const *events, void **event_p, int *code_p)
{
    map_fn next = (map_fn)real(NUMBER_clEnqueueMapBuffer);
    void *event = NULL, *address;
    int code = CL_SUCCESS_CODE;

    if (blocks == 0 || !process_device_may_wait())
        return next(queue, memory, blocks, flags, offset, bytes, count, events, event_p, code_p);
    address = next(queue, memory, 0, flags, offset, bytes, count, events, &event, &code);
    code = finish(code, queue, event, event_p);
    if (code_p != NULL)
        *code_p = code;
    return code == CL_SUCCESS_CODE ? address : NULL;
}

typedef int (*svm_fn)(void *, unsigned, void *, const void *, size_t, unsigned, void *const *,
                      void **);

XY_INTERPOSE int clEnqueueSVMMemcpy(void *queue, unsigned blocks, void *to, const void *from,
                                    size_t bytes, unsigned count, void *const *events,
                                    void **event_p)
{
    svm_fn next = (svm_fn)real(NUMBER_clEnqueueSVMMemcpy);
    void *event = NULL;

    if (blocks == 0 || !process_device_may_wait())
        return next(queue, blocks, to, from, bytes, count, events, event_p);
    return finish(next(queue, 0, to, from, bytes, count, events, &event), queue, event, event_p);
}

/* ---- For processes that look them up ---- */

#define OURS(name) (void *)name,

bool process_opencl_found(const char *name, void *found, void **ours_p)
{
    static void *const ours[] = {FUNCTIONS(OURS)};

    for (int i = 0; i < FUNCTION_COUNT; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        if (behind[i] == NULL && !process_interpose_is_own(found))
            behind[i] = found;
        *ours_p = ours[i];
        return true;
    }
    return false;
}
