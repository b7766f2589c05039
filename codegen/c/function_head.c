/* function_head.c - prints the beginning of a function: the comment with its note and its buffers, the parameters in
 * lines that are not too long, and its arrays. */
#include "codegen/c/dialect.h"
#include "codegen/dsp/rows.h"
#include "codegen/nests.h"

#include <string.h>

enum { LINE_LIMIT = 116 }; /* characters of a line that is broken */

static void use_rows(const ac_rows *r, uint8_t *uses)
{
    uses[r->tile.x] |= C_READ;
    uses[r->tile.w] |= C_READ;
    uses[r->m] |= C_READ;
    uses[r->y] |= C_WRITTEN;
    if (r->bias >= 0)
        uses[r->bias] |= C_READ;
}

uint8_t *ac_c_buffer_uses(const ac_loop_fn *fn, ac_rows **row, ac_region *r)
{
    uint8_t *uses = AC_NEW_N(r, uint8_t, fn->buf.n + 1);
    ac_nest nest = {0};
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        if (row && row[x]) {
            use_rows(row[x], uses);
            continue;
        }
        const bool whole = x < nest.end || ac_nest_find(fn, x, &nest); /* accumulators are not in memory */
        if (in->op == AC_L_LOAD || in->op == AC_L_PREFETCH)
            uses[in->aux] |= C_READ;
        if (ac_lop_stores((ac_lop)in->op) || in->op == AC_L_MMA)
            uses[in->aux] |= C_WRITTEN;
        if (in->op == AC_L_MMA)
            uses[in->k.i] |= C_READ;
        if (in->op == AC_L_TILE) {
            const ac_tile t = ac_ins_tile(in);
            uses[t.x] |= C_READ;
            uses[t.form == AC_TILE_SPREAD ? t.x : t.w] |= C_READ;
            uses[t.acc] |= whole ? 0 : C_READ | C_WRITTEN;
        }
        if (in->op == AC_L_REQUANT) {
            uses[ac_ins_requant(in).table] |= C_READ;
            uses[ac_ins_requant(in).acc] |= whole ? 0 : C_READ;
        }
    }
    return uses;
}

static void print_comment(ac_cfn *f, const uint8_t *uses)
{
    ac_region *r = f->file->region;
    const char *note = f->fn->note && *f->fn->note ? f->fn->note : f->fn->name;
    ac_putf(f->to, "/* %s", ac_c_comment_text(r, note));
    if (f->sig->comment)
        ac_putf(f->to, "\n%s", f->sig->comment);
    int width = 1;
    for (int32_t i = 0; i < f->fn->buf.n; i++)
        width = (int)strlen(f->buf[i]) > width ? (int)strlen(f->buf[i]) : width;
    for (int32_t i = 0; i < f->fn->buf.n; i++) {
        const ac_buf *b = &f->fn->buf.item[i];
        if (b->role == AC_BUF_LOCAL || (f->file->dialect->only_used && !uses[i]))
            continue;
        ac_putf(f->to, "\n *   %-*s  %s[%lld]", width, f->buf[i], ac_dtype_name(b->dtype), (long long)b->count);
        if (b->note && *b->note)
            ac_putf(f->to, "  %s", ac_c_comment_text(r, b->note));
    }
    ac_put(f->to, " */\n");
}

void ac_c_put_wrapped(ac_sink *to, const char *text, int32_t indent)
{
    size_t start = to->n;
    while (start > 0 && to->text[start - 1] != '\n')
        start--;
    for (const char *p = text; *p;) {
        int depth = 0;
        size_t n = 0; /* one argument with its comma */
        for (; p[n] && !(p[n] == ',' && !depth); n++)
            depth += (p[n] == '(') - (p[n] == ')');
        n += p[n] == ',';
        if (to->n - start + n > LINE_LIMIT && p != text) {
            while (to->n && to->text[to->n - 1] == ' ')
                to->n--;
            ac_putc(to, '\n');
            start = to->n;
            for (int32_t i = 0; i < indent; i++)
                ac_putc(to, ' ');
        }
        ac_put_n(to, p, n);
        p += n;
        for (; *p == ' '; p++)
            ac_putc(to, ' ');
    }
}

static void print_params(ac_cfn *f, const uint8_t *uses)
{
    const ac_loop_fn *fn = f->fn;
    const ac_dialect *D = f->file->dialect;
    const bool *restricted = f->sig->restricted;
    ac_sink params;
    ac_sink_open(&params, f->file->cx);
    int32_t n = 0;
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *b = &fn->buf.item[i];
        if (b->role == AC_BUF_LOCAL || (D->only_used && !uses[i]))
            continue;
        ac_putf(&params, "%s%s%s *", n++ ? ", " : "", uses[i] & C_WRITTEN ? "" : "const ", ac_dtype_c(b->dtype));
        if (restricted && restricted[i])
            ac_putf(&params, "%s ", D->restrict_word);
        ac_put(&params, f->buf[i]);
    }
    if (D->status && fn->fails)
        ac_putf(&params, "%sint32_t *%s", n++ ? ", " : "", D->status);
    ac_put(&params, n ? ")" : "void)");
    ac_c_put_wrapped(f->to, ac_sink_text(&params), 4);
}

void ac_c_print_head(ac_cfn *f, const uint8_t *uses)
{
    const ac_dialect *D = f->file->dialect;
    print_comment(f, uses);
    ac_put(f->to, D->head(f));
    print_params(f, uses);
    ac_put(f->to, "\n{\n");
    f->depth = 1;
    for (int32_t i = 0; i < f->fn->buf.n; i++) {
        const ac_buf *b = &f->fn->buf.item[i];
        if (b->role == AC_BUF_LOCAL && uses[i])
            ac_c_line(f, "%s", D->local(f, b, f->buf[i]));
        else if (b->role != AC_BUF_LOCAL && !uses[i] && !D->only_used)
            ac_c_line(f, "(void)%s;", f->buf[i]);
    }
    if (f->sig->first)
        ac_c_line(f, "%s", f->sig->first);
}
