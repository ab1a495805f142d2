/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing files, which are collectives. One member of a process opens the file for all
 * of them; with several processes, that of rank 0 comes first and creates it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "mpi/io/calls.h"
#include "mpi/io/descriptor.h"
#include "mpi/io/io.h"
#include "mpi/io/io_represent.h"
#include "mpi/io/map.h"
#include "mpi/p2p/p2p.h"

/* The request of a member, and its result. */
typedef struct {
    const char *name;
    int amode;
    int64_t number; /* of the job, where it has several processes: names the shared pointer; or 0 */
    uint32_t context;
} wish_t;

typedef struct {
    io_shared_t *shared; /* with a reference for each member here; NULL: */
    int error;           /* errno */
    bool is_other;       /* members have named different files */
} answer_t;

/* ---- What the members of a process share ---- */

/* Where what one process stores into a mapping is what others read, at once. */
static bool is_local(int fd)
{
    enum { XFS = 0x58465342 };
    struct statfs about;

    if (fstatfs(fd, &about) != 0)
        return false;
    switch ((unsigned long)about.f_type) {
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case EXT4_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case XFS:
        return true;
    default:
        return false;
    }
}

static bool is_tmpfs(int fd)
{
    struct statfs about;

    return fstatfs(fd, &about) == 0 && (unsigned long)about.f_type == TMPFS_MAGIC;
}

/* Reads and writes need positions; and the open itself must not wait. */
static int refuse_kind(const char *name)
{
    struct stat about;

    if (stat(name, &about) != 0)
        return 0; /* the open says why */
    if (S_ISDIR(about.st_mode))
        return EISDIR;
    return S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) ? ESPIPE : 0;
}

/* A file that is only to be written is opened for both where that is allowed: for mappings. */
static int open_file(const char *name, int amode, int *fd_p)
{
    int flags = O_CLOEXEC | ((amode & MPI_MODE_CREATE) != 0 ? O_CREAT : 0);
    int error = refuse_kind(name);

    if (error != 0)
        return error;
    if ((amode & MPI_MODE_CREATE) != 0 && (amode & MPI_MODE_EXCL) != 0)
        flags |= O_EXCL;
    *fd_p = open(name, flags | ((amode & MPI_MODE_RDONLY) != 0 ? O_RDONLY : O_RDWR), 0666);
    if (*fd_p < 0 && errno == EACCES && (amode & MPI_MODE_WRONLY) != 0)
        *fd_p = open(name, flags | O_WRONLY, 0666);
    return *fd_p < 0 ? errno : 0;
}

/* Close the file and free what members of this process share. */
static void shared_destroy(io_shared_t *shared)
{
    io_own_destroy(shared);
    if (shared->fd >= 0) {
        io_map_touch(shared);
        close(shared->fd);
    }
    if (shared->counter_fd >= 0)
        close(shared->counter_fd);
    xy_free(shared->name);
    xy_free(shared->counter);
    pthread_mutex_destroy(&shared->turn);
    xy_free(shared);
}

void io_shared_release(io_shared_t *shared)
{
    /* acq_rel: what others did with it happens before it goes */
    if (atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) == 1)
        shared_destroy(shared);
}

/* ".data.xylem-4711-12" beside "data". */
static char *counter_name(const wish_t *wish)
{
    const char *slash = strrchr(wish->name, '/'), *base = slash != NULL ? slash + 1 : wish->name;
    size_t room = strlen(wish->name) + 64;
    char *name = xy_malloc(room);

    if (name != NULL)
        snprintf(name, room, "%.*s.%s.xylem-%lld-%u", (int)(base - wish->name), wish->name, base,
                 (long long)wish->number, (unsigned)wish->context);
    return name;
}

/* Open the file for the members of this process; returns an errno value, and *shared_p on success.
 */
