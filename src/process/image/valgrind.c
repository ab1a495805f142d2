/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images as valgrind sees them.
 *
 * It reads the symbols of a file once it has seen a mapping of it that is executable and one that
 * is writable, and knows a file by its name. Other images are mapped in fewer pieces and from one
 * file. Under valgrind each segment is mapped with its own rights, and each image from a name of
 * its own of one copy of the file. The names are gone when all images are placed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/image/load_program.h"

/* Its tools bring libraries of their own into the process. */
bool process_valgrind_is_there(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "/vgpreload_core") != NULL;
}

/* Map one segment with its own rights; the rest of the last page of data is cleared. */
static bool map_segment(const process_elf_t *elf, const ElfW(Phdr) * s, int fd, char *base)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), skipped = s->p_vaddr & (page - 1);
    int rights = ((s->p_flags & PF_R) != 0 ? PROT_READ : 0) |
                 ((s->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                 ((s->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    char *start = base + (s->p_vaddr - skipped - elf->low);
    size_t size = s->p_filesz + skipped, tail = -size & (page - 1);

    if (mmap(start, size, rights, MAP_PRIVATE | MAP_FIXED, fd, (off_t)(s->p_offset - skipped)) ==
        MAP_FAILED)
        return false;
    if ((s->p_flags & PF_W) != 0) /* the rest of the page in the file belongs to other segments */
        memset(start + size, 0, tail);
    return true;
}

static bool is_usual(const process_elf_t *elf)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].p_type == PT_LOAD &&
            (elf->segments[i].p_vaddr - elf->segments[i].p_offset) % page != 0)
            return false;
    return !elf->has_code_in_writable;
}

static bool map_segments(const process_elf_t *elf, const char *name, char *base)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    bool is_done = fd >= 0;

    for (int i = 0; i < elf->segment_count && is_done; i++)
        if (elf->segments[i].p_type == PT_LOAD && elf->segments[i].p_filesz > 0)
            is_done = map_segment(elf, &elf->segments[i], fd, base);
    if (fd >= 0)
        close(fd);
    return is_done;
}

static bool copy_file(const process_elf_t *elf, const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool is_written = fd >= 0 && xy_write_all(fd, elf->bytes, elf->size) == 0;

    return fd >= 0 && close(fd) == 0 && is_written;
}

/* The file that the next image is linked to, one per module; they share a directory. */
typedef struct {
    const process_elf_t *elf;
    char *name;
} file_t;

static xy_vec_t files = {.size = sizeof(file_t)};
static const char pattern[] = "/tmp/xylem-valgrind-XXXXXX";
static char directory[sizeof(pattern)];
static bool has_directory;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* processes place plug-ins when they like */
static unsigned long names;    /* so that none comes twice */

static char *new_name(const process_elf_t *elf)
{
    const char *slash = strrchr(elf->path, '/');

    if (!has_directory) {
        memcpy(directory, pattern, sizeof(pattern));
        has_directory = mkdtemp(directory) != NULL;
    }
    if (!has_directory)
        return NULL;
    return xy_sprintf("%s/%lu-%s", directory, names++, slash != NULL ? slash + 1 : elf->path);
}

/* NULL: no memory. */
static file_t *find_file(const process_elf_t *elf)
{
    file_t new = {.elf = elf};

    for (size_t i = 0; i < files.count; i++)
        if (XY_VEC_AT(&files, file_t, i).elf == elf)
            return &XY_VEC_AT(&files, file_t, i);
    return xy_vec_append(&files, &new) == XY_OK ? &XY_VEC_AT(&files, file_t, files.count - 1)
                                                : NULL;
}

/* A name of the copy that no image has had: the last one goes. */
static const char *link_file(const process_elf_t *elf)
{
    file_t *file = find_file(elf);
    char *name = file != NULL ? new_name(elf) : NULL;

    if (name == NULL ||
        (file->name == NULL ? !copy_file(elf, name) : link(file->name, name) != 0)) {
        xy_free(name);
        return NULL;
    }
    if (file->name != NULL)
        unlink(file->name);
    xy_free(file->name);
    file->name = name;
    return name;
}

/* Remove the temporary files and their directory. */
static void remove_files(void)
{
    for (size_t i = 0; i < files.count; i++) {
        file_t *file = &XY_VEC_AT(&files, file_t, i);

        if (file->name != NULL)
            unlink(file->name);
        xy_free(file->name);
    }
    files.count = 0;
    if (has_directory)
        rmdir(directory);
    has_directory = false;
}

bool process_valgrind_map(const process_module_t *module, char *image, bool is_alone)
{
    const char *name;
    bool is_done;

    pthread_mutex_lock(&lock);
    name = is_usual(module->elf) ? link_file(module->elf) : NULL;
    is_done = name != NULL && map_segments(module->elf, name, image + module->offset);
    if (is_alone)
        remove_files();
    pthread_mutex_unlock(&lock);
    return is_done;
}

void process_valgrind_finish(void)
{
    pthread_mutex_lock(&lock);
    remove_files();
    pthread_mutex_unlock(&lock);
}
