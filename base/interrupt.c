/* interrupt.c - the signal handlers and their state; see interrupt.h. */
#include "base/interrupt.h"

#include "base/sys/sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STDOUT = 1, STDERR = 2, FOLDERS = 4, EXIT_IO = 3 };

/* Written by one thread, with the signals on hold; read by handlers. */
static struct {
    bool on, json;
    ac_unfinished *unfinished;
    ac_mapped *mapped;
    char folder[FOLDERS][AC_SYS_PATH]; /* "": a free place */
} process;

/* ------------------------------------------------------------------ undoing */

void ac_unfinished_begin(ac_unfinished *u)
{
    ac_sys_held before;
    if (!process.on)
        return;
    ac_sys_hold(&before);
    u->next = process.unfinished;
    process.unfinished = u;
    ac_sys_release(&before);
}

void ac_unfinished_end(const ac_unfinished *u)
{
    ac_sys_held before;
    if (!process.on)
        return;
    ac_sys_hold(&before);
    ac_unfinished **p = &process.unfinished;
    while (*p && *p != u)
        p = &(*p)->next;
    if (*p)
        *p = u->next;
    ac_sys_release(&before);
}

/* ------------------------------------------------------------------ folders */

bool ac_folder_begin(char *path)
{
    ac_sys_held before;
    ac_sys_hold(&before);
    const bool made = !ac_sys_folder_new(path);
    const int why = errno;
    for (int i = 0; made && process.on && i < FOLDERS; i++)
        if (!*process.folder[i] && strlen(path) < AC_SYS_PATH) {
            strcpy(process.folder[i], path);
            break;
        }
    ac_sys_release(&before);
    errno = why;
    return made;
}

void ac_folder_end(const char *path)
{
    ac_sys_held before;
    if (!path)
        return;
    ac_sys_folder_empty(path, false);
    ac_sys_hold(&before);
    ac_sys_folder_remove(path);
    for (int i = 0; i < FOLDERS; i++)
        if (!strcmp(process.folder[i], path))
            *process.folder[i] = '\0';
    ac_sys_release(&before);
}

static void end_folders(void)
{
    for (int i = 0; i < FOLDERS; i++)
        if (*process.folder[i])
            ac_folder_end(process.folder[i]);
}

/* ------------------------------------------------------------------ handlers */

static void undo(void)
{
    for (const ac_unfinished *u = process.unfinished; u; u = u->next)
        u->undo(u->arg);
    for (int i = 0; i < FOLDERS; i++)
        if (*process.folder[i]) {
            ac_sys_folder_empty(process.folder[i], true);
            ac_sys_folder_remove(process.folder[i]);
        }
}

static void say(int to, const char *text, size_t n)
{
    (void)ac_sys_write_all(to, text, n);
}

#define CUT_SHORT "cannot read: the file became shorter while it was being read"

static void say_cut(const char *path)
{
    static const char TEXT[] = ": error[E0301]: " CUT_SHORT "\n"
                               "  = help: run arenac again when nothing writes to the file\n1 error, 0 warnings\n";
    say(STDERR, path, strlen(path));
    say(STDERR, TEXT, sizeof TEXT - 1);
}

/* As json.c writes a report that has diagnostics only. */
static void say_json(const char *path)
{
    static const char BEFORE[] =
        "{\n  \"schema\": \"arenac-report/1\",\n  \"diagnostics\": [\n    {\n      \"severity\": \"error\",\n"
        "      \"code\": \"E0301\",\n      \"text\": \"" CUT_SHORT "\",\n      \"file\": \"";
    static const char AFTER[] =
        "\",\n      \"node\": null,\n      \"op\": null,\n      \"op_index\": null,\n      \"line\": null,\n"
        "      \"column\": null,\n      \"byte\": null,\n      \"lines\": []\n    }\n  ]\n}\n";
    say(STDOUT, BEFORE, sizeof BEFORE - 1);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            say(STDOUT, "\\", 1);
        say(STDOUT, path, 1);
    }
    say(STDOUT, AFTER, sizeof AFTER - 1);
}

/* true: the address is in a mapped file, and the message is out. */
static bool on_fault(const void *address)
{
    const char *at = address;
    const ac_mapped *m = process.mapped;
    while (m && !(at >= (const char *)m->at && at < (const char *)m->at + m->n))
        m = m->next;
    if (!m)
        return false;
    undo();
    if (process.json)
        say_json(m->path);
    say_cut(m->path);
    return true;
}

void ac_interrupt_guard(void)
{
    static const ac_sys_events EVENTS = {.end = undo, .fault = on_fault, .status = EXIT_IO};
    process.on = true;
    atexit(end_folders);
    ac_sys_guard(&EVENTS);
}

void ac_interrupt_json(void)
{
    process.json = true;
}

/* ------------------------------------------------------------------ mapped files */

void ac_mapped_add(ac_mapped *m)
{
    if (!process.on)
        return;
    m->next = process.mapped;
    process.mapped = m;
    atomic_signal_fence(memory_order_seq_cst);
}

void ac_mapped_remove(const void *at)
{
    ac_mapped **p = &process.mapped;
    while (*p && (*p)->at != at)
        p = &(*p)->next;
    if (*p)
        *p = (*p)->next;
}

void ac_mapped_forget(const void *owner)
{
    for (ac_mapped **p = &process.mapped; *p;)
        if ((*p)->owner == owner)
            *p = (*p)->next;
        else
            p = &(*p)->next;
}
