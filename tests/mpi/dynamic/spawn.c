/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_spawn and MPI_Comm_spawn_multiple: what new ranks are, what both sides can do together,
 * and what is refused. The program spawns itself; its first argument says what a child does.
 */
#include <stdlib.h>
#include <string.h>

#include "sizes.h"

#if XYLEM_SANITIZED
enum { ROUNDS = 4, LOOPS = 20 };
#else
enum { ROUNDS = 12, LOOPS = 120 };
#endif

/* Zero in every new rank, whoever had its memory before. */
static int fresh;
static char much[1 << 16];

static const char *program;

static int remote_size_of(MPI_Comm comm)
{
    int size;

    MPI_Comm_remote_size(comm, &size);
    return size;
}

static int attribute(int key)
{
    int *value, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag);
    return *value;
}

/* Both sides: collectives over the intercommunicator and over the merged one, and messages. */
static void talk(MPI_Comm inter, int is_child)
{
    int others = remote_size_of(inter), own = size_of(inter), rank = rank_of(inter), sum, total;
    int one = 1 + rank, merged_rank, expected;
    MPI_Comm merged;

    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQUAL(sum, others * (others + 1) / 2);
    MPI_Intercomm_merge(inter, is_child, &merged);
    CHECK_EQUAL(size_of(merged), own + others);
    merged_rank = rank_of(merged);
    CHECK_EQUAL(merged_rank, is_child ? others + rank : rank);
    MPI_Allreduce(&merged_rank, &total, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQUAL(total, (own + others) * (own + others - 1) / 2);
    MPI_Comm_free(&merged);
    if (is_child) {
        MPI_Send(&one, 1, MPI_INT, 0, 5 + rank, inter);
    } else if (rank == 0) {
        expected = others * (others + 1) / 2;
        for (int i = 0; i < others; i++) {
            MPI_Status status;
            int got;

            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
            CHECK_EQUAL(status.MPI_SOURCE + 1, got);
            CHECK_EQUAL(status.MPI_TAG, 5 + status.MPI_SOURCE);
            expected -= got;
        }
        CHECK_EQUAL(expected, 0);
    }
}

static void spawn(char *mode, int count, int root, MPI_Comm comm, MPI_Comm *inter)
{
    char *arguments[] = {mode, (char[]){"second argument"}, NULL};
    int codes[64];

    memset(codes, -1, sizeof codes);
    MPI_Comm_spawn(rank_of(comm) == root ? program : NULL, arguments, count, MPI_INFO_NULL, root,
                   comm, inter, codes);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(codes[i], MPI_SUCCESS);
    CHECK_EQUAL(remote_size_of(*inter), count);
}

/* ---- What a child does ---- */

static void be_talker(MPI_Comm parent)
{
    MPI_Comm again;

    talk(parent, 1);
    MPI_Comm_get_parent(&again);
    CHECK(again == parent);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&again);
    CHECK(again == MPI_COMM_NULL);
}

/* A tree: each has two children until the depth is 0, and sums up how many there are below it. */
static int count_tree(int depth)
{
    char mode[] = "tree0";
    int all = 1, below[2] = {0, 0};
    MPI_Comm inter;

    if (depth == 0)
        return 1;
    mode[4] = (char)('0' + depth - 1);
    spawn(mode, 2, 0, MPI_COMM_SELF, &inter);
    for (int i = 0; i < 2; i++) {
        MPI_Recv(&below[i], 1, MPI_INT, i, 0, inter, MPI_STATUS_IGNORE);
        all += below[i];
    }
    MPI_Comm_disconnect(&inter);
    return all;
}

