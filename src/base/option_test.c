/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/option.h"
#include "testing/base.h"

typedef struct {
    bool tree, quiet;
    const char *svg;
    long depth;
    double ratio;
    uint64_t size;
    double wait;
    const char *format;
    const char *directory, *way;
    xy_vec_t define;
    xy_vec_t env;
    const char *check;
    const char *depends, *excluded, *empty;
} values_t;

static const char *const formats[] = {"text", "json", NULL};
static const char *const svg_aliases[] = {"picture", NULL};

typedef struct {
    const char *name, *describe;
} way_t;
static const way_t fast = {"fast", "in a hurry"}, slow = {"slow", "with care"};
static const way_t *const ways[] = {&fast, &slow, NULL};

static const xy_option_t options[] = {
    {"tree", 't', XY_OPT_FLAG, .offset = offsetof(values_t, tree), XY_COMMON("output"),
     .help = "print the tree", .env = "XYT_TREE"},
    {"quiet", 'q', XY_OPT_FLAG, .offset = offsetof(values_t, quiet), XY_COMMON("output"),
     .help = "say less", .preset = "yes"},
    {"svg", 'o', XY_OPT_STRING, "FILE", offsetof(values_t, svg), XY_ADVANCED("output"),
     .help = "draw it", .aliases = svg_aliases, .complete = "file"},
    {"depth", 'd', XY_OPT_LONG, "N", offsetof(values_t, depth), .min = 1, .max = 99,
     .env = "XYT_DEPTH", .preset = "3", XY_COMMON("other"),
     .help = "how deep; 1 is the top (and so on). Not more"},
    {"ratio", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, ratio), XY_COMMON("other"),
     .help = "ratio"},
    {"size", 0, XY_OPT_SIZE, NULL, offsetof(values_t, size), XY_COMMON("other"), .help = "size",
     .min = 1, .max = 1 << 20},
    {"wait", 0, XY_OPT_SECONDS, NULL, offsetof(values_t, wait), XY_COMMON("other"), .help = "time"},
    {"format", 'f', XY_OPT_CHOICE, "FORMAT", offsetof(values_t, format), .choices = formats,
     .preset = "text", .env = "XYT_FORMAT", XY_COMMON("output"), .help = "how to print"},
    {"directory", 0, XY_OPT_STRING, "DIR", offsetof(values_t, directory), XY_COMMON("other"),
     .help = "where", .complete = "directory"},
    {"define", 'D', XY_OPT_LIST, NULL, offsetof(values_t, define), XY_COMMON("other"),
     .help = "add one", .env = "XYT_DEFINE"},
    {"check", 0, XY_OPT_STRING, "[=LIST]", offsetof(values_t, check), XY_EXPERIMENTAL("check"),
     .help = "look at it"},
    {"env", 0, XY_OPT_PAIRS, NULL, offsetof(values_t, env), XY_COMMON("other"),
     .help = "set a variable"},
    {"needy", 0, XY_OPT_STRING, "X", offsetof(values_t, depends), XY_COMMON("other"),
     .help = "with another", .needs = "directory format=json XYT_ALLOCATION", .env = "XYT_DEPENDS"},
    {"excluded", 0, XY_OPT_STRING, "X", offsetof(values_t, excluded), XY_COMMON("other"),
     .help = "without another", .excludes = "directory svg", .env = "XYT_EXCLUDED"},
    {"empty", 0, XY_OPT_STRING, "X", offsetof(values_t, empty), XY_COMMON("other"),
     .help = "any text", .may_be_empty = true},
    {"places", 0, XY_OPT_STRING, "[NAME=]WAY[,...]", offsetof(values_t, way), XY_COMMON("other"),
     .table = XY_TABLE(ways), .help = "how to go"},
    {"machine", 0, XY_OPT_STRING, "M", offsetof(values_t, way), XY_COMMON("other"),
     .complete = "machine file", .help = "where"},
    {"old", 0, XY_OPT_IGNORED, "X", XY_COMMON("other"), .help = "has no effect"},
    {.name = "older", .kind = XY_OPT_IGNORED},
    {.name = "oldest",
     .kind = XY_OPT_IGNORED,
     .argument = "X",
     .env = "XYT_OLDEST",
     .leaving = "use --wait"},
    {"way", 'w', XY_OPT_CHOICE, "WAY", offsetof(values_t, way), .table = XY_TABLE(ways),
     XY_COMMON("other"), .help = "how to go"},
    {"anyway", 0, XY_OPT_STRING, "WAY|FILE", offsetof(values_t, way), .table = XY_TABLE(ways),
     XY_COMMON("other"), .help = "how to go"},
    {0}};

