/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/seal.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif
#if XYLEM_HAVE_OPENSSL
#include <openssl/evp.h>
#endif

enum { CIPHER_AES = 1, CIPHER_CHACHA = 2, NONCE = 12 };
enum { OUT, IN };
/* A call of the cipher takes longer than to copy so many bytes. */
enum { SHORT_PIECE = 1024 };

/* The state of a connection that is kept when the process starts itself again. */
typedef struct {
    unsigned cipher;
    uint8_t key[2][NET_SEAL_KEY];
    uint64_t count[2];
} state_t;

struct xy_seal {
    state_t state;
    void *context[2];
};

unsigned net_seal_choose(unsigned own, unsigned theirs)
{
    return own & theirs & CIPHER_AES ? CIPHER_AES : own & theirs & CIPHER_CHACHA;
}

size_t net_seal_length(const uint8_t record[NET_SEAL_SIZE])
{
    size_t size = (size_t)record[0] | (size_t)record[1] << 8 | (size_t)record[2] << 16 |
                  (size_t)record[3] << 24;

    return size > 0 && size <= NET_SEAL_MOST ? NET_SEAL_SIZE + size + NET_SEAL_TAG : 0;
}

#if XYLEM_HAVE_OPENSSL

/* All functions that are used; the names are those of the library. */
#define FUNCTIONS(X)                                                                               \
    X(OPENSSL_init_crypto)                                                                         \
    X(OSSL_LIB_CTX_new)                                                                            \
    X(EVP_CIPHER_fetch)                                                                            \
    X(EVP_CIPHER_CTX_new)                                                                          \
    X(EVP_CIPHER_CTX_free)                                                                         \
    X(EVP_CIPHER_CTX_ctrl)                                                                         \
    X(EVP_CipherInit_ex2)                                                                          \
    X(EVP_CipherUpdate)                                                                            \
    X(EVP_CipherFinal_ex)                                                                          \
    X(EVP_Q_mac)                                                                                   \
    X(EVP_PKEY_new_raw_private_key_ex)                                                             \
    X(EVP_PKEY_new_raw_public_key_ex)                                                              \
    X(EVP_PKEY_get_raw_public_key)                                                                 \
    X(EVP_PKEY_free)                                                                               \
    X(EVP_PKEY_CTX_new_from_pkey)                                                                  \
    X(EVP_PKEY_CTX_free)                                                                           \
    X(EVP_PKEY_derive_init)                                                                        \
    X(EVP_PKEY_derive_set_peer)                                                                    \
    X(EVP_PKEY_derive)

static struct {
    pthread_once_t once;
    unsigned ciphers;
    OSSL_LIB_CTX *context; /* of its own: settings of the program's users do not apply */
    EVP_CIPHER *aes, *chacha;
#define DECLARE(name) __typeof__(name) *p_##name;
    FUNCTIONS(DECLARE)
} library = {.once = PTHREAD_ONCE_INIT};

#define CALL(name) library.p_##name

static bool find_functions(void *loaded)
{
#define FIND(name)                                                                                 \
    *(void **)&CALL(name) = dlsym(loaded, #name);                                                  \
    if (CALL(name) == NULL)                                                                        \
        return false;
    FUNCTIONS(FIND)
    return true;
}

/* In software AES is slow, and its time tells about the key. */
static bool has_aes(void)
{
#if defined(__aarch64__)
    return (getauxval(AT_HWCAP) & (1u << 3)) != 0;
#elif defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_AES) != 0 && (c & bit_PCLMUL) != 0;
#else
    return false;
#endif
}

/* Load libcrypto and its ciphers; library.ciphers stays 0 without them. */
static void load(void)
{
    void *loaded = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);

    if (loaded == NULL || !find_functions(loaded))
        return;
    CALL(OPENSSL_init_crypto)(OPENSSL_INIT_NO_ATEXIT, NULL);
    library.context = CALL(OSSL_LIB_CTX_new)();
    if (library.context == NULL)
        return;
    library.chacha = CALL(EVP_CIPHER_fetch)(library.context, "ChaCha20-Poly1305", NULL);
    library.aes = has_aes() ? CALL(EVP_CIPHER_fetch)(library.context, "AES-128-GCM", NULL) : NULL;
    library.ciphers = (library.chacha != NULL ? (unsigned)CIPHER_CHACHA : 0u) |
                      (library.aes != NULL ? (unsigned)CIPHER_AES : 0u);
}

