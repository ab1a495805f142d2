/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5: all ranks write blocks of one dataset of a file together, in chunks, and read it turned. */
#include <hdf5.h>
#include <stdio.h>

enum { ROWS = 6, COLUMNS = 40 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, total;
    double block[ROWS][COLUMNS], back[ROWS][COLUMNS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hsize_t whole[2] = {(hsize_t)(ROWS * size), COLUMNS}, chunk[2] = {4, 16};
    hsize_t start[2] = {(hsize_t)(ROWS * rank), 0}, count[2] = {ROWS, COLUMNS};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Pset_chunk(layout, 2, chunk);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            block[i][j] = rank * 1000 + i * COLUMNS + j;
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, count, NULL);
    hid_t data =
        H5Dcreate2(file, "blocks", H5T_IEEE_F64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);

    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    wrong += H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, block) < 0;
    H5Dclose(data);
    H5Fclose(file);
    file = H5Fopen(argv[1], H5F_ACC_RDONLY, access);
    data = H5Dopen2(file, "blocks", H5P_DEFAULT);
    start[0] = (hsize_t)(ROWS * ((rank + 1) % size));
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    wrong += H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, transfer, back) < 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            wrong += back[i][j] != (rank + 1) % size * 1000 + i * COLUMNS + j;
    H5Dclose(data);
    H5Fclose(file);
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d wrong\n", size, total);
    MPI_Finalize();
    return total != 0;
}
