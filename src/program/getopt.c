/* SPDX-License-Identifier: BSD-3-Clause */
/* getopt() as the GNU C library has it: arguments that are no options go to the end of argv. */
#include "program/library.h"

typedef struct {
    process_t *p;
    uint64_t argv;
    int32_t argc, index;
} options_t;

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

/* Does the word end with a letter whose argument is the next word? */
static bool takes_next(const char *word, const char *letters)
{
    for (word++; *word != '\0'; word++) {
        const char *known = *word != ':' ? strchr(letters, *word) : NULL;

        if (known != NULL && known[1] == ':')
            return word[1] == '\0';
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
    if (word != NULL && strcmp(word, "--") != 0 && i + 1 < o->argc && takes_next(word, letters)) {
        bring(o, i, o->index);
        bring(o, i + 1, o->index + 1);
    } else {
        bring(o, i, o->index);
    }
    return true;
}

/* The argument of an option: the rest of the word, or the next word that is left. */
static int64_t argument(options_t *o, const char *word, uint64_t address, int letter, bool is_colon)
{
    process_t *p = o->p;
    uint64_t value = address + (uint64_t)p->option;
    int32_t found = letter;

    o->index++;
    if (word[p->option] == '\0') {
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
        return argument(o, word, address, letter, letters[0] == ':');
    if (word[p->option] == '\0') {
        o->index++;
        p->option = 0;
    }
    return known != NULL ? letter : '?';
}

int64_t library_getopt(process_t *p, const int64_t *args)
{
    options_t o = {.p = p, .argv = (uint64_t)args[1], .argc = (int32_t)args[0]};
    const char *letters = process_string(p, (uint64_t)args[2]), *word;
    const void *at = process_at(p, CODE_OPTIND, 4);
    int64_t found = -1;

    if (letters == NULL || at == NULL)
        return -1;
    memcpy(&o.index, at, 4);
    if (p->option == 0 && !find_option(&o, letters))
        return -1;
    word = process_string(p, pointer_at(&o, o.index));
    if (word != NULL && strcmp(word, "--") == 0)
        o.index++;
    else if (word != NULL)
        found = next_letter(&o, letters);
    set(p, CODE_OPTIND, &o.index, 4);
    return found;
}