unsigned net_seal_ciphers(void)
{
    pthread_once(&library.once, load);
    return library.ciphers;
}

bool net_seal_pair(uint8_t own[NET_SEAL_KEY], uint8_t shown[NET_SEAL_KEY])
{
    size_t size = NET_SEAL_KEY;
    EVP_PKEY *key;
    bool is_made;

    if (net_seal_ciphers() == 0 || getrandom(own, NET_SEAL_KEY, 0) != NET_SEAL_KEY)
        return false;
    key = CALL(EVP_PKEY_new_raw_private_key_ex)(library.context, "X25519", NULL, own, NET_SEAL_KEY);
    is_made = key != NULL && CALL(EVP_PKEY_get_raw_public_key)(key, shown, &size) == 1;
    CALL(EVP_PKEY_free)(key);
    return is_made;
}

bool net_seal_mac(const void *key, size_t key_size, const void *bytes, size_t size,
                  uint8_t mac[NET_SEAL_MAC])
{
    size_t length = 0;

    return net_seal_ciphers() != 0 &&
           CALL(EVP_Q_mac)(library.context, "HMAC", NULL, "SHA256", NULL, key, key_size, bytes,
                           size, mac, NET_SEAL_MAC, &length) != NULL &&
           length == NET_SEAL_MAC;
}

/* Compute the shared secret of both keys; a key of low order has none, and is refused there. */
static bool agree(const uint8_t own[NET_SEAL_KEY], const uint8_t theirs[NET_SEAL_KEY],
                  uint8_t shared[NET_SEAL_KEY])
{
    EVP_PKEY *a = CALL(EVP_PKEY_new_raw_private_key_ex)(library.context, "X25519", NULL, own,
                                                        NET_SEAL_KEY),
             *b = CALL(EVP_PKEY_new_raw_public_key_ex)(library.context, "X25519", NULL, theirs,
                                                       NET_SEAL_KEY);
    EVP_PKEY_CTX *context =
        a != NULL ? CALL(EVP_PKEY_CTX_new_from_pkey)(library.context, a, NULL) : NULL;
    size_t size = NET_SEAL_KEY;
    bool is_made = context != NULL && b != NULL && CALL(EVP_PKEY_derive_init)(context) == 1 &&
                   CALL(EVP_PKEY_derive_set_peer)(context, b) == 1 &&
                   CALL(EVP_PKEY_derive)(context, shared, &size) == 1 && size == NET_SEAL_KEY;

    CALL(EVP_PKEY_CTX_free)(context);
    CALL(EVP_PKEY_free)(b);
    CALL(EVP_PKEY_free)(a);
    return is_made;
}

static bool set_key(xy_seal_t *seal, int way)
{
    const EVP_CIPHER *cipher = seal->state.cipher == CIPHER_AES ? library.aes : library.chacha;

    return cipher != NULL &&
           CALL(EVP_CipherInit_ex2)(seal->context[way], cipher, seal->state.key[way], NULL,
                                    way == OUT, NULL) == 1;
}

/* Create a seal with the keys of `state`; NULL without memory. The caller frees it with
 * xy_seal_free(). */
static xy_seal_t *seal_of(const state_t *state)
{
    xy_seal_t *seal = xy_calloc(1, sizeof(*seal));

    if (seal == NULL)
        return NULL;
    seal->state = *state;
    for (int way = OUT; way <= IN; way++) {
        seal->context[way] = CALL(EVP_CIPHER_CTX_new)();
        if (seal->context[way] == NULL || !set_key(seal, way)) {
            xy_seal_free(seal);
            return NULL;
        }
    }
    return seal;
}

