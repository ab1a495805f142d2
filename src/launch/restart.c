/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the launcher again with libraries preloaded: those that -x LD_PRELOAD=... names, and
 * those that a program's libraries turn out to need (image/preload.c). The ranks and the processes
 * they start see LD_PRELOAD as the user has set it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/launch_node.h"
#include "mpi/bindings/bindings.h"

/* The part of LD_PRELOAD that was added by the launcher that started this one. */
static const char added_name[] = "XYLEM_PRELOADED";

static struct {
    char **argv;
    int directory; /* where the launcher was started, before -wdir */
    char *all;     /* LD_PRELOAD as the dynamic linker has read it; or NULL */
    char *added;   /* the end of it, or NULL */
    char *files;   /* `all` with whole paths */
} start = {.directory = -1};

static xy_status_t set(const char *name, const char *value)
{
    int code = value != NULL && *value != '\0' ? setenv(name, value, 1) : unsetenv(name);

    return code == 0 ? XY_OK : xy_fail_memory("making the environment");
}

static char *copy(const char *text)
{
    return text != NULL ? xy_strdup(text) : NULL;
}

/* The same list with paths that hold in every directory; those of `list` are relative to `here`,
 * which may be NULL. */
static char *make_absolute(const char *list, const char *here)
{
    xy_text_t text = XY_TEXT_INIT;

    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ": ");
        bool is_relative = *list != '/' && memchr(list, '/', n) != NULL && here != NULL;

        xy_text_addf(&text, "%s%s%s%.*s", text.length > 0 ? ":" : "", is_relative ? here : "",
                     is_relative ? "/" : "", (int)n, list);
        list += n;
        list += strspn(list, ": ");
    }
    return text.s;
}

xy_status_t mpi_restart_note(int argc, char **argv)
{
    char *here = getcwd(NULL, 0);
    size_t user;
    char *list;
    xy_status_t st;

    /* Parsing the options reorders them. */
    start.argv = xy_calloc((size_t)argc + 1, sizeof(char *));
    start.all = copy(getenv("LD_PRELOAD"));
    start.added = copy(getenv(added_name));
    start.files = make_absolute(start.all, here);
    free(here);
    if (start.argv == NULL)
        return xy_fail_memory("starting the job");
    memcpy(start.argv, argv, (size_t)argc * sizeof(char *));
    if (start.added == NULL || start.all == NULL || strlen(start.added) > strlen(start.all))
        return XY_OK;
    user = strlen(start.all) - strlen(start.added);
    list = xy_sprintf("%.*s", (int)(user > 0 ? user - 1 : 0), start.all);
    if (list == NULL)
        return xy_fail_memory("making the environment");
    st = set("LD_PRELOAD", list);
    xy_free(list);
    return st == XY_OK ? set(added_name, NULL) : st;
}

void mpi_restart_keep_directory(void)
{
    start.directory = open(".", O_PATH | O_CLOEXEC);
}

const char *mpi_restart_preloaded(void)
{
    return start.files;
}

/* `fd` is the executable; -1: the one that runs. */
static xy_status_t start_again(const char *user, const char *added, int fd)
{
    const char *between = *user != '\0' && *added != '\0' ? ":" : "";
    char *all = xy_sprintf("%s%s%s", user, between, added);
    xy_status_t st = all != NULL ? XY_OK : xy_fail_memory("making the environment");

    if (st == XY_OK)
        st = set("LD_PRELOAD", all);
    if (st == XY_OK)
        st = set(added_name, added);
    xy_free(all);
    if (st != XY_OK)
        return st;
    if (start.directory >= 0 && fchdir(start.directory) != 0)
        return xy_fail_errno(errno, ".", "change to");
    st = mpi_node_keep();
    if (st != XY_OK)
        return st;
    if (fd >= 0)
        fexecve(fd, start.argv, environ);
    else
        execve("/proc/self/exe", start.argv, environ);
    return xy_fail_errno(errno, "/proc/self/exe", "start again");
}

char *const *mpi_restart_arguments(void)
{
    return start.argv;
}

char *mpi_restart_directory(void)
{
    char name[64], path[4096];
    ssize_t n;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", start.directory);
    n = readlink(name, path, sizeof(path));
    return n > 0 && n < (ssize_t)sizeof(path) ? xy_strndup(path, (size_t)n) : NULL;
}

