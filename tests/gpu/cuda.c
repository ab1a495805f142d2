/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver of CUDA for tests, built as libcuda.so.1: two devices that this machine does not have.
 *
 * Streams are threads, so everything that is put into one happens later and beside the others.
 * Memory of a device cannot be touched by the host: its addresses are mapped without access, and
 * the driver uses a second mapping of the same pages. What a real driver keeps per thread (the
 * current context) is kept per thread, and functions refuse what the real ones refuse, as far as
 * it matters here. Kernels are shared objects that nvrtc.c compiles.
 *
 * Words in TEST_CUDA: "alone", the program is no rank and may release the context; "unpinned", no
 * memory of the program can be registered; "strict", copies of memory that is neither registered
 * nor the driver's are refused; "crowd", cuEventRecord returns when CROWD calls are in it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef unsigned long long address_t;
typedef int result_t;

enum { SUCCESS, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_CONTEXT = 201, NOT_FOUND = 500 };
enum {
    NOT_PERMITTED = 800,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    DEVICES = 2,
    MAX_STREAMS = 1024,
    ROOM = 1 << 28
};

static bool is_asked(const char *word)
{
    const char *words = getenv("TEST_CUDA");

    return words != NULL && strstr(words, word) != NULL;
}

/* ---- Contexts: one per device, and more where a program makes them ---- */

typedef struct {
    int device;
} context_t;

static context_t primary[DEVICES] = {{0}, {1}};
static __thread context_t *current;

/* As NVIDIA's: it looks for functions of the process that this one lacks, and lets go of it at the
 * end, when no rank runs. */
static void *process;

result_t cuInit(unsigned flags)
{
    (void)flags;
    if (process == NULL)
        process = dlopen(NULL, RTLD_LAZY);
    if (process == NULL || dlvsym(process, "no_such_function", "GLIBC_2.17") != NULL)
        abort();
    return SUCCESS;
}

__attribute__((destructor)) static void let_go(void)
{
    if (process != NULL && dlclose(process) != 0)
        abort();
}

result_t cuDriverGetVersion(int *version)
{
    *version = 12000;
    return SUCCESS;
}

result_t cuDeviceGetCount(int *count)
{
    *count = DEVICES;
    return SUCCESS;
}

result_t cuDeviceGet(int *device, int number)
{
    *device = number;
    return number < DEVICES ? SUCCESS : INVALID_VALUE;
}

result_t cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "test device %d", device);
    return SUCCESS;
}

result_t cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = ROOM;
    return SUCCESS;
}

result_t cuDeviceGetAttribute(int *value, int what, int device)
{
    (void)device;
    *value = what == 75 ? 9 : 0;
    return SUCCESS;
}

result_t cuDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02X:00.0", device + 1);
    return SUCCESS;
}

result_t cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &primary[device];
    return SUCCESS;
}

result_t cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    if (is_asked("alone"))
        return SUCCESS;
    fprintf(stderr, "the context was released under the feet of other ranks\n");
    abort();
}

result_t cuDevicePrimaryCtxReset_v2(int device)
{
    (void)device;
    fprintf(stderr, "the device was reset under the feet of other ranks\n");
    abort();
}

result_t cuCtxGetCurrent(void **context)
{
    *context = current;
    return SUCCESS;
}

result_t cuCtxSetCurrent(void *context)
{
    current = context;
    return SUCCESS;
}

result_t cuCtxGetDevice(int *device)
{
    if (current == NULL)
        return NO_CONTEXT;
    *device = current->device;
    return SUCCESS;
}

/* As one that a program makes for itself. */
result_t cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    current = calloc(1, sizeof(*current));
    current->device = device;
    *context = current;
    return SUCCESS;
}

/* ---- What runtimes keep with a context: a list without a lock, as NVIDIA's ---- */

typedef struct kept {
    context_t *context;
    void *key, *value;
    struct kept *next;
} kept_t;

static kept_t *kept;
static int list_users;

static kept_t **find_kept(context_t *context, const void *key)
{
    kept_t **k = &kept;

    if (context == NULL)
        context = current;
    if (__atomic_add_fetch(&list_users, 1, __ATOMIC_ACQ_REL) > 1) {
        fprintf(stderr, "two ranks are in the list of what contexts keep\n");
        abort();
    }
    usleep(100);
    while (*k != NULL && ((*k)->context != context || (*k)->key != key))
        k = &(*k)->next;
    return k;
}

