/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat maps of a run in one page that needs nothing else: a list of the matrices, the metric,
 * and the map, drawn in the browser from the numbers in the page. Without scripts it shows the map
 * of all messages.
 */
#include "draw/draw.h"
#include "place/traffic_internal.h"

enum { BINS_MAX = 128, PARTS_MAX = 200 };

static const xy_ink_t inks[] = {
    {":root", "--note", "#5b6475", "#a2abba"},      {":root", "--ground", "#f6f7f9", "#1b1e24"},
    {":root", "--line", "#8b93a3", "#6b7382"},      {":root", "--ink", "#1f2430", "#e6e9ef"},
    {":root", "--cell", "33,72,188", "91,122,209"}, {NULL, NULL, NULL, NULL},
};

static const char style[] =
    "label{margin-right:1.2em}select{font:inherit}#map{width:100%;max-width:720px;"
    "touch-action:none;display:block;margin:1em 0;outline-offset:4px}"
    "#said{min-height:1.5em;font-variant-numeric:tabular-nums}\n";

static const char script[] =
    "<script>\n"
    "const $=i=>document.getElementById(i),part=$('part'),metric=$('metric'),c=$('map');\n"
    "const units=[['B',1],['KiB',2**10],['MiB',2**20],['GiB',2**30],['TiB',2**40]];\n"
    "function bytes(v){let u=units[0];for(const x of units)if(v>=x[1])u=x;"
    "return(v/u[1]).toPrecision(3)*1+' '+u[0]}\n"
    "const value={size:e=>e[2],msg:e=>e[3],avg:e=>e[3]?e[2]/e[3]:0};\n"
    "const say={size:bytes,msg:v=>v+' messages',avg:v=>bytes(v)+' per message'};\n"
    "const first=b=>Math.ceil(b*talk.ranks/talk.bins);\n"
    "const span=b=>{const a=first(b),z=first(b+1)-1;return a>=z?''+a:a+' to '+z};\n"
    "const pad=44,side=720;let cells=[],at=null;\n"
    "function draw(){const r=devicePixelRatio||1,g=c.getContext('2d'),s=getComputedStyle("
    "document.documentElement),n=talk.bins,w=(side-pad-8)/n,v=value[metric.value];\n"
    "c.width=c.height=side*r;g.scale(r,r);g.clearRect(0,0,side,side);\n"
    "const ink=s.getPropertyValue('--note'),rgb=s.getPropertyValue('--cell');\n"
    "g.fillStyle=s.getPropertyValue('--ground');g.fillRect(pad,pad,w*n,w*n);\n"
    "cells=talk.parts[part.value].cells.filter(e=>v(e)>0);\n"
    "let most=0,least=Infinity;for(const e of cells){most=Math.max(most,v(e));"
    "least=Math.min(least,v(e))}\n"
    "for(const e of cells){const o=most>least?.15+.85*Math.log(v(e)/least)/Math.log(most/least):1;"
    "g.fillStyle=`rgba(${rgb},${o})`;g.fillRect(pad+e[1]*w,pad+e[0]*w,w,w)}\n"
    "g.strokeStyle=s.getPropertyValue('--line');g.strokeRect(pad,pad,w*n,w*n);\n"
    "g.fillStyle=ink;g.font='11px system-ui,sans-serif';const k=n<=16?1:Math.ceil(n/8);\n"
    "for(let b=0;b<n;b+=k){g.textAlign='center';g.fillText(first(b),pad+(b+.5)*w,pad-6);"
    "g.textAlign='right';g.fillText(first(b),pad-6,pad+(b+.5)*w+4)}\n"
    "g.textAlign='left';g.fillText('to rank',pad,14);g.save();g.translate(12,pad);"
    "g.rotate(-Math.PI/2);g.textAlign='right';g.fillText('from rank',0,0);g.restore();\n"
    "if(at){g.strokeStyle=s.getPropertyValue('--ink');g.lineWidth=2;"
    "g.strokeRect(pad+at[1]*w,pad+at[0]*w,w,w)}\n"
    "const sum=talk.parts[part.value].cells.reduce((a,e)=>[a[0]+e[2],a[1]+e[3]],[0,0]);\n"
    "const e=at&&talk.parts[part.value].cells.find(e=>e[0]===at[0]&&e[1]===at[1]);\n"
    "$('said').textContent=at?`${span(at[0])} \\u2192 ${span(at[1])}: `+(e?`${bytes(e[2])} in "
    "${e[3]} messages`:'nothing'):`in total ${bytes(sum[0])} in ${sum[1]} messages`}\n"
    "function where(x,y){const b=c.getBoundingClientRect(),w=(side-pad-8)/talk.bins,"
    "q=v=>Math.floor(v/w),j=q((x-b.left)*side/b.width-pad),i=q((y-b.top)*side/b.height-pad);\n"
    "at=i>=0&&j>=0&&i<talk.bins&&j<talk.bins?[i,j]:null;draw()}\n"
    "c.onpointermove=c.onpointerdown=e=>where(e.clientX,e.clientY);"
    "c.onpointerleave=()=>{at=null;draw()};\n"
    "c.onkeydown=e=>{const d={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],"
    "ArrowRight:[0,1]}[e.key];if(!d)return;e.preventDefault();const n=talk.bins-1;\n"
    "at=at?[Math.min(n,Math.max(0,at[0]+d[0])),Math.min(n,Math.max(0,at[1]+d[1]))]:[0,0];"
    "draw()};\n"
    "talk.parts.forEach((p,i)=>part.add(new Option(p.title,i)));\n"
    "part.onchange=metric.onchange=draw;"
    "matchMedia('(prefers-color-scheme:dark)').addEventListener('change',draw);draw();\n"
    "</script>\n";

