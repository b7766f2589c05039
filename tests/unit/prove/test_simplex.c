/* test_simplex.c - prove/domain/simplex.h against every point of small boxes: its answers must be correct, and it must
 * find almost all true statements. */
#include "prove/domain/simplex.h"
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/seeds.h"

enum { VARIABLES = 4, MOST_KNOWN = 10, SIDE = 5, SYSTEMS = 4000 };

static ac_ctx cx;
static int asked, shown;

typedef struct system_of {
    ac_inequality known[MOST_KNOWN];
    int64_t weight[AC_SIMPLEX_COLUMNS];
    int32_t n_known, n;
} system_of;

/* Every variable is below SIDE; then some inequalities of all. */
static system_of any_system(void)
{
    system_of s = {.n = 2 + below(VARIABLES - 1)};
    for (int32_t j = 0; j < s.n; j++) {
        s.known[s.n_known].weight[j] = 1;
        s.known[s.n_known++].most = SIDE - 1;
        s.weight[j] = below(41) - 20;
    }
    for (int32_t more = below(5); more > 0; more--, s.n_known++) {
        for (int32_t j = 0; j < s.n; j++)
            s.known[s.n_known].weight[j] = below(13) - 6;
        s.known[s.n_known].most = below(25) - 6;
    }
    return s;
}

static int64_t sum_of(const int64_t *weight, const int32_t *at, int32_t n)
{
    int64_t sum = 0;
    for (int32_t j = 0; j < n; j++)
        sum += weight[j] * at[j];
    return sum;
}

/* The largest sum of the points that meet all inequalities; INT64_MIN: no such point. */
static int64_t largest(const system_of *s)
{
    int64_t best = INT64_MIN;
    int32_t points = 1, at[VARIABLES];
    for (int32_t j = 0; j < s->n; j++)
        points *= SIDE;
    for (int32_t p = 0; p < points; p++) {
        bool inside = true;
        for (int32_t j = 0, rest = p; j < s->n; j++, rest /= SIDE)
            at[j] = rest % SIDE;
        for (int32_t i = 0; i < s->n_known; i++)
            inside &= sum_of(s->known[i].weight, at, s->n) <= s->known[i].most;
        const int64_t sum = sum_of(s->weight, at, s->n);
        best = inside && sum > best ? sum : best;
    }
    return best;
}

static bool says(const system_of *s, int64_t limit)
{
    ac_region *r = ac_region_open(&cx.heap);
    const bool yes = ac_simplex_at_most(r, s->known, s->n_known, s->n, s->weight, limit);
    ac_region_close(r);
    return yes;
}

static void compare(const system_of *s)
{
    const int64_t most = largest(s);
    if (most == INT64_MIN) {
        asked++;
        shown += says(s, -1000);
        return;
    }
    CHECK(!says(s, most - 1));
    CHECK(!says(s, most - 1 - below(30)));
    asked++;
    shown += says(s, most);
}

/* 320 y + 64 x + c of an image of 25 x 5 x 64, in numbers that are too large where they are not in lowest terms. */
static void an_image(void)
{
    const ac_inequality known[] = {
        {{1, 0, 0}, 24}, {{0, 1, 0}, 4}, {{0, 0, 1}, 63}, {{1 << 30, 1 << 30, 0}, 29LL << 30}};
    const int64_t weight[] = {320, 64, 1};
    ac_region *r = ac_region_open(&cx.heap);
    CHECK(ac_simplex_at_most(r, known, 4, 3, weight, 24 * 320 + 4 * 64 + 63));
    CHECK(!ac_simplex_at_most(r, known, 4, 3, weight, 24 * 320 + 4 * 64 + 62));
    const ac_inequality endless[] = {{{1, -1}, 3}};
    CHECK(!ac_simplex_at_most(r, endless, 1, 2, weight, 1000));
    CHECK(ac_simplex_at_most(r, endless, 1, 2, weight, INT64_MAX));
    ac_region_close(r);
}

static void tests(ac_ctx *unused)
{
    (void)unused;
    an_image();
    for (int32_t i = 0; i < SYSTEMS; i++) {
        const system_of s = any_system();
        compare(&s);
    }
    if (shown * 100 < asked * 99)
        FAILED("at least 99 of 100 largest sums are found");
    printf("%d of %d largest sums are found\n", shown, asked);
}

int main(void)
{
    return in_context(&cx, tests);
}