static int shared_new(const wish_t *wish, int members, io_shared_t **shared_p)
{
    io_shared_t *shared = xy_calloc(1, sizeof(*shared));
    struct stat about;
    int error;

    if (shared == NULL)
        return ENOMEM;
    io_calls_choose();
    shared->fd = shared->counter_fd = -1;
    shared->amode = wish->amode;
    atomic_init(&shared->references, members);
    pthread_mutex_init(&shared->turn, NULL);
    shared->name = xy_strdup(wish->name);
    shared->counter = wish->number != 0 ? counter_name(wish) : NULL;
    error = shared->name != NULL && (shared->counter != NULL || wish->number == 0) &&
                    io_own_create(shared, mpi_job->workers)
                ? open_file(wish->name, wish->amode, &shared->fd)
                : ENOMEM;
    if (error != 0) {
        shared_destroy(shared);
        return error;
    }
    if ((wish->amode & MPI_MODE_APPEND) != 0 && fstat(shared->fd, &about) == 0)
        shared->start = about.st_size;
    atomic_init(&shared->pointer, shared->start);
    shared->is_local = is_local(shared->fd);
    shared->may_map = (wish->amode & MPI_MODE_RDONLY) == 0 && shared->is_local;
    shared->is_memory = is_tmpfs(shared->fd);
    *shared_p = shared;
    return 0;
}

/* Names may differ where they name the same file. */
static bool is_other(const io_shared_t *shared, const char *name)
{
    struct stat own, other;

    if (strcmp(shared->name, name) == 0)
        return false;
    return stat(name, &other) != 0 || fstat(shared->fd, &own) != 0 || own.st_dev != other.st_dev ||
           own.st_ino != other.st_ino;
}

/* Leader: open the file for all members and check that all name the same one. */
static void open_leader(void *const *inputs, int size, void *const *outputs)
{
    answer_t answer = {.shared = NULL};

    answer.error = shared_new(inputs[0], size, &answer.shared);
    for (int r = 1; r < size && answer.error == 0 && !answer.is_other; r++)
        answer.is_other = is_other(answer.shared, ((const wish_t *)inputs[r])->name);
    if (answer.is_other) {
        shared_destroy(answer.shared);
        answer.shared = NULL;
    }
    for (int r = 0; r < size; r++)
        *(answer_t *)outputs[r] = answer;
}

/* ---- A member's object ---- */

/* Free a member's file object; drops its reference to the shared part. */
static void file_destroy(mpi_file_t *file)
{
    if (file->shared != NULL)
        io_shared_release(file->shared);
    io_view_release(file->view);
    mpi_info_destroy(file->info);
    if (file->here != NULL && file->here != file->comm)
        mpi_comm_release(file->here);
    if (file->comm != NULL) {
        file->comm->file = NULL;
        mpi_comm_release(file->comm);
    }
    mpi_life_end(&file->life);
    mpi_life_bury(file);
}

/* The file's own communicator, with the handler of MPI_FILE_NULL, and that of the members here. */
static int make_comms(mpi_comm_t *parent, mpi_file_t *file, const char *name)
{
    mpi_env_t *env = mpi_env_self();
    int error = mpi_comm_duplicate(parent, &file->comm);

    if (error != MPI_SUCCESS)
        return error;
    mpi_errhandler_release(mpi_errhandler_of(file->comm->errhandler));
    file->comm->errhandler = env != NULL ? env->file_errhandler : MPI_ERRORS_RETURN;
    mpi_errhandler_hold(mpi_errhandler_of(file->comm->errhandler));
    file->comm->context |= XMPI_CONTEXT_SHADOW;
    file->comm->file = (void *)file;
    snprintf(file->comm->name, sizeof(file->comm->name), "the file %s", name);
    file->here = file->comm;
    if (!mpi_comm_is_spread(file->comm))
        return MPI_SUCCESS;
    error = mpi_comm_split(file->comm, mpi_survives ? file->comm->rank : mpi_job->process,
                           file->comm->rank, &file->here);
    if (error == MPI_SUCCESS)
        strcpy(file->here->name, file->comm->name);
    return error;
}

/* The process of rank 0 creates the file, the others then find it. Returns an MPI error code; that
 * of the system is answer->error. */
