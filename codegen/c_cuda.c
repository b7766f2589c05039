/* What kernels have beside the instructions of C: elements that are a thread's own are an array in registers, vectors
 * are loaded and stored whole and taken apart by lanes, and words of four bytes go into dp4a.
 *
 *     load f32x4 x[i]            *(const f32x4 *)(x + i)           lane 2 of it: x0.v[2]
 *     bitcast i32 of i8x4        the word as it is                 dot4 of such: dp4a(a, b, c) */
#include "codegen/c_print.h"

#include <string.h>

/* A vector that is moved whole. */
static bool is_block(ac_dtype d, int32_t lanes)
{
    const int32_t bits = ac_dtype_bits(d) * lanes;
    return d != AC_BOOL && (bits == 64 || bits == 128);
}

/* Four bytes in a register. */
static bool is_word(const ac_ins *i)
{
    return (i->dtype == AC_I8 || i->dtype == AC_U8) && i->lanes == 4;
}

static bool fits(const ac_loop_fn *fn, const ac_ins *i)
{
    const ac_ins *a = &fn->code.item[i->a], *b = &fn->code.item[i->b];
    switch ((int)i->op) {
    case AC_L_LOAD:
    case AC_L_STORE:
        return is_word(i) || is_block((ac_dtype)i->dtype, i->lanes);
    case AC_L_BITCAST: /* words to words */
        return (is_word(i) || i->dtype == AC_I32) &&
               ((is_word(a) && i->lanes * ac_dtype_bits((ac_dtype)i->dtype) == 32) ||
                (a->dtype == AC_I32 && a->lanes * 4 == i->lanes && a->lanes == 1) ||
                (a->dtype == AC_I8 && a->op == AC_L_LOAD && a->lanes == 16 && i->lanes == 4));
    case AC_L_LANE:
        return is_block((ac_dtype)a->dtype, a->lanes);
    case AC_L_DOT4:
        return i->lanes == 1 && a->dtype == AC_I8 && b->dtype == AC_I8;
    default:
        return false;
    }
}

bool c_cuda_vectors(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        const bool reads = i->a && ((i->op > AC_L_STORE && i->op < AC_L_FOR) || i->op == AC_L_STORE) &&
                           (fn->code.item[i->a].lanes > 1 || (i->b && fn->code.item[i->b].lanes > 1));
        if ((i->lanes > 1 || reads) && !fits(fn, i))
            return false;
    }
    return true;
}

static const char *block_type(ac_cfile *F, ac_dtype d, int32_t lanes)
{
    const char *name = ac_internf(F->cx, "%sx%d", ac_dtype_name(d), lanes);
    if (!c_have(F, name))
        ac_putf(&F->types, "typedef struct ARN_ALIGNED(%d) {\n    %s v[%d];\n} %s;\n", ac_dtype_bits(d) * lanes / 8,
                ac_dtype_c(d), lanes, name);
    return name;
}

/* Of a local that holds such a vector. Bytes are held as words. */
const char *c_cuda_type(ac_dtype d, int32_t lanes, ac_cfile *F)
{
    const bool bytes = d == AC_I8 || d == AC_U8;
    return bytes && lanes == 4 ? "int32_t" : block_type(F, bytes ? AC_I32 : d, bytes ? lanes / 4 : lanes);
}

static ac_cexpr at(ac_cfn *f, const ac_ins *i, const char *type, bool constant)
{
    const char *index = f->val[i->a].e.text;
    return c_atom(
        ac_strf(f->file->region, "*(%s%s *)(%s + (%s))", constant ? "const " : "", type, f->buf[i->aux], index));
}

/* "acc[3]", "acc[i * 8 + j]" */
static const char *own(ac_cfn *f, const ac_ins *i)
{
    int64_t constant;
    ac_x k;
    int32_t mask;
    if (!ac_thread_element(f->fn, i->a, &constant, &k, &mask))
        return NULL;
    if (mask && k)
        return NULL;
    if (mask)
        return ac_strf(f->file->region, "shfl_xor_%s(%s[%lld], %d)", ac_dtype_name((ac_dtype)i->dtype), f->buf[i->aux],
                       (long long)constant, mask);
    return k ? ac_strf(f->file->region, "%s[%s]", f->buf[i->aux], f->val[k].e.text)
             : ac_strf(f->file->region, "%s[%lld]", f->buf[i->aux], (long long)constant);
}

