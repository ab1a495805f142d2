/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/greet.h"
#include "net/seal.h"
#include "testing/base.h"

static const uint8_t secret[XY_SECRET_BYTES] = {1, 2, 3};
static xy_seal_t *accepted;
static const uint8_t other_secret[XY_SECRET_BYTES] = {1, 2, 4};

/* Cases 1 and 4 of RFC 4231, and one of two blocks. */
static void the_proof_is_hmac_sha256(void **state)
{
    static const uint8_t one[8] = {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53};
    static const uint8_t four[8] = {0x82, 0x55, 0x8a, 0x38, 0x9a, 0x44, 0x3c, 0x0e};
    uint8_t key[25], text[200], mac[32], other[32];

    (void)state;
    memset(key, 0x0b, 20);
    net_hmac(key, 20, "Hi There", 8, mac);
    assert_memory_equal(mac, one, sizeof(one));
    for (int i = 0; i < 25; i++)
        key[i] = (uint8_t)(i + 1);
    memset(text, 0xcd, sizeof(text));
    net_hmac(key, 25, text, 50, mac);
    assert_memory_equal(mac, four, sizeof(four));
    for (size_t size = 0; net_seal_ciphers() != 0 && size <= sizeof(text); size++) {
        net_hmac(key, 25, text, size, mac);
        assert_true(net_seal_mac(key, 25, text, size, other));
        assert_memory_equal(mac, other, sizeof(mac));
    }
}

/* The salt alone gives another secret. */
static void secrets_are_derived(void **state)
{
    uint8_t salt[XY_SECRET_BYTES] = {5}, first[XY_SECRET_BYTES], second[XY_SECRET_BYTES];

    (void)state;
    xy_secret_derive(secret, salt, first);
    xy_secret_derive(other_secret, salt, second);
    assert_memory_not_equal(first, second, sizeof(first));
    xy_secret_derive(secret, salt, second);
    assert_memory_equal(first, second, sizeof(first));
    salt[0]++;
    xy_secret_derive(secret, salt, second);
    assert_memory_not_equal(first, second, sizeof(first));
}

static void secrets_are_written_and_read(void **state)
{
    uint8_t made[XY_SECRET_BYTES], again[XY_SECRET_BYTES];
    char text[2 * XY_SECRET_BYTES + 1];

    (void)state;
    assert_int_equal(xy_secret_make(made), XY_OK);
    xy_secret_write(made, text);
    assert_int_equal(strlen(text), 2 * XY_SECRET_BYTES);
    assert_true(xy_secret_read(text, again));
    assert_memory_equal(made, again, sizeof(made));
    assert_true(xy_secret_number(made) == xy_secret_number(again));
    made[3] ^= 1;
    assert_false(xy_secret_number(made) == xy_secret_number(again));
    text[5] = 'g';
    assert_false(xy_secret_read(text, again));
    assert_false(xy_secret_read("", again));
    assert_false(xy_secret_read("0123456789abcdef0123456789abcdef0", again));
}

/* One accepted connection within some seconds, or -1 when the child that connects has ended. */
static int accept_from(xy_listener_t *listener, pid_t child, int *name)
{
    int fd = -1;
    bool is_over = false;

    for (int i = 0; i < 3000 && fd < 0; i++) {
        fd = xy_listener_accept(listener, name, &accepted);
        if (fd < 0 && is_over)
            return -1;
        if (fd < 0 && !net_await(xy_listener_fd(listener), POLLIN, net_now() + 0.01))
            is_over = waitpid(child, NULL, WNOHANG) != 0;
    }
    return fd;
}

/* Connect as a child would; its exit code: 0 reached and answered, 1 not. */
static pid_t connect_as(const char *card, const uint8_t key[XY_SECRET_BYTES], int name, int own,
                        const char *expected)
{
    pid_t child = fork();

    if (child == 0) {
        char why[XY_WHY_SIZE] = "", byte;
        xy_seal_t *seal;
        int fd = xy_card_connect(card, key, name, own, net_now() + 20, &seal, why);

        if (fd >= 0 && seal == NULL && net_await(fd, POLLIN, net_now() + 20) &&
            recv(fd, &byte, 1, 0) == 1)
            _exit(0);
        if (expected != NULL && strstr(why, expected) == NULL) {
            fprintf(stderr, "why: %s\n", why);
            _exit(2);
        }
        _exit(1);
    }
    return child;
}

