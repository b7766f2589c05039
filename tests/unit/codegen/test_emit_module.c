/* test_emit_module.c - whole generated files: a small model built by hand (relu twice, a matrix product, an accumulator
 * in state, a checked gather) is printed with each form of weights, compiled without a warning as C99 (its header also
 * as C++), linked with a second model into one program that uses it as firmware would (the example of
 * docs/generated-c.md), run with poison, and loaded as a host build through its descriptor. */
#include "codegen/c/emit.h"
#include "codegen/targets.h"
#include "runtime/arn_rt.h"
#include "tests/unit/support/cc.h"
#include "tests/unit/support/expect.h"

#include <dlfcn.h>

#define PLAIN_FLAGS                                                                                          \
    "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wstrict-prototypes " \
    "-Wmissing-prototypes -Wdouble-promotion"

enum { K = 40, J = 10, AT_X = 0, AT_T = 192, AT_Y = 384, AT_I = 448, AT_OUT = 512, ARENA = 640 };

static ac_ctx cx;
static float w_data[J * K];
static const float first_state[J] = {1, 2, 3};

static ac_tensor *tensor(const char *name, ac_dtype d, int64_t n)
{
    ac_tensor *t = AC_NEW(cx.region, ac_tensor);
    *t = (ac_tensor){.name = name, .dtype = d, .rank = 2, .dim = {1, n}};
    return t;
}

static int32_t param(ac_lb *b, ac_lowered *low, ac_tensor *t, ac_const *k, ac_role role)
{
    ac_push(cx.region, &low->arg, ((ac_arg){.kind = k ? AC_ARG_CONST : AC_ARG_TENSOR, .tensor = t, .konst = k}));
    return k ? ac_lb_buf(b, k->name, k->dtype, k->count, AC_BUF_CONST, k->align, NULL)
             : ac_lb_buf(b, t->name, t->dtype, t->dim[1], role, 16, NULL);
}

/* out = max(x, 0) */
static ac_lowered *relu(const char *name, ac_tensor *x, ac_tensor *out)
{
    ac_lowered *low = AC_NEW(cx.region, ac_lowered);
    ac_lb b;
    ac_lb_open(&b, cx.region, name, "RELU");
    int32_t from = param(&b, low, x, NULL, AC_BUF_IN), to = param(&b, low, out, NULL, AC_BUF_OUT);
    ac_x i = ac_lb_for_n(&b, "i", K);
    ac_lb_store(&b, to, i, ac_lb_max(&b, ac_lb_load(&b, from, i, 1), ac_lb_f32(&b, 0)));
    ac_lb_end(&b);
    low->fn = ac_lb_close(&b);
    return low;
}

/* out[j] = bias[j] + sum of w[j][k] * x[k] */
static ac_lowered *dense(ac_tensor *x, ac_const *w, ac_const *bias, ac_tensor *out)
{
    ac_lowered *low = AC_NEW(cx.region, ac_lowered);
    ac_lb b;
    ac_lb_open(&b, cx.region, "fully_connected_1", "FULLY_CONNECTED */ with a note that tries to end the comment");
    int32_t from = param(&b, low, x, NULL, AC_BUF_IN), weights = param(&b, low, NULL, w, AC_BUF_CONST);
    int32_t add = param(&b, low, NULL, bias, AC_BUF_CONST), to = param(&b, low, out, NULL, AC_BUF_OUT);
    ac_x j = ac_lb_for_n(&b, "oc", J), acc = ac_lb_var(&b, "acc", ac_lb_load(&b, add, j, 1)),
         k = ac_lb_for_n(&b, "ic", K);
    ac_x at = ac_lb_add(&b, ac_lb_mul(&b, j, ac_lb_i32(&b, K)), k);
    ac_x product = ac_lb_mul(&b, ac_lb_load(&b, weights, at, 1), ac_lb_load(&b, from, k, 1));
    ac_lb_set(&b, acc, ac_lb_add(&b, ac_lb_get(&b, acc), product));
    ac_lb_end(&b);
    ac_lb_store(&b, to, j, ac_lb_get(&b, acc));
    ac_lb_end(&b);
    low->fn = ac_lb_close(&b);
    low->macs = J * K;
    return low;
}

