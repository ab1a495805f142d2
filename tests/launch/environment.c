/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char *get(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? value : "-";
}

static int count(const char *name)
{
    int n = 0;

    for (char **e = environ; *e != NULL; e++)
        n += strncmp(*e, name, strlen(name)) == 0 && (*e)[strlen(name)] == '=';
    return n;
}

int main(int argc, char **argv)
{
    static char put[] = "PUT=0";
    const char *before = getenv("OMPI_COMM_WORLD_RANK"); /* before MPI_Init */
    char text[16];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d/%d: %s %s %s %s %s %s %s %s A=%s B=%s C=%s\n", rank, size, before,
           get("OMPI_COMM_WORLD_SIZE"), get("OMPI_COMM_WORLD_LOCAL_RANK"),
           get("OMPI_COMM_WORLD_LOCAL_SIZE"), get("PMI_RANK"), get("PMI_SIZE"),
           get("MPI_LOCALRANKID"), get("MPI_LOCALNRANKS"), get("A"), get("B"), get("C"));
    snprintf(text, sizeof(text), "own%d", rank);
    setenv("OWN", "first", 1);
    setenv("OWN", text, 1);
    setenv("A", "kept", 0);
    put[4] = (char)('0' + rank);
    putenv(put);
    if (rank % 2 == 1)
        unsetenv("B");
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d then OWN=%s A=%s B=%s PUT=%s %d\n", rank, get("OWN"), get("A"), get("B"), get("PUT"),
           count("OWN"));
    fflush(stdout);
    if (system("echo child $PMI_RANK $OWN") != 0)
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    clearenv();
    printf("%d cleared %s %d\n", rank, get("OWN"), environ == NULL);
    MPI_Finalize();
    return 0;
}
