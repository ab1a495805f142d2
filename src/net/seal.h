/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encrypted connections: keys derived from the secret of the job and the key exchange of this
 * connection, and the records that carry the bytes.
 *
 *   size (4 bytes, little-endian), `size` bytes of ciphertext, tag (16 bytes)
 *
 * Each direction has its own key; the nonce is the number of the record, so that a record that is
 * repeated, left out or changed is refused. The cipher is AES-128-GCM where both processors have
 * instructions for it, else ChaCha20-Poly1305; keys are agreed on by X25519 and derived by
 * HMAC-SHA256. All of them are OpenSSL's, whose library is loaded when the first connection needs
 * it. After loading, sealing and opening take no lock and no memory, except when a key is replaced.
 */
#ifndef XY_NET_SEAL_H
#define XY_NET_SEAL_H

#include <sys/uio.h>

#include "net/net_private.h"

enum {
    NET_SEAL_KEY = 32,
    NET_SEAL_MAC = 32,
    NET_SEAL_SIZE = 4, /* of the size in front of a record */
    NET_SEAL_TAG = 16,
    NET_SEAL_MOST =
        (64 << 10) + 128, /* bytes in a record: the longest short message with its heads */
    NET_SEAL_RECORD = NET_SEAL_SIZE + NET_SEAL_MOST + NET_SEAL_TAG,
    NET_SEAL_KEY_RECORDS = 1 << 20, /* that one key seals */
};

/* The ciphers of this processor, as bits; 0: the library is missing. */
unsigned net_seal_ciphers(void);
/* The cipher for both. */
unsigned net_seal_choose(unsigned own, unsigned theirs);

/* A pair of keys; false: the library or the kernel fails. */
bool net_seal_pair(uint8_t own[NET_SEAL_KEY], uint8_t shown[NET_SEAL_KEY]);
/* HMAC-SHA256. */
bool net_seal_mac(const void *key, size_t key_size, const void *bytes, size_t size,
                  uint8_t mac[NET_SEAL_MAC]);
/* The agreement of both ends. `transcript` is all that they have said before; `is_first`: this end
 * has connected. NULL: it fails, or the other end's key is none. The caller frees. */
xy_seal_t *net_seal_make(unsigned cipher, const uint8_t secret[XY_SECRET_BYTES],
                         const void *transcript, size_t size, const uint8_t own[NET_SEAL_KEY],
                         const uint8_t theirs[NET_SEAL_KEY], bool is_first);

/* Seal up to NET_SEAL_MOST bytes of the pieces, from byte `skip` of them on, as one record, which
 * has room. How many bytes the record has; *taken_p of the pieces are in it. 0: it fails. */
size_t net_seal_wrap(xy_seal_t *seal, const struct iovec *pieces, size_t count, size_t skip,
                     uint8_t record[NET_SEAL_RECORD], size_t *taken_p);
/* How many bytes the record has that begins with these: with its size and its tag. 0: none. */
size_t net_seal_length(const uint8_t record[NET_SEAL_SIZE]);
/* Open the record; `plain` may be its ciphertext. Nothing of what is there is used when false comes
 * back: the record is not what the other end has sealed next. */
bool net_seal_open(xy_seal_t *seal, const uint8_t *record, size_t length, void *plain);

#endif
