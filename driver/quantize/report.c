/* report.c - the cost of quantisation, as text and JSON. */
#include "driver/quantize/quantizing.h"

#include "base/json_out.h"
#include "base/visible.h"

#include <math.h>

static void put_row(ac_quantizing *z, ac_sink *to, const ac_quantized_row *r)
{
    ac_ctx *cx = &z->w->cx;
    ac_putf(to, "  %-32s %-16s %2d bits  own %5.1f dB  model %5.1f dB",
            ac_brief_name(cx->region, ac_visible(cx->region, r->tensor)), r->op, r->bits, r->own, r->against);
    if (!r->weights)
        ac_putf(to, "  clipped %.3f %%  steps 1:%.1f", 100 * r->clipped, r->spread);
    ac_put(to, "\n");
}

int ac_quantizing_report(ac_quantizing *z, const char *path)
{
    ac_work *w = z->w;
    const ac_quantized *q = &z->result;
    ac_sink *to = AC_NEW(w->cx.region, ac_sink);
    ac_sink_open(to, &w->cx);
    if (!w->opt.quiet) {
        ac_putf(to, "%d of %d products by integers; outputs %.1f dB on the samples\n", q->integers, q->products, q->db);
        for (int32_t i = 0; i < q->n; i++)
            put_row(z, to, &q->row[i]);
    }
    ac_pending_put(&w->out, to, path);
    return AC_OK;
}
