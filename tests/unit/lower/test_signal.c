/* test_signal.c - the operators of audio front ends against what TFLite Micro's kernels give for the same numbers,
 * those with a memory after several runs. */
#include "tests/unit/support/value_case.h"

typedef struct signal_case {
    const char *operands, *node;
    int32_t output, runs;
    int64_t want[24];
} signal_case;

// clang-format off
static const signal_case CASES[] = {
    {"const x: i16[2, 4] = [29157, 8198, 12070, 26031, 5130, 18067, 21866, -18009]; const w: i16[4] = [-29129, -13097, -14086, 24481]",
     "y = signal_window(x, w) shift=14", 0, 1, {-32768, -6554, -10378, 32767, -9121, -14443, -18800, -26910}},
    {"const x: i16[6] = [742, -891, -1, 578, -664, 534]",
     "y, z = signal_auto_scale(x)", 0, 1, {23744, -28512, -32, 18496, -21248, 17088}},
    {"const x: i16[6] = [742, -891, -1, 578, -664, 534]",
     "y, z = signal_auto_scale(x)", 1, 1, {5}},
    {"const x: i16[3] = [100, -32768, 7]",
     "y, z = signal_auto_scale(x)", 0, 1, {16384, 0, 28672}},
    {"const x: i16[3] = [100, -32768, 7]",
     "y, z = signal_auto_scale(x)", 1, 1, {12}},
    {"const x: i16[16] = [-24964, -2102, 20739, -12909, -10381, -14522, 14383, -16065, 32142, -3600, -1433, 298, 5409, 3506, 619, 32473]",
     "y = signal_rfft(x) fft_length=16", 0, 1, {1475, 0, -194, 2327, 2275, 778, -3022, -606, -2006, 1282, -4859, 4542, -758, 1316, -6200, 3529, 3089, 0}},
    {"const x: i16[9] = [20163, 19179, 13125, 8007, -10419, 32044, -2214, -18658, 22615]",
     "y = signal_rfft(x) fft_length=12", 0, 1, {6985, 0, 2322, -2142, 1130, -1057, 1787, -5155, -248, 5605, 1485, -5015, 225, 0}},
    {"const x: i16[10] = [-22269, 23425, 7375, -25251, -29889, -3621, -30430, -23491, 975, 30819]",
     "y = signal_rfft(x) fft_length=10", 0, 1, {-7234, 0, 9165, -39, 491, 275, -10022, 924, -3345, 1241, -7610, 0}},
    {"const x: i32[8] = [-145144017, 1324766601, 1791721942, 1389263217, 555022536, -251694540, 60634830, -1003862651]",
     "y = signal_rfft(x) fft_length=8", 0, 1, {465088489, 0, -159704465, -567251125, -180309781, -85958936, -15337174, -134479348, 100470333, 0}},
    {"const x: i16[18] = [-205, -7906, -16547, 32325, -31996, -26399, -20159, 30737, 12585, 25024, -19622, 14481, -8551, -720, -32524, 7703, 21630, 10727]",
     "y = signal_irfft(x) fft_length=16", 0, 1, {3122, -9482, 4333, 2200, -1257, 89, -12026, 2323, 8948, 1150, 1617, -6118, 835, -9721, 5140, 8647}},
    {"const x: i16[8] = [-22646, 2215, -15231, 30467, 24925, -20564, 641, 28819]",
     "y = signal_energy(x) start_index=0 end_index=4", 0, 1, {517747541, 1160221450, 1044133721, 830945642}},
    {"const x: u32[6] = [909620650, 23753948, 20962, 21, 48612, 3879]; const w: i16[5] = [24336, 12191, -9093, 9387, 6434]; const u: i16[5] = [-25676, -28885, 10496, -7365, 6444]; const f: i16[3] = [0, 1, 3]; const k: i16[3] = [0, 1, 3]; const n: i16[3] = [1, 2, 2]",
     "y = signal_filter_bank(x, w, u, f, k, n) num_channels=2", 0, 1, {-23066026036798, -685599804093}},
    {"const x: u64[11] = [0, 1, 2, 3, 6, 7, 4294967295, 4294967296, 4294836225, 4611686018427400249, 9223372036854775807]; const k: i32[] = [0]",
     "y = signal_square_root(x, k)", 0, 1, {0, 1, 1, 2, 2, 3, 65535, 65536, 65535, 2147483648, 3037000500}},
    {"const x: u64[11] = [0, 1, 2, 3, 6, 7, 4294967295, 4294967296, 4294836225, 4611686018427400249, 9223372036854775807]; const k: i32[] = [3]",
     "y = signal_square_root(x, k)", 0, 1, {0, 0, 0, 0, 0, 0, 8191, 8192, 8191, 268435456, 379625062}},
    {"const x: u32[6] = [338728, 3697, 0, 400118, 13374, 105119]; state s: i16[0]",
     "y, z = signal_spectral_subtraction(x, s) alternate_one_minus_smoothing=15401 alternate_smoothing=983 clamping=false min_signal_remaining=819 num_channels=6 one_minus_smoothing=15975 smoothing=409 smoothing_bits=10 spectral_subtraction_bits=14", 0, 3, {313988, 3070, 0, 332334, 12397, 87310}},
    {"const x: u32[6] = [338728, 3697, 0, 400118, 13374, 105119]; state s: i16[0]",
     "y, z = signal_spectral_subtraction(x, s) alternate_one_minus_smoothing=15401 alternate_smoothing=983 clamping=false min_signal_remaining=819 num_channels=6 one_minus_smoothing=15975 smoothing=409 smoothing_bits=10 spectral_subtraction_bits=14", 1, 3, {25333144, 641337, 0, 69410611, 1000227, 18235555}},
    {"const x: u32[6] = [162418551, 14604, 167246, 1147461, 22697903, 2054636807]; state s: i16[0]",
     "y, z = signal_spectral_subtraction(x, s) alternate_one_minus_smoothing=15401 alternate_smoothing=983 clamping=true min_signal_remaining=819 num_channels=6 one_minus_smoothing=15975 smoothing=409 smoothing_bits=10 spectral_subtraction_bits=14", 0, 3, {8118944, 12129, 155030, 953070, 1600294, 102706759}},
    {"const x: u32[6] = [162418551, 14604, 167246, 1147461, 22697903, 2054636807]; state s: i16[0]",
     "y, z = signal_spectral_subtraction(x, s) alternate_one_minus_smoothing=15401 alternate_smoothing=983 clamping=true min_signal_remaining=819 num_channels=6 one_minus_smoothing=15975 smoothing=409 smoothing_bits=10 spectral_subtraction_bits=14", 1, 3, {226984693, 2533433, 12508167, 199056206, 129114544, 628353937}},
    {"const x: u32[6] = [27011203, 3548328009, 198, 1744214657, 8118730, 124710]; const n: u32[6] = [0, 2, 3, 900, 70000, 4294967295]; const l: i16[125] = [-9000, -8743, -8486, -8229, -7972, -7715, -7458, -7201, -6944, -6687, -6430, -6173, -5916, -5659, -5402, -5145, -4888, -4631, -4374, -4117, -3860, -3603, -3346, -3089, -2832, -2575, -2318, -2061, -1804, -1547, -1290, -1033, -776, -519, -262, -5, 252, 509, 766, 1023, 1280, 1537, 1794, 2051, 2308, 2565, 2822, 3079, 3336, 3593, 3850, 4107, 4364, 4621, 4878, 5135, 5392, 5649, 5906, 6163, 6420, 6677, 6934, 7191, 7448, 7705, 7962, 8219, 8476, 8733, 8990, 9247, 9504, 9761, 10018, 10275, 10532, 10789, 11046, 11303, 11560, 11817, 12074, 12331, 12588, 12845, 13102, 13359, 13616, 13873, 14130, 14387, 14644, 14901, 15158, 15415, 15672, 15929, 16186, 16443, 16700, 16957, 17214, 17471, 17728, 17985, 18242, 18499, 18756, 19013, 19270, 19527, 19784, 20041, 20298, 20555, 20812, 21069, 21326, 21583, 21840, 22097, 22354, 22611, 22868]",
     "y = signal_pcan(x, n, l) snr_shift=9", 0, 1, {9751519, 30174090, 25952103, 10467489, 1846273, 8423}},
    {"const x: u32[9] = [0, 1, 2, 3, 77, 65535, 65536, 268435456, 4294967295]",
     "y = signal_log(x) input_correction_bits=3 output_scale=1600", 0, 1, {0, 3327, 4436, 5085, 10277, 21074, 21072, 32767, 32767}},
    {"const x: i16[2, 3] = [24515, -26683, 10630, 2164, -24143, 22650]; state s: i16[0]",
     "y = signal_delay(x, s) delay_length=4", 0, 2, {0, 24515, -26683, 0, 2164, -24143}},
    {"const x: i16[2, 5] = [22614, -1134, 29160, 7003, 26471, 30184, 4569, -14362, -23236, 4118]; state s: i16[0]",
     "y = signal_overlap_add(x, s) frame_step=2", 0, 3, {32767, -24370, 32767, 11572}},
    {"const x: i16[6] = [-20155, 16398, 28043, -16683, 3429, -29546]; state s: i16[0]",
     "y, z = signal_framer(x, s) frame_size=5 frame_step=2 prefill=true", 0, 1, {0, 0, 0, -20155, 16398, 0, -20155, 16398, 28043, -16683, 16398, 28043, -16683, 3429, -29546}},
    {"const x: i16[6] = [-20155, 16398, 28043, -16683, 3429, -29546]; state s: i16[0]",
     "y, z = signal_framer(x, s) frame_size=5 frame_step=2 prefill=true", 1, 1, {1}},
    {"const x: i16[6] = [-20936, -8050, 25169, 30769, 9278, 5469]; state s: i16[0]",
     "y, z = signal_framer(x, s) frame_size=5 frame_step=2 prefill=false", 0, 2, {25169, 30769, 9278, 5469, -20936, 9278, 5469, -20936, -8050, 25169, -20936, -8050, 25169, 30769, 9278}},
    {"const x: i16[6] = [-20936, -8050, 25169, 30769, 9278, 5469]; state s: i16[0]",
     "y, z = signal_framer(x, s) frame_size=5 frame_step=2 prefill=false", 1, 2, {1}},
    {"const x: i16[2] = [4567, -28796]; state s: i16[0]",
     "y, z = signal_stacker(x, s) num_channels=2 stacker_left_context=1 stacker_right_context=2 stacker_step=2", 0, 3, {4567, -28796, 4567, -28796, 4567, -28796, 4567, -28796}},
    {"const x: i16[2] = [4567, -28796]; state s: i16[0]",
     "y, z = signal_stacker(x, s) num_channels=2 stacker_left_context=1 stacker_right_context=2 stacker_step=2", 1, 3, {1}},
};

