/* random_cases.h - random programs as cases of case_table.h: the order of loads, stores, gets and sets in loops and
 * branches.
 *
 *     random_program();                          any number of times */
#ifndef AC_TESTS_UNIT_SUPPORT_RANDOM_CASES_H
#define AC_TESTS_UNIT_SUPPORT_RANDOM_CASES_H
#include "tests/unit/support/case_table.h"

static ac_x any_value(int32_t mem, const ac_x *vars, const ac_x *index, int32_t n_index, int32_t depth)
{
    ac_x i = index[rnd() % (uint32_t)n_index];
    switch (depth > 3 ? rnd() % 4 : rnd() % 9) {
    case 0:
        return ac_lb_i32(&b, (int32_t)(rnd() % 41) - 20);
    case 1:
        return ac_lb_get(&b, vars[rnd() % 3]);
    case 2:
    case 3:
        return ac_lb_load(&b, mem, ac_lb_and(&b, ac_lb_add(&b, i, ac_lb_i32(&b, rnd() % 8)), ac_lb_i32(&b, N - 1)), 1);
    case 4:
        return ac_lb_max(&b, any_value(mem, vars, index, n_index, depth + 1),
                         any_value(mem, vars, index, n_index, depth + 1));
    case 5:
        return ac_lb_mul_wrap(&b, any_value(mem, vars, index, n_index, depth + 1), i);
    case 6:
        return ac_lb_select(&b, ac_lb_lt(&b, any_value(mem, vars, index, n_index, depth + 1), i),
                            any_value(mem, vars, index, n_index, depth + 1), ac_lb_i32(&b, 7));
    case 7:
        return ac_lb_sub_wrap(&b, any_value(mem, vars, index, n_index, depth + 1),
                              any_value(mem, vars, index, n_index, depth + 1));
    default:
        return ac_lb_add_wrap(&b, any_value(mem, vars, index, n_index, depth + 1),
                              any_value(mem, vars, index, n_index, depth + 1));
    }
}

static void any_block(int32_t mem, const ac_x *vars, ac_x *index, int32_t n_index, int32_t depth)
{
    ac_x kept[4];
    int32_t n_kept = 0;
    for (uint32_t n = 2 + rnd() % 5; n; n--) {
        ac_x v = any_value(mem, vars, index, n_index, 0);
        if (n_kept < 4)
            kept[n_kept++] = v;
        ac_x at = ac_lb_and(&b, any_value(mem, vars, index, n_index, 2), ac_lb_i32(&b, N - 1));
        switch (rnd() % 7) {
        case 0:
        case 1:
            ac_lb_store(&b, mem, at, v);
            break;
        case 2:
        case 3:
            ac_lb_set(&b, vars[rnd() % 3],
                      ac_lb_add_wrap(&b, ac_lb_get(&b, vars[rnd() % 3]), kept[rnd() % (uint32_t)n_kept]));
            break;
        case 4:
            if (depth < 3) {
                bool up = rnd() % 2;
                index[n_index] = ac_lb_for(&b, "i", ac_lb_i32(&b, up ? 0 : 5),
                                           up ? ac_lb_and(&b, v, ac_lb_i32(&b, 7)) : ac_lb_i32(&b, -1),
                                           up ? 1 + (int)(rnd() % 2) : -1, AC_MARK_SERIAL);
                any_block(mem, vars, index, n_index + 1, depth + 1);
                if (rnd() % 3 == 0)
                    ac_lb_break_if(&b, ac_lb_lt(&b, kept[rnd() % (uint32_t)n_kept], ac_lb_get(&b, vars[0])));
                ac_lb_end(&b);
            }
            break;
        case 5:
            if (depth < 3) {
                ac_lb_if(&b, ac_lb_lt(&b, v, ac_lb_i32(&b, 3)));
                any_block(mem, vars, index, n_index, depth + 1);
                if (rnd() % 2) {
                    ac_lb_else(&b);
                    any_block(mem, vars, index, n_index, depth + 1);
                }
                ac_lb_end(&b);
            }
            break;
        default:
            ac_lb_prefetch(&b, mem, kept[rnd() % (uint32_t)n_kept]);
            ac_lb_store(&b, mem, at, kept[rnd() % (uint32_t)n_kept]);
        }
    }
}

static void random_program(void)
{
    open_case();
    int32_t mem = buf("memory", AC_I32, AC_BUF_INOUT);
    ac_x vars[3], index[8];
    for (int i = 0; i < 3; i++)
        vars[i] = ac_lb_var(&b, "v", ac_lb_i32(&b, i));
    index[0] = ac_lb_i32(&b, 0);
    index[1] = ac_lb_for(&b, "int", ac_lb_i32(&b, 0), ac_lb_i32(&b, 4), 1, AC_MARK_SERIAL); /* a name C cannot have */
    any_block(mem, vars, index, 2, 0);
    ac_lb_end(&b);
    for (int i = 0; i < 3; i++)
        ac_lb_store(&b, mem, ac_lb_i32(&b, i), ac_lb_get(&b, vars[i]));
    if (n_cases % 3 == 0)
        ac_lb_fail_if(&b, ac_lb_lt(&b, ac_lb_load(&b, mem, ac_lb_i32(&b, 5), 1), ac_lb_i32(&b, 0)), 4);
    close_case("random program", SMALL, OUTPUT, OUTPUT, OUTPUT);
}

#endif
