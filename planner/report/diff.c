/* diff.c - compares two locks, for merge requests.
 *
 *   arena   64,512 -> 55,296 B   -9,216 B (-14.3 %)     (lock made with --planner greedy)
 *   moved   18 of 32 tensors, largest t59 0x0b400 -> 0x09000
 *   graph   same (31 operators, sha256 of the structure equal) */
#include "planner/report/lock.h"

#include "base/json_out.h"
#include "planner/report/names.h"
#include "planner/report/section.h"

#include <string.h>

static const char *change(ac_ctx *cx, ac_bytes was, ac_bytes is)
{
    if (was == is)
        return ac_strf(cx->region, "%s B   same", ac_commas(cx, is));
    const char *sign = is > was ? "+" : "";
    const char *text = ac_strf(cx->region, "%s -> %s B   %s%s B", ac_commas(cx, was), ac_commas(cx, is), sign,
                               ac_commas(cx, is - was));
    return was ? ac_strf(cx->region, "%s (%s%.1f %%)", text, sign, ac_report_percent(is - was, was)) : text;
}

static ac_bytes bytes_of(const ac_lock *lock, const char *mem, bool *found)
{
    for (int32_t m = 0; m < lock->n_mems; m++)
        if (!strcmp(lock->mem[m].name, mem)) {
            *found = true;
            return lock->mem[m].bytes;
        }
    return 0;
}

typedef struct memory {
    const char *name;
    ac_bytes was, is;
} memory;

/* The i-th memory: those of b, then what a has besides. false: there are no more. */
static bool memory_at(const ac_lock *a, const ac_lock *b, int32_t i, memory *out)
{
    bool found = false;
    if (i < b->n_mems) {
        *out = (memory){b->mem[i].name, bytes_of(a, b->mem[i].name, &found), b->mem[i].bytes};
        return true;
    }
    for (int32_t m = 0; m < a->n_mems; m++) {
        found = false;
        (void)bytes_of(b, a->mem[m].name, &found);
        *out = (memory){a->mem[m].name, a->mem[m].bytes, 0};
        if (!found && i-- == b->n_mems)
            return true;
    }
    return false;
}

/* The bytes of all memories of tensors, except state. */
static ac_bytes arena_of(const ac_lock *lock)
{
    ac_bytes sum = 0;
    for (int32_t m = 0; m < lock->n_mems; m++)
        sum += strcmp(lock->mem[m].name, "state") != 0 ? lock->mem[m].bytes : 0;
    return sum;
}

const struct ac_name_list *ac_lock_names(ac_ctx *cx, const ac_lock *a, const ac_lock *b)
{
    const char **name = AC_NEW_N(cx->region, const char *, a->n + b->n + 1);
    for (int32_t i = 0; i < a->n; i++)
        name[i] = a->row[i].name;
    for (int32_t i = 0; i < b->n; i++)
        name[a->n + i] = b->row[i].name;
    return ac_names_new(cx, name, a->n + b->n);
}

/* "18 of 32 tensors, largest t59 0x0b400 -> 0x09000" */
static const char *moved_text(ac_ctx *cx, const ac_lock_delta *d, const ac_name_list *names)
{
    const char *text = ac_strf(cx->region, "%d of %d tensor%s", d->moved, d->common, d->common == 1 ? "" : "s");
    if (!d->largest)
        return text;
    bool away = strcmp(d->largest->mem, d->largest_to->mem) != 0;
    return ac_strf(cx->region, "%s, largest %s %s%s0x%05llx -> %s%s0x%05llx", text,
                   ac_name_short(names, d->largest->name), away ? d->largest->mem : "", away ? " " : "",
                   (unsigned long long)d->largest->offset, away ? d->largest_to->mem : "", away ? " " : "",
                   (unsigned long long)d->largest_to->offset);
}

static const char *graph_text(ac_ctx *cx, const ac_lock *a, const ac_lock *b)
{
    if (!strcmp(a->graph, b->graph))
        return ac_strf(cx->region, "same (%d operator%s, sha256 of the structure equal)", b->operators,
                       b->operators == 1 ? "" : "s");
    if (ac_lock_strangers(a, b))
        return ac_strf(cx->region, "another model: '%s' (%d operators) and '%s' (%d operators) share %d of %d tensors",
                       a->model, a->operators, b->model, b->operators, ac_lock_compare(a, b).common, a->n);
    return ac_strf(cx->region, "different (%d -> %d operators)", a->operators, b->operators);
}

typedef struct pair {
    const ac_lock_row *was, *is;
} pair; /* NULL: not there */

/* Walks both locks by name; *i and *k are where it is. Gives the next two rows that differ. */
static bool next_change(const ac_lock *a, const ac_lock *b, int32_t *i, int32_t *k, pair *out)
{
    while (*i < a->n || *k < b->n) {
        const ac_lock_row *x = *i < a->n ? &a->row[*i] : NULL, *y = *k < b->n ? &b->row[*k] : NULL;
        int c = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);
        *i += c <= 0;
        *k += c >= 0;
        *out = (pair){c <= 0 ? x : NULL, c >= 0 ? y : NULL};
        if (c || x->bytes != y->bytes || x->offset != y->offset || x->first != y->first || x->last != y->last ||
            strcmp(x->mem, y->mem) != 0)
            return true;
    }
    return false;
}

static const char *row_text(ac_ctx *cx, const ac_lock_row *x)
{
    return x ? ac_strf(cx->region, "%s B at %s 0x%05llx, steps %d to %d", ac_commas(cx, x->bytes), x->mem,
                       (unsigned long long)x->offset, x->first, x->last)
             : "-";
}

