/* product.c - products with constant weights, in one form: rows of weights times inputs gathered at positions. */
#include "quantize/net.h"

#include <string.h>

/* [groups, rows, depth] of a depthwise convolution, whose file has [taps, groups * rows]. */
static const float *by_group(ac_region *r, const float *w, int64_t groups, int64_t rows, int64_t taps)
{
    float *to = AC_NEW_N(r, float, groups *rows *taps + 1);
    for (int64_t o = 0; o < groups * rows; o++)
        for (int64_t t = 0; t < taps; t++)
            to[o * taps + t] = w[t * groups * rows + o];
    return to;
}

static void read_window(ac_qproduct *p, const ac_tensor *k)
{
    const ac_tensor *x = p->x, *y = p->y;
    p->kh = k->dim[1];
    p->kw = k->dim[2];
    p->ih = x->dim[1];
    p->iw = x->dim[2];
    p->oh = y->dim[1];
    p->ow = y->dim[2];
    p->positions = x->dim[0] * p->oh * p->ow;
}

static bool read_conv(ac_qnet *q, ac_qproduct *p, ac_tensor *k, const float *w)
{
    const int64_t taps = k->dim[1] * k->dim[2];
    if (k->rank != 4 || p->x->rank != 4 || p->x->dim[0] != p->y->dim[0])
        return false;
    read_window(p, k);
    p->channels = p->x->dim[3];
    p->taps = taps;
    if (p->kind == AC_QDEPTHWISE) {
        p->groups = p->channels;
        p->rows = k->dim[3] / p->groups;
        p->depth = taps;
        p->weight = by_group(q->cx->region, w, p->groups, p->rows, taps);
    } else {
        p->groups = p->channels / k->dim[3];
        p->rows = k->dim[0] / p->groups;
        p->depth = taps * k->dim[3];
        p->weight = w;
    }
    return p->rows > 0 && p->groups * p->depth == taps * p->channels;
}

static bool read_dense(ac_qnet *q, ac_qproduct *p, const ac_tensor *k, const float *w, bool turned)
{
    const int64_t depth = k->dim[turned ? 0 : 1], rows = k->dim[turned ? 1 : 0];
    if (k->rank != 2 || !depth || ac_tensor_count(p->x) % depth)
        return false;
    p->rows = rows;
    p->depth = p->channels = depth;
    p->positions = ac_tensor_count(p->x) / depth;
    p->weight = turned ? by_group(q->cx->region, w, 1, rows, depth) : w;
    return true;
}

static bool read_tconv(ac_qproduct *p, const ac_tensor *k, const float *w)
{
    if (k->rank != 4 || p->x->rank != 4 || p->x->dim[3] != k->dim[3])
        return false;
    read_window(p, k);
    p->spread = p->kh * p->kw;
    p->rows = k->dim[0] * p->spread;
    p->depth = p->channels = k->dim[3];
    p->positions = p->x->dim[0] * p->ih * p->iw;
    p->weight = w;
    return true;
}

ac_qproduct *ac_q_product(ac_qnet *q, ac_node *n)
{
    ac_qproduct p = {.node = n, .groups = 1, .taps = 1, .spread = 1};
    p.operand = n->op == AC_OP_TRANSPOSE_CONV ? 2 : 0;
    const int32_t bias = p.operand == 2 ? 3 : 2;
    if (n->op == AC_OP_CONV_2D)
        p.kind = AC_QCONV;
    else if (n->op == AC_OP_DEPTHWISE_CONV_2D)
        p.kind = AC_QDEPTHWISE;
    else if (n->op == AC_OP_TRANSPOSE_CONV)
        p.kind = AC_QTCONV;
    else if (n->op == AC_OP_FULLY_CONNECTED || (n->op == AC_OP_BATCH_MATMUL && !n->attrs.matmul.adj_x))
        p.kind = AC_QDENSE;
    else
        return NULL;
    p.x = n->in[p.operand];
    p.y = n->out[0];
    p.bias = n->op == AC_OP_BATCH_MATMUL ? NULL : ac_node_in(n, bias);
    ac_tensor *k = n->in[1];
    if (!ac_tensor_is_const(k) || ac_tensor_is_const(p.x) || k->dtype != AC_F32 || p.x->dtype != AC_F32 ||
        p.y->dtype != AC_F32 || (p.bias && !ac_tensor_is_const(p.bias)) || !ac_tensor_count(p.y))
        return NULL;
    const float *w = ac_tensor_force(q->cx, k);
    if (!w)
        return NULL;
    const bool turned = n->op == AC_OP_BATCH_MATMUL && !n->attrs.matmul.adj_y;
    const bool fits = p.kind == AC_QDENSE   ? read_dense(q, &p, k, w, turned)
                      : p.kind == AC_QTCONV ? read_tconv(&p, k, w)
                                            : read_conv(q, &p, k, w);
    return fits ? ac_copy(q->cx->region, &p, sizeof p) : NULL;
}

void ac_q_gather(const ac_qproduct *p, const float *x, int64_t at, float *to)
{
    const ac_attrs_conv *a = &p->node->attrs.conv;
    const int64_t c = p->channels;
    if (p->kind == AC_QDENSE || p->kind == AC_QTCONV) {
        memcpy(to, x + at * c, (size_t)c * sizeof *to);
        return;
    }
    const int64_t image = at / (p->oh * p->ow), oy = at / p->ow % p->oh, ox = at % p->ow;
    x += image * p->ih * p->iw * c;
    for (int64_t ky = 0; ky < p->kh; ky++)
        for (int64_t kx = 0; kx < p->kw; kx++, to += c) {
            const int64_t iy = oy * a->stride_h + ky * a->dilation_h - a->pad_t,
                          ix = ox * a->stride_w + kx * a->dilation_w - a->pad_l;
            if (iy < 0 || iy >= p->ih || ix < 0 || ix >= p->iw)
                memset(to, 0, (size_t)c * sizeof *to);
            else
                memcpy(to, x + (iy * p->iw + ix) * c, (size_t)c * sizeof *to);
        }
}

