/* reading.h - turns a file of any format into a graph.
 *
 * A format is a constant struct of functions, registered in import/formats.def. Reading has two steps:
 *
 *     read     parses the file and declares the inputs, which may have unknown dimensions
 *     nodes    creates the nodes and finds the outputs: called when every dimension of the inputs is a number, since in
 *              most formats operators mean different things for different ranks and shapes
 *
 * A format whose nodes do not depend on sizes has no `nodes`: its `read` creates the whole graph. Reading is suspended
 * if a dimension of an input is unknown, or if an operand that must be constant is computed from an input whose value
 * the caller may give later (ac_reading.late). Then the nodes are dropped and the graph has only its inputs; once they
 * are pinned, both steps run again on it (ac_reading.again).
 *
 *     static int read(ac_reading *r)
 *     {
 *         own *x = r->own = AC_NEW(r->cx->region, own);
 *         ...
 *         ac_reading_graph(r, name, "ONNX");
 *         ac_reading_input(r, "x", AC_F32, 2, dim, dim_name);
 *     }
 *
 * A malformed file is reported at once. Well-formed but unsupported features are collected in `refused` (refuse.h) and
 * reported after reading, so that the user sees all of them.
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

/* A result whose size may depend on data. by_part: the index in opt.bound of the bound that it got in this run by a
 * part of its name; -1: none. */
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
    ac_imported out;       /* the result; readers set format, listing, file_ops and the like */
    void *own;             /* state of the format, from `read` to `nodes` */
    ac_refusals refused;
    AC_VEC(ac_tensor *) input; /* in order of declaration; a second run reuses those of the first */
    int32_t n_inputs;          /* declared so far */
    bool again;                /* second run: the graph has its inputs, with their sizes (and values) known */
    bool late;                 /* an operand that must be constant is not */
    bool repeat; /* set by the format: it has learnt something (memo) that changes the nodes, which are created again */
    void *memo;  /* of the format, kept from run to run */
    AC_VEC(ac_sized) sized;   /* the results that opt.bound may name */
    struct ac_joined *joined; /* recorded by counted.c; NULL: none yet */
    struct ac_cut *cuts;      /* recorded by cuts.c; NULL: none yet */
    int64_t work;             /* steps left for values that are computed from given ones */
    ac_flow_budget copies;    /* of loops, branches and functions */
} ac_reading;

typedef struct ac_format {
    const char *title;
    const char *weights;           /* its second file in messages: "a .params file"; NULL: one file */
    bool (*looks)(ac_span s);      /* true if the content looks like this format (import/wire/peek.h) */
    int (*read)(ac_reading *r);    /* AC_FAIL: reported, or refused, and `nodes` is not called */
    int (*nodes)(ac_reading *r);   /* NULL: `read` creates them. AC_FAIL: reported or refused */
    bool open_batch;               /* an open first dimension of an input may be a batch (batch.c) */
    uint32_t keep_nan;             /* AC_NAN_*: the kinds of operators that keep a NaN; others: as TFLite's */
    bool finds_outputs;            /* handles r->opt.outputs itself; false: they are names of tensors */
    const ac_operators *operators; /* NULL: its operators are canonical */
} ac_format;

/* The two steps of import.h. */
int ac_reading_start(ac_ctx *cx, const ac_format *format, const ac_file *f, const ac_import_options *opt,
                     ac_imported *out);
int ac_reading_finish(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins);

/* For formats: the graph, created by the first call. */
ac_graph *ac_reading_graph(ac_reading *r, const char *name, const char *format);
/* True if the caller gives the value of input `name`, so that a default value in the file does not count. */
bool ac_reading_wants(const ac_reading *r, const char *name);
/* True if the caller omits the optional input `name`. */
bool ac_reading_omits(ac_reading *r, const char *name);
/* True if a dimension of an input, or its number of dimensions, is unknown. */
bool ac_reading_unsized(const ac_reading *r);
/* Declares the next input. In a later run it returns the input of the first, which may be a constant by now (--const).
 * rank -1: the number of dimensions is unknown. dim: -1 is unknown. dim_name: NULL, or a name or NULL for each. */
ac_tensor *ac_reading_input(ac_reading *r, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                            const char *const *dim_name);

/* The same for an input t that the format has created. Returns t, or in a second run the input of the first. */
ac_tensor *ac_reading_input_made(ac_reading *r, ac_tensor *t);

/* Records an output as the file declares it, to be shown while the sizes of the inputs are unknown. type AC_NONE, rank
 * -1: not declared; dim, dim_name: as for inputs. It is in no graph. */
ac_tensor *ac_reading_promise(ac_reading *r, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                              const char *const *dim_name);

/* Refuses an unsupported feature of the file; it is reported after reading. help: a workaround, or NULL. AC_FAIL */
int ac_refuse(ac_reading *r, ac_place at, ac_code code, const char *op, const char *reason, const char *help);
int ac_reading_spend(ac_reading *r, int64_t steps); /* E0014 if the total exceeds a multiple of the file's size */
/* Refuses an operator without a supported row, with the reason of the table: E0107. shown: its name in messages. */
int ac_reading_refuse(ac_reading *r, ac_place at, const char *domain, const char *name, const char *shown);

/* batch.c: is the first dimension of input t a batch whose size the file leaves open? */
bool ac_is_open_batch(const ac_graph *g, const ac_tensor *t);
/* pins.c: sets the unknown dimensions of the inputs of m from the pins. E0501: a pin matches no dimension; E0204: a
 * dimension is still unknown. */
int ac_pin_inputs(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins);

#endif
