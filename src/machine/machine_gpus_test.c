/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs that drivers describe, in machines that know them and in machines that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/machine_internal.h"
#include "testing/base.h"

static const xy_gpu_found_t three[] = {
    {.name = "far",
     .memory = 100,
     .numa = 1,
     .in = {1e-6, 1e9},
     .out = {2e-6, 2e9},
     .kernel = {3e-6, 3e12}},
    {.name = "near", .memory = 200, .numa = 0},
    {.name = "lost", .memory = 300, .numa = -1, .shared = {0, 5e9}}};

static xy_machine_t *make(const char *source)
{
    xy_machine_t *m;

    assert_int_equal(xy_machine_synthetic(source, &m), XY_OK);
    return m;
}

static const xy_gpu_t *gpu_called(const xy_machine_t *m, const char *name)
{
    for (uint32_t i = 0; i < m->gpu_count; i++)
        if (strcmp(m->names[m->gpus[i].name], name) == 0)
            return &m->gpus[i];
    fail_msg("there is no GPU '%s'", name);
    return NULL;
}

static xy_obj_t host_of(const xy_machine_t *m, const xy_gpu_t *gpu)
{
    return m->gpu_groups[gpu->group].host;
}

/* Each hangs where it is near, and writing the machine and reading it back loses nothing. */
static void test_added(void **state)
{
    xy_machine_t *m = make("node:1 numa:2 core:2");
    const xy_gpu_t *far, *lost;

    (void)state;
    assert_int_equal(xy_machine_set_gpus(m, three, 3), XY_OK);
    assert_int_equal(m->gpu_count, 3);
    assert_int_equal(m->gpu_group_count, 3);
    for (uint32_t g = 1; g < m->gpu_group_count; g++)
        assert_true(m->gpu_groups[g - 1].host < m->gpu_groups[g].host);
    far = gpu_called(m, "far");
    assert_int_equal(far->memory, 100);
    assert_int_equal(far->physical, 0);
    assert_true(far->in.bandwidth == 1e9 && far->out.latency == 2e-6);
    assert_true(far->kernel.latency == 3e-6 && far->kernel.bandwidth == 3e12);
    assert_int_equal(m->physical[host_of(m, far)], 1);
    assert_int_equal(m->type[host_of(m, far)], XY_OBJ_NUMA);
    assert_int_equal(m->physical[host_of(m, gpu_called(m, "near"))], 0);
    lost = gpu_called(m, "lost");
    assert_int_equal(m->type[host_of(m, lost)], XY_OBJ_NODE);
    assert_true(m->gpu_groups[lost->group].shared.bandwidth == 5e9);
    xy_machine_destroy(m);
}

/* Known ones keep their place and what the driver does not tell. */
static void test_described(void **state)
{
    xy_gpu_found_t better = {.name = "better", .memory = 7, .numa = -1, .in = {0, 9e9}};
    xy_machine_t *m = make("node:1 numa:2 core:2");
    const xy_gpu_t *gpu;

    (void)state;
    assert_int_equal(xy_machine_set_gpus(m, three, 1), XY_OK);
    assert_int_equal(xy_machine_set_gpus(m, &better, 1), XY_OK);
    assert_int_equal(m->gpu_count, 1);
    gpu = gpu_called(m, "better");
    assert_int_equal(gpu->memory, 7);
    assert_true(gpu->in.bandwidth == 9e9 && gpu->out.bandwidth == 2e9);
    assert_int_equal(m->physical[host_of(m, gpu)], 1);
    assert_int_equal(xy_machine_set_gpus(m, NULL, 0), XY_OK);
    assert_int_equal(m->gpu_count, 1);
    xy_machine_destroy(m);
}

static void test_without_memory(void **state)
{
    (void)state;
    for (long k = 0; testing_fail_next(&k);) {
        xy_machine_t *m;

        xy_memory_fail_at(0);
        m = make("node:1 core:2");
        xy_memory_fail_at(k);
        assert_null(testing_fail_fault(&k, xy_machine_set_gpus(m, three, 3)));
        xy_machine_destroy(m);
    }
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_added),
                                       cmocka_unit_test(test_described),
                                       cmocka_unit_test(test_without_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
