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
 * nor the driver's are refused; "crowd", cuEventRecord returns when CROWD calls are in it; "late",
 * streams do nothing before somebody waits for it (cuda_streams.inc).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
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

/* The thread inside, by its number: none may come in while another call waits inside. */
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

/* Pieces of memory, by the power of two that they fit into. */
enum { CLASSES = 32, SMALLEST = 8, FRESH = 0xa5, STALE = 0xdb };

typedef struct piece {
    size_t place, bytes;
    bool is_used;
    struct piece *next; /* of the same class and device, free */
} piece_t;

static piece_t pieces[1 << 16], *unused[DEVICES][CLASSES];
static int piece_count;

/* The lock is held. NULL: there is no room left. */
static piece_t *take_piece(int device, size_t bytes)
{
    int class = SMALLEST;
    piece_t *p;

    while (((size_t)1 << class) < bytes)
        class ++;
    p = unused[device][class];
    if (p != NULL) {
        unused[device][class] = p->next;
    } else if (next_place + ((size_t)1 << class) <= ROOM / 2 - BESIDE &&
               piece_count < (int)(sizeof(pieces) / sizeof(pieces[0]))) {
        p = &pieces[piece_count++];
        *p = (piece_t){.place = (size_t)device * (ROOM / 2) + next_place};
        p->bytes = (size_t)1 << class;
        next_place += p->bytes; /* of both devices: the halves are theirs */
    }
    if (p != NULL)
        p->is_used = true;
    return p;
}

result_t cuMemAlloc_v2(address_t *address, size_t bytes)
{
    piece_t *p;

    if (current == NULL)
        return NO_CONTEXT;
    pthread_once(&mapped, map);
    lock_slowly();
    p = take_piece(current->device, bytes);
    if (p != NULL)
        *address = (uintptr_t)seen + p->place;
    unlock_slowly();
    return p != NULL ? SUCCESS : OUT_OF_MEMORY;
}

/* The old contents are gone. */
static result_t give_back(address_t address)
{
    result_t r = INVALID_VALUE;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < piece_count && r != SUCCESS; i++) {
        piece_t *p = &pieces[i], **list = unused[p->place >= ROOM / 2];
        int class = SMALLEST;

        if (!p->is_used || (uintptr_t)seen + p->place != address)
            continue;
        while (((size_t)1 << class) < p->bytes)
            class ++;
        memset(used + p->place, STALE, p->bytes);
        p->is_used = false;
        p->next = list[class];
        list[class] = p;
        r = SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return r;
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
    bool is_managed;
} pinned[MAX_PINNED];

static result_t pin(const void *address, size_t bytes, bool is_managed)
{
    result_t r = OUT_OF_MEMORY;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PINNED && r != SUCCESS; i++)
        if (pinned[i].from == 0) {
            pinned[i].from = (uintptr_t)address;
            pinned[i].to = (uintptr_t)address + bytes;
            pinned[i].is_managed = is_managed;
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

static bool is_pinned(const void *address, size_t bytes)
{
    bool is = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PINNED && !is; i++)
        is = pinned[i].from != 0 && pinned[i].from <= (uintptr_t)address &&
             (uintptr_t)address + bytes <= pinned[i].to;
    pthread_mutex_unlock(&lock);
    return is;
}

/* May a copy touch this memory of the host? */
static bool may_copy(const void *address, size_t bytes)
{
    return !is_asked("strict") || is_pinned(address, bytes);
}

result_t cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    *address = malloc(bytes);
    return *address != NULL ? pin(*address, bytes, false) : OUT_OF_MEMORY;
}

result_t cuCtxSynchronize(void);

/* Memory is freed when nothing uses it any more. */
result_t cuMemFreeHost(void *address)
{
    cuCtxSynchronize();
    unpin(address);
    free(address);
    return SUCCESS;
}

/* Memory of host and device at once. */
result_t cuMemAllocManaged(address_t *address, size_t bytes, unsigned flags)
{
    void *memory = malloc(bytes);

    (void)flags;
    *address = (uintptr_t)memory;
    return memory != NULL ? pin(memory, bytes, true) : OUT_OF_MEMORY;
}

static bool is_managed(address_t address)
{
    bool is = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PINNED && !is; i++)
        is = pinned[i].is_managed && address >= pinned[i].from && address < pinned[i].to;
    pthread_mutex_unlock(&lock);
    return is;
}

result_t cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    (void)flags;
    return is_asked("unpinned") ? NOT_PERMITTED : pin(address, bytes, false);
}

result_t cuMemHostUnregister(void *address)
{
    unpin(address);
    return SUCCESS;
}

result_t cuMemFree_v2(address_t address)
{
    if (is_managed(address))
        return cuMemFreeHost((void *)(uintptr_t)address);
    cuCtxSynchronize();
    return give_back(address);
}

result_t cuPointerGetAttributes(unsigned count, int *attributes, void **values, address_t address)
{
    bool is_both = is_managed(address), is = is_both || is_device(address);
    int device = is && !is_both && address >= (uintptr_t)seen + ROOM / 2;

    for (unsigned i = 0; i < count; i++)
        if (attributes[i] == 1)
            *(void **)values[i] = is ? &primary[device] : NULL;
        else if (attributes[i] == 2)
            *(unsigned *)values[i] = is ? 2 : 0;
        else if (attributes[i] == 8)
            *(unsigned *)values[i] = is_both;
        else if (attributes[i] == 9)
            *(int *)values[i] = is ? device : -2;
        else
            return INVALID_VALUE;
    return SUCCESS;
}

#include "cuda_streams.inc"

#include "cuda_copies.inc"

/* ---- Kernels ---- */

/* With TEST_CUDA_ONE one after the other, as a driver that has one thread for them. */
static void run_host(work_t *w)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    int is_one = getenv("TEST_CUDA_ONE") != NULL;

    if (is_one)
        pthread_mutex_lock(&one);
    ((void (*)(void *))w->function)(w->argument);
    if (is_one)
        pthread_mutex_unlock(&one);
}

static void write_word(work_t *w)
{
    __atomic_store_n((uint32_t *)w->to, (uint32_t)w->until, __ATOMIC_RELEASE);
}

result_t cuStreamWriteValue32_v2(void *stream, address_t to, uint32_t value, unsigned flags)
{
    event_t event;
    result_t r =
        put_at(stream, (work_t){.run = write_word, .to = reach(to), .until = value}, &event);

    (void)flags;
    if (r == SUCCESS)
        is_over(event.stream, event.until); /* somebody looks at the word */
    return r;
}

result_t cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument)
{
    return put(stream,
               (work_t){.run = run_host, .function = (void *)function, .argument = argument});
}

/* In nvrtc.c an image is the name of a file. */
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
