/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions on GPUs. A kernel is compiled when an operation is first applied to a kind of element
 * with so many sources and results; it reads each source once and writes each result once. Elements
 * are combined in the order of the sources, as on the host, and products and sums are not
 * contracted: results are the same bits.
 *
 * Elements that devices do not have (long double, 128 bits, half), operations of the program, and
 * data that is partly in the memory of the host is reduced there.
 */
#include "mpi/datatype/op_device.h"

#include <pthread.h>
#include <string.h>

#include "gpu/gpu.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

enum { TABLE = 64 }; /* sources or results of one kernel */

/* ---- The text of a kernel ---- */

static const char *const basic_names[XMPI_BASIC_KINDS] = {
    [XMPI_BASIC_BYTE] = "unsigned char",
    [XMPI_BASIC_INT8] = "signed char",
    [XMPI_BASIC_INT16] = "short",
    [XMPI_BASIC_INT32] = "int",
    [XMPI_BASIC_INT64] = "long",
    [XMPI_BASIC_UINT8] = "unsigned char",
    [XMPI_BASIC_UINT16] = "unsigned short",
    [XMPI_BASIC_UINT32] = "unsigned int",
    [XMPI_BASIC_UINT64] = "unsigned long",
    [XMPI_BASIC_FLOAT] = "float",
    [XMPI_BASIC_DOUBLE] = "double",
    [XMPI_BASIC_BOOL] = "unsigned char",
    [XMPI_BASIC_LOGICAL8] = "signed char",
    [XMPI_BASIC_LOGICAL16] = "short",
    [XMPI_BASIC_LOGICAL32] = "int",
    [XMPI_BASIC_LOGICAL64] = "long",
};

/* Pairs of a value and a place. */
static const char *const pair_names[XMPI_BASIC_KINDS] = {
    [XMPI_BASIC_FLOAT_INT] = "struct { float v; int i; }",
    [XMPI_BASIC_DOUBLE_INT] = "struct { double v; int i; }",
    [XMPI_BASIC_LONG_INT] = "struct { long v; int i; }",
    [XMPI_BASIC_2INT] = "struct { int v; int i; }",
    [XMPI_BASIC_SHORT_INT] = "struct { short v; int i; }",
    [XMPI_BASIC_2FLOAT] = "struct { float v; float i; }",
    [XMPI_BASIC_2DOUBLE] = "struct { double v; double i; }",
};

static const char *const complex_names[XMPI_BASIC_KINDS] = {
    [XMPI_BASIC_COMPLEX_FLOAT] = "struct { float v; float i; }",
    [XMPI_BASIC_COMPLEX_DOUBLE] = "struct { double v; double i; }",
};

/* The statement that makes `x` of `x` and `y`, as on the host (op_kernels.inc). */
static const char *const integer_statements[XMPI_OP_KINDS] = {
    [XMPI_OP_KIND_SUM] = "x = (T)((unsigned long)x + (unsigned long)y);", /* it wraps */
    [XMPI_OP_KIND_PROD] = "x = (T)((unsigned long)x * (unsigned long)y);",
    [XMPI_OP_KIND_MIN] = "x = x < y ? x : y;",
    [XMPI_OP_KIND_MAX] = "x = x > y ? x : y;",
    [XMPI_OP_KIND_BAND] = "x = (T)(x & y);",
    [XMPI_OP_KIND_BOR] = "x = (T)(x | y);",
    [XMPI_OP_KIND_BXOR] = "x = (T)(x ^ y);",
    [XMPI_OP_KIND_LAND] = "x = (T)((x != 0) & (y != 0));",
    [XMPI_OP_KIND_LOR] = "x = (T)((x != 0) | (y != 0));",
    [XMPI_OP_KIND_LXOR] = "x = (T)((x != 0) ^ (y != 0));",
};

static const char *const real_statements[XMPI_OP_KINDS] = {
    [XMPI_OP_KIND_SUM] = "x = x + y;",
    [XMPI_OP_KIND_PROD] = "x = x * y;",
    [XMPI_OP_KIND_MIN] = "x = x < y ? x : y;",
    [XMPI_OP_KIND_MAX] = "x = x > y ? x : y;",
};

