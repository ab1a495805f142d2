/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file, shared by recorder and reader (private to the component). All numbers are
 * little-endian.
 *
 *   file    header, then chunks in the order in which they were flushed
 *   header  64 bytes: magic, version, clock, start (ticks, monotonic ns, wall ns), checksum. Only a
 *           real clock has a start; without one times are nanoseconds
 *   chunk   48 bytes (struct below), then `length` bytes of records
 *   record  one byte of type, then varints (7 bits per byte, low first) and strings (length, bytes)
 *
 * A chunk stands alone: times in it are differences from its own base. Chunks of row
 * TRACE_DEFINITIONS define names; the others hold events of one row. `sync` is the same moment on
 * both clocks, so that no calibration is needed while recording: the first and the last sync of
 * the file give the scale.
 *
 * A file may hold the chunks of several sources (processes of a job), in any order: each source has
 * its own clock, rows and numbers of names. Source 0 is the file itself, whose header gives the
 * common time; the origin of another source is its own header, and its clock has, at two of its
 * times (monotonic ns), the offset to the time of the file.
 */
#ifndef XY_TRACE_FORMAT_H
#define XY_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRACE_MAGIC       "\x89XYT\r\n\x1a\n" /* as PNG's: text-mode transfers break it */
#define TRACE_CHUNK_MAGIC 0x4b435958u         /* "XYCK" */
#define TRACE_DEFINITIONS 0xffffffffu

enum {
    /* 1 had no messages with ranks, no calls, no collectives; 2 no sources: both are read, too */
    TRACE_VERSION = 3,
    TRACE_HEADER_SIZE = 64,
    TRACE_CHUNK_SIZE = 48,
    TRACE_PAYLOAD_MAX = 1 << 20,
    TRACE_EVENT_MAX = 104, /* one type byte and ten varints of at most 10 bytes, rounded up */
    TRACE_NAME_MAX = 4096,
};

/* Events; the comments give what follows the type. dt: difference to the previous time, zigzag.
 * Ranks are not negative. */
enum {
    TRACE_ENTER = 1,  /* dt kind id(zigzag) label */
    TRACE_LEAVE,      /* dt */
    TRACE_STATE,      /* dt(start) duration kind id(zigzag) label */
    TRACE_LINK,       /* dt(start) end-start(zigzag) from to bytes label */
    TRACE_LINK_OUT,   /* dt key bytes label */
    TRACE_LINK_IN,    /* dt key */
    TRACE_COUNTER,    /* dt counter value(8 bytes) */
    TRACE_MARK,       /* dt id(zigzag) label */
    TRACE_SENT,       /* dt key bytes label rank peer: TRACE_LINK_OUT of a rank */
    TRACE_RECEIVED,   /* dt key rank peer: TRACE_LINK_IN of a rank */
    TRACE_CALL,       /* dt rank label site */
    TRACE_COLLECTIVE, /* dt rank collective context first member members root count element */
};

/* Definitions. */
enum {
    TRACE_DEF_TITLE = 1, /* string */
    TRACE_DEF_ROW,       /* number name group */
    TRACE_DEF_KIND,      /* number role colour name */
    TRACE_DEF_LABEL,     /* number name */
    TRACE_DEF_COUNTER,   /* number name unit */
    TRACE_DEF_END,       /* the recording was closed in order */
    TRACE_DEF_SITE,      /* number name */
    TRACE_DEF_ORIGIN,    /* source start(ticks) start(ns) name */
    TRACE_DEF_SOURCE,    /* source: the chunks that follow are its own */
    TRACE_DEF_CLOCK,     /* source time offset(zigzag) time offset(zigzag) error */
};

typedef struct {
    uint32_t row, length, sequence; /* sequence: 0, 1, ... within the row */
    uint64_t base, sync_ticks, sync_ns;
    uint32_t checksum; /* of the payload; the header's own follows in the file */
} trace_chunk_t;

static inline void trace_put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static inline void trace_put_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static inline uint32_t trace_get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t trace_get_u64(const uint8_t *p)
{
    return (uint64_t)trace_get_u32(p) | (uint64_t)trace_get_u32(p + 4) << 32;
}

static inline uint64_t trace_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t trace_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline uint8_t *trace_put_varint(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* A checksum against damage, not against malice. CRC-32 in software would cost more than encoding
 * the events; this takes eight bytes per multiplication. */
static inline uint32_t trace_checksum(const uint8_t *p, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ n;

    for (; n >= 8; p += 8, n -= 8) {
        h = (h ^ trace_get_u64(p)) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; n > 0; p++, n--)
        h = (h ^ *p) * 0xff51afd7ed558ccdu;
    return (uint32_t)(h ^ h >> 32);
}

static inline void trace_chunk_encode(const trace_chunk_t *c, uint8_t *p)
{
    trace_put_u32(p, TRACE_CHUNK_MAGIC);
    trace_put_u32(p + 4, c->row);
    trace_put_u32(p + 8, c->length);
    trace_put_u32(p + 12, c->sequence);
    trace_put_u64(p + 16, c->base);
    trace_put_u64(p + 24, c->sync_ticks);
    trace_put_u64(p + 32, c->sync_ns);
    trace_put_u32(p + 40, c->checksum);
    trace_put_u32(p + 44, trace_checksum(p, 44));
}

#endif
