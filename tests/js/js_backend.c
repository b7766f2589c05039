/* js_backend.c - the module as one ES module that needs nothing: a Model class with an arena, typed arrays for
 * inputs and outputs, and run(). */
#include "js.h"

#include "codegen/backend.h"
#include "codegen/constants.h"

static void put_base64(ac_sink *to, const uint8_t *p, ac_bytes n)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (ac_bytes i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0u);
        for (int k = 0; k < 4; k++)
            ac_putc(to, i + k > n ? '=' : DIGITS[v >> (18 - 6 * k) & 63]);
    }
}

/* Functions that JavaScript has no operator for. */
static const char HELPERS[] =
    "const word = new DataView(new ArrayBuffer(8));\n"
    "const half = {\n"
    "    bits(from, to, v) {\n"
    "        const b = new ArrayBuffer(8);\n"
    "        new globalThis[from](b)[0] = v;\n"
    "        return new globalThis[to](b)[0];\n"
    "    },\n"
    "    rint(x) { // ties to even\n"
    "        const t = Math.trunc(x), rest = Math.abs(x - t);\n"
    "        return !(rest > 0.5 || (rest === 0.5 && t % 2 !== 0)) ? t : x < 0 ? t - 1 : t + 1;\n"
    "    },\n"
    "    clamp_big(x, lo, hi) {\n"
    "        if (x !== x) return 0n;\n"
    "        const v = typeof x === \"bigint\" ? x : x === Infinity ? hi : x === -Infinity ? lo : "
    "BigInt(Math.trunc(x));\n"
    "        return v < lo ? lo : v > hi ? hi : v;\n"
    "    },\n"
    "    big_to_f32(v) { // rounded to odd before it is rounded to f32\n"
    "        const a = v < 0n ? -v : v;\n"
    "        const odd = a >> 53n ? (a >> 16n << 16n) | (a & 0xffffn ? 0x10000n : 0n) : a;\n"
    "        return Math.fround(Number(v < 0n ? -odd : odd));\n"
    "    },\n"
    "    from_bf16(h) { word.setUint32(0, h << 16); return word.getFloat32(0); },\n"
    "    to_bf16(x) {\n"
    "        word.setFloat32(0, x);\n"
    "        const b = word.getUint32(0);\n"
    "        return x !== x ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;\n"
    "    },\n"
    "    from_f16(h) {\n"
    "        const e = (h >> 10) & 31, m = h & 1023, s = h >> 15 ? -1 : 1;\n"
    "        return s * (e === 31 ? (m ? NaN : Infinity) : e ? 2 ** (e - 15) * (1 + m / 1024) : m * 2 ** -24);\n"
    "    },\n"
    "    to_f16(x) {\n"
    "        word.setFloat32(0, x);\n"
    "        const b = word.getUint32(0), s = (b >>> 16) & 0x8000, r = b & 0x7fffffff;\n"
    "        if (r >= 0x477ff000) return s | (r > 0x7f800000 ? 0x7e00 : 0x7c00);\n"
    "        if (r >= 0x38800000) return s | ((r - 0x38000000 + 0xfff + ((r >>> 13) & 1)) >>> 13);\n"
    "        word.setFloat32(0, Math.abs(x) + 0.5); // subnormal: the sum rounds\n"
    "        return s | (word.getUint32(0) - 0x3f000000);\n"
    "    },\n"
    "};\n\n";

static const char *place(const ac_module *m, const ac_bytes *offset, const ac_buf *b, const ac_bound_arg *a)
{
    static const char *const SPACES[] = {"this.arena", "this.state", "weights"};
    ac_bytes at = a->space == AC_SPACE_CONST ? offset[a->offset] : a->offset;
    return ac_strf(m->cx->region, "new %s(%s, %lld, %lld)", js_array(b->dtype), SPACES[a->space], (long long)at,
                   (long long)b->count);
}

static void put_tensors(ac_sink *to, const char *kind, const ac_io *io, int32_t n)
{
    ac_putf(to, "        this.%s = [", kind);
    for (int32_t i = 0; i < n; i++)
        ac_putf(to, "%snew %s(%s, %lld, %lld)", i ? ", " : "", js_array(io[i].tensor->dtype),
                io[i].space == AC_SPACE_STATE ? "this.state" : "this.arena", (long long)io[i].offset,
                (long long)ac_tensor_count(io[i].tensor));
    ac_put(to, "];\n");
}

static void put_class(const ac_module *m, const ac_bytes *offset, ac_sink *to)
{
    ac_putf(to,
            "export class Model {\n    constructor() {\n        this.arena = new ArrayBuffer(%lld);\n        "
            "this.state = new ArrayBuffer(%lld);\n",
            (long long)m->arena_bytes, (long long)m->state_bytes);
    put_tensors(to, "inputs", m->input, m->n_inputs);
    put_tensors(to, "outputs", m->output, m->n_outputs);
    ac_put(to, "        this.steps = [\n");
    for (int32_t i = 0; i < m->n_calls; i++) {
        const ac_call *c = &m->call[i];
        const ac_loop_fn *fn = m->fn[c->fn];
        ac_putf(to, "            [%s_%d", fn->name, c->fn);
        for (int32_t a = 0; a < c->n_arg && a < fn->buf.n; a++)
            ac_putf(to, ", %s", place(m, offset, &fn->buf.item[a], &c->arg[a]));
        ac_putf(to, "], // %s\n", c->op);
    }
    ac_put(to, "        ];\n    }\n\n    run() { // 0, or the status of the step that failed\n"
               "        for (const [step, ...args] of this.steps) {\n"
               "            const status = step(...args);\n            if (status) return status;\n        }\n"
               "        return 0;\n    }\n}\n");
}

static int emit(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to)
{
    (void)kind;
    (void)names;
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total;
    uint8_t *bytes;
    for (int32_t i = 0; i < m->n_states; i++)
        if (m->state[i].tensor->data || m->state[i].tensor->lazy)
            return ac_error(m->cx, (ac_place){0}, E0502,
                            "JavaScript is not printed for a state that does not begin as zero");
    AC_TRY(ac_blob_bytes(m, &bytes, &total));
    ac_consts_layout(m, offset, &total);
    ac_putf(to, "// made by arenac %s from %s\n%s", m->version, m->source, HELPERS);
    ac_put(to, "const weights = Uint8Array.from(atob(\"");
    put_base64(to, bytes, total);
    ac_put(to, "\"), (c) => c.charCodeAt(0)).buffer;\n\n");
    for (int32_t i = 0; i < m->n_fn; i++)
        AC_TRY(js_print_fn(m->cx, m->fn[i], ac_strf(m->cx->region, "%s_%d", m->fn[i]->name, i), to));
    put_class(m, offset, to);
    return AC_OK;
}

static const ac_emit_kind KINDS[] = {{"js", ".js", NULL, "an ES module"}, {NULL, NULL, NULL, NULL}};
static const ac_backend JS = {.abi = AC_BACKEND_ABI, .name = "js", .kinds = KINDS, .emit = emit};

__attribute__((visibility("default"))) const ac_backend *arenac_backend(void);
const ac_backend *arenac_backend(void)
{
    return &JS;
}
