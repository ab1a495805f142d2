/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that the members of a file exchange in calls that change it. */
#include <string.h>

#include "mpi/io/io.h"

/* Add the word of `rank` to the summary of all; `before` is added up as the ranks come. */
static void compare(io_word_t *known, const io_word_t *first, const io_word_t *word, int rank)
{
    known->total += word->value;
    if (word->key != first->key && known->different < 0)
        known->different = rank;
    if (word->error != 0 && known->failed < 0) {
        known->failed = rank;
        known->failure = word->error;
    }
}

static void tell(io_word_t *word, const io_word_t *known, int64_t before)
{
    word->before = before;
    word->total = known->total;
    word->different = known->different;
    word->failed = known->failed;
    word->failure = known->failure;
}

/* Leader: compare what all members say, and give each the result and the sum of the values before
 * it. */
static void leader(void *const *inputs, int size, void *const *outputs)
{
    io_word_t known = {.different = -1, .failed = -1};
    int64_t before = 0;

    for (int r = 0; r < size; r++)
        compare(&known, inputs[0], inputs[r], r);
    for (int r = 0; r < size; r++) {
        int64_t value = ((const io_word_t *)inputs[r])->value;

        tell(outputs[r], &known, before);
        before += value;
    }
}

/* Between processes, each member finds out from the words of all. */
static int agree_spread(mpi_comm_t *comm, io_word_t *word)
{
    io_word_t known = {.different = -1, .failed = -1};
    io_word_t *all = xy_malloc((size_t)comm->size * sizeof(*all));
    int64_t before = 0;
    int error;

    if (all == NULL) { /* the others wait for this one */
        xy_fail_memory("agreeing about a file");
        mpi_abort(1);
    }
    error = mpi_spread_allgather(comm, word, sizeof(*word), all);
    for (int r = 0; error == MPI_SUCCESS && r < comm->size; r++) {
        compare(&known, &all[0], &all[r], r);
        before += r < comm->rank ? all[r].value : 0;
    }
    tell(word, &known, before);
    xy_free(all);
    return error;
}

int io_agree(mpi_comm_t *comm, io_word_t *word)
{
    if (mpi_dispatch.check.agreement != NULL)
        mpi_dispatch.check.agreement(comm);
    return mpi_comm_is_spread(comm) ? agree_spread(comm, word)
                                    : mpi_coll_agree(comm, word, word, leader);
}

int io_check_members(mpi_file_t *file)
{
    int error = mpi_survive_error(file->comm, MPI_UNDEFINED);

    return error == MPI_SUCCESS ? error : mpi_survive_raise(file->comm, error);
}

int io_refuse_different(mpi_file_t *file, int member, const char *what)
{
    char rank[XMPI_RANK_TEXT];

    return mpi_error(file->comm, MPI_ERR_NOT_SAME, "%s gives another %s than rank 0 of the file",
                     mpi_comm_describe_rank(file->comm, member, rank), what);
}

int io_agree_on(mpi_file_t *file, io_word_t *word, const char *what)
{
    int error = io_agree(file->comm, word);

    if (error != MPI_SUCCESS)
        return error;
    if (word->different >= 0)
        return io_refuse_different(file, word->different, what);
    return io_error_errno(file, word->failure);
}
