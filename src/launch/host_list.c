/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/host_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_HOSTS = 1 << 12, MOST_LINES = 1 << 15, MOST_SLOTS = 1 << 20, LONGEST_NAME = 255 };

bool mpi_host_is_here(const char *name)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "localhost.localdomain",
                                        NULL};
    char own[256] = "";
    size_t dot;

    for (int i = 0; names[i] != NULL; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    if (gethostname(own, sizeof(own) - 1) != 0)
        return false;
    dot = strcspn(own, ".");
    return strcasecmp(name, own) == 0 ||
           (strncasecmp(name, own, dot) == 0 && (name[dot] == '\0' || name[dot] == '.'));
}

void mpi_hosts_cleanup(mpi_hosts_t *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        xy_free(hosts->all[i].name);
    xy_free(hosts->all);
    *hosts = (mpi_hosts_t){0};
}

/* Letters, digits and what addresses have. A name becomes an argument of ssh: it is no option. */
static bool is_name(const char *name, size_t length)
{
    if (length == 0 || length > LONGEST_NAME || name[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("-._:@", name[i]) == NULL)
            return false;
    return true;
}

static mpi_host_t *find(mpi_hosts_t *hosts, const char *name, size_t length)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (strncasecmp(hosts->all[i].name, name, length) == 0 &&
            hosts->all[i].name[length] == '\0')
            return &hosts->all[i];
    return NULL;
}

static mpi_host_t *append(mpi_hosts_t *hosts)
{
    if (hosts->count == hosts->capacity) {
        size_t capacity = 2 * hosts->capacity + 8;
        mpi_host_t *grown = xy_realloc_array(hosts->all, capacity, sizeof(*grown));

        if (grown == NULL)
            return NULL;
        hosts->all = grown;
        hosts->capacity = capacity;
    }
    return &hosts->all[hosts->count];
}

/* A host that is named again gets more slots: the given number, or one for each time. */
static xy_status_t add(mpi_hosts_t *hosts, const char *name, size_t length, long slots,
                       const char *where, long line)
{
    mpi_host_t *host;

    if (!is_name(name, length))
        return xy_fail_at(XY_EPARSE, where, line, "'%.*s' is not the name of a host",
                          (int)(length < 80 ? length : 80), name);
    if (++hosts->named > MOST_LINES)
        return xy_fail_at(XY_ELIMIT, where, line, "more than %d names", MOST_LINES);
    host = find(hosts, name, length);
    if (host != NULL) {
        host->named++;
        host->slots = slots > 0         ? (host->slots > 0 ? host->slots : host->named - 1) + slots
                      : host->slots > 0 ? host->slots + 1
                                        : host->named;
        if (host->slots > MOST_SLOTS)
            host->slots = MOST_SLOTS;
        return XY_OK;
    }
    if (hosts->count >= MOST_HOSTS)
        return xy_fail_at(XY_ELIMIT, where, line, "more than %d hosts", MOST_HOSTS);
    host = append(hosts);
    if (host == NULL)
        return xy_fail_memory("reading the hosts");
    *host = (mpi_host_t){.name = xy_strndup(name, length), .slots = slots, .named = 1};
    if (host->name == NULL)
        return xy_fail_memory("reading the hosts");
    hosts->count++;
    return XY_OK;
}

static bool read_slots(const char *text, size_t length, long *slots_p)
{
    char number[16];

    if (length == 0 || length >= sizeof(number))
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    return xy_parse_long(number, slots_p) && *slots_p > 0 && *slots_p <= MOST_SLOTS;
}

/* "b", "a:4", "[fe80::1]:4", "::1". */
static xy_status_t add_word(mpi_hosts_t *hosts, const char *word, size_t length, long slots,
                            const char *where, long line)
{
    const char *name = word, *colon = memrchr(word, ':', length);
    bool has_brackets = length > 0 && word[0] == '[';
    const char *close = has_brackets ? memchr(word, ']', length) : NULL;

    if (has_brackets && close == NULL)
        return xy_fail_at(XY_EPARSE, where, line, "'%.*s': missing ']'", (int)length, word);
    if (has_brackets) {
        const char *end = word + length;

        name = word + 1;
        if (close + 1 < end &&
            (close[1] != ':' || !read_slots(close + 2, (size_t)(end - close - 2), &slots)))
            return xy_fail_at(XY_EPARSE, where, line, "'%.*s': expected ':SLOTS' after the address",
                              (int)length, word);
        return add(hosts, name, (size_t)(close - name), slots, where, line);
    }
    /* More than one colon: an address. */
    if (colon != NULL && memchr(word, ':', (size_t)(colon - word)) == NULL) {
        if (!read_slots(colon + 1, length - (size_t)(colon - word) - 1, &slots))
            return xy_fail_at(XY_EPARSE, where, line,
                              "'%.*s': expected a number of slots, 1 to %d, after the colon",
                              (int)(length < 80 ? length : 80), word, MOST_SLOTS);
        length = (size_t)(colon - word);
    }
    return add(hosts, name, length, slots, where, line);
}

