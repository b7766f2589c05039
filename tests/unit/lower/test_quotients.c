/* test_quotients.c - quantised division of all pairs of bytes: the exact quotient, rounded, also where it is so small
 * that the reference shifts by more than 31 bits. */
#include "tests/unit/support/run_node.h"

#include <math.h>

static ac_ctx one;

static double nearest(double v)
{
    return v < -128 ? -128 : v > 127 ? 127 : v;
}

static void check(double of_x, int zero_x, double of_y, int zero_y, double of_z, int zero_z)
{
    ac_graph *g;
    ac_ctx_open(&one);
    ac_ctx_start(&one);
    now = ac_strf(one.region, "x of %.9g and %d, y of %.9g and %d, z of %.9g and %d", of_x, zero_x, of_y, zero_y, of_z,
                  zero_z);
    const ac_node *n = read_node(&one,
                                 ac_strf(one.region, "input x: i8[256,1] q(%.9g, %d)\n input y: i8[1,256] q(%.9g, %d)",
                                         of_x, zero_x, of_y, zero_y),
                                 ac_strf(one.region, "z: i8[256,256] q(%.9g, %d) = div(x, y)", of_z, zero_z), &g);
    MUST(n);
    for (int32_t t = 0; t < (int32_t)N_TARGETS; t++) {
        void **data = make_data(&one, g, 0);
        int8_t *x = data[n->in[0]->id], *y = data[n->in[1]->id];
        const int8_t *z = data[n->out[0]->id];
        for (int32_t i = 0; i < 256; i++)
            x[i] = y[i] = (int8_t)(i - 128);
        result_of(&one, ac_lower_node(&one, one.region, n, &TARGETS[t], 0, false), data, n->out[0]);
        for (int32_t i = 0; i < 256; i++)
            for (int32_t k = 0; k < 256; k++) {
                const double want = (x[i] - zero_x) * of_x / ((y[k] - zero_y) * of_y) / of_z + zero_z;
                CHECK(y[k] == zero_y || fabs(z[i * 256 + k] - nearest(want)) <= 0.51);
            }
    }
    ac_ctx_close(&one);
}

int main(void)
{
    check(0.0068, 127, 0.1035, -128, 0.2138, 0);
    check(0.0430, -64, 0.0252, 127, 0.2190, -111);
    check(0.0020, -70, 0.0198, 127, 0.0398, -128);
    check(0.5, 0, 0.001, 0, 0.03, 5);
    check(0.01, 3, 0.01, -7, 0.004, 0);
    return check_done();
}
