/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing, closing, buffering, positions and locks of streams: the process's in place of the
 * process's. */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#undef fflush_unlocked
#undef feof_unlocked
#undef ferror_unlocked
#undef clearerr_unlocked
#undef fileno_unlocked

static FILE *own(FILE *file)
{
    return process_stream_of(process_self, file);
}

/* ---- Flushing and closing ---- */

static int plain_flush(FILE *file)
{
    return XY_NEXT(fflush)(file);
}

static int flush_stream(process_stream_t *stream)
{
    int result = plain_flush(stream->file);
    int code = process_stream_flush(stream);

    if (code == 0)
        return result;
    errno = code;
    return EOF;
}

/* All of them: only files and this process's streams have something to write. */
static int flush_everything(process_t *process)
{
    int result = plain_flush(NULL);

    if (flush_stream(&process->out) != 0)
        result = EOF;
    return flush_stream(&process->err) != 0 ? EOF : result;
}

XY_INTERPOSE int fflush(FILE *file)
{
    process_t *process = process_self;
    process_stream_t *stream;

    if (process == NULL)
        return plain_flush(file);
    if (file == NULL)
        return flush_everything(process);
    stream = process_stream_find(process, file);
    return stream != NULL && stream != &process->in ? flush_stream(stream) : plain_flush(own(file));
}

/* Called by the private copy of the Fortran runtime before each WRITE: C's output comes before
 * Fortran's, but the beginning of a line of Fortran waits for its end. */
XY_INTERPOSE int xylem_flush_lines(FILE *file)
{
    const process_stream_t *stream = process_stream_find(process_self, file);

    return stream != NULL ? plain_flush(stream->file) : fflush(file);
}

XY_INTERPOSE int fflush_unlocked(FILE *file)
{
    return process_self != NULL ? fflush(file) : XY_NEXT(fflush_unlocked)(file);
}

/* A process that closes its standard streams leaves those of other processes open, and its own file
 * behind the FILE, so that a later use does no harm. */
static int close_stream(process_stream_t *stream)
{
    int result = stream == &stream->process->in ? 0 : fflush(stream->file);

    if (stream->is_redirected && stream->fd >= 0 && close(stream->fd) != 0)
        result = EOF;
    if (stream->is_redirected)
        stream->fd = -1;
    return result;
}

XY_INTERPOSE int fclose(FILE *file)
{
    process_stream_t *stream = process_stream_find(process_self, file);

    if (stream != NULL)
        return close_stream(stream);
    process_descriptor_forget(file->_fileno);
    return XY_NEXT(fclose)(file);
}

XY_INTERPOSE FILE *freopen(const char *path, const char *mode, FILE *file)
{
    process_stream_t *stream = process_stream_find(process_self, file);

    if (stream != NULL)
        return process_stream_reopen(stream, path, mode);
    return XY_NEXT(freopen)(path, mode, file);
}

XY_INTERPOSE FILE *freopen64(const char *path, const char *mode, FILE *file)
{
    return freopen(path, mode, file);
}

/* ---- Buffers ---- */

XY_INTERPOSE int setvbuf(FILE *file, char *buffer, int mode, size_t size)
{
    return XY_NEXT(setvbuf)(own(file), buffer, mode, size);
}

XY_INTERPOSE void setbuf(FILE *file, char *buffer)
{
    setvbuf(file, buffer, buffer != NULL ? _IOFBF : _IONBF, BUFSIZ);
}

XY_INTERPOSE void setbuffer(FILE *file, char *buffer, size_t size)
{
    setvbuf(file, buffer, buffer != NULL ? _IOFBF : _IONBF, size);
}

XY_INTERPOSE void setlinebuf(FILE *file)
{
    setvbuf(file, NULL, _IOLBF, 0);
}

XY_INTERPOSE void __fpurge(FILE *file)
{
    XY_NEXT(__fpurge)(own(file));
}

XY_INTERPOSE size_t __fpending(FILE *file)
{
    return XY_NEXT(__fpending)(own(file));
}

/* ---- State ---- */

/* The process's FILE has no descriptor; the one behind it is the answer that programs expect. */
XY_INTERPOSE int fileno(FILE *file)
{
    const process_stream_t *stream = process_stream_find(process_self, file);

    if (stream != NULL && stream->fd >= 0)
        return stream->fd;
    return XY_NEXT(fileno)(own(file));
}

XY_INTERPOSE int fileno_unlocked(FILE *file)
{
    return fileno(file);
}

/* The FILE that has met the end or the error. */
static FILE *used(FILE *file)
{
    const process_stream_t *stream = process_stream_find(process_self, file);

    return stream != NULL && stream->wide != NULL ? stream->wide : own(file);
}

XY_INTERPOSE int feof(FILE *file)
{
    return XY_NEXT(feof)(used(file));
}

XY_INTERPOSE int feof_unlocked(FILE *file)
{
    return XY_NEXT(feof_unlocked)(used(file));
}

XY_INTERPOSE int ferror(FILE *file)
{
    return XY_NEXT(ferror)(used(file));
}

XY_INTERPOSE int ferror_unlocked(FILE *file)
{
    return XY_NEXT(ferror_unlocked)(used(file));
}

XY_INTERPOSE void clearerr(FILE *file)
{
    XY_NEXT(clearerr)(used(file));
}

XY_INTERPOSE void clearerr_unlocked(FILE *file)
{
    XY_NEXT(clearerr_unlocked)(used(file));
}

/* ---- Positions ---- */

XY_INTERPOSE int fseek(FILE *file, long offset, int whence)
{
    return XY_NEXT(fseek)(own(file), offset, whence);
}

XY_INTERPOSE int fseeko(FILE *file, off_t offset, int whence)
{
    return fseek(file, offset, whence);
}

XY_INTERPOSE int fseeko64(FILE *file, off64_t offset, int whence)
{
    return fseek(file, offset, whence);
}

XY_INTERPOSE long ftell(FILE *file)
{
    return XY_NEXT(ftell)(own(file));
}

XY_INTERPOSE off_t ftello(FILE *file)
{
    return ftell(file);
}

XY_INTERPOSE off64_t ftello64(FILE *file)
{
    return ftell(file);
}

XY_INTERPOSE void rewind(FILE *file)
{
    XY_NEXT(rewind)(own(file));
}

XY_INTERPOSE int fgetpos(FILE *file, fpos_t *position)
{
    return XY_NEXT(fgetpos)(own(file), position);
}

XY_INTERPOSE int fsetpos(FILE *file, const fpos_t *position)
{
    return XY_NEXT(fsetpos)(own(file), position);
}

/* ---- Locks: of the process's own FILE, which no other process waits for ---- */

XY_INTERPOSE void flockfile(FILE *file)
{
    XY_NEXT(flockfile)(own(file));
}

XY_INTERPOSE int ftrylockfile(FILE *file)
{
    return XY_NEXT(ftrylockfile)(own(file));
}

XY_INTERPOSE void funlockfile(FILE *file)
{
    XY_NEXT(funlockfile)(own(file));
}
