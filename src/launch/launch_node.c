/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/launch_node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <xylem.h>

#include "launch/end_job.h"
#include "launch/launch_live.h"
#include "mpi/check/check.h"
#include "mpi/p2p/p2p.h"
#include "process/process.h"

enum { MOST_RANKS = 1 << 24, MOST_PROCESSES = 1 << 16, RANKS_SHOWN = 32 };
enum { OPEN_SECONDS = 60, END_SECONDS = 5 };

static struct {
    bool is_node;
    xy_channel_t link;
    mpi_node_job_t job;
    bool has_secret; /* of the job, from the launcher */
} node;

/* ---- Fields ---- */

const char *node_field(node_fields_t *fields)
{
    const char *field = fields->at;

    if (field >= fields->end)
        return NULL;
    fields->at += strlen(field) + 1; /* a frame has a NUL behind it in any case */
    return field;
}

bool node_field_number(node_fields_t *fields, long min, long max, long *value_p)
{
    const char *field = node_field(fields);
    long value;

    if (field == NULL || !xy_parse_long(field, &value) || value < min || value > max)
        return false;
    *value_p = value;
    return true;
}

void node_field_add(xy_text_t *text, const char *field)
{
    xy_text_add_bytes(text, field, strlen(field) + 1);
}

void node_field_add_number(xy_text_t *text, long number)
{
    char field[32];

    snprintf(field, sizeof(field), "%ld", number);
    node_field_add(text, field);
}

static bool tell(node_kind_t kind, const xy_text_t *text)
{
    return !text->failed && xy_channel_send(&node.link, kind, text->s, text->length);
}

bool node_send(node_kind_t kind, const void *bytes, size_t size)
{
    return xy_channel_send(&node.link, kind, bytes, size);
}

bool mpi_node_send_found(const void *bytes, size_t size)
{
    return xy_channel_send_last(&node.link, NODE_FOUND, bytes, size);
}

uint64_t mpi_node_seed(const uint8_t secret[XY_SECRET_BYTES])
{
    uint64_t word;

    memcpy(&word, secret, sizeof(word));
    return xy_hash_u64(word) >> 40;
}

xy_channel_t *node_link(void)
{
    return &node.link;
}

void node_answer_ping(const xy_frame_t *ping)
{
    xy_text_t text = XY_TEXT_INIT;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    xy_text_add_bytes(&text, ping->bytes, ping->size);
    node_field_add_number(&text, (long)now.tv_sec * 1000000000 + now.tv_nsec);
    tell(NODE_PONG, &text);
    xy_text_cleanup(&text);
}

/* ---- Meeting the head ---- */

/* The head prints once what several processes have to say about the same command line. */
static void say_at_head(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status;
    if (process_report_is_caught(message))
        return;
    if (!xy_channel_send(&node.link, NODE_SAY, message, strlen(message)))
        process_say("%s", message);
}

static xy_status_t lost_head(void)
{
    xy_error_handler_set(NULL, NULL);
    return xy_fail(XY_EIO, "the mpiexec that started this process has ended");
}

/* Send version, machine, host, number of cores and address to the head. */
static xy_status_t say_hello(void)
{
    xy_text_t text = XY_TEXT_INIT;
    struct utsname system;
    char host[256] = "", address[64] = "";
    cpu_set_t cores;
    bool is_sent;

    if (uname(&system) != 0 || gethostname(host, sizeof(host) - 1) != 0)
        return xy_fail_errno(errno, "the name of this machine", "get");
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        CPU_SET(0, &cores);
    if (!xy_socket_address(node.link.fd, address))
        address[0] = '\0';
    node_field_add(&text, xylem_version());
    node_field_add(&text, system.machine);
    node_field_add(&text, host);
    node_field_add_number(&text, CPU_COUNT(&cores));
    node_field_add(&text, address);
    is_sent = tell(NODE_HELLO, &text);
    xy_text_cleanup(&text);
    return is_sent ? XY_OK : lost_head();
}

