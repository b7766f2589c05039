/* reading.h - the one way in which a file of any format becomes a graph.
 *
 * A format is a constant struct of functions, registered in import/formats.def. Reading goes in two steps:
 *
 *     read     parses the file and declares the inputs, perhaps with unknown dimensions
 *     nodes    makes the nodes and finds the outputs: called when every dimension of the inputs is a number, since in
 *              most formats operators mean different things for different ranks and shapes
 *
 * A format whose nodes do not depend on sizes has no `nodes`: its `read` makes everything. All may find that
 * they have to wait: because a dimension of an input is unknown, or because an operand that has to be a constant is
 * computed from an input whose value the caller may give later (ac_reading.late). Then what has been made so far is
 * dropped and the graph has its inputs only; once they are pinned both steps run again on it (ac_reading.again).
 *
 *     static int read(ac_reading *r)
 *     {
 *         own *x = r->own = AC_NEW(r->cx->region, own);
 *         ...
 *         ac_reading_graph(r, name, "ONNX");
 *         ac_reading_input(r, "x", AC_F32, 2, dim, dim_name);
 *     }
 *
 * Malformed and unsupported are kept apart. What is malformed is reported where it is found. What is well formed but
 * beyond arenac goes into `refused` (refuse.h) and is reported when everything was read, so that the user sees all of
 * it.
 *
 * Memory: the context's region. */
#ifndef AC_IMPORT_BUILD_READING_H
#define AC_IMPORT_BUILD_READING_H
#include "base/bytes.h"
#include "import/build/imported.h"
#include "import/build/refuse.h"
#include "import/build/row.h"
#include "ir/flow/unroll.h"

struct ac_format;

/* A result whose size could depend on the data, and the one of opt.bound that it was given by a part of its name, in
 * this run; -1: none. */
typedef struct ac_sized {
    const char *name;
    int32_t by_part;
} ac_sized;

typedef struct ac_reading {
    ac_ctx *cx;
    const struct ac_format *format;
    ac_file file, second;
    ac_import_options opt; /* opt.second: NULL or &second */
    ac_graph *g;           /* NULL until ac_reading_graph */
    ac_imported out;       /* what is left in the end; readers set format, listing, file_ops and the like */
    void *own;             /* the format's, from `read` to `nodes` */
    ac_refusals refused;
    AC_VEC(ac_tensor *) input; /* in the order in which the format declares them; of a second run those of the first */
    int32_t n_inputs;          /* declared so far */
    bool again;                /* second run: the graph has its inputs, with their sizes (and values) known */
    bool late;                 /* an operand had to be a constant, and is none */
    AC_VEC(ac_sized) sized;    /* what opt.bound may name */
    struct ac_joined *joined;  /* of counted.c; NULL: none yet */
    struct ac_cut *cuts;       /* of updates.c; NULL: none yet */
    int64_t work;              /* steps left for values that are computed from given ones */
    ac_flow_budget copies;     /* of loops, branches and functions */
} ac_reading;

typedef struct ac_format {
    const char *title;
    const char *weights;           /* what its second file is: "a .params file"; NULL: everything is in one */
    bool (*looks)(ac_span s);      /* does the content look like it? (import/wire/peek.h) */
    int (*read)(ac_reading *r);    /* AC_FAIL: reported, or refused, and there is no use in making nodes */
    int (*nodes)(ac_reading *r);   /* NULL: `read` makes them. AC_FAIL: reported or refused */
    bool finds_outputs;            /* it looks for r->opt.outputs itself; else they are names of tensors */
    const ac_operators *operators; /* NULL: its operators are ours */
} ac_format;

/* The two steps of import.h. */
int ac_reading_start(ac_ctx *cx, const ac_format *format, const ac_file *f, const ac_import_options *opt,
                     ac_imported *out);
int ac_reading_finish(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins);

/* For formats: the graph, made when there is none yet. */
ac_graph *ac_reading_graph(ac_reading *r, const char *name, const char *format);
/* A dimension of an input is not a number yet, or even the number of dimensions is unknown. */
bool ac_reading_unsized(const ac_reading *r);
/* The next input. In a second run: the one that was declared before, which may be a constant by now (--const). rank
 * -1: not even the number of dimensions is known. dim: -1 is unknown. dim_name: NULL, or a name or NULL for each. */
ac_tensor *ac_reading_input(ac_reading *r, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                            const char *const *dim_name);

/* The same of an input that the format has made, t: it, or in a second run the one that was declared before. */
ac_tensor *ac_reading_input_made(ac_reading *r, ac_tensor *t);

/* An output as far as the file says what it is: all there is to show before the sizes of the inputs are known. type
 * AC_NONE, rank -1: not said; dim, dim_name: as of inputs. */
void ac_reading_promise(ac_reading *r, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                        const char *const *dim_name);

/* What the file uses and arenac does not support: reported when everything was read. help: NULL, or the way out.
 * AC_FAIL */
int ac_refuse(ac_reading *r, ac_place at, ac_code code, const char *op, const char *reason, const char *help);
int ac_reading_spend(ac_reading *r, int64_t steps); /* E0014 when the file's size does not justify so many */
/* Refuses an operator that has no supported row, with the reason of the table: E0107. shown: how messages call it. */
int ac_reading_refuse(ac_reading *r, ac_place at, const char *domain, const char *name, const char *shown);

/* pins.c: sets the unknown dimensions of the inputs of m by the pins. E0501 for pins of nothing, E0204 for what
 * stays unknown. */
int ac_pin_inputs(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins);

#endif
