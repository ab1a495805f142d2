/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources, tags and counts out of statuses; requests in many orders; what is null stays so. ranks:
 * 4 */
#include <mpi.h>

static char b[2048];
static void say(int v)
{
    MPI_Bcast(b, v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int r, n, k, flag, idx[4], sum = 0;
    MPI_Request q[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s, ss[4];
    char in[4][64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Waitany(4, q, &k, MPI_STATUS_IGNORE), say(k == MPI_UNDEFINED);
    MPI_Test(&q[0], &flag, &s), say(flag + 1);
    MPI_Waitsome(4, q, &k, idx, ss), say(k == MPI_UNDEFINED ? 4 : 5);
    if (r == 0) {
        for (int i = 1; i < n; i++)
            MPI_Irecv(in[i], 64, MPI_CHAR, i, MPI_ANY_TAG, MPI_COMM_WORLD, &q[i]);
        MPI_Waitall(n, q, ss);
        for (int i = 1; i < n; i++) {
            int c;
            MPI_Get_count(&ss[i], MPI_SHORT, &c);
            sum += ss[i].MPI_TAG * 10 + ss[i].MPI_SOURCE + (c == MPI_UNDEFINED ? 50 : c);
        }
        for (int i = 1; i < n; i++)
            sum += q[i] == MPI_REQUEST_NULL;
    } else {
        MPI_Send(b, 10 + r, MPI_CHAR, 0, r + 5, MPI_COMM_WORLD);
    }
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD), say(sum);
    MPI_Sendrecv(b, r, MPI_CHAR, (r + 1) % n, r, in, 64, MPI_CHAR, (r + n - 1) % n, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_CHAR, &k);
    k = k * 100 + s.MPI_TAG * 10 + s.MPI_SOURCE;
    MPI_Bcast(&k, 1, MPI_INT, 2, MPI_COMM_WORLD), say(k);
    MPI_Recv(in, 1, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_CHAR, &k),
        say(k + (s.MPI_SOURCE == MPI_PROC_NULL) * 2 + (s.MPI_TAG == MPI_ANY_TAG) * 4);
    MPI_Group world, part;
    int from[3] = {2, 0, 3}, to[3], here;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, from, &part);
    MPI_Group_translate_ranks(world, 3, (int[]){3, 2, 1}, part, to);
    say(to[0] * 10 + to[1] + (to[2] == MPI_UNDEFINED) * 100);
    MPI_Group_rank(part, &here), MPI_Group_size(part, &k);
    here = here == MPI_UNDEFINED ? 40 : here;
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), say(here + k);
    MPI_Comm a, c;
    MPI_Comm_split(MPI_COMM_WORLD, r / 2, -r, &a), MPI_Comm_rank(a, &k);
    k = k * 10 + r, MPI_Bcast(&k, 1, MPI_INT, 1, MPI_COMM_WORLD), say(k);
    MPI_Comm_create(MPI_COMM_WORLD, part, &c);
    k = 9;
    if (c != MPI_COMM_NULL)
        MPI_Comm_rank(c, &k);
    MPI_Bcast(&k, 1, MPI_INT, 3, MPI_COMM_WORLD), say(k);
    int dims[2] = {0, 2}, coords[2], left, right, size;
    MPI_Comm cart;
    MPI_Dims_create(n, 2, dims), say(dims[0] * 10 + dims[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){0, 1}, 0, &cart);
    MPI_Cart_coords(cart, r, 2, coords), MPI_Cart_shift(cart, 0, 1, &left, &right);
    k = coords[0] * 100 + coords[1] * 10 + (left == MPI_PROC_NULL) + (right == MPI_PROC_NULL) * 2;
    MPI_Bcast(&k, 1, MPI_INT, 3, MPI_COMM_WORLD), say(k);
    MPI_Datatype t;
    MPI_Aint lb, ext;
    MPI_Type_vector(3, 2, 5, MPI_INT, &t), MPI_Type_commit(&t), MPI_Type_size(t, &size);
    MPI_Type_get_extent(t, &lb, &ext), say(size * 10 + (int)ext), MPI_Type_free(&t),
        say(t == MPI_DATATYPE_NULL);
    MPI_Finalize();
    return 0;
}
