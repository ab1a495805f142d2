/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/pmi.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xylem.h>

#include "net/pmi_protocol.h"
#include "net/seal.h"

static const pmi_protocol_t *const protocols[] = {&pmi_pmix, &pmi_wire, &pmi_library1,
                                                  &pmi_library2, NULL};

enum { MOST_CHUNKS = 1 << 16 };

long pmi_number(const char *variable)
{
    const char *text = getenv(variable);
    long value;

    return text != NULL && xy_parse_long(text, &value) && value >= 0 && value < PMI_MOST_PROCESSES
               ? value
               : -1;
}

bool pmi_is_bare_srun(void)
{
    return pmi_number("SLURM_PROCID") >= 0 && pmi_number("SLURM_STEP_NUM_TASKS") > 0 &&
           pmi_number("PMI_FD") < 0 && getenv("PMIX_NAMESPACE") == NULL;
}

/* The interface that XYLEM_PMI names, or the first that the environment offers. NULL: none. */
static const pmi_protocol_t *choose(void)
{
    const char *wanted = getenv("XYLEM_PMI");

    if (wanted != NULL && *wanted != '\0')
        return xy_table_find(XY_TABLE(protocols), wanted);
    for (int i = 0; protocols[i] != NULL; i++)
        if (protocols[i]->is_there())
            return protocols[i];
    return NULL;
}

bool xy_pmi_is_there(char why[XY_WHY_SIZE])
{
    const char *wanted = getenv("XYLEM_PMI");

    if (choose() != NULL)
        return true;
    if (wanted != NULL && *wanted != '\0')
        snprintf(why, XY_WHY_SIZE,
                 "XYLEM_PMI is '%.40s', which is none of pmix, pmi1, pmi2, libpmi", wanted);
    else if (pmi_is_bare_srun())
        snprintf(why, XY_WHY_SIZE,
                 "srun offers no interface here (--mpi=none, or MpiDefault=none), and libpmi.so.0 "
                 "(package libpmi0) is not installed; use 'srun --mpi=pmi2' or 'srun --mpi=pmix'");
    else
        snprintf(why, XY_WHY_SIZE, "there is no connection to a launcher (PMI_FD, PMIX_NAMESPACE)");
    return false;
}

/* ---- A limit of time ---- */

/* The calls of a launcher's library wait without end: a thread ends the process. */
typedef struct {
    const xy_pmi_t *pmi;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_over, is_watched;
} guard_t;

