/* dump.c - writes the text form.
 *
 * One instruction per line, indented by depth; numbers are the indices of the instructions, as in the code. */
#include "base/format.h"
#include "ir/loop/builder.h"
#include "ir/loop/text_words.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

#include <math.h>
#include <string.h>

static void put_type(ac_sink *to, const ac_ins *i)
{
    ac_putf(to, " %s", ac_dtype_name((ac_dtype)i->dtype));
    if (i->lanes != 1)
        ac_putf(to, "x%d", i->lanes);
}

/* Enough digits to read the same value back. */
static void put_lane(ac_sink *to, ac_dtype d, int64_t k)
{
    double v;
    memcpy(&v, &k, sizeof v);
    if (!ac_dtype_is_float(d) && d == AC_U64)
        ac_putf(to, " %llu", (unsigned long long)k);
    else if (!ac_dtype_is_float(d))
        ac_putf(to, " %lld", (long long)k);
    else if (isnan(v))
        ac_put(to, signbit(v) ? " -nan" : " nan");
    else if (isinf(v))
        ac_put(to, v < 0 ? " -inf" : " inf");
    else
        ac_putf(to, d == AC_F64 ? " %.17g" : " %.9g", v);
}

static void put_text(ac_sink *to, const char *note)
{
    if (!note)
        return;
    ac_put(to, " \"");
    for (const char *p = note; *p; p++)
        ac_putc(to, *p == '"' || *p == '\\' ? '\'' : *p == '\n' ? ' ' : *p);
    ac_putc(to, '"');
}

static void put_pool(ac_sink *to, const ac_loop_fn *fn, const ac_ins *i, ac_dtype d)
{
    ac_put(to, " [");
    for (int32_t l = 0; l < i->lanes; l++)
        put_lane(to, d, fn->pool.item[i->aux + l]);
    ac_put(to, " ]");
}

static void put_operands(ac_sink *to, const ac_ins *i)
{
    const ac_x use[3] = {i->a, i->b, i->c};
    for (int32_t k = 0; k < ac_lop_arity((ac_lop)i->op); k++)
        if (use[k])
            ac_putf(to, " %%%d", use[k]);
}

static void put_tile(ac_sink *to, const ac_loop_fn *fn, const ac_ins *i, bool hints)
{
    const ac_tile t = ac_ins_tile(i);
    const char *x = fn->buf.item[t.x].name, *w = fn->buf.item[t.w].name, *acc = fn->buf.item[t.acc].name;
    ac_putf(to, " %s", ac_tile_text[t.form]);
    if (t.form == AC_TILE_SPREAD) {
        ac_putf(to, " %d %s[%%%d] %d %d %s[%%%d] %d%s %%%d", t.channels, acc, i->b, t.pitch, t.shift, x, i->a, t.stride,
                hints && t.depth ? " words" : "", i->c);
        return;
    }
    ac_putf(to, " %d x %d %s %s[%%%d]", t.rows, t.channels, acc, x, i->a);
    if (t.form == AC_TILE_EACH || ac_tile_is_wide(&t))
        ac_putf(to, " %d %s[%%%d] %d %d %%%d", t.pitch, w, i->b, t.shift, t.depth, i->c);
    else if (t.form == AC_TILE_MATRIX)
        ac_putf(to, " %d %s[%%%d] %%%d", t.pitch, w, i->b, i->c);
    else if (t.form == AC_TILE_UNSIGNED)
        ac_putf(to, " %s[%%%d] %d %%%d", w, i->b, t.depth, i->c);
    else
        ac_putf(to, " %s[%%%d] %%%d", w, i->b, i->c);
}

