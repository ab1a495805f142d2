/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of Fortran under the names of several compilers: one underscore, none, two, capitals.
 * MPI_Alloc_mem has one more, for a pointer of C as the address.
 */
#include <mpi.h>
#include <stdio.h>

void mpi_comm_size(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void mpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void mpi_comm_size__(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void MPI_COMM_SIZE(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void pmpi_comm_size__(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void PMPI_COMM_SIZE(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void MPI_INIT(MPI_Fint *error);
void mpi_alloc_mem_cptr_(MPI_Aint *size, MPI_Fint *info, void *address, MPI_Fint *error);
void pmpi_win_allocate_cptr__(MPI_Aint *size, MPI_Fint *unit, MPI_Fint *info, MPI_Fint *comm,
                              void *address, MPI_Fint *win, MPI_Fint *error);

/* Allocate memory and a window; all bytes can be written. */
static int can_allocate(void)
{
    MPI_Fint info = MPI_Info_c2f(MPI_INFO_NULL), comm = MPI_Comm_c2f(MPI_COMM_WORLD), unit = 1;
    MPI_Fint error = -1, number;
    MPI_Aint size = 100;
    char *bytes = NULL;
    MPI_Win win;

    mpi_alloc_mem_cptr_(&size, &info, &bytes, &error);
    if (error != 0 || bytes == NULL)
        return 0;
    bytes[99] = 1;
    MPI_Free_mem(bytes);
    bytes = NULL;
    pmpi_win_allocate_cptr__(&size, &unit, &info, &comm, &bytes, &number, &error);
    if (error != 0 || bytes == NULL)
        return 0;
    bytes[99] = 1;
    win = MPI_Win_f2c(number);
    return MPI_Win_free(&win) == MPI_SUCCESS;
}

int main(void)
{
    void (*const sizes[])(MPI_Fint *, MPI_Fint *, MPI_Fint *) = {mpi_comm_size,    mpi_comm_size_,
                                                                 mpi_comm_size__,  MPI_COMM_SIZE,
                                                                 pmpi_comm_size__, PMPI_COMM_SIZE};
    MPI_Fint error, comm;
    int right, is_right = 1;

    MPI_INIT(&error);
    comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &right);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        MPI_Fint size = -1;

        sizes[i](&comm, &size, &error);
        is_right &= size == right && error == 0;
    }
    printf("%s\n", is_right && can_allocate() ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
