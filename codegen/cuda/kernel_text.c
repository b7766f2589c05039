/* kernel_text.c - CUDA as a dialect of the C printer.
 *
 * Grid, cluster and block loops are the numbers of blocks and threads; elements of one thread are an array in
 * registers, vectors are loaded and stored whole and split into lanes, and words of four bytes go into dp4a.
 *
 *     load f32x4 x[i]            *(const f32x4 *)(x + i)           lane 2 of it: x0.v[2]
 *     bitcast i32 of i8x4 the word itself                 dot4 of such: dp4a(a, b, c)
 *     mma f16 acc[..] ..         mma_f16(&acc[0], &words[0], &words[4]), a function around PTX's instruction */
#include "codegen/c/dialect.h"
#include "codegen/cuda/cuda.h"

#include <math.h>
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

/* Words to words. */
static bool is_word_cast(const ac_ins *i, const ac_ins *a)
{
    if (!is_word(i) && i->dtype != AC_I32)
        return false;
    return (is_word(a) && i->lanes * ac_dtype_bits((ac_dtype)i->dtype) == 32) ||
           (a->dtype == AC_I32 && a->lanes * 4 == i->lanes && a->lanes == 1) ||
           (a->dtype == AC_I8 && a->op == AC_L_LOAD && a->lanes == 16 && i->lanes == 4);
}

/* A vector that is moved whole to floats, or back. */
static bool is_block_cast(const ac_ins *i, const ac_ins *a)
{
    const bool halves = (i->dtype == AC_F32 && ac_dtype_is_half((ac_dtype)a->dtype)) ||
                        (a->dtype == AC_F32 && ac_dtype_is_half((ac_dtype)i->dtype));
    return i->op == AC_L_CAST && halves && (i->lanes == 4 || i->lanes == 8);
}

static bool fits(const ac_loop_fn *fn, const ac_ins *i)
{
    const ac_ins *a = &fn->code.item[i->a], *b = &fn->code.item[i->b];
    const ac_lop op = (ac_lop)i->op;
    if (op == AC_L_LOAD || op == AC_L_STORE)
        return is_word(i) || is_block((ac_dtype)i->dtype, i->lanes);
    if (op == AC_L_BITCAST)
        return is_word_cast(i, a);
    if (op == AC_L_CAST)
        return is_block_cast(i, a);
    if (op == AC_L_CONST || op == AC_L_SELECT)
        return (is_word(i) || is_block((ac_dtype)i->dtype, i->lanes)) && (op == AC_L_CONST || a->lanes == 1);
    if (op == AC_L_LANE)
        return is_block((ac_dtype)a->dtype, a->lanes) || is_block_cast(a, &fn->code.item[a->a]);
    if (ac_cuda_joins(i))
        return is_block((ac_dtype)i->dtype, i->lanes);
    return op == AC_L_DOT4 && i->lanes == 1 && a->dtype == AC_I8 && b->dtype == AC_I8;
}

static bool fits_all(const ac_loop_fn *fn)
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
    if (!ac_c_have(F, name))
        ac_putf(&F->types, "typedef struct ARN_ALIGNED(%d) {\n    %s v[%d];\n} %s;\n", ac_dtype_bits(d) * lanes / 8,
                ac_dtype_c(d), lanes, name);
    return name;
}

/* Of a local that holds such a vector. Bytes are held as words. */
static const char *vector_type(ac_cfile *F, ac_dtype d, int32_t lanes)
{
    const bool bytes = d == AC_I8 || d == AC_U8;
    return bytes && lanes == 4 ? "int32_t" : block_type(F, bytes ? AC_I32 : d, bytes ? lanes / 4 : lanes);
}

static bool is_spread(const ac_cfn *f, const ac_ins *i)
{
    return f->fn->buf.item[i->aux].where == AC_WHERE_SPREAD;
}

static const char *number(ac_cfn *f, ac_x x, int64_t k)
{
    return x ? f->val[x].e.text : ac_strf(f->file->region, "%lld", (long long)k);
}