void mpi_restart_go_back(void)
{
    if (start.directory >= 0 && fchdir(start.directory) != 0)
        xy_fail_errno(errno, ".", "change to");
}

void mpi_restart_as_node(void)
{
    mpi_restart_go_back();
    if (execve("/proc/self/exe", start.argv, environ) != 0)
        xy_fail_errno(errno, "/proc/self/exe", "start again");
}

static bool is_own(const char *entry)
{
    for (char **given = environ; *given != NULL; given++)
        if (*given == entry)
            return false;
    return true;
}

/* The value of LD_PRELOAD that a part's ranks will see, "" without one; free it. */
static xy_status_t wanted(mpi_part_t *part, const mpi_launch_values_t *first, char **value_p)
{
    xy_status_t st = mpi_launch_environment(part, first, XMPI_LAUNCHED_RANK);
    const char *value = "";

    if (st != XY_OK)
        return st;
    for (char **entry = part->environment; *entry != NULL; entry++)
        if (strncmp(*entry, "LD_PRELOAD=", 11) == 0)
            value = *entry + 11;
    *value_p = xy_strdup(value);
    for (char **entry = part->environment; *entry != NULL; entry++)
        if (is_own(*entry))
            xy_free(*entry);
    xy_free(part->environment);
    part->environment = NULL;
    return *value_p != NULL ? XY_OK : xy_fail_memory("making the environment");
}

/* Split `list` into tools, of which each rank loads a copy, and libraries of the process. This
 * process needs no tool; it could not even start with one whose MPI library is not installed and is
 * translated in the ranks. */
static xy_status_t split(const char *list, char **tools_p, char **others_p)
{
    char *here = mpi_restart_directory();
    char *files = make_absolute(list, here);
    xy_text_t tools = XY_TEXT_INIT, others = XY_TEXT_INIT;

    for (char *rest = files, *file; (file = strsep(&rest, ":")) != NULL;) {
        xy_text_t *text = *file == '/' && process_library_is_tool(file) ? &tools : &others;

        xy_text_addf(text, "%s%s", text->length > 0 ? ":" : "", file);
    }
    xy_free(files);
    xy_free(here);
    *tools_p = tools.s;
    *others_p = others.s;
    return tools.failed || others.failed ? xy_fail_memory("making the environment") : XY_OK;
}

/* Load the libraries of `value`, which -x LD_PRELOAD=... has set: tools in the ranks, others in
 * this process, which starts again unless it has them. */
static xy_status_t preload(const char *value)
{
    const char *user = getenv("LD_PRELOAD");
    char *tools = NULL, *others = NULL, *files;
    xy_status_t st = split(value, &tools, &others);

    if (st == XY_OK && strcmp(others != NULL ? others : "", user != NULL ? user : "") != 0)
        st = start_again(others != NULL ? others : "", "", -1);
    if (st == XY_OK && tools != NULL) {
        files = xy_sprintf("%s%s%s", tools, start.files != NULL ? ":" : "",
                           start.files != NULL ? start.files : "");
        if (files == NULL)
            st = xy_fail_memory("making the environment");
        xy_free(start.files);
        start.files = files;
    }
    xy_free(tools);
    xy_free(others);
    return st;
}

xy_status_t mpi_restart_if_asked(const xy_vec_t *parts)
{
    mpi_part_t *all = parts->data;
    const char *user = getenv("LD_PRELOAD");
    char *value = NULL, *other = NULL;
    xy_status_t st = wanted(&all[0], all[0].values, &value);

    for (size_t i = 1; i < parts->count && st == XY_OK; i++) {
        st = wanted(&all[i], all[0].values, &other);
        if (st == XY_OK && strcmp(value, other) != 0)
            st = xy_fail(XY_EUNSUPPORTED,
                         "LD_PRELOAD: all programs of a job run in one process, which has one list "
                         "of preloaded libraries; give the same to each");
        xy_free(other);
        other = NULL;
    }
    if (st == XY_OK && strcmp(value, user != NULL ? user : "") != 0)
        st = preload(value);
    xy_free(value);
    return st;
}

