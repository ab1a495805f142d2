/* SPDX-License-Identifier: BSD-3-Clause */
/* The C half of attributes.f90: what one language sets the other reads. */
#include <mpi.h>

static long c_value = 4242;

/* Read a value that Fortran has set, by its address. */
int c_reads_wide(int *key)
{
    MPI_Aint *value;
    int flag;

    MPI_Comm_get_attr(MPI_COMM_SELF, *key, &value, &flag);
    return flag ? (int)(*value >> 32) : -1;
}

int c_reads_narrow(int *key)
{
    int *value, flag;

    MPI_Comm_get_attr(MPI_COMM_SELF, *key, &value, &flag);
    return flag ? *value : -1;
}

void c_sets(int *key)
{
    MPI_Comm_set_attr(MPI_COMM_SELF, *key, &c_value);
}

/* Is it what c_sets has set? */
int c_is_own(MPI_Aint *address)
{
    return *address == (MPI_Aint)&c_value && *(long *)*address == 4242;
}

int c_reads_own(int *key)
{
    long *value;
    int flag;

    MPI_Comm_get_attr(MPI_COMM_SELF, *key, &value, &flag);
    return flag && value == &c_value;
}