xy_status_t mpi_hosts_add_list(mpi_hosts_t *hosts, const char *list, const char *where)
{
    xy_status_t st = XY_OK;

    while (*list != '\0' && st == XY_OK) {
        size_t n = strcspn(list, ",");

        if (n > 0)
            st = add_word(hosts, list, n, 0, where, 0);
        list += n;
        list += *list == ',';
    }
    return st;
}

/* The rest of a line after a name in a file of hosts. */
typedef struct {
    long slots;       /* 0: not given */
    bool is_left_out; /* slots=0 */
    const char *user; /* not ended by 0 */
    size_t user_length;
} words_t;

static bool is_key(const char *word, size_t length, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (strlen(*keys) == length && strncmp(word, *keys, length) == 0)
            return true;
    return false;
}

/* One word, "slots=4": `key` bytes before the sign. */
static xy_status_t read_word(const char *word, size_t key, size_t length, words_t *words,
                             const char *where, long line)
{
    static const char *const slots[] = {"slots", "count", "cpus", "cpu", NULL};
    /* How far other launchers may go beyond the slots; ranks here are threads. */
    static const char *const limits[] = {"max_slots", "max-slots", NULL};
    static const char *const users[] = {"user", NULL};
    static const char *const interfaces[] = {"ifname", "ifhn", NULL};
    static const char *const bindings[] = {"binding", NULL};
    const char *value = word + key + 1;
    size_t left = length > key ? length - key - 1 : 0;

    if (is_key(word, key, slots)) {
        words->is_left_out = left == 1 && *value == '0';
        if (!words->is_left_out && !read_slots(value, left, &words->slots))
            return xy_fail_at(XY_EPARSE, where, line, "'%.*s' is not a number of slots",
                              (int)(length < 80 ? length : 80), word);
    } else if (is_key(word, key, users) && left > 0) {
        words->user = value;
        words->user_length = left;
    } else if (!is_key(word, key, limits)) {
        return xy_fail_at(XY_EPARSE, where, line,
                          "unknown word '%.*s'; write a host name and, optionally, slots=N%s",
                          (int)(length < 80 ? length : 80), word,
                          is_key(word, key, bindings)     ? "; bind ranks with --place"
                          : is_key(word, key, interfaces) ? "; write the address of the interface "
                                                            "instead of the name of the host"
                                                          : "");
    }
    return XY_OK;
}

static xy_status_t read_words(const char *rest, words_t *words, const char *where, long line)
{
    xy_status_t st = XY_OK;

    while (st == XY_OK && *(rest += strspn(rest, " \t")) != '\0') {
        size_t n = strcspn(rest, " \t");

        st = read_word(rest, strcspn(rest, "= \t"), n, words, where, line);
        rest += n;
    }
    return st;
}

/* A host with its words; with user=NAME it is NAME@host. */
static xy_status_t add_line(mpi_hosts_t *hosts, const char *word, size_t length,
                            const words_t *words, const char *where, long line)
{
    xy_status_t st;
    char *name;

    if (words->user == NULL)
        return add_word(hosts, word, length, words->slots, where, line);
    name = xy_malloc(words->user_length + length + 2);
    if (name == NULL)
        return xy_fail_memory("reading the hosts");
    memcpy(name, words->user, words->user_length);
    name[words->user_length] = '@';
    memcpy(name + words->user_length + 1, word, length);
    name[words->user_length + length + 1] = '\0';
    st = add_word(hosts, name, words->user_length + length + 1, words->slots, where, line);
    xy_free(name);
    return st;
}

xy_status_t mpi_hosts_add_file(mpi_hosts_t *hosts, const char *text, const char *where)
{
    xy_status_t st = XY_OK;
    long number = 0, left_out = 0;

    while (*text != '\0' && st == XY_OK) {
        size_t n = strcspn(text, "\n"), name;
        char *line = xy_strndup(text, n), *word;
        words_t words = {0};

        if (line == NULL)
            return xy_fail_memory("reading the hosts");
        number++;
        line[strcspn(line, "#\r")] = '\0';
        word = line + strspn(line, " \t");
        name = strcspn(word, " \t");
        if (name > 0)
            st = read_words(word + name, &words, where, number);
        if (words.is_left_out)
            left_out = number;
        else if (name > 0 && st == XY_OK)
            st = add_line(hosts, word, name, &words, where, number);
        xy_free(line);
        text += n;
        text += *text == '\n';
    }
    if (st == XY_OK && hosts->count == 0 && left_out > 0)
        return xy_fail_at(XY_EPARSE, where, left_out, "no host is left: give one of them slots");
    return st;
}

