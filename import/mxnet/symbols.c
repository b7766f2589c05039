/* symbols.c - operators of MXNet symbols: the table and what is common to all of them. */
#include "import/mxnet/symbols.h"

#include <stdarg.h>
#include <string.h>

static const ac_operator ROWS[] = {
#define MX(type, imin, imax, names, fn, becomes) \
    {.name = #type,                              \
     .min_in = imin,                             \
     .max_in = imax,                             \
     .run = AC_ADAPTER(ac_mx_do_##fn),           \
     .op = AC_OP_##becomes,                      \
     .args = names},
#define WHY(type, because) {.name = #type, .reason = because},
#include "import/mxnet/symbols.def"
#undef MX
#undef WHY
};

const ac_operators ac_mx_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

/* The i-th word of the names of a row, with its mark. */
static const char *arg(const ac_operator *row, int32_t i, size_t *n)
{
    const char *p = row->args;
    for (; i > 0 && *p; i--) {
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    *n = strcspn(p, " ");
    return p;
}

bool ac_mx_is_param(const ac_operator *row, int32_t operand)
{
    size_t n;
    return *arg(row, operand, &n) == '*';
}

bool ac_mx_is_label(const ac_operator *row, int32_t operand)
{
    size_t n;
    return *arg(row, operand, &n) == '?';
}

const char *ac_mx_arg_name(const ac_operator *row, int32_t i)
{
    static const char *const NAMES[] = {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters"};
    size_t n;
    const char *p = arg(row, i, &n);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (n == strlen(NAMES[k]) + 1 && !memcmp(p + 1, NAMES[k], n - 1))
            return NAMES[k];
    return "arg";
}

int ac_mx_cannot(ac_mx_node *n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(n->r->cx->region, fmt, ap);
    va_end(ap);
    return ac_refuse(n->r->cx, &n->r->reading->refused, n->at, E0108, n->type, reason, NULL);
}

int ac_mx_bad(ac_mx_node *n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *what = ac_vstrf(n->r->cx->region, fmt, ap);
    va_end(ap);
    return ac_error(n->r->cx, n->at, E0104, "%s", what);
}

int ac_mx_result(ac_mx_node *n, int32_t i, ac_tensor *t)
{
    if (!t)
        return AC_FAIL;
    n->out[i] = t;
    return AC_OK;
}

int ac_mx_node_add(ac_mx_node *n)
{
    ac_mx *r = n->r;
    const int32_t errors = r->cx->diags.errors, refused = r->reading->refused.n;
    if (n->n_in < n->row->min_in || n->n_in > n->row->max_in)
        return ac_error(r->cx, n->at, E0102, "has %d operands, expected %d to %d", n->n_in, n->row->min_in,
                        n->row->max_in);
    n->b.g = r->g;
    for (int32_t i = 0; i < n->n_in; i++) /* halves are computed as f32 */
        if (n->in[i] && (n->in[i]->dtype == AC_F16 || n->in[i]->dtype == AC_BF16))
            n->in[i] = ac_build_cast(&n->b, n->in[i], AC_F32);
    if (((ac_mx_fn *)n->row->run)(n) != AC_OK) {
        if (r->cx->diags.errors == errors && r->reading->refused.n == refused)
            return ac_mx_cannot(n, "its operands are not of a form that arenac handles");
        return AC_FAIL;
    }
    return ac_mx_check_attrs(n);
}
