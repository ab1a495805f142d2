/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters in words and in JSON. */
#include <string.h>

#include "draw/draw.h"
#include "machine/eco.h"

/* A thousand names are useless: print the first ones, and how many more. */
static void print_members(const xy_eco_t *eco, const xy_latency_t *m, uint32_t c, FILE *file)
{
    enum { SHOWN = 16 };
    uint32_t shown = 0;

    for (uint32_t i = 0; i < eco->machines && shown < SHOWN; i++)
        if (eco->cluster_of[i] == c)
            fprintf(file, "%s%s", shown++ > 0 ? ", " : "", m->name[i]);
    if (eco->cluster[c].machines > SHOWN)
        fprintf(file, " and %u more", eco->cluster[c].machines - SHOWN);
}

/* Prints members and latencies of a cluster, and the reason for its distance to the nearest one. */
static void print_cluster(const xy_eco_t *eco, const xy_latency_t *m, uint32_t c, FILE *file)
{
    const xy_eco_cluster_t *cluster = &eco->cluster[c];
    char a[32], b[32];

    fprintf(file, "C%u: ", c + 1);
    print_members(eco, m, c, file);
    fputc('\n', file);
    if (cluster->machines > 1)
        fprintf(file, "    %u machines, %s between them (the nearest two %s)\n", cluster->machines,
                xy_format_seconds(cluster->inside_mean, a), xy_format_seconds(cluster->inside, b));
    else
        fprintf(file, "    one machine\n");
    if (cluster->nearest == c)
        return;
    fprintf(file,
            "    %s from C%u: more than the %s that %g times the cheapest edge of %s allows\n",
            xy_format_seconds(cluster->distance, a), cluster->nearest + 1,
            xy_format_seconds(cluster->bound, b), eco->rho,
            cluster->reason == XY_ECO_FAR_MACHINE ? "its ends" : "their clusters");
}

/* Prints the clusters of each site, at most SHOWN. */
static void print_sites(const xy_eco_t *eco, FILE *file)
{
    enum { SHOWN = 16 };

    for (uint32_t s = 0; s < eco->sites; s++) {
        uint32_t shown = 0, all = 0;

        fprintf(file, "site S%u:", s + 1);
        for (uint32_t c = 0; c < eco->clusters; c++) {
            all += eco->site_of[c] == s;
            if (eco->site_of[c] == s && shown < SHOWN)
                fprintf(file, "%s C%u", shown++ > 0 ? "," : "", c + 1);
        }
        if (all > SHOWN)
            fprintf(file, " and %u more", all - SHOWN);
        fputc('\n', file);
    }
}

/* Prints the mean latencies between clusters. */
static void print_table(const xy_eco_t *eco, FILE *file)
{
    fputs("\nmean latency, microseconds\n      ", file);
    for (uint32_t j = 0; j < eco->clusters; j++) {
        char title[16];

        snprintf(title, sizeof(title), "C%u", j + 1);
        fprintf(file, " %10s", title);
    }
    fputc('\n', file);
    for (uint32_t i = 0; i < eco->clusters; i++) {
        fprintf(file, "C%-5u", i + 1);
        for (uint32_t j = 0; j < eco->clusters; j++)
            fprintf(file, " %10.2f", eco->between[(size_t)i * eco->clusters + j] * 1e6);
        fputc('\n', file);
    }
}

void xy_eco_print(const xy_eco_t *eco, const xy_latency_t *matrix, FILE *file)
{
    fprintf(file, "%u machine%s in %u cluster%s (rho %g) on %u site%s (rho %g)\n", eco->machines,
            eco->machines == 1 ? "" : "s", eco->clusters, eco->clusters == 1 ? "" : "s", eco->rho,
            eco->sites, eco->sites == 1 ? "" : "s", eco->rho_site);
    for (uint32_t c = 0; c < eco->clusters; c++)
        print_cluster(eco, matrix, c, file);
    if (eco->clusters > 1)
        print_sites(eco, file);
    if (eco->clusters > 1 && eco->clusters <= 12)
        print_table(eco, file);
}

/* Writes a cluster as a JSON object. */
static void json_cluster(xy_json_t *json, const xy_eco_t *eco, uint32_t c)
{
    const xy_eco_cluster_t *cluster = &eco->cluster[c];

    xy_json_begin_object(json, NULL);
    xy_fields(json, "cluster %u site %u machines %u representative %u", c + 1, eco->site_of[c] + 1,
              cluster->machines, cluster->first);
    if (cluster->machines > 1)
        xy_fields(json, "latency %g latency_min %g", cluster->inside_mean, cluster->inside);
    if (cluster->nearest != c)
        xy_fields(json, "nearest %u distance %g bound %g reason %s", cluster->nearest + 1,
                  cluster->distance, cluster->bound,
                  cluster->reason == XY_ECO_FAR_MACHINE ? "far machine" : "far cluster");
    xy_json_end(json);
}

void xy_eco_print_json(const xy_eco_t *eco, const xy_latency_t *matrix, FILE *file)
{
    xy_json_t json;

    xy_json_init(&json, file, true);
    xy_json_begin_object(&json, NULL);
    xy_fields(&json, "rho %g rho_site %g sites %u", eco->rho, eco->rho_site, eco->sites);
    xy_json_begin_array(&json, "machines");
    for (uint32_t i = 0; i < eco->machines; i++)
        xy_json_string(&json, NULL, matrix->name[i]);
    xy_json_end(&json);
    xy_json_begin_array(&json, "cluster_of");
    for (uint32_t i = 0; i < eco->machines; i++)
        xy_json_int(&json, NULL, eco->cluster_of[i] + 1);
    xy_json_end(&json);
    xy_json_begin_array(&json, "clusters");
    for (uint32_t c = 0; c < eco->clusters; c++)
        json_cluster(&json, eco, c);
    xy_json_end(&json);
    xy_json_end(&json);
}
