/* operands.c - checks the operands of a node of the file and reads their values; see operands.h. */
#include "import/build/operands.h"
#include "base/shell.h"
#include "import/build/list_elements.h"

#include <inttypes.h>
#include <math.h>

int ac_operand_count(const ac_maker *b, const ac_operator *row, int32_t n_in, const char *what)
{
    if (n_in >= row->min_in && n_in <= row->max_in)
        return AC_OK;
    return ac_error(b->cx, b->at, E0102, "has %d %s, expected %d to %d", n_in, what, row->min_in, row->max_in);
}

/* ------------------------------------------------------------------ halves */

int ac_operand_widen(const ac_maker *b, ac_tensor **in, int32_t n_in, ac_dtype *half)
{
    for (int32_t i = 0; i < n_in; i++) {
        if (!in[i] || (in[i]->dtype != AC_F16 && in[i]->dtype != AC_BF16))
            continue;
        if (*half == AC_NONE)
            *half = in[i]->dtype;
        in[i] = ac_make_cast(b, in[i], AC_F32);
        if (!in[i])
            return AC_FAIL;
    }
    return AC_OK;
}

ac_tensor *ac_operand_narrow(const ac_maker *b, ac_tensor *y, ac_dtype half)
{
    return y && half != AC_NONE && y->dtype == AC_F32 ? ac_make_cast(b, y, half) : y;
}

/* ------------------------------------------------------------------ values */

int ac_operand_axis(const ac_maker *b, int64_t axis, int32_t rank, int32_t *out)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return ac_error(b->cx, b->at, E0103, "axis %" PRId64 " is out of range for %d dimensions", axis, rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return AC_OK;
}

enum { KNOWN_DEPTH = 32, KNOWN_SIZE = 4096, KNOWN_VISITS = 1024 };

static ac_tensor *specialise(const ac_maker *b, ac_tensor *t, int32_t *visits, int32_t depth)
{
    ac_tensor *in[8];
    if (ac_tensor_is_const(t))
        return t;
    if (ac_tensor_count(t) > KNOWN_SIZE || depth > KNOWN_DEPTH || --*visits < 0) /* shared operands are visited anew */
        return NULL;
    if (t->input)
        return t->given ? ac_tensor_const(b->g, t->name, t->dtype, t->rank, t->dim, t->given) : NULL;
    const ac_node *m = t->def;
    if (!m || m->n_in > 8 || m->n_out != 1 || ac_ops[m->op].flags & OF_FLOW)
        return NULL;
    for (int32_t i = 0; i < m->n_in; i++) {
        in[i] = m->in[i] ? specialise(b, m->in[i], visits, depth + 1) : NULL;
        if (m->in[i] && !in[i])
            return NULL;
    }
    ac_tensor *y = ac_make_op(b, m->op, in, m->n_in, &m->attrs, t->dtype);
    return y && ac_tensor_is_const(y) ? y : NULL;
}

ac_tensor *ac_specialise(const ac_maker *b, ac_tensor *t)
{
    int32_t visits = KNOWN_VISITS;
    return specialise(b, t, &visits, 0);
}

int ac_constant_values(const ac_maker *b, ac_tensor *t, ac_ints *out)
{
    if (!ac_dtype_is_int(t->dtype))
        return ac_error(b->cx, b->at, E0105, "operand '%s' is %s, expected integers", t->name, ac_dtype_name(t->dtype));
    const int64_t count = ac_tensor_count(t);
    if (count > 1 << 20)
        return ac_error(b->cx, b->at, E0015, "operand '%s' has %" PRId64 " elements", t->name, count);
    const void *data = ac_tensor_force(b->cx, t);
    if (!data)
        return AC_FAIL;
    int64_t *v = AC_NEW_N(b->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = ac_dtype_get_int(t->dtype, data, i);
    *out = (ac_ints){(int32_t)count, v};
    return AC_OK;
}

/* t as a constant, if each of its integers is known, although t comes from a list with computed ones: sizes of a
 * dynamically sized tensor. NULL: one is unknown. */
static ac_tensor *all_known(const ac_maker *b, ac_tensor *t)
{
    const int64_t n = ac_tensor_count(t);
    int64_t value[AC_MAX_RANK];
    double v = 0;
    if (b->unsized || t->count || n > AC_MAX_RANK || !ac_dtype_is_int(t->dtype))
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        if (!ac_known_element(b, t, i, &v) || !(fabs(v) < 0x1p63))
            return NULL;
        value[i] = (int64_t)v;
    }
    return ac_make_cast(b, ac_make_reshape(b, ac_make_ints(b, n, value), t->rank, t->dim), t->dtype);
}

