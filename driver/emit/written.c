/* written.c - the files that a command has written, in two forms: a list with their sizes and the command that compiles
 * them, printed after they appeared; a rule of make (--depfile), itself one of the files. And the document of --json
 * for a command that failed. */
#include "driver/emit/emit.h"

#include "base/file.h"
#include "base/shell.h"
#include "host/firmware/board.h"

#include <string.h>

/* ------------------------------------------------------------------ --depfile */

/* As make reads a name: blanks, '#' and '$' escaped. */
static void put_name(ac_sink *to, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#')
            ac_putc(to, '\\');
        if (*name == '$')
            ac_putc(to, '$');
        ac_putc(to, *name);
    }
}

typedef AC_VEC(const char *) paths;

static bool is_file(const char *path)
{
    return strcmp(path, "-") && !ac_file_is_special(path);
}

/* The files that a compilation and its parts read, each once, in the order of opening. */
static void add_read(const ac_work *w, paths *read, ac_region *r)
{
    for (const ac_read_file *f = w->cx.read; f; f = f->next) {
        bool known = false;
        for (int32_t i = 0; i < read->n; i++)
            known |= !strcmp(read->item[i], f->path);
        if (!known)
            ac_push(r, read, f->path);
    }
    for (const ac_work *part = w->child; part; part = part->sibling)
        add_read(part, read, r);
}

void ac_depfile_put(const ac_made *a)
{
    paths read = {0};
    if (!a->opt->depfile)
        return;
    const int32_t n = a->out->list.n;
    ac_sink *to = ac_pending_add(a->out, a->opt->depfile);
    for (int32_t i = 0; i < n && !to->n; i++) /* Ninja takes no target that is not among those of its rule */
        if (is_file(a->out->list.item[i].path))
            put_name(to, a->out->list.item[i].path);
    ac_putc(to, ':');
    add_read(a->owner, &read, a->cx->region);
    for (int32_t i = 0; i < read.n; i++) {
        ac_put(to, " \\\n  ");
        put_name(to, read.item[i]);
    }
    ac_put(to, "\n");
}

/* ------------------------------------------------------------------ the list */

static bool ends_in(const char *path, const char *ext)
{
    const size_t n = strlen(path), k = strlen(ext);
    return n > k && !strcmp(path + n - k, ext);
}

/* The compiler, with its options for the target's core. NULL: compiling the code takes more (files of the runtime, a
 * compiler for GPUs). */
static const char *compiler_of(const ac_made *a)
{
    const ac_module *m = a->module;
    if (!m || ac_emits_folder(a->opt->emit) || m->host || m->threads > 1 || a->lowering->set.gpu)
        return NULL;
    const ac_board *b = ac_board_of(m->target);
    return b ? ac_strf(a->cx->region, "%sgcc %s", b->prefix, b->cpu) : m->target->firmware ? NULL : "cc";
}

static void put_list(const ac_made *a, ac_sink *to, const ac_output *out, int32_t n)
{
    size_t longest = 0;
    const char *source = NULL;
    for (int32_t i = 0; i < n; i++)
        if (is_file(out[i].path)) {
            const size_t length = strlen(out[i].path);
            longest = length > longest ? length : longest;
            source = !source && ends_in(out[i].path, ".c") ? out[i].path : source;
        }
    if (!longest)
        return;
    ac_put(to, "\n  Written\n");
    for (int32_t i = 0; i < n; i++)
        if (is_file(out[i].path))
            ac_putf(to, "       %-*s %12s B\n", (int)longest, out[i].path,
                    ac_commas(to->cx, (int64_t)ac_sink_size(out[i].sink)));
    const char *cc = source ? compiler_of(a) : NULL;
    if (cc)
        ac_putf(to, "  Compile it with: %s -O2 -c %s\n", cc, ac_shell_word(to->cx, source));
}

int ac_written_say(const ac_made *a, const ac_output *out, int32_t n)
{
    ac_sink to;
    if (!a->out->listed)
        return AC_OK;
    a->out->listed = false;
    ac_sink_open(&to, a->cx);
    put_list(a, &to, out, n);
    return to.n ? ac_sink_commit(&to, "-") : AC_OK;
}

/* ------------------------------------------------------------------ --json of what ended before its document */

bool ac_written_is_told(const ac_made *a)
{
    const ac_exit status = ac_diags_exit(&a->cx->diags);
    return a->request->purpose == AC_FOR_FILES && (status == AC_EXIT_BUDGET || status == AC_EXIT_CHANGED);
}

int ac_written_json(const ac_made *a)
{
    ac_sink to;
    ac_sink_open(&to, a->cx);
    ac_report_json(&to, ac_written_is_told(a) ? a->report : NULL, &a->cx->diags);
    return ac_sink_commit(&to, "-");
}