/* Read host and number of ranks of each process; the caller frees the arrays, also after false. */
static bool read_blocks(node_fields_t *fields, mpi_node_job_t *job)
{
    long count;

    job->hosts = xy_calloc((size_t)job->processes, sizeof(*job->hosts));
    for (int p = 0; p < job->processes && job->hosts != NULL; p++) {
        int *grown;

        job->hosts[p] = node_field(fields);
        if (job->hosts[p] == NULL || !node_field_number(fields, 0, MOST_RANKS - job->size, &count))
            return false;
        if (p == job->process)
            job->count = (int)count;
        grown = xy_realloc_array(job->process_of, (size_t)(job->size + count) + 1, sizeof(int));
        if (grown == NULL)
            return false;
        job->process_of = grown;
        for (int r = 0; r < count; r++)
            job->process_of[job->size++] = p;
    }
    return job->hosts != NULL;
}

/* Read the measured carriers from the job; false if a field is missing or out of range. */
static bool read_measured(node_fields_t *fields, mpi_node_job_t *job)
{
    long count, latency, bandwidth, eager;

    if (!node_field_number(fields, 0, XY_CARRIERS_MAX, &count))
        return false;
    for (int i = 0; i < count; i++) {
        const char *name = node_field(fields);

        if (name == NULL || !node_field_number(fields, 1, LONG_MAX, &latency) ||
            !node_field_number(fields, 1, LONG_MAX, &bandwidth) ||
            !node_field_number(fields, 0, LONG_MAX, &eager))
            return false;
        job->measured[i] = (xy_net_measured_t){.library = name,
                                               .latency = (double)latency * 1e-9,
                                               .bandwidth = (double)bandwidth,
                                               .eager = (size_t)eager};
    }
    job->measured_count = (int)count;
    return true;
}

/* Read the list of the process's own ranks: a block, or the ranks that were placed here. */
static bool read_own(node_fields_t *fields, mpi_node_job_t *job)
{
    bool is_placed = fields->at < fields->end;
    int n = 0;

    job->own = xy_calloc((size_t)job->count + 1, sizeof(int));
    job->slots = is_placed ? xy_calloc((size_t)job->count + 1, sizeof(int)) : NULL;
    if (job->own == NULL || (is_placed && job->slots == NULL))
        return false;
    for (int r = 0; r < job->size; r++) {
        long process, slot = 0;

        if (is_placed) {
            if (!node_field_number(fields, 0, job->processes - 1, &process) ||
                !node_field_number(fields, 0, job->size - 1, &slot))
                return false;
            job->process_of[r] = (int)process;
        }
        if (job->process_of[r] != job->process)
            continue;
        if (n == job->count)
            return false;
        if (is_placed)
            job->slots[n] = (int)slot;
        job->own[n++] = r;
    }
    return n == job->count && node_field(fields) == NULL;
}

/* The frame stays: the job points into it. */
static bool read_job(const xy_frame_t *frame, mpi_node_job_t *job)
{
    node_fields_t fields = node_fields(frame);
    long process, processes, is_local, shares, has_input, input, counts;
    const char *secret;

    if (!node_field_number(&fields, 0, MOST_PROCESSES, &process) ||
        !node_field_number(&fields, process + 1, MOST_PROCESSES, &processes))
        return false;
    job->transport = node_field(&fields);
    secret = node_field(&fields);
    /* Over a network the head does not repeat what the launcher has brought. */
    if (secret == NULL ||
        (*secret == '\0' ? !node.has_secret : !xy_secret_read(secret, job->secret)) ||
        !node_field_number(&fields, 0, 1, &is_local) ||
        !node_field_number(&fields, 0, 1, &shares) ||
        !node_field_number(&fields, 0, 1, &has_input) ||
        !node_field_number(&fields, -1, 1 << 24, &input))
        return false;
    job->process = (int)process;
    job->processes = (int)processes;
    job->is_local = is_local != 0;
    job->shares_cores = shares != 0;
    job->has_launcher = has_input != 0;
    job->cores = node_field(&fields);
    job->plan = node_field(&fields);
    if (job->plan == NULL || !node_field_number(&fields, 0, 1, &counts) ||
        !read_measured(&fields, job) || !read_blocks(&fields, job) || !read_own(&fields, job))
        return false;
    job->counts = counts != 0;
    for (int i = 0; i < job->count && job->has_launcher; i++)
        job->has_input |= job->own[i] == input;
    if (job->cores[0] == '\0')
        job->cores = NULL;
    return job->count > 0;
}

