/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of sources: the live machine, a machine that ships with Xylem, a file, or a synthetic
 * string, tried in this order; and the message when it is none.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine_internal.h"

enum { FILE_BYTES_MAX = 1 << 30 };

static xy_status_t add_directory(xy_vec_t *list, const char *path, size_t length)
{
    char *copy = xy_strndup(path, length);

    if (copy != NULL && xy_vec_append(list, &copy) == XY_OK)
        return XY_OK;
    xy_free(copy);
    return xy_fail_memory("looking for machine files");
}

/* PREFIX/share/xylem/machines of a program in PREFIX/bin: an installed tree can be moved. */
static xy_status_t add_beside_program(xy_vec_t *list)
{
    char *path = xy_beside("../share/xylem/machines");
    xy_status_t st = path != NULL ? add_directory(list, path, strlen(path))
                                  : xy_fail_memory("looking for machine files");

    xy_free(path);
    return st;
}

/* Where machine files are looked for: $XYLEM_MACHINES (directories separated by colons), then
 * beside the program, where they were installed, and the source tree, for programs run from the
 * build tree. */
static xy_status_t directories(xy_vec_t *list)
{
    const char *path = getenv("XYLEM_MACHINES");
    xy_status_t st = XY_OK;

    while (st == XY_OK && path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");

        st = add_directory(list, path, length);
        path += length + (path[length] == ':');
    }
    if (st == XY_OK)
        st = add_beside_program(list);
    if (st == XY_OK)
        st = add_directory(list, XYLEM_MACHINES_DIR, SIZE_MAX);
    if (st == XY_OK)
        st = add_directory(list, XYLEM_MACHINES_SOURCE, SIZE_MAX);
    return st;
}

static void free_strings(xy_vec_t *list)
{
    for (size_t i = 0; i < list->count; i++)
        xy_free(XY_VEC_AT(list, char *, i));
    xy_vec_cleanup(list);
}

static bool is_bare_name(const char *s)
{
    size_t n = strlen(s);

    return n > 0 && n < 128 && s[0] != '.' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.") == n;
}

/* "NAME.xml" in one of the directories: *path_p is fresh memory, or NULL when there is none. */
static xy_status_t find_shipped(const char *name, char **path_p)
{
    xy_vec_t list = XY_VEC_INIT(char *);
    xy_status_t st = directories(&list);
    char *path = NULL;

    for (size_t i = 0; st == XY_OK && path == NULL && i < list.count; i++) {
        struct stat info;

        path = xy_sprintf("%s/%s.xml", XY_VEC_AT(&list, char *, i), name);
        if (path == NULL) {
            st = xy_fail_memory("looking for machine files");
        } else if (stat(path, &info) != 0) {
            xy_free(path);
            path = NULL;
        }
    }
    free_strings(&list);
    if (st == XY_OK)
        *path_p = path;
    return st;
}

/* Appends the names of the machine files in a directory; the caller frees them. */
static xy_status_t add_names(xy_vec_t *names, const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;
    xy_status_t st = XY_OK;

    while (d != NULL && st == XY_OK && (e = readdir(d)) != NULL) {
        size_t n = strlen(e->d_name);
        char *copy;

        if (n < 5 || strcmp(e->d_name + n - 4, ".xml") != 0)
            continue;
        copy = xy_strndup(e->d_name, n - 4);
        if (copy == NULL || xy_vec_append(names, &copy) != XY_OK) {
            xy_free(copy);
            st = xy_fail_memory("looking for machine files");
        }
    }
    if (d != NULL)
        closedir(d);
    return st;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void remove_duplicates(xy_vec_t *names)
{
    size_t kept = 0;
    char **s = names->data;

    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(s[kept - 1], s[i]) == 0)
            xy_free(s[i]);
        else
            s[kept++] = s[i];
    }
    names->count = kept;
}

xy_status_t xy_machine_names(xy_vec_t *names)
{
    xy_vec_t list = XY_VEC_INIT(char *), found = XY_VEC_INIT(char *);
    xy_status_t st = directories(&list);

    for (size_t i = 0; st == XY_OK && i < list.count; i++)
        st = add_names(&found, XY_VEC_AT(&list, char *, i));
    free_strings(&list);
    if (st != XY_OK) {
        free_strings(&found);
        return st;
    }
    if (found.count > 0)
        qsort(found.data, found.count, sizeof(char *), compare_strings);
    remove_duplicates(&found);
    *names = found;
    return XY_OK;
}