static int open_spread(mpi_file_t *file, wish_t wish, answer_t *answer)
{
    io_word_t word = {.value = file->comm->rank == 0 ? (int64_t)getpid() : 0};
    bool is_first = mpi_survives ? file->comm->rank == 0
                                 : mpi_rank_is_here(mpi_job, mpi_comm_world_rank(file->comm, 0));
    int error = io_agree(file->comm, &word);

    if (error != MPI_SUCCESS)
        return error;
    wish.number = word.total;
    wish.context = file->comm->context & ~XMPI_CONTEXT_SHADOW;
    if (is_first)
        mpi_coll_agree(file->here, &wish, answer, open_leader);
    word.error = answer->is_other ? EXDEV : answer->error;
    error = io_agree(file->comm, &word);
    if (error == MPI_SUCCESS && word.failure == 0) {
        if (!is_first) {
            wish.amode &= ~MPI_MODE_EXCL;
            mpi_coll_agree(file->here, &wish, answer, open_leader);
            word.error = answer->is_other ? EXDEV : answer->error;
        }
        error = io_agree(file->comm, &word);
    }
    answer->error = word.failure;
    answer->is_other = word.failure == EXDEV;
    return error;
}

static void open_here(mpi_file_t *file, const wish_t *wish, answer_t *answer)
{
    if (mpi_dispatch.check.agreement != NULL)
        mpi_dispatch.check.agreement(file->comm);
    mpi_coll_agree(file->here, wish, answer, open_leader);
}

/* In a job that survives: all live members have the file, or none. The failure that keeps this one
 * from having it was raised; otherwise raise that of another. */
static int agree_open(mpi_comm_t *parent, int error)
{
    bool is_whole;

    if (!mpi_survives || !mpi_comm_is_spread(parent) ||
        mpi_agree_all(parent->owner, parent, !mpi_survive_is_class(error), &is_whole) ||
        error != MPI_SUCCESS)
        return error;
    return io_error_null(MPIX_ERR_PROC_FAILED, "a rank has failed while the file was opened");
}

/* Open the file collectively and make this member's object; *file_p is valid only on success. */
static int file_new(mpi_comm_t *parent, const wish_t *wish, mpi_file_t **file_p)
{
    mpi_file_t *file = xy_calloc(1, sizeof(*file));
    answer_t answer = {.shared = NULL};
    int error;

    if (file == NULL)
        return io_error_null(MPI_ERR_NO_MEM, "memory ran out for a file");
    mpi_life_begin(&file->life, XMPI_LIFE_FILE);
    file->owner = parent->owner;
    error = make_comms(parent, file, wish->name);
    if (error == MPI_SUCCESS && io_is_spread(file))
        error = open_spread(file, *wish, &answer);
    else if (error == MPI_SUCCESS)
        open_here(file, wish, &answer);
    file->shared = answer.shared;
    error = agree_open(parent, error);
    if (error != MPI_SUCCESS) {
        file_destroy(file);
        return error;
    }
    *file_p = file;
    if (!answer.is_other && answer.error == 0)
        return MPI_SUCCESS;
    file_destroy(file);
    if (answer.is_other)
        return io_error_null(MPI_ERR_NOT_SAME, "ranks name different files: this one names %s",
                             wish->name);
    return io_error_null(io_error_class(answer.error), "%s: %s", wish->name,
                         strerror(answer.error));
}

/* All bytes of the file, and the pointers at its beginning or end. */
static int begin(mpi_file_t *file, MPI_Info info)
{
    mpi_type_t *byte = mpi_type_of(MPI_BYTE);
    int error_class;
    const char *why = io_view_create(0, byte, byte, NULL, false, &error_class, &file->view);

    if (why == NULL && io_info_apply(file, mpi_info_of(info)) != XY_OK) {
        error_class = MPI_ERR_NO_MEM;
        why = "memory ran out for hints";
    }
    if (why != NULL)
        return io_error_null(error_class, "%s", why);
    file->position = file->shared->start;
    return MPI_SUCCESS;
}