xy_status_t mpi_restart_if_needed(const xy_vec_t *libraries, bool is_verbose)
{
    const char *user = getenv("LD_PRELOAD");
    xy_text_t list = XY_TEXT_INIT;
    xy_status_t st;

    if (libraries->count == 0)
        return XY_OK;
    xy_text_add(&list, start.added != NULL ? start.added : "");
    for (size_t i = 0; i < libraries->count; i++)
        xy_text_addf(&list, "%s%s", list.length > 0 ? ":" : "",
                     XY_VEC_AT(libraries, const char *, i));
    if (list.failed)
        return xy_fail_memory("making the environment");
    if (is_verbose)
        process_say("starting again with these libraries loaded first: %s", list.s);
    st = start_again(user != NULL ? user : "", list.s, -1);
    xy_text_cleanup(&list);
    return st;
}

/* ---- More thread-local memory ---- */

/* The executable's program header says how much there is: a copy of it in memory says more. */
static xy_status_t copy_executable(int *fd_p, ElfW(Ehdr) * header)
{
    char *bytes;
    size_t size;
    xy_status_t st = xy_file_read("/proc/self/exe", 64 << 20, &bytes, &size);

    if (st != XY_OK)
        return st;
    *fd_p = memfd_create("mpiexec", MFD_CLOEXEC);
    memcpy(header, bytes, sizeof(*header));
    if (*fd_p < 0 || write(*fd_p, bytes, size) != (ssize_t)size)
        st = xy_fail_errno(errno, "mpiexec", "copy to memory");
    xy_free(bytes);
    return st;
}

enum { SMALL = 64 }; /* least alignment of the thread pointer */

/* Enlarge the thread-local segment in a copy of our executable to at least `size` bytes. */
static xy_status_t enlarge(int fd, const ElfW(Ehdr) * header, size_t size, size_t align)
{
    for (int i = 0; i < header->e_phnum; i++) {
        off_t at = (off_t)(header->e_phoff + (size_t)i * header->e_phentsize);
        ElfW(Phdr) segment;

        if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
            break;
        if (segment.p_type != PT_TLS)
            continue;
        if (align > SMALL && align > segment.p_align)
            segment.p_align = align;
        size = size > segment.p_memsz ? size : segment.p_memsz;
        /* It must end at the thread pointer (x86_64), wherever it begins in the file. */
        segment.p_memsz = (size + segment.p_align - 1) / segment.p_align * segment.p_align +
                          (-segment.p_vaddr & (segment.p_align - 1));
        if (pwrite(fd, &segment, sizeof(segment), at) == (ssize_t)sizeof(segment))
            return XY_OK;
        break;
    }
    return xy_fail_errno(EIO, "mpiexec", "set thread-local memory aside");
}

/* The copy does not lie beside its library: that is preloaded. */
static char *with_library(void)
{
    Dl_info info;

    if (start.added != NULL && strstr(start.added, "libmpi_abi") != NULL)
        return xy_strdup(start.added);
    if (dladdr((void *)(uintptr_t)mpi_restart_larger, &info) == 0)
        return NULL;
    return xy_sprintf("%s%s%s", info.dli_fname, start.added != NULL ? ":" : "",
                      start.added != NULL ? start.added : "");
}

enum { MOST = 256 << 20, MOST_ALIGNED = 1 << 20 };

xy_status_t mpi_restart_larger(const char *path, size_t size, size_t align)
{
    const char *user = getenv("LD_PRELOAD");
    ElfW(Ehdr) header;
    char *added;
    int fd;
    xy_status_t st;

    if (size > MOST || align > MOST_ALIGNED)
        return xy_fail_at(XY_ELIMIT, path, 0,
                          "%zu bytes of thread-local variables, aligned to %zu; at most %d bytes, "
                          "aligned to %d, can be private to a rank",
                          size, align, MOST, MOST_ALIGNED);
    st = copy_executable(&fd, &header);
    if (st == XY_OK)
        st = enlarge(fd, &header, size, align);
    added = st == XY_OK ? with_library() : NULL;
    if (st == XY_OK && added == NULL)
        st = xy_fail_memory("making the environment");
    if (st == XY_OK)
        st = start_again(user != NULL ? user : "", added, fd);
    xy_free(added);
    return st;
}