/* Say what was tried, and the nearest shipped machine. */
static xy_status_t fail_unknown(const char *source)
{
    xy_vec_t names = XY_VEC_INIT(char *);
    char *end = NULL;
    const char *near = NULL;
    xy_status_t st = xy_machine_names(&names);

    if (st != XY_OK)
        return st;
    if (xy_vec_append(&names, &end) == XY_OK)
        near = xy_nearest_word(source, names.data);
    st = xy_fail(XY_ENOENT,
                 "'%.100s' is not a machine: no file has this name, none ships with Xylem, and it "
                 "is not a string like 'node:4 core:8'%s%s%s",
                 source, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                 near != NULL ? "'?" : "");
    free_strings(&names);
    return st;
}

/* "package:2 ...", "[numa] ...", "2 24", "64x2x8", or blanks. A path may hold all of these signs,
 * but not a word and a colon in front; what exists as a file is a file. */
static bool looks_synthetic(const char *s)
{
    size_t word;

    s += strspn(s, " \t");
    if (*s == '\0' || *s == '[' || (*s == '-' && s[1] != '\0'))
        return true;
    word = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (s[word] == ':')
        return true;
    return strspn(s, "0123456789xX+-. ") == strlen(s);
}

/* A file of costs of several hosts describes them in one of its elements. */
static const xy_xml_node_t *find_machine(const xy_xml_node_t *root)
{
    const xy_xml_node_t *n = root->child;

    while (n != NULL && strcmp(n->name, "machine") != 0)
        n = n->next;
    return n;
}

xy_status_t xy_machine_parse_element(const xy_xml_t *doc, const xy_xml_node_t *element,
                                     xy_machine_t **machine_p)
{
    return machine_file_parse(doc, element, machine_p);
}

xy_status_t xy_machine_parse(const char *data, size_t size, const char *path,
                             xy_machine_t **machine_p)
{
    xy_xml_t *doc;
    const xy_xml_node_t *root;
    bool is_hwloc, is_costs;
    xy_status_t st;

    st = xy_xml_parse(data, size, path, &xy_xml_default_limits, &doc);
    if (st != XY_OK)
        return st;
    root = xy_xml_root(doc);
    is_hwloc = strcmp(root->name, "topology") == 0;
    is_costs = strcmp(root->name, "XylemCosts") == 0;
    if (is_costs && find_machine(root) != NULL)
        root = find_machine(root);
    if (strcmp(root->name, "machine") == 0)
        st = machine_file_parse(doc, root, machine_p);
    else if (is_costs)
        st = xy_fail_at(XY_EPARSE, path, root->line,
                        "these are costs of one machine, without a <machine>; 'xylem calibrate "
                        "--hosts' writes a file that has both");
    else if (!is_hwloc)
        st = xy_fail_at(XY_EPARSE, path, root->line,
                        "the first element is <%.40s>; a machine file starts with <machine>, "
                        "hwloc's with <topology>",
                        root->name);
    xy_xml_free(doc);
    return is_hwloc ? machine_hwloc_parse(data, size, path, machine_p) : st;
}

xy_status_t xy_machine_read(const char *path, xy_machine_t **machine_p)
{
    char *data;
    size_t size;
    xy_status_t st = xy_file_read(path, FILE_BYTES_MAX, &data, &size);

    if (st != XY_OK)
        return st;
    st = xy_machine_parse(data, size, path, machine_p);
    xy_free(data);
    return st;
}

xy_status_t xy_machine_load(const char *source, xy_machine_t **machine_p)
{
    char *shipped = NULL;
    struct stat info;
    xy_status_t st = XY_OK;

    if (source == NULL || strcmp(source, "live") == 0)
        return xy_machine_live(machine_p);
    if (is_bare_name(source))
        st = find_shipped(source, &shipped);
    if (st != XY_OK)
        return st;
    if (shipped != NULL) {
        st = xy_machine_read(shipped, machine_p);
        xy_free(shipped);
        return st;
    }
    if (strcmp(source, "-") == 0 || stat(source, &info) == 0)
        return xy_machine_read(source, machine_p);
    if (looks_synthetic(source))
        return xy_machine_synthetic(source, machine_p);
    /* A path that does not exist is reported as such. */
    return strchr(source, '/') != NULL ? xy_machine_read(source, machine_p) : fail_unknown(source);
}