#define X "const x: i16[6] = [1, 2, 3, 4, 5, 6]"
static const bad_case BAD[] = {
    {X, "y = signal_rfft(x) fft_length=5", "E0103"},
    {X, "y = signal_rfft(x) fft_length=4", "E0104"},
    {X, "y = signal_irfft(x) fft_length=8", "E0104"},
    {X "; const w: i16[4] = [1, 2, 3, 4]", "y = signal_window(x, w) shift=3", "E0104"},
    {X "; const w: i16[3] = [1, 2, 3]", "y = signal_window(x, w) shift=32", "E0103"},
    {X, "y = signal_energy(x) start_index=1 end_index=4", "E0104"},
    {"const x: u32[2] = [1, 2]; const w: i16[1] = [1]; const f: i16[2] = [0, 2]; const k: i16[2] = [0, 0]; const n: i16[2] = [1, 1]",
     "y = signal_filter_bank(x, w, w, f, k, n) num_channels=1", "E0104"},
    {X "; state s: i16[0]", "y, z = signal_framer(x, s) frame_size=3 frame_step=4", "E0104"},
    {X "; state s: i16[3]", "y = signal_delay(x, s) delay_length=4", "E0104"},
    {X "; const s: i16[4] = [1, 2, 3, 4]", "y = signal_delay(x, s) delay_length=4", "E0102"},
    {X "; state s: i16[0]", "y, z = signal_stacker(x, s) num_channels=6 stacker_left_context=1 stacker_step=3", "E0103"},
};
#undef X
// clang-format on

