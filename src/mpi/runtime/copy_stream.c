/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/copy_stream.h"

#include <stdint.h>
#include <string.h>

#include "mpi/runtime/device.h"

#if defined(__x86_64__)
#include <emmintrin.h>

/* Four pages side by side keep more of the memory busy than one, and the prefetcher of the
 * processor, which stops at the end of a page, begins anew less often. */
enum { LINE = 64, PAGE = 4096, PAGES = 4, AHEAD = 512 };

static inline void copy_line(char *to, const char *from)
{
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + 32));
    __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + 48));

    _mm_stream_si128((__m128i *)(void *)to, a);
    _mm_stream_si128((__m128i *)(void *)(to + 16), b);
    _mm_stream_si128((__m128i *)(void *)(to + 32), c);
    _mm_stream_si128((__m128i *)(void *)(to + 48), d);
}

/* Copy a large block past the caches, several pages at a time; smaller ones by memcpy. */
static void copy_here(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    size_t head = -(uintptr_t)t & (LINE - 1);

    if (bytes < 2 * (size_t)PAGES * PAGE) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(t, f, head);
    t += head;
    f += head;
    bytes -= head;
    for (; bytes >= (size_t)PAGES * PAGE; bytes -= (size_t)PAGES * PAGE) {
        for (size_t i = 0; i < PAGE; i += LINE)
            for (size_t page = 0; page < PAGES; page++) {
                _mm_prefetch(f + page * PAGE + i + AHEAD, _MM_HINT_T0);
                copy_line(t + page * PAGE + i, f + page * PAGE + i);
            }
        t += (size_t)PAGES * PAGE;
        f += (size_t)PAGES * PAGE;
    }
    _mm_sfence(); /* stores past the caches are not ordered by a release */
    memcpy(t, f, bytes);
}

#else

static void copy_here(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif

void mpi_copy_stream(void *to, const void *from, size_t bytes)
{
    if (__builtin_expect(mpi_device_is_used, 0) && mpi_device_copy(to, from, bytes))
        return;
    copy_here(to, from, bytes);
}
