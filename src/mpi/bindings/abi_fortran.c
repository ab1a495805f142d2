/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the standard ABI about Fortran, which a library may serve without knowing the
 * compiler: this one knows gfortran's, and refuses a program that states another.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/object/object.h"

/* LOGICAL of each size that gfortran has: 1 and 0. */
static bool is_logical(int size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* The least significant byte comes first on the machines that Xylem runs on, and last elsewhere. */
static void put(void *place, int size, int value)
{
    uint64_t words[4] = {(uint64_t)value};
    const uint16_t order = 1;
    const char *bytes = (const char *)words;

    if (*(const char *)&order == 0)
        bytes += sizeof(uint64_t) - (size_t)size;
    memcpy(place, bytes, (size_t)size);
}

int impl_abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                  int *is_set)
{
    if (!is_logical(logical_size))
        return mpi_error(NULL, MPI_ERR_ARG, "the size of a LOGICAL is %d; it is 1, 2, 4 or 8",
                         logical_size);
    put(logical_true, logical_size, 1);
    put(logical_false, logical_size, 0);
    *is_set = 1;
    return MPI_SUCCESS;
}

int impl_abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    char yes[8], no[8];

    if (!is_logical(logical_size))
        return mpi_error(NULL, MPI_ERR_ARG, "the size of a LOGICAL is %d; it is 1, 2, 4 or 8",
                         logical_size);
    put(yes, logical_size, 1);
    put(no, logical_size, 0);
    if (memcmp(logical_true, yes, (size_t)logical_size) != 0 ||
        memcmp(logical_false, no, (size_t)logical_size) != 0)
        return mpi_error(NULL, MPI_ERR_ABI,
                         "the values of LOGICAL are those of gfortran, 1 and 0, and cannot be "
                         "changed");
    return MPI_SUCCESS;
}

static const struct {
    const char *key, *value;
} facts[] = {
    {"mpi_logical_size", "4"},
    {"mpi_integer_size", "4"},
    {"mpi_real_size", "4"},
    {"mpi_double_precision_size", "8"},
    {"mpi_integer1_supported", "true"},
    {"mpi_integer2_supported", "true"},
    {"mpi_integer4_supported", "true"},
    {"mpi_integer8_supported", "true"},
    {"mpi_real4_supported", "true"},
    {"mpi_real8_supported", "true"},
    {"mpi_complex8_supported", "true"},
    {"mpi_complex16_supported", "true"},
    {"mpi_double_complex_supported", "true"},
};
enum { FACTS = sizeof facts / sizeof facts[0] };

int impl_abi_get_fortran_info(MPI_Info *info)
{
    mpi_info_t *made = mpi_info_copy(NULL);

    for (int i = 0; i < FACTS && made; i++)
        if (mpi_info_put(made, facts[i].key, facts[i].value) != XY_OK) {
            mpi_info_destroy(made);
            made = NULL;
        }
    if (!made)
        return mpi_error_memory(NULL, "an info object");
    *info = (MPI_Info)(void *)made;
    return MPI_SUCCESS;
}

/* Keys that are not known are ignored, as in all info objects. */
int impl_abi_set_fortran_info(MPI_Info info)
{
    int code = mpi_info_check(NULL, info);

    for (int i = 0; i < FACTS && code == MPI_SUCCESS && info != MPI_INFO_NULL; i++) {
        const char *value = mpi_info_value(mpi_info_of(info), facts[i].key);

        if (value && strcmp(value, facts[i].value) != 0)
            code = mpi_error(NULL, MPI_ERR_ABI, "%s is %s, and cannot be set to %.40s",
                             facts[i].key, facts[i].value, value);
    }
    return code;
}
