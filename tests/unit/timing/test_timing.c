/* test_timing.c - the walk through programs: bits that ac_execute_partly keeps are those of every value of the unknown
 * ones; memory is as before after an undo; ELF files that are cut or changed give an error or a result. */
#include "tests/unit/support/in_context.h"
#include "timing/elf.h"
#include "timing/execute.h"
#include "timing/memory.h"
#include "timing/timing.h"

#include <string.h>

static uint64_t seed = 1;

static uint32_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}

static uint32_t often_small(void)
{
    const uint32_t x = any();
    return any() & 1 ? x : x >> (any() & 31);
}

/* ------------------------------------------------------------------ unknown bits */

static void random_state(ac_core_state *s, const ac_insn *in)
{
    *s = (ac_core_state){.n = any() & 1, .z = any() & 1, .c = any() & 1, .o = any() & 1, .ge = any() & 15};
    for (uint8_t r = 0; r < AC_NOWHERE; r++)
        s->v[r] = often_small();
    for (uint8_t r = 0; r < AC_NOWHERE; r++)
        if (in->reads >> r & 1 && any() % 3) {
            s->u[r] = any() & 1 ? 0xffffffffu : any() & any();
            s->v[r] &= ~s->u[r];
            s->unknown |= s->u[r] ? AC_REG(r) : 0;
        }
}

/* One of the states that s stands for */
static ac_core_state one_of(const ac_core_state *s)
{
    ac_core_state t = *s;
    for (uint8_t r = 0; r < AC_NOWHERE; r++)
        t.v[r] |= ac_unknown_bits(s, r) & any();
    t.unknown = 0;
    return t;
}

static bool agrees(const ac_core_state *partly, const ac_core_state *whole, const ac_insn *in, bool riscv)
{
    for (uint8_t r = 0; r < AC_NOWHERE; r++)
        if (in->writes >> r & 1 && (riscv || r < 16 || r >= AC_S0) &&
            (partly->v[r] ^ whole->v[r]) & ~ac_unknown_bits(partly, r))
            return false;
    return riscv ||
           ((partly->unknown & AC_F_NZ || (partly->n == whole->n && partly->z == whole->z)) &&
            (partly->unknown & AC_F_C || partly->c == whole->c) && (partly->unknown & AC_F_V || partly->o == whole->o));
}