/* ---- The calls ---- */

enum { ACCESSES = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR };

static const struct {
    int bit;
    const char *name;
} modes[] = {{MPI_MODE_RDONLY, "MPI_MODE_RDONLY"},
             {MPI_MODE_WRONLY, "MPI_MODE_WRONLY"},
             {MPI_MODE_RDWR, "MPI_MODE_RDWR"},
             {MPI_MODE_CREATE, "MPI_MODE_CREATE"},
             {MPI_MODE_EXCL, "MPI_MODE_EXCL"},
             {MPI_MODE_DELETE_ON_CLOSE, "MPI_MODE_DELETE_ON_CLOSE"},
             {MPI_MODE_UNIQUE_OPEN, "MPI_MODE_UNIQUE_OPEN"},
             {MPI_MODE_SEQUENTIAL, "MPI_MODE_SEQUENTIAL"},
             {MPI_MODE_APPEND, "MPI_MODE_APPEND"}};

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static void describe_amode(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                           size_t room)
{
    int amode = ((const wish_t *)topic->data)->amode;
    size_t used = (size_t)snprintf(text, room, " with ");
    const char *between = "";

    (void)other;
    for (int i = 0; i < MODES && used < room; i++)
        if ((amode & modes[i].bit) != 0) {
            used += (size_t)snprintf(text + used, room - used, "%s%s", between, modes[i].name);
            between = " | ";
        }
}

/* Check the combination of access modes; returns an MPI error code. */
static int check_amode(int amode)
{
    int access = amode & ACCESSES, known = 0;

    for (int i = 0; i < MODES; i++)
        known |= modes[i].bit;
    if ((amode & ~known) != 0)
        return io_error_null(MPI_ERR_AMODE, "the access mode 0x%x has bits that are not a mode",
                             (unsigned)mpi_number_passed(amode));
    if (access == 0 || (access & (access - 1)) != 0)
        return io_error_null(MPI_ERR_AMODE,
                             "the access mode must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY "
                             "and MPI_MODE_RDWR; it has %s",
                             access == 0 ? "none" : "several");
    if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
        return io_error_null(
            MPI_ERR_AMODE,
            "MPI_MODE_RDONLY cannot be combined with MPI_MODE_CREATE or MPI_MODE_EXCL");
    if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
        return io_error_null(MPI_ERR_AMODE,
                             "MPI_MODE_SEQUENTIAL cannot be combined with MPI_MODE_RDWR");
    return MPI_SUCCESS;
}

/* Check the arguments of MPI_File_open; returns an MPI error code. */
static int check_arguments(MPI_Comm handle, const char *filename, int amode, MPI_Info info)
{
    const mpi_comm_t *comm = mpi_comm_of(handle);

    if (comm == NULL)
        return io_error_null(MPI_ERR_COMM, "the communicator is %s",
                             handle == MPI_COMM_NULL ? "MPI_COMM_NULL" : "not a communicator");
    if (mpi_link_of(comm->group) != 0)
        return io_error_null(MPI_ERR_UNSUPPORTED_OPERATION,
                             "%s has ranks of another job; a file needs those of one job",
                             mpi_comm_name(comm));
    if (comm->remote != NULL)
        return io_error_null(MPI_ERR_COMM, "%s is an intercommunicator: a file needs one group",
                             mpi_comm_name(comm));
    if (filename[0] == '\0')
        return io_error_null(MPI_ERR_BAD_FILE, "the name of the file is empty");
    if (info != MPI_INFO_NULL && mpi_info_of(info) == NULL)
        return io_error_null(MPI_ERR_INFO, "the info object is not valid");
    return check_amode(amode);
}

