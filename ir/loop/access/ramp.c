/* ramp.c - fits clamped straight lines to tables of steps; see strip.h. */
#include "ir/loop/access/strip.h"

static int64_t floor_div(int64_t v, int64_t c)
{
    return v >= 0 ? v / c : -((-v + c - 1) / c);
}

int64_t ac_ramp_at(const ac_ramp *l, int64_t s)
{
    const int64_t v = floor_div(l->a * s + l->b, l->c);
    return v < l->lo ? l->lo : v > l->hi ? l->hi : v;
}

static bool fits(const ac_ramp *l, const int64_t *value, int64_t n)
{
    for (int64_t s = 0; s < n; s++)
        if (ac_ramp_at(l, s) != value[s])
            return false;
    return true;
}

/* Candidates are slopes a / c with offsets that match the first change in the table; each is checked against all
 * values.
 */
bool ac_ramp_fit(const int64_t *value, int64_t n, ac_ramp *out)
{
    static const int64_t PARTS[] = {1, 2, 3, 4, 8};
    int64_t steepest = 0, moves = n - 1;
    for (int64_t s = n - 1; s > 0; s--) {
        const int64_t d = value[s] - value[s - 1];
        if (d < 0)
            return false;
        if (d)
            moves = s;
        steepest = d > steepest ? d : steepest;
    }
    *out = (ac_ramp){0, 0, 1, value[0], value[n - 1]};
    if (fits(out, value, n))
        return true;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++)
        for (int64_t a = k ? 1 : steepest; a >= 1 && a >= steepest - 1; a--)
            for (int64_t more = 0; more < (k ? PARTS[k] : a + 1); more++) { /* hi may cut the first move short */
                out->c = PARTS[k];
                out->a = a;
                out->b = PARTS[k] * value[moves] - a * moves + more;
                if (fits(out, value, n))
                    return true;
            }
    return false;
}
