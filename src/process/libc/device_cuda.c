/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA in processes. All processes share the contexts of their host. Each has of its own:
 *
 *   - The current context. It belongs to a thread, and processes share threads: it is changed with
 *     the process.
 *   - The default stream. It is a stream of the process, one of those that wait for the real one
 *     and that the real one waits for, so that work that an unknown function puts there keeps its
 *     order. A process that makes other such streams gets the real default stream back.
 *   - cuCtxSynchronize and a reset of the device: they wait for the streams of the process only.
 *
 * A process that waits lets others run. The CUDA runtime and all libraries call the driver; they
 * find its functions with dlsym and cuGetProcAddress, where these stand in their place. This serves
 * the static runtime as well as the shared one. Functions are known by the names of CUDA 11 and
 * later; their arguments are all words, which are passed on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "process/libc/block.h"
#include "process/libc/device_call.h"
#include "process/libc/device_storage.h"
#include "process/libc/device_wait.h"
#include "process/libc/device_work.h"
#include "process/libc/interpose.h"

typedef uintptr_t word_t;

enum { CUDA_SUCCESS_CODE = 0, NOT_READY = 600 };
enum { STREAM_NON_BLOCKING = 1, PER_THREAD_FLAG = 2 };
/* Streams of a thread's own default are asked for by other functions: those named _ptsz, _ptds. */
typedef enum { OF_PROCESS, OF_THREAD, VARIANTS } variant_t;
/* Handles that stand for default streams; NULL is the one of the variant. */
enum { STREAM_DEFAULT = 0, STREAM_LEGACY = 1, STREAM_PER_THREAD = 2 };

/* How the functions are called, by the place of their stream: S(name, version), B for those that
 * never wait, or H for those written out below. The version is what the name of the current one
 * ends with. */
#define FUNCTIONS(S, B, H)                                                                         \
    S(cuMemcpyHtoDAsync, "_v2", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))            \
    S(cuMemcpyDtoHAsync, "_v2", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))            \
    S(cuMemcpyDtoDAsync, "_v2", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))            \
    S(cuMemcpyAsync, "", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))                   \
    S(cuMemcpyPeerAsync, "", (word_t a, word_t b, word_t c, word_t d, word_t e, word_t s),         \
      (a, b, c, d, e, s))                                                                          \
    S(cuMemcpy2DAsync, "_v2", (word_t a, word_t s), (a, s))                                        \
    S(cuMemcpy3DAsync, "_v2", (word_t a, word_t s), (a, s))                                        \
    B(cuMemsetD8Async, "", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))                 \
    B(cuMemsetD16Async, "", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))                \
    B(cuMemsetD32Async, "", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))                \
    B(cuMemsetD2D8Async, "", (word_t a, word_t b, word_t c, word_t d, word_t e, word_t s),         \
      (a, b, c, d, e, s))                                                                          \
    B(cuMemsetD2D16Async, "", (word_t a, word_t b, word_t c, word_t d, word_t e, word_t s),        \
      (a, b, c, d, e, s))                                                                          \
    B(cuMemsetD2D32Async, "", (word_t a, word_t b, word_t c, word_t d, word_t e, word_t s),        \
      (a, b, c, d, e, s))                                                                          \
    S(cuMemAllocAsync, "", (word_t a, word_t b, word_t s), (a, b, s))                              \
    S(cuMemAllocFromPoolAsync, "", (word_t a, word_t b, word_t c, word_t s), (a, b, c, s))         \
    S(cuMemFreeAsync, "", (word_t a, word_t s), (a, s))                                            \
    S(cuLaunchHostFunc, "", (word_t s, word_t a, word_t b), (s, a, b))                             \
    S(cuStreamAddCallback, "", (word_t s, word_t a, word_t b, word_t c), (s, a, b, c))             \
    B(cuStreamWaitEvent, "", (word_t s, word_t a, word_t b), (s, a, b))                            \
    B(cuEventRecord, "", (word_t a, word_t s), (a, s))                                             \
    B(cuEventRecordWithFlags, "", (word_t a, word_t s, word_t b), (a, s, b))                       \
    B(cuGraphLaunch, "", (word_t a, word_t s), (a, s))                                             \
    B(cuLaunchKernel, "",                                                                          \
      (word_t a, word_t b, word_t c, word_t d, word_t e, word_t f, word_t g, word_t h, word_t s,   \
       word_t i, word_t j),                                                                        \
      (a, b, c, d, e, f, g, h, s, i, j))                                                           \
    B(cuLaunchCooperativeKernel, "",                                                               \
      (word_t a, word_t b, word_t c, word_t d, word_t e, word_t f, word_t g, word_t h, word_t s,   \
       word_t i),                                                                                  \
      (a, b, c, d, e, f, g, h, s, i))                                                              \
    H(cuLaunchKernelEx, "", (const void *config, word_t a, word_t b, word_t c))                    \
    H(cuStreamQuery, "", (word_t s))                                                               \
    H(cuStreamSynchronize, "", (word_t s))                                                         \
    H(cuEventSynchronize, "", (word_t event))                                                      \
    H(cuCtxSynchronize, "", (word_t context))                                                      \
    H(cuMemcpyHtoD, "_v2", (word_t to, word_t from, word_t bytes))                                 \
    H(cuMemcpyDtoH, "_v2", (word_t to, word_t from, word_t bytes))                                 \
    H(cuMemcpyDtoD, "_v2", (word_t to, word_t from, word_t bytes))                                 \
    H(cuMemcpy, "", (word_t to, word_t from, word_t bytes))                                        \
    H(cuMemcpy2D, "_v2", (word_t what))                                                            \
    H(cuMemcpy3D, "_v2", (word_t what))                                                            \
    H(cuMemcpy2DUnaligned, "_v2", (word_t what))                                                   \
    H(cuMemcpyPeer, "", (word_t to, word_t to_context, word_t from, word_t context, word_t bytes)) \
    H(cuMemsetD2D8, "_v2", (word_t to, word_t pitch, word_t value, word_t width, word_t height))   \
    H(cuMemsetD2D16, "_v2", (word_t to, word_t pitch, word_t value, word_t width, word_t height))  \
    H(cuMemsetD2D32, "_v2", (word_t to, word_t pitch, word_t value, word_t width, word_t height))  \
    H(cuMemsetD8, "_v2", (word_t to, word_t value, word_t count))                                  \
    H(cuMemsetD16, "_v2", (word_t to, word_t value, word_t count))                                 \
    H(cuMemsetD32, "_v2", (word_t to, word_t value, word_t count))                                 \
    H(cuStreamCreate, "", (void **stream_p, word_t flags))                                         \
    H(cuStreamCreateWithPriority, "", (void **stream_p, word_t flags, word_t priority))            \
    H(cuStreamDestroy, "_v2", (word_t s))                                                          \
    H(cuDevicePrimaryCtxReset, "_v2", (word_t device))                                             \
    H(cuDevicePrimaryCtxRelease, "_v2", (word_t device))                                           \
    H(cuGetExportTable, "", (const void **table_p, const void *id))

