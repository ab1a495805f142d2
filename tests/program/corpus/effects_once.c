/* SPDX-License-Identifier: BSD-3-Clause */
/* Left sides with an effect, and structs without a name: each is evaluated once, and clear where
 * nothing is said. */
#include <mpi.h>
#include <stdbool.h>
typedef struct {
    int a;
    char name[8];
    struct {
        int c, d;
    } in;
} part;
static part table[2] = {{1, "abc", {2, 3}}, {.name = "de", .a = 4}};
static part make(int a)
{
    return (part){a, "xyz", {.d = a}};
}
static int calls;
static int next(void)
{
    return calls++;
}
/* The old value of a step is what was there: also where it cannot be had from the new one. */
static int steps_behind_pointers(void)
{
    double values[4] = {1.5, 1e17, -2}, *at = values;
    float large[2] = {16777216, 3}, *low = large;
    bool flags[3] = {true, false, true}, *flag = flags;
    unsigned char bytes[3] = {255, 0, 7}, *byte = bytes;
    int n = 0;

    n += (int)((*at++)++ * 2);
    n += (*at++)-- == 1e17 ? 10 : 1000;
    n += (int)(at - values) + (int)(at[0]++ - values[0]);
    n += (*low++)++ == 16777216 ? 100 : 2000;
    n += (*flag++)++;
    n += (*flag++)++;
    n += flags[1] + (int)(flag - flags);
    n += (*byte++)++;
    n += (*byte++)--;
    n += bytes[0] + bytes[1] + (int)(byte - bytes);
    return n;
}
int main(int argc, char **argv)
{
    int count[8] = {0}, n = 0, *p = count;
    char data[500];
    part q[4], x = {.name = "word"}, *at = q;
    MPI_Init(&argc, &argv);
    count[next()]++;
    count[next()]--;
    (*p++)++;
    n += (*p++)++ + 10;
    q[n++ - 9] = make(5);
    *at++ = (part){3, "s"};
    x = (part){.in = {0}};
    x = (part){.in = {7, x.a}, .a = 2};
    *at = (part){1};
    x = argc > 5 ? (part){1} : (part){x.in.c, "12345678"};
    for (int i = 0; i < 4; i++)
        MPI_Bcast(data, count[i] + 10, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, calls + q[0].a + q[0].name[0] + q[1].a + q[1].in.d, MPI_CHAR, 0,
              MPI_COMM_WORLD);
    MPI_Bcast(data, x.a + x.in.c + x.in.d + x.name[7], MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, table[0].name[1] + table[1].name[1] + table[1].a, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, (int)(at - q) + (int)(p - count), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, steps_behind_pointers() % 400, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