/* state += y, element by element */
static ac_lowered *accumulate(ac_tensor *state, ac_tensor *y)
{
    ac_lowered *low = AC_NEW(cx.region, ac_lowered);
    ac_lb b;
    ac_lb_open(&b, cx.region, "run", "a name that the API has");
    int32_t s = param(&b, low, state, NULL, AC_BUF_INOUT), from = param(&b, low, y, NULL, AC_BUF_IN);
    ac_x i = ac_lb_for_n(&b, "i", J);
    ac_lb_store(&b, s, i, ac_lb_add(&b, ac_lb_load(&b, s, i, 1), ac_lb_load(&b, from, i, 1)));
    ac_lb_end(&b);
    low->fn = ac_lb_close(&b);
    return low;
}

/* out[0] = state[index[0]], checked */
static ac_lowered *gather(ac_tensor *state, ac_tensor *index, ac_tensor *out)
{
    ac_lowered *low = AC_NEW(cx.region, ac_lowered);
    ac_lb b;
    ac_lb_open(&b, cx.region, "gather_4", "GATHER");
    int32_t s = param(&b, low, state, NULL, AC_BUF_IN), i = param(&b, low, index, NULL, AC_BUF_IN);
    int32_t to = param(&b, low, out, NULL, AC_BUF_OUT);
    ac_x at = ac_lb_load(&b, i, ac_lb_i32(&b, 0), 1);
    ac_lb_fail_if(&b, ac_lb_or(&b, ac_lb_lt(&b, at, ac_lb_i32(&b, 0)), ac_lb_ge(&b, at, ac_lb_i32(&b, J))), 4);
    ac_lb_store(&b, to, ac_lb_i32(&b, 0), ac_lb_load(&b, s, at, 1));
    low->fn = ac_lb_close(&b);
    return low;
}

static ac_bound_arg *bind(const ac_bound_arg *list, int32_t n)
{
    return ac_copy(cx.region, list, (size_t)n * sizeof *list);
}
#define BIND(...)                             \
    bind((const ac_bound_arg[]){__VA_ARGS__}, \
         (int32_t)(sizeof((const ac_bound_arg[]){__VA_ARGS__}) / sizeof(ac_bound_arg)))

/* The tensors of the small model, and its constants: the matrix, and a bias that two calls hold. */
typedef struct small {
    ac_tensor *x, *t, *y, *i, *out, *s;
    ac_const **konst;
} small;

static small parts_of_model(void)
{
    static const float scale = 0.00392156886f;
    static const int32_t zero = -128;
    small p = {.x = tensor("x", AC_F32, K), .t = tensor("t", AC_F32, K), .y = tensor("y", AC_F32, J)};
    p.i = tensor("index?\?/", AC_I32, 1);
    p.out = tensor("Identity \"out\"", AC_F32, 1);
    p.s = tensor("sum", AC_F32, J);
    p.s->data = first_state;
    static const ac_quant quant = {.n = 1, .scale = &scale, .zero = &zero};
    p.i->quant = &quant;
    ac_const *konst = AC_NEW_N(cx.region, ac_const, 3);
    konst[0] = (ac_const){.name = "fc_w", .dtype = AC_F32, .count = J * K, .align = 64, .data = w_data};
    konst[1] = (ac_const){.name = "fc_b", .dtype = AC_F32, .count = J, .align = 16, .data = w_data};
    konst[2] = konst[1];
    konst[2].name = "fc_c";
    p.konst = AC_NEW_N(cx.region, ac_const *, 3);
    for (int k = 0; k < 3; k++)
        p.konst[k] = &konst[k];
    return p;
}