static result_t leave_list(result_t r)
{
    __atomic_sub_fetch(&list_users, 1, __ATOMIC_ACQ_REL);
    return r;
}

static result_t keep_put(context_t *context, void *key, void *value, void *destroy)
{
    kept_t **k = find_kept(context, key), *made;

    (void)destroy;
    made = malloc(sizeof(*made));
    *made = (kept_t){context != NULL ? context : current, key, value, *k};
    *k = made;
    return leave_list(SUCCESS);
}

static result_t keep_delete(context_t *context, void *key)
{
    kept_t **k = find_kept(context, key), *old = *k;

    if (old == NULL)
        return leave_list(INVALID_HANDLE);
    *k = old->next;
    free(old);
    return leave_list(SUCCESS);
}

static result_t keep_get(void **value, context_t *context, void *key)
{
    kept_t **k = find_kept(context, key);

    if (*k == NULL)
        return leave_list(INVALID_HANDLE);
    *value = (*k)->value;
    return leave_list(SUCCESS);
}

result_t cuGetExportTable(const void **table, const void *id)
{
    static void *const functions[4] = {(void *)keep_put, (void *)keep_delete, (void *)keep_get};

    *table = functions;
    return memcmp(id, "\xc6\x93\x33\x6e\x11\x21\xdf\x11", 8) == 0 ? SUCCESS : NOT_FOUND;
}

/* ---- Memory: two mappings of one file ---- */

enum { BESIDE = 1 << 16 };

static char *seen, *used; /* by programs, without access; by the driver */
static size_t next_place;
static pthread_once_t mapped = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void map(void)
{
    int fd = memfd_create("device", 0);

    if (fd < 0 || ftruncate(fd, ROOM) != 0)
        abort();
    seen = mmap(NULL, ROOM, PROT_NONE, MAP_SHARED, fd, 0);
    used = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (seen == MAP_FAILED || used == MAP_FAILED ||
        mmap(seen + ROOM - BESIDE, BESIDE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
}

static bool is_device(address_t a)
{
    return seen != NULL && a >= (uintptr_t)seen && a < (uintptr_t)seen + ROOM - BESIDE;
}

/* For tests: memory of the host right behind that of the devices. */
char *fake_beside(void)
{
    pthread_once(&mapped, map);
    return seen + ROOM - BESIDE;
}

/* Where the driver reaches it. */
static char *reach(address_t a)
{
    return is_device(a) ? used + (a - (uintptr_t)seen) : (char *)(uintptr_t)a;
}

/* What it does is a thread's, which it knows by its number: none may come in while another call
 * waits inside. */
static pid_t inside[64];

static void lock_slowly(void)
{
    pid_t self = (pid_t)syscall(SYS_gettid), nobody = 0;
    size_t i;

    for (i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
        if (__atomic_load_n(&inside[i], __ATOMIC_ACQUIRE) == self) {
            fprintf(stderr, "a rank entered the driver inside another rank's call\n");
            abort();
        }
    for (i = 0; !__atomic_compare_exchange_n(&inside[i], &nobody, self, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE);
         i = (i + 1) % (sizeof(inside) / sizeof(inside[0])))
        nobody = 0;
    pthread_mutex_lock(&lock);
    usleep(100);
}

static void unlock_slowly(void)
{
    pid_t self = (pid_t)syscall(SYS_gettid);

    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
        if (__atomic_load_n(&inside[i], __ATOMIC_ACQUIRE) == self)
            __atomic_store_n(&inside[i], 0, __ATOMIC_RELEASE);
}

result_t cuMemAlloc_v2(address_t *address, size_t bytes)
{
    result_t r = OUT_OF_MEMORY;

    if (current == NULL)
        return NO_CONTEXT;
    pthread_once(&mapped, map);
    bytes = (bytes + 255) & ~(size_t)255;
    lock_slowly();
    if (next_place + bytes <= ROOM / 2) { /* the halves are the two devices' */
        *address = (uintptr_t)seen + (size_t)current->device * (ROOM / 2) + next_place;
        next_place += bytes;
        r = SUCCESS;
    }
    unlock_slowly();
    return r;
}

result_t cuMemFree_v2(address_t address)
{
    (void)address;
    return SUCCESS;
}

result_t cuMemGetInfo_v2(size_t *left, size_t *all)
{
    *all = ROOM / 2;
    *left = ROOM / 2 - next_place;
    return SUCCESS;
}

/* Memory of the host that is pinned. */
enum { MAX_PINNED = 4096 };

static struct {
    uintptr_t from, to; /* 0: a free place */
} pinned[MAX_PINNED];

static result_t pin(const void *address, size_t bytes)
{
    result_t r = OUT_OF_MEMORY;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PINNED && r != SUCCESS; i++)
        if (pinned[i].from == 0) {
            pinned[i].from = (uintptr_t)address;
            pinned[i].to = (uintptr_t)address + bytes;
            r = SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return r;
}

static void unpin(const void *address)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PINNED; i++)
        if (pinned[i].from == (uintptr_t)address)
            pinned[i].from = pinned[i].to = 0;
    pthread_mutex_unlock(&lock);
}

/* May a copy touch this memory of the host? */
static bool may_copy(const void *address, size_t bytes)
{
    bool is = !is_asked("strict");

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PINNED && !is; i++)
        is = pinned[i].from != 0 && pinned[i].from <= (uintptr_t)address &&
             (uintptr_t)address + bytes <= pinned[i].to;
    pthread_mutex_unlock(&lock);
    return is;
}

