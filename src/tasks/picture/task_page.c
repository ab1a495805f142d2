/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tasks/picture/picture_internal.h"

enum { SLIDER_CELLS_MAX = 1 << 20 };

static const char *const names[PICTURE_VIEWS] = {"time", "iteration", "slices", "memory", "links"};

bool picture_is_drawable(const picture_layout_t *l, picture_view_t view)
{
    switch (view) {
    case PICTURE_VIEW_TIME:
    case PICTURE_VIEW_ITERATION:
        return l->dims > 0 && l->iterations > 0;
    case PICTURE_VIEW_SLICES:
        return l->dims > 1 && l->iterations > 0 && l->cells <= SLIDER_CELLS_MAX;
    case PICTURE_VIEW_MEMORY:
        return l->picture->rooms.count > 0;
    default:
        return l->picture->transfers.count > 0;
    }
}

xy_status_t picture_draw(picture_layout_t *l, picture_view_t view)
{
    switch (view) {
    case PICTURE_VIEW_TIME:
        picture_draw_time(l);
        return XY_OK;
    case PICTURE_VIEW_ITERATION:
        return picture_draw_iterations(l);
    case PICTURE_VIEW_SLICES:
        return picture_draw_slices(l);
    case PICTURE_VIEW_MEMORY:
        picture_draw_memory(l);
        return XY_OK;
    default:
        picture_draw_links(l);
        return XY_OK;
    }
}

typedef struct {
    const picture_layout_t *layout;
    picture_view_t view;
} picture_file_t;

static xy_status_t write_picture(const void *arg, FILE *file)
{
    const picture_file_t *p = arg;
    picture_layout_t l = *p->layout;

    l.f = file;
    return picture_draw(&l, p->view);
}

static xy_status_t write_file(const picture_layout_t *l, picture_view_t view, const char *prefix)
{
    char *path = xy_sprintf("%s-%s.svg", prefix, names[view]);
    xy_status_t st = path != NULL ? xy_out_write(path, write_picture, &(picture_file_t){l, view})
                                  : xy_fail_memory("naming a picture");

    xy_free(path);
    return st;
}

xy_status_t xy_picture_files(const xy_picture_t *picture, const xy_graph_t *graph,
                             const char *prefix)
{
    picture_layout_t l;
    xy_status_t st = picture_layout_init(&l, picture, graph);

    if (st != XY_OK)
        return st;
    for (int i = 0; i < PICTURE_VIEWS && st == XY_OK; i++)
        if (picture_is_drawable(&l, (picture_view_t)i))
            st = write_file(&l, (picture_view_t)i, prefix);
    picture_layout_cleanup(&l);
    return st;
}

/* ---- The page ---- */

static const char *const captions[PICTURE_VIEWS] = {
    "A mark per task, in the colour of its worker; thin marks are transfers. A worker whose marks "
    "stay at one position reuses its data.",
    "In the colours of the workers. A line connects the iterations that the blocks have reached at "
    "one time; steep teeth show that a worker advances a few blocks while it has their data.",
    "The domain at six instants; the stronger the colour, the more iterations are done.",
    "What each memory holds, in the colour of its worker.",
    "How many loads, stores and transfers between memories are in progress.",
};

static const char *const headings[PICTURE_VIEWS] = {
    "Domain against time", "Domain against iteration", "Slices", "Memories", "Links"};

/* The first line is what was found, the others are the numbers behind it. */
static void print_head(FILE *f, const xy_picture_text_t *text)
{
    const char *all = text->text != NULL ? text->text : "";
    size_t first = strcspn(all, "\n");
    char finding[256];

    snprintf(finding, sizeof(finding), "%.*s", (int)(first < 255 ? first : 255), all);
    xy_page_begin(f, &(xy_page_t){.title = text->title,
                                  .finding = finding,
                                  .style = "canvas{max-width:100%}input[type=range]{width:30em;"
                                           "max-width:60%;vertical-align:middle}\n"});
    if (all[first] == '\n') {
        fputs("<pre>", f);
        xy_xml_escape(f, all + first + 1);
        fputs("</pre>\n", f);
    }
}

/* The tones of the workers' colours, for light and for dark ground. */
static void print_tones(FILE *f)
{
    fputs("const C=[", f);
    for (int w = 0; w < XY_COLOURS; w++)
        fprintf(f, "['%s','%s'],", xy_colours[picture_colour(w)].light,
                xy_colours[picture_colour(w)].dark);
    fputs("];\n", f);
}