/* [row, column, bytes, messages] of each cell in which something was sent. */
static xy_status_t print_cells(const xy_matrix_t *m, uint32_t bins, FILE *file)
{
    double *sum = xy_calloc((size_t)2 * bins * bins + 1, sizeof(*sum));
    bool is_first = true;

    if (sum == NULL)
        return xy_fail_memory("drawing communication matrices");
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            size_t cell = ((uint64_t)i * bins / m->n) * bins + (uint64_t)m->to[k] * bins / m->n;

            sum[2 * cell] += m->bytes[k];
            sum[2 * cell + 1] += m->messages[k];
        }
    for (uint32_t c = 0; c < bins * bins; c++)
        if (sum[2 * c + 1] > 0) {
            fprintf(file, "%s[%u,%u,%.15g,%.15g]", is_first ? "" : ",", c / bins, c % bins,
                    sum[2 * c], sum[2 * c + 1]);
            is_first = false;
        }
    xy_free(sum);
    return XY_OK;
}

/* Prints the matrix of one part, reduced to `bins`, as JSON. */
static xy_status_t print_part(const xy_traffic_t *t, const traffic_part_t *part, uint32_t bins,
                              FILE *file)
{
    xy_matrix_t *m;
    xy_status_t st = xy_traffic_matrix(t, &part->choice, &m);

    if (st != XY_OK)
        return st;
    fputs("{\"title\":", file);
    xy_json_quote(file, part->title);
    fputs(",\"cells\":[", file);
    st = print_cells(m, bins, file);
    fputs("]}", file);
    xy_matrix_destroy(m);
    return st;
}

static xy_status_t print_plain(const xy_traffic_t *t, const traffic_part_t *part, FILE *file)
{
    xy_matrix_t *m;
    xy_status_t st = xy_traffic_matrix(t, &part->choice, &m);

    if (st != XY_OK)
        return st;
    fputs("<noscript>\n", file);
    st = xy_matrix_print_svg(m, XY_METRIC_SIZE, part->title, file);
    fputs("</noscript>\n", file);
    xy_matrix_destroy(m);
    return st;
}

/* "8 ranks sent 1.2 GiB in 1000 messages, each to 3.9 others on average." */
static xy_status_t find(const xy_traffic_t *t, const traffic_part_t *all, char *text, size_t size)
{
    double bytes = 0, messages = 0, pairs = 0;
    char sum[32];
    xy_matrix_t *m;
    xy_status_t st = xy_traffic_matrix(t, &all->choice, &m);

    if (st != XY_OK)
        return st;
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            bytes += m->bytes[k];
            messages += m->messages[k];
            pairs += m->to[k] != i && m->messages[k] > 0;
        }
    snprintf(text, size, "%u rank%s sent %s in %.0f messages, each to %.2g others on average.",
             t->ranks, t->ranks == 1 ? "" : "s", xy_format_size((uint64_t)bytes, sum), messages,
             m->n > 0 ? pairs / m->n : 0);
    xy_matrix_destroy(m);
    return XY_OK;
}

xy_status_t traffic_print_page(const xy_traffic_t *t, const xy_vec_t *parts, const char *title,
                               FILE *file)
{
    uint32_t bins = t->ranks < BINS_MAX ? t->ranks : BINS_MAX;
    size_t shown = parts->count < PARTS_MAX ? parts->count : PARTS_MAX;
    char heading[256], finding[160] = "";
    xy_status_t st = XY_OK;

    snprintf(heading, sizeof(heading), "Messages between ranks: %.220s", title);
    if (parts->count > 0)
        st = find(t, &XY_VEC_AT(parts, traffic_part_t, 0), finding, sizeof(finding));
    if (st != XY_OK)
        return st;
    xy_page_begin(file,
                  &(xy_page_t){.title = heading, .finding = finding, .inks = inks, .style = style});
    xy_page_paragraph(
        file, "The strength of the colour is the logarithm of the amount sent.%s",
        shown < parts->count ? " Not all matrices are in this page; the files have them." : "");
    fputs("<label>matrix <select id=\"part\"></select></label><label>metric <select id=\"metric\">"
          "<option value=\"size\">bytes<option value=\"msg\">messages<option value=\"avg\">mean "
          "size</select></label>\n<canvas id=\"map\" tabindex=\"0\" role=\"img\" "
          "aria-label=\"heat map; arrow keys move\" aria-describedby=\"said\"></canvas>\n"
          "<div id=\"said\" aria-live=\"polite\"></div>\n",
          file);
    if (parts->count > 0)
        st = print_plain(t, &XY_VEC_AT(parts, traffic_part_t, 0), file);
    fprintf(file, "<script>\nconst talk={\"ranks\":%u,\"bins\":%u,\"parts\":[", t->ranks, bins);
    for (size_t i = 0; i < shown && st == XY_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        st = print_part(t, &XY_VEC_AT(parts, traffic_part_t, i), bins, file);
    }
    fprintf(file, "]};\n</script>\n%s", script);
    xy_page_end(file);
    return st;
}
