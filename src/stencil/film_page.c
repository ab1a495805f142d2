/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page of a film. Coordinates are those of the grid: tasks of a stencil are numbered in the
 * order in which they are built, so the graph is built once more to find where each one lies.
 */
#include <math.h>

#include "stencil/film.h"

enum { WIDTH = 1000, HEIGHT = 420, LEFT = 60, TOP = 30, RIGHT = 10, BOTTOM = 36 };
enum { MARKS_MAX = 200000 };

typedef struct {
    const xy_stencil_film_t *film;
    const xy_stencil_t *s;
    const xy_graph_t *graph;
    double end; /* seconds */
    FILE *f;
} page_t;

static uint32_t worker_colour(int32_t worker)
{
    static const uint32_t colours[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                       0x56b4e9, 0xd55e00, 0x8a7a00, 0x555555};

    return colours[worker % 8];
}

static double plot_x(double share)
{
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double plot_y(double share)
{
    return TOP + share * (HEIGHT - TOP - BOTTOM);
}

static void begin(const page_t *p, const char *title, const char *x, const char *y)
{
    fprintf(p->f,
            "<h2>%s</h2>\n<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
            "aria-label='%s'>\n<rect x='%d' y='%d' width='%d' height='%d' class='frame'/>\n"
            "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n"
            "<text transform='translate(16,%d) rotate(-90)' text-anchor='middle'>%s</text>\n",
            title, WIDTH, HEIGHT, title, LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM,
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x, (TOP + HEIGHT - BOTTOM) / 2, y);
}

static void scale_x(const page_t *p, double most, const char *unit)
{
    for (int i = 0; i <= 5; i++)
        fprintf(p->f, "<text x='%.1f' y='%d' text-anchor='middle'>%.4g%s</text>\n", plot_x(i / 5.0),
                HEIGHT - BOTTOM + 16, most * i / 5, unit);
}

static void scale_y(const page_t *p, double most)
{
    for (int i = 0; i <= 4; i++)
        fprintf(p->f, "<text x='%d' y='%.1f' text-anchor='end'>%.4g</text>\n", LEFT - 6,
                plot_y(i / 4.0) + 4, most * i / 4);
}

/* ---- The domain against time ---- */

static void draw_time(const page_t *p)
{
    double blocks = (double)p->s->blocks[0], high = (HEIGHT - TOP - BOTTOM) / blocks;
    size_t step = 1 + (p->film->tasks.count + p->film->transfers.count) / MARKS_MAX;

    begin(p, "Domain against time", "time", "position");
    scale_x(p, p->end * 1e3, " ms");
    scale_y(p, blocks);
    for (size_t i = 0; i < p->film->transfers.count; i += step) {
        const film_transfer_t *t = &XY_VEC_AT(&p->film->transfers, film_transfer_t, i);
        double y = (double)xy_graph_datum(p->graph, t->data)->position[0];

        fprintf(p->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' class='%s'/>\n",
                plot_x(t->start / p->end), plot_y(y / blocks) + 0.3 * high,
                fmax(0.5, (t->end - t->start) / p->end * (WIDTH - LEFT - RIGHT)),
                fmax(0.5, 0.4 * high),
                t->from == 0 ? "load"
                : t->to == 0 ? "store"
                             : "peer");
    }
    for (size_t i = 0; i < p->film->tasks.count; i += step) {
        const film_task_t *t = &XY_VEC_AT(&p->film->tasks, film_task_t, i);

        fprintf(p->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='#%06x'/>\n",
                plot_x(t->start / p->end),
                plot_y((double)xy_graph_op(p->graph, t->op)->position[0] / blocks),
                fmax(0.5, (t->end - t->start) / p->end * (WIDTH - LEFT - RIGHT)), fmax(0.5, high),
                worker_colour(t->worker));
    }
    fprintf(p->f, "</svg>\n<p class='key'>A mark per task, coloured by worker; thin marks are "
                  "<span class='loadk'>loads</span>, <span class='storek'>stores</span> and "
                  "<span class='peerk'>transfers between GPUs</span>. Horizontal runs of one "
                  "colour are reuse.</p>\n");
}

/* ---- The domain against iterations ---- */

/* When each block of the first line ended each iteration: [iteration][position]; -1: never. */
static double *end_times(const page_t *p)
{
    int64_t blocks = p->s->blocks[0];
    size_t cells = (size_t)(blocks * p->s->iterations);
    double *ends = xy_malloc((cells + 1) * sizeof(*ends));

    for (size_t i = 0; ends != NULL && i < cells; i++)
        ends[i] = -1;
    for (size_t i = 0; ends != NULL && i < p->film->tasks.count; i++) {
        const film_task_t *t = &XY_VEC_AT(&p->film->tasks, film_task_t, i);
        const xy_op_t *op = xy_graph_op(p->graph, t->op);
        double *cell = &ends[op->iteration * blocks + op->position[0]];

        *cell = t->end > *cell ? t->end : *cell;
    }
    return ends;
}

/* Where the blocks were at one instant: a line through the iterations each had done. */
static void draw_isochrone(const page_t *p, const double *ends, double time)
{
    int64_t blocks = p->s->blocks[0];

    fprintf(p->f, "<polyline class='iso' points='");
    for (int64_t x = 1; x < blocks - 1; x++) {
        int t = 0;

        while (t < p->s->iterations && ends[t * blocks + x] >= 0 && ends[t * blocks + x] <= time)
            t++;
        fprintf(p->f, "%.1f,%.1f ", plot_x((double)t / p->s->iterations),
                plot_y(((double)x + 0.5) / (double)blocks));
    }
    fprintf(p->f, "'/>\n");
}

static xy_status_t draw_iterations(const page_t *p)
{
    double blocks = (double)p->s->blocks[0], high = (HEIGHT - TOP - BOTTOM) / blocks;
    double wide = (double)(WIDTH - LEFT - RIGHT) / p->s->iterations;
    int lines = (int)sqrt(p->s->iterations / 2.0);
    size_t step = 1 + p->film->tasks.count / MARKS_MAX;
    double *ends = end_times(p);

    if (ends == NULL)
        return xy_fail_memory("drawing the domain");
    begin(p, "Domain against iteration", "iteration", "position");
    scale_x(p, p->s->iterations, "");
    scale_y(p, blocks);
    for (size_t i = 0; i < p->film->tasks.count; i += step) {
        const film_task_t *t = &XY_VEC_AT(&p->film->tasks, film_task_t, i);
        const xy_op_t *op = xy_graph_op(p->graph, t->op);

        fprintf(p->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='#%06x'/>\n",
                plot_x((double)op->iteration / p->s->iterations),
                plot_y((double)op->position[0] / blocks), wide, high, worker_colour(t->worker));
    }
    for (int i = 1; i <= lines; i++)
        draw_isochrone(p, ends, p->end * i / (lines + 1));
    xy_free(ends);
    fprintf(p->f, "</svg>\n<p class='key'>Black lines join what was done by the same instant, at "
                  "equal distances in time. Teeth are locality.</p>\n");
    return XY_OK;
}

/* ---- Slices with a slider ---- */

static void draw_slices(const page_t *p)
{
    const xy_stencil_t *s = p->s;

    fprintf(p->f,
            "<h2>Slices</h2>\n<p><label>time <input id='when' type='range' min='0' max='1000' "
            "value='500'></label> <output id='at'></output></p>\n<canvas id='film' width='%lld' "
            "height='%lld'></canvas>\n<p class='key'>Each square is a block, the darker the more "
            "iterations it has done; outlined are the blocks that ran last.</p>\n<script>\n"
            "const N=[%lld,%lld,%lld],T=%d,END=%.9g,tasks=[",
            /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast) */
            (long long)(s->blocks[2] * (s->blocks[1] * 14 + 14)), (long long)(s->blocks[0] * 14),
            (long long)s->blocks[0], (long long)s->blocks[1], (long long)s->blocks[2],
            s->iterations, p->end);
    for (size_t i = 0; i < p->film->tasks.count && i < MARKS_MAX; i++) {
        const film_task_t *t = &XY_VEC_AT(&p->film->tasks, film_task_t, i);
        const xy_op_t *op = xy_graph_op(p->graph, t->op);

        fprintf(p->f, "%.6g,%lld,%d,%d,", t->end,
                /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast) */
                (long long)((op->position[0] * s->blocks[1] + op->position[1]) * s->blocks[2] +
                            op->position[2]),
                op->iteration, t->worker);
    }
    fprintf(p->f,
            "];\nconst C=['0,114,178','230,159,0','0,158,115','204,121,167','86,180,233',"
            "'213,94,0','138,122,0','85,85,85'];\n"
            "function draw(){const w=document.getElementById('when').value/1000*END;"
            "document.getElementById('at').textContent=(w*1e3).toFixed(1)+' ms';"
            "const g=document.getElementById('film').getContext('2d');"
            "g.clearRect(0,0,1e5,1e5);const done=new Array(N[0]*N[1]*N[2]).fill(0),"
            "who=new Array(done.length).fill(0),last=new Array(done.length).fill(-1);"
            "for(let i=0;i<tasks.length;i+=4){if(tasks[i]>w)continue;const c=tasks[i+1];"
            "done[c]=Math.max(done[c],tasks[i+2]+1);who[c]=tasks[i+3];last[c]=tasks[i];}"
            "for(let z=0;z<N[2];z++)for(let x=0;x<N[0];x++)for(let y=0;y<N[1];y++){"
            "const c=(x*N[1]+y)*N[2]+z,px=z*(N[1]*14+14)+y*14,py=x*14;"
            "g.fillStyle='rgba('+C[who[c]%%8]+','+(0.08+0.92*done[c]/T)+')';"
            "g.fillRect(px,py,13,13);"
            "if(last[c]>w-END/50){g.strokeStyle='#000';g.strokeRect(px+.5,py+.5,12,12);}}}\n"
            "document.getElementById('when').addEventListener('input',draw);draw();\n</script>\n");
}

