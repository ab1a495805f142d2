/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversions of a translation that programs of tests/mpi do not check: handles and codes that
 * functions of the program get, constants in results, lengths of texts, handles in Fortran. It is
 * compiled for another MPI. */
#include <mpi.h>
#include <string.h>

#include "check.h"

static int calls;

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int size = 0;

    CHECK(*type == MPI_INT);
    MPI_Type_size(*type, &size);
    CHECK_EQUAL(size, (int)sizeof(int));
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    calls++;
}

static void operations(int rank, int size)
{
    int mine = rank + 1, sum = 0;
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, size * (size + 1) / 2);
    MPI_Reduce_local(&mine, &sum, 1, MPI_INT, op);
    CHECK(calls > 0);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
}

static MPI_Comm raised_on;
static int raised;

static void handler(MPI_Comm *comm, int *code, ...)
{
    raised_on = *comm;
    MPI_Error_class(*code, &raised);
}

static void errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, code, length, x = 0;
    MPI_Errhandler errhandler, found;

    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    MPI_Send(&x, 1, MPI_INT, 0, -17, MPI_COMM_SELF);
    CHECK(raised_on == MPI_COMM_SELF);
    CHECK_EQUAL(raised, MPI_ERR_TAG);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &found);
    CHECK(found == errhandler);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Send(&x, 1, MPI_INT, 3, 0, MPI_COMM_SELF), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_SUCCESS);
    memset(text, 1, sizeof text);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    CHECK_EQUAL(length, (int)strlen(text));
    MPI_Add_error_class(&class);
    CHECK(class > MPI_ERR_LASTCODE);
    MPI_Add_error_code(class, &code);
    MPI_Error_class(code, &raised);
    CHECK_EQUAL(raised, class);
}

static int copies, deletes;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)keyval;
    CHECK(comm == MPI_COMM_SELF && extra == &copies);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return ++deletes > 1 ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

static void attributes(void)
{
    static int place[2];
    int keyval, flag = 0, *found = NULL, **values;
    MPI_Comm made;
    MPI_Win win;

    MPI_Comm_create_keyval(copy, drop, &keyval, &copies);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, place);
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    MPI_Comm_get_attr(made, keyval, &found, &flag);
    CHECK(flag && (char *)found == (char *)place + 1 && copies == 1);
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Comm_delete_attr(made, keyval), MPI_ERR_TRUNCATE);
    MPI_Comm_delete_attr(made, keyval);
    MPI_Comm_free(&made);
    CHECK(made == MPI_COMM_NULL);
    MPI_Comm_free_keyval(&keyval);
    CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *found >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &found, &flag);
    CHECK(flag && *found >= MPI_ERR_LASTCODE);
    MPI_Win_create(place, sizeof place, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    values = &found;
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, values, &flag);
    CHECK(flag && *found == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, values, &flag);
    CHECK(flag && (*found == MPI_WIN_UNIFIED || *found == MPI_WIN_SEPARATE));
    MPI_Win_get_attr(win, MPI_WIN_BASE, values, &flag);
    CHECK(flag && found == place);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