/* "h + (i)"; in a part of another block: "ARN_OF(float, h, rank) + (i)". */
static const char *address(ac_cfn *f, const ac_ins *i)
{
    ac_region *r = f->file->region;
    const char *name = f->buf[i->aux];
    const ac_buf *b = &f->fn->buf.item[i->aux];
    ac_spread_place p;
    if (!is_spread(f, i))
        return ac_strf(r, "%s + (%s)", name, f->val[i->a].e.text);
    const long long share = (long long)(b->count / f->sig->cluster);
    if (!ac_spread_place_of(f->fn, i->aux, i->a, &p))
        return ac_strf(r, "ARN_OF(%s, %s, (%s) / %lld) + (%s) %% %lld", ac_dtype_c(b->dtype), name, f->val[i->a].e.text,
                       share, f->val[i->a].e.text, share);
    const char *at = number(f, p.at, p.at_k);
    return p.own ? ac_strf(r, "%s + (%s)", name, at)
                 : ac_strf(r, "ARN_OF(%s, %s, %s) + (%s)", ac_dtype_c(b->dtype), name, number(f, p.rank, p.rank_k), at);
}

static ac_cexpr at(ac_cfn *f, const ac_ins *i, const char *type, bool constant)
{
    return ac_c_atom(ac_strf(f->file->region, "*(%s%s *)(%s)", constant ? "const " : "", type, address(f, i)));
}

/* "acc[3]", "acc[i * 8 + j]"; mask: of the neighbour that owns the element. */
static const char *element(ac_cfn *f, int32_t buf, ac_x index, int32_t *mask)
{
    int64_t constant;
    ac_x k;
    if (!ac_thread_element(f->fn, index, &constant, &k, mask) || (*mask && k))
        return NULL;
    return k ? ac_strf(f->file->region, "%s[%s]", f->buf[buf], f->val[k].e.text)
             : ac_strf(f->file->region, "%s[%lld]", f->buf[buf], (long long)constant);
}

static const char *own(ac_cfn *f, const ac_ins *i)
{
    int32_t mask;
    const char *text = element(f, i->aux, i->a, &mask);
    if (!text || !mask)
        return text;
    return ac_strf(f->file->region, "shfl_xor_%s(%s, %d)", ac_dtype_name((ac_dtype)i->dtype), text, mask);
}

/* The warp's product as a function: PTX's own instruction on a GPU, arn_cuda_emu.h's without. */
static const char *mma_function(ac_cfile *F, ac_dtype d)
{
    static const struct {
        ac_dtype type;
        const char *name, *shape, *types, *sum, *letter;
    } ROWS[] = {{AC_I8, "mma_i8", "m16n8k32", "s32.s8.s8.s32", "int32_t", "r"},
                {AC_F16, "mma_f16", "m16n8k16", "f32.f16.f16.f32", "float", "f"},
                {AC_BF16, "mma_bf16", "m16n8k16", "f32.bf16.bf16.f32", "float", "f"},
                {AC_F32, "mma_tf32", "m16n8k8", "f32.tf32.tf32.f32", "float", "f"}};
    size_t k = 0;
    while (ROWS[k].type != d)
        k++;
    const char *c = ROWS[k].letter;
    if (!ac_c_have(F, ROWS[k].name))
        ac_putf(
            &F->helpers,
            "#if !defined(ARN_CUDA_EMU)\n"
            "/* A warp's product: 4 of the 16 x 8 sums of each thread += 16 x 8 words of a by 8 x 8 words of b. */\n"
            "static void %s(%s *c, const int32_t *a, const int32_t *b)\n{\n"
            "    asm(\"mma.sync.aligned.%s.row.col.%s {%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%0, "
            "%%1, "
            "%%2, %%3};\"\n"
            "        : \"+%s\"(c[0]), \"+%s\"(c[1]), \"+%s\"(c[2]), \"+%s\"(c[3])\n"
            "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n}\n#endif\n",
            ROWS[k].name, ROWS[k].sum, ROWS[k].shape, ROWS[k].types, c, c, c, c);
    return ROWS[k].name;
}

