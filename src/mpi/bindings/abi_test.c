/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values and layouts of the standard ABI, written down a second time: a program compiled
 * against another header of that ABI has them inside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpi.h"

#define HANDLE(handle, value) assert_int_equal((uintptr_t)(handle), value)

static void test_layout(void **state)
{
    (void)state;
    assert_int_equal(sizeof(MPI_Status), 32);
    assert_int_equal(offsetof(MPI_Status, MPI_SOURCE), 0);
    assert_int_equal(offsetof(MPI_Status, MPI_TAG), 4);
    assert_int_equal(offsetof(MPI_Status, MPI_ERROR), 8);
    assert_int_equal(sizeof(MPI_Aint), sizeof(void *));
    assert_int_equal(sizeof(MPI_Offset), 8);
    assert_int_equal(sizeof(MPI_Count), 8);
    assert_int_equal(sizeof(MPI_Fint), 4);
    assert_int_equal(sizeof(MPI_Comm), sizeof(void *));
    assert_int_equal(sizeof(MPI_F08_status), 4 * MPI_F_STATUS_SIZE);
    assert_true((MPI_Aint)-1 < 0);
}

static void test_handles(void **state)
{
    (void)state;
    HANDLE(MPI_OP_NULL, 0x20);
    HANDLE(MPI_SUM, 0x21);
    HANDLE(MPI_PROD, 0x24);
    HANDLE(MPI_BXOR, 0x2a);
    HANDLE(MPI_LXOR, 0x32);
    HANDLE(MPI_MAXLOC, 0x39);
    HANDLE(MPI_NO_OP, 0x3d);
    HANDLE(MPI_COMM_NULL, 0x100);
    HANDLE(MPI_COMM_WORLD, 0x101);
    HANDLE(MPI_COMM_SELF, 0x102);
    HANDLE(MPI_GROUP_EMPTY, 0x109);
    HANDLE(MPI_WIN_NULL, 0x110);
    HANDLE(MPI_FILE_NULL, 0x118);
    HANDLE(MPI_SESSION_NULL, 0x120);
    HANDLE(MPI_MESSAGE_NO_PROC, 0x129);
    HANDLE(MPI_INFO_ENV, 0x131);
    HANDLE(MPI_ERRORS_RETURN, 0x142);
    HANDLE(MPI_REQUEST_NULL, 0x180);
    HANDLE(MPI_DATATYPE_NULL, 0x200);
    HANDLE(MPI_INT, 0x209);
    HANDLE(MPI_DOUBLE, 0x214);
    HANDLE(MPI_CHARACTER, 0x21e);
    HANDLE(MPI_2INT, 0x22b);
    HANDLE(MPI_CHAR, 0x243);
    HANDLE(MPI_BYTE, 0x247);
    HANDLE(MPI_UINT64_T, 0x259);
    HANDLE(MPI_COMPLEX32, 0x2eb);
}

static void test_integers(void **state)
{
    (void)state;
    assert_int_equal(MPI_ABI_VERSION, 1);
    assert_int_equal(MPI_ANY_SOURCE, -1);
    assert_int_equal(MPI_ANY_TAG, -2);
    assert_int_equal(MPI_PROC_NULL, -3);
    assert_int_equal(MPI_ROOT, -4);
    assert_int_equal(MPI_UNDEFINED, -32766);
    assert_int_equal(MPI_THREAD_MULTIPLE, 4096);
    assert_int_equal(MPI_ERR_ERRHANDLER, 61);
    assert_int_equal(MPI_ERR_LASTCODE, 0x3fff);
    assert_int_equal(MPI_TAG_UB, 501);
    assert_int_equal(MPI_WIN_MODEL, 605);
    assert_int_equal(MPI_COMBINER_RESIZED, 116);
    assert_int_equal(MPI_ORDER_FORTRAN, 15);
    assert_int_equal(MPI_IDENT, 201);
    assert_int_equal(MPI_COMM_TYPE_SHARED, 221);
    assert_int_equal(MPI_LOCK_SHARED, 302);
    assert_int_equal(MPI_MODE_NOSUCCEED, 16384);
    assert_int_equal(MPI_SEEK_END, 403);
    assert_int_equal(MPI_MAX_PROCESSOR_NAME, 256);
    assert_int_equal(MPI_MAX_ERROR_STRING, 512);
    assert_int_equal(MPI_BSEND_OVERHEAD, 512);
    HANDLE(MPI_BOTTOM, 0);
    HANDLE(MPI_IN_PLACE, 1);
    HANDLE(MPI_STATUS_IGNORE, 0);
    HANDLE(MPI_UNWEIGHTED, 10);
    HANDLE(MPI_WEIGHTS_EMPTY, 11);
    HANDLE(MPI_COMM_DUP_FN, 1);
}

/* The macro follows the version of the project. */
static void test_version(void **state)
{
    (void)state;
    assert_int_equal(XYLEM_MPI, XYLEM_VERSION_NUMBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
