/* Operators of MXNet symbols: the table and what is common to all of them. */
#include "import/mxnet/symbols.h"

#include <stdarg.h>
#include <string.h>

static const ac_mx_row ROWS[] = {
#define MX(type, imin, imax, args, fn, op) {#type, imin, imax, args, ac_mx_do_##fn, AC_OP_##op},
#define WHY(type, reason)
#include "import/mxnet/symbols.def"
#undef MX
#undef WHY
};

static const struct {
    const char *type, *reason;
} WHYS[] = {
#define MX(type, imin, imax, args, fn, op)
#define WHY(type, reason) {#type, reason},
#include "import/mxnet/symbols.def"
#undef MX
#undef WHY
};

const struct ac_mx_row *ac_mx_find(const char *type)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (!strcmp(ROWS[i].type, type))
            return &ROWS[i];
    return NULL;
}

bool ac_mxnet_operator(int32_t i, ac_operator *out)
{
    const int32_t rows = sizeof ROWS / sizeof *ROWS, whys = sizeof WHYS / sizeof *WHYS;
    if (i < rows)
        *out = (ac_operator){.name = ROWS[i].type, .domain = "", .op = ROWS[i].op};
    else if (i < rows + whys)
        *out = (ac_operator){.name = WHYS[i - rows].type, .domain = "", .reason = WHYS[i - rows].reason};
    return i < rows + whys;
}

/* The i-th word of the names of a row, with its mark. */
static const char *arg(const ac_mx_row *row, int32_t i, size_t *n)
{
    const char *p = row->args;
    for (; i > 0 && *p; i--) {
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    *n = strcspn(p, " ");
    return p;
}

bool ac_mx_is_param(const ac_mx_row *row, int32_t operand)
{
    size_t n;
    return *arg(row, operand, &n) == '*';
}

bool ac_mx_is_label(const ac_mx_row *row, int32_t operand)
{
    size_t n;
    return *arg(row, operand, &n) == '?';
}

const char *ac_mx_arg_name(const ac_mx_row *row, int32_t i)
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

void ac_mx_refuse_op(ac_mx_node *n)
{
    const char *reason = "arenac has no rule for it";
    for (size_t i = 0; i < sizeof WHYS / sizeof *WHYS; i++)
        if (!strcmp(WHYS[i].type, n->type))
            reason = WHYS[i].reason;
    ac_refuse(n->r->cx, &n->r->reading->refused, n->at, E0107, n->type, reason, NULL);
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
    if (n->row->fn(n) != AC_OK) {
        if (r->cx->diags.errors == errors && r->reading->refused.n == refused)
            return ac_mx_cannot(n, "its operands are not of a form that arenac handles");
        return AC_FAIL;
    }
    return ac_mx_check_attrs(n);
}
