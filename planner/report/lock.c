/* lock.c - lock files: making, writing, reading and comparing them. The form is in lock.h. */
#include "planner/report/lock.h"

#include "planner/report/names.h"

#include "base/file.h"
#include "base/hash/sha256.h"
#include "base/vec.h"
#include "base/text/words.h"

#include <stdlib.h>
#include <string.h>

static const char MAGIC[] = "arenac-lock 1";

/* ------------------------------------------------------------------ from a report */

static int by_name(const void *a, const void *b)
{
    const ac_lock_row *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    if (c)
        return c;
    if (x->first != y->first) /* names of CSV problems may repeat: every field decides before two rows are equal */
        return x->first < y->first ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Hashes steps and tensors in order, without names and weights: renaming and retraining do not change it. */
static const char *hash_structure(ac_ctx *cx, const ac_report *r)
{
    ac_sink s;
    char hex[65];
    ac_sink_open(&s, cx);
    for (int32_t k = 0; k < r->n_steps; k++)
        ac_putf(&s, "step %s + %s\n", r->step[k].op, r->step[k].fused ? r->step[k].fused : "");
    for (int32_t k = 0; k < r->n_tensors; k++) {
        const ac_report_tensor *x = &r->tensor[k];
        ac_putf(&s, "tensor %s %s %lld %d %d%d%d:", x->dtype, x->shape, (long long)x->bytes,
                x->through ? -1 : x->producer, x->input, x->output, x->state);
        for (int32_t c = 0; c < x->n_consumers; c++)
            if (!x->by_view || !x->by_view[c]) /* the structure is what the steps name */
                ac_putf(&s, " %d", x->consumers[c]);
        ac_putc(&s, '\n');
    }
    ac_sha256_hex(s.text, s.n, hex);
    return ac_strdup(cx->region, hex);
}

static const char *last_part(const char *path)
{
    return path ? ac_path_name(path) : "-";
}

ac_lock *ac_lock_of(ac_ctx *cx, const ac_report *r)
{
    const ac_problem *p = r->problem;
    ac_lock *lock = AC_NEW(cx->region, ac_lock);
    bool *named = AC_NEW_N(cx->region, bool, p->n);
    *lock = (ac_lock){.model = last_part(r->file),
                      .planner = r->plan->strategy ? r->plan->strategy : "unknown",
                      .graph = hash_structure(cx, r),
                      .options = r->options,
                      .operators = r->n_file_ops,
                      .n_mems = p->n_mems};
    lock->mem = AC_NEW_N(cx->region, ac_lock_mem, p->n_mems);
    for (int32_t m = 0; m < p->n_mems; m++)
        lock->mem[m] = (ac_lock_mem){p->mem[m].name, r->plan->mem_bytes[m]};
    lock->row = AC_NEW_N(cx->region, ac_lock_row, r->n_tensors + p->n);
    for (int32_t k = 0; k < r->n_tensors; k++) {
        const ac_report_tensor *x = &r->tensor[k];
        if (x->item < 0)
            continue;
        named[x->item] = true;
        lock->row[lock->n++] = (ac_lock_row){x->name,  p->mem[r->plan->mem[x->item]].name,
                                             x->bytes, r->plan->offset[x->item] + x->delta,
                                             x->first, x->last};
    }
    for (int32_t i = 0; i < p->n; i++) { /* scratch */
        const ac_item *it = &p->item[i];
        if (!named[i])
            lock->row[lock->n++] = (ac_lock_row){
                it->name, p->mem[r->plan->mem[i]].name, it->size, r->plan->offset[i], it->life.begin, it->life.end - 1};
    }
    qsort(lock->row, (size_t)lock->n, sizeof *lock->row, by_name);
    return lock;
}

/* ------------------------------------------------------------------ text */

void ac_lock_write(ac_sink *to, const ac_lock *lock)
{
    ac_putf(to, "%s\nmodel ", MAGIC);
    ac_words_put(to, lock->model);
    ac_put(to, "\nplanner ");
    ac_words_put(to, lock->planner);
    if (lock->options) {
        ac_put(to, "\noptions ");
        ac_words_put(to, lock->options);
    }
    ac_putf(to, "\noperators %d\ngraph ", lock->operators);
    ac_words_put(to, lock->graph);
    ac_putc(to, '\n');
    for (int32_t m = 0; m < lock->n_mems; m++) {
        ac_put(to, "memory ");
        ac_words_put(to, lock->mem[m].name);
        ac_putf(to, " %lld\n", (long long)lock->mem[m].bytes);
    }
    ac_put(to, "\n# name bytes memory offset first last\n");
    for (int32_t k = 0; k < lock->n; k++) {
        const ac_lock_row *x = &lock->row[k];
        ac_words_put(to, x->name);
        ac_putf(to, " %lld ", (long long)x->bytes);
        ac_words_put(to, x->mem);
        ac_putf(to, " %lld %d %d\n", (long long)x->offset, x->first, x->last);
    }
}

bool ac_lock_looks_like(const char *text, size_t n)
{
    return n >= 12 && !memcmp(text, MAGIC, 12);
}

static int complain(const ac_words *r, const char *at, const char *what)
{
    ac_words_complain(r, at, what);
    return ac_help(r->cx, "a lock is never edited by hand; --update-lock writes it anew");
}

static int read_head(ac_words *r, ac_lock *lock)
{
    AC_VEC(ac_lock_mem) mem = {0};
    int64_t n = 0, left = INT64_MAX; /* the rest of the bytes that all memories may have together */
    while (ac_words_line(r) && r->stop > r->line) {
        const char *at = r->line, *key = ac_words_take(r, &at), *value;
        if (!key || *r->line == '#')
            continue;
        const char *from = at;
        value = ac_words_take(r, &at);
        if (!value)
            return complain(r, from, "a value is missing");
        if (!strcmp(key, "model")) {
            lock->model = value;
        } else if (!strcmp(key, "planner")) {
            lock->planner = value;
        } else if (!strcmp(key, "options")) {
            lock->options = value;
        } else if (!strcmp(key, "graph")) {
            lock->graph = value;
        } else if (!strcmp(key, "operators")) {
            at = from;
            if (!ac_words_number(r, &at, INT32_MAX, &n))
                return complain(r, from, "expected the number of operators");
            lock->operators = (int32_t)n;
        } else if (!strcmp(key, "memory")) {
            if (!ac_words_number(r, &at, left, &n))
                return complain(r, at, "expected the bytes of the memory");
            left -= n;
            ac_push(r->cx->region, &mem, ((ac_lock_mem){value, n}));
        } else {
            return complain(r, r->line, "unknown line; expected model, planner, options, operators, graph or memory");
        }
    }
    lock->mem = mem.item;
    lock->n_mems = mem.n;
    return AC_OK;
}

static int read_rows(ac_words *r, ac_lock *lock)
{
    AC_VEC(ac_lock_row) row = {0};
    while (ac_words_line(r)) {
        if (r->stop == r->line || *r->line == '#')
            continue;
        ac_lock_row x = {0};
        int64_t first, last;
        const char *at = r->line;
        x.name = ac_words_take(r, &at);
        if (!ac_words_number(r, &at, INT64_MAX, &x.bytes))
            return complain(r, at, "expected: name bytes memory offset first last");
        x.mem = ac_words_take(r, &at);
        if (!x.mem || !ac_words_number(r, &at, INT64_MAX, &x.offset) || !ac_words_number(r, &at, INT32_MAX, &first) ||
            !ac_words_number(r, &at, INT32_MAX, &last) || ac_words_take(r, &at))
            return complain(r, at, "expected: name bytes memory offset first last");
        x.first = (ac_step)first;
        x.last = (ac_step)last;
        ac_push(r->cx->region, &row, x);
    }
    if (row.n)
        qsort(row.item, (size_t)row.n, sizeof *row.item, by_name); /* a merge may have put lines in another order */
    lock->row = row.item;
    lock->n = row.n;
    return AC_OK;
}

int ac_lock_read(ac_ctx *cx, const char *file, const char *text, size_t n, ac_lock **out)
{
    ac_words r = {.cx = cx, .file = file, .at = text, .end = text + n};
    ac_lock *lock = AC_NEW(cx->region, ac_lock);
    *lock = (ac_lock){.file = file, .model = "-", .planner = "unknown", .graph = ""};
    if (!ac_words_line(&r) || (size_t)(r.stop - r.line) != strlen(MAGIC) || memcmp(r.line, MAGIC, strlen(MAGIC))) {
        ac_error(cx, (ac_place){.file = file}, E0020, "this is not a lock: the first line is not '%s'", MAGIC);
        return ac_help(cx, "--lock FILE --update-lock writes one");
    }
    AC_TRY(read_head(&r, lock));
    AC_TRY(read_rows(&r, lock));
    if (!lock->n_mems || !*lock->graph) {
        ac_error(cx, (ac_place){.file = file}, E0020, "the lock has no line '%s'", lock->n_mems ? "graph" : "memory");
        return ac_help(cx, "--update-lock writes it anew");
    }
    *out = lock;
    return AC_OK;
}

/* ------------------------------------------------------------------ comparing */

ac_lock_delta ac_lock_compare(const ac_lock *a, const ac_lock *b)
{
    ac_lock_delta d = {.same_graph = !strcmp(a->graph, b->graph), .same_mems = a->n_mems == b->n_mems};
    for (int32_t m = 0; m < a->n_mems && d.same_mems; m++)
        d.same_mems = !strcmp(a->mem[m].name, b->mem[m].name) && a->mem[m].bytes == b->mem[m].bytes;
    for (int32_t i = 0, k = 0; i < a->n || k < b->n;) {
        const ac_lock_row *x = i < a->n ? &a->row[i] : NULL, *y = k < b->n ? &b->row[k] : NULL;
        const int c = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);
        if (c) {
            *(c < 0 ? &d.removed : &d.added) += 1;
            *(c < 0 ? &i : &k) += 1;
            continue;
        }
        d.common++;
        bool moved = x->offset != y->offset || strcmp(x->mem, y->mem) != 0;
        if (x->bytes != y->bytes)
            d.resized++;
        else if (moved)
            d.moved++;
        d.relived += x->first != y->first || x->last != y->last;
        if (moved && x->bytes == y->bytes && (!d.largest || x->bytes > d.largest->bytes)) {
            d.largest = x;
            d.largest_to = y;
        }
        i++;
        k++;
    }
    d.same = d.same_graph && d.same_mems && !d.removed && !d.added && !d.resized && !d.moved && !d.relived;
    return d;
}