/* Report the CPUs of this process's cores. */
static void tell_cpus(void)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_cores_t cores;

    if (xy_cores_live(&cores) != XY_OK)
        return;
    for (int c = 0; c < cores.count; c++) {
        xy_target_cpu_t cpu = xy_target_cpu(cores.cpu[c]);

        xy_text_add_bytes(&text, (const char *)&cpu, sizeof(cpu));
    }
    tell(NODE_CPUS, &text);
    xy_text_cleanup(&text);
    xy_cores_cleanup(&cores);
}

/* The next frame of that kind. Before ranks run there is nothing to save: an end is an end. */
static xy_status_t await(node_kind_t kind, xy_frame_t *frame)
{
    for (;;) {
        xy_channel_answer_t answer = xy_channel_await(&node.link, 1e9, frame);

        if (answer == XY_CHANNEL_END)
            return lost_head();
        if (answer == XY_CHANNEL_NOTHING)
            continue;
        if (frame->kind == kind)
            return XY_OK;
        if (frame->kind == NODE_END)
            _exit(1);
        if (frame->kind == NODE_CPUS)
            tell_cpus();
        xy_frame_free(frame);
    }
}

/* The connection of a process that starts itself again: its descriptor and, where it is encrypted,
 * that of its keys. */
bool node_link_text(const xy_channel_t *link, char *text, size_t size)
{
    int keys = link->seal != NULL ? xy_seal_save(link->seal) : -1;

    if (keys >= 0)
        snprintf(text, size, "%d:%d", link->fd, keys);
    else
        snprintf(text, size, "%d", link->fd);
    return link->seal == NULL || keys >= 0;
}

static bool is_descriptor(const char *text, int *fd_p)
{
    long fd;

    if (!xy_parse_long(text, &fd) || fd < 3 || fd > 1 << 20 || fcntl((int)fd, F_GETFD) < 0)
        return false;
    *fd_p = (int)fd;
    return true;
}

static bool read_link(const char *text, int *fd_p, xy_seal_t **seal_p)
{
    const char *colon = strchr(text, ':');
    char first[16];
    int keys;

    snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, ":"), text);
    if (!is_descriptor(first, fd_p) || (colon != NULL && !is_descriptor(colon + 1, &keys)))
        return false;
    *seal_p = colon != NULL ? xy_seal_load(keys) : NULL;
    return colon == NULL || *seal_p != NULL;
}

