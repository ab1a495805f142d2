/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/check/check.h"
#include "mpi/check/copy_memory.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

enum { PAGE = 4096, RANKS = 6 };

static mpi_rank_t ranks[RANKS];
static mpi_job_t job = {.size = RANKS, .started = RANKS, .capacity = RANKS, .ranks = ranks};
static char report[8192];

/* Make the report of the ranks' current state. */
static void make_report(int at_most)
{
    char path[] = "/tmp/xylem-report-XXXXXX";
    int fd = mkstemp(path), before = dup(STDERR_FILENO);
    ssize_t n;

    assert_true(fd >= 0 && before >= 0);
    unlink(path);
    fflush(stderr);
    dup2(fd, STDERR_FILENO);
    mpi_job_report(&job, at_most);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    n = pread(fd, report, sizeof(report) - 1, 0);
    assert_true(n >= 0);
    report[n] = '\0';
    close(fd);
}

static void assert_says(const char *text)
{
    if (strstr(report, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, report);
}

/* An address that cannot be read, as if its memory had been given back. */
static void *gone(void)
{
    static void *page;

    if (page == NULL)
        page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    return page;
}

static void clear_ranks(void)
{
    memset(ranks, 0, sizeof(ranks));
    for (int r = 0; r < RANKS; r++)
        ranks[r].phase = XMPI_RANK_RUNNING;
}

static void test_groups(void **state)
{
    mpi_comm_t comm = {.name = "half"};

    (void)state;
    clear_ranks();
    ranks[0].phase = XMPI_RANK_BEFORE_INIT;
    ranks[1].phase = XMPI_RANK_FINALIZED;
    ranks[2].call = ranks[5].call =
        (mpi_call_t){.name = "MPI_Recv", .comm = &comm, .peer = 1, .tag = 7};
    make_report(32);
    assert_says("rank 0: has not called MPI_Init\n");
    assert_says("rank 1: has called MPI_Finalize\n");
    assert_says("ranks 2,5: in MPI_Recv from rank 1, tag 7 on half\n");
    assert_says("ranks 3-4: in its own code\n");
    make_report(2);
    assert_says("and 4 ranks more");
}

static void test_requests(void **state)
{
    mpi_request_t request = {.is_active = true};
    mpi_request_t *const list[] = {&request, &request, &request, &request};

    (void)state;
    clear_ranks();
    request.call = (mpi_call_t){.name = "MPI_Irecv", .peer = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    ranks[0].call.name = "MPI_Waitall";
    ranks[0].own.waits = list;
    ranks[0].own.waits_count = 4;
    make_report(32);
    assert_says("in MPI_Waitall, for MPI_Irecv from any rank, any tag; for");
    assert_says("; and for 1 more");
    request.is_done = true;
    make_report(32);
    assert_says("rank 0: in MPI_Waitall\n");
}

/* A rank that runs meanwhile frees what its record names, or is half through changing it. */
static void test_bad_pointers_are_no_fault(void **state)
{
    mpi_request_t *list[2] = {gone(), (mpi_request_t *)(uintptr_t)8};
    mpi_request_t wild = {.is_active = true}, other = {.is_active = true};
    mpi_request_t *wild_list[2] = {&wild, &other};

    (void)state;
    clear_ranks();
    ranks[0].call = (mpi_call_t){.name = "MPI_Recv", .comm = gone(), .peer = 3};
    ranks[1].call = (mpi_call_t){.name = gone()};
    ranks[2].call.name = ranks[3].call.name = ranks[4].call.name = "MPI_Wait";
    ranks[2].own.waits = gone();
    ranks[2].own.waits_count = 1 << 29;
    ranks[3].own.waits = list;
    ranks[3].own.waits_count = 2;
    wild.call = (mpi_call_t){.name = gone(), .comm = gone()};
    other.call = (mpi_call_t){.name = "\177ELF"};
    ranks[4].own.waits = wild_list;
    ranks[4].own.waits_count = 2;
    make_report(32);
    assert_says("in MPI_Recv from rank 3, tag 0\n");
    assert_says("ranks 1,5: in its own code\n");
    assert_says("ranks 2-4: in MPI_Wait\n");
}

static void test_strings_end_at_pages(void **state)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[64];

    (void)state;
    assert_true(pages != MAP_FAILED);
    mprotect(pages + PAGE, PAGE, PROT_NONE);
    strcpy(pages + PAGE - 4, "end");
    assert_true(check_copy_string(text, pages + PAGE - 4, sizeof(text)));
    assert_string_equal(text, "end");
    pages[PAGE - 1] = '!';
    assert_false(check_copy_string(text, pages + PAGE - 4, sizeof(text)));
    assert_true(check_copy_string(text, pages + PAGE - 4, 5));
    assert_string_equal(text, "end!");
    munmap(pages, 2 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_bad_pointers_are_no_fault),
        cmocka_unit_test(test_strings_end_at_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
