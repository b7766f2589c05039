/* row.h - describes an operator of a file format: one row type, one lookup and one refusal for the tables of all
 * formats.
 *
 * A format lists its operators in a .def file, with its own columns, and expands it into rows once:
 *
 *     #define OP(name, in, fn, op) {.name = #name, .min_in = in, .max_in = in, .run = AC_ADAPTER(ac_x_do_##fn), ...},
 *     #define WHY(name, reason)    {.name = #name, .reason = reason},
 *     static const ac_operator ROWS[] = {
 *     #include "import/x/operators.def"
 *     };
 *     const ac_operators ac_x_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};
 *
 * Either `run` or `build` creates the canonical nodes of one node of the file; an operator whose row has neither is
 * unsupported. `build` computes one result from the operands alone and is shared by all formats (builders.def). `run`
 * is an adapter for all other operators: it takes the format's own node, so the format casts the pointer back before
 * the call. */
#ifndef AC_IMPORT_BUILD_ROW_H
#define AC_IMPORT_BUILD_ROW_H
#include "ir/graph/graph.h"
#include "ir/ops/custom.h"

struct ac_maker;
struct ac_attrs_reader;

/* Computes the only result of a node from its n_in operands; op is the row's. NULL: reported, or refused. */
typedef ac_tensor *ac_builder(const struct ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in);
typedef void ac_adapter(void);
#define AC_ADAPTER(fn) ((ac_adapter *)(fn))

typedef struct ac_operator {
    const char *name;     /* as in the file; NULL: empty row (in tables that are indexed by number) */
    const char *domain;   /* of ONNX operators; NULL: ai.onnx, and in all other formats */
    int32_t since, until; /* versions that the row applies to; until 99: the newest; 0, 0: all */
    int32_t min_in, max_in, min_out, max_out;
    ac_adapter *run; /* both NULL: not supported */
    ac_builder *build;
    ac_op op;         /* canonical operator; AC_OP_NONE: several, or depends on attributes */
    uint32_t flags;   /* these three are the format's own */
    const char *args; /* names of operands or results */
    const void *options;
    const char *reason, *help; /* why it is not supported, and a workaround; may be NULL */
} ac_operator;

typedef struct ac_operators {
    const ac_operator *row;
    int32_t n;
    ac_op (*becomes)(const ac_operator *row); /* replaces row->op for tables without that column; NULL: row->op */
} ac_operators;

/* The first supported row of that name, domain ("" is NULL) and version; NULL: not found. Cost O(rows). */
const ac_operator *ac_operator_find(const ac_operators *t, const char *domain, const char *name, int64_t version);
/* The row with the reason why the operator is not supported; NULL: unknown operator. */
const ac_operator *ac_operator_why(const ac_operators *t, const char *domain, const char *name);
/* A row, in the context's region, for an operator of the file that c computes; `run` creates its nodes. */
ac_operator *ac_operator_custom(ac_ctx *cx, const ac_custom *c, const char *name, ac_adapter *run);
/* The attributes of a custom node: those of row c that the file has, by their names and types; the others keep their
 * defaults. A true or false is 1 or 0 for i32. AC_FAIL: a value is of another type (E0103). */
int ac_custom_attrs_read(struct ac_attrs_reader *a, const ac_custom *c, ac_attrs *out);

#endif
