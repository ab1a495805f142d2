/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors go to labels that undo what was done, in reverse order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct world {
    MPI_Comm comm;
    MPI_Datatype row;
    double *field;
    int rank, size, n;
};

static int setup(struct world *w, int n)
{
    int rc = -1;

    w->n = n;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &w->comm) != MPI_SUCCESS)
        goto fail;
    MPI_Comm_rank(w->comm, &w->rank);
    MPI_Comm_size(w->comm, &w->size);
    if (MPI_Type_contiguous(n, MPI_DOUBLE, &w->row) != MPI_SUCCESS)
        goto free_comm;
    MPI_Type_commit(&w->row);
    w->field = malloc(sizeof(double) * n * n);
    if (!w->field)
        goto free_type;
    rc = 0;
    goto out;
free_type:
    MPI_Type_free(&w->row);
free_comm:
    MPI_Comm_free(&w->comm);
fail:
    fprintf(stderr, "setup failed\n");
out:
    return rc;
}

int main(int argc, char **argv)
{
    struct world w;
    int rc = EXIT_FAILURE;

    MPI_Init(&argc, &argv);
    if (setup(&w, 17))
        goto end;
    if (w.size < 2)
        goto cleanup;
    for (int i = 0;; i++) {
        if (i == 5)
            goto done;
        MPI_Bcast(w.field, i + 1, w.row, i % w.size, w.comm);
    }
done:
    rc = EXIT_SUCCESS;
cleanup:
    free(w.field);
    MPI_Type_free(&w.row);
    MPI_Comm_free(&w.comm);
end:
    MPI_Finalize();
    return rc;
}
