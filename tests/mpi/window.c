/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of every flavour: where the memory of each rank is, what attributes, hints, names and
 * handlers say, and which errors calls without an epoch give. Any number of ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int rank, size;
static int is_spread; /* ranks are in several processes */

static MPI_Win created(void *base, MPI_Aint bytes)
{
    MPI_Win win;

    CHECK_EQUAL(MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    return win;
}

/* ---- What a window is ---- */

static void check_attributes(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *value;
    int flag;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == bytes);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == flavor);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
}

/* MPI_PROC_NULL is rank 0 where all ranks have memory, also for ranks of other processes. */
static void check_first(MPI_Win win)
{
    MPI_Aint bytes, first_bytes;
    int unit, first_unit;
    void *base, *first;

    MPI_Win_shared_query(win, 0, &first_bytes, &first_unit, &first);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base);
    CHECK(base == first);
    CHECK_EQUAL(bytes, first_bytes);
    CHECK_EQUAL(unit, first_unit);
}

/* Every rank writes its number to the memory of the next one. */
static void check_memory(MPI_Win win)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, unit;
    MPI_Aint bytes;
    int *there, *here;

    check_first(win);
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, next, &bytes, &unit, &there);
    CHECK(is_spread || there != NULL);
    CHECK_EQUAL(bytes, there != NULL ? (MPI_Aint)((next + 1) * sizeof(int)) : 0);
    if (there != NULL)
        there[next] = rank;
    else
        MPI_Put(&rank, 1, MPI_INT, next, next * (int)sizeof(int) / unit, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, rank, &bytes, &unit, &here);
    CHECK_EQUAL(here[rank], previous);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void check_flavours(void)
{
    MPI_Aint bytes = (MPI_Aint)((rank + 1) * sizeof(int));
    int *own = malloc((size_t)bytes), *base;
    MPI_Win win;

    MPI_Win_create(own, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, own, bytes, sizeof(int), MPI_WIN_FLAVOR_CREATE);
    check_memory(win);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    free(own);
    MPI_Win_allocate_c(bytes, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK((uintptr_t)base % 64 == 0);
    check_attributes(win, base, bytes, 2, MPI_WIN_FLAVOR_ALLOCATE);
    check_memory(win);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, NULL, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    MPI_Win_free(&win);
}

/* One array over all ranks, or parts on cache lines of their own. */
static void check_shared(int is_apart)
{
    MPI_Aint bytes = (MPI_Aint)((rank + 1) * sizeof(int)), found;
    char *base, *end = NULL, *part;
    MPI_Info info;
    MPI_Win win;
    int unit;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", is_apart ? "true" : "false");
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "256");
    MPI_Win_allocate_shared(bytes, sizeof(int), info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    check_attributes(win, base, bytes, sizeof(int), MPI_WIN_FLAVOR_SHARED);
    for (int r = 0; r < size; r++) {
        MPI_Win_shared_query(win, r, &found, &unit, &part);
        CHECK_EQUAL(found, (MPI_Aint)((r + 1) * sizeof(int)));
        CHECK_EQUAL(unit, (int)sizeof(int));
        if (is_apart || r == 0)
            CHECK((uintptr_t)part % 256 == 0);
        else
            CHECK(part == end);
        end = part + found;
    }
    check_memory(win);
    MPI_Win_free(&win);
}

/* Ranks of several processes have none. */
static void check_no_shared(void)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_RMA_SHARED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(win == MPI_WIN_NULL);
}

/* MPI_PROC_NULL is the lowest rank that has memory. */
static void check_query_of_none(void)
{
    MPI_Aint bytes, large_unit;
    char *base, *found;
    MPI_Win win;

    MPI_Win_allocate_shared(rank == size - 1 ? 8 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &win);
    MPI_Win_shared_query_c(win, MPI_PROC_NULL, &bytes, &large_unit, &found);
    CHECK_EQUAL(bytes, 8);
    CHECK(rank == size - 1 ? found == base : base == NULL);
    MPI_Win_free(&win);
}