static const char *mma(ac_cfn *f, ac_x x)
{
    const ac_ins *i = c_ins(f, x);
    int32_t mask[3];
    const char *to = element(f, i->aux, i->a, &mask[0]), *a = element(f, (int32_t)i->k.i, i->b, &mask[1]),
               *b = element(f, (int32_t)i->k.i, i->c, &mask[2]);
    if (!to || !a || !b)
        return NULL;
    return ac_strf(f->file->region, "%s(&%s, &%s, &%s);", mma_function(f->file, (ac_dtype)i->dtype), to, a, b);
}

/* "f32x8_from_f16x8", lane by lane. */
static const char *block_cast(ac_cfile *F, const ac_ins *i, const ac_ins *a)
{
    const ac_dtype to_type = (ac_dtype)i->dtype, from_type = (ac_dtype)a->dtype;
    const char *to = block_type(F, to_type, i->lanes), *from = block_type(F, from_type, i->lanes),
               *one = ac_c_helper(F, ac_internf(F->cx, "%s_from_%s", ac_dtype_name(to_type), ac_dtype_name(from_type))),
               *name = ac_internf(F->cx, "%s_from_%s", to, from);
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers,
                "static %s %s(%s x)\n{\n    %s y;\n    ARN_UNROLL\n    for (int i = 0; i < %d; i++)\n"
                "        y.v[i] = %s(x.v[i]);\n    return y;\n}\n",
                to, name, from, to, i->lanes, one);
    return name;
}

/* One number in all lanes; bytes as words. */
static ac_cexpr block_const(ac_cfile *F, const ac_ins *i)
{
    const bool bytes = i->dtype == AC_I8 || i->dtype == AC_U8;
    ac_ins one = *i;
    one.lanes = 1;
    one.k.i = bytes ? (int32_t)((uint32_t)(i->k.i & 255) * 0x01010101U) : i->k.i;
    const ac_dtype d = bytes ? AC_I32 : (ac_dtype)i->dtype;
    const ac_cexpr e = ac_c_const(F, d, &one);
    if (is_word(i))
        return e;
    const char *type = vector_type(F, (ac_dtype)i->dtype, i->lanes), *name = ac_internf(F->cx, "%s_of", type);
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers,
                "static %s %s(%s x)\n{\n    %s y;\n    ARN_UNROLL\n    for (int i = 0; i < %d; i++)\n"
                "        y.v[i] = x;\n    return y;\n}\n",
                type, name, ac_dtype_c(d), type, bytes ? i->lanes / 4 : i->lanes);
    return ac_c_call(F->region, name, e);
}

static ac_cexpr value(ac_cfn *f, ac_x x)
{
    ac_cfile *F = f->file;
    const ac_ins *i = c_ins(f, x), *a = i->a ? c_ins(f, i->a) : i;
    if (i->op == AC_L_LOAD && f->fn->buf.item[i->aux].where == AC_WHERE_THREAD) {
        const char *text = own(f, i);
        return text ? ac_c_atom(text) : (ac_cexpr){0};
    }
    if (i->op == AC_L_LOAD && is_word(i))
        return at(f, i, "int32_t", true);
    if (i->op == AC_L_LOAD && i->lanes > 1) {
        return at(f, i, vector_type(F, (ac_dtype)i->dtype, i->lanes), true);
    }
    if (i->op == AC_L_LOAD && is_spread(f, i))
        return ac_c_atom(ac_strf(F->region, "*(%s)", address(f, i)));
    if (i->op == AC_L_BITCAST && (i->lanes > 1 || a->lanes > 1))
        return f->val[i->a].e;
    if (i->op == AC_L_LANE && a->lanes > 1)
        return ac_c_atom(ac_strf(F->region, "%s.v[%d]", f->val[i->a].e.text, i->aux));
    if (i->op == AC_L_CONST && i->lanes > 1)
        return block_const(F, i);
    if (i->op == AC_L_SELECT && i->lanes > 1)
        return ac_c_cond(F->region, f->val[i->a].e, f->val[i->b].e, f->val[i->c].e);
    if (i->op == AC_L_CAST && i->lanes > 1)
        return ac_c_call(F->region, block_cast(F, i, a), f->val[i->a].e);
    if (ac_cuda_joins(i))
        return ac_cuda_join(f, x, vector_type(F, (ac_dtype)i->dtype, i->lanes));
    if (i->op == AC_L_DOT4)
        return ac_c_call3(F->region, "dp4a", f->val[i->a].e, f->val[i->b].e, f->val[i->c].e);
    return (ac_cexpr){0};
}

