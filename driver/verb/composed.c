/* composed.c - writes ONNX models of one node, reads and lowers them, and records those that are accepted. */
#include "driver/verb/composed.h"

#include "export/pb_write.h"
#include "import/build/attrs.h"
#include "import/import.h"
#include "ir/lower/node/node.h"

#include <stdlib.h>
#include <string.h>

/* The operands after the first: of its type, with its rank or one dimension; indices; lists of i64; omitted. */
typedef enum operand { LIKE_FIRST, LIST, ROW, INDICES, ONES, TWOS, PAIRS, SCALE, OMITTED, OPERAND_KINDS } operand;
enum { MIXED = 4, OPERANDS = 8, NEWEST = 28 }; /* more than MIXED operands are all of one kind */

typedef struct trial {
    ac_ctx *cx;
    const ac_operator *row;
    const ac_target *target;
    int32_t rank, n;
    ac_dtype type;
    operand in[OPERANDS]; /* in[0] is not read */
    ac_composed *out;
    ac_attrs_read *read;
    bool taken;
} trial;

static const int8_t ONNX_TYPE[AC_DTYPE_COUNT] = {
    -1,
#define DTYPE(id, text, bits, kind, c, npy, tfl, onnx, loops, file_bits) onnx,
#include "ir/dtype/dtype.def"
#undef DTYPE
};

/* ------------------------------------------------------------------ the model */

static void put_input(ac_sink *graph, const char *name, int type, int32_t rank)
{
    ac_sink dim, shape, tensor, of, value;
    ac_sink_open(&shape, graph->cx);
    for (int32_t d = 0; d < rank; d++) {
        ac_sink_open(&dim, graph->cx);
        ac_pbw_int(&dim, 1, 1);
        ac_pbw_message(&shape, 1, &dim);
    }
    ac_sink_open(&tensor, graph->cx);
    ac_pbw_int(&tensor, 1, type);
    ac_pbw_message(&tensor, 2, &shape);
    ac_sink_open(&of, graph->cx);
    ac_pbw_message(&of, 1, &tensor);
    ac_sink_open(&value, graph->cx);
    ac_pbw_string(&value, 1, name);
    ac_pbw_message(&value, 2, &of);
    ac_pbw_message(graph, 11, &value);
}

static void put_list(ac_sink *graph, const char *name, int32_t n, int64_t v)
{
    ac_sink tensor;
    ac_sink_open(&tensor, graph->cx);
    ac_pbw_int(&tensor, 1, n);
    ac_pbw_int(&tensor, 2, ONNX_TYPE[AC_I64]);
    for (int32_t i = 0; i < n; i++)
        ac_pbw_int(&tensor, 7, v);
    ac_pbw_string(&tensor, 8, name);
    ac_pbw_message(graph, 5, &tensor);
}

static void put_operand(ac_sink *graph, const trial *p, int32_t i, const char *name)
{
    const int type = ONNX_TYPE[p->type];
    switch (i ? p->in[i] : LIKE_FIRST) {
    case LIKE_FIRST:
        put_input(graph, name, type, p->rank);
        break;
    case ROW:
        put_input(graph, name, type, 1);
        break;
    case SCALE:
        put_input(graph, name, ONNX_TYPE[AC_F32], 0);
        break;
    case INDICES:
        put_input(graph, name, ONNX_TYPE[AC_I64], p->rank);
        break;
    case LIST:
        put_list(graph, name, 1, 0);
        break;
    case ONES:
        put_list(graph, name, p->rank, 1);
        break;
    case TWOS:
        put_list(graph, name, p->rank, 2);
        break;
    case PAIRS:
        put_list(graph, name, 2 * p->rank, 0);
        break;
    case OMITTED:
    case OPERAND_KINDS:
        break;
    }
}

static void put_opset(ac_sink *model, const char *domain, int64_t version)
{
    ac_sink set;
    ac_sink_open(&set, model->cx);
    ac_pbw_string(&set, 1, domain);
    ac_pbw_int(&set, 2, version);
    ac_pbw_message(model, 8, &set);
}

