/* What an ONNX file uses that arenac does not support: collected while reading, reported together. */
#include "import/onnx.h"

#include <stdlib.h>
#include <string.h>

int ac_onx_refuse(ac_onx *r, ac_place at, ac_code code, const char *op, const char *reason, const char *help)
{
    ac_onx_refusal x = {.code = code, .op = op, .reason = reason, .help = help, .at = at, .order = r->refused.n};
    ac_push(r->cx->region, &r->refused, x);
    return AC_FAIL;
}

int ac_onx_cannot(ac_onx_node *n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(n->r->cx->region, fmt, ap);
    va_end(ap);
    return ac_onx_refuse(n->r, n->at, E0108, n->type, reason, NULL);
}

static int by_kind(const void *pa, const void *pb)
{
    const ac_onx_refusal *a = pa, *b = pb;
    int c = strcmp(a->op, b->op);
    if (!c)
        c = strcmp(a->reason, b->reason);
    if (!c)
        c = (a->code > b->code) - (a->code < b->code);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *pa, const void *pb)
{
    const ac_onx_refusal *a = pa, *b = pb;
    return (a->order > b->order) - (a->order < b->order);
}

/* One diagnostic for each distinct operator and reason, in the order in which they first occur. */
int ac_onx_report(ac_onx *r)
{
    ac_onx_refusal *x = r->refused.item;
    int32_t n = r->refused.n, kinds = 0;
    if (!n)
        return AC_OK;
    qsort(x, (size_t)n, sizeof *x, by_kind);
    for (int32_t i = 0; i < n; i++) {
        bool same = kinds && !strcmp(x[i].op, x[kinds - 1].op) && !strcmp(x[i].reason, x[kinds - 1].reason) &&
                    x[i].code == x[kinds - 1].code;
        if (!same)
            x[kinds++] = x[i];
        x[kinds - 1].count++;
    }
    qsort(x, (size_t)kinds, sizeof *x, by_order);
    for (int32_t i = 0; i < kinds; i++) {
        const char *often = x[i].count == 1 ? "" : ac_strf(r->cx->region, ", used %d times, first here", x[i].count);
        if (x[i].code == E0107)
            ac_error(r->cx, x[i].at, E0107, "operator %s is not supported%s", x[i].op, often);
        else
            ac_error(r->cx, x[i].at, x[i].code, "%s is not supported in this form%s", x[i].op, often);
        ac_reason(r->cx, "%s", x[i].reason);
        if (x[i].help)
            ac_help(r->cx, "%s", x[i].help);
    }
    return AC_FAIL;
}
