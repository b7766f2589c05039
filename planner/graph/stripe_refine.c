/* stripe_refine.c - the forms of a chosen group's steps: of forms that take the same bytes the fastest, and shorter
 * lines where they lower the peak by much more than they cost.
 *
 * Only a group that sets the peak has its lines shortened: its steps gather into one line of scratch, as long as the
 * longest, so a length is chosen, and each step takes the fastest form that keeps to it. A hundredth of the bytes may
 * cost a hundredth of the group's instructions, and all of them together a twentieth; a tenth where the input is
 * streamed by rows, an option for when bytes are short. */
#include "planner/graph/stripe.h"

#include <string.h>

/* The scratch that all steps share. */
static ac_bytes line_of(const ac_lowered *low)
{
    ac_bytes most = 0;
    for (int32_t a = 0; low && a < low->arg.n; a++)
        if (low->arg.item[a].kind == AC_ARG_SCRATCH && low->arg.item[a].fresh && low->arg.item[a].bytes > most)
            most = low->arg.item[a].bytes;
    return most;
}

/* The bytes of the group with its current ways; INT64_MAX: the steps are not a group. */
static ac_bytes bytes_now(ac_stripe_search *q, int32_t begin, int32_t end, ac_stripe_how how)
{
    ac_region *tmp = ac_region_open(&q->forms.cx->heap);
    ac_stripe_group x;
    const bool ok = ac_stripe_group_of(&q->forms, begin, end, how, tmp, &x);
    const ac_bytes bytes = ok ? ac_stripe_estimate(q, &x, tmp) : INT64_MAX;
    ac_region_close(tmp);
    return bytes;
}

static const ac_lowered *form(ac_stripe_search *q, int32_t step, ac_stripe_way way)
{
    const uint8_t now = q->forms.way[step];
    q->forms.way[step] = (uint8_t)way;
    const ac_stripe_form *f = ac_stripe_form_of(&q->forms, step);
    q->forms.way[step] = now;
    return f->ok ? f->low : NULL;
}

/* Chooses ways whose lines are at most `longest`; false: no such ways. *more: hundredths of the group's
 * instructions. */
static bool keep_to(ac_stripe_search *q, int32_t begin, int32_t end, ac_bytes longest, double *more)
{
    double macs = 0, extra = 0;
    for (int32_t s = begin; s < end; s++) {
        uint8_t *way = &q->forms.way[s];
        const ac_lowered *low = form(q, s, (ac_stripe_way)*way);
        if (low && line_of(low) > longest && (low = form(q, s, AC_STRIPE_LINE_1)) != NULL && line_of(low) <= longest)
            *way = AC_STRIPE_LINE_1;
        if (!low || line_of(low) > longest)
            return false;
        macs += (double)low->macs;
        extra += (double)low->macs * low->slower;
    }
    *more = macs > 0 ? extra / macs : 0;
    return true;
}

/* The longest line below `than` that a step has in any way. */
static ac_bytes next_length(ac_stripe_search *q, int32_t begin, int32_t end, ac_bytes than)
{
    ac_bytes most = 0;
    for (int32_t s = begin; s < end; s++)
        for (int32_t way = 0; way < AC_STRIPE_WAYS; way++) {
            const ac_bytes v = line_of(form(q, s, (ac_stripe_way)way));
            most = v < than && v > most ? v : most;
        }
    return most;
}

static void shorten(ac_stripe_search *q, int32_t begin, int32_t end, ac_stripe_how how, ac_bytes rest, ac_bytes now)
{
    const double worth = 1, most = q->forms.streamed.tensor ? 10 : 5;
    const size_t n = (size_t)(end - begin);
    ac_region *tmp = ac_region_open(&q->forms.cx->heap);
    uint8_t *wide = AC_NEW_N(tmp, uint8_t, end - begin), *best = AC_NEW_N(tmp, uint8_t, end - begin);
    memcpy(wide, q->forms.way + begin, n);
    memcpy(best, wide, n);
    ac_bytes least = now;
    double paid = 0, more;
    for (ac_bytes line = next_length(q, begin, end, INT64_MAX); line > 0; line = next_length(q, begin, end, line)) {
        memcpy(q->forms.way + begin, wide, n);
        if (!keep_to(q, begin, end, line, &more) || more > most)
            break;
        ac_bytes bytes = bytes_now(q, begin, end, how);
        bytes = bytes < rest ? rest : bytes;
        if (bytes >= least || (double)(least - bytes) * 100 * worth < (more - paid) * (double)now)
            continue;
        least = bytes;
        paid = more;
        memcpy(best, q->forms.way + begin, n);
    }
    memcpy(q->forms.way + begin, best, n);
    ac_region_close(tmp);
}

void ac_stripe_refine(ac_stripe_search *q, int32_t begin, int32_t end, ac_stripe_how how, ac_bytes rest)
{
    const ac_bytes now = bytes_now(q, begin, end, how);
    for (int32_t s = begin; s < end; s++) {
        const ac_lowered *low = form(q, s, AC_STRIPE_LEAN);
        if (!low || !(low->variants & AC_VARIANT_WIDE))
            continue;
        q->forms.way[s] = AC_STRIPE_WIDE;
        if (bytes_now(q, begin, end, how) > now)
            q->forms.way[s] = AC_STRIPE_LEAN;
    }
    if (rest < now)
        shorten(q, begin, end, how, rest, now);
}
