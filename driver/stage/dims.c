/* dims.c - --dim: the sizes of dimensions; some are computed from others ("all=past+n"). */
#include "driver/stage/stage.h"

static const ac_place HERE = {.file = "arenac"};

/* Until nothing more can be. done[i]: out[i] has its value. */
static void compute(ac_ctx *cx, const ac_opt_dims *dim, ac_pin *out, bool *done)
{
    ac_pin *known = AC_NEW_N(cx->region, ac_pin, dim->n + 1);
    bool *used = AC_NEW_N(cx->region, bool, dim->n + 1);
    int32_t n = 0, before = -1;
    for (int32_t i = 0; i < dim->n; i++)
        if (done[i])
            known[n++] = out[i];
    while (n != before) {
        before = n;
        for (int32_t i = 0; i < dim->n; i++)
            if (!done[i] && ac_pin_expression(dim->item[i].of, known, n, used, &out[i].value)) {
                known[n++] = out[i];
                done[i] = true;
            }
    }
}

int ac_dims_pins(ac_ctx *cx, const ac_opt_dims *dim, const ac_dim_option *range, int64_t value, ac_pin **pin)
{
    ac_pin *out = *pin = AC_NEW_N(cx->region, ac_pin, dim->n + 1);
    bool *done = AC_NEW_N(cx->region, bool, dim->n + 1);
    for (int32_t i = 0; i < dim->n; i++) {
        const ac_dim_option *d = &dim->item[i];
        out[i] = (ac_pin){d->name, d == range ? value : d->lo};
        done[i] = !d->of;
    }
    compute(cx, dim, out, done);
    for (int32_t i = 0; i < dim->n; i++) {
        const ac_dim_option *d = &dim->item[i];
        if (!done[i]) {
            ac_error(cx, HERE, E0501,
                     "bad argument '%s=%s' of --dim: not a number, and not an expression of known "
                     "dimensions",
                     d->name, d->of);
            return ac_help(cx,
                           "N is a whole number, at least 0, or made of dimensions that other --dim give: all=past+n");
        }
        if (out[i].value < 0 && range)
            return ac_error(cx, HERE, E0501, "bad argument '%s=%s' of --dim: it is %lld where '%s' is %lld", d->name,
                            d->of, (long long)out[i].value, range->name, (long long)value);
        if (out[i].value < 0)
            return ac_error(cx, HERE, E0501, "bad argument '%s=%s' of --dim: it is %lld", d->name, d->of,
                            (long long)out[i].value);
    }
    return AC_OK;
}