static xy_command_t command = {.name = "test",
                               .summary = "try options",
                               .synopsis = "[FILE]...",
                               .options = options,
                               .values_size = sizeof(values_t),
                               .positional_max = -1};

static values_t values;
static char *words[32];
static int count;
static xy_help_t help;

static int reset(void **state)
{
    (void)state;
    unsetenv("XYT_TREE");
    unsetenv("XYT_DEPTH");
    unsetenv("XYT_FORMAT");
    unsetenv("XYT_DEFINE");
    unsetenv("XYT_OLDEST");
    command.positional_min = 0;
    command.positional_max = -1;
    command.stop_at_positional = false;
    command.single_dash = false;
    command.prefix = NULL;
    return 0;
}

static int cleanup(void **state)
{
    (void)state;
    xy_options_cleanup(&command, &values);
    memset(&values, 0, sizeof(values));
    return 0;
}

/* The line is split at blanks. */
static xy_status_t parse(const char *line)
{
    static char copy[512];
    int n = 0;

    xy_options_cleanup(&command, &values);
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[n++] = word;
    words[n] = NULL;
    testing_listen();
    return xy_options_parse(&command, n, words, &values, &count, &help);
}

static void check_fails(const char *line, const char *message)
{
    count = 77;
    assert_int_equal(parse(line), XY_EUSAGE);
    assert_int_equal(testing_said_count, 1);
    assert_string_equal(testing_said, message);
    assert_int_equal(count, 77);
}

static const char *item(const xy_vec_t *vec, size_t i)
{
    assert_true(i < vec->count);
    return XY_VEC_AT(vec, const char *, i);
}

static void test_ways_to_write(void **state)
{
    static const char *const lines[] = {"--svg f --depth 5 -t",
                                        "--svg=f --depth=5 --tree",
                                        "-o f -d 5 -t",
                                        "-of -d5 -t",
                                        "-to f -d5",
                                        "--picture f -td5",
                                        "-tofoo --depth 9 -d5 --svg f"};

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(parse(lines[i]), XY_OK);
        assert_string_equal(values.svg, "f");
        assert_int_equal(values.depth, 5);
        assert_true(values.tree);
        assert_int_equal(count, 0);
        assert_false(help);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(parse("--ratio -1.5 --size 64K --wait 20ms --format json -D a --define=b "
                           "--env A 1 --env B 2 --old x --older"),
                     XY_OK);
    assert_true(values.ratio == -1.5 && values.size == 65536 && values.wait == 0.02);
    assert_string_equal(values.format, "json");
    assert_int_equal(values.define.count, 2);
    assert_string_equal(item(&values.define, 0), "a");
    assert_string_equal(item(&values.define, 1), "b");
    assert_int_equal(values.env.count, 4);
    assert_string_equal(item(&values.env, 2), "B");
    assert_string_equal(item(&values.env, 3), "2");
}

/* Its value is attached, or there is none: what follows is something else. */
static void test_optional_value(void **state)
{
    (void)state;
    assert_int_equal(parse("--tree"), XY_OK);
    assert_null(values.check);
    assert_int_equal(parse("--check word"), XY_OK);
    assert_string_equal(values.check, "");
    assert_int_equal(count, 1);
    assert_int_equal(parse("--check=a,b word"), XY_OK);
    assert_string_equal(values.check, "a,b");
    assert_int_equal(count, 1);
}