/* The bytes of the first option of a line: up to the next word that begins with a dash. */
static size_t option_length(const char *line)
{
    const char *next = strstr(line, " -");
    return next ? (size_t)(next - line) : strlen(line);
}

static bool has_option(const char *line, const char *option, size_t n)
{
    for (; *line; line += option_length(line), line += *line == ' ')
        if (option_length(line) == n && !memcmp(line, option, n))
            return true;
    return false;
}

/* The options of line `a` that `b` does not have, with commas between them; "": none. */
static const char *options_without(ac_ctx *cx, const char *a, const char *b)
{
    const char *list = "";
    for (; *a; a += option_length(a), a += *a == ' ')
        if (!has_option(b, a, option_length(a)))
            list = ac_strf(cx->region, "%s%s%.*s", list, *list ? ", " : "", (int)option_length(a), a);
    return list;
}

static bool other_options(const ac_lock *a, const ac_lock *b)
{
    return a->options && b->options && strcmp(a->options, b->options) != 0;
}

/* Names the options that differ. */
static void name_options(ac_ctx *cx, const ac_lock *locked, const ac_lock *now)
{
    const char *gone = options_without(cx, locked->options, now->options);
    const char *come = options_without(cx, now->options, locked->options);
    ac_reason(cx, "the options differ: %s%s%s%s", *gone ? ac_strf(cx->region, "the lock was made with %s", gone) : "",
              *gone && *come ? ", " : "", *come ? ac_strf(cx->region, "this plan with %s", come) : "",
              *gone && *come ? ""
              : *gone        ? ", this plan was not"
                             : ", the lock was not");
}