static void test_case(ac_ctx *cx, int c)
{
    const signal_case *v = &CASES[c];
    for (int32_t k = 0; k < N_TARGETS; k++) {
        ac_graph *g = NULL;
        const ac_node *n = read_node(cx, v->operands, v->node, &g);
        if (!n) {
            fail(c, v->node, "shape", "refused");
            return;
        }
        void **data = make_data(cx, g, 0);
        for (int32_t i = 0; i < g->tensor.n; i++)
            if (g->tensor.item[i]->state)
                memset(data[i], 0, (size_t)ac_tensor_bytes(g->tensor.item[i]));
        for (int32_t run = 0; run < v->runs; run++) {
            int status = 0;
            if (run_node(cx, n, &TARGETS[k], true, data, &status) != AC_OK || status)
                fail(c, v->node, TARGETS[k].name, "does not run");
        }
        const ac_tensor *y = n->out[v->output];
        for (int64_t e = 0; e < ac_tensor_count(y); e++)
            if (ac_dtype_get_int(y->dtype, data[y->id], e) != v->want[e])
                fail(c, v->node, TARGETS[k].name, "differs");
    }
}

int main(void)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
        test_case(&cx, (int)c);
    run_bad(&cx, BAD, sizeof BAD / sizeof *BAD);
    ac_ctx_close(&cx);
    printf("%d failures\n", failures);
    return failures != 0;
}
