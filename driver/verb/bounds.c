/* bounds.c - the least time that each step could take on this machine (bench --per-op): by its multiply-adds and what
 * one thread does of them at most, and by the bytes that it touches and how fast they come from the second cache or
 * from beyond it. Both are measured (host/peak.h). Loads that the first cache serves are part of the step's code, not
 * of a bound. */
#include "driver/verb/verbs.h"

#include "host/peak.h"
#include "planner/report/roofline.h"

/* Products of bytes, if the target multiplies four of them by one instruction. */
static ac_peak_kind kind_of(const ac_target *t, const ac_node *n)
{
    bool bytes = (t->dot_u8s8 || t->dot_i8i8) && n->n_in >= 2;
    for (int32_t i = 0; i < 2 && bytes; i++)
        bytes = n->in[i] && (n->in[i]->dtype == AC_I8 || n->in[i]->dtype == AC_U8);
    return bytes ? AC_PEAK_BYTES : AC_PEAK_F32;
}

static ac_layer_bound bound_of(const ac_work *w, ac_peak *p, int32_t s)
{
    const ac_target *t = w->made.module->target;
    const ac_report_step *r = &w->made.report->step[s];
    ac_layer_bound b = {0};
    if (r->macs > 0) {
        b.peak = ac_peak_macs(p, kind_of(t, w->made.planned->step[s]->node), 0);
        b.ms = b.peak > 0 ? (double)r->macs / b.peak : 0;
        b.by = "compute";
    }
    const double speed = r->moved > 0 ? ac_peak_bytes(p, r->moved) : 0, ms = speed > 0 ? (double)r->moved / speed : 0;
    if (ms > b.ms) {
        b.ms = ms;
        b.by = r->moved <= t->l2_bytes ? "L2" : "memory";
    }
    return b;
}

/* One thread of C: peaks are measured on the code that steps run. */
static bool is_known(const ac_work *w)
{
    const ac_session *s = &w->session;
    return w->made.module->threads <= 1 && !s->eval && !s->cuda && !s->backend && ac_peak_fits(w->made.module->target);
}

/* ms: the fastest time of each step; a step that beats a peak raises it. */
static ac_layer_bound *bounds(const ac_work *w, ac_peak *p, const double *ms, ac_region *r)
{
    const int32_t n = w->made.planned->n_steps;
    ac_layer_bound *out = AC_NEW_N(r, ac_layer_bound, n + 1);
    for (int32_t i = 0; i < n; i++)
        if (w->made.report->step[i].macs > 0 && ms[i] > 0)
            ac_peak_macs(p, kind_of(w->made.module->target, w->made.planned->step[i]->node),
                         (double)w->made.report->step[i].macs / ms[i]);
    for (int32_t i = 0; i < n; i++)
        out[i] = bound_of(w, p, i);
    return out;
}

/* The figures of the roofs: arithmetic where a step has such, half of the second cache, more than any cache. */
static ac_roofline roofs(const ac_work *w, ac_peak *p)
{
    enum { FAR = 256 << 20 };
    const int64_t l2 = w->made.module->target->l2_bytes;
    ac_roofline v = {.report = w->made.report, .target = w->made.module->target->name};
    for (int32_t i = 0; i < w->made.planned->n_steps; i++) {
        const ac_peak_kind kind = kind_of(w->made.module->target, w->made.planned->step[i]->node);
        double *to = kind == AC_PEAK_BYTES ? &v.bytes : &v.f32;
        if (w->made.report->step[i].macs > 0)
            *to = ac_peak_macs(p, kind, 0);
    }
    v.l2 = l2 > 0 ? ac_peak_bytes(p, l2 / 2) : 0;
    v.memory = ac_peak_bytes(p, FAR);
    return v;
}

int ac_layer_bounds(ac_work *w, const double *ms, double whole_ms, const ac_layer_bound **bound)
{
    const char *page = w->opt.roofline;
    ac_peak p = {0};
    *bound = NULL;
    if (!is_known(w)) {
        if (!page)
            return AC_OK;
        ac_error(
            &w->cx, (ac_place){.file = "arenac"}, E0502,
            "--html shows what this machine attains, which is measured for one thread of C on x86-64 with vectors");
        return ac_help(&w->cx, "without --threads and --backend, and -t native, the default");
    }
    const int status = ac_peak_open(&p, &w->cx, w->made.module->target);
    if (status == AC_OK)
        *bound = bounds(w, &p, ms, w->cx.region);
    if (status == AC_OK && page) {
        ac_roofline v = roofs(w, &p);
        v.ms = ms;
        v.whole_ms = whole_ms;
        v.bound = *bound;
        ac_roofline_html(ac_pending_add(&w->out, page), &v);
    }
    ac_peak_close(&p);
    return status;
}
