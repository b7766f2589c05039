/* requants.c - REQUANT: packs its fields into an instruction, and computes it; see requants.h. */
#include "ir/loop/requants.h"

#include "ir/loop/builder.h"

#include <assert.h>

/* k, from the lowest bit: table 12, acc 12, zero 8, lo 8, hi 8, row 4, pre 5, away 1, lanes - 1 5 */
ac_requants ac_ins_requant(const ac_ins *i)
{
    const int64_t k = i->k.i;
    return (ac_requants){.y = i->aux,
                         .acc = (int32_t)(k >> 12 & 4095),
                         .table = (int32_t)(k & 4095),
                         .row = (int32_t)(k >> 48 & 15),
                         .zero = (int8_t)(k >> 24 & 255),
                         .lo = (int8_t)(k >> 32 & 255),
                         .hi = (int8_t)(k >> 40 & 255),
                         .pre = (int32_t)(k >> 52 & 31),
                         .away = k >> 57 & 1,
                         .lanes = (int32_t)(k >> 58 & 31) + 1};
}

void ac_requant_put(ac_ins *i, const ac_requants *q)
{
    i->aux = q->y;
    i->k.i = q->table | (int64_t)q->acc << 12 | (int64_t)(uint8_t)q->zero << 24 | (int64_t)(uint8_t)q->lo << 32 |
             (int64_t)(uint8_t)q->hi << 40 | (int64_t)q->row << 48 | (int64_t)q->pre << 52 | (int64_t)q->away << 57 |
             (int64_t)(q->lanes - 1) << 58;
}

int32_t ac_requant_at(const ac_requants *q, int32_t acc, int32_t m, int32_t e)
{
    const int64_t x = (int32_t)((uint32_t)acc << q->pre);
    int64_t v = (x * m + ((int64_t)1 << 30)) >> 31;
    v = v > INT32_MAX ? INT32_MAX : v;
    v -= q->away && v < 0 && v > INT32_MIN;
    e &= 31; /* a table that loops have not filled may hold anything */
    v = e ? (v + ((int64_t)1 << (e - 1))) >> e : v;
    v += q->zero;
    return (int32_t)(v < q->lo ? q->lo : v > q->hi ? q->hi : v);
}

void ac_requant_run(const ac_requants *q, const int32_t *acc, const int32_t *m, const int32_t *bias, int8_t *y)
{
    acc += q->row * q->lanes;
    for (int32_t l = 0; l < q->lanes; l++)
        y[l] = (int8_t)ac_requant_at(q, (int32_t)((uint32_t)acc[l] + (uint32_t)bias[l]), m[l],
                                     (int32_t)(0u - (uint32_t)m[q->lanes + l]));
}

void ac_lb_requant(ac_lb *b, ac_requants q, ac_x y_at, ac_x at, ac_x bias)
{
    assert(q.row < 16 && q.pre < 32 && q.lanes > 0 && q.lanes <= 32 && "as requants.h says");
    ac_ins i = {.op = AC_L_REQUANT, .dtype = AC_I8, .lanes = 1, .a = y_at, .b = at, .c = bias};
    ac_requant_put(&i, &q);
    ac_lb_append(b, i);
    ac_lb_written(b, q.y);
}
