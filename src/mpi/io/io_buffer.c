/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/io_buffer.h"

#include <pthread.h>

#include "base/base.h"

enum { MOST = 4 << 20 }; /* bytes that are kept */

typedef struct kept {
    char *memory[IO_BUFFERS];
    size_t bytes[IO_BUFFERS];
    struct kept *next; /* of all threads */
} kept_t;

static _Thread_local kept_t *own;
static _Thread_local unsigned own_turn; /* of the job that it was made in */

static struct {
    pthread_mutex_t lock;
    kept_t *first;
    unsigned turn;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The buffers that this thread keeps for the current job; NULL without memory. */
static kept_t *kept_of_thread(void)
{
    if (own != NULL && own_turn == all.turn)
        return own;
    own = xy_calloc(1, sizeof(*own));
    if (own == NULL)
        return NULL;
    pthread_mutex_lock(&all.lock);
    own->next = all.first;
    all.first = own;
    own_turn = all.turn;
    pthread_mutex_unlock(&all.lock);
    return own;
}

char *io_buffer_get(io_buffer_t side, size_t bytes)
{
    kept_t *kept = bytes <= MOST ? kept_of_thread() : NULL;

    if (kept == NULL)
        return xy_malloc(bytes);
    if (kept->bytes[side] < bytes) {
        xy_free(kept->memory[side]);
        kept->memory[side] = xy_malloc(bytes);
        kept->bytes[side] = kept->memory[side] != NULL ? bytes : 0;
    }
    return kept->memory[side];
}

void io_buffer_put(io_buffer_t side, char *buffer)
{
    if (own == NULL || own_turn != all.turn || buffer != own->memory[side])
        xy_free(buffer);
}

/* No thread has a buffer any more; those that live on make others. */
void io_buffers_cleanup(void)
{
    for (kept_t *kept = all.first, *next; kept != NULL; kept = next) {
        next = kept->next;
        for (int side = 0; side < IO_BUFFERS; side++)
            xy_free(kept->memory[side]);
        xy_free(kept);
    }
    all.first = NULL;
    all.turn++;
}