static int code_of(pid_t child)
{
    int status;

    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void who_knows_the_secret_is_accepted(void **state)
{
    xy_listener_t *listener;
    char *card, address[64];
    int name = -1, fd;
    pid_t child;

    (void)state;
    assert_int_equal(xy_listener_open(secret, 3, 8, true, &listener), XY_OK);
    card = xy_listener_card(listener, NULL);
    child = connect_as(card, secret, 3, 5, NULL);
    fd = accept_from(listener, child, &name);
    assert_true(fd >= 0);
    assert_int_equal(name, 5);
    assert_true(xy_socket_address(fd, address));
    assert_string_equal(address, "127.0.0.1");
    assert_int_equal(send(fd, "!", 1, 0), 1);
    assert_int_equal(code_of(child), 0);
    close(fd);
    xy_free(card);
    xy_listener_close(listener);
}

static void others_are_refused(void **state)
{
    static const struct {
        const uint8_t *secret;
        int name, own;
        const char *why;
    } wrong[] = {{other_secret, 3, 5, "does not know this job's secret"},
                 {secret, 4, 5, "is not part of this job"},
                 {secret, 3, 8, "is not part of this job"},
                 {secret, 3, -1, "is not part of this job"}};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        xy_listener_t *listener;
        xy_seal_t *seal;
        int name;
        char *card;
        pid_t child;

        assert_int_equal(xy_listener_open(secret, 3, 8, true, &listener), XY_OK);
        card = xy_listener_card(listener, NULL);
        child = connect_as(card, wrong[i].secret, wrong[i].name, wrong[i].own, wrong[i].why);
        for (int round = 0;
             round < 3000 && waitid(P_PID, (id_t)child, NULL, WEXITED | WNOHANG | WNOWAIT) == 0;
             round++) {
            siginfo_t info = {0};

            assert_int_equal(xy_listener_accept(listener, &name, &seal), -1);
            waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
            if (info.si_pid == child)
                break;
            net_await(xy_listener_fd(listener), POLLIN, net_now() + 0.01);
        }
        assert_int_equal(code_of(child), 1);
        xy_free(card);
        xy_listener_close(listener);
    }
}

/* More than the listener hears at once. */
enum { STRANGERS = 600 };

/* Strangers that send nothing, or something else, do not block others. */
static void strangers_do_not_block(void **state)
{
    xy_listener_t *listener;
    struct sockaddr_storage to;
    socklen_t size;
    char *card, why[XY_WHY_SIZE];
    int silent[STRANGERS], name = -1, fd;
    pid_t child;

    (void)state;
    assert_int_equal(xy_listener_open(secret, 0, 2, true, &listener), XY_OK);
    card = xy_listener_card(listener, NULL);
    assert_true(net_address_read("127.0.0.1", net_listener_port(listener), &to, &size));
    for (int i = 0; i < STRANGERS; i++) {
        silent[i] = net_connect_to((struct sockaddr *)&to, size, net_now() + 20, why);
        assert_true(silent[i] >= 0);
        if (i % 2 == 0)
            assert_int_equal(send(silent[i], "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n", 36, 0),
                             36);
    }
    child = connect_as(card, secret, 0, 1, NULL);
    fd = accept_from(listener, child, &name);
    assert_true(fd >= 0);
    assert_int_equal(name, 1);
    assert_int_equal(send(fd, "!", 1, 0), 1);
    assert_int_equal(code_of(child), 0);
    for (int i = 0; i < STRANGERS; i++)
        close(silent[i]);
    close(fd);
    xy_free(card);
    xy_listener_close(listener);
}

/* One that does not look at the listener's proof, and has none of its own. */
static void a_liar_is_refused(void **state)
{
    uint8_t bytes[84] = "xylem-2\n\1\0\0\0\0\0\0\0";
    xy_listener_t *listener;
    xy_seal_t *seal;
    struct sockaddr_storage to;
    socklen_t size;
    char why[XY_WHY_SIZE];
    int fd, name;

    (void)state;
    assert_int_equal(xy_listener_open(secret, 0, 2, true, &listener), XY_OK);
    assert_true(net_address_read("127.0.0.1", net_listener_port(listener), &to, &size));
    fd = net_connect_to((struct sockaddr *)&to, size, net_now() + 20, why);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, bytes, 68, 0), 68);
    while (!net_await(fd, POLLIN, net_now() + 0.01))
        assert_int_equal(xy_listener_accept(listener, &name, &seal), -1);
    assert_int_equal(recv(fd, bytes, 84, MSG_WAITALL), 84); /* the listener proves itself */
    assert_int_equal(send(fd, bytes, 32, 0), 32);
    while (!net_await(fd, POLLIN, net_now() + 0.01))
        assert_int_equal(xy_listener_accept(listener, &name, &seal), -1);
    assert_true(recv(fd, bytes, 1, MSG_DONTWAIT) <= 0); /* and has hung up */
    close(fd);
    xy_listener_close(listener);
}