void ac_lock_diff_text(ac_sink *to, const ac_lock *a, const ac_lock *b, bool verbose)
{
    const ac_lock_delta d = ac_lock_compare(a, b);
    const ac_name_list *names = ac_lock_names(to->cx, a, b);
    memory mem;
    (void)memory_at(a, b, 0, &mem);
    ac_putf(to, "%-7s %s", mem.name, change(to->cx, mem.was, mem.is));
    if (strcmp(a->planner, b->planner) != 0 && a->file)
        ac_putf(to, "     (lock made with --planner %s)", a->planner);
    else if (strcmp(a->planner, b->planner) != 0)
        ac_putf(to, "     (planner %s -> %s)", a->planner, b->planner);
    ac_putc(to, '\n');
    for (int32_t m = 1; memory_at(a, b, m, &mem); m++)
        if (mem.was != mem.is)
            ac_putf(to, "%-7s %s\n", mem.name, change(to->cx, mem.was, mem.is));
    ac_putf(to, "moved   %s\n", moved_text(to->cx, &d, names));
    if (d.resized || d.added || d.removed || d.relived)
        ac_putf(to, "tensors %d resized, %d new, %d gone, %d with another life\n", d.resized, d.added, d.removed,
                d.relived);
    ac_putf(to, "graph   %s\n", graph_text(to->cx, a, b));
    pair x;
    for (int32_t i = 0, k = 0; verbose && next_change(a, b, &i, &k, &x);)
        ac_putf(to, "  %-32s %s -> %s\n", ac_name_fit(names, (x.was ? x.was : x.is)->name, 32), row_text(to->cx, x.was),
                row_text(to->cx, x.is));
}

void ac_lock_diff_md(ac_sink *to, const ac_lock *a, const ac_lock *b)
{
    enum { SHOWN = 40 };
    const ac_lock_delta d = ac_lock_compare(a, b);
    const ac_name_list *names = ac_lock_names(to->cx, a, b);
    ac_put(to, "### ");
    ac_put_md_code(to, b->model);
    ac_putf(to, ": %s\n\n| | before | after | |\n|---|---:|---:|---:|\n", d.same ? "plan unchanged" : "plan changed");
    memory mem;
    for (int32_t m = 0; memory_at(a, b, m, &mem); m++) {
        const char *sign = mem.is > mem.was ? "+" : "";
        ac_putf(to, "| %s | %s | %s | %s%s", mem.name, ac_commas(to->cx, mem.was), ac_commas(to->cx, mem.is), sign,
                ac_commas(to->cx, mem.is - mem.was));
        if (mem.was)
            ac_putf(to, " (%s%.1f %%)", sign, ac_report_percent(mem.is - mem.was, mem.was));
        ac_put(to, " |\n");
    }
    ac_putf(to, "| tensors | %d | %d | %d moved, %d resized |\n", a->n, b->n, d.moved, d.resized);
    ac_putf(to, "| planner | %s | %s | |\n\nGraph: %s.\n", a->planner, b->planner, graph_text(to->cx, a, b));
    pair x;
    int32_t n = 0;
    for (int32_t i = 0, k = 0; next_change(a, b, &i, &k, &x); n++) {
        if (!n)
            ac_put(to, "\n| tensor | before | after |\n|---|---|---|\n");
        if (n >= SHOWN)
            continue;
        ac_put(to, "| ");
        ac_put_md_code(to, ac_name_short(names, (x.was ? x.was : x.is)->name));
        ac_putf(to, " | %s | %s |\n", row_text(to->cx, x.was), row_text(to->cx, x.is));
    }
    if (n > SHOWN)
        ac_putf(to, "\n%d more tensors changed; `arenac diff -v` lists them.\n", n - SHOWN);
}

static void put_row(ac_json *j, const char *key, const ac_lock_row *x)
{
    if (!x) {
        ac_json_str(j, key, NULL);
        return;
    }
    ac_json_obj(j, key);
    ac_json_int(j, "bytes", x->bytes);
    ac_json_str(j, "memory", x->mem);
    ac_json_int(j, "offset_bytes", x->offset);
    ac_json_int(j, "first_step", x->first);
    ac_json_int(j, "last_step", x->last);
    ac_json_end(j);
}

void ac_lock_diff_json(ac_sink *to, const ac_lock *a, const ac_lock *b)
{
    ac_lock_delta d = ac_lock_compare(a, b);
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-diff/1");
    ac_json_bool(&j, "same", d.same);
    ac_json_bool(&j, "same_graph", d.same_graph);
    ac_json_bool(&j, "same_model", !ac_lock_strangers(a, b));
    ac_json_int(&j, "arena_bytes_before", arena_of(a));
    ac_json_int(&j, "arena_bytes_after", arena_of(b));
    ac_json_arr(&j, "memories");
    memory mem;
    for (int32_t m = 0; memory_at(a, b, m, &mem); m++) {
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "name", mem.name);
        ac_json_int(&j, "bytes_before", mem.was);
        ac_json_int(&j, "bytes_after", mem.is);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_str(&j, "planner_before", a->planner);
    ac_json_str(&j, "planner_after", b->planner);
    ac_json_int(&j, "moved", d.moved);
    ac_json_int(&j, "resized", d.resized);
    ac_json_int(&j, "added", d.added);
    ac_json_int(&j, "removed", d.removed);
    ac_json_int(&j, "other_life", d.relived);
    ac_json_arr(&j, "tensors");
    pair x;
    for (int32_t i = 0, k = 0; next_change(a, b, &i, &k, &x);) {
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "name", (x.was ? x.was : x.is)->name);
        put_row(&j, "before", x.was);
        put_row(&j, "after", x.is);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}