/* Bytes that a block gets in the phase of cluster loop x, or of store x; 0: blocks wait for each other. */
static int64_t mail_at(const ac_cfn *f, ac_x x)
{
    ac_cuda_mails *m = f->sig->cluster ? f->sig->mail : NULL;
    if (m && m->fn != f->fn)
        *m = (ac_cuda_mails){f->fn, ac_cuda_mail(f->fn, f->file->region)};
    return m && m->bytes ? m->bytes[x] : 0;
}

/* "arn_send_f32(h + (i), rank, v);" */
static const char *send(ac_cfn *f, ac_x x)
{
    const ac_ins *i = c_ins(f, x), *v = c_ins(f, i->b);
    const ac_buf *b = &f->fn->buf.item[i->aux];
    ac_region *r = f->file->region;
    ac_spread_place p;
    ac_spread_place_of(f->fn, i->aux, i->a, &p);
    const bool bytes = b->dtype == AC_I8 || b->dtype == AC_U8;
    const char *at = number(f, p.at, p.at_k), *rank = number(f, p.rank, p.rank_k),
               *type = bytes ? "i32" : ac_dtype_name(b->dtype);
    if (bytes && v->lanes == 4)
        return ac_strf(r, "arn_send_i32(%s + (%s), %s, %s);", f->buf[i->aux], at, rank, f->val[i->b].e.text);
    if (v->lanes == 1)
        return ac_strf(r, "arn_send_%s(%s + (%s), %s, %s);", type, f->buf[i->aux], at, rank,
                       ac_c_exact(f->file, f->val[i->b].e, b->dtype).text);
    return ac_strf(r, "arn_send_%sx4(%s + (%s), %s, %s, %s, %s, %s);", type, f->buf[i->aux], at, rank,
                   ac_cuda_lane_text(f, i->b, 0), ac_cuda_lane_text(f, i->b, 1), ac_cuda_lane_text(f, i->b, 2),
                   ac_cuda_lane_text(f, i->b, 3));
}

static const char *store(ac_cfn *f, ac_x x)
{
    const ac_ins *i = c_ins(f, x), *v = c_ins(f, i->b);
    const ac_buf *b = &f->fn->buf.item[i->aux];
    if (i->flags & AC_F_LATE)
        return ac_cuda_late(f, x);
    if (mail_at(f, x))
        return send(f, x);
    if (b->where != AC_WHERE_THREAD && !is_spread(f, i) && v->lanes == 1)
        return NULL;
    ac_region *r = f->file->region;
    const char *to = b->where == AC_WHERE_THREAD ? own(f, i)
                     : v->lanes == 1             ? ac_strf(r, "*(%s)", address(f, i))
                                     : at(f, i, vector_type(f->file, (ac_dtype)v->dtype, v->lanes), false).text;
    ac_cexpr e = f->val[i->b].e;
    if (v->lanes == 1)
        e = ac_c_exact(f->file, e, b->dtype);
    return ac_strf(r, "%s = %s;", to, e.text);
}

static const char *statement(ac_cfn *f, ac_x x)
{
    return c_ins(f, x)->op == AC_L_MMA ? mma(f, x) : store(f, x);
}