static void check_group_and_name(void)
{
    MPI_Win win = created(NULL, 0);
    MPI_Group group, world;
    char name[MPI_MAX_OBJECT_NAME];
    int length, result;

    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_get_name(win, name, &length);
    CHECK_EQUAL(length, 0);
    MPI_Win_set_name(win, "grid");
    MPI_Win_get_name(win, name, &length);
    CHECK(strcmp(name, "grid") == 0 && length == 4);
    MPI_Win_free(&win);
}

/* ---- Hints ---- */

static void check_hint(MPI_Win win, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL];
    int flag, room = sizeof(value);
    MPI_Info info;

    MPI_Win_get_info(win, &info);
    MPI_Info_get_string(info, key, &room, value, &flag);
    CHECK(expected == NULL ? !flag : flag && strcmp(value, expected) == 0);
    MPI_Info_free(&info);
}

static void check_hints(void)
{
    MPI_Info info;
    MPI_Win win;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "accumulate_ordering", "rar,waw");
    MPI_Info_set(info, "accumulate_ops", "whatever");
    MPI_Info_set(info, "unknown", "true");
    MPI_Win_create(NULL, 0, 1, info, MPI_COMM_WORLD, &win);
    check_hint(win, "no_locks", "true");
    check_hint(win, "accumulate_ordering", "rar,waw");
    check_hint(win, "accumulate_ops", "same_op_no_op");
    check_hint(win, "same_size", "false");
    check_hint(win, "unknown", NULL);
    check_hint(win, "alloc_shared_noncontig", NULL);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Info_set(info, "accumulate_ordering", "rar;waw");
    MPI_Win_set_info(win, info);
    check_hint(win, "no_locks", "false");
    check_hint(win, "accumulate_ordering", "rar,waw");
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_unlock(0, win), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

/* ---- Attributes and handlers of the program ---- */

static int deleted, handled_code;
static MPI_Win handled_win;

static int count_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win;
    (void)keyval;
    CHECK(extra == &deleted);
    deleted += *(int *)value;
    return *(int *)value < 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void check_keyvals(void)
{
    MPI_Win win = created(NULL, 0);
    int keyval, flag, three = 3, four = 4, *found;

    deleted = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_delete, &keyval, &deleted);
    MPI_Win_get_attr(win, keyval, &found, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(win, keyval, &three);
    MPI_Win_get_attr(win, keyval, &found, &flag);
    CHECK(flag && found == &three);
    MPI_Win_set_attr(win, keyval, &four);
    CHECK_EQUAL(deleted, 3);
    MPI_Win_delete_attr(win, keyval);
    CHECK_EQUAL(deleted, 7);
    MPI_Win_set_attr(win, keyval, &four);
    MPI_Win_free_keyval(&keyval);
    MPI_Win_free(&win);
    CHECK_EQUAL(deleted, 11);
}

static void handle(MPI_Win *win, int *code, ...)
{
    handled_win = *win;
    handled_code = *code;
}

