/* SPDX-License-Identifier: BSD-3-Clause */
/* A discrete-event loop: a binary heap of events decides which messages come next. */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    int time, kind, size;
} event_t;

static event_t heap[64];
static int count;

static void push(event_t e)
{
    int i = count++;

    while (i > 0 && heap[(i - 1) / 2].time > e.time) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = e;
}

static event_t pop(void)
{
    event_t top = heap[0], last = heap[--count];
    int i = 0, c;

    while ((c = 2 * i + 1) < count) {
        if (c + 1 < count && heap[c + 1].time < heap[c].time)
            c++;
        if (last.time <= heap[c].time)
            break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = last;
    return top;
}

int main(int argc, char **argv)
{
    int rank, size, now = 0;
    char a[512] = {0}, b[512];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    push((event_t){5, 0, 100});
    push((event_t){3, 1, 20});
    push((event_t){.time = 9, .kind = 2});
    while (count > 0 && now < 40) {
        event_t e = pop();

        now = e.time;
        if (e.kind == 0) {
            MPI_Sendrecv(a, e.size, MPI_CHAR, (rank + 1) % size, now, b, 512, MPI_CHAR,
                         (rank + size - 1) % size, now, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            e.time += 7;
            e.size += now;
            push(e);
        } else if (e.kind == 1) {
            MPI_Bcast(a, e.size, MPI_CHAR, now % size, MPI_COMM_WORLD);
            push((event_t){now + 11, 1, e.size * 2});
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
