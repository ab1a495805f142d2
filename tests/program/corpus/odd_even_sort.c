/* SPDX-License-Identifier: BSD-3-Clause */
/* Odd-even transposition sort; keys are data, partners follow from the phase. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_N 24

static int Compare(const void *a_p, const void *b_p)
{
    int a = *((const int *)a_p), b = *((const int *)b_p);
    return a < b ? -1 : a == b ? 0 : 1;
}

static void Merge_low(int mine[], int recv[], int temp[], int n)
{
    int m_i = 0, r_i = 0, t_i = 0;
    while (t_i < n)
        temp[t_i++] = mine[m_i] <= recv[r_i] ? mine[m_i++] : recv[r_i++];
    memcpy(mine, temp, n * sizeof(int));
}

static void Merge_high(int mine[], int recv[], int temp[], int n)
{
    int m_i = n - 1, r_i = n - 1, t_i = n - 1;
    while (t_i >= 0)
        temp[t_i--] = mine[m_i] >= recv[r_i] ? mine[m_i--] : recv[r_i--];
    memcpy(mine, temp, n * sizeof(int));
}

int main(int argc, char *argv[])
{
    int my_rank, p, *a, *b, *c;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &my_rank);
    a = (int *)malloc(LOCAL_N * sizeof(int));
    b = (int *)malloc(LOCAL_N * sizeof(int));
    c = (int *)malloc(LOCAL_N * sizeof(int));
    srandom(my_rank + 1);
    for (int i = 0; i < LOCAL_N; i++)
        a[i] = random() % 100;
    qsort(a, LOCAL_N, sizeof(int), Compare);

    int even_partner = my_rank % 2 ? my_rank - 1 : my_rank + 1;
    int odd_partner = my_rank % 2 ? my_rank + 1 : my_rank - 1;
    if (even_partner == p)
        even_partner = MPI_PROC_NULL;
    if (odd_partner == -1 || odd_partner == p)
        odd_partner = MPI_PROC_NULL;
    for (int phase = 0; phase < p; phase++) {
        int partner = phase % 2 == 0 ? even_partner : odd_partner;
        if (partner < 0)
            continue;
        MPI_Sendrecv(a, LOCAL_N, MPI_INT, partner, 0, b, LOCAL_N, MPI_INT, partner, 0, comm,
                     MPI_STATUS_IGNORE);
        if (my_rank < partner)
            Merge_low(a, b, c, LOCAL_N);
        else
            Merge_high(a, b, c, LOCAL_N);
    }
    int *all = my_rank == 0 ? malloc(p * LOCAL_N * sizeof(int)) : NULL;
    MPI_Gather(a, LOCAL_N, MPI_INT, all, LOCAL_N, MPI_INT, 0, comm);
    if (my_rank == 0)
        printf("%d ... %d\n", all[0], all[p * LOCAL_N - 1]);
    free(all);
    free(a), free(b), free(c);
    MPI_Finalize();
    return 0;
}