xy_status_t mpi_node_begin(const mpi_node_job_t **job_p)
{
    const char *text = getenv(XMPI_NODE_VARIABLE), *secret = getenv(XMPI_NODE_SECRET);
    xy_frame_t frame;
    xy_seal_t *seal = NULL;
    int fd;
    xy_status_t st;

    if (text == NULL) {
        mpi_launch_as_spawned();
        return XY_OK;
    }
    if (strcmp(text, XMPI_NODE_BY_PMI) == 0)
        return mpi_pmi_begin();
    if (strchr(text, ' ') != NULL)
        return mpi_node_boot(text);
    if (!read_link(text, &fd, &seal))
        return xy_fail(XY_EUSAGE,
                       "%s is set to '%s', which is for processes that mpiexec starts; unset it",
                       XMPI_NODE_VARIABLE, text);
    node.has_secret = secret != NULL && xy_secret_read(secret, node.job.secret);
    unsetenv(XMPI_NODE_VARIABLE);
    unsetenv(XMPI_NODE_SECRET);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (!xy_channel_init(&node.link, fd, seal))
        return xy_fail_memory("connecting to mpiexec");
    node.is_node = true;
    xy_error_handler_set(say_at_head, NULL);
    st = say_hello();
    if (st == XY_OK)
        st = await(NODE_JOB, &frame);
    if (st == XY_OK && !read_job(&frame, &node.job))
        st = xy_fail(XY_EPARSE, "cannot understand the job sent by mpiexec; do all parts "
                                "of Xylem have the same version?");
    if (st == XY_OK)
        *job_p = &node.job;
    return st;
}

bool mpi_node_hides_launcher(bool is_mpi)
{
    return node.is_node && node.job.has_launcher &&
           (is_mpi || !node_is_over_mpi(node.job.transport));
}

const uint8_t *mpi_node_secret(void)
{
    return node.job.secret;
}

bool mpi_node_is_one(void)
{
    return node.is_node;
}

bool mpi_node_has_input(void)
{
    return node.job.has_input;
}

void mpi_node_hand_over(void)
{
    xy_channel_close(&node.link);
    node.is_node = false;
}

xy_status_t mpi_node_keep(void)
{
    char text[32], secret[2 * XY_SECRET_BYTES + 1];

    if (!node.is_node)
        return XY_OK;
    xy_secret_write(node.job.secret, secret);
    if (node.has_secret && setenv(XMPI_NODE_SECRET, secret, 1) != 0)
        return xy_fail_memory("making the environment");
    if (!node_link_text(&node.link, text, sizeof(text)) || setenv(XMPI_NODE_VARIABLE, text, 1) != 0)
        return xy_fail_memory("making the environment");
    fcntl(node.link.fd, F_SETFD, 0);
    return XY_OK;
}

/* ---- The end ---- */

/* End the process after some time, whatever a rank still holds. */
static void *end_anyway(void *code)
{
    const struct timespec pause = {.tv_sec = END_SECONDS};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    mpi_finish_now(*(int *)code);
}

static void leave(int code, bool ends_job)
{
    char fields[32];
    int n = snprintf(fields, sizeof(fields), "%d%c%d", code, '\0', ends_job);

    node_trace_drain();
    xy_channel_send(&node.link, NODE_EXIT, fields, (size_t)n + 1);
}

/* Also from a signal handler: no lock that is waited for without end, no formatting. What was
 * recorded goes first: the process ends after this message, whatever is still in the pipe. */
static void leave_with_job(int code)
{
    char fields[] = "000\0001";

    node_trace_drain();
    code &= 0377;
    fields[0] = (char)('0' + code / 100);
    fields[1] = (char)('0' + code / 10 % 10);
    fields[2] = (char)('0' + code % 10);
    if (mpi_survives && !mpi_finish_is_abort())
        fields[4] = '0' + NODE_EXIT_FAILED;
    xy_channel_send_last(&node.link, NODE_EXIT, fields, sizeof(fields));
}

void mpi_node_leave(int code, bool has_failed)
{
    if (node.is_node)
        leave(code, has_failed);
}

/* ---- While ranks run ---- */

/* End this process as the head asks, with a report if the reason is a time limit. */
static void end_as_told(const xy_frame_t *frame)
{
    static int code;
    node_fields_t fields = node_fields(frame);
    const char *why;
    long value = 1;

    node_field_number(&fields, 0, 255, &value);
    why = node_field(&fields);
    code = (int)value;
    process_thread_without_signals(end_anyway, &code);
    if (why != NULL && why[0] != '\0') {
        mpi_job_report(mpi_job, RANKS_SHOWN);
        mpi_check_end(&(mpi_check_end_t){
            .kind = XMPI_FINDING_TIME_LIMIT, .rank = -1, .other = -1, .message = why});
    }
    mpi_finish_job(code);
}