static void contents(void)
{
    const int sizes[2] = {6, 4}, parts[2] = {2, 4}, starts[2] = {1, 0}, grid[2] = {2, 1};
    const int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    int counts[3], combiner, integers[16];
    MPI_Aint addresses[1];
    MPI_Datatype type, inner[1];

    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK_EQUAL(combiner, MPI_COMBINER_SUBARRAY);
    MPI_Type_get_contents(type, counts[0], counts[1], counts[2], integers, addresses, inner);
    CHECK(inner[0] == MPI_DOUBLE && integers[7] == MPI_ORDER_FORTRAN);
    MPI_Type_free(&type);
    MPI_Type_create_darray(2, 0, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_CHAR, &type);
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK_EQUAL(combiner, MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(type, counts[0], counts[1], counts[2], integers, addresses, inner);
    CHECK(inner[0] == MPI_CHAR && integers[5] == MPI_DISTRIBUTE_CYCLIC);
    CHECK(integers[6] == MPI_DISTRIBUTE_NONE && integers[7] == MPI_DISTRIBUTE_DFLT_DARG);
    CHECK_EQUAL(integers[11], MPI_ORDER_C);
    MPI_Type_free(&type);
    MPI_Type_get_envelope(MPI_INT, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK_EQUAL(combiner, MPI_COMBINER_NAMED);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, counts);
    CHECK_EQUAL(counts[0], 8);
}

static void numbers(int rank, int size)
{
    const int dims[1] = {size}, periods[1] = {0};
    int version, subversion, provided, result, source, dest, members[2] = {0, MPI_PROC_NULL},
                                                             there[2];
    MPI_Comm grid, made;
    MPI_Group world, empty = MPI_GROUP_EMPTY;
    MPI_Status status;

    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Query_thread(&provided);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_compare(MPI_COMM_WORLD, made, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_free(&made);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &result);
    CHECK_EQUAL(result, MPI_CART);
    MPI_Cart_shift(grid, 0, 1, &source, &dest);
    CHECK_EQUAL(source, rank > 0 ? rank - 1 : MPI_PROC_NULL);
    CHECK_EQUAL(dest, rank < size - 1 ? rank + 1 : MPI_PROC_NULL);
    MPI_Comm_free(&grid);
    MPI_Recv(&result, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &result);
    CHECK_EQUAL(result, 0);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 2, members, world, there);
    CHECK(there[0] == 0 && there[1] == MPI_PROC_NULL);
    MPI_Group_translate_ranks(world, 1, members, empty, there);
    CHECK_EQUAL(there[0], MPI_UNDEFINED);
    MPI_Group_free(&world);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
    CHECK(made != MPI_COMM_NULL);
    MPI_Comm_free(&made);
#if !defined OPEN_MPI || OMPI_MAJOR_VERSION > 4
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, MPI_INFO_NULL, &made);
    CHECK(made == MPI_COMM_NULL); /* no hint names a kind of hardware */
#endif
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &made);
    CHECK(made == MPI_COMM_NULL);
}

static void later(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;

    MPI_Comm_idup(MPI_COMM_SELF, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL && made != MPI_COMM_NULL);
    MPI_Comm_free(&made);
}

static void fortran(void)
{
    MPI_Comm made;

    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Type_c2f(MPI_DOUBLE) != MPI_Type_c2f(MPI_INT));
#if !defined OPEN_MPI || OMPI_MAJOR_VERSION > 4
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_ABORT)) == MPI_ERRORS_ABORT);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
#endif
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(made)) == made);
    MPI_Comm_free(&made);
}

static void texts(void)
{
    char name[MPI_MAX_OBJECT_NAME + 1], version[MPI_MAX_LIBRARY_VERSION_STRING + 1], long_name[256];
    int length;

    name[MPI_MAX_OBJECT_NAME] = version[MPI_MAX_LIBRARY_VERSION_STRING] = 'x';
    MPI_Get_library_version(version, &length);
    CHECK(length < MPI_MAX_LIBRARY_VERSION_STRING && (int)strlen(version) == length);
    CHECK(version[MPI_MAX_LIBRARY_VERSION_STRING] == 'x' && strstr(version, "Xylem"));
    memset(long_name, 'n', sizeof long_name);
    long_name[MPI_MAX_OBJECT_NAME - 1] = '\0';
    MPI_Comm_set_name(MPI_COMM_SELF, long_name);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK(strcmp(name, long_name) == 0 && length == MPI_MAX_OBJECT_NAME - 1);
    CHECK(name[MPI_MAX_OBJECT_NAME] == 'x');
}

/* A status that the program has not initialised: what it sets is set, the rest stays. */
static void statuses(void)
{
    MPI_Status status;
    MPI_Count count = -1;
    int flag = -1;

    memset(&status, 0xb6, sizeof status);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Status_set_elements_x(&status, MPI_BYTE, 0x7654321ff1234567);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    MPI_Test_cancelled(&status, &flag);
    CHECK(count == 0x7654321ff1234567 && flag == 0);
    CHECK(status.MPI_SOURCE == (int)0xb6b6b6b6 && status.MPI_TAG == (int)0xb6b6b6b6);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag == 1);
}

#ifndef OPEN_MPI /* Open MPI 4 has no events */
/* The tool interface has no events: no name and no number is one. */
static void events(void)
{
    int n = -1, level;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 0);
    CHECK(MPI_T_event_get_index("any", &n) == MPI_T_ERR_INVALID_NAME);
    MPI_T_finalize();
}
#endif

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    operations(rank, size);
    numbers(rank, size);
    contents();
    attributes();
    later();
    fortran();
    texts();
    statuses();
#ifndef OPEN_MPI
    events();
#endif
    errors();
    MPI_Finalize();
    return 0;
}