xy_seal_t *net_seal_make(unsigned cipher, const uint8_t secret[XY_SECRET_BYTES],
                         const void *transcript, size_t size, const uint8_t own[NET_SEAL_KEY],
                         const uint8_t theirs[NET_SEAL_KEY], bool is_first)
{
    static const char *const purposes[] = {"xylem connector", "xylem listener"};
    uint8_t shared[NET_SEAL_KEY], mixed[NET_SEAL_MAC], root[NET_SEAL_MAC];
    state_t state = {.cipher = cipher};
    xy_seal_t *seal;
    bool is_made;

    if (net_seal_ciphers() == 0 || !agree(own, theirs, shared))
        return NULL;
    is_made = net_seal_mac(secret, XY_SECRET_BYTES, shared, sizeof(shared), mixed) &&
              net_seal_mac(mixed, sizeof(mixed), transcript, size, root);
    for (int i = 0; i < 2 && is_made; i++)
        is_made = net_seal_mac(root, sizeof(root), purposes[i], strlen(purposes[i]),
                               state.key[(i == 0) == is_first ? OUT : IN]);
    seal = is_made ? seal_of(&state) : NULL;
    explicit_bzero(shared, sizeof(shared));
    explicit_bzero(mixed, sizeof(mixed));
    explicit_bzero(root, sizeof(root));
    explicit_bzero(&state, sizeof(state));
    return seal;
}

void xy_seal_free(xy_seal_t *seal)
{
    if (seal == NULL)
        return;
    for (int way = OUT; way <= IN; way++)
        if (seal->context[way] != NULL)
            CALL(EVP_CIPHER_CTX_free)(seal->context[way]);
    explicit_bzero(seal, sizeof(*seal));
    xy_free(seal);
}

/* The next nonce; a key that has sealed enough is replaced. */
static bool begin_record(xy_seal_t *seal, int way)
{
    uint8_t nonce[NONCE] = {0};
    uint64_t count = seal->state.count[way]++;

    if (count > 0 && count % NET_SEAL_KEY_RECORDS == 0 &&
        (!net_seal_mac(seal->state.key[way], NET_SEAL_KEY, "xylem next", 10,
                       seal->state.key[way]) ||
         !set_key(seal, way)))
        return false;
    for (int i = 0; i < 8; i++, count >>= 8)
        nonce[i] = (uint8_t)count;
    return CALL(EVP_CipherInit_ex2)(seal->context[way], NULL, NULL, nonce, -1, NULL) == 1;
}

static bool encrypt(xy_seal_t *seal, uint8_t *to, const uint8_t *from, size_t size)
{
    int n = 0;

    return size == 0 || CALL(EVP_CipherUpdate)(seal->context[OUT], to, &n, from, (int)size) == 1;
}

size_t net_seal_wrap(xy_seal_t *seal, const struct iovec *pieces, size_t count, size_t skip,
                     uint8_t record[NET_SEAL_RECORD], size_t *taken_p)
{
    uint8_t *at = record + NET_SEAL_SIZE, *together = at; /* short pieces, still to be encrypted */
    size_t left = NET_SEAL_MOST;
    int n = 0;

    if (!begin_record(seal, OUT))
        return 0;
    for (size_t i = 0; i < count && left > 0; i++) {
        size_t size = pieces[i].iov_len > skip ? pieces[i].iov_len - skip : 0;
        const uint8_t *from = (const uint8_t *)pieces[i].iov_base + skip;

        size = size < left ? size : left;
        if (size > 0 && size <= SHORT_PIECE) {
            memcpy(at, from, size);
        } else if (size > 0) {
            if (!encrypt(seal, together, together, (size_t)(at - together)) ||
                !encrypt(seal, at, from, size))
                return 0;
            together = at + size;
        }
        skip -= skip < pieces[i].iov_len ? skip : pieces[i].iov_len;
        at += size;
        left -= size;
    }
    if (!encrypt(seal, together, together, (size_t)(at - together)))
        return 0;
    *taken_p = NET_SEAL_MOST - left;
    for (int i = 0; i < NET_SEAL_SIZE; i++)
        record[i] = (uint8_t)(*taken_p >> 8 * i);
    if (CALL(EVP_CipherFinal_ex)(seal->context[OUT], at, &n) != 1 ||
        CALL(EVP_CIPHER_CTX_ctrl)(seal->context[OUT], EVP_CTRL_AEAD_GET_TAG, NET_SEAL_TAG, at) != 1)
        return 0;
    return NET_SEAL_SIZE + *taken_p + NET_SEAL_TAG;
}

