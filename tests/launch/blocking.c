/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that waits in the C library lets the other ranks of its core run. Rank 0 waits, each time
 * in another way, for what rank 1 does afterwards; both are on one core, so that without it neither
 * would ever go on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* In memory that both ranks see. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t lock;
    pthread_spinlock_t spin;
    pthread_barrier_t barrier;
    sem_t semaphore;
    _Atomic int word;
    _Atomic int step; /* rank 1's progress */
    int pipe[2], back[2], sockets[2], listener;
    int queue, set;
    mqd_t messages;
    char big[1 << 20];
} shared_t;

static shared_t *shared;
static int rank;
static char byte;
static MPI_Comm pair; /* of ranks 0 and 1 */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void give(void)
{
    CHECK(write(shared->pipe[1], "x", 1) == 1);
}

static void take(void)
{
    CHECK(read(shared->pipe[0], &byte, 1) == 1);
}

/* ---- Descriptors: `wait` on rank 0, `act` on rank 1 ---- */

static void wait_read(void)
{
    take();
}

static void wait_readv(void)
{
    struct iovec piece = {&byte, 1};

    CHECK(readv(shared->pipe[0], &piece, 1) == 1);
}

static void wait_poll(void)
{
    struct pollfd one = {.fd = shared->pipe[0], .events = POLLIN};

    CHECK(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
    take();
}

static void wait_ppoll(void)
{
    struct pollfd one = {.fd = shared->pipe[0], .events = POLLIN};
    struct timespec limit = {100, 0};

    CHECK(ppoll(&one, 1, &limit, NULL) == 1 && limit.tv_sec == 100);
    take();
}

/* A rank that only looks, again and again. */
static void wait_looking(void)
{
    struct pollfd one = {.fd = shared->pipe[0], .events = POLLIN};

    while (poll(&one, 1, 0) == 0)
        ;
    take();
}

static void wait_select(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(shared->pipe[0], &set);
    CHECK(select(shared->pipe[0] + 1, &set, NULL, NULL, NULL) == 1);
    CHECK(FD_ISSET(shared->pipe[0], &set));
    take();
}

static void wait_pselect(void)
{
    struct timespec limit = {100, 0};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(shared->pipe[0], &set);
    CHECK(pselect(shared->pipe[0] + 1, &set, NULL, NULL, &limit, NULL) == 1);
    take();
}

static void wait_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd = epoll_create1(0);

    CHECK(epoll_ctl(fd, EPOLL_CTL_ADD, shared->pipe[0], &event) == 0);
    CHECK(epoll_wait(fd, &event, 1, -1) == 1);
    take();
    CHECK(epoll_pwait(fd, &event, 1, 1, NULL) == 0);
    close(fd);
}

/* More than fits into a pipe. */
static void wait_write(void)
{
    CHECK(write(shared->back[1], shared->big, sizeof(shared->big)) == sizeof(shared->big));
}

static void act_drain(void)
{
    static char sink[1 << 16];
    size_t left = sizeof(shared->big);

    while (left > 0) {
        ssize_t n = read(shared->back[0], sink, sizeof(sink));

        CHECK(n > 0);
        left -= (size_t)n;
    }
}

static void wait_recv(void)
{
    char buffer[4];

    CHECK(recv(shared->sockets[0], buffer, 4, MSG_WAITALL) == 4);
    CHECK(recvfrom(shared->sockets[0], buffer, 1, 0, NULL, NULL) == 1);
}

static void act_send(void)
{
    CHECK(send(shared->sockets[1], "ab", 2, 0) == 2);
    sched_yield();
    CHECK(send(shared->sockets[1], "cd", 2, 0) == 2);
    sched_yield();
    CHECK(sendto(shared->sockets[1], "e", 1, 0, NULL, 0) == 1);
}

static struct sockaddr_un address(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    strcpy(a.sun_path, "socket");
    return a;
}

