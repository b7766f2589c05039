/* source.c - prints the C file of a module, top to bottom: comment, macros, types and helpers, weights, one static
 * function for each distinct loop function, then init, reset and run (calls.c), which calls the functions in execution
 * order with every offset a constant. */
#include "codegen/c/dialect.h"
#include "codegen/c/emit.h"

#include <string.h>

/* Names of functions and constants; those of the API, in all dialects, are reserved first. */
int ac_emit_take_names(ac_emit *e, ac_cnames *names)
{
    static const char *const API[] = {
        "init",       "run",       "run_row",  "reset",      "describe",    "model",      "steps",
        "parts",      "step",      "mem",      "blob",       "header",      "in_tensors", "out_tensors",
        "step_table", "host_init", "host_run", "hook_begin", "hook_end",    "host_reset", "cuda",
        "kernels",    "args",      "launches", "text",       "first_state", "task",       "first",
        "phase",      "thread",    "at_once",  "size",       "choice",      "numbers",    "check_weights",
        "crc32",      "text_at",   "text_code"};
    const ac_module *m = e->m;
    ac_c_names_open(names, m->cx, ".");
    for (size_t i = 0; i < sizeof API / sizeof API[0]; i++)
        ac_c_name_take(names, ac_strf(e->region, "%s_%s", m->name, API[i]));
    for (int32_t i = 0; i < m->n_inputs; i++) {
        ac_c_name_take(names, ac_strf(e->region, "%s_in%d", m->name, i));
        ac_c_name_take(names, ac_strf(e->region, "%s_in%d_code", m->name, i));
        if (m->input[i].rows)
            ac_c_name_take(names, ac_strf(e->region, "%s_in%d_row", m->name, i));
    }
    for (int32_t i = 0; i < m->n_outputs; i++) {
        ac_c_name_take(names, ac_strf(e->region, "%s_out%d", m->name, i));
        ac_c_name_take(names, ac_strf(e->region, "%s_out%d_text", m->name, i));
    }
    for (int32_t i = 0; i < m->n_calls; i++)
        if (ac_emit_has_part(m, i))
            ac_c_name_take(names, ac_strf(e->region, "%s_part%d", m->name, i));
    AC_TRY(ac_emit_take_custom(m, names));
    for (int32_t i = 0; i < m->n_fn; i++)
        e->fn[i] = ac_c_name_take(names, ac_strf(e->region, "%s_%s", m->name, m->fn[i]->name));
    return AC_OK;
}

const char *ac_emit_steps(const ac_emit *e, int32_t fn)
{
    enum { LINE = 100 };
    const ac_module *m = e->m;
    ac_sink comment;
    ac_sink_open(&comment, m->cx);
    int32_t calls = 0;
    size_t line = 0; /* where the last one begins */
    for (int32_t i = 0; i < m->n_calls; i++) {
        if (m->call[i].fn != fn)
            continue;
        if (!calls++) {
            ac_putf(&comment, " * step %s: %s", ac_emit_step_title(e, i), ac_emit_shapes(e, &m->call[i], !m->sizes));
            continue;
        }
        const bool full = comment.n - line > LINE;
        ac_put(&comment, calls == 2 ? "\n * also step " : full ? ",\n * " : ", ");
        if (calls == 2 || full)
            line = comment.n;
        ac_putf(&comment, "%d", i);
    }
    return calls ? ac_sink_text(&comment) : NULL;
}

/* The function with short names in its notes. */
static const ac_loop_fn *with_short_notes(const ac_emit *e, const ac_loop_fn *fn)
{
    if (!e->names)
        return fn;
    ac_loop_fn *same = AC_NEW(e->region, ac_loop_fn);
    *same = *fn;
    same->note = fn->note ? ac_emit_short_note(e, fn->note) : NULL;
    same->buf.item = AC_NEW_N(e->region, ac_buf, fn->buf.n + 1);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        same->buf.item[i] = fn->buf.item[i];
        same->buf.item[i].note = fn->buf.item[i].note ? ac_emit_short_note(e, fn->buf.item[i].note) : NULL;
    }
    return same;
}

static int print_functions(ac_emit *e, ac_sink *to)
{
    const ac_module *m = e->m;
    const char *section = ac_strf(e->region, "%s_SECTION_FAST", e->file.upper);
    for (int32_t f = 0; f < m->n_fn; f++) {
        const ac_csig sig = {.name = e->fn[f],
                             .comment = ac_emit_steps(e, f),
                             .restricted = ac_module_restricted(m, f),
                             .section = section};
        AC_TRY(ac_c_print_fn(&e->file, with_short_notes(e, m->fn[f]), &sig, to));
    }
    return AC_OK;
}

