/* SPDX-License-Identifier: BSD-3-Clause */
/* main NAME wrong|right [before]: run one of the programs. */
#include "bugs.h"

bool wrong;
int rank, size;
int numbers[LARGE], others[LARGE];
static bug_t *bugs;

void bug_add(bug_t *bug)
{
    bug->next = bugs;
    bugs = bug;
}

/* For compare.py: the program has started. */
static void note_start(void)
{
    const char *path = getenv("BUGS_STARTED");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    const bug_t *bug = bugs;
    bool is_before = argc > 3;

    while (argc > 1 && bug != NULL && strcmp(bug->name, argv[1]) != 0)
        bug = bug->next;
    if (argc < 3 || bug == NULL) {
        fprintf(stderr, "usage: %s NAME wrong|right [before]\n", argv[0]);
        return 99;
    }
    wrong = strcmp(argv[2], "wrong") == 0;
    if (is_before) {
        note_start();
        bug->make();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    note_start();
    bug->make();
    MPI_Finalize();
    return 0;
}