static void add_calls(ac_module *m, const small *p)
{
    const ac_call calls[] = {{.low = relu("relu_0", p->x, p->t),
                              .op = "RELU",
                              .name = "act0",
                              .n_arg = 2,
                              .arg = BIND({.space = AC_SPACE_ARENA, .offset = AT_X, .shares = false},
                                          {.space = AC_SPACE_ARENA, .offset = AT_T, .shares = false})},
                             {.low = relu("relu_9", p->t, p->t),
                              .op = "RELU",
                              .name = "act1",
                              .n_arg = 2,
                              .arg = BIND({.space = AC_SPACE_ARENA, .offset = AT_T, .shares = true},
                                          {.space = AC_SPACE_ARENA, .offset = AT_T, .shares = true})},
                             {.low = dense(p->t, p->konst[0], p->konst[1], p->y),
                              .op = "FULLY_CONNECTED",
                              .name = "fc/MatMul",
                              .fused = "ADD",
                              .n_arg = 4,
                              .arg = BIND({.space = AC_SPACE_ARENA, .offset = AT_T, .shares = false},
                                          {.space = AC_SPACE_CONST, .offset = 0, .shares = false},
                                          {.space = AC_SPACE_CONST, .offset = 2, .shares = false},
                                          {.space = AC_SPACE_ARENA, .offset = AT_Y, .shares = false})},
                             {.low = accumulate(p->s, p->y),
                              .op = "ASSIGN_ADD",
                              .name = "sum",
                              .n_arg = 2,
                              .arg = BIND({.space = AC_SPACE_STATE, .offset = 0, .shares = false},
                                          {.space = AC_SPACE_ARENA, .offset = AT_Y, .shares = false})},
                             {.low = gather(p->s, p->i, p->out),
                              .op = "GATHER",
                              .name = "pick",
                              .n_arg = 3,
                              .arg = BIND({.space = AC_SPACE_STATE, .offset = 0, .shares = false},
                                          {.space = AC_SPACE_ARENA, .offset = AT_I, .shares = false},
                                          {.space = AC_SPACE_ARENA, .offset = AT_OUT, .shares = false})}};
    m->call = ac_copy(cx.region, calls, sizeof calls);
    m->n_calls = 5;
}

static void add_io(ac_module *m, const small *p)
{
    const ac_io input[] = {{.tensor = p->x, .space = AC_SPACE_ARENA, .offset = AT_X, .bytes = K * 4, .clobbered = true},
                           {.tensor = p->i, .space = AC_SPACE_ARENA, .offset = AT_I, .bytes = 4}};
    const ac_io output[] = {
        {.tensor = p->out, .space = AC_SPACE_ARENA, .offset = AT_OUT, .bytes = 4},
        {.tensor = tensor("fixed", AC_F32, J), .space = AC_SPACE_CONST, .offset = 1, .bytes = J * 4}};
    const ac_io state = {.tensor = p->s, .space = AC_SPACE_STATE, .bytes = J * 4};
    m->input = ac_copy(cx.region, input, sizeof input);
    m->output = ac_copy(cx.region, output, sizeof output);
    m->state = ac_copy(cx.region, &state, sizeof state);
    m->n_inputs = m->n_outputs = 2;
    m->n_states = 1;
}

static ac_module *module_of(const char *name, ac_weights weights, bool host, bool poison)
{
    static const ac_range after_fc[] = {{AT_X, AT_Y, 0}, {AT_Y + J * 4, AT_I, 0}, {AT_I + 4, ARENA, 0}};
    static const ac_range before_fc[] = {{AT_X, AT_T, 0}, {AT_T + K * 4, AT_I, 0}, {AT_I + 4, ARENA, 0}};
    const small p = parts_of_model();
    ac_module *m = AC_NEW(cx.region, ac_module);
    *m =
        (ac_module){.cx = &cx,
                    .name = name,
                    .source = "small.tflite",
                    .sha256 = "0123",
                    .options = "-t generic",
                    .version = "0.1",
                    .target = ac_target_find("generic"),
                    .konst = p.konst,
                    .n_konst = 3,
                    .ram = ac_copy(cx.region, &(ac_module_ram){"arena", ARENA, 16, 0, -1, true}, sizeof(ac_module_ram)),
                    .n_ram = 1,
                    .arena_bytes = ARENA,
                    .arena_align = 16,
                    .state_bytes = J * 4,
                    .weights = weights,
                    .poison = poison,
                    .host = host,
                    .hooks = host};
    add_calls(m, &p);
    add_io(m, &p);
    m->dead = AC_NEW_N(cx.region, ac_dead, 5);
    m->dead[1] = m->dead[2] = (ac_dead){before_fc, 3};
    m->dead[3] = m->dead[4] = (ac_dead){after_fc, 3};
    ac_module_whole(m);
    ac_module_dedupe(m);
    return m;
}

