/* test_exact.c - the exact solver against every order of small problems, its certificates against the program that
 * replays them, and that program against certificates of things that are not so. A failed CHECK prints its place. */
#include "planner/pack/place.h"
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"
#include "tests/unit/support/in_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed = 88172645463325252ull;
static int32_t draw(int32_t below) /* xorshift64: the same problems everywhere */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int32_t)((seed >> 33) % (uint64_t)below);
}

/* kinds: bit 0 alignment, bit 1 gaps, bit 2 fixed offsets */
static ac_problem random_problem(ac_ctx *cx, int32_t n, int kinds)
{
    ac_problem p = {
        .item = AC_NEW_N(cx->region, ac_item, n), .n = n, .mem = AC_NEW(cx->region, ac_memory), .n_mems = 1};
    ac_bytes next_fixed = 0;
    *p.mem = (ac_memory){.name = "arena", .capacity = -1, .align = 64};
    for (int32_t i = 0; i < n; i++) {
        ac_step begin = draw(7), len = 1 + draw(5);
        ac_item *it = &p.item[i];
        *it = (ac_item){.name = ac_internf(cx, "r%d", i),
                        .size = draw(15) ? 1 + draw(12) : 0,
                        .align = 1,
                        .life = {begin, begin + len},
                        .fixed = -1,
                        .mem = -1};
        if (kinds & 1)
            it->align = (ac_bytes)1 << draw(4);
        if ((kinds & 2) && len >= 3 && draw(2)) {
            ac_gap *g = AC_NEW(cx->region, ac_gap);
            *g = (ac_gap){{begin + 1, begin + len - 1}, 0, 0};
            it->gaps = g;
            it->n_gaps = 1;
        }
        if ((kinds & 4) && !draw(4)) { /* one above the other, so they never collide */
            it->fixed = ac_align_up(next_fixed + draw(3), it->align);
            next_fixed = it->fixed + it->size;
        }
        p.steps = it->life.end > p.steps ? it->life.end : p.steps;
    }
    return p;
}

static bool has_bytes(const ac_item *it, ac_step t)
{
    bool gap = it->n_gaps && t >= it->gaps[0].life.begin && t < it->gaps[0].life.end;
    return it->size && t >= it->life.begin && t < it->life.end && !gap;
}

static bool conflict(const ac_problem *p, int32_t a, int32_t b)
{
    for (ac_step t = 0; t < p->steps; t++)
        if (has_bytes(&p->item[a], t) && has_bytes(&p->item[b], t))
            return true;
    return false;
}

/* The smallest arena over all stacking orders: each item above the previous ones that it conflicts with. In the order
 * of its offsets a smallest plan is one of them. */
typedef struct stack {
    const ac_problem *p;
    bool conflict[8][8], placed[8];
    ac_bytes top[8], best;
} stack;

static void stack_all(stack *s, int32_t depth, ac_bytes highest)
{
    if (highest >= s->best)
        return;
    if (depth == s->p->n) {
        s->best = highest;
        return;
    }
    for (int32_t i = 0; i < s->p->n; i++) {
        const ac_item *it = &s->p->item[i];
        ac_bytes at = 0;
        if (s->placed[i])
            continue;
        for (int32_t j = 0; j < s->p->n; j++)
            if (s->placed[j] && s->conflict[i][j] && s->top[j] > at)
                at = s->top[j];
        at = ac_align_up(at, it->align);
        if (it->fixed >= 0 && at > it->fixed)
            continue;
        at = it->fixed >= 0 ? it->fixed : it->size ? at : 0;
        s->top[i] = at + it->size;
        s->placed[i] = true;
        stack_all(s, depth + 1, s->top[i] > highest ? s->top[i] : highest);
        s->placed[i] = false;
    }
}

static ac_bytes smallest(const ac_problem *p)
{
    stack s = {.p = p, .best = INT64_MAX};
    for (int32_t a = 0; a < p->n; a++)
        for (int32_t b = 0; b < p->n; b++)
            s.conflict[a][b] = a != b && conflict(p, a, b);
    stack_all(&s, 0, 0);
    return s.best;
}

/* ------------------------------------------------------------------ the checker program */

static char problem_path[64], proof_path[64];

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(text, 1, n, f) == n);
    if (f)
        fclose(f);
}