static void test_presets_and_no(void **state)
{
    (void)state;
    assert_int_equal(parse(""), XY_OK);
    assert_true(values.quiet && !values.tree);
    assert_int_equal(values.depth, 3);
    assert_string_equal(values.format, "text");
    assert_null(values.svg);
    assert_int_equal(values.size, 0);
    assert_false(xy_options_given("depth"));
    assert_int_equal(parse("--no-quiet --depth 3 --picture x"), XY_OK);
    assert_false(values.quiet);
    assert_true(xy_options_given("depth"));
    assert_true(xy_options_given("quiet"));
    assert_true(xy_options_given("svg"));
    assert_false(xy_options_given("tree"));
    assert_false(xy_options_given("nonsense"));
    assert_int_equal(parse("--tree --no-tree"), XY_OK);
    assert_false(values.tree);
}

static void test_environment(void **state)
{
    (void)state;
    setenv("XYT_DEPTH", "7", 1);
    setenv("XYT_TREE", "on", 1);
    setenv("XYT_FORMAT", "", 1); /* as if unset */
    setenv("XYT_DEFINE", "from-outside", 1);
    assert_int_equal(parse(""), XY_OK);
    assert_int_equal(values.depth, 7);
    assert_true(values.tree);
    assert_string_equal(values.format, "text");
    assert_int_equal(values.define.count, 1);
    assert_int_equal(parse("-d 8 --no-tree -D mine"), XY_OK);
    assert_int_equal(values.depth, 8);
    assert_false(values.tree);
    assert_int_equal(values.define.count, 1);
    assert_string_equal(item(&values.define, 0), "mine");
    setenv("XYT_DEPTH", "x", 1);
    check_fails("", "environment variable XYT_DEPTH: 'x' is not a whole number; see 'xylem test "
                    "--help'");
    setenv("XYT_DEPTH", "3", 1);
    setenv("XYT_TREE", "maybe", 1);
    check_fails("", "environment variable XYT_TREE: 'maybe' is neither yes nor no; see 'xylem test "
                    "--help'");
}

static void test_wrong_values(void **state)
{
    (void)state;
    check_fails("--depth 3x",
                "option --depth: '3x' is not a whole number; see 'xylem test --help'");
    check_fails("-d0", "option -d: '0' is not between 1 and 99; see 'xylem test --help'");
    check_fails("--ratio nan", "option --ratio: 'nan' is not a number; see 'xylem test --help'");
    check_fails("--size 2M",
                "option --size: '2M' is not between 1 B and 1 MiB; see 'xylem test --help'");
    check_fails("--size -1", "option --size: '-1' is not a size such as 64K or 1MiB; see 'xylem "
                             "test --help'");
    check_fails("--wait 3d", "option --wait: '3d' is not a time such as 20us or 1.5s; see 'xylem "
                             "test --help'");
    check_fails("--format jsn", "option --format: 'jsn' is none of text, json; did you mean "
                                "'json'? See 'xylem test --help'");
    check_fails("--tree=yes", "option --tree: 'yes' was given, but it takes no value; see 'xylem "
                              "test --help'");
    check_fails("--svg", "option --svg needs FILE; see 'xylem test --help'");
    check_fails("--env A", "option --env needs NAME VALUE; see 'xylem test --help'");
    check_fails("-d", "option -d needs N; see 'xylem test --help'");
}

static void test_unknown_options(void **state)
{
    (void)state;
    check_fails("--trre",
                "unknown option '--trre'; did you mean '--tree'? See 'xylem test --help'");
    check_fails("--dpeth=4",
                "unknown option '--dpeth=4'; did you mean '--depth'? See 'xylem test --help'");
    check_fails("--pictrue",
                "unknown option '--pictrue'; did you mean '--picture'? See 'xylem test --help'");
    check_fails("--hlep",
                "unknown option '--hlep'; did you mean '--help'? See 'xylem test --help'");
    check_fails("-x", "unknown option '-x'; see 'xylem test --help'");
    check_fails("-tx", "unknown option '-tx'; see 'xylem test --help'");
    check_fails("--zzzzzzzz", "unknown option '--zzzzzzzz'; see 'xylem test --help'");
    check_fails("--no-svg x", "unknown option '--no-svg'; see 'xylem test --help'");
    command.prefix = "";
    check_fails("-x", "unknown option '-x'; see 'test --help'");
}

