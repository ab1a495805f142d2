/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths that are sorted, found, and copied as bytes: memory is read and written by pointers to
 * other types than it was made for.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 9 };

typedef struct {
    double key;
    const char *name;
    int length;
} part_t;

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b)
{
    const part_t *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static void swap(void *a, void *b, size_t size)
{
    char *x = a, *y = b;

    for (size_t i = 0; i < size; i++) {
        char kept = x[i];

        x[i] = y[i];
        y[i] = kept;
    }
}

/* Sorts downwards; anything that can be copied. */
static void sort(void *base, int count, size_t size, int (*compare)(const void *, const void *))
{
    char *p = base, *kept = malloc(size);

    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && compare(p + (j - 1) * size, p + j * size) < 0; j--) {
            memcpy(kept, p + j * size, size);
            memmove(p + j * size, p + (j - 1) * size, size);
            memcpy(p + (j - 1) * size, kept, size);
        }
    free(kept);
}

int main(int argc, char **argv)
{
    int rank, size, lengths[COUNT], others[COUNT], wanted = 33, *found;
    part_t parts[COUNT], *list = malloc(COUNT * sizeof(*list));
    char data[4000] = {0};
    unsigned char *bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++) {
        lengths[i] = others[i] = i * 37 % 11 * 11;
        parts[i] = (part_t){
            .key = (i * 5 % COUNT) / 2.0, .name = i % 2 ? "odd" : "even", .length = 20 + i};
    }

    qsort(lengths, COUNT, sizeof(int), by_value);
    for (int i = 0; i < COUNT; i++)
        MPI_Bcast(data, (i + 1) * lengths[i], MPI_CHAR, 0, MPI_COMM_WORLD);
    found = bsearch(&wanted, lengths, COUNT, sizeof(int), by_value);
    if (found != NULL)
        MPI_Bcast(data, (int)(found - lengths) + 100, MPI_CHAR, 0, MPI_COMM_WORLD);
    wanted = 34;
    if (bsearch(&wanted, lengths, COUNT, sizeof(int), by_value) != NULL)
        MPI_Barrier(MPI_COMM_WORLD);

    sort(others, COUNT, sizeof(int), by_value);
    swap(others, &others[5], sizeof(int));
    MPI_Bcast(data, others[0] + 3 * others[1] + 5 * others[5], MPI_CHAR, 0, MPI_COMM_WORLD);

    memcpy(list, parts, sizeof(parts));
    qsort(list, COUNT, sizeof(*list), by_key); /* equal ones stay in order */
    sort(parts, COUNT, sizeof(*parts), by_key);
    swap(&parts[2], (char *)parts + 3 * sizeof(*parts), sizeof(*parts));
    for (int i = 0; i < COUNT; i++) {
        MPI_Bcast(data, list[i].length * (i + 1) + (int)strlen(list[i].name), MPI_CHAR, 0,
                  MPI_COMM_WORLD);
        MPI_Bcast(data, parts[i].length * (i + 1), MPI_CHAR, 0, MPI_COMM_WORLD);
    }

    bytes = (unsigned char *)lengths;
    bytes[1] = 2;
    *(short *)(void *)(bytes + 8) = 77;
    memcpy((char *)lengths + 4 * sizeof(int), &wanted, sizeof(int));
    for (int i = 0; i < 5; i++)
        MPI_Bcast(data, *(const int *)(const void *)((const char *)lengths + i * sizeof(int)),
                  MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, ((unsigned short *)lengths)[4] + bytes[12], MPI_CHAR, 0, MPI_COMM_WORLD);
    free(list);
    MPI_Finalize();
    return 0;
}
