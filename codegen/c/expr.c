/* expr.c - builds the text of expressions: parentheses, numbers, comments and string literals; and lines of it. */
#include "base/decimal.h"
#include "base/visible.h"
#include "codegen/c/printer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static const char *const OP_TEXT[] = {
    [C_LOR] = "||", [C_LAND] = "&&", [C_OR] = "|",  [C_XOR] = "^", [C_AND] = "&", [C_EQ] = "==",
    [C_NE] = "!=",  [C_LT] = "<",    [C_LE] = "<=", [C_GT] = ">",  [C_GE] = ">=", [C_SHL] = "<<",
    [C_SHR] = ">>", [C_ADD] = "+",   [C_SUB] = "-", [C_MUL] = "*", [C_DIV] = "/", [C_MOD] = "%",
};

/* Operators of one level of the grammar. */
static int level(ac_cop op)
{
    if (op >= C_EQ && op <= C_NE)
        return 7;
    if (op >= C_LT && op <= C_GE)
        return 8;
    if (op >= C_SHL && op <= C_SHR)
        return 9;
    if (op >= C_ADD && op <= C_SUB)
        return 10;
    if (op >= C_MUL && op <= C_MOD)
        return 11;
    return op < C_EQ ? (int)op : 12 + (int)op;
}

static bool is_compare(ac_cop op)
{
    return op >= C_EQ && op <= C_GE;
}
static bool is_bits(ac_cop op)
{
    return op == C_OR || op == C_XOR || op == C_AND;
}

/* True if `inner` needs parentheses as an operand of `outer`. */
static bool needs_parens(ac_cop outer, ac_cop inner, bool right)
{
    if (inner >= C_UNARY)
        return false;
    if (level(inner) < level(outer))
        return true;
    if (level(inner) == level(outer)) /* a + (b + c) keeps its order; a & b & c needs no help */
        return right || is_compare(outer) || outer == C_SHL || outer == C_SHR || outer == C_MOD || inner == C_MOD;
    /* Pairs that compilers warn about although the grammar is unambiguous. */
    if (is_bits(outer) || outer == C_SHL || outer == C_SHR)
        return true;
    if (outer == C_LOR)
        return inner == C_LAND;
    return is_compare(outer) && is_compare(inner);
}

static const char *operand(ac_region *r, ac_cop outer, ac_cexpr e, bool right)
{
    return needs_parens(outer, e.top, right) ? ac_strf(r, "(%s)", e.text) : e.text;
}

static ac_cexpr expr(const char *text, ac_cop top, bool exact)
{
    return (ac_cexpr){.text = text, .top = top, .exact = exact};
}

ac_cexpr ac_c_atom(const char *text)
{
    return expr(text, C_ATOM, true);
}

ac_cexpr ac_c_binary(ac_region *r, ac_cop op, ac_cexpr a, ac_cexpr b)
{
    const char *left = operand(r, op, a, false), *right = operand(r, op, b, true);
    return expr(ac_strf(r, "%s %s %s", left, OP_TEXT[op], right), op, false);
}

ac_cexpr ac_c_unary(ac_region *r, char op, ac_cexpr a)
{
    bool parens = a.top < C_UNARY || (a.top == C_UNARY && a.text[0] == '-');
    return expr(ac_strf(r, parens ? "%c(%s)" : "%c%s", op, a.text), C_UNARY, false);
}

ac_cexpr ac_c_cast(ac_region *r, const char *type, ac_cexpr a)
{
    return expr(ac_strf(r, a.top < C_UNARY ? "(%s)(%s)" : "(%s)%s", type, a.text), C_UNARY, true);
}

ac_cexpr ac_c_cond(ac_region *r, ac_cexpr c, ac_cexpr a, ac_cexpr b)
{
    const char *cond = c.top <= C_COND ? ac_strf(r, "(%s)", c.text) : c.text;
    const char *then = a.top <= C_COND ? ac_strf(r, "(%s)", a.text) : a.text;
    return expr(ac_strf(r, "%s ? %s : %s", cond, then, b.text), C_COND, false);
}

ac_cexpr ac_c_index(ac_region *r, const char *array, ac_cexpr i)
{
    return ac_c_atom(ac_strf(r, "%s[%s]", array, i.text));
}