static void write_module(const char *dir, ac_module *m)
{
    ac_sink c, h;
    uint8_t *blob;
    ac_bytes n;
    ac_sink_open(&c, &cx);
    ac_sink_open(&h, &cx);
    const char *header = ac_strf(cx.region, "%s.h", m->name), *bin = ac_strf(cx.region, "%s.bin", m->name);
    MUST(ac_emit_source(m, header, bin, &c) == AC_OK);
    MUST(ac_emit_header(m, &h) == AC_OK);
    MUST(ac_blob_bytes(m, &blob, &n) == AC_OK);
    MUST(cc_write(dir, ac_strf(cx.region, "%s.c", m->name), c.text, c.n) == 0);
    MUST(cc_write(dir, header, h.text, h.n) == 0);
    MUST(cc_write(dir, bin, (const char *)blob, (size_t)n) == 0);
}

/* The use of the API that docs/generated-c.md shows, for model P; a blob is read into memory first. */
static const char MAIN[] = "#include \"aa.h\"\n"
                           "#include \"bb.h\"\n"
                           "#include <stdio.h>\n"
                           "#include <string.h>\n"
                           "static _Alignas(64) uint8_t arena[AA_ARENA_BYTES], state[AA_STATE_BYTES], blob[8192];\n"
                           "static float run_once(const aa_mem *m, int32_t index)\n"
                           "{\n"
                           "    for (int i = 0; i < 40; i++)\n"
                           "        aa_in0(m)[i] = (float)(i % 7 - 3);\n"
                           "    memcpy(aa_in1(m), &index, AA_IN1_BYTES);\n"
                           "    return aa_run(m) == AA_OK ? aa_out0(m)[0] : -1.0f;\n"
                           "}\n"
                           "int main(int argc, char **argv)\n"
                           "{\n"
                           "    FILE *f = argc > 1 ? fopen(argv[1], \"rb\") : NULL;\n"
                           "    const aa_mem m = {arena, argc > 1 ? blob : NULL, state};\n"
                           "    const aa_mem odd = {arena + 1, blob, state};\n"
                           "    const bb_mem other = {arena, argc > 1 ? blob : NULL, state};\n"
                           "#ifdef AA_WEIGHTS_BYTES\n"
                           "    if (f && (fread(blob, 1, sizeof blob, f) != AA_WEIGHTS_BYTES || fclose(f)))\n"
                           "#else\n"
                           "    if (f)\n"
                           "#endif\n"
                           "        return 10;\n"
                           "    if (aa_init(&m) != AA_OK || aa_init(&odd) != AA_EALIGN)\n"
                           "        return 11;\n"
                           "    float a = run_once(&m, 1), b = run_once(&m, 1);\n"
                           "    if (run_once(&m, 10) != -1.0f || run_once(&m, -1) != -1.0f)\n"
                           "        return 12;\n"
                           "    aa_reset(&m);\n"
                           "    if (run_once(&m, 1) != a || a == b || aa_out1(&m)[1] != 0.5f)\n"
                           "        return 13;\n"
                           "    if (argc > 1) {\n"
                           "        blob[24] ^= 1;\n"
                           "        if (aa_init(&m) != AA_EWEIGHTS)\n"
                           "            return 14;\n"
                           "        blob[24] ^= 1;\n"
                           "    }\n"
                           "    if (bb_init(&other) != BB_OK || bb_run(&other) != BB_OK)\n"
                           "        return 15;\n"
                           "    printf(\"%a %a\\n\", (double)a, (double)b);\n"
                           "    return 0;\n"
                           "}\n";

static const char *compilers[] = {NULL, "gcc", "clang"};

static const char *run_main(const char *dir, const char *blob)
{
    const char *argv[] = {ac_strf(cx.region, "%s/main", dir), blob, NULL};
    int rc = cc_run(dir, argv, "main.log");
    char *said = cc_read(dir, "main.log");
    if (rc)
        fprintf(stderr, "main: %d %s\n", rc, said);
    MUST(rc == 0);
    const char *kept = ac_strdup(cx.region, said);
    free(said);
    return kept;
}

