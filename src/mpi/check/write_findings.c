/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings for other programs: JSON, and SARIF 2.1.0, which forges show beside the source. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xylem.h>

#include "draw/draw.h"
#include "mpi/check/findings.h"

static const check_finding_t *finding_at(const check_results_t *r, size_t i)
{
    return &XY_VEC_AT(r->findings, check_finding_t, i);
}

static const char *level_of(const check_finding_t *f)
{
    return mpi_finding_classes[f->kind].is_error ? "error" : "warning";
}

/* "ring.c:12": the line, and the file in `file`. 0: the place is not a line. */
static long split_place(const char *place, char file[CHECK_PLACE_SIZE])
{
    const char *colon = strrchr(place, ':');
    long line;

    if (colon == NULL || !xy_parse_long(colon + 1, &line) || line < 1)
        return 0;
    snprintf(file, CHECK_PLACE_SIZE, "%.*s", (int)(colon - place), place);
    return line;
}

static void write_place(xy_json_t *j, const char *key, const char *place)
{
    char file[CHECK_PLACE_SIZE];
    long line = split_place(place, file);

    if (place[0] == '\0')
        return;
    xy_fields_object(j, key, "file %s line %ld text %s", line > 0 ? file : NULL, line, place);
}

static void write_ranks(xy_json_t *j, const xy_bitset_t *ranks)
{
    xy_json_begin_array(j, "ranks");
    for (size_t r = xy_bitset_next(ranks, 0); r < ranks->bits; r = xy_bitset_next(ranks, r + 1))
        xy_json_int(j, NULL, (int64_t)r);
    xy_json_end(j);
}

static const check_line_t *line_at(const check_finding_t *f, size_t i)
{
    return &XY_VEC_AT(&f->lines, check_line_t, i);
}

/* Write the calls of the ranks of a deadlock. */
static void write_lines(xy_json_t *j, const check_finding_t *f)
{
    xy_json_begin_array(j, "states");
    for (size_t i = 0; i < f->lines.count; i++) {
        xy_json_begin_object(j, NULL);
        write_ranks(j, &line_at(f, i)->ranks);
        xy_json_string(j, "state", line_at(f, i)->text);
        write_place(j, "place", line_at(f, i)->place);
        xy_json_end(j);
    }
    xy_json_end(j);
}

/* Write one finding as JSON. */
static void write_finding(xy_json_t *j, const check_finding_t *f)
{
    xy_json_begin_object(j, NULL);
    xy_fields(j, "class %s severity %s message %s", mpi_finding_classes[f->kind].name, level_of(f),
              f->message);
    write_ranks(j, &f->ranks);
    xy_json_begin_array(j, "places");
    for (int i = 0; i < 2; i++)
        write_place(j, NULL, f->places[i]);
    xy_json_end(j);
    if (f->lines.count > 0)
        write_lines(j, f);
    xy_fields(j, "count %ld suppressed %i", f->count, f->is_suppressed);
    xy_json_end(j);
}

xy_status_t check_write_json(const void *results, FILE *file)
{
    const check_results_t *r = results;
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "program %s ranks %d", r->config->program, r->config->ranks);
    if (r->is_ended)
        xy_json_string(&j, "program_exit_code", NULL);
    else
        xy_json_int(&j, "program_exit_code", r->code);
    xy_fields(&j, "exit_code %d errors %d warnings %d", r->final_code, r->errors, r->warnings);
    xy_json_begin_array(&j, "findings");
    for (size_t i = 0; i < r->findings->count; i++)
        write_finding(&j, finding_at(r, i));
    xy_json_end(&j);
    xy_json_end(&j);
    return XY_OK;
}

/* ---- SARIF ---- */

/* "ranks 0-3: ..."; NULL: no memory. */
static char *say_ranks(const xy_bitset_t *set, const char *message)
{
    char *ranks = xy_bitset_format(set);
    char *text = xy_sprintf("rank%s %s: %s", xy_bitset_count(set) == 1 ? "" : "s",
                            ranks != NULL ? ranks : "?", message);

    xy_free(ranks);
    return text;
}

