/* ctx.h - the context of one compilation: memory, names, diagnostics. The only global mutable state is that of signal
 * handlers (interrupt.h); two contexts work concurrently in one process.
 *
 *     ac_ctx cx;
 *     ac_ctx_open(&cx);                                          no memory yet
 *     if (!ac_heap_guard(&cx.heap, work, &mine))                 work calls ac_ctx_start(&cx) first
 *         puts("out of memory");
 *     ac_ctx_close(&cx);                                         frees everything
 * / */
#ifndef AC_BASE_CTX_H
#define AC_BASE_CTX_H
#include "base/diag.h"
#include "base/intern.h"
#include "base/region.h"

/* A mapped file that constants point into; file.c makes them */
typedef struct ac_kept {
    struct ac_kept *next;
    void *map;
    size_t n;
    int (*unmap)(void *map, size_t n);
} ac_kept;

/* A file that was read */
typedef struct ac_read_file {
    struct ac_read_file *next;
    const char *path;
} ac_read_file;

/* A folder that was made; file.c makes and ends them */
typedef struct ac_made_folder {
    struct ac_made_folder *next;
    const char *path;
} ac_made_folder;

/* A mapped file while it is open; map NULL: it is not any more. file.c makes and ends them */
typedef struct ac_resident {
    struct ac_resident *next;
    void *map;
    size_t n;
    uint64_t id[4]; /* device, file, seconds and nanoseconds of its last change: the same bytes have the same */
    bool kept;      /* until the context is closed */
} ac_resident;

typedef struct ac_ctx {
    ac_heap heap;
    ac_region *region; /* lives as long as the compilation: graph, names, loops, plan */
    ac_names names;    /* interned strings */
    ac_diags diags;    /* everything reported so far */
    ac_last_words last_words;
    ac_kept *kept;                   /* closed with the context */
    ac_read_file *read, **read_tail; /* files in the order of opening, except standard input */
    ac_resident *resident;
    const struct ac_ctx *lender;      /* NULL, or one that outlives this: files that it keeps are not mapped again */
    ac_made_folder *made;             /* the last one first */
    struct ac_progress *progress;     /* progress.h; NULL: not shown */
    const struct ac_customs *customs; /* operators of --custom (ir/ops/custom.h); NULL: none */
    bool printed;                     /* commit.c: something went to standard output, or should have */
} ac_ctx;

void ac_ctx_open(ac_ctx *cx);  /* clears the struct; allocates nothing */
void ac_ctx_start(ac_ctx *cx); /* opens the region; inside a guard, as everything that allocates */
void ac_ctx_close(ac_ctx *cx);

#endif
