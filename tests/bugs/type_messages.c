/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages whose types are others for the sender than for the receiver. */
#include "bugs.h"

static MPI_Datatype make_struct(MPI_Datatype first, MPI_Datatype second)
{
    MPI_Datatype type;

    MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){first, second},
                           &type);
    MPI_Type_commit(&type);
    return type;
}

/* code: 0
 * says: warning: rank 1: MPI_Recv at @recv receives MPI_FLOAT; rank 0 sent MPI_INT with tag 4 at
 * @send; give the same types in both */
BUG(type_int_float)
{
    if (rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 4, world); // @send
    else
        MPI_Recv(others, 4, wrong ? MPI_FLOAT : MPI_INT, 0, 4, world, ignore); // @recv
}

/* The message is there before its receive.
 * code: 0
 * says: rank 1: MPI_Recv at @recv receives MPI_INT; rank 0 sent MPI_FLOAT with tag 4 at @send */
BUG(type_unexpected)
{
    if (rank == 0)
        MPI_Send(numbers, 100, wrong ? MPI_FLOAT : MPI_INT, 1, 4, world); // @send
    MPI_Barrier(world);
    if (rank == 1)
        MPI_Recv(others, 200, MPI_INT, 0, 4, world, ignore); // @recv
}

/* code: 0
 * says: rank 1: MPI_Irecv at @recv receives MPI_DOUBLE; rank 0 sent MPI_INT with tag 4 at @send */
BUG(type_large)
{
    MPI_Request request;

    if (rank == 0)
        MPI_Send(numbers, LARGE, MPI_INT, 1, 4, world); // @send
    else if (wrong)
        MPI_Irecv(others, LARGE / 2, MPI_DOUBLE, 0, 4, world, &request); // @recv
    else
        MPI_Irecv(others, LARGE, MPI_INT, 0, 4, world, &request);
    if (rank == 1)
        MPI_Wait(&request, ignore);
}

/* The same on one worker.
 * code: 0
 * options: --cores 1
 * says: rank 1: MPI_Irecv at @recv receives MPI_CHAR; rank 0 sent MPI_INT with tag 4 at @send */
BUG(type_near)
{
    MPI_Request request;

    if (rank == 1)
        MPI_Irecv(others, 400, wrong ? MPI_CHAR : MPI_INT, 0, 4, world, &request); // @recv
    MPI_Barrier(world);
    if (rank == 0)
        MPI_Send(numbers, 100, MPI_INT, 1, 4, world); // @send
    else
        MPI_Wait(&request, ignore);
}

static _Alignas(16) char structs[64]; /* characters may be anything */

/* code: 0
 * says: rank 1: MPI_Recv at @recv receives (2 MPI_INT, MPI_FLOAT); rank 0 sent
 * (2 MPI_INT, MPI_DOUBLE) with tag 4 at @send */
BUG(type_struct)
{
    MPI_Datatype right = make_struct(MPI_INT, MPI_DOUBLE);
    MPI_Datatype other = make_struct(MPI_INT, wrong ? MPI_FLOAT : MPI_DOUBLE);

    if (rank == 0)
        MPI_Send(structs, 1, right, 1, 4, world); // @send
    else
        MPI_Recv(structs, 2, other, 0, 4, world, ignore); // @recv
    MPI_Type_free(&right);
    MPI_Type_free(&other);
}

/* A struct may be received into a longer one, and parts of it as what they are.
 * code: 0
 * says: rank 1: MPI_Recv at @recv receives (2 MPI_INT, MPI_DOUBLE); rank 0 sent MPI_INT with tag 4
 * at @send */
BUG(type_beyond_prefix)
{
    MPI_Datatype type = make_struct(MPI_INT, MPI_DOUBLE);

    if (rank == 0)
        MPI_Send(numbers, wrong ? 4 : 2, MPI_INT, 1, 4, world); // @send
    else
        MPI_Recv(structs, 1, type, 0, 4, world, ignore); // @recv
    MPI_Type_free(&type);
}

/* One line for all messages between two places.
 * code: 0
 * says: rank 1: MPI_Recv at @recv receives MPI_INT; rank 0 sent MPI_LONG_DOUBLE with tag 4 at @send
 */
