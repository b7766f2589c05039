/* interrupt.h - removes unfinished files on a fatal signal, and survives input files that shrink while mapped.
 *
 *     ac_interrupt_guard();                      the tool, first of all; libraries never
 *
 *     ac_unfinished mine = {.undo = unlink_all, .arg = files};
 *     ac_unfinished_begin(&mine);
 *     ... files that are not yet what the user asked for ...
 *     ac_unfinished_end(&mine);                  in the same function: no allocation, which may jump, in between
 *
 * After ac_interrupt_guard, SIGINT, SIGTERM and SIGHUP undo what is unfinished and then end the process as they always
 * do; those ignored from the start stay ignored. A file over the limit of the system is a failed write (EFBIG), not a
 * SIGXFSZ, and a write to a closed pipe fails (EPIPE) without a SIGPIPE. A fault in a file that is mapped, because
 * another process has cut it, is a message and exit status 3.
 *
 * A handler can only reach data of the process, so the lists belong to it: the only state of arenac outside of a
 * context. Without ac_interrupt_guard they stay empty, and contexts of several threads share nothing. With it, one
 * thread alone opens files and writes them; others are started under ac_sys_hold. All functions called by a handler,
 * undo included, are async-signal-safe. */
#ifndef AC_BASE_INTERRUPT_H
#define AC_BASE_INTERRUPT_H
#include <stdbool.h>
#include <stddef.h>

void ac_interrupt_guard(void);
void ac_interrupt_json(void); /* also writes the message about a file as a report on standard output */

typedef struct ac_unfinished {
    struct ac_unfinished *next;
    void (*undo)(void *arg);
    void *arg;
} ac_unfinished;
void ac_unfinished_begin(ac_unfinished *u);
void ac_unfinished_end(const ac_unfinished *u);

/* Creates a folder from a template of ac_sys_folder_new, and removes it with all files in it, at the latest when the
 * process ends, even if memory ran out. false: the reason is in errno. */
bool ac_folder_begin(char *path);
void ac_folder_end(const char *path); /* NULL is fine */

/* n bytes at `at` are the file `path`. A node is the context's and goes with it. */
typedef struct ac_mapped {
    struct ac_mapped *next;
    const void *owner, *at;
    size_t n;
    const char *path;
} ac_mapped;
void ac_mapped_add(ac_mapped *m);
void ac_mapped_remove(const void *at);
void ac_mapped_forget(const void *owner);

#endif