static void wait_accept(void)
{
    int fd = accept(shared->listener, NULL, NULL);

    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && byte == 'c');
    close(fd);
}

static void act_connect(void)
{
    struct sockaddr_un a = address();
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
    sched_yield();
    CHECK(write(fd, "c", 1) == 1);
    close(fd);
}

/* A FILE on a descriptor. */
static void wait_fgets(void)
{
    FILE *file = fdopen(dup(shared->pipe[0]), "r");
    char line[16];

    CHECK(fgets(line, sizeof(line), file) != NULL && strcmp(line, "line\n") == 0);
    fclose(file);
}

static void act_line(void)
{
    CHECK(write(shared->pipe[1], "line\n", 5) == 5);
}

/* ---- Locks ---- */

static int file_lock(int operation)
{
    int fd = open("locked", O_RDWR | O_CREAT, 0666);

    CHECK(fd >= 0 && flock(fd, operation) == 0);
    return fd;
}

static void hold_flock(void)
{
    int fd = file_lock(LOCK_EX);

    give();
    MPI_Barrier(pair);
    sched_yield();
    shared->step = 1;
    close(fd);
}

static void wait_flock(void)
{
    take();
    MPI_Barrier(pair);
    close(file_lock(LOCK_EX));
    CHECK(shared->step == 1);
}

static void record_lock(int command, int type, int fd)
{
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_len = 10};

    CHECK(fcntl(fd, command, &lock) == 0);
}

static void hold_record(void)
{
    int fd = open("recorded", O_RDWR | O_CREAT, 0666);

    record_lock(F_SETLKW, F_WRLCK, fd);
    give();
    MPI_Barrier(pair);
    sched_yield();
    shared->step = 1;
    record_lock(F_SETLK, F_UNLCK, fd);
    close(fd);
}

static void wait_record(void)
{
    int fd = open("recorded", O_RDWR | O_CREAT, 0666);

    take();
    CHECK(lockf(fd, F_TLOCK, 0) < 0);
    MPI_Barrier(pair);
    record_lock(F_SETLKW, F_WRLCK, fd);
    CHECK(shared->step == 1);
    close(fd);
}

static void hold_mutex(void)
{
    pthread_mutex_lock(&shared->mutex);
    pthread_spin_lock(&shared->spin);
    pthread_rwlock_wrlock(&shared->lock);
    MPI_Barrier(pair);
    sched_yield();
    shared->step++;
    pthread_mutex_unlock(&shared->mutex);
    sched_yield();
    shared->step++;
    pthread_spin_unlock(&shared->spin);
    sched_yield();
    shared->step++;
    pthread_rwlock_unlock(&shared->lock);
}

static void wait_mutex(void)
{
    struct timespec soon = {0, 0};

    MPI_Barrier(pair);
    CHECK(pthread_mutex_timedlock(&shared->mutex, &soon) == ETIMEDOUT);
    pthread_mutex_lock(&shared->mutex);
    CHECK(shared->step >= 1);
    pthread_mutex_unlock(&shared->mutex);
    pthread_spin_lock(&shared->spin);
    CHECK(shared->step >= 2);
    pthread_spin_unlock(&shared->spin);
    pthread_rwlock_rdlock(&shared->lock);
    CHECK(shared->step == 3);
    pthread_rwlock_unlock(&shared->lock);
}

static void wait_condition(void)
{
    struct timespec soon = {1, 0};
    int code;

    pthread_mutex_lock(&shared->mutex);
    /* The other one may come in between, and then its signal may come first. */
    code = pthread_cond_timedwait(&shared->condition, &shared->mutex, &soon);
    CHECK(code == ETIMEDOUT || (code == 0 && shared->step == 1));
    while (shared->step == 0)
        pthread_cond_wait(&shared->condition, &shared->mutex);
    shared->step = 2;
    pthread_cond_signal(&shared->condition);
    pthread_mutex_unlock(&shared->mutex);
}

