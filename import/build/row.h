/* row.h - an operator of a file format: one row type, one lookup and one refusal for the tables of all formats.
 *
 * A format has its operators in a .def file, in columns of its own, and expands it into rows once:
 *
 *     #define OP(name, in, fn, op) {.name = #name, .min_in = in, .max_in = in, .run = AC_ADAPTER(ac_x_do_##fn), ...},
 *     #define WHY(name, reason)    {.name = #name, .reason = reason},
 *     static const ac_operator ROWS[] = {
 *     #include "import/x/operators.def"
 *     };
 *     const ac_operators ac_x_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};
 *
 * Either `run` or `build` makes the canonical nodes of one node of the file; a row without both is known, but not
 * supported. `build` computes one result from the operands alone and is shared by all formats (builders.def). `run` is
 * an adapter for everything else: it takes the format's own node, so the format casts the pointer back before it calls.
 */
#ifndef AC_IMPORT_BUILD_ROW_H
#define AC_IMPORT_BUILD_ROW_H
#include "ir/graph/graph.h"

struct ac_maker;

/* Computes the only result of a node from its n_in operands; op is the row's. NULL: reported, or refused. */
typedef ac_tensor *ac_builder(const struct ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in);
typedef void ac_adapter(void);
#define AC_ADAPTER(fn) ((ac_adapter *)(fn))

typedef struct ac_operator {
    const char *name;     /* in the file's words; NULL: no row (tables that are indexed by number have holes) */
    const char *domain;   /* of ONNX operators; NULL is ai.onnx, and all other formats */
    int32_t since, until; /* versions that the row holds for; until 99: the newest; 0, 0: all */
    int32_t min_in, max_in, min_out, max_out;
    ac_adapter *run; /* these two NULL: not supported */
    ac_builder *build;
    ac_op op;         /* what it becomes; AC_OP_NONE: several operators, or by its attributes */
    uint32_t flags;   /* these three are the format's own */
    const char *args; /* names of operands or results */
    const void *options;
    const char *reason, *help; /* why it is not supported, and the way out; NULL: there is none */
} ac_operator;

typedef struct ac_operators {
    const ac_operator *row;
    int32_t n;
    ac_op (*becomes)(const ac_operator *row); /* instead of row->op, which a table need not have; NULL: row->op */
} ac_operators;

/* The first supported row of that name, domain ("" is NULL) and version; NULL: there is none. Cost O(rows). */
const ac_operator *ac_operator_find(const ac_operators *t, const char *domain, const char *name, int64_t version);
/* The row that says why the operator is not supported; NULL: nothing is known of it. */
const ac_operator *ac_operator_why(const ac_operators *t, const char *domain, const char *name);

#endif
