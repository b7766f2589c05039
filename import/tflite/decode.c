/* decode.c - TFLM_DECODE: constants that TFLite Micro stores compressed, in pairs of operands, are decoded when the
 * file is read, and its results are constants.
 *
 *     bytes, description -> tensor          bits count from the highest of a byte
 *
 * A description begins with 16 bytes: the kind, version 1, and from byte 4 on the version (1) and parameters of the
 * kind; then come its data:
 *
 *     0  table     an index of 1 to 7 bits for each element (byte 5), into a table of values; each scale of the result
 *                  has a table of its own, byte 6 values long
 *     1  Huffman   codes of i8 or i16. A table has 2^k entries of 16 or 32 bits; the next k bits choose one, which is a
 *                  value, with the number of bits that were its own, or the place of another table, with its k
 *     2  pruned    a bit for each element: the next of the values, or the zero point
 *
 * Memory: the context's region. */
#include "import/build/counted.h"
#include "import/tflite/rules.h"

#include <string.h>

enum { TABLE, HUFFMAN, PRUNED, HEADER = 16, KIND = 0, VERSION = 1, OWN_VERSION = 4, OWN = 5, STRIDE = 6 };

typedef struct code {
    const uint8_t *bits, *about; /* of the description, with its header */
    int64_t n_bits, n_about;     /* bits; bytes */
    const ac_tensor *like;       /* the result */
    int64_t count, unit;         /* its elements, and bytes of each */
    int64_t channels;            /* scales; 1: of all elements */
    uint8_t *out;
} code;

/* `n` bits from bit `at` on; those past the end are 0. */
static uint32_t bits_at(const code *c, int64_t at, int32_t n)
{
    uint32_t v = 0;
    for (int64_t i = at; i < at + n; i++)
        v = v << 1 | (i < c->n_bits ? (uint32_t)(c->bits[i / 8] >> (7 - i % 8)) & 1u : 0);
    return v;
}

/* The scale that element i has. */
static int64_t channel_of(const code *c, int64_t i)
{
    const int32_t last = c->like->rank - 1;
    if (c->channels == 1)
        return 0;
    return c->like->quant->axis == last ? i % c->channels : i / (c->count / c->channels);
}

/* NULL: decoded, else the fault. */
static const char *from_table(const code *c)
{
    const int32_t width = c->about[OWN] & 7;
    const int64_t values = (c->n_about - HEADER) / c->unit, stride = c->about[STRIDE];
    if (!width || c->n_bits < c->count * width)
        return "there are fewer indices than elements";
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t at = channel_of(c, i) * stride + bits_at(c, i * width, width);
        if (at >= values)
            return "an index is past the end of its table";
        memcpy(c->out + i * c->unit, c->about + HEADER + at * c->unit, (size_t)c->unit);
    }
    return NULL;
}

static const char *from_huffman(const code *c)
{
    const bool wide = c->about[OWN] & 1;
    const int32_t first = (c->about[OWN] >> 4) + 1, size = wide ? 4 : 2, shift = wide ? 27 : 11;
    const int64_t entries = (c->n_about - HEADER) / size;
    int64_t bit = 0;
    if (c->like->dtype != AC_I8 && (c->like->dtype != AC_I16 || !wide))
        return "its values are neither i8 nor i16 of a wide table";
    for (int64_t i = 0; i < c->count; i++) {
        int64_t at = 0;
        uint32_t entry = 0;
        for (int32_t n = first;;) {
            at += bits_at(c, bit, n);
            bit += n;
            if (at >= entries || bit > c->n_bits + 32)
                return "a code is past the end of its tables";
            entry = 0;
            for (int32_t k = size - 1; k >= 0; k--)
                entry = entry << 8 | c->about[HEADER + at * size + k];
            const int32_t number = (int32_t)(entry >> shift & 15);
            if (entry >> (8 * size - 1)) { /* the bits after its own belong to the next code */
                bit -= n > number ? n - number : 0;
                break;
            }
            n = number + 1;
            at += entry & ((1u << shift) - 1);
        }
        c->out[i * c->unit] = (uint8_t)entry;
        if (c->unit == 2)
            c->out[i * 2 + 1] = (uint8_t)(entry >> 8);
    }
    return NULL;
}

