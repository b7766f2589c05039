/* file.h - a whole input file as bytes.
 *
 *     ac_file f = {0};                      outside the frame that calls setjmp, or volatile: it must survive the jump
 *     AC_TRY(ac_file_open(cx, path, &f));   "-" is standard input
 *     ... f.data[0 .. f.n) ...
 *     ac_file_close(&f);                    after the last use of the graph: constants point into the bytes
 *
 * Regular files are mapped read-only; everything else (pipes, standard input, /proc) is read until its end, within the
 * heap's limit. data is never NULL and starts at an address that is a multiple of 16; an empty file has n == 0. Closing
 * a zeroed or failed file does nothing. Errors: E0301 with the reason of the operating system. */
#ifndef AC_BASE_FILE_H
#define AC_BASE_FILE_H
#include "base/ctx.h"

typedef struct ac_file {
    const char *path; /* as messages show it: "<stdin>" for "-" */
    const uint8_t *data;
    size_t n;
    void *map;             /* for ac_file_close to unmap; NULL: the bytes are in a region, or the file is empty */
    ac_resident *resident; /* its pages, while it is mapped */
    ac_heap *counted;      /* where the map counts as memory, until it is closed; NULL: nowhere */
} ac_file;

int ac_file_open(ac_ctx *cx, const char *path, ac_file *f);
void ac_file_close(ac_file *f);
/* All of a mapped file will be read: it counts towards the heap's limit, which a constant here and there does not. */
void ac_file_count(ac_ctx *cx, ac_file *f);
/* Lets the system drop the pages of all mapped files; they are read again on the next access. */
void ac_files_rest(ac_ctx *cx);
/* Adds a file that was read by other means to cx->read. */
void ac_file_note(ac_ctx *cx, const char *path);
/* An open file is needed as long as the context: ac_ctx_close closes it. Contexts that borrow (ac_ctx.lender) and open
 * it have it at the same address. */
void ac_file_keep(ac_ctx *cx, const ac_file *f);
/* Reads the rest of fd, which stays open; sets f->path. Returns 0 or an errno. */
int ac_file_load(ac_ctx *cx, int fd, ac_file *f);
/* The folder and those above it, where they are missing. E0302. Those that were made are removed with a context that
 * has errors, unless something is in them. */
int ac_folder_make(ac_ctx *cx, const char *path);
void ac_folders_forget(ac_ctx *cx);    /* by ac_ctx_close */
bool ac_file_exists(const char *path); /* and is not a folder */
bool ac_folder_exists(const char *path);
bool ac_file_is_special(const char *path); /* a device or a fifo: writing does not replace it */
/* The last part of a path, after the last slash; the folder is before it. */
const char *ac_path_name(const char *path);

#endif
