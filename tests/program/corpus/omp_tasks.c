/* Tasks are not predicted. expect: refused threads: 2 */
#include <mpi.h>

static long fibonacci(int n)
{
    long a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv)
{
    static char data[4096];
    long n = 0;

    MPI_Init(&argc, &argv);
#pragma omp parallel
#pragma omp single
    n = fibonacci(10);
    MPI_Bcast(data, (int)n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
