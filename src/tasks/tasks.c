/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/tasks.h"

#include <math.h>
#include <string.h>

int xylem_tasks_create(xylem_tasks **tasks_p)
{
    xylem_tasks *t = xy_calloc(1, sizeof(*t));
    xy_status_t st;

    if (t == NULL || xy_arena_create(&t->arena) != XY_OK)
        st = xy_fail_memory("making a program of tasks");
    else
        st = xy_graph_create(&t->graph);
    if (st != XY_OK) {
        xylem_tasks_free(t);
        return (int)st;
    }
    t->has_code = t->has_all = true;
    t->owners = (xy_vec_t)XY_VEC_INIT(int32_t);
    *tasks_p = t;
    return 0;
}

void xylem_tasks_free(xylem_tasks *t)
{
    if (t == NULL)
        return;
    xy_graph_destroy(t->graph);
    xy_arena_destroy(t->arena);
    xy_costs_destroy(t->costs);
    xy_vec_cleanup(&t->owners);
    xy_free(t);
}

/* The first complaint is the one that the run returns. */
static void remember(xylem_tasks *t, xy_status_t st)
{
    if (t->status == XY_OK)
        t->status = st;
}

static void check_open(xylem_tasks *t, const char *what)
{
    if (t->is_final)
        remember(t, xy_fail(XY_EINVAL,
                            "%s comes after the first run; add all before it, or make "
                            "another program",
                            what));
}

/* Reports the wrong fields of a datum; the first failure is remembered for later calls. */
static void check_data(xylem_tasks *t, const xylem_data *data)
{
    int number = t->data;

    check_open(t, "a datum");
    if (data->bytes == 0)
        remember(t, xy_fail(XY_EINVAL, "datum %d has no bytes", number));
    if (data->owner < 0)
        remember(t, xy_fail(XY_EINVAL, "datum %d belongs to rank %d; ranks start at 0", number,
                            data->owner));
    if (data->home < 0)
        remember(t, xy_fail(XY_EINVAL, "datum %d is placed in memory %d; 0 is the main memory",
                            number, data->home));
    if (data->dims < 0 || data->dims > 3)
        remember(t, xy_fail(XY_EINVAL, "the position of datum %d has %d dimensions; give 1 to 3",
                            number, data->dims));
    for (int i = 0; i < data->dims && i < 3; i++)
        if (data->position[i] < 0)
            remember(t, xy_fail(XY_EINVAL, "datum %d is at position %ld; positions start at 0",
                                number, data->position[i]));
}

int xylem_tasks_data(xylem_tasks *t, const xylem_data *data)
{
    xy_data_t d = {.bytes = data->bytes,
                   .home = data->home,
                   .address = data->address,
                   .is_scrap = data->is_scrap != 0};

    check_data(t, data);
    for (int i = 0; i < 3; i++)
        d.position[i] = data->dims == 0 ? -1 : i < data->dims ? data->position[i] : 0;
    (void)xy_graph_add_data(t->graph, &d);
    if (xy_vec_append(&t->owners, &(int32_t){data->owner}) != XY_OK)
        remember(t, xy_fail_memory("adding a datum"));
    return t->data++;
}

int xylem_tasks_models(xylem_tasks *t, const char *path)
{
    xy_costs_t *costs;
    xy_status_t st = xy_costs_load(path, &costs);

    if (st != XY_OK)
        return (int)st;
    xy_costs_destroy(t->costs);
    t->costs = costs;
    return 0;
}

/* The time of a task by its model; 0 when there is none, which is remembered. */
static double model_seconds(xylem_tasks *t, const xylem_task *task)
{
    xy_estimate_t e;

    if (t->costs == NULL) {
        xy_status_t st = (xy_status_t)xylem_tasks_models(t, NULL);

        if (st != XY_OK) {
            remember(t, st);
            return 0;
        }
    }
    if (xy_cost_kernel_value(t->costs, task->model, NULL, &task->size, 1, &e) != XY_OK) {
        remember(t, xy_fail(XY_EINVAL,
                            "no model gives the time of '%s' for size %g; 'xylem calibrate' "
                            "makes models, or name the seconds",
                            task->model, task->size));
        return 0;
    }
    return e.seconds;
}