static void test_positionals(void **state)
{
    (void)state;
    assert_int_equal(parse("a -t b - --depth 4 -5 c -- -t --svg"), XY_OK);
    assert_int_equal(count, 7);
    assert_string_equal(words[0], "a");
    assert_string_equal(words[2], "-");
    assert_string_equal(words[3], "-5");
    assert_string_equal(words[5], "-t");
    assert_string_equal(words[6], "--svg");
    assert_true(values.tree);
    assert_null(values.svg);
    command.positional_min = 1;
    command.positional_max = 2;
    check_fails("-t", "missing argument [FILE]...; see 'xylem test --help'");
    check_fails("a b c", "one argument too many: 'c'; see 'xylem test --help'");
    assert_int_equal(parse("a b"), XY_OK);
}

static void test_stop_at_positional(void **state)
{
    (void)state;
    command.stop_at_positional = true;
    assert_int_equal(parse("-t prog -t --nonsense -- x"), XY_OK);
    assert_int_equal(count, 5);
    assert_string_equal(words[1], "-t");
    assert_string_equal(words[3], "--");
    assert_int_equal(parse("-t -- prog -- x"), XY_OK);
    assert_int_equal(count, 3);
    assert_string_equal(words[0], "prog");
    assert_string_equal(words[1], "--");
}

static void test_single_dash(void **state)
{
    (void)state;
    command.single_dash = true;
    command.stop_at_positional = true;
    assert_int_equal(parse("-depth 4 -env A 1 --svg f -D x -of2 prog -depth 9"), XY_OK);
    assert_int_equal(values.depth, 4);
    assert_int_equal(values.env.count, 2);
    assert_string_equal(values.svg, "f2");
    assert_int_equal(count, 3);
    check_fails("-dpeth 4", "option -d: 'peth' is not a whole number; see 'xylem test --help'");
    check_fails("-sgv 4", "unknown option '-sgv'; did you mean '--svg'? See 'xylem test --help'");
}

static void test_help_wins(void **state)
{
    (void)state;
    command.positional_min = 1;
    setenv("XYT_DEPTH", "x", 1);
    assert_int_equal(parse("--help --nonsense"), XY_OK);
    assert_int_equal(help, XY_HELP_COMMON);
    assert_int_equal(parse("-th"), XY_OK);
    assert_int_equal(help, XY_HELP_COMMON);
    assert_int_equal(parse("--help-all --nonsense"), XY_OK);
    assert_int_equal(help, XY_HELP_ALL);
}

static void test_without_memory(void **state)
{
    long k;

    (void)state;
    for (k = 1;; k++) {
        xy_status_t st;

        xy_memory_fail_at(k);
        st = parse("-D a -D b --env A 1");
        if (!xy_memory_fail_hit())
            break;
        assert_int_equal(st, XY_ENOMEM);
        assert_int_equal(testing_said_count, 1);
    }
    xy_memory_fail_at(0);
    assert_int_equal(k, 3);
}

static char *printed(void (*print)(FILE *file))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    print(file);
    fclose(file);
    return text;
}

static void print_help(FILE *file)
{
    xy_command_help(&command, XY_HELP_COMMON, file);
}

static void print_help_all(FILE *file)
{
    xy_command_help(&command, XY_HELP_ALL, file);
}

static void print_man(FILE *file)
{
    xy_command_man(&command, "1.2.3", "xylem(1)", file);
}

/* Two lists of the caller. */
static void offer_words(const char *complete, xy_offer_fn offer, void *to)
{
    if (strncmp(complete, "machine", 7) == 0) {
        offer(to, "knl64", "64 cores");
        offer(to, "haswell32", NULL);
    }
}

/* The completions of the last word of a line, which is split at blanks: '' is an empty word. */
static const char *completed(const char *line)
{
    static char answer[4096];
    char copy[256], *list[16];
    FILE *file = fmemopen(answer, sizeof(answer), "w");
    int n = 0;

    assert_non_null(file);
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        list[n++] = strcmp(word, "''") == 0 ? word + 2 : word;
    xy_command_complete(&command, n, list, offer_words, file);
    fclose(file);
    return answer;
}

