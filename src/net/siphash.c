/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012) with 128 bits of result. It answers who knows a key
 * without showing the key; nothing is encrypted.
 */
#include <string.h>

#include "net/private.h"

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t load(const uint8_t *p)
{
    uint64_t x = 0;

    for (int i = 7; i >= 0; i--)
        x = x << 8 | p[i];
    return x;
}

static void store(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 8; i++, x >>= 8)
        p[i] = (uint8_t)x;
}

/* Apply SipHash rounds to the state. */
static void mix(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

void net_siphash(const uint8_t key[16], const void *bytes, size_t size, uint8_t hash[16])
{
    uint64_t k0 = load(key), k1 = load(key + 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
                     k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
    const uint8_t *p = bytes;
    uint8_t last[8] = {0};
    size_t rest = size % 8;

    for (size_t i = 0; i + 8 <= size; i += 8)
        absorb(v, load(p + i));
    if (rest > 0)
        memcpy(last, p + size - rest, rest);
    last[7] = (uint8_t)size;
    absorb(v, load(last));
    v[2] ^= 0xee;
    mix(v, 4);
    store(hash, v[0] ^ v[1] ^ v[2] ^ v[3]);
    v[1] ^= 0xdd;
    mix(v, 4);
    store(hash + 8, v[0] ^ v[1] ^ v[2] ^ v[3]);
}