static void print_consts(ac_emit *e, ac_cnames *names)
{
    const ac_module *m = e->m;
    if (e->weights == AC_WEIGHTS_ASM)
        ac_emit_asm(e);
    if (e->weights != AC_WEIGHTS_RODATA && m->n_konst) {
        ac_put(e->to, "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
                      "#error \"the weights are little-endian: compile the model with --weights rodata\"\n"
                      "#endif\n\n");
        return;
    }
    int32_t *twin = ac_consts_twins(m, true);
    for (int32_t i = 0; i < m->n_konst; i++) {
        const char *hint = m->konst[i]->name && *m->konst[i]->name ? m->konst[i]->name : "const";
        if (twin[i] < i)
            e->konst[i] = e->konst[twin[i]];
        else if (m->konst_name && m->konst_name[i])
            ac_emit_rodata(e, i, m->konst_name[i]);
        else
            ac_emit_rodata(e, i, ac_c_name_take(names, ac_strf(e->region, "%s_%s", m->name, hint)));
    }
}

/* State `io` takes its first value. */
static void put_copy(const ac_emit *e, ac_sink *to, const ac_io *io, const char *value)
{
    const unsigned long long at = (unsigned long long)io->offset;
    const long long n = (long long)io->bytes;
    if (ac_c_strict(&e->file))
        ac_putf(to, "    (void)memcpy(&state[0x%04llx], (const uint8_t *)(const void *)%s, %lldu);\n", at, value, n);
    else
        ac_putf(to, "    memcpy(state + 0x%04llx, %s, %lldu);\n", at, value, n);
}

int ac_emit_reset(ac_emit *e, ac_cnames *names)
{
    const ac_module *m = e->m;
    ac_region *r = e->region;
    if (!m->state_bytes)
        return AC_OK;
    ac_sink copies;
    ac_sink_open(&copies, m->cx);
    ac_module one = *m; /* a module of one constant at a time: the first values of state */
    ac_emit first = *e;
    first.m = &one;
    for (int32_t i = 0; i < m->n_states; i++) {
        const ac_tensor *t = m->state[i].tensor;
        if (!t->data && !t->lazy)
            continue;
        ac_tensor *force = AC_NEW(r, ac_tensor);
        *force = *t;
        force->state = false; /* as the constant that it starts as */
        ac_const *k = AC_NEW(r, ac_const);
        *k = (ac_const){.dtype = t->dtype, .count = ac_tensor_count(t), .data = ac_tensor_force(m->cx, force)};
        if (!k->data)
            return AC_FAIL;
        one.konst = &k;
        one.n_konst = 1;
        first.konst = AC_NEW_N(r, const char *, 1);
        ac_emit_rodata(&first, 0, ac_c_name_take(names, ac_strf(r, "%s_%s_first", m->name, t->name)));
        put_copy(e, &copies, &m->state[i], first.konst[0]);
    }
    ac_putf(e->to, "void %s_reset(const %s_mem *m)\n{\n", m->name, m->name);
    if (copies.n)
        ac_put(e->to, "    uint8_t *const state = (uint8_t *)m->state;\n");
    ac_putf(e->to, "    %smemset(m->state, 0, %s_STATE_BYTES);\n", ac_c_strict(&e->file) ? "(void)" : "",
            e->file.upper);
    ac_put_n(e->to, copies.text, copies.n);
    ac_put(e->to, "}\n\n");
    return AC_OK;
}

static void check_aligned(ac_emit *e, const char *what, const char *align)
{
    const bool strict = ac_c_strict(&e->file);
    ac_putf(e->to,
            strict ? "    if ((m->%s == NULL) || (((uintptr_t)m->%s %% %s_%s_ALIGN) != 0u))\n"
                   : "    if (m->%s == NULL || (uintptr_t)m->%s %% %s_%s_ALIGN != 0)\n",
            what, what, e->file.upper, align);
    ac_putf(e->to, "        return %s_EALIGN;\n", e->file.upper);
}

