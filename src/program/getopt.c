/* SPDX-License-Identifier: BSD-3-Clause */
/* getopt() and getopt_long() as the GNU C library has them: arguments that are no options go to the
 * end of argv. */
#include "program/c_library.h"

typedef struct {
    process_t *p;
    uint64_t argv;
    int32_t argc, index;
    uint64_t longs, number_at; /* of getopt_long(): its options, where their number goes; or 0 */
} options_t;

/* struct option of the C library. */
typedef struct {
    const char *name;
    int32_t has_arg, value;
    uint64_t flag;
} long_t;

static uint64_t pointer_at(const options_t *o, int32_t i)
{
    const void *from = process_at(o->p, o->argv + 8 * (uint64_t)i, 8);
    uint64_t value = 0;

    if (from != NULL)
        memcpy(&value, from, 8);
    return value;
}

static void set(process_t *p, uint64_t at, const void *value, size_t size)
{
    void *to = process_at(p, at, size);

    if (to != NULL)
        memcpy(to, value, size);
}

static bool is_option(const options_t *o, int32_t i)
{
    const char *s = process_string(o->p, pointer_at(o, i));

    return s != NULL && s[0] == '-' && s[1] != '\0';
}

/* The next of the options with names; false: there are no more. */
static bool long_at(const options_t *o, int32_t i, long_t *l)
{
    const uint8_t *from = o->longs != 0 ? process_at(o->p, o->longs + 32 * (uint64_t)i, 32) : NULL;
    uint64_t name;

    if (from == NULL)
        return false;
    memcpy(&name, from, 8);
    memcpy(&l->has_arg, from + 8, 4);
    memcpy(&l->flag, from + 16, 8);
    memcpy(&l->value, from + 24, 4);
    l->name = name != 0 ? process_string(o->p, name) : NULL;
    return l->name != NULL;
}

/* The option that "--name" or "--name=value" is, perhaps abbreviated; -1: none, or several. */
static int32_t find_long(const options_t *o, const char *word, long_t *found)
{
    size_t length = strcspn(word + 2, "=");
    int32_t index = -1, count = 0;
    long_t l;

    for (int32_t i = 0; long_at(o, i, &l); i++) {
        if (strncmp(l.name, word + 2, length) != 0)
            continue;
        if (l.name[length] == '\0') {
            *found = l;
            return i;
        }
        if (count++ == 0)
            *found = l;
        index = i;
    }
    return count == 1 ? index : -1;
}

static bool is_long(const options_t *o, const char *word)
{
    return o->longs != 0 && word[0] == '-' && word[1] == '-' && word[2] != '\0';
}

/* Is the argument of an option with a name the next word? */
static bool long_takes_next(const options_t *o, const char *word)
{
    long_t l;

    return strchr(word, '=') == NULL && find_long(o, word, &l) >= 0 && l.has_arg == 1;
}

/* Does the word end with a letter whose argument is the next word? */
static bool takes_next(const char *word, const char *letters)
{
    for (word++; *word != '\0'; word++) {
        const char *known = *word != ':' ? strchr(letters, *word) : NULL;

        if (known != NULL && known[1] == ':')
            return word[1] == '\0' && known[2] != ':';
    }
    return false;
}

/* Put what is at `from` to `to`, and move what was between one place on. */
static void bring(const options_t *o, int32_t from, int32_t to)
{
    uint64_t moved = pointer_at(o, from);

    for (; from > to; from--) {
        uint64_t before = pointer_at(o, from - 1);

        set(o->p, o->argv + 8 * (uint64_t)from, &before, 8);
    }
    set(o->p, o->argv + 8 * (uint64_t)to, &moved, 8);
}

/* Bring the next option, with its argument, to where the search is. */
static bool find_option(const options_t *o, const char *letters)
{
    int32_t i = o->index;
    const char *word;

    while (i < o->argc && o->p->status == XY_OK && !is_option(o, i))
        i++;
    if (i >= o->argc || o->p->status != XY_OK)
        return false;
    word = process_string(o->p, pointer_at(o, i));
    if (word != NULL && strcmp(word, "--") != 0 && i + 1 < o->argc &&
        (is_long(o, word) ? long_takes_next(o, word) : takes_next(word, letters))) {
        bring(o, i, o->index);
        bring(o, i + 1, o->index + 1);
    } else {
        bring(o, i, o->index);
    }
    return true;
}