/* Draws the state of the domain at the instant of the slider, or plays from there. */
static const char player[] =
    "const $=id=>document.getElementById(id),cv=$('film'),g=cv.getContext('2d');\n"
    "const night=matchMedia('(prefers-color-scheme:dark)');\n"
    "const across=Math.max(1,Math.min(N[2],Math.floor(900/(N[1]*6+10))));\n"
    "const U=Math.max(4,Math.min(28,Math.floor((940/across-10)/N[1])));\n"
    "const rows=Math.ceil(N[2]/across);cv.width=across*(N[1]*U+10);cv.height=rows*(N[0]*U+10);\n"
    "function draw(){const w=$('when').value/1000*END,k=night.matches?1:0;\n"
    "$('at').textContent=END>=1?w.toFixed(3)+' s':(w*1e3).toFixed(3)+' ms';\n"
    "g.clearRect(0,0,cv.width,cv.height);const n=N[0]*N[1]*N[2],done=new Float64Array(n);\n"
    "const who=new Int32Array(n),last=new Float64Array(n).fill(-1e9);\n"
    "for(let i=0;i<tasks.length&&tasks[i]<=w;i+=4){const c=tasks[i+1];\n"
    "done[c]=Math.max(done[c],tasks[i+2]+1);who[c]=tasks[i+3];last[c]=tasks[i];}\n"
    "for(let z=0;z<N[2];z++)for(let x=0;x<N[0];x++)for(let y=0;y<N[1];y++){\n"
    "const "
    "c=(x*N[1]+y)*N[2]+z,px=z%across*(N[1]*U+10)+y*U,py=Math.floor(z/across)*(N[0]*U+10)+x*U;\n"
    "g.globalAlpha=1;g.fillStyle=k?'#1b1e24':'#f3f3f3';g.fillRect(px,py,U-1,U-1);\n"
    "if(done[c]){g.globalAlpha=0.12+0.88*done[c]/T;g.fillStyle=C[who[c]%C.length][k];\n"
    "g.fillRect(px,py,U-1,U-1);g.globalAlpha=1}\n"
    "if(last[c]>w-END/60){g.strokeStyle=k?'#fff':'#000';g.strokeRect(px+.5,py+.5,U-2,U-2);}}}\n"
    "$('when').addEventListener('input',draw);night.addEventListener('change',draw);let timer=0;\n"
    "$('play').addEventListener('click',()=>{if(timer){clearInterval(timer);timer=0;\n"
    "$('play').textContent='play';return;}$('play').textContent='stop';\n"
    "timer=setInterval(()=>{$('when').value=(+$('when').value+4)%1001;draw();},40);});\n"
    "draw();\n</script>\n";

/* The film: every slice of the domain at the instant that the slider shows. */
static void print_slider(const picture_layout_t *l)
{
    fprintf(l->f,
            "<h2>Film</h2>\n<p><label>time <input id='when' type='range' min='0' max='1000' "
            "value='300'></label> <output id='at' for='when'></output> "
            "<button id='play'>play</button></p>\n<canvas id='film'></canvas>\n<p>Each "
            "square is a block, in the colour of the worker that ran it last, the stronger the "
            "colour the more "
            "iterations it has done; outlined are those of the last moments.%s</p>\n<script>\n"
            "const N=[%lld,%lld,%lld],T=%d,END=%.9g,tasks=[",
            l->dims > 2 ? " One picture per layer of the third dimension." : "",
            (long long)l->size[0], (long long)l->size[1], (long long)l->size[2], l->iterations,
            l->end);
    for (size_t i = 0; i < l->picture->tasks.count; i += l->step) {
        const picture_task_t *t = &XY_VEC_AT(&l->picture->tasks, picture_task_t, i);

        if (l->place[t->op] >= 0)
            fprintf(l->f, "%.6g,%lld,%d,%d,", t->end, (long long)l->place[t->op],
                    l->iteration[t->op], t->worker);
    }
    fputs("];\n", l->f);
    print_tones(l->f);
    fputs(player, l->f);
}

/* Prints all pictures that the data allow, with headings and captions. */
static xy_status_t print_pictures(picture_layout_t *l)
{
    xy_status_t st = XY_OK;

    for (int i = 0; i < PICTURE_VIEWS && st == XY_OK; i++) {
        if (!picture_is_drawable(l, (picture_view_t)i))
            continue;
        xy_page_heading(l->f, "%s", headings[i]);
        st = picture_draw(l, (picture_view_t)i);
        xy_page_paragraph(
            l->f, "%s%s", captions[i],
            i == PICTURE_VIEW_TIME && l->step > 1 ? " Only some of the marks are drawn." : "");
        if (i == PICTURE_VIEW_SLICES)
            print_slider(l);
    }
    return st;
}

xy_status_t xy_picture_page(const xy_picture_t *picture, const xy_graph_t *graph,
                            const xy_picture_text_t *text, FILE *file)
{
    picture_layout_t l;
    xy_status_t st = picture_layout_init(&l, picture, graph);

    if (st != XY_OK)
        return st;
    l.f = file;
    l.is_embedded = true;
    print_head(file, text);
    if (l.dims == 0)
        xy_page_paragraph(file, "No datum has a position: there is no domain to draw.");
    st = print_pictures(&l);
    xy_page_end(file);
    picture_layout_cleanup(&l);
    return st;
}
