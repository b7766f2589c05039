/* test_in_place.c - int8 convolutions, fully connected layers and operators on rows that allow their result to be
 * stored exactly over their input: it is written there, whole and row by row, and equals the result of the plain
 * schedule. */
#include "tests/unit/support/run_node.h"

static ac_ctx one; /* of the node at hand */

static const ac_target HALVES = {
    .name = "halves", .align = 16, .firmware = true, .dsp = true, .core = 13, .mul = AC_MUL_LONG};

static const struct {
    const char *operands, *node;
    bool over;
} CASES[] = {
    {"input x: i8[1,5,7,16] q(0.1, -3); const w: i8[16,1,1,16] q(0.02, 0) = random 1 (-127, 127)",
     "z: i8[1,5,7,16] q(0.3, 4) = conv_2d(x, w)", true},
    {"input x: i8[2,3,4,9] q(0.1, 7); const w: i8[9,1,1,9] q(0.02, 0) = random 2 (-127, 127); const b: i32[9] = "
     "random 3 (-900, 900)",
     "z: i8[2,3,4,9] q(0.2, -128) = conv_2d(x, w, b) act=relu", true},
    {"input x: i8[7,24] q(0.1, 0); const w: i8[24,24] q(0.02, 0) = random 4 (-127, 127)",
     "z: i8[7,24] q(0.4, 0) = fully_connected(x, w)", true},
    {"input x: i8[1,5,7,16] q(0.1, -3); const w: i8[8,1,1,16] q(0.02, 0) = random 1 (-127, 127)",
     "z: i8[1,5,7,8] q(0.3, 4) = conv_2d(x, w)", false},
    {"input x: i8[1,5,7,16] q(0.1, -3); const w: i8[16,3,3,16] q(0.02, 0) = random 1 (-127, 127)",
     "z: i8[1,5,7,16] q(0.3, 4) = conv_2d(x, w) padding=explicit pad_t=1 pad_b=1 pad_l=1 pad_r=1", false},
    {"input x: f32[3,5,19]", "z = softmax(x)", true},
    {"input x: i8[5,19] q(0.1, 3)", "z: i8[5,19] q(0.00390625, -128) = softmax(x)", true},
    {"input x: f32[3,5,19]", "z = log_softmax(x)", true},
    {"input x: f32[3,5,19]", "z = l2_normalization(x)", true},
    {"input x: i8[5,19] q(0.1, 3)", "z: i8[5,19] q(0.0078125, 0) = l2_normalization(x)", true},
};

static bool may_lie_over(const ac_lowered *low, const ac_tensor *x)
{
    for (int32_t i = 0; i < low->n_overwrite; i++)
        if (low->overwrite[i] == x)
            return true;
    return false;
}

int main(void)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ac_graph *g;
        int status = 0;
        ac_ctx_open(&one);
        ac_ctx_start(&one);
        now = CASES[i].node;
        const ac_node *n = read_node(&one, CASES[i].operands, CASES[i].node, &g);
        MUST(n);
        const ac_tensor *x = n->in[0], *z = n->out[0];
        void **data = make_data(&one, g, 0);
        const size_t bytes = (size_t)ac_tensor_bytes(z);
        const void *kept = ac_copy(one.region, data[x->id], (size_t)ac_tensor_bytes(x));
        MUST(run_node(&one, n, &TARGETS[0], false, data, &status) == AC_OK && !status);
        const void *want = ac_copy(one.region, data[z->id], bytes);
        for (int32_t variant = 0; variant <= AC_VARIANT_ROWS; variant++) {
            const ac_lowered *low = ac_lower_node(&one, one.region, n, &HALVES, variant, false);
            MUST(low);
            CHECK(may_lie_over(low, x) == CASES[i].over);
            if (!CASES[i].over)
                continue;
            data[z->id] = data[x->id];
            memcpy(data[x->id], kept, (size_t)ac_tensor_bytes(x));
            MUST(run_lowered(&one, low, data, &status) == AC_OK && !status);
            CHECK(!memcmp(want, data[z->id], bytes));
        }
        ac_ctx_close(&one);
    }
    return check_done();
}
