/* byte.c - turns a chain of element-wise operators on one 8-bit tensor into a table of 256 entries.
 *
 *     y = mul(x, logistic(x)), x and y i8        ->        for i < n: y[i] = table[x[i]]
 *
 * The table is a constant whose maker runs the chain itself on all values, so the entries equal the results of the
 * operators. It is used if the chain has an operator that needs a table (integers) or a polynomial (floats); cheaper
 * chains are arithmetic on vectors. Targets with vectors have 64-bit registers: eight bytes are extracted from and
 * assembled in one of them. Entries are in the order of the raw byte. */
#include "ir/lower/map/map.h"
#include "ir/lower/lower.h"

typedef struct chain {
    ac_tensor *x;
    int32_t x_buf, y_buf, table;
    ac_x value; /* the chain's input while the table is computed */
    ac_x at;    /* first element of the run */
} chain;

static bool is_byte(const ac_tensor *t)
{
    return t->dtype == AC_I8 || t->dtype == AC_U8;
}

/* The only operand that is not uniform; NULL: none or several. */
static ac_tensor *only_operand(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = NULL, *list[4];
    for (int32_t f = -1; f < n->n_fused; f++) {
        const ac_node *m = f < 0 ? n : n->fused[f];
        const int32_t count = ac_lo_map_operands(L, m, list);
        for (int32_t i = 0; i < count; i++) {
            if (!list[i] || ac_node_internal(n, list[i]) || list[i] == x ||
                (ac_tensor_is_const(list[i]) && ac_tensor_count(list[i]) == 1))
                continue;
            if (x || ac_tensor_is_const(list[i]))
                return NULL;
            x = list[i];
        }
    }
    return x;
}

static bool has_curve(const ac_node *n)
{
    bool found = ac_ops[n->op].flags & OF_TABLE;
    for (int32_t f = 0; f < n->n_fused; f++)
        found |= (ac_ops[n->fused[f]->op].flags & OF_TABLE) != 0;
    return found;
}

static ac_x operand(ac_lower *P, ac_tensor *t, const void *at, int32_t lanes)
{
    const chain *c = at;
    return t == c->x ? c->value : ac_lo_load_at(P, t, ac_lb_i32(&P->b, 0), false, lanes);
}

static int32_t make_table(ac_lower *L, chain *c)
{
    const ac_node *n = L->node;
    ac_lower P;
    const int32_t to = ac_lo_pack_open(L, &P, "table", ac_node_result(n)->dtype, 256);
    ac_lb *b = &P.b;
    ac_x byte = ac_lb_for_n(b, "byte", 256), arg[4] = {0};
    c->value = ac_lb_bitcast(b, ac_lb_cast(b, byte, AC_U8), c->x->dtype);
    ac_tensor *list[4];
    const int32_t count = ac_lo_map_operands(&P, n, list);
    for (int32_t i = 0; i < count; i++)
        if (list[i])
            arg[i] = operand(&P, list[i], c, 1);
    ac_x v = P.rows[n->op].map(&P, n, arg);
    if (v)
        v = ac_lo_epilogue(&P, v, operand, c, 1);
    if (v) /* else a map has refused */
        ac_lb_store(b, to, byte, v);
    ac_lb_end(b);
    return ac_lo_pack_close(L, &P);
}

/* `lanes` bytes through one integer. */
static void look_up(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    ac_lb *b = &L->b;
    const chain *c = with;
    const ac_dtype word = lanes == 8 ? AC_U64 : lanes == 4 ? AC_U32 : lanes == 2 ? AC_U16 : AC_U8;
    const ac_dtype y = ac_node_result(L->node)->dtype;
    i = ac_lb_add(b, c->at, i);
    const ac_x in = ac_lb_bitcast(b, ac_lb_load(b, c->x_buf, i, lanes), word);
    ac_x out = 0;
    for (int32_t k = 0; k < lanes; k++) {
        const ac_x by = ac_lb_int(b, word, 8 * k);
        ac_x at = ac_lb_cast(b, ac_lb_cast(b, ac_lb_shr(b, in, by), AC_U8), AC_I32);
        ac_x v = ac_lb_cast(b, ac_lb_bitcast(b, ac_lb_load(b, c->table, at, 1), AC_U8), word);
        v = ac_lb_shl(b, v, by);
        out = out ? ac_lb_or(b, out, v) : v;
    }
    ac_lb_store(b, c->y_buf, i, ac_lb_bitcast(b, out, y));
}

bool ac_mp_byte_table(ac_lower *L)
{
    const ac_tensor *y = ac_node_result(L->node);
    if (!is_byte(y) || !has_curve(L->node))
        return false;
    chain c = {.x = only_operand(L)};
    if (!c.x || !is_byte(c.x) || !ac_tensor_same_shape(c.x, y))
        return false;
    c.y_buf = ac_lo_result_buf(L);
    c.x_buf = ac_lo_operand(L, c.x);
    c.table = make_table(L, &c);
    ac_lb *b = &L->b;
    int64_t lead[2];
    ac_lo_lead(L, y, y->rank, lead);
    const int64_t run = ac_tensor_count(y) / (lead[0] * lead[1]);
    ac_x row = ac_lb_for_each(b, "i0", lead[0]), col = ac_lb_for_each(b, "i1", lead[1]);
    c.at = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, lead[1])), col), ac_lb_i32(b, run));
    ac_lo_strip_each(L, "i", run, L->target->vec_bytes ? 8 : 1, look_up, &c);
    ac_lb_end(b);
    ac_lb_end(b);
    return true;
}