static void put_model(ac_sink *model, const trial *p)
{
    static const char *const NAME[OPERANDS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    const ac_operator *row = p->row;
    const int64_t version = row->until < 99 ? row->until : *row->domain ? row->since : NEWEST;
    ac_sink graph, node, value;
    ac_sink_open(&node, p->cx);
    for (int32_t i = 0; i < p->n; i++)
        ac_pbw_string(&node, 1, i && p->in[i] == OMITTED ? "" : NAME[i]);
    ac_pbw_string(&node, 2, "y");
    ac_pbw_string(&node, 4, row->name);
    ac_pbw_string(&node, 7, row->domain);
    ac_sink_open(&graph, p->cx);
    ac_pbw_message(&graph, 1, &node);
    ac_pbw_string(&graph, 2, "trial");
    for (int32_t i = 0; i < p->n; i++)
        put_operand(&graph, p, i, NAME[i]);
    ac_sink_open(&value, p->cx);
    ac_pbw_string(&value, 1, "y");
    ac_pbw_message(&graph, 12, &value);
    ac_sink_open(model, p->cx);
    ac_pbw_int(model, 1, 10);
    ac_pbw_message(model, 7, &graph);
    put_opset(model, "", *row->domain ? NEWEST : version);
    if (*row->domain)
        put_opset(model, row->domain, version);
}

/* ------------------------------------------------------------------ trials */

/* Reads the model and lowers its nodes. */
static int try_model(const trial *p)
{
    ac_imported m = {.format = NULL};
    ac_sink model;
    put_model(&model, p);
    const ac_file f = {.path = "trial", .data = (const uint8_t *)ac_sink_text(&model), .n = ac_sink_size(&model)};
    const ac_import_options opt = {.from = "onnx", .read = p->read};
    AC_TRY(ac_import(p->cx, &f, &opt, &m));
    AC_TRY(ac_import_nodes(p->cx, &m, NULL, 0));
    const ac_graph *g = m.graph;
    for (int32_t i = 0; i < g->node.n; i++)
        if (!ac_lower_node(p->cx, p->cx->region, g->node.item[i], p->target, 0, true))
            return AC_FAIL;
    for (int32_t i = 0; i < g->node.n; i++)
        p->out->op[g->node.item[i]->op] = true;
    return g->node.n ? AC_OK : AC_FAIL;
}

static void try_guarded(void *arg)
{
    trial *p = arg;
    ac_ctx_start(p->cx);
    p->taken = try_model(p) == AC_OK;
}

/* Is the node with these operands accepted? Memory that runs out: no. */
static bool taken(trial *p, ac_heap *heap)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    p->cx = &cx;
    p->taken = false;
    if (!ac_heap_guard(&cx.heap, try_guarded, p))
        ac_heap_exhausted(heap);
    ac_ctx_close(&cx);
    return p->taken;
}

/* The first accepted kinds of the other operands, few operands first, for a first one of that rank and type. Four
 * dimensions of f32: tries them all, as some attributes are read after others are accepted. */
static bool seek(trial *p, ac_heap *heap)
{
    const ac_operator *row = p->row;
    const bool all = p->rank == 4 && p->type == AC_F32;
    const int32_t most = row->min_in > MIXED ? row->min_in : MIXED;
    trial first = *p;
    bool any = false;
    for (p->n = row->min_in > 0 ? row->min_in : 1; p->n <= row->max_in && p->n <= most; p->n++) {
        const bool mixed = p->n <= MIXED;
        int32_t choices = mixed ? 1 : OPERAND_KINDS;
        for (int32_t i = 1; mixed && i < p->n; i++)
            choices *= OPERAND_KINDS;
        for (int32_t k = 0; k < choices && (all || !any); k++) {
            for (int32_t i = 1, rest = k; i < p->n; i++, rest /= mixed ? OPERAND_KINDS : 1)
                p->in[i] = (operand)(rest % OPERAND_KINDS);
            if (!taken(p, heap) || any)
                continue;
            first = *p;
            any = true;
        }
        if (any && !all)
            break;
    }
    *p = any ? first : *p;
    return any;
}

static int by_name(const void *a, const void *b)
{
    const ac_attr_spec *x = *(const ac_attr_spec *const *)a, *y = *(const ac_attr_spec *const *)b;
    return strcmp(x->named ? x->named : x->name, y->named ? y->named : y->name);
}

void ac_composed_probe(ac_ctx *cx, const ac_operator *row, const ac_target *target, ac_composed *out)
{
    static const ac_dtype SEED[] = {AC_F32, AC_I64, AC_I8, AC_BOOL};
    ac_attrs_read read = {.n = 0};
    *out = (ac_composed){.types = 0};
    trial p = {.row = row, .target = target, .out = out, .read = &read};
    if (row->min_in > OPERANDS)
        return;
    for (p.rank = 0; p.rank <= AC_MAX_RANK; p.rank++)
        for (size_t k = 0; k < sizeof SEED / sizeof *SEED && !(out->ranks >> p.rank & 1); k++) {
            p.type = SEED[k];
            if (!seek(&p, &cx->heap))
                continue;
            out->ranks |= (uint32_t)1 << p.rank;
            for (int d = AC_NONE + 1; d < AC_DTYPE_COUNT; d++) {
                p.type = (ac_dtype)d;
                if (ONNX_TYPE[d] > 0 && !(out->types >> d & 1) && taken(&p, &cx->heap))
                    out->types |= (uint32_t)1 << d;
            }
        }
    qsort(read.row, (size_t)read.n, sizeof *read.row, by_name);
    for (int32_t i = 0; i < read.n; i++)
        ac_push(cx->region, &out->attr, ac_attr_default(cx, read.row[i]));
}