/* Indices of a thread's own elements need no name, nor do loops that nothing else uses; vectors loaded as a whole get
 * one. */
static void review(const ac_loop_fn *fn, ac_cuse *use, ac_region *r)
{
    int32_t *others = AC_NEW_N(r, int32_t, fn->code.n); /* users that need the value */
    for (ac_x x = fn->code.n - 1; x > 0; x--) {         /* users come after it */
        const ac_ins *i = &fn->code.item[x];
        int64_t constant;
        ac_x k;
        int32_t mask;
        ac_spread_place place;
        if (i->op == AC_L_LOAD && i->lanes * ac_dtype_bits((ac_dtype)i->dtype) > 32 && i->lanes > 1)
            use[x].join = false;
        use[x].unnamed = i->op == AC_L_FOR && !others[x];
        if (!use[x].live)
            continue;
        if ((i->op == AC_L_ADD || i->op == AC_L_MUL || i->op == AC_L_XOR) && !others[x]) {
            use[x].live = false; /* only an index */
            continue;
        }
        if (i->op == AC_L_MMA) {
            const ac_x at[3] = {i->a, i->b, i->c};
            for (int32_t n = 0; n < 3; n++)
                others[ac_thread_element(fn, at[n], &constant, &k, &mask) ? k : at[n]]++;
            continue;
        }
        ac_x from, cond;
        int32_t buf;
        if (i->op == AC_L_STORE && i->flags & AC_F_LATE && ac_late_copy(fn, i, &buf, &from, &cond)) {
            others[i->a]++;
            others[from]++;
            others[cond]++;
            continue;
        }
        if ((i->op == AC_L_LOAD || i->op == AC_L_SELECT || ac_cuda_joins(i)) && !others[x]) {
            use[x].live = false; /* only what a late store copies, or a part of a block */
            continue;
        }
        for (int32_t l = 0; l < i->lanes && ac_cuda_joins(i); l++) {
            int32_t lane = l;
            others[ac_cuda_lane(fn, x, &lane)]++;
        }
        if (ac_cuda_joins(i))
            continue;
        const bool access = i->op == AC_L_LOAD || i->op == AC_L_STORE;
        if (access && fn->buf.item[i->aux].where == AC_WHERE_THREAD &&
            ac_thread_element(fn, i->a, &constant, &k, &mask)) {
            others[k]++;
            others[i->b] += i->op == AC_L_STORE;
            continue;
        }
        if (access && fn->buf.item[i->aux].where == AC_WHERE_SPREAD && ac_spread_place_of(fn, i->aux, i->a, &place)) {
            others[place.own ? 0 : place.rank]++;
            others[place.at]++;
            others[i->b] += i->op == AC_L_STORE;
            continue;
        }
        others[i->a]++;
        others[i->b]++;
        others[i->c]++;
    }
}

static const char *local(const ac_cfn *f, const ac_buf *b, const char *name)
{
    ac_region *r = f->file->region;
    const int32_t i = (int32_t)(b - f->fn->buf.item);
    const long long part = (long long)(b->count / (b->where == AC_WHERE_SPREAD ? f->sig->cluster : 1));
    if (b->where == AC_WHERE_SHARED || b->where == AC_WHERE_SPREAD)
        return f->sig->shared_at ? ac_strf(r, "ARN_DYNAMIC(%s, %s, %lld, %lld);", ac_dtype_c(b->dtype), name, part,
                                           (long long)f->sig->shared_at[i])
                                 : ac_strf(r, "ARN_SHARED(%s, %s, %lld);", ac_dtype_c(b->dtype), name, part);
    const int64_t each = b->where == AC_WHERE_THREAD ? ac_thread_count(f->fn, i) * ac_thread_blocks(f->fn, i) : 1,
                  n = b->where == AC_WHERE_THREAD ? b->count / each : b->count;
    return ac_strf(r, "%s %s[%lld];", ac_dtype_c(b->dtype), name, (long long)n);
}

