/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input that the head sends: a pipe in place of this process's own, and a thread that
 * fills it, which may wait for rank 0 to read. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch_node.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_come;
    xy_frame_t frame; /* bytes are NULL: none */
    int pipe;
    void (*taken)(void);
} input = {.lock = PTHREAD_MUTEX_INITIALIZER, .has_come = PTHREAD_COND_INITIALIZER, .pipe = -1};

/* Thread: write the frames of standard input to the pipe until an empty one closes it. */
static void *fill(void *unused)
{
    bool is_over = false;

    (void)unused;
    while (!is_over) {
        xy_frame_t frame;

        pthread_mutex_lock(&input.lock);
        while (input.frame.bytes == NULL)
            pthread_cond_wait(&input.has_come, &input.lock);
        frame = input.frame;
        input.frame.bytes = NULL;
        pthread_mutex_unlock(&input.lock);
        (void)xy_write_all(input.pipe, frame.bytes, frame.size); /* rank 0 may have closed it */
        is_over = frame.size == 0;
        xy_frame_free(&frame);
        input.taken();
    }
    close(input.pipe);
    return NULL;
}

xy_status_t node_input_begin(void (*taken)(void), int (*start)(void *(*)(void *), void *))
{
    int ends[2], code;

    input.taken = taken;
    if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
        return xy_fail_errno(errno, "standard input", "replace");
    close(ends[0]);
    input.pipe = ends[1];
    code = start(fill, NULL);
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread for standard input", "start");
}

void node_input_take(xy_frame_t *frame)
{
    pthread_mutex_lock(&input.lock);
    xy_frame_free(&input.frame);
    input.frame = *frame;
    frame->bytes = NULL;
    pthread_cond_signal(&input.has_come);
    pthread_mutex_unlock(&input.lock);
}
