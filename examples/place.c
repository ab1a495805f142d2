/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement from a program: eight processes in a ring on two nodes of four cores. Each process
 * sends ten times as much to the process opposite as to its neighbours.
 *
 *   cc place.c $(pkg-config --cflags --libs xylem) -o place && ./place
 */
#include <stdio.h>
#include <xylem.h>

int main(void)
{
    unsigned from[24], to[24];
    double bytes[24];
    xylem_matrix *matrix = NULL;
    xylem_placement *placed = NULL, *packed = NULL;
    int k = 0;

    for (unsigned rank = 0; rank < 8; rank++) {
        from[k] = rank, to[k] = (rank + 1) % 8, bytes[k++] = 100;
        from[k] = rank, to[k] = (rank + 7) % 8, bytes[k++] = 100;
        from[k] = rank, to[k] = (rank + 4) % 8, bytes[k++] = 1000;
    }
    if (xylem_matrix_create(8, 24, from, to, bytes, &matrix) != 0 ||
        xylem_place(matrix, "2x4", NULL, &placed) != 0 ||
        xylem_place(matrix, "2x4", "packed", &packed) != 0)
        return 1;
    for (unsigned rank = 0; rank < 8; rank++)
        printf("rank %u: node %u\n", rank, xylem_placement_core(placed, rank) / 4);
    printf("hop-bytes %.0f, packed %.0f\n", xylem_placement_hop_bytes(placed),
           xylem_placement_hop_bytes(packed));
    xylem_placement_free(placed);
    xylem_placement_free(packed);
    xylem_matrix_free(matrix);
    return 0;
}