ac_cexpr ac_c_call(ac_region *r, const char *f, ac_cexpr a)
{
    return ac_c_atom(ac_strf(r, "%s(%s)", f, a.text));
}

ac_cexpr ac_c_call2(ac_region *r, const char *f, ac_cexpr a, ac_cexpr b)
{
    return ac_c_atom(ac_strf(r, "%s(%s, %s)", f, a.text, b.text));
}

ac_cexpr ac_c_call3(ac_region *r, const char *f, ac_cexpr a, ac_cexpr b, ac_cexpr c)
{
    return ac_c_atom(ac_strf(r, "%s(%s, %s, %s)", f, a.text, b.text, c.text));
}

ac_cexpr ac_c_int(ac_region *r, int64_t v)
{
    if (v == INT32_MIN)
        return ac_c_atom("INT32_MIN");
    if (v < INT32_MIN || v > INT32_MAX)
        return ac_c_int64(r, v);
    return expr(ac_strf(r, "%" PRId64, v), v < 0 ? C_UNARY : C_ATOM, true);
}

ac_cexpr ac_c_uint(ac_region *r, uint64_t v)
{
    return v > UINT32_MAX ? ac_c_uint64(r, v) : ac_c_atom(ac_strf(r, "%" PRIu64 "u", v));
}

ac_cexpr ac_c_int64(ac_region *r, int64_t v)
{
    return v == INT64_MIN ? ac_c_atom("INT64_MIN")
                          : expr(ac_strf(r, v < 0 ? "-INT64_C(%" PRIu64 ")" : "INT64_C(%" PRIu64 ")",
                                         v < 0 ? (uint64_t)-v : (uint64_t)v),
                                 v < 0 ? C_UNARY : C_ATOM, true);
}

ac_cexpr ac_c_uint64(ac_region *r, uint64_t v)
{
    return ac_c_atom(ac_strf(r, "UINT64_C(%" PRIu64 ")", v));
}

/* "5" becomes "5.0", so that it is not an integer. */
static ac_cexpr decimal(ac_region *r, const char *digits, const char *suffix)
{
    const char *dot = strpbrk(digits, ".e") ? "" : ".0";
    return expr(ac_strf(r, "%s%s%s", digits, dot, suffix), digits[0] == '-' ? C_UNARY : C_ATOM, true);
}

ac_cexpr ac_c_float(ac_region *r, float v)
{
    return decimal(r, ac_strf(r, "%.*g", ac_shortest((double)v, true, 1), (double)v), "f");
}

ac_cexpr ac_c_double(ac_region *r, double v)
{
    return decimal(r, ac_strf(r, "%.*g", ac_shortest(v, false, 1), v), "");
}

const char *ac_c_comment_text(ac_region *r, const char *s)
{
    size_t n = strlen(s);
    char *out = ac_alloc(r, 2 * n + 1), *to = out;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        bool odd = (unsigned char)c < ' ' || c == 127 || c == '\\' || (c == '?' && i && s[i - 1] == '?');
        *to++ = odd ? '_' : c;
        if ((c == '*' && s[i + 1] == '/') || (c == '/' && s[i + 1] == '*'))
            *to++ = ' ';
    }
    return ac_visible(r, out);
}

const char *ac_c_string_text(ac_region *r, const char *s)
{
    size_t n = strlen(s);
    char *out = ac_alloc(r, 4 * n + 1), *to = out;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < ' ' || c > 126) { /* three octal digits: never run into the next character */
            *to++ = '\\';
            *to++ = (char)('0' + (c >> 6));
            *to++ = (char)('0' + (c >> 3 & 7));
            *to++ = (char)('0' + (c & 7));
            continue;
        }
        if (c == '"' || c == '\\' || c == '?')
            *to++ = '\\';
        *to++ = (char)c;
    }
    return out;
}

void ac_c_line(ac_cfn *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    for (int32_t i = 0; i < f->depth; i++)
        ac_put(f->to, "    ");
    ac_put(f->to, ac_vstrf(f->file->region, fmt, ap));
    ac_putc(f->to, '\n');
    va_end(ap);
}