/* ---- Memories and links ---- */

static void draw_memories(const page_t *p)
{
    double most = 1;
    int32_t memories = 1;

    for (size_t i = 0; i < p->film->rooms.count; i++) {
        const film_room_t *r = &XY_VEC_AT(&p->film->rooms, film_room_t, i);

        most = r->used > most ? r->used : most;
        memories = r->memory >= memories ? r->memory + 1 : memories;
    }
    begin(p, "Memories", "time", "MiB used");
    scale_x(p, p->end * 1e3, " ms");
    for (int i = 0; i <= 4; i++)
        fprintf(p->f, "<text x='%d' y='%.1f' text-anchor='end'>%.4g</text>\n", LEFT - 6,
                plot_y(1 - i / 4.0) + 4, most * i / 4 / 1048576);
    for (int32_t m = 1; m < memories; m++) {
        double last = -1;

        fprintf(p->f, "<polyline fill='none' stroke='#%06x' points='%.1f,%.1f ",
                worker_colour(m - 1), plot_x(0), plot_y(1));
        for (size_t i = 0; i < p->film->rooms.count; i++) {
            const film_room_t *r = &XY_VEC_AT(&p->film->rooms, film_room_t, i);

            if (r->memory != m || r->time < last + p->end / 4000)
                continue;
            last = r->time;
            fprintf(p->f, "%.1f,%.1f ", plot_x(r->time / p->end), plot_y(1 - r->used / most));
        }
        fprintf(p->f, "'/>\n");
    }
    fprintf(p->f, "</svg>\n");
}

