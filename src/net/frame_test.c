/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing/base.h"
#include "testing/net.h"

/* A state stands for an encrypted connection. */
static char encrypted[] = "encrypted";

static void make_pair(void *state, xy_channel_t *a, xy_channel_t *b)
{
    xy_seal_t *seals[2] = {NULL, NULL};
    int fds[2];

    if (state != NULL && net_seal_ciphers() == 0)
        skip();
    if (state != NULL)
        assert_true(testing_seals(net_seal_choose(3, net_seal_ciphers()), seals));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_true(xy_channel_init(a, fds[0], seals[0]));
    assert_true(xy_channel_init(b, fds[1], seals[1]));
}

static void frames_arrive_as_they_were_sent(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 4096, 100000};
    char bytes[100000];
    xy_channel_t a, b;
    xy_frame_t frame;

    make_pair(*state, &a, &b);
    assert_int_equal(xy_channel_read(&b, &frame), XY_CHANNEL_NOTHING);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 7);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_true(xy_channel_send(&a, (uint32_t)(i + 1), bytes, sizes[i]));
        assert_int_equal(xy_channel_await(&b, 20, &frame), XY_CHANNEL_FRAME);
        assert_int_equal(frame.kind, i + 1);
        assert_int_equal(frame.size, sizes[i]);
        assert_memory_equal(frame.bytes, bytes, sizes[i]);
        assert_int_equal(frame.bytes[frame.size], '\0');
        xy_frame_free(&frame);
    }
    xy_channel_close(&a);
    assert_int_equal(xy_channel_await(&b, 20, &frame), XY_CHANNEL_END);
    assert_false(xy_channel_send(&b, 1, "x", 1));
    xy_channel_close(&b);
    xy_channel_close(&b);
    assert_int_equal(xy_channel_read(&b, &frame), XY_CHANNEL_END);
}

/* Bytes may come in pieces of any size. */
static void frames_may_come_byte_by_byte(void **state)
{
    static const char bytes[] = "\5\0\0\0\3\0\0\0abc\6\0\0\0\0\0\0\0\7\0\0\0\1\0\0\0z";
    int fds[2], frames = 0;
    xy_frame_t frame;
    xy_channel_t b;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_true(xy_channel_init(&b, fds[1], NULL));
    for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
        assert_int_equal(write(fds[0], bytes + i, 1), 1);
        if (xy_channel_read(&b, &frame) == XY_CHANNEL_FRAME) {
            assert_int_equal(frame.kind, 5 + frames);
            assert_string_equal(frame.bytes, frames == 0 ? "abc" : frames == 1 ? "" : "z");
            frames++;
            xy_frame_free(&frame);
        }
    }
    assert_int_equal(frames, 3);
    assert_int_equal(write(fds[0], bytes, 10), 10); /* and then it ends in the middle */
    close(fds[0]);
    assert_int_equal(xy_channel_await(&b, 20, &frame), XY_CHANNEL_END);
    xy_channel_close(&b);
}

static void what_is_too_long_is_no_frame(void **state)
{
    static const uint8_t head[8] = {1, 0, 0, 0, 1, 0, 0, 4}; /* 64 MiB + 1 */
    xy_frame_t frame;
    xy_channel_t a, b;

    make_pair(*state, &a, &b);
    assert_false(xy_channel_send(&a, 1, head, (size_t)XY_FRAME_LIMIT + 1));
    assert_int_equal(write(a.fd, head, 8), 8);
    assert_int_equal(xy_channel_await(&b, 20, &frame), XY_CHANNEL_END);
    xy_channel_close(&a);
    xy_channel_close(&b);
}

enum { THREADS = 4, FRAMES = 300 };

static void *send_many(void *link)
{
    for (int i = 0; i < FRAMES; i++) {
        char bytes[997];

        memset(bytes, i, sizeof(bytes));
        if (!xy_channel_send(link, (uint32_t)i, bytes, (size_t)(i * 13) % sizeof(bytes)))
            return link;
    }
    return NULL;
}

