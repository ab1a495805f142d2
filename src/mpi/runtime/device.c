/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/runtime/rank.h"

typedef int result_t; /* CUresult */
typedef unsigned long long address_t;

enum { SUCCESS = 0, STREAM_NON_BLOCKING = 1, MEMORY_OF_DEVICE = 2, MEMORY_UNIFIED = 4 };
enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_IS_MANAGED = 8,
    ATTRIBUTE_ORDINAL = 9
};

/* CUDA_MEMCPY2D. Where the type of memory is "unified", the driver finds it by the address. */
typedef struct {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    address_t from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    address_t to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} rows_t;

#define FUNCTIONS(X)                                                                               \
    X(attributes, "cuPointerGetAttributes", (unsigned, int *, void **, address_t))                 \
    X(context_get, "cuCtxGetCurrent", (void **))                                                   \
    X(context_set, "cuCtxSetCurrent", (void *))                                                    \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                          \
    X(stream_create, "cuStreamCreate", (void **, unsigned))                                        \
    X(stream_wait, "cuStreamSynchronize", (void *))                                                \
    X(copy, "cuMemcpyAsync", (address_t, address_t, size_t, void *))                               \
    X(copy_rows, "cuMemcpy2DAsync_v2", (const rows_t *, void *))                                   \
    X(error_text, "cuGetErrorString", (result_t, const char **))

#define MEMBER(member, symbol, arguments) result_t(*member) arguments;
static struct {
    FUNCTIONS(MEMBER)
} cuda;

bool mpi_device_is_used;

/* The C library's own: for ranks `syscall` is another, which takes longer. */
static long (*plain_syscall)(long, ...) = syscall;

/* Look up the functions of the CUDA driver; false if one is missing. */
static bool find_functions(void *library)
{
    void *next = dlsym(RTLD_NEXT, "syscall");
    static const struct {
        void **to;
        const char *symbol;
    } list[] = {
#define SYMBOL(member, symbol, arguments) {(void **)&cuda.member, symbol},
        FUNCTIONS(SYMBOL)};

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        *list[i].to = dlsym(library, list[i].symbol);
        if (*list[i].to == NULL)
            return false;
    }
    if (next != NULL)
        plain_syscall = (long (*)(long, ...))next;
    return true;
}

static struct {
    bool (*has_work)(void);
    void (*wait)(void);
} default_streams; /* of ranks; or NULL */

void mpi_device_use(bool (*has_work)(void), void (*wait)(void))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *library;

    if (has_work != NULL) {
        default_streams.wait = wait;
        default_streams.has_work = has_work;
    }
    if (mpi_device_is_used)
        return;
    pthread_mutex_lock(&lock);
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL && !mpi_device_is_used && find_functions(library))
        mpi_device_is_used = true;
    pthread_mutex_unlock(&lock);
}

int mpi_device_is_supported(void)
{
    static void *library;

    if (library == NULL)
        library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library != NULL && dlsym(library, "cuPointerGetAttributes") != NULL ? 1 : 0;
}

int MPIX_Query_cuda_support(void)
{
    return mpi_device_is_supported();
}

static void check(result_t r, const char *doing)
{
    const char *text = "unknown error";

    if (r == SUCCESS)
        return;
    cuda.error_text(r, &text);
    xy_fail(XY_EIO, "a GPU cannot %s: %s (%d)", doing, text, r);
    mpi_job->abort(1);
}

/* ---- Addresses ---- */

typedef struct {
    void *context;
    int number;
    unsigned is_managed; /* the host can read and write it, too */
} place_t;

/* Is it memory of a device? */
static bool ask(const void *address, place_t *place, result_t *result_p)
{
    static int wanted[] = {ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_CONTEXT, ATTRIBUTE_ORDINAL,
                           ATTRIBUTE_IS_MANAGED};
    unsigned type = 0;
    void *values[] = {&type, &place->context, &place->number, &place->is_managed};

    place->context = NULL;
    place->is_managed = 0;
    *result_p = cuda.attributes(4, wanted, values, (uintptr_t)address);
    return *result_p == SUCCESS && (type == MEMORY_OF_DEVICE || place->is_managed != 0);
}

/* The driver has a lock for the question, and all ranks ask at once in a collective. Memory of a
 * device cannot be read here: the kernel, which reads a set of signals before it finds that it does
 * not know what to do with it, says so. That takes 0.15 us for memory of the host, and 0.8 for that
 * of a device, where the driver takes 0.05. */
static bool is_readable(const void *address)
{
    enum { UNKNOWN = -1, SET = 8 };
    int before = errno;
    bool is_there = plain_syscall(SYS_rt_sigprocmask, UNKNOWN,
                                  (uintptr_t)address & ~(uintptr_t)(SET - 1), NULL, SET) != 0 &&
                    errno == EINVAL;

    errno = before;
    return is_there;
}

/* Where this thread has last seen memory of a device: the driver is asked first. Whatever it is by
 * now, the answer is right. */
static uintptr_t *seen_near(const void *address, uintptr_t *piece_p)
{
    enum { PLACES = 16, PIECE_BITS = 21 };
    static _Thread_local uintptr_t seen[PLACES] __attribute__((tls_model("initial-exec")));

    *piece_p = (uintptr_t)address >> PIECE_BITS;
    return &seen[*piece_p % PLACES];
}