static void test_program(const char *dir, ac_weights weights, const char **expect)
{
    MUST(cc_write(dir, "main.c", MAIN, sizeof MAIN - 1) == 0);
    for (int poison = 0; poison < 2; poison++) {
        write_module(dir, module_of("aa", weights, false, poison));
        write_module(dir, module_of("bb", weights, false, poison));
        for (int i = 0; i < 3; i++) {
            if (i && (!strcmp(compilers[i], compilers[0]) || !cc_exists(dir, compilers[i])))
                continue;
            now = compilers[i];
            const char *as =
                ac_strf(cx.region, "%s -Wa,-I%s", weights == AC_WEIGHTS_ASM ? "-std=gnu99" : PLAIN_FLAGS, dir);
            MUST(cc_compile(dir, compilers[i], ac_strf(cx.region, "%s -O0 -c", as), "aa.c", "aa.o") == 0);
            MUST(cc_compile(dir, compilers[i], ac_strf(cx.region, "%s -O2 -c", as), "bb.c", "bb.o") == 0);
            MUST(cc_compile(dir, compilers[i], "-std=c11", "main.c aa.o bb.o", "main") == 0);
            const char *said = run_main(dir, weights == AC_WEIGHTS_BLOB ? ac_strf(cx.region, "%s/aa.bin", dir) : NULL);
            if (!*expect)
                *expect = said;
            MUST(!strcmp(said, *expect)); /* the same bits from every form, compiler and poison */
        }
    }
}

static void check_symbols(const char *dir)
{
    const char *argv[] = {"nm", ac_strf(cx.region, "%s/aa.o", dir), NULL};
    if (cc_run(dir, argv, "nm.log"))
        return;
    char *said = cc_read(dir, "nm.log"), *save = NULL, *row = strtok_r(said, "\n", &save);
    for (; row; row = strtok_r(NULL, "\n", &save)) {
        char *name = strrchr(row, ' ') + 1, kind = name[-2];
        now = row;
        if (kind == 'U')
            MUST(!strcmp(name, "memcpy") || !strcmp(name, "memset") || !strcmp(name, "memmove"));
        else if (kind >= 'A' && kind <= 'Z')
            MUST(!strncmp(name, "aa_", 3));
    }
    free(said);
}

static void test_header_in_cpp(const char *dir)
{
    if (!cc_exists(dir, "c++"))
        return;
    static const char CPP[] =
        "#include \"aa.h\"\nconst float *f(const aa_mem *m) { return aa_in0(m) ? aa_out0(m) : 0; }\n";
    MUST(cc_write(dir, "h.cc", CPP, sizeof CPP - 1) == 0);
    MUST(cc_compile(dir, "c++", "-Wall -Wextra -Wpedantic -std=c++11 -c", "h.cc", "h.o") == 0);
}

static int steps_seen;
static void count_step(void *user, int32_t step)
{
    MUST(user == &steps_seen && step == steps_seen % 5);
    steps_seen++;
}

