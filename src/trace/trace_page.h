/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of page/, as strings (private to the component). page.c is made of them at build time
 * by cmake/EmbedText.cmake.
 */
#ifndef XY_TRACE_TRACE_PAGE_H
#define XY_TRACE_TRACE_PAGE_H

extern const char trace_page_html[];
extern const char trace_page_css[];
extern const char trace_page_data_js[];
extern const char trace_page_rows_js[];
extern const char trace_page_draw_js[];
extern const char trace_page_table_js[];
extern const char trace_page_view_js[];

#endif
