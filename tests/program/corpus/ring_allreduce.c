/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring algorithm of learning frameworks: scatter-reduce, then gather, on chunks of floats. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void ring_allreduce(float *data, size_t length, float **output)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const size_t segment = length / size;
    size_t *sizes = (size_t *)malloc(size * sizeof(size_t)),
           *ends = (size_t *)malloc(size * sizeof(size_t));
    for (int i = 0; i < size; i++)
        sizes[i] = segment;
    const size_t residual = length % size;
    for (size_t i = 0; i < residual; i++)
        sizes[i]++;
    ends[0] = sizes[0];
    for (int i = 1; i < size; i++)
        ends[i] = sizes[i] + ends[i - 1];

    float *out = (float *)malloc(length * sizeof(float)),
          *buffer = (float *)malloc(sizes[0] * sizeof(float));
    memcpy(out, data, length * sizeof(float));
    const int from = (rank - 1 + size) % size, to = (rank + 1) % size;
    MPI_Request req;
    for (int i = 0; i < size - 1; i++) {
        int recv_chunk = (rank - i - 1 + size) % size, send_chunk = (rank - i + size) % size;
        float *segment_send = &out[ends[send_chunk] - sizes[send_chunk]];

        MPI_Irecv(buffer, (int)sizes[recv_chunk], MPI_FLOAT, from, 0, MPI_COMM_WORLD, &req);
        MPI_Send(segment_send, (int)sizes[send_chunk], MPI_FLOAT, to, 0, MPI_COMM_WORLD);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        for (size_t k = 0; k < sizes[recv_chunk]; k++)
            out[ends[recv_chunk] - sizes[recv_chunk] + k] += buffer[k];
    }
    for (int i = 0; i < size - 1; i++) {
        int send_chunk = (rank - i + 1 + size) % size, recv_chunk = (rank - i + size) % size;

        MPI_Sendrecv(&out[ends[send_chunk] - sizes[send_chunk]], (int)sizes[send_chunk], MPI_FLOAT,
                     to, 0, &out[ends[recv_chunk] - sizes[recv_chunk]], (int)sizes[recv_chunk],
                     MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(buffer), free(sizes), free(ends);
    *output = out;
}

int main(int argc, char **argv)
{
    float *data, *out;

    MPI_Init(&argc, &argv);
    data = calloc(103, sizeof(float));
    ring_allreduce(data, 103, &out);
    free(out);
    MPI_Finalize();
    return 0;
}