/* ---- The driver ---- */

#define MEMBER(name, version, arguments, ...) int(*name[VARIANTS]) arguments;
static struct {
    _Atomic bool is_there;
    FUNCTIONS(MEMBER, MEMBER, MEMBER)
    int (*context_get)(void **);
    int (*context_set)(void *);
    int (*event_query)(word_t);
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*context_retain)(void **, int);
    int (*context_device)(int *);                                                 /* or NULL */
    int (*write_value)(word_t stream, word_t to, uint32_t value, unsigned flags); /* or NULL */
    int (*host_alloc)(void **memory_p, size_t bytes, unsigned flags);
} cuda;

typedef struct {
    const char *name, *version;
    void **real; /* [VARIANTS] */
    void *hook[VARIANTS];
} function_t;

static void *find_variant(void *library, const function_t *f, const char *suffix)
{
    char name[64];

    snprintf(name, sizeof(name), "%s%s%s", f->name, f->version, suffix);
    return dlsym(library, name);
}

static const function_t *function_table(size_t *count_p);

/* Is the current context the one that all who use its device share? It is retained once more. */
static bool is_primary(void)
{
    void *context = NULL, *primary = NULL;
    int device;

    return cuda.context_device != NULL && cuda.context_get(&context) == CUDA_SUCCESS_CODE &&
           context != NULL && cuda.context_device(&device) == CUDA_SUCCESS_CODE &&
           cuda.context_retain(&primary, device) == CUDA_SUCCESS_CODE && context == primary;
}