enum { TILE = 4, LANES = 8 };

/* y[TILE][rows] = x[TILE][depth] * t[depth][rows]; t has `room` floats in a row, a multiple of LANES. */
static void tile(const float *x, int64_t depth, const float *t, int64_t room, float *y)
{
    for (int64_t r = 0; r < room; r += LANES) {
        float sum[TILE][LANES] = {{0}};
        for (int64_t k = 0; k < depth; k++) {
            const float *w = t + k * room + r;
            for (int32_t m = 0; m < TILE; m++)
                for (int32_t i = 0; i < LANES; i++)
                    sum[m][i] += x[m * depth + k] * w[i];
        }
        for (int32_t m = 0; m < TILE; m++)
            memcpy(y + m * room + r, sum[m], sizeof sum[m]);
    }
}

/* The sums of an input pixel of a transposed convolution, added where they belong. */
static void scatter(const ac_qproduct *p, const float *sum, int64_t at, float *y)
{
    const ac_attrs_conv *a = &p->node->attrs.conv;
    const int64_t image = at / (p->ih * p->iw), iy = at / p->iw % p->ih, ix = at % p->iw, n = ac_q_results(p);
    y += image * p->oh * p->ow * n;
    for (int64_t ky = 0; ky < p->kh; ky++)
        for (int64_t kx = 0; kx < p->kw; kx++) {
            const int64_t oy = iy * a->stride_h + ky * a->dilation_h - a->pad_t,
                          ox = ix * a->stride_w + kx * a->dilation_w - a->pad_l;
            if (oy < 0 || oy >= p->oh || ox < 0 || ox >= p->ow)
                continue;
            for (int64_t o = 0; o < n; o++)
                y[(oy * p->ow + ox) * n + o] += sum[o * p->spread + ky * p->kw + kx];
        }
}

/* One group: blocks of positions times the transposed weights. */
static void multiply_whole(ac_region *tmp, const ac_qproduct *p, const float *x, const float *weight, int64_t samples,
                           float *y)
{
    const int64_t room = (p->rows + LANES - 1) / LANES * LANES, each = ac_tensor_count(p->x),
                  out = ac_tensor_count(p->y);
    float *t = AC_NEW_N(tmp, float, p->depth *room + 1), *in = AC_NEW_N(tmp, float, TILE * p->depth + 1),
          *sum = AC_NEW_N(tmp, float, TILE *room);
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t k = 0; k < p->depth; k++)
            t[k * room + r] = weight[r * p->depth + k];
    for (int64_t s = 0; s < samples; s++, x += each, y += out) {
        if (p->kind == AC_QTCONV)
            memset(y, 0, (size_t)out * sizeof *y);
        for (int64_t at = 0; at < p->positions; at += TILE) {
            const int64_t n = p->positions - at < TILE ? p->positions - at : TILE;
            for (int64_t m = 0; m < n; m++)
                ac_q_gather(p, x, at + m, in + m * p->depth);
            tile(in, p->depth, t, room, sum);
            for (int64_t m = 0; m < n; m++)
                if (p->kind == AC_QTCONV)
                    scatter(p, sum + m * room, at + m, y);
                else
                    memcpy(y + (at + m) * p->rows, sum + m * room, (size_t)p->rows * sizeof *y);
        }
    }
}

static void multiply_groups(ac_region *tmp, const ac_qproduct *p, const float *x, const float *weight, int64_t samples,
                            float *y)
{
    const int64_t own = p->channels / p->groups, each = ac_tensor_count(p->x), n = p->groups * p->rows,
                  per = p->rows * own; /* products of a group and tap */
    float *in = AC_NEW_N(tmp, float, p->taps * p->channels + 1), *t = AC_NEW_N(tmp, float, n * p->depth + 1);
    for (int64_t o = 0; o < n; o++) /* [taps][own][rows of all groups] */
        for (int64_t k = 0; k < p->depth; k++)
            t[k * n + o] = weight[o * p->depth + k];
    for (int64_t s = 0; s < samples; s++, x += each)
        for (int64_t at = 0; at < p->positions; at++, y += n) {
            ac_q_gather(p, x, at, in);
            memset(y, 0, (size_t)n * sizeof *y);
            for (int64_t k = 0; k < p->depth && per == 1; k++)
                for (int64_t o = 0; o < n; o++)
                    y[o] += in[k * n + o] * t[k * n + o];
            for (int64_t k = 0; k < p->depth && per > 1; k++)
                for (int64_t g = 0; g < p->groups; g++) {
                    const float v = in[k / own * p->channels + g * own + k % own];
                    for (int64_t r = 0; r < p->rows; r++)
                        y[g * p->rows + r] += v * t[k * n + g * p->rows + r];
                }
        }
}

void ac_q_multiply(const ac_qnet *q, const ac_qproduct *p, const float *x, const float *weight, int64_t samples,
                   float *y)
{
    ac_region *tmp = ac_region_open(&q->cx->heap);
    (p->groups == 1 ? multiply_whole : multiply_groups)(tmp, p, x, weight, samples, y);
    ac_region_close(tmp);
}
