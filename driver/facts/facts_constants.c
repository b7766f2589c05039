/* facts_constants.c - constants that take more read-only memory than in the model's file, and why.
 *
 * A constant of the program may be computed from several of the file (a weight and its scales), and one of the file may
 * be stored in several forms. So all that depends on the same constant of the file is one row. */
#include "driver/facts/facts_constants.h"

#include "codegen/bind.h"
#include "ir/lower/recipe/origin.h"

#include <stdlib.h>

enum { NOTED = 1024 }; /* bytes: fewer are not worth a note */

typedef struct row {
    const ac_tensor *leaf; /* the largest constant of the file; NULL: tables of a step */
    ac_origin origin;
    ac_report_larger is;
    ac_bytes largest;    /* of its forms: the one that `is` describes */
    int32_t order, next; /* 1 + the row before it of a leaf with the same number, or of the same step; 0: none */
} row;

typedef struct larger {
    ac_region *region;
    ac_lowered *const *steps;
    AC_VEC(row) row;
    int32_t *by_leaf, *by_step; /* 1 + the last row of a leaf with this number, of the tables of this step */
    int32_t n_leaves;
} larger;

/* Tensors that k is made of. */
static ac_bytes add_sources(ac_region *r, ac_origin *o, const ac_const *k)
{
    ac_bytes sum = k->source ? ac_origin_add(r, o, k->source) : 0;
    for (int32_t i = 0; k->maker && i < k->maker->arg.n - 1; i++)
        if (k->maker->arg.item[i].kind == AC_ARG_CONST)
            sum += add_sources(r, o, k->maker->arg.item[i].konst);
    return sum;
}

/* Bytes of the tensors that k's maker reads: they may be larger than in the file. */
static ac_bytes bytes_read(const ac_const *k)
{
    ac_bytes sum = k->source ? ac_const_bytes(k) : 0;
    for (int32_t i = 0; k->maker && i < k->maker->arg.n - 1; i++)
        if (k->maker->arg.item[i].kind == AC_ARG_CONST)
            sum += bytes_read(k->maker->arg.item[i].konst);
    return sum;
}

static const char *why_of(const ac_const *k, ac_bytes in_file, const ac_lowered *low)
{
    if (k->source)
        return k->why ? k->why : "its rows begin inside a byte of the file";
    if (!k->maker)
        return "its arithmetic uses tables";
    if (low->schedule.winograd)
        return "its filters are transformed for Winograd's convolution";
    if (bytes_read(k) > in_file + NOTED)
        return "loops with packed weights read each element several times, and would convert it each time";
    return "it is packed in blocks for these loops, and the last ones are padded";
}

/* Scales and zero points of the operands: tables are computed from them. */
static ac_bytes scales_of(const ac_node *n)
{
    ac_bytes sum = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->quant && n->in[i]->quant->n > 1)
            sum += n->in[i]->quant->n * (ac_bytes)(sizeof(float) + sizeof(int64_t));
    return sum;
}

/* Numbers of leaves are those of their graphs: a few leaves may have one number. */
static row *row_of(larger *l, const ac_tensor *leaf, int32_t step)
{
    int32_t *last = leaf ? &l->by_leaf[leaf->id % l->n_leaves] : &l->by_step[step];
    for (int32_t i = *last; i; i = l->row.item[i - 1].next)
        if (l->row.item[i - 1].leaf == leaf)
            return &l->row.item[i - 1];
    const ac_node *n = l->steps[step]->node;
    row own = {.leaf = leaf, .order = l->row.n, .next = *last};
    own.is.step = step;
    own.is.name = leaf ? leaf->name : n->name;
    own.is.in_file = leaf ? 0 : scales_of(n);
    ac_push(l->region, &l->row, own);
    *last = l->row.n;
    return &l->row.item[l->row.n - 1];
}

static void add(larger *l, const ac_const *k, int32_t step)
{
    ac_origin own = {0};
    const ac_bytes in_file = add_sources(l->region, &own, k), bytes = ac_const_bytes(k);
    const ac_tensor *leaf = NULL;
    for (int32_t i = 0; i < own.leaf.n; i++)
        if (!leaf || ac_origin_bytes(own.leaf.item[i]) > ac_origin_bytes(leaf))
            leaf = own.leaf.item[i];
    row *x = row_of(l, leaf, step);
    x->is.in_file += add_sources(l->region, &x->origin, k);
    x->is.bytes += bytes;
    if (bytes <= x->largest)
        return;
    x->largest = bytes;
    x->is.dtype = ac_dtype_name(k->dtype);
    x->is.why = bytes > in_file + NOTED || !leaf ? why_of(k, in_file, l->steps[step])
                                                 : "several steps read it in other forms, and each is stored";
}

static int by_difference(const void *a, const void *b)
{
    const row *p = a, *q = b;
    const ac_bytes x = p->is.bytes - p->is.in_file, y = q->is.bytes - q->is.in_file;
    return x != y ? (x < y) - (x > y) : (p->order > q->order) - (p->order < q->order);
}

void ac_facts_larger(ac_ctx *cx, const ac_planned *p, ac_report *to)
{
    ac_region *mem = cx->region;
    larger l = {.region = mem, .steps = p->step, .n_leaves = p->graph->tensor.n + 1};
    ac_const_list list = {0};
    AC_VEC(int32_t) first = {0}; /* by constant: the first step that reads it */
    l.by_leaf = AC_NEW_N(mem, int32_t, l.n_leaves);
    l.by_step = AC_NEW_N(mem, int32_t, p->n_steps + 1);
    for (int32_t s = 0; s < p->n_steps; s++)
        for (int32_t k = 0; k < p->step[s]->arg.n; k++)
            if (p->step[s]->arg.item[k].kind == AC_ARG_CONST &&
                ac_const_index(mem, &list, p->step[s]->arg.item[k].konst) == first.n)
                ac_push(mem, &first, s);
    const int32_t *twin = ac_const_twins(mem, list.konst.item, list.konst.n, false);
    for (int32_t i = 0; i < list.konst.n; i++)
        if (twin[i] == i)
            add(&l, list.konst.item[i], first.item[i]);
    ac_report_larger *larger_rows = AC_NEW_N(mem, ac_report_larger, l.row.n + 1);
    if (l.row.n)
        qsort(l.row.item, (size_t)l.row.n, sizeof *l.row.item, by_difference);
    for (int32_t i = 0; i < l.row.n; i++)
        if (l.row.item[i].is.bytes > l.row.item[i].is.in_file + NOTED)
            larger_rows[to->n_larger++] = l.row.item[i].is;
    to->larger = larger_rows;
}