static const char *const pair_statements[XMPI_OP_KINDS] = {
    [XMPI_OP_KIND_MINLOC] = "if (!(x.v < y.v || (x.v == y.v && x.i < y.i))) x = y;",
    [XMPI_OP_KIND_MAXLOC] = "if (!(x.v > y.v || (x.v == y.v && x.i < y.i))) x = y;",
};

static const char *const complex_statements[XMPI_OP_KINDS] = {
    [XMPI_OP_KIND_SUM] = "x.v = x.v + y.v; x.i = x.i + y.i;",
    [XMPI_OP_KIND_PROD] = "T z; z.v = x.v * y.v - x.i * y.i; z.i = x.v * y.i + x.i * y.v; x = z;",
};

/* Threads take 16 bytes at a time where all addresses allow it (`wide`), then the rest. What lies
 * between the members of a pair (GAPS) is not the library's. */
static const char text_form[] =
    "typedef %s T;\n"
    "#define SOURCES %d\n"
    "#define OUTS %d\n"
    "#define GAPS %d\n"
    "#define WIDE (sizeof(T) < 16 && 16 %% sizeof(T) == 0 ? 16 / sizeof(T) : 1)\n"
    "struct table { long p[%d]; };\n"
    "struct __align__(16) wide { T e[WIDE]; };\n"
    "XY_INLINE void combine(T &x, const T &y) { %s }\n"
    "template <class V, int N> XY_INLINE void reduce_at(const table &in, const table &out, long "
    "i)\n"
    "{\n"
    "    V x = ((const V *)in.p[0])[i];\n"
    "    V y[SOURCES];\n"
    "#pragma unroll\n"
    "    for (int s = 1; s < SOURCES; s++) y[s] = ((const V *)in.p[s])[i];\n"
    "#pragma unroll\n"
    "    for (int s = 1; s < SOURCES; s++)\n"
    "#pragma unroll\n"
    "        for (int e = 0; e < N; e++) combine(((T *)&x)[e], ((const T *)&y[s])[e]);\n"
    "#pragma unroll\n"
    "    for (int o = 0; o < OUTS; o++) {\n"
    "#if GAPS\n"
    "        T *to = (T *)&((V *)out.p[o])[i];\n"
    "        for (int e = 0; e < N; e++) { to[e].v = ((T *)&x)[e].v; to[e].i = ((T *)&x)[e].i; }\n"
    "#else\n"
    "        ((V *)out.p[o])[i] = x;\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "XY_KERNEL reduce(struct table in, struct table out, long n, long step, int is_wide)\n"
    "{\n"
    "    long whole = is_wide ? n / (long)WIDE : 0;\n"
    "    for (long i = XY_ID(0); i < whole; i += step) reduce_at<wide, (int)WIDE>(in, out, i);\n"
    "    for (long i = whole * (long)WIDE + XY_ID(0); i < n; i += step) reduce_at<T, 1>(in, out, "
    "i);\n"
    "}\n";

/* The name of an element, and what is done to two; false: devices do not know them. */
static bool describe(const mpi_op_t *op, const mpi_type_t *type, const char **name_p,
                     const char **statement_p)
{
    bool is_real = type->basic == XMPI_BASIC_FLOAT || type->basic == XMPI_BASIC_DOUBLE;
    const char *const *names[] = {basic_names, pair_names, complex_names};
    const char *const *statements[] = {is_real ? real_statements : integer_statements,
                                       pair_statements, complex_statements};

    if (!op->is_predefined || !type->is_predefined)
        return false;
    for (int i = 0; i < 3; i++)
        if (names[i][type->basic] != NULL && statements[i][op->kind] != NULL) {
            *name_p = names[i][type->basic];
            *statement_p = statements[i][op->kind];
            return true;
        }
    return false;
}

/* ---- Devices and kernels, made when they are first needed ---- */

enum { MAX_DEVICES = 16 };

typedef struct {
    int number, kind, basic, sources, outs;
    xy_gpu_program_t *program;
    xy_gpu_kernel_t *kernel; /* NULL: it cannot be had */
} made_t;

static struct {
    pthread_mutex_t lock;
    bool was_asked[MAX_DEVICES];
    xy_gpu_device_t *device[MAX_DEVICES];
    xy_vec_t made; /* of made_t */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .made = {.size = sizeof(made_t)}};