/* The program has loaded the driver, or what it has found is something else. */
static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    size_t count;
    const function_t *f = function_table(&count);

    if (library == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        f[i].real[OF_PROCESS] = find_variant(library, &f[i], "");
        f[i].real[OF_THREAD] = find_variant(library, &f[i], "_ptsz");
        if (f[i].real[OF_THREAD] == NULL)
            f[i].real[OF_THREAD] = find_variant(library, &f[i], "_ptds");
        if (f[i].real[OF_THREAD] == NULL)
            f[i].real[OF_THREAD] = f[i].real[OF_PROCESS];
    }
    cuda.context_get = (int (*)(void **))dlsym(library, "cuCtxGetCurrent");
    cuda.context_set = (int (*)(void *))dlsym(library, "cuCtxSetCurrent");
    cuda.event_query = (int (*)(word_t))dlsym(library, "cuEventQuery");
    cuda.init = (int (*)(unsigned))dlsym(library, "cuInit");
    cuda.device_get = (int (*)(int *, int))dlsym(library, "cuDeviceGet");
    cuda.context_retain = (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain");
    cuda.context_device = (int (*)(int *))dlsym(library, "cuCtxGetDevice");
    cuda.write_value =
        (int (*)(word_t, word_t, uint32_t, unsigned))dlsym(library, "cuStreamWriteValue32_v2");
    cuda.host_alloc = (int (*)(void **, size_t, unsigned))dlsym(library, "cuMemHostAlloc");
    process_device_storage_setup(cuda.context_get, is_primary);
    process_locals_extend(NULL); /* its thread-local variables stay with the worker */
    cuda.is_there = cuda.init != NULL && cuda.device_get != NULL && cuda.context_retain != NULL &&
                    cuda.context_get != NULL && cuda.context_set != NULL &&
                    cuda.event_query != NULL && cuda.cuStreamQuery[OF_PROCESS] != NULL &&
                    cuda.cuStreamCreate[OF_PROCESS] != NULL;
}

static bool is_loaded(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (cuda.is_there)
        return true;
    process_block_lock(&lock);
    if (!cuda.is_there)
        load();
    process_block_unlock(&lock);
    return cuda.is_there;
}

/* ---- What a process has ---- */

enum { MAX_CONTEXTS = 16 };

struct process_device {
    pthread_mutex_t lock;
    struct {
        void *context, *stream;
    } own[MAX_CONTEXTS]; /* default streams */
    int owns;
    bool is_legacy;            /* the real default stream is the process's, too */
    device_work_t work;        /* in its default stream */
    device_work_t real;        /* the same, and in the real one */
    _Atomic uint32_t *reached; /* the device writes here what the process waits for; or NULL */
    uint32_t awaited;
    xy_vec_t streams; /* of word_t: those that it has made */
};

/* The device state of a process, created on first use; NULL without memory. */
static struct process_device *device_of(process_t *process)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    struct process_device *made = __atomic_load_n(&process->device, __ATOMIC_ACQUIRE);

    if (made != NULL)
        return made;
    process_block_lock(&making);
    if (process->device == NULL) {
        made = xy_calloc(1, sizeof(*made));
        if (made != NULL) {
            pthread_mutex_init(&made->lock, NULL);
            made->streams = (xy_vec_t)XY_VEC_INIT(word_t);
            __atomic_store_n(&process->device, made, __ATOMIC_RELEASE); /* it is complete */
        }
    }
    made = process->device;
    process_block_unlock(&making);
    return made;
}