/* Reports the wrong accesses of a task; a datum may be named once. */
static void check_accesses(xylem_tasks *t, const xylem_access *a, int count, int number)
{
    for (int i = 0; i < count; i++) {
        if (a[i].data < 0 || a[i].data >= t->data)
            remember(t, xy_fail(XY_EINVAL, "task %d names datum %d; there are %d", number,
                                a[i].data, t->data));
        if (a[i].mode < XYLEM_READ || a[i].mode > XYLEM_READ_WRITE)
            remember(t, xy_fail(XY_EINVAL,
                                "task %d accesses datum %d with mode %d, which is none of "
                                "XYLEM_READ, XYLEM_WRITE, XYLEM_READ_WRITE",
                                number, a[i].data, a[i].mode));
        for (int k = 0; k < i; k++)
            if (a[k].data == a[i].data)
                remember(t, xy_fail(XY_EINVAL,
                                    "task %d names datum %d twice; name it once, as "
                                    "XYLEM_READ_WRITE",
                                    number, a[i].data));
    }
}

static const void *copy_bytes(xylem_tasks *t, const void *bytes, unsigned long size)
{
    void *copy = xy_arena_alloc(t->arena, size);

    if (copy == NULL)
        remember(t, xy_fail_memory("adding a task"));
    else
        memcpy(copy, bytes, size);
    return copy;
}

/* Copies a kernel and its values into the arena; its texts stay the caller's. */
static const xylem_kernel *copy_kernel(xylem_tasks *t, const xylem_kernel *kernel, int number)
{
    xylem_kernel *copy = xy_arena_alloc(t->arena, sizeof(*copy));

    if (kernel->text == NULL || kernel->name == NULL)
        remember(t, xy_fail(XY_EINVAL, "the kernel of task %d has no text or no name", number));
    if (copy == NULL) {
        remember(t, xy_fail_memory("adding a task"));
        return NULL;
    }
    *copy = *kernel;
    for (int i = 0; i < TASKS_VALUES && copy->values[i].size > 0; i++)
        copy->values[i].value = copy_bytes(t, kernel->values[i].value, kernel->values[i].size);
    return copy;
}

/* A task for real time, with a copy of its argument if requested. */
static const xy_task_code_t *make_code(xylem_tasks *t, const xylem_task *task, int number)
{
    tasks_code_t *code = xy_arena_alloc(t->arena, sizeof(*code));

    t->has_code = t->has_code && task->run != NULL;
    t->has_kernels = t->has_kernels || task->kernel != NULL || task->gpu != NULL;
    if (code == NULL) {
        remember(t, xy_fail_memory("adding a task"));
        return NULL;
    }
    code->code = (xy_task_code_t){task->run, task->arg};
    if (task->arg_size > 0)
        code->code.arg = copy_bytes(t, task->arg, task->arg_size);
    if (task->kernel != NULL)
        code->kernel = copy_kernel(t, task->kernel, number);
    code->gpu = task->gpu;
    return &code->code;
}

int xylem_tasks_add(xylem_tasks *t, const xylem_task *task, const xylem_access *accesses, int count)
{
    int number = t->tasks++;
    xy_op_t op = {.kind = XY_OP_COMPUTE, .priority = task->priority, .seconds = task->seconds};
    xy_access_t *a;

    check_open(t, "a task");
    check_accesses(t, accesses, count, number);
    if (task->model != NULL)
        op.seconds = model_seconds(t, task);
    if (!(op.seconds >= 0) || !isfinite(op.seconds))
        remember(t, xy_fail(XY_EINVAL, "task %d takes %g s; give a time of 0 or more", number,
                            op.seconds));
    if (task->run != NULL || task->kernel != NULL || task->gpu != NULL)
        op.code = make_code(t, task, number);
    else
        t->has_code = t->has_all = false;
    a = xy_malloc(((size_t)(count > 0 ? count : 0) + 1) * sizeof(*a));
    if (a == NULL)
        remember(t, xy_fail_memory("adding a task"));
    for (int i = 0; i < count && a != NULL; i++)
        a[i] = (xy_access_t){accesses[i].data, (xy_access_mode_t)accesses[i].mode};
    if (t->status == XY_OK)
        (void)xy_graph_add_task(t->graph, &op, a, count);
    xy_free(a);
    return number;
}