static _Thread_local xy_gpu_stream_t *streams[MAX_DEVICES];

/* Open a CUDA device by its number, once; all.device[number] stays NULL if that fails. */
static void open_device(int number)
{
    xy_vec_t found;

    all.was_asked[number] = true;
    if (xy_gpu_list(&found) != XY_OK)
        return;
    for (size_t i = 0; i < found.count; i++) {
        const xy_gpu_info_t *info = &XY_VEC_AT(&found, xy_gpu_info_t, i);

        if (strcmp(info->driver, "cuda") == 0 && info->number == number)
            xy_gpu_open(info, &all.device[number]);
    }
    xy_vec_cleanup(&found);
}

static void compile(made_t *m, const mpi_op_t *op, const mpi_type_t *type)
{
    const char *name = NULL, *statement = NULL;
    char *text = NULL;

    if (describe(op, type, &name, &statement))
        text = xy_sprintf(text_form, name, m->sources, m->outs,
                          mpi_type_is_contiguous(type) ? 0 : 1, TABLE, statement);
    if (text != NULL &&
        xy_gpu_program_create(all.device[m->number], "a reduction", text, &m->program) == XY_OK)
        xy_gpu_kernel_create(m->program, "reduce", &m->kernel);
    xy_free(text);
}

/* NULL: this device has no such kernel, which was reported if it should have one. */
static xy_gpu_kernel_t *kernel_of(const mpi_op_t *op, const mpi_type_t *type, int number,
                                  int sources, int outs)
{
    made_t wanted = {number, (int)op->kind, type->basic, sources, outs, NULL, NULL};
    xy_gpu_kernel_t *kernel = NULL;
    size_t i;

    pthread_mutex_lock(&all.lock);
    if (!all.was_asked[number])
        open_device(number);
    for (i = 0; i < all.made.count; i++) {
        const made_t *m = &XY_VEC_AT(&all.made, made_t, i);

        if (m->number == number && m->kind == wanted.kind && m->basic == wanted.basic &&
            m->sources == sources && m->outs == outs)
            break;
    }
    if (i < all.made.count) {
        kernel = XY_VEC_AT(&all.made, made_t, i).kernel;
    } else if (all.device[number] != NULL) {
        compile(&wanted, op, type);
        kernel = wanted.kernel;
        xy_vec_append(&all.made, &wanted);
    }
    pthread_mutex_unlock(&all.lock);
    return kernel;
}

/* ---- By a kernel ---- */

/* A device refuses to read an element that is not aligned. */
static bool are_aligned(void *const *addresses, int n, const mpi_type_t *type)
{
    for (int i = 0; i < n; i++)
        if ((uintptr_t)addresses[i] % type->align != 0)
            return false;
    return true;
}

/* The one device that has all of them; -1: there is none. */
static int device_of(void *const *sources, int n, void *const *outs, int out_count)
{
    int first, number;

    if (!mpi_device_has(sources[0], &first) || first >= MAX_DEVICES)
        return -1;
    for (int i = 1; i < n; i++)
        if (!mpi_device_has(sources[i], &number) || number != first)
            return -1;
    for (int i = 0; i < out_count; i++)
        if (!mpi_device_has(outs[i], &number) || number != first)
            return -1;
    return first;
}

typedef struct {
    int64_t p[TABLE];
} table_t;

static bool fill(table_t *table, void *const *addresses, int n)
{
    bool is_aligned = true;

    memset(table, 0, sizeof(*table));
    for (int i = 0; i < n; i++) {
        table->p[i] = (int64_t)(intptr_t)addresses[i];
        is_aligned = is_aligned && (table->p[i] & 15) == 0;
    }
    return is_aligned;
}

