/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of several ranks each that the launcher of another MPI or of a batch system has
 * started: XYLEM_RANKS_PER_PROCESS=4 srun --ntasks-per-node=1 ./a.out. Before main, the program
 * becomes mpiexec (see start_again). The first of them is the head of the job, and starts the
 * process for its own ranks; the others find it in the key-value space of the launcher, and from
 * then on nothing differs from a job that mpiexec has started.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launch/head.h"
#include "mpi/bindings/bindings.h"
#include "mpi/dynamic/dynamic.h"

#define RANKS_VARIABLE "XYLEM_RANKS_PER_PROCESS"

enum { MOST_RANKS = 1 << 20, NODE_SIZE = 4096 };
#define START_SECONDS 60.0

static struct {
    xy_pmi_t *pmi;
    xy_pmi_meeting_t meeting;
    long ranks;
} start; /* in the head */

/* ---- The program ---- */

/* Is the program linked with this library, rather than one that has loaded it while it runs? */
static bool is_linked(void)
{
    void *program = dlopen(NULL, RTLD_LAZY), *function;

    if (program == NULL)
        return false;
    function = dlsym(program, "MPI_Init");
    dlclose(program);
    return function != NULL;
}

/* The mpiexec that belongs to this library; false: there is none, or this process is it or another
 * command of Xylem. */
static bool find_mpiexec(char path[PATH_MAX])
{
    char own[PATH_MAX];
    size_t length;

    if (!mpi_find_mpiexec(path) || realpath("/proc/self/exe", own) == NULL)
        return false;
    length = (size_t)(strrchr(path, '/') - path) + 1;
    return strncmp(path, own, length) != 0 || strchr(own + length, '/') != NULL;
}

static bool read_ranks(const char *text, long *ranks_p)
{
    return xy_parse_long(text, ranks_p) && *ranks_p >= 1 && *ranks_p <= MOST_RANKS;
}

/* Before main: a program that is to be several ranks becomes mpiexec with the same arguments. */
__attribute__((constructor)) static void start_again(int argc, char **argv, char **environment)
{
    const char *text = getenv(RANKS_VARIABLE);
    char path[PATH_MAX], program[PATH_MAX], why[XY_WHY_SIZE], **words;
    ssize_t length;
    long ranks;

    (void)environment;
    if (text == NULL || getenv(XMPI_LAUNCHED) != NULL || getenv(XMPI_NODE_VARIABLE) != NULL ||
        (read_ranks(text, &ranks) && ranks == 1) || !xy_pmi_is_there(why) || !is_linked() ||
        !find_mpiexec(path))
        return;
    length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    words = calloc((size_t)argc + 4, sizeof(char *));
    if (length <= 0 || words == NULL || argc < 1)
        return;
    program[length] = '\0';
    words[0] = path;
    words[1] = (char *)(uintptr_t) "--"; /* the program may be called -n */
    memcpy(words + 2, argv, (size_t)argc * sizeof(char *));
    if (strchr(argv[0], '/') == NULL)
        words[2] = program;
    setenv(XMPI_NODE_VARIABLE, XMPI_NODE_BY_PMI, 1);
    execv(path, words);
    xy_fail_errno(errno, path, "execute");
    _exit(XMPI_EXIT_NOT_FOUND);
}

/* ---- In mpiexec ---- */

static bool is_plain(void)
{
    static const char *const no[] = {"0", "no", "false", "off", ""};
    const char *text = getenv("XYLEM_NET_PLAIN");

    for (size_t i = 0; text != NULL && i < sizeof(no) / sizeof(no[0]); i++)
        if (strcasecmp(text, no[i]) == 0)
            return false;
    return text != NULL;
}

static double patience(void)
{
    const char *text = getenv("XYLEM_START_TIMEOUT");
    double seconds;

    return text != NULL && xy_parse_seconds(text, &seconds) ? seconds : START_SECONDS;
}

/* Where a process finds the head: as mpi_node_boot reads it. */
static xy_status_t tell(int number, int count, const char *card)
{
    char where[NODE_SIZE], secret[2 * XY_SECRET_BYTES + 1];

    snprintf(where, sizeof(where), "%d %d %s", number, count, card);
    xy_secret_write(start.meeting.secret, secret);
    return setenv(XMPI_NODE_VARIABLE, where, 1) == 0 && setenv(XMPI_NODE_SECRET, secret, 1) == 0
               ? XY_OK
               : xy_fail_memory("starting a process");
}

