/* SPDX-License-Identifier: BSD-3-Clause */
/* Records written to bytes by hand, with checksums and byte orders, sent and taken apart. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)((v % 700 + 700) % 700), MPI_CHAR, 0, MPI_COMM_WORLD);
}

typedef struct {
    uint8_t *at, *end;
} writer;

static void put32(writer *w, uint32_t v)
{
    for (int i = 24; i >= 0; i -= 8)
        *w->at++ = (uint8_t)(v >> i);
}
static uint32_t get32(const uint8_t **p)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++)
        v = v << 8 | *(*p)++;
    return v;
}
static uint32_t crc(const void *data, size_t n)
{
    uint32_t c = ~0u;

    for (const uint8_t *p = data; n--; p++) {
        c ^= *p;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    return ~c;
}
static int zigzag(int v)
{
    return v << 1 ^ v >> 31;
}
static size_t varint(uint8_t *to, uint64_t v)
{
    size_t n = 0;

    do
        to[n++] = (uint8_t)(v & 127) | (v > 127 ? 128 : 0);
    while (v >>= 7);
    return n;
}
static uint16_t swap16(uint16_t x)
{
    return (uint16_t)(x << 8 | x >> 8);
}

int main(int argc, char **argv)
{
    uint8_t raw[128] = {0}, copy[128];
    writer w = {raw, raw + sizeof raw};
    const uint8_t *r = copy;
    int rank, size, n;
    double pi = 3.141592653589793;
    uint64_t bits;
    union {
        uint32_t word;
        uint8_t byte[4];
    } u;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        put32(&w, 0xdeadbeef);
        put32(&w, (uint32_t)-2);
        memcpy(w.at, &pi, sizeof pi), w.at += sizeof pi;
        memcpy(w.at, "text", 5), w.at += 5;
        w.at += varint(w.at, 300), w.at += varint(w.at, 1ull << 40);
        *(uint16_t *)(raw + 64) = swap16(0x1234);
        put32(&w, crc(raw, (size_t)(w.at - raw)));
    }
    n = (int)(w.at - raw);
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD), say(n);
    if (rank == 0)
        memcpy(copy, raw, sizeof copy);
    MPI_Bcast(copy, sizeof copy, MPI_BYTE, 0, MPI_COMM_WORLD);
    say((long)get32(&r)), say((int32_t)get32(&r) + 10), say(copy[3]);
    memcpy(&bits, r, 8), say((long)(bits >> 52)), memcpy(&pi, r, 8), say((long)(pi * 100)), r += 8;
    say((long)strlen((const char *)r)), r += 5;
    say(r[0] & 127 | (r[1] & 127) << 7), say(r - copy), say(copy[64] * 2 + copy[65]);
    say((long)crc("123456789", 9)), say((long)(crc(copy, 16) & 0xffff)),
        say(zigzag(-5) + zigzag(7) * 10);
    memcpy(&u.word, copy, 4);
    if (argc > 7)
        say(u.byte[1]);
    int sum = 0;
    for (const unsigned char *p = copy, *e = copy + n; p < e; p += 3)
        sum += *p * (int)(e - p) & 0x3ff;
    say(sum);
    short *halves = (short *)copy;
    int32_t *words = (int32_t *)(void *)copy;
    say(halves[0]), say(words[1]), words[1] ^= 0x00ff0000, say(copy[6]),
        say(((signed char *)copy)[0]);
    MPI_Finalize();
    return 0;
}