ac_cexpr c_cuda_value(ac_cfn *f, ac_x x)
{
    ac_cfile *F = f->file;
    const ac_ins *i = c_ins(f, x), *a = i->a ? c_ins(f, i->a) : i;
    if (i->op == AC_L_LOAD && f->fn->buf.item[i->aux].where == AC_WHERE_THREAD) {
        const char *text = own(f, i);
        return text ? c_atom(text) : (ac_cexpr){0};
    }
    if (i->op == AC_L_LOAD && is_word(i))
        return at(f, i, "int32_t", true);
    if (i->op == AC_L_LOAD && i->lanes > 1) {
        return at(f, i, c_cuda_type((ac_dtype)i->dtype, i->lanes, F), true);
    }
    if (i->op == AC_L_BITCAST && (i->lanes > 1 || a->lanes > 1))
        return f->val[i->a].e;
    if (i->op == AC_L_LANE && a->lanes > 1)
        return c_atom(ac_strf(F->region, "%s.v[%d]", f->val[i->a].e.text, i->aux));
    if (i->op == AC_L_DOT4)
        return c_call3(F->region, "dp4a", f->val[i->a].e, f->val[i->b].e, f->val[i->c].e);
    return (ac_cexpr){0};
}

bool c_cuda_store(ac_cfn *f, ac_x x, const char **statement)
{
    const ac_ins *i = c_ins(f, x), *v = c_ins(f, i->b);
    const ac_buf *b = &f->fn->buf.item[i->aux];
    if (b->where != AC_WHERE_THREAD && v->lanes == 1)
        return false;
    ac_region *r = f->file->region;
    const char *to = b->where == AC_WHERE_THREAD
                         ? own(f, i)
                         : at(f, i, c_cuda_type((ac_dtype)v->dtype, v->lanes, f->file), false).text;
    ac_cexpr e = f->val[i->b].e;
    if (v->lanes == 1)
        e = c_exact(f->file, e, b->dtype);
    *statement = ac_strf(r, "%s = %s;", to, e.text);
    return true;
}

void c_cuda_drop(const ac_loop_fn *fn, ac_cuse *use, ac_region *r)
{
    int32_t *others = AC_NEW_N(r, int32_t, fn->code.n); /* users that need the value */
    for (ac_x x = fn->code.n - 1; x > 0; x--) {         /* users stand behind */
        const ac_ins *i = &fn->code.item[x];
        int64_t constant;
        ac_x k;
        int32_t mask;
        if (!use[x].live)
            continue;
        if ((i->op == AC_L_ADD || i->op == AC_L_MUL || i->op == AC_L_XOR) && !others[x]) {
            use[x].live = false; /* only an index */
            continue;
        }
        const bool access = i->op == AC_L_LOAD || i->op == AC_L_STORE;
        if (access && fn->buf.item[i->aux].where == AC_WHERE_THREAD &&
            ac_thread_element(fn, i->a, &constant, &k, &mask)) {
            others[k]++;
            others[i->b] += i->op == AC_L_STORE;
            continue;
        }
        others[i->a]++;
        others[i->b]++;
        others[i->c]++;
    }
}

const char *c_cuda_local(ac_cfn *f, const ac_buf *b, const char *name, int32_t threads)
{
    ac_region *r = f->file->region;
    if (b->where == AC_WHERE_SHARED)
        return ac_strf(r, "ARN_SHARED(%s, %s, %lld);", ac_dtype_c(b->dtype), name, (long long)b->count);
    const int64_t n = b->where == AC_WHERE_THREAD ? b->count / threads : b->count;
    return ac_strf(r, "%s %s[%lld];", ac_dtype_c(b->dtype), name, (long long)n);
}

/* A phase that touches nothing but constants and what is a thread's own disturbs nobody; behind the last one is nobody.
 */
bool c_cuda_waits(const ac_loop_fn *fn, ac_x block_loop)
{
    int32_t depth = 0;
    bool touches = false;
    for (ac_x x = block_loop; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        depth += i->op == AC_L_FOR || i->op == AC_L_IF ? 1 : i->op == AC_L_END ? -1 : 0;
        const ac_buf *b = i->op == AC_L_LOAD || i->op == AC_L_STORE ? &fn->buf.item[i->aux] : NULL;
        touches |= b && b->role != AC_BUF_CONST && b->where != AC_WHERE_THREAD;
        if (!depth)
            return touches && !(x + 2 == fn->code.n); /* the grid loop's end is all that follows */
    }
    return true;
}