static const char *from_pruned(const code *c)
{
    const ac_quant *q = c->like->quant;
    const int64_t values = (c->n_about - HEADER) / c->unit;
    int64_t next = 0;
    if (c->n_bits < c->count)
        return "there are fewer bits than elements";
    for (int64_t i = 0; i < c->count; i++) {
        const bool value = bits_at(c, i, 1);
        if (value && next >= values)
            return "there are fewer values than elements";
        if (value)
            memcpy(c->out + i * c->unit, c->about + HEADER + next++ * c->unit, (size_t)c->unit);
        else if (q && c->like->dtype == AC_I8)
            c->out[i] = (uint8_t)q->zero[channel_of(c, i)];
    }
    return NULL;
}

static const char *decode(const code *c)
{
    const uint8_t *a = c->about;
    if (c->n_about < HEADER || a[VERSION] != 1 || a[OWN_VERSION] != 1 || a[KIND] > PRUNED)
        return "its description is of an unknown kind or version";
    return a[KIND] == TABLE ? from_table(c) : a[KIND] == HUFFMAN ? from_huffman(c) : from_pruned(c);
}

/* Result k, from operands 2 k and 2 k + 1. */
static int decode_one(ac_tfl *r, ac_tfl_node *n, int32_t k)
{
    ac_tensor *bytes = n->in[2 * k], *about = n->in[2 * k + 1], *y = n->out[k];
    const ac_maker b = ac_reading_maker(r->reading, n->g, y->name, n->at);
    if (!ac_tensor_is_const(bytes) || !ac_tensor_is_const(about))
        return ac_cannot(&b, "its operands '%s' and '%s' are not constants", bytes->name, about->name);
    for (int32_t d = 0; d < y->rank; d++)
        if (y->dim[d] < 0)
            return ac_error(r->cx, n->at, E0204, "dimension %d of '%s' is not known", d, y->name);
    const int64_t axis = y->quant ? y->quant->axis : 0, channels = y->quant ? y->quant->n : 1;
    if (ac_dtype_file_bits(y->dtype) < 8 || (channels > 1 && axis && axis != y->rank - 1))
        return ac_cannot(&b, "'%s' is %s with scales along dimension %d", y->name, ac_tensor_str(r->cx, y), (int)axis);
    code c = {.bits = ac_tensor_force(r->cx, bytes),
              .about = ac_tensor_force(r->cx, about),
              .n_bits = ac_tensor_bytes(bytes) * 8,
              .n_about = ac_tensor_bytes(about),
              .like = y,
              .count = ac_tensor_count(y),
              .unit = ac_dtype_size(y->dtype, 1),
              .channels = channels};
    if (!c.bits || !c.about)
        return AC_FAIL;
    if (c.count > c.n_bits) /* each has a bit at least: memory stays in proportion to the file */
        return ac_error(r->cx, n->at, E0012, "'%s' has fewer bits than elements", bytes->name);
    c.out = ac_alloc_n(r->cx->region, (uint64_t)c.count + 1, (uint64_t)c.unit);
    const char *fault = decode(&c);
    if (fault)
        return ac_error(r->cx, n->at, E0012, "'%s' cannot be decoded: %s", y->name, fault);
    if (n->sized)
        y = ac_tensor_const(n->g, y->name, y->dtype, y->rank, y->dim, c.out);
    y->data = c.out;
    y->in_file = c.n_bits / 8 + c.n_about;
    return n->sized ? ac_tfl_result(n, k, y) : AC_OK;
}

int ac_tfl_rule_decode(ac_tfl *r, ac_tfl_node *n)
{
    if (n->n_in != 2 * n->n_out)
        return ac_error(r->cx, n->at, E0102, "has %d operands for %d results, expected two for each", n->n_in,
                        n->n_out);
    for (int32_t k = 0; k < n->n_out; k++)
        AC_TRY(decode_one(r, n, k));
    return AC_OK;
}
