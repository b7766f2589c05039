/* call_pieces.c - prints loops marked apart (ir/loop/pieces.h) as separate functions, and their calls:
 *
 *     at[0] = next_2;
 *     kws_stripe_0_9_conv_2d_2(line, rows, m_2, c_2, w_2, at); */
#include "codegen/c/dialect.h"

void ac_c_call_piece(ac_cfn *f)
{
    const ac_piece *p = &f->pieces->item[f->called];
    ac_sink call;
    ac_sink_open(&call, f->file->cx);
    ac_putf(&call, "%s(", f->piece_name[f->called++]);
    int32_t n = 0;
    for (int32_t i = 0; i < p->fn->buf.n; i++)
        if (p->fn->buf.item[i].role != AC_BUF_LOCAL)
            ac_putf(&call, "%s%s", n++ ? ", " : "", f->buf[p->buf[i]]);
    ac_put(&call, ");");
    for (int32_t i = 0; i < f->depth; i++)
        ac_put(f->to, "    ");
    ac_c_put_wrapped(f->to, ac_sink_text(&call), 4 * f->depth + 4);
    ac_putc(f->to, '\n');
}

int ac_c_print_pieces(ac_cfn *f, const ac_csig *sig)
{
    ac_region *r = f->file->region;
    f->piece_name = AC_NEW_N(r, const char *, f->pieces->n + 1);
    for (int32_t k = 0; k < f->pieces->n; k++) {
        const ac_piece *p = &f->pieces->item[k];
        if (p->like < k) {
            f->piece_name[k] = f->piece_name[p->like];
            continue;
        }
        const bool *restricted = ac_pieces_restricted(r, f->pieces, k, sig->restricted);
        f->piece_name[k] = ac_strf(r, "%s_%s", f->file->prefix, p->fn->name);
        const ac_csig own = {.name = f->piece_name[k], .restricted = restricted, .section = sig->section};
        AC_TRY(ac_c_print_fn(f->file, p->fn, &own, f->to));
    }
    return AC_OK;
}

void ac_c_add_uses(const ac_pieces *pieces, ac_region *r, uint8_t *uses)
{
    for (int32_t k = 0; k < pieces->n; k++) {
        const ac_piece *p = &pieces->item[k];
        const uint8_t *own = ac_c_buffer_uses(p->fn, NULL, r);
        for (int32_t i = 0; i < p->fn->buf.n; i++)
            if (p->fn->buf.item[i].role != AC_BUF_LOCAL)
                uses[p->buf[i]] |= own[i];
    }
}
