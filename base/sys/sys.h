/* sys.h - the functions of the operating system that arenac uses, in sys_posix.c and in sys_windows.c; one of them is
 * compiled. sys.c has those that need no other header. No other file includes a header of a system
 * (tests/cli/tree/systems.sh).
 *
 *     const int fd = ac_sys_open("model.onnx", AC_SYS_READ, 0);
 *     ac_sys_info of;
 *     if (fd < 0 || ac_sys_info_at(fd, &of))
 *         return errno;
 *     const void *bytes = ac_sys_map(fd, (size_t)of.bytes);
 *     ac_sys_close(fd);
 *
 * Names are UTF-8 with '/' between folders; Windows also accepts '\' and a drive before them. A function returns 0 for
 * success, -1 or NULL for a failure, with the reason in errno, unless its comment gives other values. Bytes are read
 * and written without a translation, also those of standard input and output. Functions marked H may be called by a
 * handler of ac_sys_guard. */
#ifndef AC_BASE_SYS_H
#define AC_BASE_SYS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The first call of main: arguments as UTF-8, and bytes of the standard streams as they are. */
void ac_sys_main(int *argc, char ***argv);

/* ------------------------------------------------------------------ names */

enum { AC_SYS_PATH = 4096 }; /* room for any name, with its end */
#ifdef _WIN32
#define AC_SYS_SLASHES "/\\"
#define AC_SYS_LIBRARY ".dll"
#define AC_SYS_PROGRAM ".exe"
#define AC_SYS_BETWEEN ";" /* folders of $PATH */
#else
#define AC_SYS_SLASHES "/"
#define AC_SYS_LIBRARY ".so"
#define AC_SYS_PROGRAM ""
#define AC_SYS_BETWEEN ":"
#endif

size_t ac_sys_root(const char *path);                      /* bytes of "/", "C:/" or "//host/"; 0: relative */
const char *ac_sys_name(const char *path);                 /* after the last slash, or after the drive */
int ac_sys_real(const char *path, char real[AC_SYS_PATH]); /* without links, absolute */
int64_t ac_sys_link(const char *path, char *to, size_t n); /* the bytes of a link's text, not ended; -1: no link */
int ac_sys_own_path(char path[AC_SYS_PATH]);               /* of the running program */
void ac_sys_temporary(char path[AC_SYS_PATH]);             /* the folder for temporary files, without a slash */
bool ac_sys_may_read(const char *path);
bool ac_sys_may_write(const char *path); /* false: the reason is in errno */
bool ac_sys_may_run(const char *path);
/* Files that a pattern of the shell matches, in the order of their names; the caller frees. On Windows the last part of
 * the pattern alone may have '*'. */
char **ac_sys_matches(const char *pattern, size_t *n);
void ac_sys_matches_free(char **names, size_t n);

/* ------------------------------------------------------------------ files */

typedef enum ac_sys_kind { AC_SYS_FILE, AC_SYS_FOLDER, AC_SYS_SPECIAL } ac_sys_kind;

typedef struct ac_sys_info {
    ac_sys_kind kind;
    unsigned mode; /* permissions, for ac_sys_open and ac_sys_set_mode */
    uint64_t bytes;
    uint64_t id[4]; /* device, file, seconds and nanoseconds of the last change */
} ac_sys_info;

int ac_sys_info_of(const char *path, ac_sys_info *to);
int ac_sys_info_at(int fd, ac_sys_info *to);

typedef enum ac_sys_how {
    AC_SYS_READ,
    AC_SYS_READ_FILE, /* no link, and never waits: not for devices */
    AC_SYS_WRITE,     /* something that exists: a device or a fifo */
    AC_SYS_CREATE,    /* a new file, EEXIST if it is there; mode counts */
} ac_sys_how;

int ac_sys_open(const char *path, ac_sys_how how, unsigned mode);
int64_t ac_sys_read(int fd, void *to, size_t n); /* the bytes read, 0 at the end; 0 is the descriptor of stdin */
bool ac_sys_at_start(int fd);
void ac_sys_set_mode(int fd, unsigned mode);               /* as well as it goes */
int64_t ac_sys_write(int fd, const void *bytes, size_t n); /* the bytes written; H */
int ac_sys_write_all(int fd, const void *bytes, size_t n); /* 0 or an errno; H */
int ac_sys_flush(int fd);                                  /* 0 or an errno; a file that cannot be flushed is fine */
int ac_sys_close(int fd);                                  /* 0 or an errno: a full disk may show here */
int ac_sys_flush_folder(const char *path);                 /* 0 or an errno; one that cannot be opened is fine */
int ac_sys_rename(const char *from, const char *to);       /* replaces */
int ac_sys_remove(const char *path);                       /* a file; H */
int ac_sys_folder_make(const char *path);
int ac_sys_folder_remove(const char *path); /* an empty one; H */
/* A whole file, and a zero after it; the caller frees. n may be NULL. */
char *ac_sys_text(const char *path, size_t *n);

