/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share a GPU: a plain CUDA and MPI program, compiled by nvcc (ranks.sh).
 *
 *   ranks loop        200 small kernels, each waited for, and an allreduce of 8 bytes after each
 *   ranks steps       the same loop: how long the GPU is busy in a round, and idle before the next
 *   ranks message     device-to-device messages of 64 MiB and of 8 bytes, beside a plain device copy
 *   ranks allreduce   MPI_Allreduce of 64 MiB of doubles in device memory, beside the time that
 *                     reading and writing all of it takes
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>
#include <mpi.h>

enum { REPEATS = 7 };

static int rank, size;

static void check(cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, cudaGetErrorString(e));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

__device__ int calls; /* private to a rank, as in a process */

__global__ void work(float *x, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];

    for (int s = 0; s < steps; s++)
        v = v * 0.999f + 0.5f;
    x[i] = v;
    if (i == 0)
        calls++;
}

static __device__ unsigned long long nanoseconds()
{
    unsigned long long t;

    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

enum { BEGUN, ENDED, LAST_ENDED, TIMES };

/* The same, with the times of the GPU's clock when the first block begins and ends, and the last
 * one ends. */
__global__ void timed_work(float *x, int steps, unsigned long long *when)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool is_first = i == 0, is_last = threadIdx.x == 0 && blockIdx.x == gridDim.x - 1;
    float v = x[i];

    if (is_first)
        when[BEGUN] = nanoseconds();
    for (int s = 0; s < steps; s++)
        v = v * 0.999f + 0.5f;
    x[i] = v;
    if (is_first)
        when[ENDED] = nanoseconds();
    if (is_last)
        when[LAST_ENDED] = nanoseconds();
}

static double median(std::vector<double> t)
{
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
}