static void test_host(const char *dir, ac_weights weights)
{
    now = "host build";
    write_module(dir, module_of("hh", weights, true, false));
    MUST(cc_compile(dir, cc_name(), PLAIN_FLAGS " -O1 -fPIC -shared", "hh.c", "hh.so") == 0);
    void *so = dlopen(ac_strf(cx.region, "%s/hh.so", dir), RTLD_NOW);
    MUST(so);
    const struct arn_model *m = dlsym(so, "hh_model");
    MUST(m && m->abi == ARN_ABI && m->n_inputs == 2 && m->n_outputs == 2 && m->n_steps == 5 && m->state_bytes == J * 4);
    MUST(arn_find_input(m, "index?\?/") == 1 && arn_find_output(m, "Identity \"out\"") == 0 &&
         arn_find_input(m, "y") < 0);
    MUST(m->input[1].n_quant == 1 && m->input[1].zero[0] == -128 && m->input[0].dim[1] == K &&
         m->input[0].dtype == ARN_F32);
    MUST(arn_find_step(m, "fc/MatMul") == 2 && m->step[2].macs == J * K && !strcmp(m->step[2].fused, "ADD"));
    static _Alignas(64) uint8_t block[ARENA + 2 * ARN_GUARD_BYTES], state[J * 4], blob[8192];
    char *bytes = cc_read(dir, "hh.bin");
    memcpy(blob, bytes, m->weights_bytes ? m->weights_bytes : 1);
    free(bytes);
    uint8_t *arena = arn_guard_fill(block, m->arena_bytes);
    const struct arn_mem mem = {.arena = arena, .weights = blob, .state = state};
    const struct arn_hook hook = {count_step, NULL, &steps_seen};
    steps_seen = 0;
    MUST(m->init(&mem) == 0 && !memcmp(state, first_state, sizeof state));
    memset(arena, 0, ARENA);
    MUST(m->run(&mem, &hook) == 0 && steps_seen == 5 && m->run(&mem, NULL) == 0);
    MUST(*(const float *)arn_tensor_at(&m->output[0], &mem) == 1.0f);
    MUST(((const float *)arn_tensor_at(&m->output[1], &mem))[1] == 0.5f);
    MUST(arn_guard_check(block, m->arena_bytes) == 0);
    arena[-3] ^= 1;
    MUST(arn_guard_check(block, m->arena_bytes) == -3);
    arena[-3] ^= 1;
    arena[ARENA] ^= 1;
    MUST(arn_guard_check(block, m->arena_bytes) == 1);
    MUST(m->reset(&mem) == 0 && !memcmp(state, first_state, sizeof state));
    dlclose(so);
}

static void test_text(void)
{
    now = "text";
    ac_module *m = module_of("aa", AC_WEIGHTS_AUTO, false, false);
    MUST(ac_module_weights(m) == AC_WEIGHTS_RODATA);
    MUST(m->n_fn == 5); /* in place and not: two functions */
    ac_sink a, again;
    ac_sink_open(&a, &cx);
    ac_sink_open(&again, &cx);
    MUST(ac_emit_source(m, "aa.h", "aa.bin", &a) == AC_OK && ac_emit_source(m, "aa.h", "aa.bin", &again) == AC_OK);
    MUST(a.n == again.n && !memcmp(a.text, again.text, a.n));
    const char *text = ac_sink_text(&a);
    MUST(strstr(text, "aa_relu_0(const float *restrict x, float *restrict t)"));
    MUST(strstr(text, "aa_relu_9(const float *t, float *"));
    MUST(strstr(text, "aa_fc_b") && !strstr(text, "aa_fc_c")); /* equal bytes are one constant */
    MUST(strstr(text, "return AA_EINDEX;") && strstr(text, "acc += w0") == NULL);
    m->target = ac_target_find("cortex-m4");
    ac_module_whole(m);
    ac_module_dedupe(m);
    MUST(m->n_fn == 4 && m->call[1].fn == 0);
    ac_const same = *m->konst[1];
    same.data = NULL; /* sizes are known before constants are made */
    same.sum = same.hash = 0;
    same.source = tensor("source", AC_F32, 1);
    m->konst[2] = &same;
    MUST(ac_consts_bytes(m) == J * K * 4 + 2 * 48 - 8);
}

int main(void)
{
    char dir[256];
    const char *expect = NULL;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    for (int i = 0; i < J * K; i++)
        w_data[i] = (float)(i % 11) * 0.5f;
    test_text();
    MUST(cc_folder(dir) == 0);
    compilers[0] = cc_name();
    if (!cc_exists(dir, compilers[0])) {
        printf("no C compiler: text only\n");
        return 0;
    }
    test_program(dir, AC_WEIGHTS_RODATA, &expect);
    check_symbols(dir);
    test_header_in_cpp(dir);
    test_program(dir, AC_WEIGHTS_BLOB, &expect);
    test_program(dir, AC_WEIGHTS_ASM, &expect);
    test_host(dir, AC_WEIGHTS_RODATA);
    test_host(dir, AC_WEIGHTS_BLOB);
    cc_remove(dir);
    ac_ctx_close(&cx);
    printf("emit module: ok\n");
    return 0;
}
