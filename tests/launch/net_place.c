/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rank of each process says where the thread of the network may run, and its own core. */
#include <ctype.h>
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void read_line(const char *folder, const char *thread, const char *file, const char *key,
                      char *text, int size)
{
    char path[300], line[512];
    FILE *in;

    snprintf(path, sizeof(path), "%s/%s/%s", folder, thread, file);
    text[0] = '\0';
    in = fopen(path, "r");
    while (in != NULL && fgets(line, sizeof(line), in) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            snprintf(text, (size_t)size, "%.*s", (int)strcspn(line + strlen(key), "\n"),
                     line + strlen(key));
    if (in != NULL)
        fclose(in);
}

int main(int argc, char **argv)
{
    const char *folder = "/proc/self/task";
    struct dirent *entry;
    MPI_Comm here;
    DIR *threads;
    int rank, place;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &place);
    threads = place == 0 ? opendir(folder) : NULL;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        char name[64], cores[256];

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        read_line(folder, entry->d_name, "comm", "", name, sizeof(name));
        read_line(folder, entry->d_name, "status", "Cpus_allowed_list:\t", cores, sizeof(cores));
        if (strcmp(name, "xylem-net") == 0)
            printf("rank %d: the network's thread may run on %s\n", rank, cores);
    }
    if (threads != NULL)
        closedir(threads);
    MPI_Comm_free(&here);
    MPI_Finalize();
    return 0;
}