/* Options alone can change the graph and the tensors of the same file. */
bool ac_lock_strangers(const ac_lock *a, const ac_lock *b)
{
    ac_lock_delta d = ac_lock_compare(a, b);
    int32_t most = a->n > b->n ? a->n : b->n;
    const bool same_file = a->operators == b->operators && !strcmp(a->model, b->model);
    return !d.same_graph && d.common < (most + 1) / 2 && !(same_file && other_options(a, b));
}

/* Up to a few rows that are not the same in `a` and `b`, each as a line of the diagnostic. */
static void name_changes(ac_ctx *cx, const ac_lock *a, const ac_lock *b)
{
    const struct ac_name_list *names = ac_lock_names(cx, a, b);
    enum { SHOWN = 6 };
    int32_t n = 0;
    for (int32_t i = 0, k = 0; i < a->n || k < b->n;) {
        const ac_lock_row *x = &a->row[i], *y = &b->row[k];
        int c = i == a->n ? 1 : k == b->n ? -1 : strcmp(x->name, y->name);
        bool same = !c && x->bytes == y->bytes && x->offset == y->offset && x->first == y->first &&
                    x->last == y->last && !strcmp(x->mem, y->mem);
        if (!same && n++ < SHOWN) {
            if (c < 0)
                ac_detail(cx, "'%s' is gone (%s B)", ac_name_short(names, x->name), ac_commas(cx, x->bytes));
            else if (c)
                ac_detail(cx, "'%s' is new: %s B at 0x%05llx", ac_name_short(names, y->name), ac_commas(cx, y->bytes),
                          (unsigned long long)y->offset);
            else if (x->bytes != y->bytes)
                ac_detail(cx, "'%s' %s -> %s B", ac_name_short(names, x->name), ac_commas(cx, x->bytes),
                          ac_commas(cx, y->bytes));
            else if (strcmp(x->mem, y->mem) != 0 || x->offset != y->offset)
                ac_detail(cx, "'%s' %s 0x%05llx -> %s 0x%05llx (%s B)", ac_name_short(names, x->name), x->mem,
                          (unsigned long long)x->offset, y->mem, (unsigned long long)y->offset,
                          ac_commas(cx, y->bytes));
            else
                ac_detail(cx, "'%s' alive in steps %d to %d -> %d to %d", ac_name_short(names, x->name), x->first,
                          x->last, y->first, y->last);
        }
        i += c <= 0;
        k += c >= 0;
    }
    if (n > SHOWN)
        ac_detail(cx, "and %d more", n - SHOWN);
}

