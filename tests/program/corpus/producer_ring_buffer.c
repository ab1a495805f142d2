/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring buffer with modulo indices between a producer and its consumer; credits limit what is
 * under way. */
#include <mpi.h>
#include <stdint.h>

#define CAPACITY 4
#define WRAP(i)  ((i) & (CAPACITY - 1))

typedef struct {
    uint16_t length;
    uint8_t kind, last;
} header;

static struct {
    header slots[CAPACITY];
    unsigned head, tail;
} ring;

static int push(header h)
{
    if (ring.head - ring.tail == CAPACITY)
        return 0;
    ring.slots[WRAP(ring.head++)] = h;
    return 1;
}

static header *front(void)
{
    return ring.head == ring.tail ? 0 : &ring.slots[WRAP(ring.tail)];
}

int main(int argc, char **argv)
{
    int rank, size, made = 0, done = 0;
    char body[1024];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    if (peer >= size) {
        MPI_Finalize();
        return 0;
    }
    if (rank < peer) {
        while (!done) {
            for (; made < 9; made++) {
                header h = {(uint16_t)(made * 100), (uint8_t)(made % 3), made == 8};
                if (!push(h))
                    break;
            }
            for (header *h; (h = front()) != 0; ring.tail++) {
                MPI_Send(h, sizeof *h, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
                if (h->kind != 2)
                    MPI_Send(body, h->length, MPI_CHAR, peer, h->kind, MPI_COMM_WORLD);
                done = h->last;
            }
            MPI_Recv(body, 1, MPI_CHAR, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else {
        header h = {0};
        for (int n = 0; !h.last; n++) {
            MPI_Recv(&h, sizeof h, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (h.kind != 2)
                MPI_Recv(body, 1024, MPI_CHAR, peer, h.kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (n % CAPACITY == CAPACITY - 1 || h.last)
                MPI_Send(body, 1, MPI_CHAR, peer, 7, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
