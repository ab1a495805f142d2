/* A variable that starts with its old value in each thread, and has it again behind the block.
 * expect: refused threads: 2 */
#include <mpi.h>

int main(int argc, char **argv)
{
    static char data[4096];
    int n = 5;

    MPI_Init(&argc, &argv);
#pragma omp parallel for firstprivate(n)
    for (int i = 0; i < 10; i++) {
        n += i;
        data[n] = 1;
    }
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
