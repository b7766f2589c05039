/* progress.c - shows the progress of work that takes longer than a second (--progress): a bar on a terminal, otherwise
 * lines. A thread polls it, and ends before anything else is printed. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/format.h"
#include "base/sys/sys.h"

#include <string.h>

enum { FIRST_MS = 1000, BAR_MS = 200, LINE_MS = 1000, LINE_EVERY_MS = 5000, BAR = 24 };

static struct {
    ac_sys_watch *watch; /* NULL: it does not run */
    bool bar, drawn;
    const arenac *a;
} shown;

static size_t columns(void)
{
    const size_t n = ac_sys_columns(2);
    return n ? n : 80;
}

/* "lowering 120 of 1,000 loss 0.31": the line without the time. */
static void describe(char *text, size_t n, const arenac_progress *p)
{
    int k = ac_print(text, n, "%s", p->what);
    if (p->total > 0)
        k += ac_print(text + k, n - (size_t)k, " %d of %d", p->done, p->total);
    else if (p->done > 0)
        k += ac_print(text + k, n - (size_t)k, " (%d so far)", p->done);
    if (p->value_name)
        ac_print(text + k, n - (size_t)k, "   %s %.4g", p->value_name, p->value);
}

/* spent: since this task was first seen, with `from` done. */
static void draw_bar(const arenac_progress *p, int64_t spent, int32_t from)
{
    char bar[BAR + 1] = {0}, text[256], line[512];
    describe(text, sizeof text, p);
    if (p->total > 0) {
        const int filled = (int)((int64_t)BAR * (p->done < p->total ? p->done : p->total) / p->total);
        memset(bar, '-', BAR);
        memset(bar, '#', (size_t)filled);
        const int32_t made = p->done - from;
        const int64_t left = made > 0 ? spent * (p->total - p->done) / made / 1000 : -1;
        if (left >= 0)
            ac_print(line, sizeof line, "[%s] %s   %lld:%02lld left", bar, text, (long long)(left / 60),
                     (long long)(left % 60));
        else
            ac_print(line, sizeof line, "[%s] %s", bar, text);
    } else {
        ac_print(line, sizeof line, "%s, %lld s", text, (long long)(spent / 1000));
    }
    const size_t most = columns() - 1;
    if (strlen(line) > most)
        line[most] = 0;
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    shown.drawn = true;
}

static void show(ac_sys_watch *w, void *arg)
{
    const char *what = NULL;
    int64_t begun = 0, said = 0;
    int32_t from = 0, last = 0;
    (void)arg;
    for (bool on = ac_sys_watch_wait(w, FIRST_MS); on; on = ac_sys_watch_wait(w, shown.bar ? BAR_MS : LINE_MS)) {
        arenac_progress p;
        const int64_t now = (int64_t)ac_now_ms();
        if (!arenac_progress_now(shown.a, &p))
            continue;
        const bool next = p.what != what || p.done < last;
        if (next) {
            what = p.what;
            begun = now;
            from = p.done;
        }
        last = p.done;
        if (shown.bar) {
            draw_bar(&p, now - begun, from);
        } else if (next || now - said >= LINE_EVERY_MS) {
            char text[256];
            describe(text, sizeof text, &p);
            fprintf(stderr, "arenac: %s\n", text);
            said = now;
        }
    }
}

void ac_cli_progress(const ac_cli *cli)
{
    shown.bar = ac_sys_is_terminal(2) && ac_sys_moves_cursor();
    if (shown.watch || cli->quiet || cli->progress_off || (!cli->progress_on && !shown.bar))
        return;
    shown.a = cli->a;
    shown.watch = ac_sys_watch_begin(show, NULL);
}

void ac_cli_progress_end(void)
{
    if (!shown.watch)
        return;
    ac_sys_watch_end(shown.watch);
    shown.watch = NULL;
    if (shown.drawn)
        fputs("\r\033[K", stderr);
}