/* The argument of an option: the rest of the word, or (but where it may be left out) the next word
 * that is left. */
static int64_t argument(options_t *o, const char *word, uint64_t address, int letter, bool is_colon,
                        bool is_optional)
{
    process_t *p = o->p;
    uint64_t value = address + (uint64_t)p->option;
    int32_t found = letter;

    o->index++;
    if (word[p->option] == '\0' && is_optional) {
        value = 0;
    } else if (word[p->option] == '\0') {
        value = o->index < o->argc ? pointer_at(o, o->index) : 0;
        if (o->index < o->argc)
            o->index++;
        else
            found = is_colon ? ':' : '?';
    }
    set(p, CODE_OPTARG, &value, 8);
    p->option = 0;
    return found;
}

/* Returns the next option letter of the current word, '?' for an unknown one, -1 for an unreadable
 * word. */
static int64_t next_letter(options_t *o, const char *letters)
{
    process_t *p = o->p;
    uint64_t address = pointer_at(o, o->index);
    const char *word = process_string(p, address), *known;
    int32_t letter;

    if (word == NULL)
        return -1;
    if (p->option == 0)
        p->option = 1;
    letter = (unsigned char)word[p->option++];
    known = letter != ':' ? strchr(letters, letter) : NULL;
    set(p, CODE_OPTOPT, &letter, 4);
    if (known != NULL && known[1] == ':')
        return argument(o, word, address, letter, letters[0] == ':', known[2] == ':');
    if (word[p->option] == '\0') {
        o->index++;
        p->option = 0;
    }
    return known != NULL ? letter : '?';
}

/* An option with a name. */
static int64_t next_name(options_t *o, const char *word, const char *letters)
{
    process_t *p = o->p;
    const char *equals = strchr(word, '=');
    uint64_t address = pointer_at(o, o->index), value = 0;
    int32_t zero = 0, index;
    long_t l = {0};

    o->index++;
    set(p, CODE_OPTOPT, &zero, 4);
    index = find_long(o, word, &l);
    if (index < 0 || (equals != NULL && l.has_arg == 0))
        return '?';
    if (equals != NULL)
        value = address + (uint64_t)(equals + 1 - word);
    else if (l.has_arg == 1 && o->index >= o->argc)
        return letters[0] == ':' ? ':' : '?';
    else if (l.has_arg == 1)
        value = pointer_at(o, o->index++);
    set(p, CODE_OPTARG, &value, 8);
    if (o->number_at != 0)
        set(p, o->number_at, &index, 4);
    if (l.flag == 0)
        return l.value;
    set(p, l.flag, &l.value, 4);
    return 0;
}

/* Returns the result of getopt(), and updates `optind` in the memory of the program. */
static int64_t next_option(options_t *o, const char *letters)
{
    process_t *p = o->p;
    const void *at = process_at(p, CODE_OPTIND, 4);
    const char *word;
    int64_t found = -1;

    if (letters == NULL || at == NULL)
        return -1;
    memcpy(&o->index, at, 4);
    if (p->option == 0 && !find_option(o, letters))
        return -1;
    word = process_string(p, pointer_at(o, o->index));
    if (word != NULL && strcmp(word, "--") == 0)
        o->index++;
    else if (word != NULL && p->option == 0 && is_long(o, word))
        found = next_name(o, word, letters);
    else if (word != NULL)
        found = next_letter(o, letters);
    set(p, CODE_OPTIND, &o->index, 4);
    return found;
}

int64_t library_getopt(process_t *p, const int64_t *args)
{
    options_t o = {.p = p, .argv = (uint64_t)args[1], .argc = (int32_t)args[0]};

    return next_option(&o, process_string(p, (uint64_t)args[2]));
}

int64_t library_getopt_long(process_t *p, const int64_t *args)
{
    options_t o = {.p = p,
                   .argv = (uint64_t)args[1],
                   .argc = (int32_t)args[0],
                   .longs = (uint64_t)args[3],
                   .number_at = (uint64_t)args[4]};

    return next_option(&o, process_string(p, (uint64_t)args[2]));
}