static double slowest(double begin)
{
    double own = MPI_Wtime() - begin, all;

    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

enum { THREADS = 65536, STEPS = 2000, ROUNDS = 200 };

static void loop()
{
    std::vector<double> times;
    double start = MPI_Wtime(), sum, one = 1;
    int counted = 0;
    float *x;

    check(cudaMalloc(&x, THREADS * sizeof(float)), "cudaMalloc");
    check(cudaMemset(x, 0, THREADS * sizeof(float)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    start = slowest(start);
    for (int r = 0; r < REPEATS; r++) {
        double begin;

        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < ROUNDS; i++) {
            work<<<THREADS / 256, 256>>>(x, STEPS);
            check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
            MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (sum != size)
                MPI_Abort(MPI_COMM_WORLD, 1);
        }
        times.push_back(slowest(begin));
    }
    check(cudaMemcpyFromSymbol(&counted, calls, sizeof(calls)), "cudaMemcpyFromSymbol");
    if (counted != REPEATS * ROUNDS) {
        fprintf(stderr, "rank %d: %d kernels counted, not %d\n", rank, counted, REPEATS * ROUNDS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        printf("loop: %d ranks %.4f s, start %.3f s\n", size, median(times), start);
    cudaFree(x);
}

typedef unsigned long long stamp_t;

static void print_steps(const std::vector<stamp_t> &all)
{
    std::vector<double> busy, idle;
    stamp_t before = 0;

    for (int i = 0; i < ROUNDS; i++) {
        stamp_t begin = ~(stamp_t)0, end = 0;

        for (int r = 0; r < size; r++) {
            const stamp_t *when = &all[((size_t)r * ROUNDS + i) * TIMES];

            begin = std::min(begin, when[BEGUN]);
            end = std::max(end, std::max(when[ENDED], when[LAST_ENDED]));
        }
        busy.push_back(1e-3 * (double)(end - begin));
        if (i > 0)
            idle.push_back(1e-3 * ((double)begin - (double)before));
        before = end;
    }
    printf("steps: %d ranks, the GPU is busy for %.1f us in a round and idle for %.1f us\n", size,
           median(busy), median(idle));
}

static void steps()
{
    std::vector<stamp_t> own(ROUNDS * TIMES), all((size_t)size * ROUNDS * TIMES);
    double sum, one = 1;
    stamp_t *when;
    float *x;

    check(cudaMalloc(&x, THREADS * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&when, ROUNDS * TIMES * sizeof(stamp_t)), "cudaMalloc");
    check(cudaMemset(x, 0, THREADS * sizeof(float)), "cudaMemset");
    for (int r = 0; r < REPEATS; r++) /* the last repetition is printed */
        for (int i = 0; i < ROUNDS; i++) {
            timed_work<<<THREADS / 256, 256>>>(x, STEPS, when + TIMES * i);
            check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
            MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    check(cudaMemcpy(own.data(), when, own.size() * sizeof(stamp_t), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    MPI_Gather(own.data(), (int)own.size(), MPI_UNSIGNED_LONG_LONG, all.data(), (int)own.size(),
               MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0)
        print_steps(all);
}

/* Seconds of a device copy, one way. */
static double copy_time(char *to, const char *from, size_t bytes)
{
    std::vector<double> times;

    for (int r = 0; r < 3 * REPEATS; r++) {
        double begin = MPI_Wtime();

        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
        check(cudaStreamSynchronize(0), "cudaStreamSynchronize");
        times.push_back(MPI_Wtime() - begin);
    }
    return median(times);
}

/* Seconds of a message, of round trips between the ranks 0 and 1. */
static double message_time(char *x, size_t bytes, int rounds)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        if (rank == 0) {
            MPI_Send(x, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(x, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(x, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(x, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - begin) / (2 * rounds);
}

/* Seconds of a device copy, to and fro as messages go. */
static double round_trips(char *x, char *y, size_t bytes, int rounds)
{
    double begin = MPI_Wtime();

    for (int i = 0; i < 2 * rounds; i++) {
        check(cudaMemcpyAsync(i % 2 ? x : y, i % 2 ? y : x, bytes, cudaMemcpyDeviceToDevice),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(0), "cudaStreamSynchronize");
    }
    return (MPI_Wtime() - begin) / (2 * rounds);
}

/* Copies and messages take turns: what the GPU does by itself changes from second to second. */
static void message()
{
    enum { TURNS = 15, ROUNDS = 20, SMALL_ROUNDS = 500 };
    const size_t bytes = 64 << 20;
    std::vector<double> copies, large, small;
    double copy;
    char *x, *y;

    check(cudaMalloc(&x, bytes), "cudaMalloc");
    check(cudaMalloc(&y, bytes), "cudaMalloc");
    check(cudaMemset(x, rank + 1, bytes), "cudaMemset");
    check(cudaMemset(y, rank + 1, bytes), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int t = 0; t < TURNS; t++) {
        if (rank == 0)
            copies.push_back(round_trips(x, y, bytes, ROUNDS));
        large.push_back(message_time(x, bytes, ROUNDS));
    }
    for (int t = 0; t < TURNS; t++)
        small.push_back(message_time(x, 8, SMALL_ROUNDS));
    if (rank != 0)
        return;
    copy = median(copies);
    printf("message: 64 MiB %.1f us (%.0f GB/s), a device copy %.1f us (%.1f to %.1f), %.0f %%; 8 B "
           "%.2f us\n",
           1e6 * median(large), 1e-9 * (double)bytes / median(large), 1e6 * copy,
           1e6 * *std::min_element(copies.begin(), copies.end()),
           1e6 * *std::max_element(copies.begin(), copies.end()), 100 * copy / median(large),
           1e6 * median(small));
}

static void allreduce()
{
    const size_t bytes = 64 << 20, n = bytes / sizeof(double);
    std::vector<double> times, host(n, rank + 1), result(n);
    double *x, *y, copy, bound;

    check(cudaMalloc(&x, bytes), "cudaMalloc");
    check(cudaMalloc(&y, bytes), "cudaMalloc");
    check(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    MPI_Barrier(MPI_COMM_WORLD);
    copy = rank == 0 ? copy_time((char *)y, (char *)x, bytes) : 0;
    for (int r = 0; r < REPEATS + 1; r++) {
        double begin;

        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MPI_Allreduce(x, y, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (r > 0) /* the kernel is compiled by the first one */
            times.push_back(slowest(begin));
        else
            slowest(begin);
    }
    check(cudaMemcpy(result.data(), y, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < n; i++)
        if (result[i] != size * (size + 1) / 2)
            MPI_Abort(MPI_COMM_WORLD, 1);
    bound = copy * size; /* each reads one vector and writes one */
    if (rank == 0)
        printf("allreduce: %d ranks, 64 MiB %.1f us, reading and writing all of it %.1f us: %.2f "
               "times\n",
               size, 1e6 * median(times), 1e6 * bound, median(times) / bound);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "loop") == 0)
        loop();
    else if (strcmp(what, "steps") == 0)
        steps();
    else if (strcmp(what, "message") == 0)
        message();
    else if (strcmp(what, "allreduce") == 0)
        allreduce();
    else if (rank == 0)
        fprintf(stderr, "usage: ranks loop|steps|message|allreduce\n");
    MPI_Finalize();
    return 0;
}