int ac_emit_init(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name, *U = e->file.upper;
    bool blob = e->weights == AC_WEIGHTS_BLOB && m->n_konst;
    if (blob) {
        uint8_t header[AC_BLOB_HEADER];
        AC_TRY(ac_blob_head(m, header));
        ac_putf(e->to,
                "/* How the weights of this code begin: magic, version, size, checksum. */\n"
                "static const uint8_t %s_header[%d] = {\n   ",
                p, AC_BLOB_CHECKED);
        for (int i = 0; i < AC_BLOB_CHECKED; i++)
            ac_putf(e->to, "%s %d%s", i == 16 ? "\n   " : "", header[i], i + 1 < AC_BLOB_CHECKED ? "," : "\n};\n\n");
    }
    ac_putf(e->to, "int %s_init(const %s_mem *m%s)\n{\n", p, p, m->sizes ? ", int32_t n" : "");
    if (m->sizes)
        ac_putf(e->to, "    if (n < %s_MIN || n > %s_MAX)\n        return %s_EDIM;\n", U, U, U);
    if (m->arena_bytes || m->state_bytes || blob)
        ac_putf(e->to, "    if (m == NULL)\n        return %s_EALIGN;\n", U);
    if (blob)
        ac_put(e->to, "    const uint8_t *const weights = (const uint8_t *)m->weights;\n    int i;\n");
    for (int32_t i = 0; i < m->n_ram; i++)
        if (m->ram[i].bytes)
            check_aligned(e, m->ram[i].name, ac_emit_ram_upper(m, i));
    if (m->state_bytes)
        check_aligned(e, "state", ac_emit_ram_upper(m, 0));
    if (blob)
        ac_putf(e->to,
                "    if (weights == NULL || (uintptr_t)m->weights %% 64u != 0)\n"
                "        return %s_EWEIGHTS;\n"
                "    for (i = 0; i < %d; i++)\n"
                "        if (weights[i] != %s_header[i])\n"
                "            return %s_EWEIGHTS;\n",
                U, AC_BLOB_CHECKED, p, U);
    if (m->state_bytes)
        ac_putf(e->to, "    %s_reset(m);\n", p);
    if (!m->arena_bytes && !m->state_bytes && !blob)
        ac_put(e->to, "    (void)m;\n");
    ac_putf(e->to, "    return %s_OK;\n}\n\n", U);
    return AC_OK;
}

/* Outputs that are constants are not in the arena. */
static void print_const_outputs(ac_emit *e)
{
    const ac_module *m = e->m;
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        bool input = i < m->n_inputs;
        const ac_io *io = input ? &m->input[i] : &m->output[i - m->n_inputs];
        if (io->space != AC_SPACE_CONST)
            continue;
        ac_putf(e->to, "const %s *%s_%s%d(const %s_mem *m)\n{\n", ac_dtype_c(io->tensor->dtype), m->name,
                input ? "in" : "out", input ? i : i - m->n_inputs, m->name);
        if (e->weights == AC_WEIGHTS_BLOB)
            ac_put(e->to, "    const uint8_t *const weights = (const uint8_t *)m->weights;\n");
        else
            ac_putf(e->to, "    (void)m;\n");
        const char *at =
            ac_emit_place(e, (ac_bound_arg){.space = AC_SPACE_CONST, .offset = io->offset}, io->tensor->dtype);
        if (e->weights == AC_WEIGHTS_ASM)
            ac_putf(e->to, "    const uint8_t *const weights = %s_blob;\n", ac_emit_blob_of(m));
        ac_putf(e->to, "    return %s;\n}\n\n", at);
    }
}

/* The macro NAME_SECTION_which: the section that an option names, or nothing; a definition by the user has priority. */
static void put_section(ac_emit *e, const char *which, const char *section)
{
    const char *U = e->file.upper;
    const char *attribute =
        section ? ac_strf(e->region, " __attribute__((section(\"%s\")))", ac_c_string_text(e->region, section)) : "";
    ac_putf(e->to, "#ifndef %s_SECTION_%s\n#define %s_SECTION_%s%s\n#endif\n", U, which, U, which, attribute);
}

/* Hooks are called through a function: compilers take time quadratic in the branches that inline hooks would add. */
static void print_hook(ac_emit *e, const char *verb, const char *macro)
{
    const char *p = e->m->name, *U = e->file.upper;
    ac_putf(e->to,
            "#if defined(__GNUC__) || defined(__clang__)\n__attribute__((noinline))\n#endif\n"
            "static void %s_hook_%s(const struct arn_hook *hook, int32_t step)\n{\n"
            "    if (hook && hook->%s)\n        hook->%s(hook->user, step);\n}\n\n"
            "#define %s_STEP_%s(i) %s_hook_%s(hook, (i))\n",
            p, verb, verb, verb, U, macro, p, verb);
}

