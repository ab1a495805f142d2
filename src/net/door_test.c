/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testing/base.h"

/* A door is found in the list, leads to its process, and is gone when it is closed. */
static void test_open(void **state)
{
    xy_vec_t pids = XY_VEC_INIT(long);
    int door = xy_door_open(), here = -1, there;
    bool is_listed = false;
    char byte = 0;

    (void)state;
    assert_true(door >= 0);
    assert_int_equal(xy_door_accept(door), -1); /* nobody has come */
    assert_int_equal(xy_door_open(), -1);       /* a process has one */
    assert_int_equal(xy_door_connect((long)getpid(), &here), XY_OK);
    there = xy_door_accept(door);
    assert_true(there >= 0);
    assert_int_equal(send(there, "x", 1, 0), 1);
    assert_int_equal(recv(here, &byte, 1, 0), 1);
    assert_int_equal(byte, 'x');
    assert_int_equal(xy_door_list(&pids), XY_OK);
    for (size_t i = 0; i < pids.count; i++)
        is_listed |= XY_VEC_AT(&pids, long, i) == (long)getpid();
    assert_true(is_listed);
    xy_vec_cleanup(&pids);
    close(here);
    close(there);
    close(door);
    testing_listen();
    assert_int_equal(xy_door_connect((long)getpid(), &here), XY_ENOENT);
    assert_non_null(strstr(testing_said, "is not an mpiexec"));
}

static void test_refusals(void **state)
{
    int fd;

    (void)state;
    testing_listen();
    assert_int_equal(xy_door_connect(0x7ffffff0, &fd), XY_ENOENT);
    assert_non_null(strstr(testing_said, "there is no process"));
    if (geteuid() == 0)
        skip(); /* process 1 is of the same user */
    testing_listen();
    assert_int_not_equal(xy_door_connect(1, &fd), XY_OK);
    assert_non_null(strstr(testing_said, "another user"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
