#include <cuda_runtime.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s\n", cudaGetErrorString(error));                                    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

__device__ static inline double mean(double a, double b) { return auto_x(a + b) / 2; }

/* One step; the grid is one-dimensional. */
__global__ void __launch_bounds__(256) step(double *to, const double *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; // "{"

    if (i > 0 && i < n - 1) {
        to[i] = mean(from[i - 1], from[i + 1]);
    }
}

__global__ void count(const double *x, int n, int *found);

__global__ void count(const double *x, int n, int *found) { if (threadIdx.x == 0) *found = n; }

__host__ __device__ static int blocks_of(int n, int threads)
{
    return (n + threads - 1) / threads;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, rank, size, found = 0, *device_found;
    double *a, *b, *t, edge[2] = {0, 0};
    dim3 threads(256), grid(blocks_of(n, 256));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(cudaSetDevice(rank % 4));
    CHECK(cudaMalloc((void **)&a, n * sizeof(double)));
    CHECK(cudaMalloc(&b, n * sizeof(double)));
    CHECK(cudaMalloc(&device_found, sizeof(int)));
    CHECK(cudaMemset(a, 0, n * sizeof(double)));
    for (int s = 0; s < 10; s++) {
        MPI_Sendrecv(a + 1, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, edge, 1, MPI_DOUBLE, (rank + 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(cudaMemcpy(a + n - 1, edge, sizeof(double), cudaMemcpyHostToDevice));
        step<<<grid, threads>>>(b, a, n);
        CHECK(cudaGetLastError());
        t = a, a = b, b = t;
    }
    CHECK(cudaDeviceSynchronize());
#ifdef COUNT
    count<<<1, 32, 0, 0>>>(a, n, device_found);
    CHECK(cudaMemcpy(&found, device_found, sizeof(int), cudaMemcpyDeviceToHost));
    MPI_Bcast(edge, found, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
    CHECK(cudaFree(a));
    MPI_Bcast(a, blocks_of(n, 256), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