static void print_completion(FILE *file)
{
    fputs(completed("--"), file);
}

/* All printers name every option that is not hidden, in 80 columns; --help the common ones. */
static void test_printers_know_all_options(void **state)
{
    char *texts[4] = {printed(print_help_all), printed(print_man), printed(print_completion),
                      printed(print_help)};

    (void)state;
    for (const xy_option_t *o = options; o->name != NULL; o++) {
        bool is_optional = o->argument != NULL && strncmp(o->argument, "[=", 2) == 0;
        bool shown = o->help != NULL;
        char plain[64], roff[64];

        snprintf(plain, sizeof(plain), "--%s%s ", o->name, is_optional ? o->argument : "");
        snprintf(roff, sizeof(roff), "\\-\\-%s\\fR", o->name);
        assert_int_equal(strstr(texts[0], plain) != NULL, shown);
        assert_int_equal(strstr(texts[3], plain) != NULL, o->level == XY_LEVEL_COMMON);
        snprintf(plain, sizeof(plain), "--%s\t", o->name);
        assert_int_equal(strstr(texts[2], plain) != NULL, shown);
        if (o->aliases == NULL)
            assert_int_equal(strstr(texts[1], roff) != NULL, shown);
    }
    for (int i = 0; i < 4; i++) {
        for (char *line = strtok(texts[i], "\n"); i % 3 == 0 && line != NULL;
             line = strtok(NULL, "\n"))
            assert_true(strlen(line) <= 80);
        free(texts[i]);
    }
}

/* Each group has one heading, in the order of the table, and each option its mark. */
static void test_groups_and_marks(void **state)
{
    char *text = printed(print_help), *man = printed(print_man);
    const char *output = strstr(text, "\nOutput:\n"), *other = strstr(text, "\nOther:\n");

    (void)state;
    assert_true(output != NULL && other > output);
    assert_true(strstr(text, "--format") < other && strstr(text, "--format") > output);
    assert_null(strstr(text, "Check:"));
    free(text);
    assert_non_null(strstr(man, ".SS Output\n"));
    assert_non_null(strstr(man, ".SS Check\n.TP\n\\fB\\-\\-check\\fR"));
    assert_non_null(strstr(man, "Look at it.\nExperimental.\n"));
    assert_non_null(strstr(man, "Draw it.\nStable.\n"));
    free(man);
    text = printed(print_help_all);
    assert_non_null(strstr(text, "look at it (experimental)\n"));
    free(text);
}

/* One letter has one dash, a word two, also where one is accepted. */
static void test_dashes(void **state)
{
    static const char *const names[] = {"nn", NULL};
    static const xy_option_t few[] = {
        {"n", 0, XY_OPT_FLAG, .aliases = names, XY_COMMON("few"), .help = "one"},
        {"comm-cores", 0, XY_OPT_FLAG, XY_COMMON("few"), .help = "many"},
        {0},
    };
    const xy_option_t *before = command.options;
    char *text, *man;

    (void)state;
    command.single_dash = true;
    command.options = few;
    text = printed(print_help);
    man = printed(print_man);
    command.options = before;
    assert_non_null(strstr(text, " -n "));
    assert_non_null(strstr(text, " --comm-cores "));
    assert_non_null(strstr(man, "\\fB\\-n\\fR, \\fB\\-\\-nn\\fR"));
    assert_non_null(strstr(man, "\\fB\\-\\-comm\\-cores\\fR"));
    free(text);
    free(man);
}

static int occurrences(const char *text, const char *word)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

/* The help of an option becomes a sentence of its own; choices that it explains are not listed. */
static void test_man_sentences(void **state)
{
    static const char *const choices[] = {"slow", "fast", NULL};
    static const xy_option_t few[] = {
        {"speed", 0, XY_OPT_CHOICE, "HOW", .choices = choices, .preset = "slow", XY_COMMON("few"),
         .help = "slow: with care; fast: without"},
        {"pace", 0, XY_OPT_CHOICE, "HOW", .choices = choices, XY_COMMON("few"),
         .help = "how to go"},
        {0},
    };
    const xy_option_t *before = command.options;
    char *text, *man;

    (void)state;
    command.options = few;
    text = printed(print_help_all);
    man = printed(print_man);
    command.options = before;
    assert_non_null(strstr(man, "Slow: with care; fast: without.\nDefault: slow."));
    assert_non_null(strstr(man, "How to go.\nOne of"));
    assert_int_equal(occurrences(man, "One of"), 1);
    assert_int_equal(occurrences(text, "(one of slow, fast)"), 1);
    free(text);
    free(man);
}