static void take_signal(const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long number;

    if (node_field_number(&fields, 1, SIGRTMAX, &number))
        kill(getpid(), (int)number);
}

static void input_taken(void)
{
    xy_channel_send(&node.link, NODE_INPUT_TAKEN, NULL, 0);
}

/* Thread: handle what the head sends until the connection ends, which ends the process. */
static void *serve(void *unused)
{
    xy_frame_t frame;

    (void)unused;
    for (;;) {
        xy_channel_answer_t answer = xy_channel_await(&node.link, 1e9, &frame);

        if (answer == XY_CHANNEL_END)
            mpi_finish_now(1);
        if (answer == XY_CHANNEL_NOTHING)
            continue;
        if (frame.kind == NODE_END)
            end_as_told(&frame);
        else if (frame.kind == NODE_SIGNAL)
            take_signal(&frame);
        else if (frame.kind == NODE_INPUT && node.job.has_input)
            node_input_take(&frame);
        else if (frame.kind == NODE_LOOK)
            mpi_live_asked();
        else if (frame.kind == NODE_PING)
            node_answer_ping(&frame);
        else
            node_survive_take(&frame);
        xy_frame_free(&frame);
    }
    return NULL;
}

/* ---- Connecting to the others ---- */

/* Send our card to the head and receive those of all processes; the caller frees them. */
static xy_status_t exchange(void *arg, const char *card, char **cards)
{
    xy_frame_t frame;
    node_fields_t fields;
    xy_status_t st;

    (void)arg;
    if (!xy_channel_send(&node.link, NODE_CARD, card, strlen(card)))
        return lost_head();
    st = await(NODE_CARDS, &frame);
    if (st != XY_OK)
        return st;
    fields = node_fields(&frame);
    for (int p = 0; p < node.job.processes && st == XY_OK; p++) {
        const char *one = node_field(&fields);

        cards[p] = one != NULL ? xy_strdup(one) : NULL;
        if (cards[p] == NULL)
            st = xy_fail_memory("connecting the processes");
    }
    xy_frame_free(&frame);
    return st;
}

/* Inside a library of the host, the calling rank is none: replaced functions behave as the C
 * library's. */
static void step_aside(bool is_inside)
{
    static _Thread_local process_t *process;
    static _Thread_local mpi_rank_t *rank;

    if (is_inside) {
        process = process_self;
        rank = mpi_self;
    }
    process_self = is_inside ? NULL : process;
    mpi_self = is_inside ? NULL : rank;
}

xy_status_t mpi_node_open(bool survives, xy_net_t **net_p)
{
    char address[64];
    xy_net_config_t config = {.process = node.job.process,
                              .processes = node.job.processes,
                              .transport = node.job.transport,
                              .is_local = node.job.is_local,
                              .exchange = exchange,
                              .mark = step_aside,
                              .measured = node.job.measured,
                              .measured_count = node.job.measured_count,
                              .seconds = OPEN_SECONDS};
    xy_status_t st;
    int code;

    memcpy(config.secret, node.job.secret, sizeof(config.secret));
    if (!node.job.is_local)
        xy_socket_tune(node.link.fd);
    if (xy_socket_address(node.link.fd, address))
        config.address = address;
    st = survives ? mpi_node_survive(&node.job) : XY_OK;
    if (st == XY_OK)
        st = xy_net_open(&config, net_p);
    if (st != XY_OK)
        return st;
    mpi_finish_before_end(leave_with_job);
    if (node.job.has_input)
        st = node_input_begin(input_taken, process_thread_without_signals);
    if (st != XY_OK)
        return st;
    xy_channel_send(&node.link, NODE_READY, NULL, 0);
    code = process_thread_without_signals(serve, NULL);
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread for the job's connection", "start");
}