/* Launch a reduction kernel on the device and wait for its end. */
static xy_status_t launch(int number, xy_gpu_kernel_t *kernel, void *const *sources, int n,
                          void *const *outs, int out_count, int64_t count, size_t size)
{
    enum { GROUP = 256, MOST = 132 * 16 * GROUP };
    int64_t threads = (count * (int64_t)size + 15) / 16, step;
    table_t in, out;
    bool is_in_aligned = fill(&in, sources, n), is_out_aligned = fill(&out, outs, out_count);
    int is_wide = is_in_aligned && is_out_aligned;
    xy_status_t st = XY_OK;

    if (size >= 16 || 16 % size != 0)
        threads = count;
    step = threads < MOST ? (threads + GROUP - 1) / GROUP * GROUP : MOST;
    if (streams[number] == NULL)
        st = xy_gpu_stream_create(all.device[number], &streams[number]);
    if (st == XY_OK)
        st = xy_gpu_launch(streams[number], kernel, (size_t[3]){(size_t)step, 1, 1},
                           (size_t[3]){GROUP, 1, 1},
                           (xy_gpu_arg_t[]){XY_GPU_ARG(in), XY_GPU_ARG(out), XY_GPU_ARG(count),
                                            XY_GPU_ARG(step), XY_GPU_ARG(is_wide)},
                           5);
    return st == XY_OK ? xy_gpu_stream_wait(streams[number]) : st;
}

bool mpi_op_has_kernel(const mpi_op_t *op, int n, int out_count, const mpi_type_t *type)
{
    const char *name, *statement;

    return n <= TABLE && out_count <= TABLE && describe(op, type, &name, &statement);
}

/* The current context of the thread is the rank's. */
static bool reduce_there(const mpi_op_t *op, void *const *sources, int n, void *const *outs,
                         int out_count, int64_t count, const mpi_type_t *type)
{
    bool has_kernel = mpi_op_has_kernel(op, n, out_count, type) && are_aligned(sources, n, type) &&
                      are_aligned(outs, out_count, type);
    int number = has_kernel ? device_of(sources, n, outs, out_count) : -1;
    void *before = mpi_device_context_get();
    xy_gpu_kernel_t *kernel = number >= 0 ? kernel_of(op, type, number, n, out_count) : NULL;

    if (kernel != NULL &&
        launch(number, kernel, sources, n, outs, out_count, count, type->size) != XY_OK)
        mpi_job->abort(1);
    if (number >= 0)
        mpi_device_context_set(before);
    return kernel != NULL;
}

/* ---- In memory of the host ---- */

static char *take(size_t bytes)
{
    char *memory = xy_malloc(bytes);

    if (memory == NULL) {
        xy_fail_memory("reducing data of a GPU");
        mpi_job->abort(1);
    }
    return memory;
}

/* The data of a vector, with the gaps in it. */
static void reduce_here(const mpi_op_t *op, void *const *sources, int n, void *const *outs,
                        int out_count, int64_t count, const mpi_type_t *type)
{
    size_t bytes = (size_t)(count - 1) * (size_t)type->extent + (size_t)type->true_extent;
    size_t stride = (bytes + 63) & ~(size_t)63;
    void **copies = (void **)take((size_t)n * sizeof(*copies));
    char *memory = take((size_t)(n + 1) * stride), *result = memory + (size_t)n * stride;

    mpi_device_begin();
    for (int i = 0; i < n; i++) {
        copies[i] = memory + (size_t)i * stride;
        mpi_move(copies[i], (char *)sources[i] + type->true_lb, bytes);
        copies[i] = (char *)copies[i] - type->true_lb;
    }
    mpi_device_end();
    mpi_op_reduce_here(op, copies, n, result - type->true_lb, count, type);
    mpi_device_begin();
    for (int i = 0; i < out_count; i++) {
        size_t done;

        mpi_type_copy(outs[i], count, type, result - type->true_lb, count, type, &done);
    }
    mpi_device_end();
    xy_free(memory);
    xy_free((void *)copies);
}

bool mpi_op_reduce_device(const mpi_op_t *op, void *const *sources, int n, void *const *outs,
                          int out_count, int64_t count, const mpi_type_t *type)
{
    bool is_there = false;

    for (int i = 0; i < n && !is_there; i++)
        is_there = mpi_device_has((const char *)sources[i] + type->true_lb, NULL);
    for (int i = 0; i < out_count && !is_there; i++)
        if (outs[i] != sources[n - 1]) /* already checked */
            is_there = mpi_device_has((const char *)outs[i] + type->true_lb, NULL);
    if (!is_there || count == 0)
        return is_there;
    if (!reduce_there(op, sources, n, outs, out_count, count, type))
        reduce_here(op, sources, n, outs, out_count, count, type);
    return true;
}
