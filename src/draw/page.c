/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/page.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>

#include "base/base.h"

enum { TEXT_MAX = 2048 };

static const xy_ink_t inks[] = {
    {":root", "color-scheme", "light", "dark"},   {"body", "background", "#fff", "#14161a"},
    {"body", "color", "#1f2430", "#e6e9ef"},      {"p,th,summary", "color", "#5b6475", "#a2abba"},
    {"p.finding", "color", "#1f2430", "#e6e9ef"}, {"td,th", "border-color", "#dfe3e8", "#2d323b"},
    {"a", "color", "#0b5cad", "#6cb2ff"},         {NULL, NULL, NULL, NULL},
};

static const char style[] =
    "body{font:15px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;max-width:76em;"
    "margin:2em auto;padding:0 1em}h1{font-size:1.6em;margin-bottom:.3em}"
    "p.finding{font-size:1.2em;margin:.2em 0 1em}"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}"
    "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid;white-space:nowrap}"
    "td.word,th.word{text-align:left}"
    "td:first-child,th:first-child{text-align:left;padding-left:0}th{font-weight:500}"
    "th.sorts{cursor:pointer}th[data-up]::after{content:' \\25B2'}"
    "th[data-down]::after{content:' \\25BC'}"
    ".wide{overflow-x:auto}.row{display:flex;flex-wrap:wrap;gap:0 "
    "2em}summary{cursor:pointer}svg{display:block;margin:1em 0}"
    "@media screen and (max-width:600px){td.word,th.word{white-space:normal}td,th{padding:2px 5px}}"
    "@media print{:root{color-scheme:light}body{margin:0;max-width:none}"
    ".wide{overflow:visible}td.word,th{white-space:normal}table{font-size:11px}td,th{padding:2px "
    "5px}table,svg{break-inside:avoid}h2,h2+p{break-after:"
    "avoid}}\n"; /* last: it overrides the others */

/* The view box is what is seen: zooming and moving change it and nothing else. */
static const char zoom[] =
    "<script>\n"
    "for(const s of document.querySelectorAll('svg')){const all=s.getAttribute('viewBox');\n"
    "if(!all)continue;let b=all.split(' ').map(Number),from=null;const whole=b.slice();\n"
    "const show=()=>s.setAttribute('viewBox',b.join(' '));\n"
    "s.addEventListener('wheel',e=>{if(!e.ctrlKey&&!e.shiftKey)return;e.preventDefault();\n"
    "const r=s.getBoundingClientRect(),f=Math.exp((e.deltaY||e.deltaX)/400);\n"
    "const w=Math.min(whole[2],Math.max(whole[2]/200,b[2]*f)),h=w*whole[3]/whole[2];\n"
    "b[0]+=(b[2]-w)*(e.clientX-r.left)/r.width;b[1]+=(b[3]-h)*(e.clientY-r.top)/r.height;\n"
    "b[2]=w;b[3]=h;keep()},{passive:false});\n"
    "const keep=()=>{for(const i of[0,1])b[i]=Math.min(whole[i+2]-b[i+2],Math.max(0,b[i]));"
    "show()};\n"
    "s.addEventListener('pointerdown',e=>{if(b[2]<whole[2]){from=[e.clientX,e.clientY,b[0],b[1]];"
    "s.setPointerCapture(e.pointerId)}});\n"
    "s.addEventListener('pointermove',e=>{if(!from)return;const r=s.getBoundingClientRect();\n"
    "b[0]=from[2]-(e.clientX-from[0])*b[2]/r.width;b[1]=from[3]-(e.clientY-from[1])*b[3]/r.height;"
    "keep()});\n"
    "s.addEventListener('pointerup',()=>{from=null});\n"
    "s.addEventListener('dblclick',()=>{b=whole.slice();show()});}\n"
    "</script>\n";

/* A click on the head of a column sorts by it: largest first, then smallest. Cells are numbers with
 * a unit, or words. */