/* The output of print as a string that the caller frees; NULL: it was not possible. */
char *ac_sys_printed(void (*print)(FILE *to, const void *arg), const void *arg);

void *ac_sys_map(int fd, size_t n); /* a whole file, to be read; a multiple of 16. NULL: read it instead */
int ac_sys_unmap(void *at, size_t n);
void ac_sys_rest(void *at, size_t n);        /* its pages may be dropped: they are read again */
void ac_sys_large_pages(void *at, size_t n); /* memory that will be used as a whole */

/* ------------------------------------------------------------------ temporary folders */

/* Replaces the XXXXXX at the end of the name. */
int ac_sys_folder_new(char *name);
/* The files in a folder. in_handler: by means that are allowed there; some systems then leave the files. */
void ac_sys_folder_empty(const char *path, bool in_handler);
/* Removes folders in `parent` with the files in them if process maker(name) is over (0: not ours), and if they are this
 * user's and have not changed for an hour. */
void ac_sys_folders_sweep(const char *parent, long (*maker)(const char *name));
long ac_sys_process(void); /* the number of this process */

/* ------------------------------------------------------------------ signals */

/* Before the process ends; called in a handler, or on Windows in a thread of its own while no
 * other holds. */
typedef struct ac_sys_events {
    void (*end)(void);             /* by a signal (SIGINT, SIGTERM, SIGHUP, Ctrl-C); then it ends as always */
    bool (*fault)(const void *at); /* a mapped file that became shorter; true: end with `status` */
    int status;
} ac_sys_events;

void ac_sys_guard(const ac_sys_events *e);
bool ac_sys_pipe_closed(void); /* a write met a closed pipe */

typedef struct ac_sys_held {
    uint64_t bits[16];
} ac_sys_held;
void ac_sys_hold(ac_sys_held *before); /* signals that would end the process wait */
void ac_sys_release(const ac_sys_held *before);
bool ac_sys_end_waits(void); /* one of them came and waits */

/* ------------------------------------------------------------------ programs */

enum { AC_SYS_LATE = -2, AC_SYS_CRASHED = 128 };
typedef intptr_t ac_sys_program;

/* Starts a program of the search path without input; its output and errors go to a new file. -1: errno. */
ac_sys_program ac_sys_start(const char *const *argv, const char *output);
/* Shows a page in the browser: the program that the system has for that. AC_SYS_LATE: it still runs; -1: errno. */
int ac_sys_show(const char *path);
/* Its exit status; -1: errno. After so many seconds (0: never) it is ended. */
int ac_sys_wait(ac_sys_program p, int seconds);

/* shared: libraries that are opened later may use it. NULL: ac_sys_library_why has the reason, errno may be ENOMEM. */
void *ac_sys_library(const char *path, bool shared);
void *ac_sys_symbol(void *library, const char *name);
void ac_sys_library_close(void *library);
const char *ac_sys_library_why(void);

/* ------------------------------------------------------------------ this machine */

double ac_sys_now_ms(void); /* never goes back */
void ac_sys_sleep(int ms);
bool ac_sys_random(void *to, size_t n);
size_t ac_sys_memory(void);      /* bytes that there are for this process; 0: unknown */
bool ac_sys_request_amx(void);   /* this process may use the tiles of x86 */
bool ac_sys_is_terminal(int fd); /* one that shows colours by escape sequences */
bool ac_sys_moves_cursor(void);  /* a terminal also moves its cursor */
size_t ac_sys_columns(int fd);   /* of a terminal; 0: unknown */

/* A second thread that looks from time to time: f calls ac_sys_watch_wait until that is false. */
typedef struct ac_sys_watch ac_sys_watch;
ac_sys_watch *ac_sys_watch_begin(void (*f)(ac_sys_watch *w, void *arg), void *arg); /* NULL: none */
bool ac_sys_watch_wait(ac_sys_watch *w, int64_t ms);
void ac_sys_watch_end(ac_sys_watch *w); /* waits for f */

#endif
