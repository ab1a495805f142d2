/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices from anywhere: an error or a matrix that can be written. */
#include "place/matrix_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_matrix(data, size, XY_MATRIX_CSV);
}