static void print_macros(ac_emit *e, ac_sink *functions)
{
    const char *U = e->file.upper;
    if (e->m->hooks && e->m->n_calls) {
        print_hook(e, "begin", "BEGIN");
        print_hook(e, "end", "END");
    } else if (e->m->host) {
        ac_putf(e->to, "#define %s_STEP_BEGIN(i) ((void)0)\n#define %s_STEP_END(i) ((void)0)\n", U, U);
    } else {
        ac_putf(e->to,
                "/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see "
                "-include. */\n"
                "#ifndef %s_STEP_BEGIN\n#define %s_STEP_BEGIN(i) ((void)0)\n#endif\n"
                "#ifndef %s_STEP_END\n#define %s_STEP_END(i) ((void)0)\n#endif\n",
                U, U, U, U);
    }
    ac_put(e->to, "/* Where weights and code go: an attribute such as __attribute__((section(\".itcm\"))). */\n");
    put_section(e, "RODATA", e->m->section_rodata);
    put_section(e, "FAST", e->m->section_code);
    if (functions->n && strstr(ac_sink_text(functions), "_NOINLINE"))
        ac_putf(e->to,
                "/* Steps stay functions of their own: put into %s_run they share its registers, and spill. */\n"
                "#ifndef %s_NOINLINE\n#if defined(__GNUC__) || defined(__clang__)\n"
                "#define %s_NOINLINE __attribute__((noinline))\n#else\n#define %s_NOINLINE\n#endif\n#endif\n",
                e->m->name, U, U, U);
    ac_put(e->to, "\n");
}

/* Inserts at `at` the #include lines of the text from there on. Constants, from `consts` to `code`, need none. */
static void put_includes(ac_sink *to, size_t at, size_t consts, size_t code)
{
    bool need[AC_C_HEADERS] = {0};
    ac_c_find_headers(to->text + at, consts - at, need);
    ac_c_find_headers(to->text + code, to->n - code, need);
    ac_region *r = to->cx->region;
    ac_sink_insert(to, at, ac_strf(r, "\n%s\n%s", ac_c_includes(r, need), ac_c_demands(r, need)));
}

static int print_source(ac_module *m, const char *header_name, const char *blob_name, ac_sink *to)
{
    ac_region *r = m->cx->region;
    ac_emit e = {.m = m, .region = r, .to = to, .weights = ac_module_weights(m), .blob_name = blob_name};
    ac_cfile_open(&e.file, m->cx, &ac_dialect_c, m->target, m->name);
    e.file.share = m->share;
    e.names = m->target->firmware ? ac_emit_short_names(m) : NULL;
    e.fn = AC_NEW_N(r, const char *, m->n_fn + 1);
    e.konst = AC_NEW_N(r, const char *, m->n_konst + 1);
    e.offset = AC_NEW_N(r, ac_bytes, m->n_konst + 1);
    AC_TRY(ac_consts_make(m));
    ac_consts_layout(m, e.offset, &e.total);
    ac_cnames names;
    AC_TRY(ac_emit_take_names(&e, &names));
    ac_sink functions;
    ac_sink_open(&functions, m->cx);
    AC_TRY(print_functions(&e, &functions));

    ac_putf(to, "/* %s.c - made by arenac %s from %s", m->name, m->version, ac_c_comment_text(r, m->source));
    if (m->options && *m->options)
        ac_putf(to, "; options: %s", ac_c_comment_text(r, m->options));
    ac_putf(to, "\n * Compile without -ffast-math. The API is in %s. */\n#include \"%s\"\n",
            ac_c_comment_text(r, header_name), header_name);
    const size_t includes = to->n;
    ac_putc(to, '\n');
    if (m->host)
        ac_emit_host_types(&e);
    print_macros(&e, &functions);
    if (ac_c_strict(&e.file) && functions.n && strstr(ac_sink_text(&functions), " >> "))
        ac_put(to,
               "#if ((-1) >> 1) != (-1)\n#error \"right shifts of negative numbers must be arithmetic\"\n#endif\n\n");
    ac_c_print_prologue(&e.file, to);
    const size_t consts = to->n;
    print_consts(&e, &names);
    const size_t code = to->n;
    ac_put_n(to, functions.text, functions.n);
    AC_TRY(ac_emit_reset(&e, &names));
    AC_TRY(ac_emit_init(&e));
    if (m->check_weights)
        AC_TRY(ac_emit_check_weights(&e));
    ac_emit_parts(&e);
    if (m->sizes)
        ac_emit_sizes(&e);
    else
        ac_emit_run(&e);
    print_const_outputs(&e);
    if (m->host)
        ac_emit_host_model(&e);
    if (m->caller_io)
        ac_emit_host_api(&e);
    put_includes(to, includes, consts, code);
    return AC_OK;
}

int ac_emit_source(ac_module *m, const char *header_name, const char *blob_name, ac_sink *to)
{
    if (!m->target->firmware)
        return print_source(m, header_name, blob_name, to);
    ac_sink text, braced;
    ac_sink_open(&text, m->cx);
    ac_sink_open(&braced, m->cx);
    AC_TRY(print_source(m, header_name, blob_name, &text));
    ac_emit_braced(&text, &braced);
    ac_emit_fitted(&braced, to);
    return AC_OK;
}
