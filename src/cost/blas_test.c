/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cost/cost.h"

/* Any precision; nothing that only looks like one of them. */
static void test_sizes(void **state)
{
    (void)state;
    assert_string_equal(xy_blas_sizes("cblas_dgemm"), "345");
    assert_string_equal(xy_blas_sizes("cblas_sgemm"), "345");
    assert_string_equal(xy_blas_sizes("LAPACKE_zgetrf"), "12");
    assert_null(xy_blas_sizes("LAPACKE_dgemm"));
    assert_null(xy_blas_sizes("cblas_"));
    assert_null(xy_blas_sizes("cblas_dgemm_batch"));
    assert_null(xy_blas_sizes("dgemm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