/* Give the card of the head to all, who need the launcher no more. */
static xy_status_t exchange_card(const char *own, char **card_p)
{
    int size = xy_pmi_size(start.pmi);
    char **cards = xy_calloc((size_t)size, sizeof(char *));
    xy_status_t st = cards != NULL ? xy_pmi_exchange(start.pmi, own, cards)
                                   : xy_fail_memory("starting a process");

    if (st == XY_OK && card_p != NULL) {
        *card_p = cards[0];
        cards[0] = NULL;
    }
    for (int p = 0; cards != NULL && p < size; p++)
        xy_free(cards[p]);
    xy_free(cards);
    xy_pmi_close(start.pmi);
    start.pmi = NULL;
    return st;
}

/* The first returns as the head; the others return only when they fail. */
xy_status_t mpi_pmi_begin(void)
{
    const char *text = getenv(RANKS_VARIABLE);
    char *card = NULL;
    xy_status_t st;
    int rank, size;

    unsetenv(XMPI_NODE_VARIABLE);
    if (text == NULL || !read_ranks(text, &start.ranks))
        return xy_fail(XY_EUSAGE, "%s is '%s'; give a number from 1 to %d", RANKS_VARIABLE,
                       text != NULL ? text : "", MOST_RANKS);
    st = xy_pmi_open(patience(), &start.pmi);
    if (st == XY_OK)
        st = xy_pmi_meet(start.pmi, is_plain(), &start.meeting);
    if (st != XY_OK || xy_pmi_rank(start.pmi) == 0)
        return st;
    rank = xy_pmi_rank(start.pmi);
    size = xy_pmi_size(start.pmi);
    st = exchange_card("", &card);
    if (st == XY_OK)
        st = tell(rank, size, card);
    xy_free(card);
    return st == XY_OK ? mpi_node_boot(getenv(XMPI_NODE_VARIABLE)) : st;
}

bool mpi_pmi_is_head(void)
{
    return start.ranks > 0;
}

xy_status_t mpi_pmi_hosts(mpi_hosts_t *hosts)
{
    size_t n = (size_t)xy_pmi_size(start.pmi);

    hosts->all = xy_calloc(n, sizeof(*hosts->all));
    if (hosts->all == NULL)
        return xy_fail_memory("reading hosts");
    hosts->capacity = n;
    for (size_t i = 0; i < n; i++) {
        char *name = xy_strdup(start.meeting.hosts[i]);

        if (name == NULL)
            return xy_fail_memory("reading hosts");
        hosts->all[hosts->count++] = (mpi_host_t){.name = name, .slots = start.ranks, .named = 1};
    }
    hosts->named = n;
    return XY_OK;
}

/* The process of the head's own ranks: mpiexec once more. */
static xy_status_t start_own(head_t *head)
{
    head->launcher = fork();
    if (head->launcher == 0) {
        char *none[] = {(char *)(uintptr_t) "mpiexec", NULL};
        sigset_t empty;

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigemptyset(&empty);
        sigprocmask(SIG_SETMASK, &empty, NULL);
        signal(SIGPIPE, SIG_DFL);
        execv("/proc/self/exe", none);
        _exit(XMPI_EXIT_NOT_FOUND);
    }
    return head->launcher > 0 ? XY_OK : xy_fail_errno(errno, "mpiexec", "start");
}

xy_status_t head_start_by_pmi(head_t *head)
{
    char *card;
    xy_status_t st;

    memcpy(head->secret, start.meeting.secret, sizeof(head->secret));
    head->starts_all = true;
    head->launcher_name = "mpiexec";
    st = xy_listener_open(head->secret, head->count, head->count, false, &head->listener);
    if (st != XY_OK)
        return st;
    card = xy_listener_card(head->listener, NULL);
    st = card != NULL ? exchange_card(card, NULL) : xy_fail_memory("starting the processes");
    if (st == XY_OK)
        st = tell(0, head->count, card);
    if (st == XY_OK)
        st = start_own(head);
    unsetenv(XMPI_NODE_VARIABLE);
    unsetenv(XMPI_NODE_SECRET);
    xy_free(card);
    return st;
}