/* End the process with a message when the others have not come in time. */
static void *watch(void *arg)
{
    guard_t *guard = arg;
    double limit = net_now() + guard->pmi->seconds + (guard->pmi->rank > 0 ? 1 : 0);
    struct timespec until = {.tv_sec = (time_t)limit,
                             .tv_nsec = (long)((limit - (double)(time_t)limit) * 1e9)};
    int code = 0;

    pthread_mutex_lock(&guard->lock);
    while (!guard->is_over && code == 0)
        code = pthread_cond_timedwait(&guard->over, &guard->lock, &until);
    if (!guard->is_over) {
        xy_fail(XY_EIO,
                "process %d of %d has waited for the others for %g s (XYLEM_START_TIMEOUT): each "
                "process that the launcher has started must call MPI_Init",
                guard->pmi->rank, guard->pmi->size, guard->pmi->seconds);
        fflush(NULL);
        _exit(1);
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

/* Start the thread that limits the time of a fence; no limit if the thread cannot start. */
static void guard_begin(guard_t *guard, const xy_pmi_t *pmi)
{
    pthread_condattr_t attributes;
    sigset_t all, before;

    *guard = (guard_t){.pmi = pmi};
    if (pmi->seconds <= 0)
        return;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&guard->lock, NULL);
    pthread_cond_init(&guard->over, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    guard->is_watched = pthread_create(&guard->thread, NULL, watch, guard) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void guard_end(guard_t *guard)
{
    if (!guard->is_watched)
        return;
    pthread_mutex_lock(&guard->lock);
    guard->is_over = true;
    pthread_cond_signal(&guard->over);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->thread, NULL);
    pthread_cond_destroy(&guard->over);
    pthread_mutex_destroy(&guard->lock);
}

/* ---- Texts ---- */

static bool is_plain_letter(char c)
{
    return isalnum((unsigned char)c) || strchr(".:-_", c) != NULL;
}

char *pmi_encode(const char *text)
{
    xy_text_t word = XY_TEXT_INIT;

    xy_text_add(&word, "");
    for (; *text != '\0'; text++)
        if (is_plain_letter(*text))
            xy_text_add_bytes(&word, text, 1);
        else
            xy_text_addf(&word, "%%%02x", (unsigned char)*text);
    if (!word.failed)
        return word.s;
    xy_text_cleanup(&word);
    return NULL;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *pmi_decode(const char *word)
{
    char *text = xy_malloc(strlen(word) + 1), *to = text;

    for (; text != NULL && *word != '\0'; word++) {
        if (is_plain_letter(*word)) {
            *to++ = *word;
            continue;
        }
        if (*word != '%' || digit_of(word[1]) < 0 || digit_of(word[2]) < 0 ||
            (word[1] == '0' && word[2] == '0')) {
            xy_free(text);
            return NULL;
        }
        *to++ = (char)(digit_of(word[1]) << 4 | digit_of(word[2]));
        word += 2;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

static xy_status_t lost_launcher(const xy_pmi_t *pmi)
{
    return xy_fail(XY_EIO,
                   "the launcher that started process %d has ended, or refuses to exchange "
                   "addresses (interface %s)",
                   pmi->rank, pmi->protocol->name);
}

/* A value begins with 'm' if more of the text follows, and 'e' at its end. */
static xy_status_t put_text(xy_pmi_t *pmi, const char *name, const char *text)
{
    char *word = pmi_encode(text), value[PMI_VALUE + 1], key[64];
    size_t left = word != NULL ? strlen(word) : 0;
    bool is_put = true;
    const char *at = word;

    if (word == NULL)
        return xy_fail_memory("exchanging addresses");
    for (int chunk = 0; is_put && at != NULL; chunk++) {
        bool has_more = left > PMI_VALUE - 1;

        snprintf(value, sizeof(value), "%c%.*s", has_more ? 'm' : 'e', PMI_VALUE - 1, at);
        snprintf(key, sizeof(key), "xylem-%s-%d", name, chunk);
        is_put = pmi->protocol->put(pmi, key, value);
        left -= has_more ? PMI_VALUE - 1 : left;
        at = has_more ? at + PMI_VALUE - 1 : NULL;
    }
    xy_free(word);
    return is_put ? XY_OK : lost_launcher(pmi);
}

/* Read a text that process `rank` has published in chunks; the caller frees it. */
static xy_status_t get_text(xy_pmi_t *pmi, int rank, const char *name, char **text_p)
{
    char value[PMI_VALUE + 1] = "m", key[64];
    xy_text_t word = XY_TEXT_INIT;

    for (int chunk = 0; value[0] == 'm' && chunk < MOST_CHUNKS; chunk++) {
        snprintf(key, sizeof(key), "xylem-%s-%d", name, chunk);
        if (!pmi->protocol->get(pmi, rank, key, value) || strchr("me", value[0]) == NULL) {
            xy_text_cleanup(&word);
            return xy_fail(XY_EIO,
                           "process %d of the launcher has published no address; is it a program "
                           "of Xylem %s?",
                           rank, xylem_version());
        }
        xy_text_add(&word, value + 1);
    }
    *text_p = word.failed ? NULL : pmi_decode(word.s);
    xy_text_cleanup(&word);
    return *text_p != NULL ? XY_OK : xy_fail_memory("exchanging addresses");
}

static xy_status_t fence(xy_pmi_t *pmi)
{
    guard_t guard;
    bool is_done;

    guard_begin(&guard, pmi);
    is_done = pmi->protocol->fence(pmi);
    guard_end(&guard);
    return is_done ? XY_OK : lost_launcher(pmi);
}

xy_status_t xy_pmi_exchange(xy_pmi_t *pmi, const char *text, char **texts)
{
    char name[40];
    xy_status_t st;

    pmi->round++;
    snprintf(name, sizeof(name), "%d-%d", pmi->round, pmi->rank);
    st = put_text(pmi, name, text);
    if (st == XY_OK)
        st = fence(pmi);
    for (int p = 0; p < pmi->size && st == XY_OK; p++) {
        snprintf(name, sizeof(name), "%d-%d", pmi->round, p);
        st = get_text(pmi, p, name, &texts[p]);
    }
    return st;
}

/* ---- Meeting ---- */

/* The description of a process: "VERSION MACHINE CIPHERS KEY HOST". */
typedef struct {
    char version[32], machine[80];
    unsigned ciphers;
    uint8_t key[NET_SEAL_KEY];
    char host[256];
} entry_t;

static void write_hex(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static bool read_hex(const char *text, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (digit_of(text[2 * i]) < 0 || digit_of(text[2 * i + 1]) < 0)
            return false;
        bytes[i] = (uint8_t)(digit_of(text[2 * i]) << 4 | digit_of(text[2 * i + 1]));
    }
    return text[2 * size] == '\0';
}

/* The kernel and the network that this process sees: equal where the loopback address is shared. */
static void name_machine(char machine[80])
{
    char boot[64] = "?";
    struct stat network = {0};
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (file != NULL) {
        if (fscanf(file, "%63s", boot) != 1)
            snprintf(boot, sizeof(boot), "?");
        fclose(file);
    }
    if (stat("/proc/self/ns/net", &network) != 0)
        network.st_ino = 0;
    snprintf(machine, 80, "%.48s/%llu", boot, (unsigned long long)network.st_ino);
}

static char *write_entry(const entry_t *e)
{
    char key[2 * NET_SEAL_KEY + 1];

    write_hex(e->key, NET_SEAL_KEY, key);
    return xy_sprintf("%s %s %u %s %s", e->version, e->machine, e->ciphers, key, e->host);
}

static bool read_entry(const char *text, entry_t *e)
{
    char key[2 * NET_SEAL_KEY + 2];

    return sscanf(text, "%31s %79s %u %65s %255s", e->version, e->machine, &e->ciphers, key,
                  e->host) == 5 &&
           read_hex(key, e->key, NET_SEAL_KEY);
}

/* Read what the processes say about themselves; all must have this version. */
static xy_status_t read_entries(const xy_pmi_t *pmi, char **texts, entry_t *all)
{
    for (int p = 0; p < pmi->size; p++) {
        const char *version = texts[p];
        int length = (int)strcspn(version, " ");

        if (strlen(xylem_version()) != (size_t)length ||
            strncmp(version, xylem_version(), (size_t)length) != 0)
            return xy_fail(XY_EUNSUPPORTED,
                           "process %d of the launcher has Xylem %.*s and process %d has %s; use "
                           "one version everywhere",
                           p, length < 32 ? length : 32, version, pmi->rank, xylem_version());
        if (!read_entry(texts[p], &all[p]))
            return xy_fail(XY_EPARSE, "cannot understand the description of process %d", p);
    }
    return XY_OK;
}

/* The names of keys and the other process: what a secret is encrypted for. */
static xy_seal_t *seal_for(const xy_pmi_t *pmi, const entry_t *all, int p, const uint8_t *own)
{
    uint8_t said[2 * NET_SEAL_KEY + 16] = {0}, none[XY_SECRET_BYTES] = {0};

    snprintf((char *)said, 16, "pmi %d", p);
    memcpy(said + 16, all[0].key, NET_SEAL_KEY);
    memcpy(said + 16 + NET_SEAL_KEY, all[p].key, NET_SEAL_KEY);
    return net_seal_make(net_seal_choose(all[0].ciphers, all[p].ciphers), none, said, sizeof(said),
                         own, all[pmi->rank == 0 ? p : 0].key, pmi->rank == 0);
}

enum { SEALED = NET_SEAL_SIZE + XY_SECRET_BYTES + NET_SEAL_TAG };

/* Publish the secret for process p. */
static xy_status_t put_secret(xy_pmi_t *pmi, const entry_t *all, int p, const uint8_t *own,
                              const uint8_t secret[XY_SECRET_BYTES], uint8_t *record)
{
    struct iovec piece = {.iov_base = (void *)(uintptr_t)secret, .iov_len = XY_SECRET_BYTES};
    char text[2 * SEALED + 1], name[40];
    size_t taken, size = XY_SECRET_BYTES;
    xy_seal_t *seal;

    snprintf(name, sizeof(name), "s-%d", p);
    if (all[0].ciphers == 0) {
        write_hex(secret, size, text);
        return put_text(pmi, name, text);
    }
    seal = seal_for(pmi, all, p, own);
    size = seal != NULL ? net_seal_wrap(seal, &piece, 1, 0, record, &taken) : 0;
    xy_seal_free(seal);
    if (size != SEALED)
        return xy_fail(XY_EIO, "cannot encrypt the secret of the job for process %d", p);
    write_hex(record, size, text);
    return put_text(pmi, name, text);
}

/* Read and decrypt the secret that process 0 has published for this process. */
static xy_status_t take_secret(xy_pmi_t *pmi, const entry_t *all, const uint8_t *own,
                               uint8_t secret[XY_SECRET_BYTES])
{
    uint8_t record[SEALED];
    char name[40], *text = NULL;
    bool is_read;
    xy_status_t st;

    snprintf(name, sizeof(name), "s-%d", pmi->rank);
    st = get_text(pmi, 0, name, &text);
    if (st != XY_OK)
        return st;
    if (all[0].ciphers == 0) {
        is_read = read_hex(text, secret, XY_SECRET_BYTES);
    } else {
        xy_seal_t *seal = seal_for(pmi, all, pmi->rank, own);

        is_read = seal != NULL && read_hex(text, record, SEALED) &&
                  net_seal_length(record) == SEALED && net_seal_open(seal, record, SEALED, secret);
        xy_seal_free(seal);
    }
    xy_free(text);
    return is_read ? XY_OK
                   : xy_fail(XY_EIO, "process %d cannot decrypt the secret of the job", pmi->rank);
}

/* Process 0 makes the secret and gives it to the others. */
static xy_status_t share_secret(xy_pmi_t *pmi, const entry_t *all, const uint8_t *own,
                                uint8_t secret[XY_SECRET_BYTES])
{
    uint8_t *record = pmi->rank == 0 ? xy_malloc(NET_SEAL_RECORD) : NULL;
    xy_status_t st = XY_OK;

    if (pmi->rank == 0)
        st = record != NULL ? xy_secret_make(secret) : xy_fail_memory("exchanging addresses");
    for (int p = 1; p < pmi->size && pmi->rank == 0 && st == XY_OK; p++)
        st = put_secret(pmi, all, p, own, secret, record);
    xy_free(record);
    if (st == XY_OK)
        st = fence(pmi);
    return st == XY_OK && pmi->rank > 0 ? take_secret(pmi, all, own, secret) : st;
}

/* Describe this process: version, machine, host and, unless plain, ciphers and public key. */
static xy_status_t describe_self(bool is_plain, entry_t *own, uint8_t key[NET_SEAL_KEY])
{
    char why[XY_WHY_SIZE];

    snprintf(own->version, sizeof(own->version), "%s", xylem_version());
    name_machine(own->machine);
    if (gethostname(own->host, sizeof(own->host) - 1) != 0 || own->host[0] == '\0')
        snprintf(own->host, sizeof(own->host), "?");
    if (is_plain)
        return XY_OK;
    if (!xy_seal_is_there(why))
        return xy_fail(XY_EUNSUPPORTED,
                       "the secret of a job is encrypted for its processes, and %s; or set "
                       "XYLEM_NET_PLAIN, where only trusted users reach the network",
                       why);
    own->ciphers = net_seal_ciphers();
    return net_seal_pair(key, own->key) ? XY_OK : xy_fail(XY_EIO, "cannot make a pair of keys");
}

/* Whether all encrypt is the same for all; hosts. */
static xy_status_t take_entries(const xy_pmi_t *pmi, const entry_t *all, xy_pmi_meeting_t *meeting)
{
    meeting->is_local = true;
    for (int p = 0; p < pmi->size; p++) {
        if ((all[p].ciphers == 0) != (all[0].ciphers == 0))
            return xy_fail(XY_EUNSUPPORTED,
                           "process %d encrypts connections and process %d does not: give all of "
                           "them the same XYLEM_NET_PLAIN",
                           all[p].ciphers != 0 ? p : 0, all[p].ciphers != 0 ? 0 : p);
        meeting->is_local = meeting->is_local && strcmp(all[p].machine, all[0].machine) == 0;
        meeting->hosts[p] = xy_strdup(all[p].host);
        if (meeting->hosts[p] == NULL)
            return xy_fail_memory("exchanging addresses");
    }
    return XY_OK;
}

static void meeting_cleanup(const xy_pmi_t *pmi, xy_pmi_meeting_t *meeting)
{
    for (int p = 0; p < pmi->size && meeting->hosts != NULL; p++)
        xy_free((void *)(uintptr_t)meeting->hosts[p]);
    xy_free((void *)meeting->hosts);
    explicit_bzero(meeting, sizeof(*meeting));
}

xy_status_t xy_pmi_meet(xy_pmi_t *pmi, bool is_plain, xy_pmi_meeting_t *meeting)
{
    size_t n = (size_t)pmi->size;
    char **texts = xy_calloc(n, sizeof(*texts)), *text = NULL;
    entry_t *all = xy_calloc(n, sizeof(*all)), own = {0};
    uint8_t key[NET_SEAL_KEY] = {0};
    xy_status_t st;

    *meeting = (xy_pmi_meeting_t){.hosts = xy_calloc(n, sizeof(char *))};
    st = describe_self(is_plain, &own, key);
    if (st == XY_OK)
        text = write_entry(&own);
    if (st == XY_OK && (texts == NULL || all == NULL || text == NULL || meeting->hosts == NULL))
        st = xy_fail_memory("exchanging addresses");
    if (st == XY_OK)
        st = xy_pmi_exchange(pmi, text, texts);
    if (st == XY_OK)
        st = read_entries(pmi, texts, all);
    if (st == XY_OK)
        st = take_entries(pmi, all, meeting);
    if (st == XY_OK)
        st = share_secret(pmi, all, key, meeting->secret);
    for (size_t p = 0; p < n && texts != NULL; p++)
        xy_free(texts[p]);
    explicit_bzero(key, sizeof(key));
    xy_free(texts);
    xy_free(all);
    xy_free(text);
    if (st != XY_OK)
        meeting_cleanup(pmi, meeting);
    return st;
}

/* ---- Beginning and end ---- */

xy_status_t xy_pmi_open(double seconds, xy_pmi_t **pmi_p)
{
    const pmi_protocol_t *protocol = choose();
    xy_pmi_t *pmi = xy_calloc(1, sizeof(*pmi));
    char why[XY_WHY_SIZE];
    guard_t guard;
    xy_status_t st;

    if (pmi == NULL)
        return xy_fail_memory("meeting the launcher");
    if (protocol == NULL) {
        xy_pmi_is_there(why);
        xy_free(pmi);
        return xy_fail(XY_EUNSUPPORTED, "%s", why);
    }
    *pmi = (xy_pmi_t){.protocol = protocol, .fd = -1, .size = 1, .seconds = seconds};
    guard_begin(&guard, pmi);
    st = protocol->open(pmi);
    guard_end(&guard);
    if (st == XY_OK && (pmi->size < 1 || pmi->size > PMI_MOST_PROCESSES || pmi->rank < 0 ||
                        pmi->rank >= pmi->size))
        st = xy_fail(XY_EPARSE, "the launcher gives impossible numbers: process %d of %d",
                     pmi->rank, pmi->size);
    if (st != XY_OK) {
        xy_free(pmi);
        return st;
    }
    *pmi_p = pmi;
    return XY_OK;
}

int xy_pmi_rank(const xy_pmi_t *pmi)
{
    return pmi->rank;
}

int xy_pmi_size(const xy_pmi_t *pmi)
{
    return pmi->size;
}

void xy_pmi_abort(xy_pmi_t *pmi, int code)
{
    pmi->protocol->abort(pmi, code);
}

void xy_pmi_close(xy_pmi_t *pmi)
{
    guard_t guard;

    if (pmi == NULL)
        return;
    guard_begin(&guard, pmi);
    pmi->protocol->close(pmi);
    guard_end(&guard);
    xy_free(pmi);
}