/* A loop that the threads of a GPU run: each takes its iteration. */
static bool is_thread(const ac_cfn *f, ac_x x)
{
    return c_ins(f, x)->aux >= AC_MARK_GRID;
}

/* The grid loop of clusters, or the loop over a cluster's blocks. */
static bool open_cluster(ac_cfn *f, ac_x x, const char *name)
{
    const bool grid = c_ins(f, x)->aux == AC_MARK_GRID;
    mail_at(f, x);
    if (grid && f->sig->mail->bytes)
        ac_c_line(f, "ARN_MAIL();");
    if (x == ac_cuda_cluster_begins(f->fn))
        ac_c_line(f, "arn_cluster_begin();");
    ac_c_line(f, "{");
    f->depth++;
    if (!f->use[x].unnamed)
        ac_c_line(f, "const int32_t %s = (int32_t)blockIdx.x %c %lld;", name, grid ? '/' : '%',
                  (long long)f->sig->cluster);
    f->val[x].e = ac_c_atom(name);
    return true;
}

static bool open_loop(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    if (!is_thread(f, x))
        return ac_cuda_open_lanes(f, x);
    const char *name = ac_c_name_take(&f->names, in->name ? in->name : "g"), *hi = f->val[in->b].e.text;
    if (in->aux != AC_MARK_BLOCK && f->sig->cluster)
        return open_cluster(f, x, name);
    const bool all = in->aux == AC_MARK_BLOCK && c_ins(f, in->b)->k.i == f->sig->threads;
    if (in->aux == AC_MARK_BLOCK)
        ac_c_line(f, "{");
    f->depth += in->aux == AC_MARK_BLOCK;
    const bool test = f->sig->flat || (in->aux == AC_MARK_BLOCK && !all); /* not all threads have an iteration */
    if (f->sig->flat)
        ac_c_line(f, "const int32_t %s = (int32_t)(blockIdx.x * %du + threadIdx.x);", name, f->sig->threads);
    else if (test || !f->use[x].unnamed)
        ac_c_line(f, "const int32_t %s = (int32_t)%s.x;", name, in->aux == AC_MARK_GRID ? "blockIdx" : "threadIdx");
    f->val[x].e = ac_c_atom(name);
    if (all)
        return true;
    ac_c_line(f, test ? "if (%s < %s) {" : "{", name, hi);
    f->depth++;
    return true;
}

static void close_loop(ac_cfn *f, ac_x x)
{
    if (c_ins(f, x)->aux == AC_MARK_CLUSTER && mail_at(f, x))
        ac_c_line(f, "arn_mail_wait(%lldu);", (long long)mail_at(f, x));
    else if (c_ins(f, x)->aux == AC_MARK_CLUSTER && ac_cuda_waits(f->fn, x))
        ac_c_line(f, "arn_cluster_wait();");
    const bool rounds = ac_cuda_rounds(f, x);
    if (c_ins(f, x)->aux != AC_MARK_BLOCK && !rounds)
        return;
    if (rounds || c_ins(f, c_ins(f, x)->b)->k.i != f->sig->threads) {
        f->depth--;
        ac_c_line(f, "}");
    }
    if (rounds)
        return;
    if (f->sig->cluster && x == ac_cuda_cluster_begins(f->fn))
        ac_c_line(f, "arn_cluster_begin();");
    ac_cuda_end_phase(f, x, ac_cuda_waits(f->fn, x));
}

static const ac_loop_fn *form(ac_cfile *F, const ac_loop_fn *fn)
{
    if (fits_all(fn))
        return fn;
    const ac_loop_fn *blocks = ac_loop_blocks(F->cx, fn);
    return fits_all(blocks) ? blocks : ac_c_form(F, fn);
}

static const char *head(const ac_cfn *f)
{
    if (f->sig->cluster)
        return ac_strf(f->file->region, "ARN_CLUSTER_KERNEL(%d, %lld) %s(", f->sig->threads, (long long)f->sig->cluster,
                       f->sig->name);
    return ac_strf(f->file->region, "ARN_KERNEL(%d) %s(", f->sig->threads, f->sig->name);
}

