/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes: the reader answers with a log that keeps all promises of log.h and that every writer
 * can write, or with one message. Checksums of chunks are corrected first, else no change of a byte
 * would ever get behind them. */
#include <stdlib.h>
#include <string.h>

#include "testing/trace.h"
#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int errors;

static void count_message(void *arg, xy_status_t status, const char *message)
{
    (void)arg;
    if (strchr(message, '\n') != NULL)
        abort();
    errors += status != XY_OK;
}

/* Repairs the checksums, so that mutated chunks are read. */
static void mend(uint8_t *data, size_t size)
{
    size_t at = TRACE_HEADER_SIZE;

    if (size < TRACE_HEADER_SIZE)
        return;
    trace_put_u32(data + TRACE_HEADER_SIZE - 4, trace_checksum(data, TRACE_HEADER_SIZE - 4));
    while (size - at >= TRACE_CHUNK_SIZE) {
        uint8_t *p = data + at;
        uint32_t length = trace_get_u32(p + 8);

        if (trace_get_u32(p) != TRACE_CHUNK_MAGIC || length > size - at - TRACE_CHUNK_SIZE)
            return;
        trace_put_u32(p + 40, trace_checksum(p + TRACE_CHUNK_SIZE, length));
        trace_put_u32(p + 44, trace_checksum(p, 44));
        at += TRACE_CHUNK_SIZE + length;
    }
}

/* Writes the log in every format; aborts if the summary contradicts itself. */
static void write_all(const xy_trace_log_t *log, FILE *file)
{
    xy_trace_summary_t *summary;

    if (xy_trace_summarize(log, &summary) != XY_OK)
        abort();
    for (size_t r = 0; r < log->row_count; r++)
        if (summary->rows[r].idle < 0 ||
            summary->rows[r].hidden > summary->rows[r].flight * 1.000001)
            abort();
    if (xy_trace_write_text(log, summary, 64, 8, file) != XY_OK ||
        xy_trace_write_paje(log, file) != XY_OK || xy_trace_write_chrome(log, file) != XY_OK)
        abort();
    xy_trace_write_json(log, summary, file);
    xy_trace_write_html(log, NULL, file);
    xy_trace_summary_free(summary);
}

/* Parses `data` and aborts unless one error is reported for a failure and none for a success. */
static void check(const uint8_t *data, size_t size, FILE *file)
{
    xy_trace_log_t *log;
    xy_status_t st;

    errors = 0;
    st = xy_trace_parse(data, size, "fuzz", &log);
    if (errors != (st != XY_OK))
        abort();
    if (st != XY_OK)
        return;
    if (testing_log_fault(log) != NULL)
        abort();
    write_all(log, file);
    xy_trace_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *file;
    uint8_t *copy = malloc(size + 1);

    if (file == NULL)
        file = fopen("/dev/null", "w");
    if (copy == NULL || file == NULL)
        abort();
    xy_error_handler_set(count_message, NULL);
    check(data, size, file);
    memcpy(copy, data, size);
    mend(copy, size);
    check(copy, size, file);
    free(copy);
    return 0;
}
