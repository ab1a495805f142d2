/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of tasks on GPUs of this machine: opening them, compiling the kernels of the tasks once
 * for each text and name, and launching them. */
#include <string.h>

#include "gpu/gpu.h"
#include "tasks/device/device.h"
#include "tasks/tasks.h"

enum { GPUS_MAX = 64 };

/* A kernel that some tasks have, on each GPU. */
typedef struct {
    const char *text, *name;
    xy_gpu_program_t *programs[GPUS_MAX]; /* NULL: that of an earlier entry with the same text */
    xy_gpu_kernel_t *kernels[GPUS_MAX];
} entry_t;

typedef struct {
    const xy_graph_t *graph; /* of the program, or the share of this rank */
    xy_gpu_device_t *gpus[GPUS_MAX];
    int count, found;  /* opened, and on this machine */
    xy_vec_t entries;  /* of entry_t */
    int32_t *entry_of; /* [ops]; -1: it has no kernel */
    int failed;        /* return value of a function of the program */
} run_t;

static const tasks_code_t *code_of(const run_t *r, xy_op_id_t op)
{
    return (const tasks_code_t *)(const void *)xy_graph_op(r->graph, op)->code;
}

/* ---- Running ---- */

static bool is_for_gpu(void *arg, xy_op_id_t op)
{
    const tasks_code_t *code = code_of(arg, op);

    return code->kernel != NULL || code->gpu != NULL;
}

static bool is_for_cores(void *arg, xy_op_id_t op)
{
    return code_of(arg, op)->code.run != NULL;
}

static void run_here(void *arg, const xy_task_turn_t *turn)
{
    const tasks_code_t *code = code_of(arg, turn->op);

    code->code.run(turn->buffers, code->code.arg);
}

/* Calls the user's function that starts a task on a GPU; its result other than 0 is a failure. */
static xy_status_t call(run_t *r, const xy_task_kernel_t *k, const tasks_code_t *code)
{
    xylem_gpu gpu = {xy_gpu_info(r->gpus[k->gpu])->driver, k->gpu,
                     xy_gpu_native_context(r->gpus[k->gpu]), xy_gpu_native_stream(k->stream)};
    unsigned long long buffers[XY_GPU_ARGS_MAX];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(r->graph, k->op, &a);

    for (int32_t i = 0; i < n && i < XY_GPU_ARGS_MAX; i++)
        buffers[i] = k->buffers[i];
    r->failed = code->gpu(&gpu, buffers, code->code.arg);
    return r->failed == 0 ? XY_OK
                          : xy_fail(XY_EIO, "task %d failed on %s: its function returned %d", k->op,
                                    xy_gpu_info(r->gpus[k->gpu])->name, r->failed);
}

/* Launches the kernel of a task in a stream, or calls its function. */
static xy_status_t put(void *arg, const xy_task_kernel_t *k)
{
    run_t *r = arg;
    const tasks_code_t *code = code_of(r, k->op);
    const xylem_kernel *kernel = code->kernel;
    xy_gpu_arg_t args[XY_GPU_ARGS_MAX + TASKS_VALUES];
    size_t threads[3], group[3] = {64, 1, 1};
    const xy_access_t *a;
    int n = 0;

    if (kernel == NULL)
        return call(r, k, code);
    for (int32_t count = xy_graph_accesses(r->graph, k->op, &a); n < count; n++)
        args[n] = (xy_gpu_arg_t){&k->buffers[n], sizeof(k->buffers[n])};
    for (int i = 0; i < TASKS_VALUES && kernel->values[i].size > 0; i++)
        args[n++] = (xy_gpu_arg_t){kernel->values[i].value, kernel->values[i].size};
    for (int i = 0; i < 3; i++) {
        threads[i] = kernel->threads[i] > 0 ? kernel->threads[i] : 1;
        if (kernel->group[0] + kernel->group[1] + kernel->group[2] > 0)
            group[i] = kernel->group[i] > 0 ? kernel->group[i] : 1;
    }
    return xy_gpu_launch(k->stream,
                         XY_VEC_AT(&r->entries, entry_t, r->entry_of[k->op]).kernels[k->gpu],
                         threads, group, args, n);
}

/* ---- Kernels ---- */