enum { BINS = 200 };

/* The share of each of BINS stretches of time in which loads, stores and peers were under way. */
static void draw_links(const page_t *p)
{
    static const char *const classes[3] = {"load", "store", "peer"};
    double busy[3][BINS] = {{0}};

    for (size_t i = 0; i < p->film->transfers.count; i++) {
        const film_transfer_t *t = &XY_VEC_AT(&p->film->transfers, film_transfer_t, i);
        int kind = t->from == 0 ? 0 : t->to == 0 ? 1 : 2;
        int first = (int)(t->start / p->end * BINS), last = (int)(t->end / p->end * BINS);

        for (int b = first; b <= last && b < BINS; b++) {
            double from = fmax(t->start, p->end * b / BINS);
            double to = fmin(t->end, p->end * (b + 1) / BINS);

            busy[kind][b] += to > from ? to - from : 0;
        }
    }
    begin(p, "Links", "time", "transfers under way");
    scale_x(p, p->end * 1e3, " ms");
    for (int b = 0; b < BINS; b++) {
        double below = 0;

        for (int k = 0; k < 3; k++) {
            double share = busy[k][b] / (p->end / BINS) / 4;

            fprintf(p->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' class='%s'/>\n",
                    plot_x((double)b / BINS), plot_y(fmax(0, 1 - below - share)),
                    (double)(WIDTH - LEFT - RIGHT) / BINS,
                    fmin(share, 1 - below) * (HEIGHT - TOP - BOTTOM), classes[k]);
            below += share;
        }
    }
    for (int i = 0; i <= 4; i++)
        fprintf(p->f, "<text x='%d' y='%.1f' text-anchor='end'>%d</text>\n", LEFT - 6,
                plot_y(1 - i / 4.0) + 4, i);
    fprintf(p->f, "</svg>\n");
}

xy_status_t xy_stencil_film_page(const xy_stencil_film_t *film, const xy_stencil_run_t *run,
                                 const xy_stencil_result_t *result, FILE *file)
{
    xy_stencil_t grid = run->grid;
    xy_graph_t *graph;
    page_t page = {.film = film, .s = &grid, .end = result->sim.makespan, .f = file};
    xy_status_t st;

    if (film->is_out_of_memory)
        return xy_fail_memory("keeping what happened");
    if (grid.parts == 0)
        grid.parts = run->gpus > 0 ? run->gpus + run->cpus : 1;
    grid.is_proportional = run->how.params.is_proportional;
    st = xy_stencil_build(&grid, &graph);
    if (st != XY_OK)
        return st;
    page.graph = graph;
    page.end = page.end > 0 ? page.end : 1;
    fprintf(file,
            "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>Stencil: "
            "%s</title>\n<style>body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;"
            "max-width:66em;padding:0 1em;color:#1c1c1c;background:#fff}svg{width:100%%;"
            "font:12px system-ui,sans-serif}.frame{fill:#f7f7f7;stroke:#bbb}.load,.loadk"
            "{fill:#d55e00;color:#d55e00}.store,.storek{fill:#56b4e9;color:#2a7fb0}.peer,"
            ".peerk{fill:#cc79a7;color:#a04f7d}.iso{fill:none;stroke:#000}.key{color:#555}"
            "</style></head><body>\n<h1>Stencil under %s</h1>\n<pre>",
            result->sim.policy, result->sim.policy);
    xy_stencil_print_text(run, result, file);
    fprintf(file, "</pre>\n");
    draw_time(&page);
    st = draw_iterations(&page);
    if (st == XY_OK) {
        if (grid.dims > 1)
            draw_slices(&page);
        draw_memories(&page);
        draw_links(&page);
        fprintf(file, "</body></html>\n");
    }
    xy_graph_destroy(graph);
    return st;
}