/* ---- Slurm ---- */

/* The slots of the i-th host from "4(x2),3". */
static long tasks_of(const char *tasks, size_t i)
{
    while (tasks != NULL && *tasks != '\0') {
        char *end;
        long n = strtol(tasks, &end, 10), times = 1;

        if (end == tasks || n <= 0 || n > MOST_SLOTS)
            return 0;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            end += *end == ')';
        }
        if (times <= 0)
            return 0;
        if (i < (size_t)times)
            return n;
        i -= (size_t)times;
        tasks = end + (*end == ',');
        if (tasks == end && *end != '\0')
            return 0;
    }
    return 0;
}

/* "node[01-03,7]x": each number, as wide as it is written. */
static xy_status_t add_brackets(mpi_hosts_t *hosts, const char *word, size_t length,
                                const char *tasks)
{
    static const char where[] = "SLURM_JOB_NODELIST";
    const char *open = memchr(word, '[', length);
    const char *close = open != NULL ? memchr(open, ']', length - (size_t)(open - word)) : NULL;
    const char *at = open != NULL ? open + 1 : NULL;
    xy_status_t st = XY_OK;

    if (open == NULL)
        return add(hosts, word, length, tasks_of(tasks, hosts->count), where, 0);
    while (close != NULL && at < close && st == XY_OK) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        int width = (int)(end - at);

        if (!isdigit((unsigned char)*at) || width > 9)
            break;
        if (*end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
        }
        if (last < first || last - first > MOST_HOSTS || (*end != ',' && end != close))
            break;
        for (long i = first; i <= last && st == XY_OK; i++) {
            char name[LONGEST_NAME + 2];
            int n = snprintf(name, sizeof(name), "%.*s%0*ld%.*s", (int)(open - word), word, width,
                             i, (int)(word + length - close - 1), close + 1);

            st = add(hosts, name, n < (int)sizeof(name) ? (size_t)n : sizeof(name) - 1,
                     tasks_of(tasks, hosts->count), where, 0);
        }
        at = end + (*end == ',');
        if (end == close)
            return st;
    }
    return st != XY_OK ? st
                       : xy_fail_at(XY_EPARSE, where, 0, "'%.*s' is not a list of hosts",
                                    (int)(length < 80 ? length : 80), word);
}

xy_status_t mpi_hosts_add_slurm(mpi_hosts_t *hosts, const char *list, const char *tasks)
{
    xy_status_t st = XY_OK;

    while (*list != '\0' && st == XY_OK) {
        size_t n = 0;

        for (int depth = 0; list[n] != '\0' && (list[n] != ',' || depth > 0); n++)
            depth += list[n] == '[' ? 1 : list[n] == ']' && depth > 0 ? -1 : 0;
        if (n > 0)
            st = add_brackets(hosts, list, n, tasks);
        list += n;
        list += *list == ',';
    }
    return st;
}

/* ---- Where they come from ---- */

/* Where a name is repeated, one mention is one slot; otherwise a name alone means all its cores. */
static void count_mentions(mpi_hosts_t *hosts, bool is_repeated)
{
    for (size_t i = 0; i < hosts->count; i++)
        is_repeated |= hosts->all[i].named > 1;
    for (size_t i = 0; i < hosts->count && is_repeated; i++)
        if (hosts->all[i].slots == 0)
            hosts->all[i].slots = 1;
}

static xy_status_t add_path(mpi_hosts_t *hosts, const char *path)
{
    char *text;
    xy_status_t st = xy_file_read_text(path, 16 << 20, &text);

    if (st != XY_OK)
        return st;
    st = mpi_hosts_add_file(hosts, text, path);
    xy_free(text);
    return st;
}

xy_status_t mpi_hosts_read(const mpi_launch_values_t *values, mpi_hosts_t *hosts)
{
    const char *slurm = getenv("SLURM_JOB_NODELIST"), *pbs = getenv("PBS_NODEFILE");
    xy_status_t st = XY_OK;

    *hosts = (mpi_hosts_t){0};
    if (values->host != NULL)
        st = mpi_hosts_add_list(hosts, values->host, "--hosts");
    if (st == XY_OK && values->hostfile != NULL)
        st = add_path(hosts, values->hostfile);
    if (st == XY_OK && values->host == NULL && values->hostfile == NULL && values->processes == 0) {
        if (slurm != NULL)
            st = mpi_hosts_add_slurm(hosts, slurm, getenv("SLURM_TASKS_PER_NODE"));
        else if (pbs != NULL)
            st = add_path(hosts, pbs);
    }
    if (st == XY_OK)
        count_mentions(hosts, values->host == NULL && values->hostfile == NULL && pbs != NULL);
    if (st != XY_OK)
        mpi_hosts_cleanup(hosts);
    return st;
}