/* Words of processes, one line of the cache for each. */
static void make_word(struct process_device *d)
{
    enum { LINE = 64, LINES = 256, PORTABLE = 1 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char *memory;
    static size_t used = LINES;
    void *more;

    if (d->reached != NULL || cuda.write_value == NULL || cuda.host_alloc == NULL)
        return;
    process_block_lock(&lock);
    if (used == LINES && cuda.host_alloc(&more, LINES * LINE, PORTABLE) == CUDA_SUCCESS_CODE) {
        memory = more;
        memset(memory, 0, LINES * LINE);
        used = 0;
    }
    if (used < LINES)
        d->reached = (_Atomic uint32_t *)(memory + LINE * used++);
    process_block_unlock(&lock);
}

/* The default stream of a process in the current context. 0: there is none. */
static word_t own_stream(struct process_device *d)
{
    void *context = NULL, *stream = NULL;
    int i;

    if (cuda.context_get(&context) != CUDA_SUCCESS_CODE || context == NULL)
        return 0;
    process_block_lock(&d->lock);
    for (i = 0; i < d->owns && d->own[i].context != context; i++)
        continue;
    if (i < d->owns) {
        stream = d->own[i].stream;
    } else if (i < MAX_CONTEXTS &&
               cuda.cuStreamCreate[OF_PROCESS](&stream, 0) == CUDA_SUCCESS_CODE) {
        d->own[i].context = context;
        d->own[i].stream = stream;
        d->owns++;
    }
    process_block_unlock(&d->lock);
    if (stream != NULL)
        make_word(d); /* not later: taking memory may wait for what others have put into streams */
    return (word_t)stream;
}

/* The stream that a process means. */
static word_t stream_of(word_t s, variant_t variant)
{
    bool is_legacy = s == STREAM_LEGACY || (s == STREAM_DEFAULT && variant == OF_PROCESS);
    struct process_device *d;
    word_t own;

    if (s > STREAM_PER_THREAD || process_self == NULL)
        return s;
    d = device_of(process_self);
    if (d == NULL)
        return s;
    own = own_stream(d); /* also if it is not used: wait_for_work() needs it */
    return own != 0 && !(is_legacy && d->is_legacy) ? own : s;
}

/* Something was put into stream `s` as the program names it: for a default stream this is noted
 * afterwards, so that a thread of the process that waits meanwhile cannot take the note away. */
static int issued(word_t s, int result)
{
    struct process_device *d = process_self != NULL ? process_self->device : NULL;

    if (s <= STREAM_PER_THREAD && d != NULL) {
        if (d->is_legacy)
            device_work_add(&d->real);
        device_work_add(&d->work);
    }
    return result;
}

/* The same by a function of the driver that has no stream: it is the real default stream. */
static int issued_really(int result)
{
    if (process_self != NULL && device_of(process_self) != NULL &&
        own_stream(process_self->device) != 0)
        device_work_add(&process_self->device->real);
    return issued(STREAM_LEGACY, result);
}

static const int *bound; /* [processes]; NULL: none are */

void process_device_bind(const int *device)
{
    bound = device;
}

/* The process runs on this thread. The runtime uses the context that it finds. */
static void take_bound_device(process_t *process)
{
    void *context;
    int device;

    if (bound == NULL || process->has_bound_device)
        return;
    process->has_bound_device = true;
    if (cuda.init(0) == CUDA_SUCCESS_CODE &&
        cuda.device_get(&device, bound[process->number]) == CUDA_SUCCESS_CODE &&
        cuda.context_retain(&context, device) == CUDA_SUCCESS_CODE)
        cuda.context_set(context);
}

void process_device_leave(process_t *previous)
{
    if (previous != NULL)
        cuda.context_get(&previous->device_context);
}

void process_device_enter(process_t *next)
{
    void *current = NULL;

    cuda.context_get(&current);
    if (current != next->device_context)
        cuda.context_set(next->device_context);
    take_bound_device(next);
}

/* ---- Waiting ---- */

typedef struct {
    int (*query)(word_t);
    word_t what;
    const struct process_device *device; /* the process whose word the device writes; NULL: none */
    double next, between;                /* when the driver is asked again */
    int result;
} look_t;

/* The driver knows of errors, after which the device writes nothing. */
static bool is_reached(void *arg)
{
    look_t *look = arg;
    double now;

    if (look->device != NULL && atomic_load_explicit(look->device->reached, memory_order_acquire) ==
                                    look->device->awaited) {
        look->result = CUDA_SUCCESS_CODE;
        return true;
    }
    now = xy_now();
    if (now < look->next)
        return false;
    look->next = now + look->between;
    look->result = PROCESS_DEVICE_CALL(look->query, look->what);
    return look->result != NOT_READY;
}

static int wait_for(int (*query)(word_t), word_t what)
{
    look_t look = {.query = query, .what = what, .between = 5e-6};

    process_device_wait(is_reached, &look);
    return look.result;
}

/* The device writes the process's word once the stream has come here. false: it cannot. */
static bool ask_for_word(struct process_device *d, word_t s)
{
    make_word(d);
    if (d->reached == NULL)
        return false;
    d->awaited++;
    return PROCESS_DEVICE_CALL(cuda.write_value, s, (word_t)d->reached, d->awaited, 0) ==
           CUDA_SUCCESS_CODE;
}

/* Wait for a stream and let other processes run meanwhile; returns a code of CUDA. */
static int wait_for_stream(word_t s, variant_t variant)
{
    const double between = 1e-3;
    struct process_device *d;
    look_t look = {.query = cuda.cuStreamQuery[variant], .what = s, .between = between};

    if (!process_device_may_wait())
        return cuda.cuStreamSynchronize[variant](s);
    d = device_of(process_self);
    if (d == NULL || !ask_for_word(d, s))
        return wait_for(look.query, s);
    look.device = d;
    look.next = xy_now() + between;
    process_device_wait(is_reached, &look);
    return look.result;
}

static int hook_cuStreamQuery(word_t s, variant_t variant)
{
    return PROCESS_DEVICE_CALL(cuda.cuStreamQuery[variant], stream_of(s, variant));
}

static int hook_cuStreamSynchronize(word_t s, variant_t variant)
{
    return wait_for_stream(stream_of(s, variant), variant);
}

static int hook_cuEventSynchronize(word_t event, variant_t variant)
{
    return process_device_may_wait() ? wait_for(cuda.event_query, event)
                                     : cuda.cuEventSynchronize[variant](event);
}

/* The `i`-th stream of the process; false: no more. */
static bool stream_at(struct process_device *d, size_t i, word_t *stream_p)
{
    bool is_there = true;

    process_block_lock(&d->lock);
    if (i < (size_t)d->owns)
        *stream_p = (word_t)d->own[i].stream;
    else if (i - (size_t)d->owns < d->streams.count)
        *stream_p = XY_VEC_AT(&d->streams, word_t, i - (size_t)d->owns);
    else
        is_there = false;
    process_block_unlock(&d->lock);
    return is_there;
}

static int wait_for_process(struct process_device *d)
{
    int result = CUDA_SUCCESS_CODE;
    word_t stream;

    for (size_t i = 0; result == CUDA_SUCCESS_CODE && stream_at(d, i, &stream); i++)
        result = wait_for_stream(stream, OF_PROCESS);
    if (d->is_legacy && result == CUDA_SUCCESS_CODE)
        result = wait_for_stream(STREAM_LEGACY, OF_PROCESS);
    return result;
}

/* A process that has no stream is answered by the driver, which knows whether it has a context. */
static int hook_cuCtxSynchronize(word_t context, variant_t variant)
{
    struct process_device *d = process_self != NULL ? process_self->device : NULL;

    return d != NULL && (d->owns > 0 || d->streams.count > 0)
               ? wait_for_process(d)
               : cuda.cuCtxSynchronize[variant](context);
}

/* The context stays for other processes, to the end of the host. */
static int hook_cuDevicePrimaryCtxRelease(word_t device, variant_t variant)
{
    struct process_device *d = process_self != NULL ? process_self->device : NULL;

    if (process_self == NULL)
        return cuda.cuDevicePrimaryCtxRelease[variant](device);
    return d != NULL ? wait_for_process(d) : CUDA_SUCCESS_CODE;
}

static int hook_cuDevicePrimaryCtxReset(word_t device, variant_t variant)
{
    struct process_device *d = process_self != NULL ? process_self->device : NULL;

    return d != NULL ? wait_for_process(d) : cuda.cuDevicePrimaryCtxReset[variant](device);
}

/* ---- Copies that block ---- */

/* The stream for what the driver would do in the default stream; 0: it shall do so. */
static word_t stream_for_copy(variant_t variant)
{
    word_t s = stream_of(STREAM_DEFAULT, variant);

    return s > STREAM_PER_THREAD ? s : 0;
}

static int end_copy(int result, word_t s)
{
    return result == CUDA_SUCCESS_CODE ? wait_for_stream(s, OF_PROCESS) : result;
}

#define COPY(name, arguments, plain, with_stream)                                                  \
    static int hook_##name arguments                                                               \
    {                                                                                              \
        word_t s = stream_for_copy(variant);                                                       \
                                                                                                   \
        if (s == 0)                                                                                \
            return issued(STREAM_DEFAULT, cuda.name[variant] plain);                               \
        return end_copy(cuda.name##Async[OF_PROCESS] with_stream, s);                              \
    }

COPY(cuMemcpyHtoD, (word_t to, word_t from, word_t bytes, variant_t variant), (to, from, bytes),
     (to, from, bytes, s))
COPY(cuMemcpyDtoD, (word_t to, word_t from, word_t bytes, variant_t variant), (to, from, bytes),
     (to, from, bytes, s))
COPY(cuMemcpy, (word_t to, word_t from, word_t bytes, variant_t variant), (to, from, bytes),
     (to, from, bytes, s))
COPY(cuMemcpy2D, (word_t what, variant_t variant), (what), (what, s))
COPY(cuMemcpy3D, (word_t what, variant_t variant), (what), (what, s))

/* The driver waits for what comes before a copy to memory that is not pinned. */
static int hook_cuMemcpyDtoH(word_t to, word_t from, word_t bytes, variant_t variant)
{
    word_t s = stream_for_copy(variant);

    if (s == 0)
        return cuda.cuMemcpyDtoH[variant](to, from, bytes);
    wait_for_stream(s, OF_PROCESS);
    return end_copy(cuda.cuMemcpyDtoHAsync[OF_PROCESS](to, from, bytes, s), s);
}

#define SET(name, arguments, ...)                                                                  \
    static int hook_##name arguments                                                               \
    {                                                                                              \
        word_t s = stream_for_copy(variant);                                                       \
                                                                                                   \
        return issued(STREAM_DEFAULT, s == 0 ? cuda.name[variant](__VA_ARGS__)                     \
                                             : cuda.name##Async[OF_PROCESS](__VA_ARGS__, s));      \
    }

SET(cuMemsetD8, (word_t to, word_t value, word_t count, variant_t variant), to, value, count)
SET(cuMemsetD16, (word_t to, word_t value, word_t count, variant_t variant), to, value, count)
SET(cuMemsetD32, (word_t to, word_t value, word_t count, variant_t variant), to, value, count)
#define SET_ROWS(name)                                                                             \
    SET(name,                                                                                      \
        (word_t to, word_t pitch, word_t value, word_t width, word_t height, variant_t variant),   \
        to, pitch, value, width, height)
SET_ROWS(cuMemsetD2D8)
SET_ROWS(cuMemsetD2D16)
SET_ROWS(cuMemsetD2D32)

static int hook_cuMemcpy2DUnaligned(word_t what, variant_t variant)
{
    return issued_really(cuda.cuMemcpy2DUnaligned[variant](what));
}

static int hook_cuMemcpyPeer(word_t to, word_t to_context, word_t from, word_t context,
                             word_t bytes, variant_t variant)
{
    return issued_really(cuda.cuMemcpyPeer[variant](to, to_context, from, context, bytes));
}

/* ---- Before the runtime uses memory of a device ---- */

static bool has_work(void)
{
    const struct process_device *d = process_self != NULL ? process_self->device : NULL;

    return d != NULL && device_work_is_there(&d->work);
}

/* The process's stream of the current context; work in the real default stream ends before what is
 * put into it now, which is a word. */
static void wait_for_default(word_t own, bool has_real)
{
    if (!has_real && PROCESS_DEVICE_CALL(cuda.cuStreamQuery[OF_PROCESS], own) != NOT_READY)
        return;
    wait_for_stream(own, OF_PROCESS);
    if (has_real) /* no word was put where the driver waited */
        cuda.cuStreamSynchronize[OF_PROCESS](STREAM_LEGACY);
}

/* Wait for the default streams of the process in all contexts. */
static void wait_for_work(void)
{
    struct process_device *d = process_self->device;
    uint64_t work = device_work_count(&d->work), real = device_work_count(&d->real);
    bool has_real = device_work_is_there(&d->real); /* after the counts */
    void *before = NULL;

    cuda.context_get(&before);
    for (int i = 0; i < d->owns; i++) {
        cuda.context_set(d->own[i].context);
        wait_for_default((word_t)d->own[i].stream, has_real);
    }
    cuda.context_set(before);
    device_work_end(&d->real, real);
    device_work_end(&d->work, work);
}

/* ---- Streams ---- */

static void note_stream(const void *stream, word_t flags)
{
    struct process_device *d = process_self != NULL ? device_of(process_self) : NULL;
    word_t s = (word_t)stream;

    if (d == NULL)
        return;
    process_block_lock(&d->lock);
    if ((flags & STREAM_NON_BLOCKING) == 0 || xy_vec_append(&d->streams, &s) != XY_OK)
        d->is_legacy = true; /* the real default stream waits for it */
    process_block_unlock(&d->lock);
}

static int hook_cuStreamCreate(void **stream_p, word_t flags, variant_t variant)
{
    int result = cuda.cuStreamCreate[variant](stream_p, flags);

    if (result == CUDA_SUCCESS_CODE)
        note_stream(*stream_p, flags);
    return result;
}

static int hook_cuStreamCreateWithPriority(void **stream_p, word_t flags, word_t priority,
                                           variant_t variant)
{
    int result = cuda.cuStreamCreateWithPriority[variant](stream_p, flags, priority);

    if (result == CUDA_SUCCESS_CODE)
        note_stream(*stream_p, flags);
    return result;
}

/* Remove a stream from the list of the process and destroy it. */
static int hook_cuStreamDestroy(word_t s, variant_t variant)
{
    struct process_device *d = process_self != NULL ? process_self->device : NULL;

    if (d != NULL) {
        process_block_lock(&d->lock);
        for (size_t i = 0; i < d->streams.count; i++)
            if (XY_VEC_AT(&d->streams, word_t, i) == s) {
                XY_VEC_AT(&d->streams, word_t, i) =
                    XY_VEC_AT(&d->streams, word_t, d->streams.count - 1);
                d->streams.count--;
                break;
            }
        process_block_unlock(&d->lock);
    }
    return cuda.cuStreamDestroy[variant](s);
}

static int hook_cuGetExportTable(const void **table_p, const void *id, variant_t variant)
{
    int result = cuda.cuGetExportTable[variant](table_p, id);

    if (result == CUDA_SUCCESS_CODE)
        *table_p = process_device_storage(*table_p, id);
    return result;
}

/* CUlaunchConfig: the driver's, up to what was there when the function came (CUDA 11.8). */
typedef struct {
    unsigned grid[3], block[3], shared;
    word_t stream;
    void *attributes;
    unsigned attribute_count;
} launch_config_t;

static int hook_cuLaunchKernelEx(const void *config, word_t a, word_t b, word_t c,
                                 variant_t variant)
{
    const launch_config_t *given = config;
    launch_config_t own;

    memcpy(&own, config, sizeof(own));
    own.stream = stream_of(own.stream, variant);
    return issued(given->stream,
                  PROCESS_DEVICE_CALL(cuda.cuLaunchKernelEx[variant], &own, a, b, c));
}

/* ---- The functions that are given out ---- */

#define STREAMED(name, version, arguments, values)                                                 \
    static int name##_process arguments                                                            \
    {                                                                                              \
        word_t given = s;                                                                          \
                                                                                                   \
        s = stream_of(s, OF_PROCESS);                                                              \
        return issued(given, cuda.name[OF_PROCESS] values);                                        \
    }                                                                                              \
    static int name##_thread arguments                                                             \
    {                                                                                              \
        word_t given = s;                                                                          \
                                                                                                   \
        s = stream_of(s, OF_THREAD);                                                               \
        return issued(given, cuda.name[OF_THREAD] values);                                         \
    }
#define UNPACK(...) __VA_ARGS__
#define BRIEF(name, version, arguments, values)                                                    \
    static int name##_process arguments                                                            \
    {                                                                                              \
        word_t given = s;                                                                          \
                                                                                                   \
        s = stream_of(s, OF_PROCESS);                                                              \
        return issued(given, PROCESS_DEVICE_CALL(cuda.name[OF_PROCESS], UNPACK values));           \
    }                                                                                              \
    static int name##_thread arguments                                                             \
    {                                                                                              \
        word_t given = s;                                                                          \
                                                                                                   \
        s = stream_of(s, OF_THREAD);                                                               \
        return issued(given, PROCESS_DEVICE_CALL(cuda.name[OF_THREAD], UNPACK values));            \
    }
#define NOTHING(...)
FUNCTIONS(STREAMED, BRIEF, NOTHING)

#define WRITTEN(name, arguments, ...)                                                              \
    static int name##_process arguments                                                            \
    {                                                                                              \
        return hook_##name(__VA_ARGS__, OF_PROCESS);                                               \
    }                                                                                              \
    static int name##_thread arguments                                                             \
    {                                                                                              \
        return hook_##name(__VA_ARGS__, OF_THREAD);                                                \
    }
WRITTEN(cuLaunchKernelEx, (const void *config, word_t a, word_t b, word_t c), config, a, b, c)
WRITTEN(cuStreamQuery, (word_t s), s)
WRITTEN(cuStreamSynchronize, (word_t s), s)
WRITTEN(cuEventSynchronize, (word_t event), event)
WRITTEN(cuCtxSynchronize, (word_t context), context)
WRITTEN(cuMemcpyHtoD, (word_t to, word_t from, word_t bytes), to, from, bytes)
WRITTEN(cuMemcpyDtoH, (word_t to, word_t from, word_t bytes), to, from, bytes)
WRITTEN(cuMemcpyDtoD, (word_t to, word_t from, word_t bytes), to, from, bytes)
WRITTEN(cuMemcpy, (word_t to, word_t from, word_t bytes), to, from, bytes)
WRITTEN(cuMemcpy2D, (word_t what), what)
WRITTEN(cuMemcpy3D, (word_t what), what)
WRITTEN(cuMemcpy2DUnaligned, (word_t what), what)
WRITTEN(cuMemcpyPeer, (word_t to, word_t to_context, word_t from, word_t context, word_t bytes), to,
        to_context, from, context, bytes)
WRITTEN(cuMemsetD2D8, (word_t to, word_t pitch, word_t value, word_t width, word_t height), to,
        pitch, value, width, height)
WRITTEN(cuMemsetD2D16, (word_t to, word_t pitch, word_t value, word_t width, word_t height), to,
        pitch, value, width, height)
WRITTEN(cuMemsetD2D32, (word_t to, word_t pitch, word_t value, word_t width, word_t height), to,
        pitch, value, width, height)
WRITTEN(cuMemsetD8, (word_t to, word_t value, word_t count), to, value, count)
WRITTEN(cuMemsetD16, (word_t to, word_t value, word_t count), to, value, count)
WRITTEN(cuMemsetD32, (word_t to, word_t value, word_t count), to, value, count)
WRITTEN(cuStreamCreate, (void **stream_p, word_t flags), stream_p, flags)
WRITTEN(cuStreamCreateWithPriority, (void **stream_p, word_t flags, word_t priority), stream_p,
        flags, priority)
WRITTEN(cuStreamDestroy, (word_t s), s)
WRITTEN(cuDevicePrimaryCtxReset, (word_t device), device)
WRITTEN(cuDevicePrimaryCtxRelease, (word_t device), device)
WRITTEN(cuGetExportTable, (const void **table_p, const void *id), table_p, id)

static const function_t *function_table(size_t *count_p)
{
#define ROW(name, version, ...)                                                                    \
    {#name, version, (void **)cuda.name, {(void *)name##_process, (void *)name##_thread}},
    static const function_t table[] = {FUNCTIONS(ROW, ROW, ROW)};

    *count_p = sizeof(table) / sizeof(table[0]);
    return table;
}

static void *hook_of(const char *name, size_t length, variant_t variant, void *found)
{
    size_t count;
    const function_t *f = function_table(&count);

    for (size_t i = 0; i < count; i++)
        if (strlen(f[i].name) == length && memcmp(f[i].name, name, length) == 0)
            return f[i].real[variant] != NULL ? f[i].hook[variant] : found;
    return found;
}

static int (*get_address)(const char *, void **, int, uint64_t);
static int (*get_address_v2)(const char *, void **, int, uint64_t, void *);
static int get_address_hook(const char *name, void **address_p, int version, uint64_t flags);
static int get_address_v2_hook(const char *name, void **address_p, int version, uint64_t flags,
                               void *state);

/* Names here are without version. */
static void substitute_address(const char *name, void **address_p, int version, uint64_t flags)
{
    enum { SECOND_FROM = 12000 };

    if (address_p == NULL || *address_p == NULL || process_self == NULL)
        return;
    if (strcmp(name, "cuGetProcAddress") != 0)
        *address_p = hook_of(name, strlen(name),
                             (flags & PER_THREAD_FLAG) != 0 ? OF_THREAD : OF_PROCESS, *address_p);
    else if (version >= SECOND_FROM && get_address_v2 != NULL)
        *address_p = (void *)get_address_v2_hook;
    else if (version < SECOND_FROM && get_address != NULL)
        *address_p = (void *)get_address_hook;
}

static int get_address_hook(const char *name, void **address_p, int version, uint64_t flags)
{
    int result = get_address(name, address_p, version, flags);

    if (result == CUDA_SUCCESS_CODE)
        substitute_address(name, address_p, version, flags);
    return result;
}

static int get_address_v2_hook(const char *name, void **address_p, int version, uint64_t flags,
                               void *state)
{
    int result = get_address_v2(name, address_p, version, flags, state);

    if (result == CUDA_SUCCESS_CODE)
        substitute_address(name, address_p, version, flags);
    return result;
}

/* Without the end of a name; *length_p is what remains. */
static bool ends_with(const char *name, size_t *length_p, const char *end)
{
    size_t n = strlen(end);

    if (*length_p < n || memcmp(name + *length_p - n, end, n) != 0)
        return false;
    *length_p -= n;
    return true;
}

/* By the name of a symbol, which has a version where the first one is another. */
static void *substitute_symbol(const char *name, void *found)
{
    size_t length = strlen(name), count;
    variant_t variant = OF_PROCESS;
    const function_t *f = function_table(&count);

    if (ends_with(name, &length, "_ptsz") || ends_with(name, &length, "_ptds"))
        variant = OF_THREAD;
    for (size_t i = 0; i < count; i++) {
        size_t n = length;

        if (ends_with(name, &n, f[i].version) && strlen(f[i].name) == n &&
            memcmp(f[i].name, name, n) == 0)
            return f[i].real[variant] != NULL ? f[i].hook[variant] : found;
    }
    return found;
}

/* Unless the job was started with XYLEM_CUDA_RANKS=0. The environment of processes is another. */
bool process_device_is_wanted(void)
{
    static _Atomic int answer; /* 0: not asked yet */
    const char *value;

    if (answer == 0) {
        value = secure_getenv("XYLEM_CUDA_RANKS");
        answer = value != NULL && strcmp(value, "0") == 0 ? -1 : 1;
    }
    return answer > 0;
}

void *process_device_substitute(const char *name, void *found)
{
    void *ours = found;

    if (found == NULL || name[0] != 'c' || process_interpose_is_own(found))
        return found;
    if (name[1] == 'l')
        return process_opencl_found(name, found, &ours) ? ours : found;
    if (name[1] != 'u' || name[2] < 'A' || name[2] > 'Z')
        return found;
    if (!process_device_is_wanted() || !is_loaded())
        return found;
    atomic_fetch_or(&process_switch_more, PROCESS_SWITCH_DEVICES);
    XY_RUNTIME_CALL(uses_device, has_work, wait_for_work);
    if (process_is_main())
        take_bound_device(process_self);
    if (strcmp(name, "cuGetProcAddress") == 0) {
        get_address = (int (*)(const char *, void **, int, uint64_t))found;
        return (void *)get_address_hook;
    }
    if (strcmp(name, "cuGetProcAddress_v2") == 0) {
        get_address_v2 = (int (*)(const char *, void **, int, uint64_t, void *))found;
        return (void *)get_address_v2_hook;
    }
    return substitute_symbol(name, found);
}
