/* written.c - outputs become files, all of them or none. The files in two forms: a list with their sizes and the
 * command that compiles them, printed after they appeared; a rule of make (--depfile), itself one of the files. And the
 * document of --json for a command that failed. */
#include "driver/emit/emit.h"

#include "base/ascii.h"
#include "base/file.h"
#include "base/shell.h"
#include "codegen/c/identifiers.h"
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
            source = !source && ac_has_ending(out[i].path, ".c") ? out[i].path : source;
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

static int print_list(const ac_made *a, const ac_output *out, int32_t n)
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

/* ------------------------------------------------------------------ all outputs become files */

/* The verb failed before the document of --json: ac_written_json prints another one. */
static bool is_moot(const ac_made *a)
{
    const ac_exit status = ac_diags_exit(&a->cx->diags);
    return a->opt->json && (status == AC_EXIT_INVALID || status == AC_EXIT_USAGE || status == AC_EXIT_IO);
}

/* True if the header that -o names is that of the model, and not one of the runtime besides it. */
static bool is_of_model(const ac_made *a, const char *stem)
{
    const char *base = a->opt->output ? ac_path_name(a->opt->output) : "";
    const size_t n = strlen(stem);
    return !strncmp(base, stem, n) && (base[n] == '.' || !base[n]);
}

/* The header time.h would hide that of C, arn_rt.h that of the runtime. */
static int check_headers(const ac_made *a)
{
    for (int32_t i = 0; i < a->out->list.n; i++) {
        const char *base = ac_path_name(a->out->list.item[i].path);
        const int n = (int)strlen(base) - 2;
        const char *stem = ac_strf(a->cx->region, "%.*s", n > 0 ? n : 0, base);
        const bool runtime = !strncmp(stem, "arn_", 4) && is_of_model(a, stem);
        if (n <= 0 || strcmp(base + n, ".h") || !(runtime || ac_c_is_header(stem)))
            continue;
        ac_error(a->cx, (ac_place){.file = a->out->list.item[i].path}, E0501, "the header would hide %s",
                 runtime ? "that of a runtime file, whose names begin with arn_"
                         : ac_strf(a->cx->region, "<%s> of the system", base));
        return ac_help(a->cx, "take another name for -o, or for --name of a project, such as %s_model", stem);
    }
    return AC_OK;
}

int ac_commit(const ac_made *a)
{
    int32_t n = 0;
    AC_TRY(check_headers(a));
    for (int32_t i = 0; i < a->out->list.n; i++)
        if (!is_moot(a) || strcmp(a->out->list.item[i].path, "-") != 0)
            a->out->list.item[n++] = a->out->list.item[i];
    a->out->list.n = 0;
    if (a->out->folder)
        AC_TRY(ac_folder_make(a->cx, a->out->folder));
    AC_TRY(ac_sink_commit_all(a->cx, a->out->list.item, n));
    return print_list(a, a->out->list.item, n);
}