static void act_condition(void)
{
    pthread_mutex_lock(&shared->mutex);
    shared->step = 1;
    pthread_cond_signal(&shared->condition);
    while (shared->step != 2)
        pthread_cond_wait(&shared->condition, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
}

static void meet(void)
{
    pthread_barrier_wait(&shared->barrier);
}

static void wait_semaphore(void)
{
    sem_wait(&shared->semaphore);
    while (sem_trywait(&shared->semaphore) != 0)
        ;
}

static void act_semaphore(void)
{
    sem_post(&shared->semaphore);
    sched_yield();
    sem_post(&shared->semaphore);
}

static void wait_futex(void)
{
    while (shared->word == 0)
        syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void act_futex(void)
{
    shared->word = 1;
    syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- Threads and children ---- */

static void *thread_takes(void *unused)
{
    take();
    return unused;
}

static void wait_join(void)
{
    pthread_t thread;
    void *value;

    CHECK(pthread_create(&thread, NULL, thread_takes, &byte) == 0);
    CHECK(pthread_join(thread, &value) == 0 && value == &byte);
}

static int c11_takes(void *unused)
{
    (void)unused;
    take();
    return 7;
}

static void wait_c11(void)
{
    struct timespec time = {0, 1000};
    thrd_t thread;
    int value;

    CHECK(thrd_create(&thread, c11_takes, NULL) == thrd_success);
    CHECK(thrd_join(thread, &value) == thrd_success && value == 7);
    thrd_sleep(&time, NULL);
}

static pid_t child_that_takes(int code)
{
    pid_t pid = fork();

    if (pid == 0) {
        usleep(1000);
        _exit(read(shared->pipe[0], &byte, 1) == 1 ? code : 99);
    }
    return pid;
}

static void wait_child(void)
{
    int status;
    pid_t pid = child_that_takes(3);

    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
}

static void wait_waitid(void)
{
    siginfo_t info;
    pid_t pid = child_that_takes(4);

    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED) == 0 && info.si_status == 4);
}

static void act_fifo(void)
{
    int fd = open("fifo", O_WRONLY | O_NONBLOCK);

    while (fd < 0) {
        usleep(1000);
        fd = open("fifo", O_WRONLY | O_NONBLOCK);
    }
    CHECK(write(fd, "text\n", 5) == 5);
    close(fd);
}

/* Each end waits for the other. */
static void wait_open(void)
{
    FILE *file;
    int fd = open("fifo", O_RDONLY);

    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && byte == 'f');
    close(fd);
    file = fopen("fifo", "w");
    CHECK(file != NULL && fputc('g', file) == 'g' && fclose(file) == 0);
}

static void act_open(void)
{
    FILE *file = fopen("fifo", "w");
    int fd;

    CHECK(file != NULL && fputc('f', file) == 'f' && fclose(file) == 0);
    fd = open("fifo", O_RDONLY);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && byte == 'g');
    close(fd);
}

/* No server is asked: what can be seen is that the answer comes back. */
static void look_up(void)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found;
    char name[64];

    CHECK(getaddrinfo("127.0.0.1", "80", &hints, &found) == 0);
    CHECK(getnameinfo(found->ai_addr, found->ai_addrlen, name, sizeof(name), NULL, 0,
                      NI_NUMERICHOST) == 0);
    CHECK(strcmp(name, "127.0.0.1") == 0);
    freeaddrinfo(found);
    CHECK(getaddrinfo("no address", NULL, &hints, &found) == EAI_NONAME);
}

static void wait_system(void)
{
    CHECK(system("read -r line <fifo; test \"$line\" = text") == 0);
}

static void wait_popen(void)
{
    FILE *file = popen("cat <fifo; exit 5", "r");
    char line[16];
    int status;

    CHECK(file != NULL && fgets(line, sizeof(line), file) != NULL && strcmp(line, "text\n") == 0);
    status = pclose(file);
    CHECK(WEXITSTATUS(status) == 5);
}

/* ---- Queues ---- */