static void test_completion(void **state)
{
    static const xy_command_t sub = {.name = "sub", .summary = "one", .complete = "machine file"};
    static const xy_command_t *const subcommands[] = {&sub, NULL};

    (void)state;
    assert_string_equal(completed("--dep"), "none\t\n--depth\thow deep\n");
    assert_string_equal(completed("--format ''"), "none\t\ntext\t\njson\t\n");
    assert_string_equal(completed("--format=j"), "none\t--format=\n--format=json\t\n");
    assert_string_equal(completed("-f t"), "none\t\ntext\t\n");
    assert_string_equal(completed("-ft ''"), "none\t\n");
    assert_string_equal(completed("--directory x"), "directories\t\n");
    assert_string_equal(completed("--directory x y"), "none\t\n");
    assert_string_equal(completed("--svg=x"), "files\t--svg=\n");
    assert_string_equal(completed("--pict"), "none\t\n--picture\tdraw it\n");
    assert_string_equal(completed("--way s"), "none\t\nslow\twith care\n");
    assert_string_equal(completed("--env A ''"), "none\t\n");
    assert_string_equal(completed("--env A B --wa"), "none\t\n--wait\ttime\n--way\thow to go\n");
    assert_string_equal(completed("--pla numa,o"), "none\t\n");
    assert_string_equal(completed("--places fast,s"), "none\tfast,\nfast,slow\twith care\n");
    assert_string_equal(completed("--places=a=fast,b=s"),
                        "none\t--places=a=fast,b=\n--places=a=fast,b=slow\twith care\n");
    assert_string_equal(completed("--machine k"), "files\t\nknl64\t64 cores\n");
    assert_string_equal(completed("-- --dep"), "none\t\n");
    command.complete = "file";
    assert_string_equal(completed("x"), "files\t\n");
    command.subcommands = subcommands;
    assert_string_equal(completed("s"), "files\t\nsub\tone\n");
    assert_string_equal(completed("sub h"), "files\t\nhaswell32\t\n");
    command.subcommands = NULL;
    command.complete = NULL;
    /* As mpiexec: one dash, and ':' begins another program. */
    command.single_dash = command.stop_at_positional = true;
    assert_string_equal(completed("-dep"), "none\t\n-depth\thow deep\n");
    assert_string_equal(completed("prog -dep"), "none\t\n");
    assert_string_equal(completed("prog : -dep"), "none\t\n-depth\thow deep\n");
}

static void test_help_text(void **state)
{
    char *text = printed(print_help);

    (void)state;
    assert_non_null(strstr(text, "Usage: xylem test [OPTION]... [FILE]...\n\nTry options.\n"));
    assert_non_null(strstr(text, "  -f, --format FORMAT       how to print (default text)\n"));
    assert_non_null(strstr(text, "  -d, --depth N             how deep (default 3)\n"));
    assert_non_null(
        strstr(text, "  -h, --help                print the common options and exit\n"));
    free(text);
    text = printed(print_help_all);
    assert_non_null(strstr(text,
                           "  -f, --format FORMAT       how to print (one of text, json; default "
                           "text;\n                            environment XYT_FORMAT)\n"));
    free(text);
}

#define OPTION_TEST(test) cmocka_unit_test_setup_teardown(test, reset, cleanup)

static void test_tables(void **state)
{
    char *text = printed(print_help_all);

    (void)state;
    assert_non_null(strstr(text, "--way WAY             how to go (one of fast, slow)\n"));
    free(text);
    text = printed(print_man);
    assert_non_null(strstr(text, ".br\n\\fBslow\\fR: with care\n"));
    free(text);
    assert_int_equal(parse("--way slow"), XY_OK);
    assert_ptr_equal(values.way, slow.name);
    check_fails("-w solw", "option -w: 'solw' is none of fast, slow; did you mean 'slow'? See "
                           "'xylem test --help'");
    assert_int_equal(parse("--anyway solw"), XY_OK);
    assert_string_equal(values.way, "solw");
}

