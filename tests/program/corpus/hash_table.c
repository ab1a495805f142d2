/* SPDX-License-Identifier: BSD-3-Clause */
/* Words counted in a hash table with chains; each count is sent. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 7
#define TEXT    "the cat and the dog and the bird saw the man and a cat"

typedef struct entry_s {
    char *word;
    int count;
    struct entry_s *next;
} entry_t;

static entry_t *table[BUCKETS];

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h;
}

static void add(const char *word)
{
    entry_t **p = &table[hash(word) % BUCKETS];

    for (; *p; p = &(*p)->next)
        if (strcmp((*p)->word, word) == 0) {
            (*p)->count++;
            return;
        }
    *p = calloc(1, sizeof(entry_t));
    (*p)->word = malloc(strlen(word) + 1);
    strcpy((*p)->word, word);
    (*p)->count = 1;
}

int main(int argc, char **argv)
{
    char text[] = TEXT;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        add(w);
    for (int b = 0; b < BUCKETS; b++)
        for (entry_t *e = table[b]; e; e = e->next)
            if (b % size == rank && rank != 0)
                MPI_Send(e->word, (int)strlen(e->word) * e->count, MPI_CHAR, 0, e->count,
                         MPI_COMM_WORLD);
            else if (rank == 0 && b % size) {
                char room[256];
                MPI_Recv(room, 256, MPI_CHAR, b % size, e->count, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            }
    MPI_Finalize();
    return 0;
}