static void check_handlers(void)
{
    MPI_Win win = created(NULL, 0);
    MPI_Errhandler handler, found;

    MPI_Win_get_errhandler(win, &found);
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    MPI_Win_create_errhandler(handle, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    CHECK_EQUAL(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK(handled_win == win && handled_code == MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_call_errhandler(win, MPI_ERR_OTHER), MPI_SUCCESS);
    CHECK_EQUAL(handled_code, MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_Win_set_attr(win, MPI_WIN_BASE, NULL), MPI_ERR_KEYVAL);
    CHECK_EQUAL(handled_code, MPI_ERR_KEYVAL);
    MPI_Win_free(&win);
}

/* A NULL argument is an error of the window, or, where its handler is fatal, of no object. */
static void check_null(void)
{
    MPI_Win win = created(NULL, 0);
    MPI_Errhandler handler;
    int value = 0;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Rput(&value, 0, MPI_INT, 0, 0, 0, MPI_INT, win, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Win_get_group(win, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Win_get_group(MPI_WIN_NULL, NULL), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Win_create_errhandler(handle, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    handled_win = MPI_WIN_NULL;
    CHECK_EQUAL(MPI_Rput(&value, 0, MPI_INT, 0, 0, 0, MPI_INT, win, NULL), MPI_ERR_ARG);
    CHECK(handled_win == win && handled_code == MPI_ERR_ARG);
    handled_code = MPI_SUCCESS;
    CHECK_EQUAL(MPI_Win_set_name(win, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(handled_code, MPI_ERR_ARG);
    handled_code = MPI_SUCCESS;
    CHECK_EQUAL(MPI_Win_test(win, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(handled_code, MPI_ERR_ARG);
    handled_code = MPI_SUCCESS;
    CHECK_EQUAL(MPI_Win_shared_query(win, 0, NULL, &value, &handler), MPI_ERR_ARG);
    CHECK_EQUAL(handled_code, MPI_ERR_ARG);
    MPI_Win_free(&win);
}

/* ---- Dynamic windows ---- */

static void check_attach(void)
{
    char memory[64], *there;
    MPI_Aint bytes;
    MPI_Win win;
    int unit;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_attach(win, memory + 8, 16), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_attach(win, memory + 24, 8), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_attach(win, memory, 8), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_attach(win, memory + 7, 2), MPI_ERR_RMA_ATTACH);
    CHECK_EQUAL(MPI_Win_attach(win, memory + 31, 4), MPI_ERR_RMA_ATTACH);
    CHECK_EQUAL(MPI_Win_attach(win, memory, -1), MPI_ERR_SIZE);
    CHECK_EQUAL(MPI_Win_attach(win, NULL, 0), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_detach(win, memory + 9), MPI_ERR_RMA_ATTACH);
    CHECK_EQUAL(MPI_Win_detach(win, memory + 8), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_attach(win, memory + 10, 2), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_shared_query(win, 0, &bytes, &unit, &there), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);
    win = created(memory, sizeof(memory));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_attach(win, memory, 8), MPI_ERR_RMA_FLAVOR);
    CHECK_EQUAL(MPI_Win_detach(win, memory), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);
}

/* ---- Wrong calls ---- */

/* More than there is: all ranks are told, not only the one that asks. AddressSanitizer ends
 * programs that ask for so much. */
static void check_too_much(void)
{
    MPI_Aint bytes = rank == size - 1 ? (MPI_Aint)1 << 60 : 8;
    MPI_Win win = MPI_WIN_NULL;
    char *base;

    if (XYLEM_SANITIZED)
        return;
    CHECK_EQUAL(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_NO_MEM);
    CHECK_EQUAL(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                is_spread ? MPI_ERR_RMA_SHARED : MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL);
}

static void check_arguments(void)
{
    MPI_Win win = MPI_WIN_NULL;
    char *base;
    int number;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_create(&number, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK_EQUAL(MPI_Win_create(&number, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    CHECK_EQUAL(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Win_create(&number, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Win_create(&number, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &win), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Win_allocate(-4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_SIZE);
    CHECK_EQUAL(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    CHECK_EQUAL(MPI_Win_free(&win), MPI_ERR_WIN);
    CHECK_EQUAL(MPI_Win_free(NULL), MPI_ERR_ARG);
    check_too_much();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Comm near;
    int members;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &members);
    MPI_Comm_free(&near);
    is_spread = members < size;
    check_flavours();
    if (is_spread) {
        check_no_shared();
    } else {
        check_shared(0);
        check_shared(1);
        check_query_of_none();
    }
    check_group_and_name();
    check_hints();
    check_keyvals();
    check_handlers();
    check_null();
    check_attach();
    check_arguments();
    MPI_Finalize();
    return 0;
}
