/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Working directories of spawned ranks (info key wdir): each rank has its own, whatever runs on its
 * core, for paths, threads and children, and leaves that of the others alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

enum { ROUNDS = XYLEM_SANITIZED ? 3 : 20 };

static const char *program;

static int rank_of(MPI_Comm comm)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return rank;
}

static int is_in(const char *directory)
{
    char here[PATH_MAX];

    return getcwd(here, sizeof here) && strcmp(here, directory) == 0;
}

/* After a while, in which the core of its rank has gone on with others. */
static void *look(void *directory)
{
    usleep(5000);
    return is_in(directory) ? directory : NULL;
}

static void check_thread(char *directory)
{
    pthread_t thread;
    void *result = NULL;

    CHECK_EQUAL(pthread_create(&thread, NULL, look, directory), 0);
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK(result == directory);
}

static void check_child(const char *directory)
{
    char line[PATH_MAX] = "";
    FILE *pwd = popen("/bin/pwd -P", "r");

    CHECK(pwd && fgets(line, sizeof line, pwd));
    pclose(pwd);
    line[strcspn(line, "\n")] = '\0';
    CHECK(strcmp(line, directory) == 0);
}

/* Another rank of the core opens the other end of it meanwhile. */
static void check_fifo(MPI_Comm world)
{
    int rank = rank_of(world), fd;
    char byte = 'x';

    if (rank == 0)
        CHECK_EQUAL(mkfifo("fifo", 0600), 0);
    MPI_Barrier(world);
    fd = open("fifo", rank == 0 ? O_WRONLY : O_RDONLY);
    CHECK(fd >= 0);
    if (rank == 0)
        CHECK_EQUAL(write(fd, &byte, 1), 1);
    else
        CHECK_EQUAL(read(fd, &byte, 1), 1);
    close(fd);
    MPI_Barrier(world);
    if (rank == 0)
        CHECK_EQUAL(unlink("fifo"), 0);
}

static void check_change(const char *directory, const char *file)
{
    char name[48], inside[PATH_MAX];

    snprintf(name, sizeof name, "in%s", file);
    snprintf(inside, sizeof inside, "%s/%s", directory, name);
    CHECK_EQUAL(mkdir(name, 0700), 0);
    CHECK_EQUAL(chdir(name), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is_in(inside));
    CHECK(chdir("there is none") == -1 && errno == ENOENT);
    CHECK(is_in(inside));
    CHECK_EQUAL(chdir(".."), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is_in(directory));
    CHECK_EQUAL(rmdir(name), 0);
}

static void spawn_in(const char *wdir, const char *expected, const char *mode, int count,
                     MPI_Comm comm, MPI_Comm *inter)
{
    char *arguments[] = {(char *)(size_t)expected, (char *)(size_t)mode, NULL};
    MPI_Info info = MPI_INFO_NULL;

    if (wdir) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "wdir", wdir);
    }
    MPI_Comm_spawn(program, arguments, count, info, 0, comm, inter, MPI_ERRCODES_IGNORE);
    if (wdir)
        MPI_Info_free(&info);
}

static void be_child(MPI_Comm parent, char **argv)
{
    int rank = rank_of(MPI_COMM_WORLD);
    char *directory = argv[1], name[32], deeper[] = "deeper0";
    MPI_Comm inter;

    deeper[6] = (char)('0' + rank);
    /* The job's directory may be that of other tests, too. */
    snprintf(name, sizeof name, "%s-%d-%ld", argv[2], rank, (long)getpid());
    for (int i = 0; i < ROUNDS; i++) {
        int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);

        CHECK(fd >= 0);
        close(fd);
        MPI_Barrier(parent); /* all run, in turns */
        CHECK(is_in(directory));
        CHECK_EQUAL(unlink(name), 0);
    }
    check_thread(directory);
    check_child(directory);
    check_change(directory, name);
    if (strcmp(argv[2], "deeper") == 0) {
        check_fifo(MPI_COMM_WORLD);
        /* As the rank that spawns it. */
        spawn_in(NULL, directory, deeper, 1, MPI_COMM_SELF, &inter);
        for (int i = 0; i < ROUNDS; i++)
            MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_disconnect(&parent);
}

static void check_refused(const char *directory)
{
    char *arguments[] = {NULL};
    MPI_Comm inter = MPI_COMM_SELF;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", directory);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(
        MPI_Comm_spawn(program, arguments, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
        MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
}

static void *try_apart(void *result)
{
    *(int *)result = unshare(CLONE_FS);
    return NULL;
}

/* Some containers allow no thread a directory of its own. */
static int is_possible(void)
{
    pthread_t thread;
    int result = -1;

    CHECK_EQUAL(pthread_create(&thread, NULL, try_apart, &result), 0);
    pthread_join(thread, NULL);
    return result == 0;
}

static void test(void)
{
    char place[] = "/tmp/xylem_wdirXXXXXX", first[64], second[64], here[PATH_MAX];
    MPI_Comm inter[3];

    CHECK(getcwd(here, sizeof here));
    if (rank_of(MPI_COMM_WORLD) == 0)
        CHECK(mkdtemp(place));
    MPI_Bcast(place, sizeof place, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(first, sizeof first, "%s/first", place);
    snprintf(second, sizeof second, "%s/second", place);
    if (rank_of(MPI_COMM_WORLD) == 0)
        CHECK(mkdir(first, 0700) == 0 && mkdir(second, 0700) == 0);
    spawn_in(first, first, "deeper", 2, MPI_COMM_WORLD, &inter[0]);
    spawn_in(second, second, "last", 2, MPI_COMM_WORLD, &inter[1]);
    spawn_in(NULL, here, "last", 1, MPI_COMM_WORLD, &inter[2]);
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 3; k++) {
            MPI_Barrier(inter[k]);
            CHECK(is_in(here));
        }
    for (int k = 0; k < 3; k++)
        MPI_Comm_disconnect(&inter[k]);
    CHECK(is_in(here));
    check_refused("/there is no such directory");
    check_refused(program); /* a file */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0)
        CHECK(rmdir(first) == 0 && rmdir(second) == 0 && rmdir(place) == 0);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent, argv);
    else if (getenv("XYLEM_LAUNCHED") && is_possible())
        test();
    else if (getenv("XYLEM_LAUNCHED")) /* without a launcher nothing can be spawned */
        check_refused("/");
    MPI_Finalize();
    return 0;
}
