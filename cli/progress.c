/* progress.c - shows the progress of work that takes longer than a second (--progress): a bar on a terminal, otherwise
 * lines. A thread polls it, and ends before anything else is printed. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/format.h"
#include "base/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, BAR_MS = 200, LINE_MS = 1000, LINE_EVERY_MS = 5000, BAR = 24 };

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool runs, ends, bar, drawn;
    const arenac *a;
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Waits so long, or until the end. */
static bool wait_ms(int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t ns = t.tv_nsec + ms % 1000 * 1000000;
    t.tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    int status = 0;
    while (!shown.ends && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&shown.end, &shown.lock, &t);
    return !shown.ends;
}

static size_t columns(void)
{
    struct winsize w;
    return ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
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

static void *show(void *arg)
{
    const char *what = NULL;
    int64_t begun = 0, said = 0;
    int32_t from = 0, last = 0;
    (void)arg;
    pthread_mutex_lock(&shown.lock);
    for (bool on = wait_ms(FIRST_MS); on; on = wait_ms(shown.bar ? BAR_MS : LINE_MS)) {
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
    pthread_mutex_unlock(&shown.lock);
    return NULL;
}

/* Signals are for the thread that works. */
static bool start(void)
{
    sigset_t before;
    pthread_condattr_t clock;
    ac_interrupt_hold(&before);
    const bool made = !pthread_condattr_init(&clock) && !pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) &&
                      !pthread_cond_init(&shown.end, &clock) && !pthread_create(&shown.thread, NULL, show, NULL);
    ac_interrupt_release(&before);
    return made;
}

void ac_cli_progress(const ac_cli *cli)
{
    const char *terminal = getenv("TERM");
    shown.bar = isatty(2) && terminal && strcmp(terminal, "dumb") != 0;
    if (shown.runs || cli->quiet || cli->progress_off || (!cli->progress_on && !shown.bar))
        return;
    shown.a = cli->a;
    shown.runs = start();
}

void ac_cli_progress_end(void)
{
    if (!shown.runs)
        return;
    pthread_mutex_lock(&shown.lock);
    shown.ends = true;
    pthread_cond_signal(&shown.end);
    pthread_mutex_unlock(&shown.lock);
    pthread_join(shown.thread, NULL);
    shown.runs = false;
    if (shown.drawn)
        fputs("\r\033[K", stderr);
}