/* "tmpfs:name" names a file system in other libraries; a path may have a colon, too. */
int impl_file_open(MPI_Comm handle, const char *filename, int amode, MPI_Info info,
                   MPI_File *handle_p)
{
    wish_t wish = {.name = filename, .amode = amode};
    mpi_topic_t topic = {
        .value = mpi_topic_add(0, amode), .data = &wish, .describe = describe_amode};
    int error = check_arguments(handle, filename, amode, info);
    mpi_file_t *file = NULL;

    *handle_p = MPI_FILE_NULL;
    if (error != MPI_SUCCESS)
        return error;
    mpi_self->topic = &topic;
    error = file_new(mpi_comm_of(handle), &wish, &file);
    mpi_self->topic = NULL;
    if (error != MPI_SUCCESS || file == NULL)
        return error;
    error = begin(file, info);
    if (error != MPI_SUCCESS) {
        file_destroy(file);
        return error;
    }
    *handle_p = (MPI_File)(void *)file;
    return MPI_SUCCESS;
}

static int refuse_open_access(mpi_file_t *file)
{
    if (file->split.name != NULL)
        return mpi_error(file->comm, MPI_ERR_OTHER, "%s_begin has had no %s_end", file->split.name,
                         file->split.name);
    if (file->pending > 0)
        return mpi_error(file->comm, MPI_ERR_PENDING,
                         "%d nonblocking access%s to %s %s not been completed by a wait or a test",
                         file->pending, file->pending == 1 ? "" : "es", file->shared->name,
                         file->pending == 1 ? "has" : "have");
    return MPI_SUCCESS;
}

/* End the job: a member has made other collective accesses. */
static void refuse_accesses(const mpi_file_t *file, int member)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_DISAGREEMENT,
                             .rank = mpi_comm_world_rank(file->comm, 0),
                             .other = mpi_comm_world_rank(file->comm, member),
                             .sites = {mpi_self->call.caller}};
    char place[160];

    mpi_report_claim();
    mpi_caller_describe(mpi_self->call.caller, place, sizeof(place));
    mpi_finding_end(&finding,
                    "ranks disagree about the collective accesses to %s before MPI_File_close%s%s: "
                    "those of rank %d are not those of rank %d; all members must make the same "
                    "calls in the same order",
                    mpi_comm_name(file->comm), place[0] != '\0' ? " " : "", place, finding.other,
                    finding.rank);
    mpi_job->abort(1);
}

/* Wait until all members have called MPI_File_close, or have failed. */
static void meet(mpi_file_t *file)
{
    io_word_t word = {.key = file->collectives};
    bool is_whole;

    if (mpi_survives && io_is_spread(file)) {
        mpi_agree_all(file->owner, file->comm, true, &is_whole);
        return;
    }
    io_agree(file->comm, &word);
    if (word.different >= 0)
        refuse_accesses(file, word.different);
}

/* When all members have come here, no access of theirs is on its way. */
int impl_file_close(MPI_File *handle_p)
{
    mpi_file_t *file = mpi_file_of(*handle_p);
    bool is_first;
    int error;

    if (file == NULL)
        return mpi_file_refuse(*handle_p);
    io_note(file);
    is_first = mpi_survives || file->comm->rank == 0;
    error = refuse_open_access(file);
    if (error != MPI_SUCCESS)
        return error;
    /* It is gone when any member returns; those that still use it have it open. Rank 0 may have
     * failed. */
    if (is_first && (file->shared->amode & MPI_MODE_DELETE_ON_CLOSE) != 0)
        unlink(file->shared->name);
    meet(file);
    if (mpi_dispatch.check.close != NULL)
        mpi_dispatch.check.close(file);
    if (is_first)
        io_pointer_remove(file->shared);
    file_destroy(file);
    *handle_p = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

int impl_file_delete(const char *filename, MPI_Info info)
{
    struct stat about;

    if (info != MPI_INFO_NULL && mpi_info_of(info) == NULL)
        return io_error_null(MPI_ERR_INFO, "the info object is not valid");
    if (stat(filename, &about) == 0 && S_ISDIR(about.st_mode))
        return io_error_null(MPI_ERR_BAD_FILE, "%s is a directory", filename);
    if (unlink(filename) != 0)
        return io_error_null(io_error_class(errno), "%s: %s", filename, strerror(errno));
    return MPI_SUCCESS;
}
