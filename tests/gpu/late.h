/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of components that use GPUs: an OpenCL device that runs every command as late as
 * possible, in an order limited by events alone.
 *
 *   testing_use_late();
 *   failed += cmocka_run_group_tests(tests, open_gpu, close_gpu);
 */
#ifndef XY_TESTS_GPU_LATE_H
#define XY_TESTS_GPU_LATE_H

/* From now on xy_gpu_list() lists these devices alone. */
void testing_use_late(void);

#endif