static int64_t check_partly(bool riscv, int64_t tries)
{
    int64_t checked = 0;
    for (int64_t i = 0; i < tries; i++) {
        ac_core_state s, t;
        ac_insn in;
        uint32_t x = any();
        if (!riscv && any() & 1)
            x = (x & 0xffff0000u) | 0xe800 | (x & 0x17ff); /* a wide one */
        const uint8_t bytes[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
        if (!(riscv ? ac_decode_riscv : ac_decode_thumb)(0x1000, bytes, 4, &in))
            continue;
        if (ac_op_kind_of[in.op] > AC_K_DIVIDE || in.op == AC_T_NOP)
            continue;
        const bool sets = in.sets != AC_SETS_NOTHING;
        random_state(&s, &in);
        if (!(s.unknown & in.reads))
            continue;
        t = s;
        ac_execute_partly(&t, &in, sets);
        for (int k = 0; k < 8; k++) {
            ac_core_state whole = one_of(&s);
            ac_execute(&whole, &in, sets);
            CHECK(agrees(&t, &whole, &in, riscv));
        }
        checked++;
    }
    return checked;
}

static void partly(ac_ctx *cx)
{
    (void)cx;
    CHECK(check_partly(false, 400000) > 20000);
    CHECK(check_partly(true, 400000) > 20000);
}

/* ------------------------------------------------------------------ memory */

static void memory(ac_ctx *cx)
{
    ac_mem m = {.region = cx->region};
    uint32_t value, unknown;
    ac_mem_block *b = ac_mem_add(&m, 0x1000, 64);
    CHECK(b && !ac_mem_add(&m, 0x103f, 4) && !ac_mem_add(&m, 0xfffffff0u, 32) && !ac_mem_add(&m, 0x2000, 0));
    CHECK(!ac_mem_store(&m, 0x1000, 4, 1, 0)); /* not writable */
    b->writable = true;
    CHECK(ac_mem_store(&m, 0x1004, 4, 0x11223344, 0) && !ac_mem_load(&m, 0x103e, 4, &value, &unknown));
    const int32_t first = ac_mem_mark(&m);
    CHECK(ac_mem_store(&m, 0x1004, 2, 0x5566, 0) && ac_mem_store(&m, 0x1008, 4, 7, 0));
    const ac_mem_changes changes = ac_mem_undo(&m, first, cx->region);
    CHECK(ac_mem_load(&m, 0x1004, 4, &value, &unknown) && value == 0x11223344 && !unknown && changes.n == 6);
    const int32_t second = ac_mem_mark(&m);
    CHECK(ac_mem_store(&m, 0x1008, 4, 5, 0) && ac_mem_store(&m, 0x1010, 1, 0, 0xf0));
    ac_mem_join(&m, &changes, second, cx->region);
    CHECK(ac_mem_load(&m, 0x1008, 4, &value, &unknown) && unknown == 2 && (value & ~unknown) == 5);
    CHECK(ac_mem_load(&m, 0x1004, 4, &value, &unknown) && unknown == (0x3344 ^ 0x5566));
    CHECK(ac_mem_load(&m, 0x1010, 4, &value, &unknown) && unknown == 0xf0 && !m.journal.n);
}

/* ------------------------------------------------------------------ files */

static void put(uint8_t *p, size_t at, uint32_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[at + (size_t)i] = (uint8_t)(x >> (8 * i));
}

enum { CODE = 84, NAMES = 116, SYMBOLS = 128, SECTIONS = 160, SIZE = 160 + 3 * 40 };

/* A program whose function f is: loop: subs r0, #1 from 3; bne loop; bx lr */
static void make_elf(uint8_t *p)
{
    static const uint16_t INSNS[] = {0x2003, 0x3801, 0xd1fd, 0x4770};
    memset(p, 0, SIZE);
    memcpy(p, "\177ELF\1\1\1", 7);
    put(p, 16, 2, 2), put(p, 18, 40, 2), put(p, 28, 52, 4), put(p, 32, SECTIONS, 4);
    put(p, 42, 32, 2), put(p, 44, 1, 2), put(p, 46, 40, 2), put(p, 48, 3, 2);
    put(p, 52, 1, 4), put(p, 56, CODE, 4), put(p, 60, 0x8000, 4), put(p, 68, 8, 4), put(p, 72, 8, 4), put(p, 76, 5, 4);
    for (size_t i = 0; i < 4; i++)
        put(p, CODE + 2 * i, INSNS[i], 2);
    memcpy(p + NAMES, "\0f", 3);
    put(p, SYMBOLS + 16, 1, 4), put(p, SYMBOLS + 20, 0x8001, 4), p[SYMBOLS + 28] = 0x12, put(p, SYMBOLS + 30, 1, 2);
    put(p, SECTIONS + 40 + 4, 2, 4), put(p, SECTIONS + 40 + 16, SYMBOLS, 4), put(p, SECTIONS + 40 + 20, 32, 4);
    put(p, SECTIONS + 40 + 24, 2, 4);
    put(p, SECTIONS + 80 + 4, 3, 4), put(p, SECTIONS + 80 + 16, NAMES, 4), put(p, SECTIONS + 80 + 20, 3, 4);
}

static int walk(ac_ctx *cx, const uint8_t *p, size_t n, ac_timing *t)
{
    const ac_timing_memory mem = {.bytes = 64, .align = 16};
    const ac_timing_task task = {.path = "t",
                                 .bytes = p,
                                 .n = n,
                                 .run = "f",
                                 .core = "cortex-m4",
                                 .memory = &mem,
                                 .n_memories = 1,
                                 .longest = 1000};
    return ac_timing_walk(cx, &task, t);
}

static void files(ac_ctx *cx)
{
    uint8_t p[SIZE], *part;
    ac_timing t;
    make_elf(p);
    CHECK(walk(cx, p, SIZE, &t) == AC_OK && t.insns == 8 && t.least_insns == 8 && !t.finding.n);
    CHECK(t.cycles == 1 + 3 + 2 * 3 + 1 + 3); /* two of three branches are taken, and the return */
    for (size_t n = 0; n < SIZE; n++) {
        const ac_diags before = cx->diags;
        part = ac_copy(cx->region, p, n + 1);
        ac_quietly(cx, before, walk(cx, part, n, &t));
    }
    for (int i = 0; i < 500; i++) {
        const ac_diags before = cx->diags;
        uint8_t q[SIZE];
        memcpy(q, p, SIZE);
        for (int k = 0; k < 1 + i % 3; k++)
            q[any() % SIZE] = (uint8_t)(any() & 1 ? any() : 0xffu << (any() & 7));
        put(q, 72, 8 + (i & 63), 4); /* memory of a size that the test has */
        ac_quietly(cx, before, walk(cx, q, SIZE, &t));
    }
}

static void tests(ac_ctx *cx)
{
    partly(cx);
    memory(cx);
    files(cx);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