static const char sorting[] =
    "<script>\n"
    "const unit={ns:1e-9,us:1e-6,ms:1e-3,s:1,min:60,h:3600,B:1,KiB:2**10,MiB:2**20,GiB:2**30,"
    "TiB:2**40};\n"
    "const worth=t=>{const m=t.trim().match(/^([-+]?[\\d.]+(?:e[-+]?\\d+)?)\\s*([A-Za-z%]*)/);\n"
    "return m?m[1]*(unit[m[2]]||1):NaN};\n"
    "for(const h of document.querySelectorAll('table tr:first-child th')){\n"
    "const t=h.closest('table');\n"
    "if([...t.rows].some(r=>r.cells[h.cellIndex]?.className=='word'))h.classList.add('word');\n"
    "if(t.rows.length<4)continue;h.classList.add('sorts');\n"
    "h.addEventListener('click',()=>{const i=h.cellIndex,down=!('down'in h.dataset);\n"
    "const key=r=>r.cells[i]?r.cells[i].textContent:'';\n"
    "const rows=[...t.rows].slice(1).sort((a,b)=>{const x=worth(key(a)),y=worth(key(b));\n"
    "const d=isNaN(x)||isNaN(y)?isNaN(x)-isNaN(y)||key(b).localeCompare(key(a)):x-y;\n"
    "return down?-d:d});\n"
    "for(const o of t.rows[0].cells){delete o.dataset.up;delete o.dataset.down}\n"
    "h.dataset[down?'down':'up']='';for(const r of rows)r.parentNode.appendChild(r)})}\n"
    "</script>\n";

static void put(FILE *file, const char *before, const char *text, const char *after)
{
    fputs(before, file);
    xy_xml_escape(file, text);
    fputs(after, file);
}

void xy_page_begin(FILE *file, const xy_page_t *page)
{
    put(file,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>",
        page->title, "</title>\n<style>");
    fputs(style, file);
    xy_inks_write(inks, file);
    xy_style_write(file);
    fputs(page->style != NULL ? page->style : "", file);
    if (page->inks != NULL)
        xy_inks_write(page->inks, file);
    put(file, "</style></head><body>\n<h1>", page->title, "</h1>\n");
    if (page->finding != NULL && page->finding[0] != '\0')
        put(file, "<p class=\"finding\">", page->finding, "</p>\n");
}

void xy_page_end(FILE *file)
{
    fputs(zoom, file);
    fputs(sorting, file);
    fputs("</body></html>\n", file);
}

__attribute__((format(printf, 3, 0))) static void
put_formatted(FILE *file, const char *before, const char *format, va_list args, const char *after)
{
    char text[TEXT_MAX];

    vsnprintf(text, sizeof(text), format, args);
    put(file, before, text, after);
}

void xy_page_heading(FILE *file, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_formatted(file, "<h2>", format, args, "</h2>\n");
    va_end(args);
}

void xy_page_paragraph(FILE *file, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_formatted(file, "<p>", format, args, "</p>\n");
    va_end(args);
}

/* Words are aligned to the left, numbers to the right; a single dash stands for no number. */
static bool begins_a_word(const char *text)
{
    return isalpha((unsigned char)text[0]) != 0;
}

void xy_page_cell(FILE *file, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put(file, begins_a_word(text) ? "<td class=\"word\">" : "<td>", text, "");
}

void xy_page_row_begin(FILE *file)
{
    fputs("<div class=\"row\">\n", file);
}

void xy_page_row_end(FILE *file)
{
    fputs("</div>\n", file);
}

void xy_page_table_begin(FILE *file, const char *summary, const char *const *columns)
{
    if (summary != NULL)
        put(file, "<details><summary>", summary, "</summary>\n");
    fputs("<div class=\"wide\"><table><tr>", file);
    for (; *columns != NULL; columns++)
        put(file, "<th>", *columns, "");
    fputc('\n', file);
}

void xy_page_line(FILE *file)
{
    fputs("\n<tr>", file);
}

void xy_page_table_end(FILE *file, const char *summary)
{
    fprintf(file, "\n</table></div>%s\n", summary != NULL ? "</details>" : "");
}

/* ---- Findings ---- */

size_t xy_scores_sort(xy_score_t *scores, size_t count, bool is_high_best)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        xy_score_t score = scores[i];
        size_t at = left;

        if (isnan(score.value))
            continue;
        for (; at > 0 && (is_high_best ? scores[at - 1].value < score.value
                                       : scores[at - 1].value > score.value);
             at--)
            scores[at] = scores[at - 1];
        scores[at] = score;
        left++;
    }
    return left;
}