bool net_seal_open(xy_seal_t *seal, const uint8_t *record, size_t length, void *plain)
{
    size_t size = length - NET_SEAL_SIZE - NET_SEAL_TAG;
    uint8_t tag[NET_SEAL_TAG];
    int n = 0;

    memcpy(tag, record + NET_SEAL_SIZE + size, NET_SEAL_TAG);
    return begin_record(seal, IN) &&
           CALL(EVP_CIPHER_CTX_ctrl)(seal->context[IN], EVP_CTRL_AEAD_SET_TAG, NET_SEAL_TAG, tag) ==
               1 &&
           CALL(EVP_CipherUpdate)(seal->context[IN], plain, &n, record + NET_SEAL_SIZE,
                                  (int)size) == 1 &&
           CALL(EVP_CipherFinal_ex)(seal->context[IN], (uint8_t *)plain + size, &n) == 1;
}

bool xy_seal_is_there(char why[XY_WHY_SIZE])
{
    if (net_seal_ciphers() != 0)
        return true;
    snprintf(why, XY_WHY_SIZE, "OpenSSL's libcrypto.so.3 is not on this machine; install libssl3");
    return false;
}

#else /* without the library nothing is sealed */

unsigned net_seal_ciphers(void)
{
    return 0;
}

bool net_seal_pair(uint8_t own[NET_SEAL_KEY], uint8_t shown[NET_SEAL_KEY])
{
    (void)own, (void)shown;
    return false;
}

bool net_seal_mac(const void *key, size_t key_size, const void *bytes, size_t size,
                  uint8_t mac[NET_SEAL_MAC])
{
    (void)key, (void)key_size, (void)bytes, (void)size, (void)mac;
    return false;
}

static xy_seal_t *seal_of(const state_t *state)
{
    (void)state;
    return NULL;
}

xy_seal_t *net_seal_make(unsigned cipher, const uint8_t secret[XY_SECRET_BYTES],
                         const void *transcript, size_t size, const uint8_t own[NET_SEAL_KEY],
                         const uint8_t theirs[NET_SEAL_KEY], bool is_first)
{
    (void)cipher, (void)secret, (void)transcript, (void)size, (void)own, (void)theirs,
        (void)is_first;
    return NULL;
}

void xy_seal_free(xy_seal_t *seal)
{
    xy_free(seal);
}

size_t net_seal_wrap(xy_seal_t *seal, const struct iovec *pieces, size_t count, size_t skip,
                     uint8_t record[NET_SEAL_RECORD], size_t *taken_p)
{
    (void)seal, (void)pieces, (void)count, (void)skip, (void)record, (void)taken_p;
    return 0;
}

bool net_seal_open(xy_seal_t *seal, const uint8_t *record, size_t length, void *plain)
{
    (void)seal, (void)record, (void)length, (void)plain;
    return false;
}

bool xy_seal_is_there(char why[XY_WHY_SIZE])
{
    snprintf(why, XY_WHY_SIZE, "this Xylem was built without OpenSSL (libssl-dev)");
    return false;
}

#endif

/* ---- A process that starts itself again ---- */

int xy_seal_save(const xy_seal_t *seal)
{
    int fd = memfd_create("xylem-seal", 0);

    if (fd >= 0 && write(fd, &seal->state, sizeof(seal->state)) != (ssize_t)sizeof(seal->state)) {
        close(fd);
        return -1;
    }
    return fd;
}

xy_seal_t *xy_seal_load(int fd)
{
    xy_seal_t *seal = NULL;
    state_t state;

    if (pread(fd, &state, sizeof(state), 0) == (ssize_t)sizeof(state) && net_seal_ciphers() != 0)
        seal = seal_of(&state);
    explicit_bzero(&state, sizeof(state));
    close(fd);
    return seal;
}