static bool is_same(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

/* The program of the text on a GPU: that of an earlier kernel, or a new one. */
static xy_status_t find_program(const run_t *r, entry_t *entry, int gpu, xy_gpu_program_t **p)
{
    for (size_t i = 0; i < r->entries.count; i++) {
        const entry_t *other = &XY_VEC_AT(&r->entries, entry_t, i);

        if (other->programs[gpu] != NULL && is_same(other->text, entry->text)) {
            *p = other->programs[gpu];
            return XY_OK;
        }
    }
    *p = NULL;
    return xy_gpu_program_create(r->gpus[gpu], entry->name, entry->text, &entry->programs[gpu]);
}

/* On failure the entry is in the list, too, and cleaned up with it. */
static xy_status_t add_entry(run_t *r, const xylem_kernel *kernel)
{
    entry_t *entry = xy_vec_push(&r->entries);
    xy_status_t st = XY_OK;

    if (entry == NULL)
        return xy_fail_memory("preparing kernels");
    entry->text = kernel->text;
    entry->name = kernel->name;
    for (int g = 0; g < r->count && st == XY_OK; g++) {
        xy_gpu_program_t *program;

        st = find_program(r, entry, g, &program);
        if (st == XY_OK)
            st = xy_gpu_kernel_create(program != NULL ? program : entry->programs[g], entry->name,
                                      &entry->kernels[g]);
    }
    return st;
}

static xy_status_t find_entry(run_t *r, const xylem_kernel *kernel, int32_t *entry_p)
{
    for (size_t i = 0; i < r->entries.count; i++) {
        const entry_t *entry = &XY_VEC_AT(&r->entries, entry_t, i);

        if (is_same(entry->text, kernel->text) && is_same(entry->name, kernel->name)) {
            *entry_p = (int32_t)i;
            return XY_OK;
        }
    }
    *entry_p = (int32_t)r->entries.count;
    return add_entry(r, kernel);
}

/* Compiles the kernels of all tasks; XY_ELIMIT for tasks with too many data. */
static xy_status_t find_kernels(run_t *r)
{
    const xy_graph_t *graph = r->graph;
    xy_status_t st = XY_OK;

    r->entry_of = xy_calloc((size_t)xy_graph_ops(graph) + 1, sizeof(*r->entry_of));
    if (r->entry_of == NULL)
        return xy_fail_memory("preparing kernels");
    for (xy_op_id_t i = 0; i < xy_graph_ops(graph) && st == XY_OK; i++) {
        const xy_access_t *a;

        if (xy_graph_accesses(graph, i, &a) + TASKS_VALUES > XY_GPU_ARGS_MAX && is_for_gpu(r, i))
            return xy_fail(XY_ELIMIT, "task %d has more than %d data, too many for a GPU", i,
                           XY_GPU_ARGS_MAX - TASKS_VALUES);
        if (code_of(r, i)->kernel != NULL)
            st = find_entry(r, code_of(r, i)->kernel, &r->entry_of[i]);
    }
    return st;
}

/* ---- GPUs ---- */

/* So many of them, beginning with number `first`. */
static xy_status_t open_gpus(run_t *r, int wanted, int first)
{
    xy_vec_t found;
    xy_status_t st = xy_gpu_list(&found);

    if (st != XY_OK)
        return st;
    if (found.count < (size_t)wanted || wanted > GPUS_MAX)
        st = xy_fail(XY_ENOENT,
                     "the tasks are to run on %d GPU%s, and this machine has %zu; 'xylem calibrate "
                     "--gpu' says why",
                     wanted, wanted == 1 ? "" : "s", found.count);
    for (int i = 0; i < wanted && st == XY_OK; i++) {
        size_t which = (size_t)(first + i) % found.count;

        st = xy_gpu_open(&XY_VEC_AT(&found, xy_gpu_info_t, which), &r->gpus[i]);
        r->count += st == XY_OK;
    }
    r->found = (int)found.count;
    xy_vec_cleanup(&found);
    return st;
}

/* Frees kernels and programs and closes the GPUs. */
static void cleanup(run_t *r)
{
    for (int pass = 0; pass < 2; pass++) /* programs may belong to earlier entries */
        for (size_t i = 0; i < r->entries.count; i++)
            for (int g = 0; g < r->count; g++)
                if (pass == 0)
                    xy_gpu_kernel_destroy(XY_VEC_AT(&r->entries, entry_t, i).kernels[g]);
                else
                    xy_gpu_program_destroy(XY_VEC_AT(&r->entries, entry_t, i).programs[g]);
    for (int g = 0; g < r->count; g++)
        xy_gpu_close(r->gpus[g]);
    xy_vec_cleanup(&r->entries);
    xy_free(r->entry_of);
}

/* Ranks take the GPUs in turn. */
static xy_status_t open_shared(run_t *r, const xylem_run_options *o, int wanted)
{
    xy_status_t st = xy_task_ready_gpus(o->messages);

    return st == XY_OK ? open_gpus(r, wanted, xy_task_gpu_first(o->messages, wanted)) : st;
}

xy_status_t tasks_run_on_gpus(const xylem_tasks *t, const xylem_run_options *o,
                              const tasks_choice_t *choice, const tasks_share_t *share,
                              const xy_task_observer_t *observer, xy_task_result_t *result_p)
{
    int gpus = o->gpus > 0 && t->has_kernels ? o->gpus : 0;
    run_t r = {.graph = share != NULL ? share->share->tasks : t->graph,
               .entries = XY_VEC_INIT(entry_t)};
    uint64_t memory = choice->memory > 0 ? choice->memory : o->memory;
    xy_task_device_t how = {
        .policy = choice->policy,
        .eviction = choice->eviction,
        .params = {.alpha = o->alpha, .beta = o->beta, .extra_rounds = choice->extra_rounds},
        .gpus = r.gpus,
        .memory = memory == XYLEM_NO_LIMIT ? 0 : memory,
        .launch = put,
        .is_for_gpu = is_for_gpu,
        .run = run_here,
        .is_for_cores = is_for_cores,
        .cores = o->cpus,
        .core_speed = o->cpu_speed,
        .arg = &r,
        .trace = o->trace,
        .observer = observer};
    xy_status_t st = share == NULL ? open_gpus(&r, gpus, 0)
                     : gpus > 0    ? open_shared(&r, o, gpus)
                                   : XY_OK;

    if (share != NULL) {
        how.share = share->share;
        how.transport = o->messages;
        how.addresses = share->addresses;
        how.sharers = gpus > 0 && st == XY_OK ? xy_task_gpu_sharers(o->messages, gpus, r.found) : 0;
        if (gpus == 0) {
            how.cores = o->cpus > 0 ? o->cpus : 1;
            how.core_speed = 1;
        }
    }
    how.gpu_count = r.count;
    if (st == XY_OK)
        st = find_kernels(&r);
    if (st == XY_OK)
        st = xy_task_execute_on(r.graph, &how, result_p);
    cleanup(&r);
    return st;
}