static void threads_send_whole_frames(void **state)
{
    pthread_t threads[THREADS];
    xy_frame_t frame;
    xy_channel_t a, b;

    make_pair(*state, &a, &b);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, send_many, &a), 0);
    for (int i = 0; i < THREADS * FRAMES; i++) {
        assert_int_equal(xy_channel_await(&b, 20, &frame), XY_CHANNEL_FRAME);
        assert_int_equal(frame.size, frame.kind * 13 % 997);
        for (size_t j = 0; j < frame.size; j++)
            assert_int_equal((uint8_t)frame.bytes[j], frame.kind & 0xff);
        xy_frame_free(&frame);
    }
    for (int t = 0; t < THREADS; t++) {
        void *failed;

        pthread_join(threads[t], &failed);
        assert_null(failed);
    }
    xy_channel_close(&a);
    xy_channel_close(&b);
}

/* A signal may come in the middle of a frame: the handler gives up, and does not wait for the code
 * that it has interrupted. */
static xy_channel_t interrupted;
static bool was_sent;

static void send_in_handler(int number)
{
    (void)number;
    was_sent = xy_channel_send_last(&interrupted, 9, "end", 3);
}

static void a_signal_handler_sends_the_last_frame(void **state)
{
    xy_channel_t other;
    xy_frame_t frame;

    make_pair(*state, &interrupted, &other);
    signal(SIGUSR1, send_in_handler);
    raise(SIGUSR1);
    assert_true(was_sent);
    assert_int_equal(xy_channel_await(&other, 20, &frame), XY_CHANNEL_FRAME);
    assert_int_equal(frame.kind, 9);
    xy_frame_free(&frame);
    atomic_store(&interrupted.is_sending, true);
    raise(SIGUSR1);
    assert_false(was_sent);
    assert_int_equal(xy_channel_read(&other, &frame), XY_CHANNEL_NOTHING);
    signal(SIGUSR1, SIG_DFL);
    xy_channel_close(&interrupted);
    xy_channel_close(&other);
}

/* A byte that is not the other end's, wherever it is. */
static void a_changed_frame_ends_the_connection(void **state)
{
    (void)state;
    for (int at = 0; at < 40; at += 3) {
        xy_seal_t *seals[2];
        uint8_t bytes[64];
        int fds[2], relay[2];
        xy_frame_t frame;
        xy_channel_t a, b;
        ssize_t n;

        if (net_seal_ciphers() == 0)
            skip();
        assert_true(testing_seals(net_seal_choose(3, net_seal_ciphers()), seals));
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, relay), 0);
        assert_true(xy_channel_init(&a, fds[0], seals[0]));
        assert_true(xy_channel_init(&b, relay[1], seals[1]));
        assert_true(xy_channel_send(&a, 3, "a secret text", 13));
        n = recv(fds[1], bytes, sizeof(bytes), 0);
        assert_true(n >= 40);
        assert_null(memmem(bytes, (size_t)n, "secret", 6));
        bytes[at] ^= 0x10;
        assert_int_equal(send(relay[0], bytes, (size_t)n, 0), n);
        close(fds[1]);
        close(relay[0]);
        assert_int_equal(xy_channel_await(&b, 20, &frame), XY_CHANNEL_END);
        xy_channel_close(&a);
        xy_channel_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_arrive_as_they_were_sent),
        cmocka_unit_test(frames_may_come_byte_by_byte),
        cmocka_unit_test(what_is_too_long_is_no_frame),
        cmocka_unit_test(threads_send_whole_frames),
        cmocka_unit_test(a_signal_handler_sends_the_last_frame),
        cmocka_unit_test_prestate(frames_arrive_as_they_were_sent, encrypted),
        cmocka_unit_test_prestate(threads_send_whole_frames, encrypted),
        cmocka_unit_test_prestate(a_signal_handler_sends_the_last_frame, encrypted),
        cmocka_unit_test(a_changed_frame_ends_the_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