static void cards_from_anywhere(void **state)
{
    static const char *const bad[] = {"",   "x",           "0 127.0.0.1", "70000 127.0.0.1", "5",
                                      "5 ", "5 somewhere", "-1 ::1",      "5 1.2.3.4.5",     "1  "};
    char why[XY_WHY_SIZE];
    xy_seal_t *seal;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        why[0] = '\0';
        assert_int_equal(xy_card_connect(bad[i], secret, 0, 1, net_now() + 5, &seal, why), -1);
        assert_true(why[0] != '\0');
    }
    /* That this machine's own port is refused says nothing about another one. */
    assert_int_equal(
        xy_card_connect("1 somewhere 127.0.0.1", secret, 0, 1, net_now() + 5, &seal, why), -1);
    assert_non_null(strstr(why, "somewhere"));
}

/* A refused port is known at once, and the next address is tried. */
static void the_next_address_is_tried(void **state)
{
    xy_listener_t *listener;
    char *card, *longer;
    int name, fd;
    pid_t child;

    (void)state;
    assert_int_equal(xy_listener_open(secret, 0, 2, true, &listener), XY_OK);
    card = xy_listener_card(listener, NULL);
    longer = xy_sprintf("%u ::1 127.0.0.1", net_listener_port(listener));
    child = connect_as(longer, secret, 0, 1, NULL);
    fd = accept_from(listener, child, &name);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, "!", 1, 0), 1);
    assert_int_equal(code_of(child), 0);
    close(fd);
    xy_free(card);
    xy_free(longer);
    xy_listener_close(listener);
}

/* ---- Encrypted ---- */

/* Connect with encryption and say something; the exit code is 0 if the answer is understood. */
static pid_t connect_sealed(const char *card, const uint8_t key[XY_SECRET_BYTES])
{
    pid_t child = fork();

    if (child == 0) {
        char why[XY_WHY_SIZE] = "";
        xy_seal_t *seal = NULL;
        xy_channel_t link;
        xy_frame_t frame;
        int fd = xy_card_connect(card, key, 0, 1, net_now() + 20, &seal, why);

        if (fd < 0 || seal == NULL || !xy_channel_init(&link, fd, seal) ||
            !xy_channel_send(&link, 7, "question", 8) ||
            xy_channel_await(&link, 20, &frame) != XY_CHANNEL_FRAME)
            _exit(1);
        _exit(strcmp(frame.bytes, "answer") != 0);
    }
    return child;
}

static void connections_are_encrypted(void **state)
{
    xy_listener_t *listener;
    xy_channel_t link;
    xy_frame_t frame;
    char *card;
    int name = -1, fd;
    pid_t child;

    (void)state;
    if (net_seal_ciphers() == 0)
        skip();
    xy_net_rules_set(&(xy_net_rules_t){.seal = XY_SEAL_ALWAYS});
    assert_int_equal(xy_listener_open(secret, 0, 2, true, &listener), XY_OK);
    card = xy_listener_card(listener, NULL);
    child = connect_sealed(card, other_secret);
    assert_int_equal(accept_from(listener, child, &name), -1);
    child = connect_sealed(card, secret);
    fd = accept_from(listener, child, &name);
    assert_true(fd >= 0 && name == 1);
    assert_non_null(accepted);
    assert_true(xy_channel_init(&link, fd, accepted));
    assert_int_equal(xy_channel_await(&link, 20, &frame), XY_CHANNEL_FRAME);
    assert_string_equal(frame.bytes, "question");
    xy_frame_free(&frame);
    assert_true(xy_channel_send(&link, 7, "answer", 6));
    assert_int_equal(code_of(child), 0);
    xy_channel_close(&link);
    xy_free(card);
    xy_listener_close(listener);
    xy_net_rules_set(&(xy_net_rules_t){.seal = XY_SEAL_BETWEEN_HOSTS});
}

/* The bytes that passed from the connector to the listener. */
typedef struct {
    uint8_t said[256];
    size_t count;
} relay_t;