static void write_text(xy_json_t *j, const char *key, const char *text)
{
    xy_fields_object(j, key, "text %s", text);
}

/* Write the tool and its rules, one per kind of finding, as SARIF. */
static void write_driver(xy_json_t *j)
{
    xy_json_begin_object(j, "tool");
    xy_json_begin_object(j, "driver");
    xy_fields(j, "name %s semanticVersion %s", "Xylem", xylem_version());
    xy_json_begin_array(j, "rules");
    for (int k = 0; k < XMPI_FINDING_KINDS; k++) {
        xy_json_begin_object(j, NULL);
        xy_json_string(j, "id", mpi_finding_classes[k].name);
        write_text(j, "shortDescription", mpi_finding_classes[k].summary);
        write_text(j, "fullDescription", mpi_finding_classes[k].rule);
        write_text(j, "help", mpi_finding_classes[k].cure);
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_end(j);
    xy_json_end(j);
}

/* A path as a reference: relative, or file://. */
static void write_uri(xy_json_t *j, const char *path)
{
    xy_text_t uri = XY_TEXT_INIT;

    xy_text_add(&uri, path[0] == '/' ? "file://" : "");
    for (; *path != '\0'; path++)
        if (isalnum((unsigned char)*path) || strchr("-._~/", *path) != NULL)
            xy_text_add_bytes(&uri, path, 1);
        else
            xy_text_addf(&uri, "%%%02X", (unsigned)(unsigned char)*path);
    xy_json_string(j, "uri", uri.failed ? NULL : uri.s);
    xy_text_cleanup(&uri);
}

/* `text`: what is there; or NULL. */
static void write_location(xy_json_t *j, const char *place, const char *text)
{
    char file[CHECK_PLACE_SIZE];
    long line = split_place(place, file);

    if (line == 0)
        return;
    xy_json_begin_object(j, NULL);
    xy_json_begin_object(j, "physicalLocation");
    xy_json_begin_object(j, "artifactLocation");
    write_uri(j, file);
    xy_json_end(j);
    xy_fields_object(j, "region", "startLine %ld", line);
    xy_json_end(j);
    if (text != NULL)
        write_text(j, "message", text);
    xy_json_end(j);
}

/* "ranks 0-3: in MPI_Recv ..." */
static void write_state(xy_json_t *j, const check_line_t *line)
{
    char *text = say_ranks(&line->ranks, line->text);

    write_location(j, line->place, text != NULL ? text : line->text);
    xy_free(text);
}

static void write_locations(xy_json_t *j, const check_finding_t *f)
{
    xy_json_begin_array(j, "locations");
    write_location(j, f->places[0], NULL);
    xy_json_end(j);
    xy_json_begin_array(j, "relatedLocations");
    if (f->lines.count == 0)
        write_location(j, f->places[1], NULL);
    for (size_t i = 0; i < f->lines.count; i++)
        write_state(j, line_at(f, i));
    xy_json_end(j);
}

/* Write one finding as a SARIF result. */
static void write_result(xy_json_t *j, const check_finding_t *f)
{
    char *text = say_ranks(&f->ranks, f->message);

    xy_json_begin_object(j, NULL);
    xy_fields(j, "ruleId %s ruleIndex %u level %s", mpi_finding_classes[f->kind].name, f->kind,
              level_of(f));
    write_text(j, "message", text != NULL ? text : f->message);
    write_locations(j, f);
    if (f->is_suppressed) {
        xy_json_begin_array(j, "suppressions");
        xy_fields_object(j, NULL, "kind %s", "external");
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_free(text);
}

xy_status_t check_write_sarif(const void *results, FILE *file)
{
    const check_results_t *r = results;
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "$schema %s version %s", "https://json.schemastore.org/sarif-2.1.0.json",
              "2.1.0");
    xy_json_begin_array(&j, "runs");
    xy_json_begin_object(&j, NULL);
    write_driver(&j);
    xy_json_begin_array(&j, "results");
    for (size_t i = 0; i < r->findings->count; i++)
        write_result(&j, finding_at(r, i));
    xy_json_end(&j);
    xy_json_end(&j);
    xy_json_end(&j);
    xy_json_end(&j);
    return XY_OK;
}