static void test_leaving_options_warn(void **state)
{
    (void)state;
    assert_int_equal(parse("--oldest 5 file"), XY_OK);
    assert_int_equal(count, 1);
    assert_string_equal(testing_said, "warning: option --oldest no longer has an effect and will "
                                      "be removed in the next version; use --wait");
    assert_int_equal(parse(""), XY_OK);
    assert_int_equal(testing_said_count, 0);
    setenv("XYT_OLDEST", "1", 1);
    assert_int_equal(parse(""), XY_OK);
    assert_non_null(
        strstr(testing_said, "environment variable XYT_OLDEST no longer has an effect"));
}

static void test_options_that_belong_together(void **state)
{
    (void)state;
    assert_int_equal(parse("--needy x"), XY_EUSAGE);
    assert_string_equal(testing_said,
                        "option --needy has no effect without --directory or --format json; give "
                        "both or none; see 'xylem test --help'");
    assert_int_equal(parse("--needy x --directory d"), XY_OK);
    assert_int_equal(parse("--needy x -f text"), XY_EUSAGE);
    assert_int_equal(parse("--needy x -f json"), XY_OK);
    setenv("XYT_FORMAT", "json", 1);
    assert_int_equal(parse("--needy x"), XY_OK);
    unsetenv("XYT_FORMAT");
    setenv("XYT_ALLOCATION", "", 1);
    assert_int_equal(parse("--needy x"), XY_OK);
    unsetenv("XYT_ALLOCATION");
    setenv("XYT_DEPENDS", "x", 1); /* it waits */
    assert_int_equal(parse(""), XY_OK);
    unsetenv("XYT_DEPENDS");
    assert_int_equal(parse("--excluded x"), XY_OK);
    assert_int_equal(parse("--svg s --excluded x"), XY_EUSAGE);
    assert_string_equal(testing_said, "option --excluded has no effect with --svg; give one of "
                                      "them; see 'xylem test --help'");
    setenv("XYT_EXCLUDED", "x", 1);
    assert_int_equal(parse("--directory d"), XY_EUSAGE);
    assert_non_null(strstr(testing_said, "from the variable XYT_EXCLUDED,"));
    unsetenv("XYT_EXCLUDED");
}

static void test_values_without_a_meaning(void **state)
{
    static const char *const lines[] = {"--svg=",  "--define=",   "--format=", "--depth=",
                                        "--wait=", "--wait=-1us", "--wait -5", "--size=0"};
    char line[64];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        snprintf(line, sizeof(line), "%s", lines[i]);
        assert_int_equal(parse(line), XY_EUSAGE);
        assert_int_equal(testing_said_count, 1);
    }
    assert_non_null(strstr(testing_said, "'0' is not between 1"));
    assert_int_equal(parse("--empty="), XY_OK);
    assert_string_equal(values.empty, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPTION_TEST(test_ways_to_write),
        OPTION_TEST(test_kinds),
        OPTION_TEST(test_optional_value),
        OPTION_TEST(test_presets_and_no),
        OPTION_TEST(test_environment),
        OPTION_TEST(test_wrong_values),
        OPTION_TEST(test_unknown_options),
        OPTION_TEST(test_positionals),
        OPTION_TEST(test_stop_at_positional),
        OPTION_TEST(test_dashes),
        OPTION_TEST(test_man_sentences),
        OPTION_TEST(test_single_dash),
        OPTION_TEST(test_help_wins),
        OPTION_TEST(test_without_memory),
        OPTION_TEST(test_printers_know_all_options),
        OPTION_TEST(test_completion),
        OPTION_TEST(test_groups_and_marks),
        OPTION_TEST(test_help_text),
        OPTION_TEST(test_tables),
        OPTION_TEST(test_leaving_options_warn),
        OPTION_TEST(test_options_that_belong_together),
        OPTION_TEST(test_values_without_a_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