/* The exit status of arenac-certcheck. */
static int replay(const char *proof, size_t n)
{
    write_file(proof_path, proof, n);
    pid_t pid = fork();
    if (!pid) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        execl(BUILD_DIR "/arenac-certcheck", "arenac-certcheck", problem_path, proof_path, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_problem(ac_ctx *cx, const ac_problem *p)
{
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_problem_write_csv(&s, p, NULL);
    write_file(problem_path, s.text, s.n);
}

/* ------------------------------------------------------------------ false certificates */

/* The text with its `nth` line (from 0) that starts with `start` replaced; NULL if there is none. */
static char *with_line(ac_ctx *cx, const char *text, const char *start, int nth, const char *instead)
{
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n') + 1;
        if (!strncmp(line, start, strlen(start)) && !nth--)
            return ac_strf(cx->region, "%.*s%s%s", (int)(line - text), text, instead, end);
        line = end;
    }
    return NULL;
}

static int planted;

static void plant(const char *text)
{
    if (!text)
        return;
    planted++;
    int status = replay(text, strlen(text));
    CHECK(status == 1);
    if (status != 1)
        printf("accepted (%d):\n%s\n", status, text);
}

/* False lines put into the true proof of "nothing of `best` - 1 bytes": none may pass. */
static void plant_all(ac_ctx *cx, const ac_problem *p, ac_bytes best, const char *proof)
{
    /* There is a plan of `best` bytes, so every text that claims the opposite must be refused. */
    char *more = with_line(cx, proof, "capacity", 0, ac_strf(cx->region, "capacity %lld\n", (long long)best));
    plant(more);
    plant(with_line(cx, more, "over", draw(4), "free 0\n"));
    plant(with_line(cx, more, "over", draw(4), "same 1\n"));
    plant(with_line(cx, more, "node", 0, "node 0 0\n"));
    for (int32_t t = 0; t < p->steps; t++)
        plant(ac_strf(cx->region, "arenac-certificate 1\nitems %d\ncapacity %lld\nover %d\nend\n", p->n,
                      (long long)best, t));
    /* The claim is true, the proof is not one. */
    plant(with_line(cx, proof, "items", 0, ac_strf(cx->region, "items %d\n", p->n + 1)));
    plant(with_line(cx, proof, "over", 0, ""));                     /* a dropped leaf */
    plant(with_line(cx, proof, "over", draw(3), "over 1000000\n")); /* no item is alive then */
    plant(with_line(cx, proof, "over", draw(3), "same 999\n"));
    if (p->item[0].fixed < 0)
        plant(with_line(cx, proof, "over", draw(3), "fixed 0\n"));
    plant(with_line(cx, proof, "none", draw(3), "try 0\n")); /* "none" is missing */
    plant(with_line(cx, proof, "try", draw(3), "none\n"));   /* a candidate is missing */
    plant(with_line(cx, proof, "try", draw(3), "try 999\n"));
    plant(with_line(cx, proof, "node", draw(2), "lift 0\n"));          /* not deferred, and no branch */
    plant(with_line(cx, proof, "node", 0, "keep 1 0 1000\nsame 1\n")); /* rests on itself */
    plant(with_line(cx, proof, "end", 0, ""));
    plant(with_line(cx, proof, "end", 0, "end\nover 0\n"));
    plant(with_line(cx, proof, "arenac", 0, "arenac-certificate one\n"));
}

/* ------------------------------------------------------------------ tests */

static ac_exact_result solve(ac_ctx *cx, const ac_problem *p, ac_bytes capacity, ac_plan *plan, ac_sink *proof)
{
    ac_exact_options o = {.steps = ac_effort_steps(4), .capacity = capacity, .certificate = proof};
    ac_exact_result r;
    *plan = (ac_plan){.offset = AC_NEW_N(cx->region, ac_bytes, p->n),
                      .mem = AC_NEW_N(cx->region, int32_t, p->n),
                      .mem_bytes = AC_NEW(cx->region, ac_bytes)};
    ac_region *tmp = ac_region_open(&cx->heap);
    CHECK(ac_solve_exact(p, &o, plan->offset, tmp, &r) == AC_OK);
    ac_region_close(tmp);
    plan->mem_bytes[0] = plan->arena_bytes = r.arena_bytes;
    CHECK(ac_plan_check(cx, NULL, p, plan) == AC_OK);
    return r;
}

static void test_brute_force(ac_ctx *cx)
{
    int certified = 0;
    for (int round = 0; round < 400; round++) {
        ac_problem p = random_problem(cx, 2 + draw(6), round % 8);
        ac_bytes best = smallest(&p);
        ac_plan plan, again;
        ac_sink proof;
        ac_sink_open(&proof, cx);
        ac_exact_result r = solve(cx, &p, -1, &plan, &proof);
        CHECK(r.searched && r.proof != AC_PROOF_NONE && r.arena_bytes == r.proven);
        CHECK(r.arena_bytes == best);
        ac_exact_result same = solve(cx, &p, -1, &again, NULL);
        CHECK(same.steps == r.steps && !memcmp(plan.offset, again.offset, (size_t)p.n * sizeof *plan.offset));
        if (r.proof != AC_PROOF_CERTIFICATE)
            continue;
        certified++;
        write_problem(cx, &p);
        CHECK(replay(proof.text, proof.n) == 0);
        if (certified <= 12)
            plant_all(cx, &p, best, ac_sink_text(&proof));
    }
    CHECK(certified >= 12);
    CHECK(planted >= 50);
}

/* Problems too large for all orders: every proof is replayed; a plan one byte smaller must be proven away too. */
static void test_larger(ac_ctx *cx)
{
    int certified = 0;
    for (int round = 0; round < 60; round++) {
        ac_problem p = random_problem(cx, 8 + draw(12), round % 8);
        ac_plan plan;
        ac_sink proof;
        ac_sink_open(&proof, cx);
        ac_exact_result r = solve(cx, &p, -1, &plan, &proof);
        if (r.proof != AC_PROOF_CERTIFICATE)
            continue;
        certified++;
        write_problem(cx, &p);
        CHECK(replay(proof.text, proof.n) == 0);
        plant(with_line(cx, ac_sink_text(&proof), "capacity", 0,
                        ac_strf(cx->region, "capacity %lld\n", (long long)r.arena_bytes)));
        ac_sink_open(&proof, cx);
        ac_exact_result less = solve(cx, &p, r.arena_bytes - 1, &plan, &proof);
        CHECK(less.proven > r.arena_bytes - 1 && less.proof == AC_PROOF_CERTIFICATE);
        CHECK(replay(proof.text, proof.n) == 0);
        CHECK(solve(cx, &p, r.arena_bytes, &plan, NULL).arena_bytes <= r.arena_bytes);
    }
    CHECK(certified > 5);
}

/* If the search does not finish, the result is a heuristic plan and is marked as such. */
static void test_unknown_kinds(ac_ctx *cx)
{
    ac_problem p = random_problem(cx, 6, 0);
    for (int32_t i = 0; i < p.n; i++)
        p.item[i].life = (ac_life){0, 3};
    ac_pair pair = {0, 1, {0, 3}, INT64_MIN, 1};
    p.item[0].size = p.item[1].size = 8;
    p.pair = &pair;
    p.n_pairs = 1;
    ac_plan plan;
    ac_exact_result r = solve(cx, &p, -1, &plan, NULL);
    CHECK(r.proof == AC_PROOF_NONE ? !r.searched || r.proven < r.arena_bytes : r.proven == r.arena_bytes);
    p.n = p.n_pairs = 0;
    r = solve(cx, &p, -1, &plan, NULL);
    CHECK(r.proof == AC_PROOF_BOUND && r.arena_bytes == 0);
}

static void test_effort(void)
{
    CHECK(ac_effort_steps(0) == 0 && ac_effort_steps(1) == 1000000 && ac_effort_steps(2) == 4000000);
    CHECK(ac_effort_steps(9) == 65536000000 && ac_effort_steps(99) == ac_effort_steps(9));
}

static void all(ac_ctx *cx)
{
    snprintf(problem_path, sizeof problem_path, "/tmp/test_exact_%ld.csv", (long)getpid());
    snprintf(proof_path, sizeof proof_path, "/tmp/test_exact_%ld.proof", (long)getpid());
    test_brute_force(cx);
    test_larger(cx);
    test_unknown_kinds(cx);
    test_effort();
    unlink(problem_path);
    unlink(proof_path);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, all);
}