int ac_lock_check(ac_ctx *cx, const ac_lock *locked, const ac_lock *now)
{
    ac_lock_delta d = ac_lock_compare(locked, now);
    ac_place at = {.file = locked->file};
    if (d.same)
        return AC_OK;
    if (ac_lock_strangers(locked, now)) {
        ac_error(cx, at, E0602,
                 "this is the lock of another model: it was made from '%s' (%d operators), this is '%s' (%d operators)",
                 locked->model, locked->operators, now->model, now->operators);
        ac_detail(cx, "%d of its %d tensors are in this model", d.common, locked->n);
        return ac_help(cx, "give the lock of this model, or --update-lock to write a new one");
    }
    ac_bytes was = locked->mem[0].bytes, is = now->mem[0].bytes;
    const char *arena = was == is ? ac_strf(cx->region, "arena %s B as before", ac_commas(cx, is))
                                  : ac_strf(cx->region, "arena %s -> %s B", ac_commas(cx, was), ac_commas(cx, is));
    ac_error(cx, at, E0602,
             "the plan of '%s' is not the locked one: %s, %d of %d tensors moved, %d resized, %d new, %d gone",
             now->model, arena, d.moved, now->n, d.resized, d.added, d.removed);
    name_changes(cx, locked, now);
    if (other_options(locked, now))
        name_options(cx, locked, now);
    else if (strcmp(locked->planner, now->planner) != 0)
        ac_reason(cx, "the lock was made with planner '%s', this plan by '%s'", locked->planner, now->planner);
    else if (!d.same_graph)
        ac_reason(cx, "the graph is not the same: operators, types, shapes or edges changed");
    return ac_help(cx, "if the change is wanted, --update-lock writes the new plan");
}