/* Record the greeting of a connector through a relay in front of the listener. */
static void record_greeting(xy_listener_t *listener, bool is_sealed, relay_t *relay)
{
    struct sockaddr_storage to;
    socklen_t size;
    char why[XY_WHY_SIZE];
    int ends[2], fd, name, code = -1;
    xy_seal_t *seal = NULL;
    uint8_t second[256];
    pid_t child;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    child = fork();
    if (child == 0)
        _exit(!net_greet(ends[1], secret, 0, 1, net_now() + 20, &seal, why) ||
              (seal != NULL) != is_sealed);
    assert_true(net_address_read("127.0.0.1", net_listener_port(listener), &to, &size));
    fd = net_connect_to((struct sockaddr *)&to, size, net_now() + 20, why);
    assert_true(fd >= 0);
    for (int i = 0; i < 3000 && code < 0; i++) {
        ssize_t n = recv(ends[0], relay->said + relay->count, sizeof(relay->said) - relay->count,
                         MSG_DONTWAIT);

        if (n > 0) {
            assert_int_equal(send(fd, relay->said + relay->count, (size_t)n, 0), n);
            relay->count += (size_t)n;
        }
        code = xy_listener_accept(listener, &name, &seal);
        n = recv(fd, second, sizeof(second), MSG_DONTWAIT);
        if (n > 0)
            assert_int_equal(send(ends[0], second, (size_t)n, 0), n);
        if (code < 0)
            net_await(ends[0], POLLIN, net_now() + 0.01);
    }
    assert_true(code >= 0);
    assert_int_equal(code_of(child), 0);
    xy_seal_free(seal);
    close(code);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

/* A recorded greeting that is repeated word for word is refused. */
static void a_recorded_greeting_is_refused(void **state)
{
    (void)state;
    for (int is_sealed = 0; is_sealed <= (net_seal_ciphers() != 0); is_sealed++) {
        relay_t relay = {0};
        xy_listener_t *listener;
        struct sockaddr_storage to;
        socklen_t size;
        char why[XY_WHY_SIZE];
        xy_seal_t *seal;
        uint8_t byte[128];
        int fd, name;

        xy_net_rules_set(
            &(xy_net_rules_t){.seal = is_sealed ? XY_SEAL_ALWAYS : XY_SEAL_BETWEEN_HOSTS});
        assert_int_equal(xy_listener_open(secret, 0, 2, true, &listener), XY_OK);
        record_greeting(listener, is_sealed != 0, &relay);
        assert_true(net_address_read("127.0.0.1", net_listener_port(listener), &to, &size));
        fd = net_connect_to((struct sockaddr *)&to, size, net_now() + 20, why);
        assert_true(fd >= 0);
        assert_int_equal(send(fd, relay.said, relay.count, 0), relay.count);
        for (ssize_t n = 1; n != 0;) {
            assert_int_equal(xy_listener_accept(listener, &name, &seal), -1);
            net_await(fd, POLLIN, net_now() + 0.01);
            n = recv(fd, byte, sizeof(byte), MSG_DONTWAIT);
            if (n < 0 && errno != EAGAIN)
                break;
        }
        close(fd);
        xy_listener_close(listener);
    }
    xy_net_rules_set(&(xy_net_rules_t){.seal = XY_SEAL_BETWEEN_HOSTS});
}

/* A job at a fixed port begins as soon as the one before it has ended, although the system still
 * knows connections of that one. */
static void a_fixed_port_is_free_again(void **state)
{
    xy_net_rules_t fixed = {0}, none = {0};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    xy_listener_t *listener;
    int name, fd;
    char byte;

    (void)state;
    assert_int_equal(xy_listener_open(secret, 0, 1, false, &listener), XY_OK);
    fixed.port_low = fixed.port_high = net_listener_port(listener);
    xy_listener_close(listener);
    to.sin_port = htons(fixed.port_low);
    xy_net_rules_set(&fixed);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(xy_listener_open(secret, 0, 1, false, &listener), XY_OK);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
        assert_true(net_await(xy_listener_fd(listener), POLLIN, net_now() + 30));
        assert_int_equal(xy_listener_accept(listener, &name, &accepted), -1);
        xy_listener_close(listener); /* closes first: the port waits for late packets */
        assert_int_equal(read(fd, &byte, 1), 0);
        close(fd);
    }
    xy_net_rules_set(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_proof_is_hmac_sha256),
        cmocka_unit_test(secrets_are_derived),
        cmocka_unit_test(secrets_are_written_and_read),
        cmocka_unit_test(who_knows_the_secret_is_accepted),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(strangers_do_not_block),
        cmocka_unit_test(a_liar_is_refused),
        cmocka_unit_test(cards_from_anywhere),
        cmocka_unit_test(the_next_address_is_tried),
        cmocka_unit_test(connections_are_encrypted),
        cmocka_unit_test(a_recorded_greeting_is_refused),
        cmocka_unit_test(a_fixed_port_is_free_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