static void put_ins(ac_sink *to, const ac_loop_fn *fn, const ac_ins *i, bool hints)
{
    ac_lop op = (ac_lop)i->op;
    const char *buf = ac_lop_has_buffer(op) ? fn->buf.item[i->aux].name : "";
    bool value = ac_lop_class(op) == 'V' || op == AC_L_FOR || op == AC_L_VAR;
    ac_put(to, ac_lop_text(op));
    if (value)
        put_type(to, i);
    if (op == AC_L_CONST) {
        put_lane(to, (ac_dtype)i->dtype, i->k.i);
        ac_put(to, i->flags & AC_F_SHAPE ? " shape" : "");
    } else if (op == AC_L_CONSTV) {
        put_pool(to, fn, i, (ac_dtype)i->dtype);
    } else if (op == AC_L_LOAD || op == AC_L_PREFETCH) {
        ac_putf(to, " %s[%%%d]", buf, i->a);
    } else if (op == AC_L_STORE) {
        ac_putf(to, " %s[%%%d] %%%d", buf, i->a, i->b);
    } else if (op == AC_L_MMA) {
        const char *words = fn->buf.item[i->k.i].name;
        put_type(to, &(ac_ins){.dtype = i->dtype, .lanes = 1});
        ac_putf(to, " %s[%%%d] %s[%%%d] %s[%%%d]", buf, i->a, words, i->b, words, i->c);
    } else if (op == AC_L_TILE) {
        put_tile(to, fn, i, hints);
    } else if (op == AC_L_REQUANT) {
        const ac_requants q = ac_ins_requant(i);
        ac_putf(to, " %d %s[%%%d] %s %d %s[%%%d] %%%d %d %d .. %d pre %d%s", q.lanes, buf, i->a,
                fn->buf.item[q.acc].name, q.row, fn->buf.item[q.table].name, i->b, i->c, q.zero, q.lo, q.hi, q.pre,
                q.away ? " away" : "");
    } else if (op == AC_L_FOR) {
        ac_putf(to, " %%%d .. %%%d step %lld", i->a, i->b, (long long)i->k.i);
    } else {
        put_operands(to, i);
    }
    if (op == AC_L_SHUFFLE)
        put_pool(to, fn, i, AC_I64);
    else if (op == AC_L_GET)
        ac_putf(to, " %%%d", i->aux);
    else if (op == AC_L_SET)
        ac_putf(to, " to %%%d", i->aux);
    else if (op == AC_L_LANE)
        ac_putf(to, " at %d", i->aux);
    else if (op == AC_L_FAIL_IF)
        ac_putf(to, " status %d", i->aux);
    if (i->name)
        ac_putf(to, " as %s", i->name);
    if (op == AC_L_FOR && i->aux != AC_MARK_SERIAL && (hints || i->aux != AC_MARK_NEST))
        ac_putf(to, " %s", AC_MARK_TEXT[i->aux]);
    if (i->flags & AC_F_WRAP)
        ac_put(to, " wrap");
    if (i->flags & AC_F_ALIGNED)
        ac_put(to, " aligned");
    if (i->flags & AC_F_NARROW)
        ac_put(to, " narrow");
    if (i->flags & AC_F_LATE)
        ac_put(to, " late");
    if (i->groups)
        ac_putf(to, " groups %d", i->groups - 1);
    ac_putc(to, '\n');
}

static void put_fn(ac_sink *to, const ac_loop_fn *fn, bool hints)
{
    ac_putf(to, "fn %s", fn->name);
    put_text(to, fn->note);
    ac_putc(to, '\n');
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *m = &fn->buf.item[i];
        ac_putf(to, "  buf %s %s %s %lld align %d", m->name, AC_ROLE_TEXT[m->role], ac_dtype_name(m->dtype),
                (long long)m->count, m->align);
        if (m->where != AC_WHERE_STACK)
            ac_putf(to, " %s", AC_WHERE_TEXT[m->where]);
        put_text(to, m->note);
        ac_putc(to, '\n');
    }
    int32_t depth = 0;
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        char cls = ac_lop_class((ac_lop)i->op);
        bool named = cls == 'V' || i->op == AC_L_FOR || i->op == AC_L_VAR;
        if ((cls == 'C' || cls == 'E') && depth > 0)
            depth--;
        char number[16] = "";
        if (named)
            ac_print(number, sizeof number, "%%%d", x);
        ac_putf(to, "  %5s %c %*s", number, named ? '=' : ' ', 2 * depth, "");
        put_ins(to, fn, i, hints);
        if (cls == 'O' || cls == 'E')
            depth++;
    }
}

void ac_loop_dump(ac_sink *to, const ac_loop_fn *fn)
{
    put_fn(to, fn, true);
}

void ac_loop_dump_plain(ac_sink *to, const ac_loop_fn *fn)
{
    put_fn(to, fn, false);
}