static void wait_queue(void)
{
    struct {
        long type;
        char text[4];
    } message;
    struct sembuf down = {.sem_num = 0, .sem_op = -1};

    CHECK(msgrcv(shared->queue, &message, sizeof(message.text), 0, 0) == 4);
    CHECK(semop(shared->set, &down, 1) == 0);
    if (shared->messages >= 0)
        CHECK(mq_receive(shared->messages, shared->big, sizeof(shared->big), NULL) == 4);
}

static void act_queue(void)
{
    struct {
        long type;
        char text[4];
    } message = {.type = 1};
    struct sembuf up = {.sem_num = 0, .sem_op = 1};

    sched_yield();
    CHECK(msgsnd(shared->queue, &message, sizeof(message.text), 0) == 0);
    sched_yield();
    CHECK(semop(shared->set, &up, 1) == 0);
    sched_yield();
    if (shared->messages >= 0)
        CHECK(mq_send(shared->messages, message.text, 4, 0) == 0);
}

static const struct {
    const char *name;
    void (*wait)(void);
    void (*act)(void);
} all[] = {
    {"read", wait_read, give},
    {"readv", wait_readv, give},
    {"poll", wait_poll, give},
    {"ppoll", wait_ppoll, give},
    {"looking", wait_looking, give},
    {"select", wait_select, give},
    {"pselect", wait_pselect, give},
    {"epoll", wait_epoll, give},
    {"write", wait_write, act_drain},
    {"recv", wait_recv, act_send},
    {"accept", wait_accept, act_connect},
    {"fgets", wait_fgets, act_line},
    {"flock", wait_flock, hold_flock},
    {"record", wait_record, hold_record},
    {"mutex", wait_mutex, hold_mutex},
    {"condition", wait_condition, act_condition},
    {"barrier", meet, meet},
    {"semaphore", wait_semaphore, act_semaphore},
    {"futex", wait_futex, act_futex},
    {"join", wait_join, give},
    {"c11", wait_c11, give},
    {"child", wait_child, give},
    {"waitid", wait_waitid, give},
    {"system", wait_system, act_fifo},
    {"popen", wait_popen, act_fifo},
    {"queue", wait_queue, act_queue},
    {"open", wait_open, act_open},
    {"hosts", look_up, look_up},
};

static void set_up(void)
{
    struct sockaddr_un a = address();
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;

    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &condition);
    pthread_rwlock_init(&shared->lock, NULL);
    pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, NULL, 2);
    sem_init(&shared->semaphore, 1, 0);
    CHECK(pipe(shared->pipe) == 0 && pipe(shared->back) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, shared->sockets) == 0);
    shared->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink("socket");
    CHECK(bind(shared->listener, (struct sockaddr *)&a, sizeof(a)) == 0);
    CHECK(listen(shared->listener, 1) == 0);
    shared->queue = msgget(IPC_PRIVATE, 0600);
    shared->set = semget(IPC_PRIVATE, 1, 0600);
    CHECK(shared->queue >= 0 && shared->set >= 0);
    /* Not every machine has this kind. */
    shared->messages = mq_open("/xylem-blocking-test", O_RDWR | O_CREAT, 0600, NULL);
    mq_unlink("/xylem-blocking-test");
}

int main(int argc, char **argv)
{
    void *address_of = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &pair);
    if (rank == 0)
        address_of = shared =
            mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MPI_Bcast(&address_of, sizeof(address_of), MPI_BYTE, 0, MPI_COMM_WORLD);
    shared = address_of;
    if (rank == 0)
        set_up();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (argc > 1 && strcmp(argv[1], all[i].name) != 0)
            continue;
        shared->step = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%s\n", all[i].name);
            all[i].wait();
        } else if (rank == 1) {
            all[i].act();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&pair);
    if (rank == 0) {
        msgctl(shared->queue, IPC_RMID, NULL);
        semctl(shared->set, 0, IPC_RMID);
    }
    MPI_Finalize();
    return 0;
}