bool ac_operand_known(const ac_maker *b, ac_tensor **t)
{
    enum { WORK = 32 }; /* approximate steps of a specialisation */
    ac_reading *r = b->reading;
    if (ac_tensor_is_const(*t))
        return true;
    ac_tensor *sizes = r->again ? all_known(b, *t) : NULL;
    if (sizes) {
        *t = sizes;
        return true;
    }
    ac_tensor *known = r->again && ac_reading_spend(r, WORK) == AC_OK ? ac_specialise(b, *t) : NULL;
    if (!known)
        return false;
    ac_note(b->cx, b->at, W0001, "specialised on the given value of '%s'", (*t)->name);
    *t = known;
    return true;
}

typedef AC_VEC(const ac_tensor *) source_list;

/* Adds the inputs that t is computed from to the list, each once. false: they are many, or far away. */
static bool sources(const ac_maker *b, const ac_tensor *t, source_list *list, int32_t *visits, int32_t depth)
{
    enum { MOST = 3 };
    if (ac_tensor_is_const(t))
        return true;
    for (int32_t i = 0; i < list->n; i++)
        if (list->item[i] == t)
            return true;
    if (t->input && list->n < MOST) {
        ac_push(b->cx->region, list, t);
        return true;
    }
    if (t->input || !t->def || depth > KNOWN_DEPTH || --*visits < 0)
        return false;
    for (int32_t i = 0; i < t->def->n_in; i++)
        if (t->def->in[i] && !sources(b, t->def->in[i], list, visits, depth + 1))
            return false;
    return true;
}

const char *ac_const_options(const ac_maker *b, const ac_tensor *t)
{
    source_list list = {0};
    int32_t visits = KNOWN_VISITS;
    const char *text = "";
    if (!sources(b, t, &list, &visits, 0) || !list.n)
        return "--const NAME=FILE.npy";
    for (int32_t i = 0; i < list.n; i++)
        text = ac_strf(b->cx->region, "%s%s--const %s", text, i ? " " : "",
                       ac_shell_set(b->cx, list.item[i]->name, "FILE.npy"));
    return text;
}

int ac_operand_late(const ac_maker *b, const ac_tensor *t)
{
    b->reading->late = true;
    if (t->input)
        return ac_refuse(
            b->reading, b->at, E0203, b->at.op,
            ac_strf(b->cx->region, "operand '%s' is an input of the model, but a static plan needs its value", t->name),
            ac_strf(b->cx->region, "make it constant: --const %s; or give it to run: --input %s",
                    ac_shell_set(b->cx, t->name, "FILE.npy"), ac_shell_set(b->cx, t->name, "FILE.npy")));
    return ac_refuse(
        b->reading, b->at, E0203, b->at.op,
        ac_strf(b->cx->region, "operand '%s' is computed at run time, but a static plan needs its value", t->name),
        ac_strf(b->cx->region,
                "make it a constant of the model, or give the inputs that it depends on: %s, with run "
                "--input",
                ac_const_options(b, t)));
}

int ac_operand_values(const ac_maker *b, ac_tensor **t, ac_ints *out)
{
    return ac_operand_known(b, t) ? ac_constant_values(b, *t, out) : ac_operand_late(b, *t);
}

/* The bytes of a constant of one element; NULL: not such a constant (refused, or reported). */
static const void *one_element(const ac_maker *b, ac_tensor **t)
{
    if (!ac_operand_known(b, t))
        return (void)ac_operand_late(b, *t), NULL;
    if (ac_tensor_count(*t) != 1)
        return (void)ac_error(b->cx, b->at, E0104, "operand '%s' is %s, expected one element", (*t)->name,
                              ac_shape_str(b->cx, *t)),
               NULL;
    return ac_tensor_force(b->cx, *t);
}

int ac_operand_scalar(const ac_maker *b, ac_tensor **t, double *v)
{
    const void *data = one_element(b, t);
    *v = data ? ac_dtype_get_num((*t)->dtype, data, 0) : 0;
    return data ? AC_OK : AC_FAIL;
}

int ac_operand_int(const ac_maker *b, ac_tensor **t, int64_t *v)
{
    const void *data = one_element(b, t);
    *v = data ? ac_dtype_get_int((*t)->dtype, data, 0) : 0;
    return data ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ adapters */

ac_said ac_said_now(const ac_maker *b)
{
    return (ac_said){b->cx->diags, b->reading->refused.n};
}

int ac_said_outcome(const ac_maker *b, ac_said before, int rc)
{
    const ac_said now = ac_said_now(b);
    if (b->bad)
        return AC_FAIL;
    if (rc != AC_OK && now.diags.errors == before.diags.errors && now.refused == before.refused)
        return ac_cannot(b, "its operands are not of a form that arenac handles");
    return rc;
}

bool ac_said_quietly(const ac_maker *b, ac_said before, int rc)
{
    if (rc != AC_OK)
        b->reading->refused.n = before.refused;
    return ac_quietly(b->cx, before.diags, rc);
}
