/* refuse.c - reports the unsupported features of a file, once for each operator and reason. */
#include "import/build/refuse.h"
#include "import/build/operands.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ac_refusals_add(ac_ctx *cx, ac_refusals *list, ac_place at, ac_code code, const char *op, const char *reason,
                     const char *help)
{
    ac_refusal x = {.code = code, .op = op, .reason = reason, .help = help, .at = at, .order = list->n};
    ac_push(cx->region, list, x);
}

static int by_kind(const void *pa, const void *pb)
{
    const ac_refusal *a = pa, *b = pb;
    int c = strcmp(a->op, b->op);
    if (!c)
        c = strcmp(a->reason, b->reason);
    if (!c)
        c = (a->code > b->code) - (a->code < b->code);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *pa, const void *pb)
{
    const ac_refusal *a = pa, *b = pb;
    return (a->order > b->order) - (a->order < b->order);
}

int ac_refusals_report(ac_ctx *cx, ac_refusals *list)
{
    ac_refusal *x = list->item;
    int32_t n = list->n, kinds = 0;
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
        const char *often = x[i].count == 1 ? "" : ac_strf(cx->region, ", used %d times, first here", x[i].count);
        if (x[i].code == E0107)
            ac_error(cx, x[i].at, E0107, "operator %s is not supported%s", x[i].op, often);
        else
            ac_error(cx, x[i].at, x[i].code, "%s is not supported in this form%s", x[i].op, often);
        ac_reason(cx, "%s", x[i].reason);
        if (x[i].help)
            ac_help(cx, "%s", x[i].help);
    }
    return AC_FAIL;
}

int ac_refuse(ac_reading *r, ac_place at, ac_code code, const char *op, const char *reason, const char *help)
{
    ac_refusals_add(r->cx, &r->refused, at, code, op, reason, help);
    return AC_FAIL;
}

int ac_reading_spend(ac_reading *r, int64_t steps)
{
    if (r->work < 0)
        return AC_FAIL; /* already reported */
    r->work -= steps;
    return r->work >= 0 ? AC_OK
                        : ac_error(r->cx, (ac_place){.file = r->file.path}, E0014,
                                   "reading the file takes far more steps than its size justifies");
}

int ac_cannot(const ac_maker *b, const char *fmt, ...)
{
    va_list ap;
    if (b->bad)
        return AC_FAIL;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(b->cx->region, fmt, ap);
    va_end(ap);
    return ac_refuse(b->reading, b->at, E0108, b->at.op, reason, NULL);
}

int ac_bad(const ac_maker *b, const char *fmt, ...)
{
    va_list ap;
    if (b->bad)
        return AC_FAIL;
    va_start(ap, fmt);
    const char *what = ac_vstrf(b->cx->region, fmt, ap);
    va_end(ap);
    return ac_error(b->cx, b->at, E0104, "%s", what);
}