BUG(type_repeated)
{
    for (int i = 0; i < 50; i++)
        if (rank == 0)
            MPI_Send(numbers, 1, wrong ? MPI_LONG_DOUBLE : MPI_INT, 1, 4, world); // @send
        else
            MPI_Recv(others, 4, MPI_INT, 0, 4, world, ignore); // @recv
}

/* What is alike in memory, bytes and packed data are no mistake.
 * code: 0
 * says: rank 1: MPI_Recv at @recv receives MPI_DOUBLE; rank 0 sent MPI_LONG with tag 4 at @send */
BUG(type_alike)
{
    static char from[4096], into[4096];
    MPI_Datatype pairs[][2] = {
        {MPI_INT, MPI_INT32_T},       {MPI_LONG, wrong ? MPI_DOUBLE : MPI_UNSIGNED_LONG},
        {MPI_BYTE, MPI_DOUBLE},       {MPI_FLOAT, MPI_BYTE},
        {MPI_PACKED, MPI_SHORT},      {MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE},
        {MPI_CHAR, MPI_UNSIGNED_CHAR}};

    for (int i = 0; i < 7; i++)
        if (rank == 0)
            MPI_Send(from, 4, pairs[i][0], 1, 4, world); // @send
        else
            MPI_Recv(into, 64, pairs[i][1], 0, 4, world, ignore); // @recv
}

/* code: 0
 * says: rank 1: MPI_Recv at @recv receives MPI_FLOAT; rank 0 sent MPI_INT with tag 4 at @send */
BUG(type_buffered)
{
    static char buffer[LARGE * sizeof(int) + MPI_BSEND_OVERHEAD];
    int n;
    void *p;

    if (rank == 1) {
        MPI_Recv(others, LARGE, wrong ? MPI_FLOAT : MPI_INT, 0, 4, world, ignore); // @recv
        return;
    }
    MPI_Buffer_attach(buffer, sizeof(buffer));
    MPI_Bsend(numbers, LARGE, MPI_INT, 1, 4, world); // @send
    MPI_Buffer_detach(&p, &n);
}

/* code: 0
 * says: rank 0: MPI_Sendrecv at @zero receives MPI_FLOAT; rank 1 sent MPI_INT with tag 4 at @one
 * says: rank 1: MPI_Sendrecv at @one receives MPI_INT; rank 0 sent MPI_FLOAT with tag 4 at @zero
 * options: --cores 1 */
BUG(type_sendrecv)
{
    MPI_Datatype mine = wrong && rank == 0 ? MPI_FLOAT : MPI_INT;

    if (rank == 0)
        MPI_Sendrecv(numbers, 4, mine, 1, 4, others, 4, mine, 1, 4, world, ignore); // @zero
    else
        MPI_Sendrecv(numbers, 4, mine, 0, 4, others, 4, mine, 0, 4, world, ignore); // @one
}

/* code: 0
 * options: --virtual core:4 --compute none
 * says: rank 1: MPI_Recv at @recv receives MPI_FLOAT; rank 0 sent MPI_INT with tag 4 at @send */
BUG(type_virtual)
{
    if (rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 4, world); // @send
    else
        MPI_Recv(others, 4, wrong ? MPI_FLOAT : MPI_INT, 0, 4, world, ignore); // @recv
}

/* code: 0
 * ranks: 3
 * says: rank 1: MPI_Mrecv at @recv receives MPI_SHORT; rank 2 (0 in upside down) sent MPI_INT with
 * tag 4 at @send */
BUG(type_matched)
{
    MPI_Message message;
    MPI_Comm down;

    MPI_Comm_split(world, 0, -rank, &down);
    MPI_Comm_set_name(down, "upside down");
    if (rank == 2)
        MPI_Send(numbers, 4, MPI_INT, 1, 4, down); // @send
    if (rank == 1) {
        MPI_Mprobe(0, MPI_ANY_TAG, down, &message, ignore);
        MPI_Mrecv(others, 8, wrong ? MPI_SHORT : MPI_INT, &message, ignore); // @recv
    }
    MPI_Comm_free(&down);
}