static void be_node(MPI_Comm parent, const char *mode)
{
    int all = count_tree(mode[4] - '0');

    MPI_Send(&all, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
}

/* One of two programs in one world. */
static void be_one_of_two(MPI_Comm parent, int argc, char **argv)
{
    int first = 2, rank = rank_of(MPI_COMM_WORLD);

    CHECK_EQUAL(size_of(MPI_COMM_WORLD), 5);
    CHECK_EQUAL(attribute(MPI_APPNUM), rank >= first);
    CHECK_EQUAL(argc, rank < first ? 3 : 2);
    CHECK(strcmp(argv[1], "two") == 0);
    talk(parent, 1);
    MPI_Comm_disconnect(&parent);
}

static void be_child(MPI_Comm parent, int argc, char **argv)
{
    char variable[16];

    CHECK(argc > 1);
    CHECK_EQUAL(fresh, 0);
    for (size_t i = 0; i < sizeof much; i++)
        CHECK_EQUAL(much[i], 0);
    memset(much, 1, sizeof much);
    fresh = 1;
    snprintf(variable, sizeof variable, "%d", rank_of(MPI_COMM_WORLD));
    CHECK(strcmp(getenv("PMI_RANK"), variable) == 0);
    if (strcmp(argv[1], "talk") == 0) {
        CHECK_EQUAL(argc, 3);
        CHECK(strcmp(argv[2], "second argument") == 0);
        be_talker(parent);
    } else if (strncmp(argv[1], "tree", 4) == 0) {
        be_node(parent, argv[1]);
    } else if (strcmp(argv[1], "two") == 0) {
        be_one_of_two(parent, argc, argv);
    } else if (strcmp(argv[1], "soft") == 0) {
        MPI_Comm_disconnect(&parent);
    }
}

/* ---- What the first ranks do ---- */

static void test_together(void)
{
    unsigned seed = 1;

    for (int i = 0; i < ROUNDS; i++) {
        int count = 1 + (int)(next_random(&seed) % 5);
        int root = (int)(next_random(&seed) % (unsigned)size_of(MPI_COMM_WORLD));
        MPI_Comm inter;

        spawn((char[]){"talk"}, count, root, MPI_COMM_WORLD, &inter);
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    }
}

/* Each half for itself, with ranks in reverse; the number of ranks that it asks for is its own. */
static void test_halves(void)
{
    int color = rank_of(MPI_COMM_WORLD) % 2;
    MPI_Comm half, inter;

    MPI_Comm_split(MPI_COMM_WORLD, color, -rank_of(MPI_COMM_WORLD), &half);
    spawn((char[]){"talk"}, 1 + color, size_of(half) - 1, half, &inter);
    talk(inter, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
}

/* Two groups of children at once, which are met in the other order. */
static void test_two_at_once(void)
{
    MPI_Comm first, second;

    spawn((char[]){"talk"}, 2, 0, MPI_COMM_WORLD, &first);
    spawn((char[]){"talk"}, 3, 0, MPI_COMM_WORLD, &second);
    talk(second, 0);
    talk(first, 0);
    MPI_Comm_disconnect(&first);
    MPI_Comm_disconnect(&second);
}

static void test_programs(void)
{
    char two[] = "two", more[] = "more", *long_list[] = {two, more, NULL}, *list[] = {two, NULL};
    char *commands[2], **arguments[] = {long_list, list};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    int counts[] = {2, 3}, codes[] = {9, 9, 9, 9, 9};
    MPI_Comm inter;

    commands[0] = commands[1] = (char *)(size_t)program;
    MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &inter,
                            codes);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(codes[i], MPI_SUCCESS);
    talk(inter, 0);
    MPI_Comm_disconnect(&inter);
}

static void test_soft(void)
{
    char soft[] = "soft", *arguments[] = {soft, NULL};
    int codes[] = {9, 9, 9, 9};
    MPI_Comm inter;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "soft", "1,3,5:9");
    MPI_Info_set(info, "wdir", ".");
    MPI_Comm_spawn(program, arguments, 4, info, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_EQUAL(remote_size_of(inter), 3);
    CHECK_EQUAL(codes[2], MPI_SUCCESS);
    CHECK_EQUAL(codes[3], MPI_ERR_SPAWN);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&info);
}

/* A spawn that ends in an error class, on all ranks alike, and leaves nothing behind. */
static int fails(const char *command, int count, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm inter = MPI_COMM_SELF;
    int codes[] = {9, 9, 9, 9}, code;

    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    code = MPI_Comm_spawn(command, MPI_ARGV_NULL, count, info, 0, MPI_COMM_WORLD, &inter, codes);
    if (count > 0)
        CHECK_EQUAL(codes[0], code);
    CHECK(inter == MPI_COMM_NULL || code == MPI_ERR_ROOT);
    if (key)
        MPI_Info_free(&info);
    return code;
}

static void test_refused(void)
{
    MPI_Comm inter;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(fails("./there is no such program", 2, NULL, NULL), MPI_ERR_SPAWN);
    CHECK_EQUAL(fails("/bin/sh", 1, NULL, NULL), MPI_ERR_SPAWN);
    CHECK_EQUAL(fails("/", 1, NULL, NULL), MPI_ERR_SPAWN);
    CHECK_EQUAL(fails(program, 0, NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(fails("", 1, NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(fails(program, 2, "soft", "8,4"), MPI_ERR_SPAWN);
    CHECK_EQUAL(fails(program, 2, "soft", "two"), MPI_ERR_INFO_VALUE);
    CHECK_EQUAL(fails(program, 2, "wdir", "/there is no such directory"), MPI_ERR_SPAWN);
    CHECK_EQUAL(fails(program, 2, "host", "nowhere.invalid"), MPI_ERR_SPAWN);
    CHECK_EQUAL(fails(program, 2, "arch", "pdp11"), MPI_ERR_SPAWN);
    CHECK_EQUAL(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size_of(MPI_COMM_WORLD),
                               MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                MPI_ERR_ROOT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static long pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long all = 0, resident = 0;

    CHECK(file && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident;
}

/* Ranks that are over leave nothing: a second half of the rounds takes no memory. */
static void test_memory(void)
{
    long half = 0, end;

    for (int i = 0; i < LOOPS; i++) {
        MPI_Comm inter;

        spawn((char[]){"soft"}, 2, 0, MPI_COMM_SELF, &inter);
        MPI_Comm_disconnect(&inter);
        if (i == LOOPS / 2)
            half = pages();
    }
    end = pages();
    CHECK(XYLEM_SANITIZED || end < half + half / 20 + 64);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent, argc, argv);
        MPI_Finalize();
        return 0;
    }
    CHECK_EQUAL(attribute(MPI_APPNUM), 0);
    CHECK(attribute(MPI_UNIVERSE_SIZE) >= size_of(MPI_COMM_WORLD));
    if (!getenv("XYLEM_LAUNCHED")) { /* new ranks are a job of their own */
        test_together();
        MPI_Finalize();
        return 0;
    }
    test_together();
    test_halves();
    test_two_at_once();
    test_programs();
    test_soft();
    test_refused();
    if (rank_of(MPI_COMM_WORLD) == 0) {
        CHECK_EQUAL(count_tree(3), 15);
        test_memory();
    }
    MPI_Finalize();
    return 0;
}