result_t cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    *address = malloc(bytes);
    return *address != NULL ? pin(*address, bytes) : OUT_OF_MEMORY;
}

result_t cuMemFreeHost(void *address)
{
    unpin(address);
    free(address);
    return SUCCESS;
}

result_t cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    (void)flags;
    return is_asked("unpinned") ? NOT_PERMITTED : pin(address, bytes);
}

result_t cuMemHostUnregister(void *address)
{
    unpin(address);
    return SUCCESS;
}

result_t cuPointerGetAttributes(unsigned count, int *attributes, void **values, address_t address)
{
    bool is = is_device(address);
    int device = is && address >= (uintptr_t)seen + ROOM / 2;

    for (unsigned i = 0; i < count; i++)
        if (attributes[i] == 1)
            *(void **)values[i] = is ? &primary[device] : NULL;
        else if (attributes[i] == 2)
            *(unsigned *)values[i] = is ? 2 : 0;
        else if (attributes[i] == 9)
            *(int *)values[i] = is ? device : -2;
        else
            return INVALID_VALUE;
    return SUCCESS;
}

/* ---- Streams: a thread each ---- */

typedef struct work {
    void (*run)(struct work *);
    struct work *next;
    char *to, *from;
    size_t bytes;
    void *function, *argument;
    unsigned grid[3], group[3];
    struct stream *stream; /* to wait for */
    uint64_t until;
} work_t;

typedef struct stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    work_t *first, **last;
    uint64_t put, done;
    context_t *context;
    bool is_blocking;
} stream_t;

typedef struct event {
    stream_t *stream;
    uint64_t until;
} event_t;

static stream_t *streams[MAX_STREAMS];
static int stream_count;
static stream_t *legacy[DEVICES];