/* Threads of ranks without a GPU, and communication cores, have no context: one of others will do
 * where the driver wants one. */
static bool find(const void *address, place_t *place)
{
    static void *_Atomic known;
    uintptr_t piece, *seen;
    result_t r;
    bool is_there;

    if (xy_worker_has_stack_at(address)) /* as most small buffers are */
        return false;
    seen = seen_near(address, &piece);
    if (*seen == piece && ask(address, place, &r))
        return place->is_managed == 0; /* as is_readable() has it */
    if (is_readable(address))
        return false;
    is_there = ask(address, place, &r);
    if (r != SUCCESS && known != NULL && mpi_device_context_get() == NULL) {
        cuda.context_set(known);
        is_there = ask(address, place, &r);
        cuda.context_set(NULL);
    }
    if (!is_there)
        return false;
    if (known == NULL)
        known = place->context;
    *seen = piece;
    return true;
}

bool mpi_device_has(const void *address, int *number_p)
{
    place_t place;
    bool is_there = find(address, &place);

    if (is_there && number_p != NULL)
        *number_p = place.number;
    return is_there;
}

/* ---- The default streams of ranks ---- */

bool mpi_device_has_work(void)
{
    return default_streams.has_work != NULL && default_streams.has_work();
}

void mpi_device_wait_for_work(void)
{
    default_streams.wait();
}

bool mpi_device_is_written(const void *address)
{
    place_t place;
    result_t r;

    return !xy_worker_has_stack_at(address) &&
           (ask(address, &place, &r) || (r != SUCCESS && find(address, &place)));
}

/* ---- The thread: its context, and its streams ---- */

enum { STREAMS = 4 };

static _Thread_local struct {
    void *context, *stream;
} streams[STREAMS] __attribute__((tls_model("initial-exec")));
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

void *mpi_device_context_get(void)
{
    void *context = NULL;

    cuda.context_get(&context);
    return context;
}

void mpi_device_context_set(void *context)
{
    cuda.context_set(context);
}

/* The last one is used in turn where a machine has more. */
static void *stream_of(void *context)
{
    int i = 0;

    while (i < STREAMS - 1 && streams[i].context != NULL && streams[i].context != context)
        i++;
    if (streams[i].context != context) {
        check(cuda.stream_create(&streams[i].stream, STREAM_NON_BLOCKING), "create a stream");
        streams[i].context = context;
    }
    return streams[i].stream;
}

/* Memory of some kinds belongs to no context: that of its device will do. */
static void *enter(place_t *place)
{
    void *before = mpi_device_context_get();

    if (place->context == NULL)
        check(cuda.retain(&place->context, place->number), "be opened");
    if (before != place->context)
        check(cuda.context_set(place->context), "be used by a thread");
    return before;
}

static void leave(void *before, void *stream)
{
    if (depth == 0)
        check(cuda.stream_wait(stream), "copy");
    if (before != mpi_device_context_get())
        cuda.context_set(before);
}

void mpi_device_begin(void)
{
    depth++;
}

void mpi_device_end(void)
{
    if (--depth > 0)
        return;
    for (int i = 0; i < STREAMS && streams[i].context != NULL; i++)
        check(cuda.stream_wait(streams[i].stream), "copy");
}

/* ---- Copies ---- */

bool mpi_device_copy(void *to, const void *from, size_t bytes)
{
    place_t place;
    void *before, *stream;

    if (bytes == 0 || (!find(to, &place) && !find(from, &place)))
        return false;
    before = enter(&place);
    stream = stream_of(place.context);
    check(cuda.copy((uintptr_t)to, (uintptr_t)from, bytes, stream), "copy");
    leave(before, stream);
    return true;
}

/* The device knows steps forward over what it copies. */
static bool is_pitch(ptrdiff_t step, size_t bytes)
{
    return step >= (ptrdiff_t)bytes && step <= INT32_MAX;
}

void mpi_device_copy_rows(void *to, ptrdiff_t to_step, const void *from, ptrdiff_t from_step,
                          size_t bytes, size_t n)
{
    rows_t rows = {.from_type = MEMORY_UNIFIED,
                   .from = (uintptr_t)from,
                   .from_pitch = (size_t)from_step,
                   .to_type = MEMORY_UNIFIED,
                   .to = (uintptr_t)to,
                   .to_pitch = (size_t)to_step,
                   .width = bytes,
                   .height = n};
    place_t place;
    void *before, *stream;

    mpi_device_begin();
    if (n < 2 || !is_pitch(to_step, bytes) || !is_pitch(from_step, bytes) ||
        (!find(to, &place) && !find(from, &place))) {
        for (size_t i = 0; i < n; i++)
            mpi_move((char *)to + (ptrdiff_t)i * to_step,
                     (const char *)from + (ptrdiff_t)i * from_step, bytes);
    } else {
        before = enter(&place);
        stream = stream_of(place.context);
        check(cuda.copy_rows(&rows, stream), "copy rows");
        leave(before, stream);
    }
    mpi_device_end();
}
