/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How large the stacks of ranks are. A program that needs a large stack is started behind
 * `ulimit -s`, and so the limit is taken for ranks as it is for processes. Address space is all
 * that a stack costs before it is touched, but there is not an unlimited amount of it.
 */
#include <sys/resource.h>

#include "launch/launch.h"

enum { MIB = 1 << 20 };
static const size_t least = (size_t)256 << 10, usual = (size_t)8 << 20, most = (size_t)1 << 30;
static const size_t all_most = (size_t)256 << 30; /* also of 39 bits, as some aarch64 have */

size_t mpi_launch_stack_size(const mpi_launch_values_t *values, int ranks)
{
    size_t share = all_most / (size_t)ranks / MIB * MIB, size = most;
    struct rlimit limit;

    if (values->stack_size > 0)
        return values->stack_size;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most)
        size = (size_t)limit.rlim_cur;
    if (size > share)
        size = share > usual ? share : usual < size ? usual : size;
    return size > least ? size : least;
}