static void *serve(void *arg)
{
    stream_t *s = arg;

    for (;;) {
        work_t *w;

        pthread_mutex_lock(&s->lock);
        while (s->first == NULL)
            pthread_cond_wait(&s->changed, &s->lock);
        w = s->first;
        s->first = w->next;
        if (s->first == NULL)
            s->last = &s->first;
        pthread_mutex_unlock(&s->lock);
        w->run(w);
        free(w);
        pthread_mutex_lock(&s->lock);
        s->done++;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static stream_t *make_stream(bool is_blocking)
{
    stream_t *s = calloc(1, sizeof(*s));
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->last = &s->first;
    s->context = current;
    s->is_blocking = is_blocking;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 21);
    if (pthread_create(&thread, &attributes, serve, s) != 0)
        abort();
    pthread_mutex_lock(&lock);
    if (stream_count < MAX_STREAMS)
        streams[stream_count++] = s;
    pthread_mutex_unlock(&lock);
    return s;
}

static void wait_until(stream_t *s, uint64_t until)
{
    pthread_mutex_lock(&s->lock);
    while (s->done < until)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static bool is_over(stream_t *s, uint64_t until)
{
    bool is;

    pthread_mutex_lock(&s->lock);
    is = s->done >= until;
    pthread_mutex_unlock(&s->lock);
    return is;
}

/* The default stream of a process waits for those that block, and they for it; here the caller
 * waits, which is slower and as good. */
static stream_t *stream_at(void *handle)
{
    stream_t *s;

    if (handle > (void *)2) {
        s = handle;
        if (s->is_blocking && legacy[s->context->device] != NULL)
            wait_until(legacy[s->context->device], legacy[s->context->device]->put);
        return s;
    }
    if (current == NULL)
        return NULL;
    if (legacy[current->device] == NULL)
        legacy[current->device] = make_stream(false);
    for (int i = 0; i < stream_count; i++)
        if (streams[i]->is_blocking && streams[i]->context == current)
            wait_until(streams[i], streams[i]->put);
    return legacy[current->device];
}

static result_t put(void *handle, work_t content)
{
    stream_t *s = stream_at(handle);
    work_t *w = malloc(sizeof(*w));

    if (s == NULL || w == NULL)
        return NO_CONTEXT;
    if (s->context != current) {
        free(w);
        return INVALID_HANDLE; /* as a launch into a stream of another context */
    }
    *w = content;
    w->next = NULL;
    pthread_mutex_lock(&s->lock);
    *s->last = w;
    s->last = &w->next;
    s->put++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return SUCCESS;
}

result_t cuStreamCreate(void **stream, unsigned flags)
{
    if (current == NULL)
        return NO_CONTEXT;
    *stream = make_stream((flags & 1) == 0);
    return SUCCESS;
}

result_t cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)priority;
    return cuStreamCreate(stream, flags);
}

result_t cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    return SUCCESS;
}

result_t cuStreamSynchronize(void *stream)
{
    stream_t *s = stream_at(stream);

    if (s == NULL)
        return NO_CONTEXT;
    wait_until(s, s->put);
    return SUCCESS;
}

result_t cuStreamQuery(void *stream)
{
    stream_t *s = stream > (void *)2 ? stream : stream_at(stream);

    if (s == NULL)
        return NO_CONTEXT;
    return is_over(s, s->put) ? SUCCESS : NOT_READY;
}

result_t cuCtxSynchronize(void)
{
    for (int i = 0; i < stream_count; i++)
        wait_until(streams[i], streams[i]->put);
    return SUCCESS;
}

/* ---- Events ---- */

result_t cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(event_t));
    return SUCCESS;
}

result_t cuEventDestroy_v2(void *event)
{
    free(event);
    return SUCCESS;
}

/* As where the queue of a device is full, and it waits for what the last caller puts there. */
static void wait_for_crowd(void)
{
    enum { CROWD = 12 };
    static int callers;

    __atomic_add_fetch(&callers, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&callers, __ATOMIC_ACQUIRE) < CROWD)
        usleep(1000);
}

result_t cuEventRecord(void *event, void *stream)
{
    event_t *e = event;

    if (is_asked("crowd"))
        wait_for_crowd();
    e->stream = stream_at(stream);
    e->until = e->stream->put;
    return SUCCESS;
}

result_t cuEventQuery(void *event)
{
    event_t *e = event;

    return e->stream == NULL || is_over(e->stream, e->until) ? SUCCESS : NOT_READY;
}

result_t cuEventSynchronize(void *event)
{
    event_t *e = event;

    if (e->stream != NULL)
        wait_until(e->stream, e->until);
    return SUCCESS;
}

result_t cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    (void)from;
    (void)to;
    *milliseconds = 0;
    return SUCCESS;
}

static void run_wait(work_t *w)
{
    wait_until(w->stream, w->until);
}

result_t cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    event_t *e = event;

    (void)flags;
    if (e->stream == NULL)
        return SUCCESS;
    return put(stream, (work_t){.run = run_wait, .stream = e->stream, .until = e->until});
}

/* ---- Copies ---- */

