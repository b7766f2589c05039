/* requested.c - the outputs that the options request: --emit, -o, --lock, --evidence and --json, and their paths. */
#include "driver/emit/outputs.h"

#include "base/ascii.h"
#include "base/file.h"
#include "base/shell.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"

#include <string.h>

/* ------------------------------------------------------------------ paths */

/* The next kind of a list; NULL after the last. */
static const char *next_kind(const ac_made *a, const char **list)
{
    while (**list == ',')
        ++*list;
    const size_t n = strcspn(*list, ",");
    const char *kind = n ? ac_strf(a->cx->region, "%.*s", (int)n, *list) : NULL;
    *list += n;
    return kind;
}

/* -o FOLDER/: files in it have the name of the model's, or of the problem with .plan, and it is made for them. */
static const char *in_folder(const ac_made *a, const char *output)
{
    a->out->folder = output;
    return ac_strf(a->cx->region, "%s%s%s", output, a->source->stem, a->intervals ? ".plan" : "");
}

/* True if the kind goes to standard output when -o is missing. An interval problem's stem may be that of the file that
 * was read, so only pictures are files then. */
static bool prints(const ac_made *a, const ac_output_row *r, bool alone)
{
    return (!r || r->where != PICTURE) && (a->intervals || (alone && r && r->needs != CODE));
}

/* One file, or no file at all: the path of -o. One report: standard output. Several, and pictures: a stem with the
 * extension of each. */
static const char *path_of(const ac_made *a, const char *kind, bool alone)
{
    const char *output = a->opt->output;
    const ac_output_row *r = ac_output_find(kind);
    const char *ext = r ? r->ext : ac_backend_ext(kind);
    const bool folder = output && ac_has_ending(output, "/");
    if (output && ((alone && !folder) || ac_output_is_stream(output) || (folder && r && r->where == FOLDER)))
        return output;
    if (!output && prints(a, r, alone))
        return "-";
    return ac_strf(a->cx->region, "%s%s",
                   folder   ? in_folder(a, output)
                   : output ? ac_output_stem(a->cx, output)
                            : a->source->stem,
                   ext ? ext : ac_strf(a->cx->region, ".%s", kind));
}

/* ------------------------------------------------------------------ lists */

/* The first kind of the list that goes to standard output; NULL: none does. */
static const char *printed_kind(const ac_made *a, const char *list)
{
    const bool alone = !strchr(list, ',');
    const char *kind;
    do
        kind = next_kind(a, &list);
    while (kind && strcmp(path_of(a, kind, alone), "-") != 0);
    return kind;
}

/* AC_OK: standard output gets one document at most. */
static int check_documents(const ac_made *a, const char *list)
{
    const bool alone = !strchr(list, ',');
    const bool piped = ac_is(a->opt->output, "-"), json = a->opt->json && *list;
    if (piped && (!alone || json)) {
        ac_error(a->cx, (ac_place){0}, E0501, "standard output is one document: -o - does not go with %s",
                 alone ? "--json" : ac_strf(a->cx->region, "--emit %s", list));
        return ac_help(a->cx, "%s", alone ? "--json writes its document there without -o" : "-o STEM writes files");
    }
    const char *kind = json ? printed_kind(a, list) : NULL;
    if (!kind)
        return AC_OK;
    ac_error(a->cx, (ac_place){0}, E0501,
             "standard output is one document: --json does not go with --emit %s without -o", kind);
    return ac_help(a->cx, "-o FILE writes the %s to a file", kind);
}

/* AC_OK: -o does not name a folder as if it were a file. It may be that of a stem, but for "." and "..". */
static int check_path(const ac_made *a, const char *list)
{
    const char *path = a->opt->output, *last = path ? ac_path_name(path) : "";
    const bool stem = strchr(list, ',') && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
    if (!path || ac_has_ending(path, "/") || stem || ac_emits_folder(list) || !ac_folder_exists(path))
        return AC_OK;
    ac_error(a->cx, (ac_place){.file = path}, E0501, "-o names a folder");
    return ac_help(a->cx, "-o %s/ writes files in it", ac_shell_word(a->cx, path));
}

static int write_list(const ac_made *a, const char *list)
{
    const bool alone = !strchr(list, ',');
    int status = AC_OK;
    AC_TRY(check_documents(a, list));
    AC_TRY(check_path(a, list));
    for (int turn = 0; turn < 3; turn++) { /* code, then headers with its requirements, then reports */
        const char *at = list;
        for (const char *kind; (kind = next_kind(a, &at)) != NULL;)
            if ((ac_output_find(kind) ? 2 : !strcmp(kind, "h")) == turn &&
                ac_emit(a, kind, path_of(a, kind, alone)) != AC_OK)
                status = AC_FAIL;
    }
    return status;
}

static const char *default_list(const ac_made *a)
{
    const bool piped = a->opt->output && ac_output_is_stream(a->opt->output);
    if (!a->module)
        return a->opt->output ? "csv" : "";
    return a->lowering->set.gpu ? (piped ? "cu" : "cu,h") : piped ? "c" : "c,h";
}

const char *ac_blob_path(const ac_made *a, const char *code)
{
    return ac_module_weights(a->module) == AC_WEIGHTS_ASM
               ? ac_strf(a->cx->region, "%s.bin", code)
               : ac_strf(a->cx->region, "%s.bin", ac_output_stem(a->cx, code));
}

/* Where the weights go when the list holds a kind that has them in a file of their own; NULL: it holds none, or there
 * is a blob already. */
static const char *blob_of(const ac_made *a, const char *list)
{
    const ac_weights w = a->module ? ac_module_weights(a->module) : AC_WEIGHTS_RODATA;
    const bool alone = !strchr(list, ',');
    if (w == AC_WEIGHTS_RODATA || (a->opt->output && ac_output_is_stream(a->opt->output)) ||
        (w == AC_WEIGHTS_BLOB && ac_emits(list, "blob")))
        return NULL;
    for (const char *kind; (kind = next_kind(a, &list)) != NULL;)
        if (w == AC_WEIGHTS_ASM ? ac_is(kind, "c") || ac_is(kind, "cu") : strcmp(kind, "h") && ac_backend_ext(kind))
            return ac_blob_path(a, path_of(a, kind, alone));
    return NULL;
}

/* The report, unless standard output is for something else. */
static bool wants_report(const ac_made *a, const char *list)
{
    return !a->opt->quiet && !ac_is(a->opt->output, "-") && !printed_kind(a, list);
}

int ac_write(const ac_made *a)
{
    const char *list = a->opt->emit ? a->opt->emit : default_list(a);
    int status = write_list(a, list);
    if (ac_lock_plan(a) != AC_OK)
        status = AC_FAIL;
    const char *blob = blob_of(a, list);
    if (blob)
        AC_TRY(ac_emit(a, "blob", blob));
    if (a->opt->evidence && status == AC_OK)
        AC_TRY(ac_evidence(a));
    ac_depfile_put(a);
    if (a->opt->json)
        return ac_emit(a, "json", "-") == AC_OK ? status : AC_FAIL;
    a->out->listed = wants_report(a, list);
    if (a->out->listed)
        ac_report_put(a, ac_pending_add(a->out, "-"));
    return status;
}
