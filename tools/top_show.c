/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal of xylem top: a table that is drawn again and again, and keys. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "top.h"

enum { COLUMNS = 80, LINES = 24, PAGE = 10 };

#define BEGIN_SCREEN "\033[?1049h\033[?25l"
#define END_SCREEN   "\033[?25h\033[?1049l"
#define DRAW         "\033[H"
#define END_OF_LINE  "\033[K"
#define END_OF_ALL   "\033[J"

static struct termios before;
static volatile sig_atomic_t is_changed; /* the window */

/* Only what a handler may call. */
static void leave_terminal(void)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    if (write(STDOUT_FILENO, END_SCREEN, sizeof(END_SCREEN) - 1) < 0)
        return;
}

static void on_end(int number)
{
    leave_terminal();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_window(int number)
{
    (void)number;
    is_changed = 1;
}

/* Sets the terminal to single keys without echo, switches to its other screen and installs the
 * signal handlers. */
static void enter_terminal(void)
{
    struct termios raw;
    struct sigaction action = {.sa_handler = on_end};

    tcgetattr(STDIN_FILENO, &before);
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_window;
    sigaction(SIGWINCH, &action, NULL);
    fputs(BEGIN_SCREEN, stdout);
}

static void measure(xy_live_style_t *style)
{
    struct winsize window;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;

    style->width = is_known ? window.ws_col : COLUMNS;
    style->rows = (is_known ? window.ws_row : LINES) - 1;
}

/* Lines end where the window does: nothing of the table before is left. */
static xy_status_t draw(const xy_live_t *live, const xy_live_style_t *style, int *rows_p)
{
    static const char *const orders[XY_LIVE_ORDERS] = {"time", "rank", "bytes"};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    xy_status_t st;

    if (file == NULL)
        return xy_fail_memory("printing what ranks do");
    st = xy_live_text(live, style, file, rows_p);
    if (fclose(file) != 0 && st == XY_OK)
        st = xy_fail_memory("printing what ranks do");
    fputs(DRAW, stdout);
    for (const char *at = text; st == XY_OK && *at != '\0'; at++)
        if (*at == '\n')
            fputs(END_OF_LINE "\n", stdout);
        else
            putchar(*at);
    printf(END_OF_ALL "q: quit  s: sorted by %s  f: %s  arrows: scroll", orders[style->order],
           style->is_unfolded ? "fold" : "show each rank");
    fflush(stdout);
    free(text);
    return st;
}

/* False: quit. Arrows are three bytes. */
static bool take_keys(xy_live_style_t *style, int rows)
{
    char keys[64];
    ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

    if (n == 0)
        return false;
    for (ssize_t i = 0; i < n; i++) {
        bool is_arrow = keys[i] == '\033' && i + 2 < n && keys[i + 1] == '[';
        char key = is_arrow ? keys[i + 2] : keys[i];

        i += is_arrow ? 2 : 0;
        if (!is_arrow && (key == 'q' || key == 'Q'))
            return false;
        if (!is_arrow && key == 's')
            style->order = (xy_live_order_t)((style->order + 1) % XY_LIVE_ORDERS);
        if (!is_arrow && key == 'f')
            style->is_unfolded = !style->is_unfolded;
        if (is_arrow ? key == 'B' : key == 'j')
            style->first++;
        if (is_arrow ? key == 'A' : key == 'k')
            style->first--;
        if (!is_arrow && key == ' ')
            style->first += PAGE;
    }
    if (style->first > rows - 1)
        style->first = rows - 1;
    if (style->first < 0)
        style->first = 0;
    return true;
}

/* Until it is time for the next look. False: quit. */
static bool wait_for_keys(double until, const xy_live_t *live, xy_live_style_t *style, int *rows_p)
{
    for (double left; (left = until - xy_clock_seconds(CLOCK_MONOTONIC)) > 0;) {
        struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
        int n = poll(&keys, 1, (int)(1e3 * left) + 1);

        if (n > 0 && !take_keys(style, *rows_p))
            return false;
        if (n > 0 || is_changed) {
            is_changed = 0;
            measure(style);
            if (draw(live, style, rows_p) != XY_OK)
                return false;
        }
    }
    return true;
}

xy_status_t top_show(long pid, double interval, const xy_live_style_t *given, xy_live_t *first)
{
    xy_live_style_t style = *given;
    xy_live_t *now = first, *next = NULL;
    bool goes_on = true, is_over = false;
    int rows = 0;
    xy_status_t st = XY_OK;

    enter_terminal();
    while (st == XY_OK && goes_on && !is_over) {
        measure(&style);
        st = draw(now, &style, &rows);
        goes_on = st == XY_OK &&
                  wait_for_keys(xy_clock_seconds(CLOCK_MONOTONIC) + interval, now, &style, &rows);
        is_over = goes_on && !top_look_again(pid, &next);
        if (goes_on && !is_over) {
            xy_live_rates(next, now);
            xy_live_destroy(now);
            now = next;
        }
    }
    leave_terminal();
    if (is_over)
        printf("mpiexec %ld has ended\n", pid);
    xy_live_destroy(now);
    return st;
}