static void run_copy(work_t *w)
{
    memcpy(w->to, w->from, w->bytes);
}

result_t cuMemcpyAsync(address_t to, address_t from, size_t bytes, void *stream)
{
    return put(stream,
               (work_t){.run = run_copy, .to = reach(to), .from = reach(from), .bytes = bytes});
}

result_t cuMemcpyHtoDAsync_v2(address_t to, const void *from, size_t bytes, void *stream)
{
    return is_device(to) && may_copy(from, bytes)
               ? cuMemcpyAsync(to, (uintptr_t)from, bytes, stream)
               : INVALID_VALUE;
}

result_t cuMemcpyDtoHAsync_v2(void *to, address_t from, size_t bytes, void *stream)
{
    return is_device(from) && may_copy(to, bytes)
               ? cuMemcpyAsync((uintptr_t)to, from, bytes, stream)
               : INVALID_VALUE;
}

result_t cuMemcpyDtoDAsync_v2(address_t to, address_t from, size_t bytes, void *stream)
{
    return is_device(to) && is_device(from) ? cuMemcpyAsync(to, from, bytes, stream)
                                            : INVALID_VALUE;
}

/* CUDA_MEMCPY2D, with memory of the type "unified" on both sides. */
typedef struct {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    address_t from;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    void *to_host;
    address_t to;
    void *to_array;
    size_t to_pitch, width, height;
} rows_t;

result_t cuMemcpy2DAsync_v2(const rows_t *rows, void *stream)
{
    result_t r = rows->from_type == 4 && rows->to_type == 4 && rows->from_pitch >= rows->width &&
                         rows->to_pitch >= rows->width
                     ? SUCCESS
                     : INVALID_VALUE;

    for (size_t i = 0; i < rows->height && r == SUCCESS; i++)
        r = cuMemcpyAsync(rows->to + i * rows->to_pitch, rows->from + i * rows->from_pitch,
                          rows->width, stream);
    return r;
}

static result_t now(result_t r)
{
    return r == SUCCESS ? cuStreamSynchronize(NULL) : r;
}

result_t cuMemcpy(address_t to, address_t from, size_t bytes)
{
    return now(cuMemcpyAsync(to, from, bytes, NULL));
}

result_t cuMemcpyHtoD_v2(address_t to, const void *from, size_t bytes)
{
    return now(cuMemcpyHtoDAsync_v2(to, from, bytes, NULL));
}

result_t cuMemcpyDtoH_v2(void *to, address_t from, size_t bytes)
{
    return now(cuMemcpyDtoHAsync_v2(to, from, bytes, NULL));
}

result_t cuMemcpyDtoD_v2(address_t to, address_t from, size_t bytes)
{
    return now(cuMemcpyDtoDAsync_v2(to, from, bytes, NULL));
}

/* ---- Kernels ---- */

static void run_host(work_t *w)
{
    ((void (*)(void *))w->function)(w->argument);
}

static void write_word(work_t *w)
{
    __atomic_store_n((uint32_t *)w->to, (uint32_t)w->until, __ATOMIC_RELEASE);
}

result_t cuStreamWriteValue32_v2(void *stream, address_t to, uint32_t value, unsigned flags)
{
    (void)flags;
    return put(stream, (work_t){.run = write_word, .to = reach(to), .until = value});
}

result_t cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument)
{
    return put(stream,
               (work_t){.run = run_host, .function = (void *)function, .argument = argument});
}

/* What nvrtc.c calls an image is the name of a file. */
#include "cuda_kernels.inc"

result_t cuGetErrorName(result_t r, const char **text)
{
    *text = r == NO_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR";
    return SUCCESS;
}

result_t cuGetErrorString(result_t r, const char **text)
{
    *text = r == NO_CONTEXT ? "invalid context" : "an error";
    return SUCCESS;
}

/* ---- As the runtime finds functions ---- */

result_t cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                             void *state)
{
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    char text[128];

    (void)version;
    (void)flags;
    (void)state;
    snprintf(text, sizeof(text), "%s_v2", name);
    *address = dlsym(self, text);
    if (*address == NULL)
        *address = dlsym(self, name);
    return *address != NULL ? SUCCESS : NOT_FOUND;
}