static ac_cexpr special(ac_cfile *F, double v, bool wide)
{
    const char *bits = wide       ? isnan(v) ? "UINT64_C(0x7ff8000000000000)" : "UINT64_C(0x7ff0000000000000)"
                       : isnan(v) ? "0x7fc00000u"
                                  : "0x7f800000u";
    ac_cexpr k = ac_c_call(F->region, ac_c_helper(F, wide ? "of_bits_f64" : "of_bits_f32"), ac_c_atom(bits));
    return v < 0 ? ac_c_unary(F->region, '-', k) : k;
}

/* ------------------------------------------------------------------ helpers */

/* Helpers that are CUDA functions. */
static const char *const NATIVE[][2] = {
    {"sqrt_f32", "__fsqrt_rn"},
    {"sqrt_f64", "__dsqrt_rn"},
    {"floor_f32", "floorf"},
    {"floor_f64", "floor"},
    {"ceil_f32", "ceilf"},
    {"ceil_f64", "ceil"},
    {"trunc_f32", "truncf"},
    {"trunc_f64", "trunc"},
    {"rint_f32", "rintf"},
    {"rint_f64", "rint"},
    {"abs_f32", "fabsf"},
    {"abs_f64", "fabs"},
    {"fma_f32", "fmaf"},
    {"fma_f64", "fma"},
    {"bits_of_f32", "__float_as_uint"},
    {"of_bits_f32", "__uint_as_float"},
};
enum { N_NATIVE = sizeof NATIVE / sizeof *NATIVE };

static const char *native(const char *helper)
{
    for (int i = 0; i < N_NATIVE; i++)
        if (!strcmp(NATIVE[i][0], helper))
            return NATIVE[i][1];
    return NULL;
}

/* Helpers are written in C: those for the GPU call the CUDA functions. */
static void put_renamed(ac_sink *to, const char *text)
{
    while (*text) {
        int i = 0;
        while (i < N_NATIVE && strncmp(text, NATIVE[i][0], strlen(NATIVE[i][0])))
            i++;
        const bool called = i < N_NATIVE && text[strlen(NATIVE[i][0])] == '(';
        ac_put(to, called ? NATIVE[i][1] : (char[2]){*text, 0});
        text += called ? strlen(NATIVE[i][0]) : 1;
    }
    ac_putc(to, '\n');
}

/* Helpers that are a PTX instruction on a GPU, and use their C text in the emulation. */
static void put_helper(ac_cfile *F, const char *name, const char *text)
{
    static const char *const PTX[][2] = {
        {"f16_from_f32", "static uint16_t f16_from_f32(float x)\n{\n    uint16_t h;\n"
                         "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n    return h;\n}\n"},
        {"f32_from_f16", "static float f32_from_f16(uint16_t h)\n{\n    float x;\n"
                         "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(h));\n    return x;\n}\n"},
    };
    ac_sink *to = &F->helpers;
    size_t i = 0;
    while (i < sizeof PTX / sizeof PTX[0] && strcmp(PTX[i][0], name))
        i++;
    const bool own = i < sizeof PTX / sizeof PTX[0];
    if (own)
        ac_putf(to, "#if !defined(ARN_CUDA_EMU)\n%s#else\n", PTX[i][1]);
    put_renamed(to, text);
    if (own)
        ac_put(to, "#endif\n");
}

const ac_dialect ac_dialect_cuda = {.restrict_word = "__restrict__",
                                    .unroll = "ARN_UNROLL",
                                    .status = "status",
                                    .only_used = true,
                                    .form = form,
                                    .review = review,
                                    .head = head,
                                    .local = local,
                                    .vector_type = vector_type,
                                    .special = special,
                                    .value = value,
                                    .statement = statement,
                                    .open_loop = open_loop,
                                    .close_loop = close_loop,
                                    .native = native,
                                    .put_helper = put_helper};
