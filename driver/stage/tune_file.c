/* tune_file.c - reading and writing tune files; see tune_file.h. */
#include "driver/stage/tune_file.h"

#include "driver/stage/stage.h"

#include "base/text/words.h"

#include <string.h>

static const char MAGIC[] = "arenac-tune 1";

void ac_tune_write(ac_sink *to, const ac_made *a, const ac_lowering *low, const ac_schedule *chosen,
                   const char *const *note)
{
    ac_putf(to, "%s\nversion %s\ntarget %s\nmodel %s\n\n# step rows vecs winograd operator name\n", MAGIC,
            arenac_version(), low->set.target->name, ac_source_sha256(a->cx, a->source));
    for (int32_t i = 0; i < low->n_steps; i++) {
        const ac_node *n = low->step[i]->node;
        if (!chosen[i].rows)
            continue;
        ac_putf(to, "%d %d %d %d %s ", i, chosen[i].rows, chosen[i].vecs, chosen[i].winograd, ac_ops[n->op].text);
        ac_words_put(to, n->name);
        ac_putf(to, "%s%s\n", note && note[i] ? "  # " : "", note && note[i] ? note[i] : "");
    }
}

/* The head: false when the file is for something else, after a warning that names it. */
static bool fits(ac_words *r, const ac_made *a, const ac_settings *set, bool *broken)
{
    const struct {
        const char *key, *what, *want;
    } head[] = {
        {"version", "version of arenac", arenac_version()},
        {"target", "target", set->target->name},
        {"model", "model", ac_source_sha256(a->cx, a->source)},
    };
    if (!ac_words_line(r) || (size_t)(r->stop - r->line) != strlen(MAGIC) || memcmp(r->line, MAGIC, strlen(MAGIC))) {
        *broken = true;
        r->stop = r->stop ? r->stop : r->end;
        r->line = r->line ? r->line : r->end;
        ac_words_complain(r, r->line, "this is not a tune file: its first line is not 'arenac-tune 1'");
        return false;
    }
    for (size_t k = 0; k < sizeof head / sizeof *head; k++) {
        const bool more = ac_words_line(r);
        const char *at = r->line, *key = more ? ac_words_take(r, &at) : NULL,
                   *value = key ? ac_words_take(r, &at) : NULL;
        if (!value || strcmp(key, head[k].key)) {
            *broken = true;
            ac_words_complain(r, r->line, ac_strf(a->cx->region, "expected '%s'", head[k].key));
            return false;
        }
        if (strcmp(value, head[k].want)) {
            ac_warn(a->cx, (ac_place){.file = r->file}, W0002, "the tune file is of another %s, and is ignored",
                    head[k].what);
            ac_detail(a->cx, "it is for %s, this is %s", value, head[k].want);
            return false;
        }
    }
    return true;
}

/* One line; *step: its step, -1 when the line holds none. */
static int read_row(ac_words *r, ac_node *const *node, int32_t n, int32_t *step, ac_schedule *to)
{
    const char *at = r->line;
    int64_t v[4] = {0};
    *step = -1;
    if (r->line == r->stop || *r->line == '#')
        return AC_OK;
    for (int k = 0; k < 4; k++)
        if (!ac_words_number(r, &at, INT32_MAX, &v[k]))
            return ac_words_complain(r, at, "expected step, rows, vecs and winograd, four numbers");
    const char *op = ac_words_take(r, &at), *name = op ? ac_words_take(r, &at) : NULL;
    if (!name)
        return ac_words_complain(r, at, "expected operator and name");
    *to = (ac_schedule){.rows = (int32_t)v[1], .vecs = (int32_t)v[2], .winograd = (int32_t)v[3]};
    const bool known = v[0] < n && !strcmp(op, ac_ops[node[v[0]]->op].text) && !strcmp(name, node[v[0]]->name);
    *step = known ? (int32_t)v[0] : n;
    return AC_OK;
}

static int read_rows(ac_words *r, const ac_made *a, const ac_settings *set, ac_node *const *node, int32_t n,
                     const ac_schedule **hints)
{
    ac_ctx *cx = a->cx;
    ac_schedule *hint = AC_NEW_N(cx->region, ac_schedule, n + 1), row;
    int32_t strange = 0, step, unasked = 0;
    for (int32_t i = 0; i < n; i++)
        hint[i].winograd = set->winograd;
    while (ac_words_line(r)) {
        AC_TRY(read_row(r, node, n, &step, &row));
        if (step < 0)
            continue;
        strange += step == n;
        if (step == n)
            continue;
        if (row.winograd && !set->winograd) {
            unasked++;
            continue;
        }
        row.winograd = set->winograd >= 0 ? set->winograd : row.winograd ? row.winograd : AC_WINOGRAD_NEVER;
        hint[step] = row;
    }
    if (strange)
        ac_warn(cx, (ac_place){.file = r->file}, W0002,
                "%d line%s of the tune file name%s no step of this model as it is compiled here", strange,
                strange == 1 ? "" : "s", strange == 1 ? "s" : "");
    if (unasked)
        ac_warn(cx, (ac_place){.file = r->file}, W0002,
                "%d line%s of the tune file %s for --winograd, which is not given", unasked, unasked == 1 ? "" : "s",
                unasked == 1 ? "is" : "are");
    *hints = hint;
    return AC_OK;
}

int ac_tune_read(const ac_made *a, const ac_settings *set, ac_node *const *node, int32_t n, const ac_schedule **hints)
{
    ac_file f = {0};
    *hints = NULL;
    if (!a->opt->tuned)
        return AC_OK;
    AC_TRY(ac_file_open(a->cx, a->opt->tuned, &f));
    const char *text = ac_copy(a->cx->region, f.data, f.n + (f.n == 0)); /* closed before anything else can fail */
    ac_words r = {.cx = a->cx, .file = a->opt->tuned, .at = text, .end = text + f.n};
    ac_file_close(&f);
    bool broken = false;
    if (!fits(&r, a, set, &broken))
        return broken ? AC_FAIL : AC_OK;
    return read_rows(&r, a, set, node, n, hints);
}
