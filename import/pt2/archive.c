/* archive.c - the members of an archive that torch.export.save has written: the program as JSON, and the
 * descriptions of its weights and constants.
 *
 *     net/archive_format                            "pt2"
 *     net/models/model.json                         the program
 *     net/data/weights/model_weights_config.json    which member holds parameter or buffer `conv.weight`, and how
 *     net/data/constants/model_constants_config.json
 *
 * Up to PyTorch 2.8 the weights are a pickle, which arenac does not read. */
#include "import/pt2/pt2.h"

#include "base/ascii.h"

#include <string.h>

static const char AGAIN[] = "write it again with PyTorch 2.9 or newer: "
                            "torch.export.save(torch.export.load(FILE), NEW_FILE)";

static ac_place whole(const ac_ep *r)
{
    return (ac_place){.file = r->reading->file.path};
}

ac_zip_member *ac_ep_member(const ac_ep *r, const char *name)
{
    return ac_zip_find(&r->memo->zip, ac_strf(r->cx->region, "%s%s", r->memo->folder, name));
}

int ac_ep_member_read(ac_ep *r, ac_zip_member *m, ac_span *bytes)
{
    uint32_t found;
    const char *wrong = ac_zip_read(r->cx->region, m, bytes, &found);
    ac_place at = whole(r);
    at.byte = 1 + (int64_t)m->begin;
    if (!wrong)
        return AC_OK;
    if (found != m->crc) {
        ac_error(r->cx, at, E0012, "member '%s' is damaged: its CRC-32 is 0x%08x, expected 0x%08x", m->name, found,
                 m->crc);
        return ac_help(r->cx, "use another copy of the file");
    }
    ac_error(r->cx, at, E0017, "member '%s': %s", m->name, wrong);
    return ac_help(r->cx, "torch.export.save stores members as they are; zip -0 does so as well");
}

/* Finds the folder by a member that every archive has. */
static int find_folder(ac_ep *r)
{
    const ac_zip *z = &r->memo->zip;
    for (int32_t i = 0; i < z->member.n; i++) {
        const char *name = z->member.item[i].name;
        const size_t n = strlen(name), k = strlen("archive_format");
        if (!strcmp(name, "serialized_exported_program.json") ||
            ac_ends_in(name, "/serialized_exported_program.json")) {
            ac_error(r->cx, whole(r), E0017, "a program of torch.export from before PyTorch 2.8");
            return ac_help(r->cx, "%s", AGAIN);
        }
        if (!ac_ends_in(name, "archive_format") || (n > k && name[n - k - 1] != '/'))
            continue;
        r->memo->folder = ac_strf(r->cx->region, "%.*s", (int)(n - k), name);
        return AC_OK;
    }
    return ac_error(r->cx, whole(r), E0012, "the archive has no member 'archive_format'");
}

static int expect(ac_ep *r, const char *name, const char *text)
{
    ac_span s;
    ac_zip_member *m = ac_ep_member(r, name);
    if (!m)
        return AC_OK;
    AC_TRY(ac_ep_member_read(r, m, &s));
    if (s.n >= strlen(text) && !memcmp(s.p, text, strlen(text)))
        return AC_OK;
    return ac_error(r->cx, whole(r), E0017, "member '%s' is not '%s'", m->name, text);
}

/* The name of the only program, or of `model` among several; NULL: not found. */
static const char *find_model(ac_ep *r)
{
    const char *models = ac_strf(r->cx->region, "%smodels/", r->memo->folder), *found = NULL;
    const ac_zip *z = &r->memo->zip;
    for (int32_t i = 0; i < z->member.n; i++) {
        const char *name = z->member.item[i].name, *own = name + strlen(models);
        if (strncmp(name, models, strlen(models)) != 0 || !ac_ends_in(own, ".json") || strchr(own, '/'))
            continue;
        const char *model = ac_strf(r->cx->region, "%.*s", (int)(strlen(own) - 5), own);
        if (!found || !strcmp(model, "model"))
            found = model;
    }
    return found;
}

static int read_json(ac_ep *r, ac_zip_member *m, const ac_js_node **root)
{
    ac_span s;
    AC_TRY(ac_ep_member_read(r, m, &s));
    AC_TRY(ac_js_parse(&r->js, r->cx, ac_strf(r->cx->region, "%s:%s", r->reading->file.path, m->name), s));
    *root = r->js.root;
    return AC_OK;
}

static int read_config(ac_ep *r, const char *folder, ac_ep_dict *to)
{
    ac_zip_member *m =
        ac_ep_member(r, ac_strf(r->cx->region, "data/%s/%s_%s_config.json", folder, r->memo->model, folder));
    const ac_js_node *root;
    if (m) {
        AC_TRY(read_json(r, m, &root));
        return ac_ep_dict_open(r, root, "config", to);
    }
    if (!ac_ep_member(r, ac_strf(r->cx->region, "data/%s/%s.pt", folder, r->memo->model)))
        return AC_OK;
    ac_error(r->cx, whole(r), E0017, "its weights are a Python pickle, as PyTorch 2.8 and older write them");
    return ac_help(r->cx, "%s", AGAIN);
}

int ac_ep_archive_open(ac_ep *r)
{
    ac_ep_memo *m = r->reading->memo;
    if (m) {
        r->memo = m;
        return AC_OK;
    }
    r->memo = m = AC_NEW(r->cx->region, ac_ep_memo);
    const char *wrong = ac_zip_open(r->cx->region, (ac_span){r->reading->file.data, r->reading->file.n}, &m->zip);
    if (wrong)
        return ac_error(r->cx, whole(r), E0012, "not a usable archive: %s", wrong);
    AC_TRY(find_folder(r));
    AC_TRY(expect(r, "archive_format", "pt2"));
    AC_TRY(expect(r, "byteorder", "little"));
    m->model = find_model(r);
    if (!m->model) {
        ac_error(r->cx, whole(r), E0017, "the archive has no program: it holds code that AOTInductor has compiled");
        return ac_help(r->cx, "save the exported program itself: torch.export.save(program, FILE)");
    }
    AC_TRY(read_config(r, "weights", &m->weights[0]));
    AC_TRY(read_config(r, "constants", &m->weights[1]));
    AC_TRY(read_json(r, ac_ep_member(r, ac_strf(r->cx->region, "models/%s.json", m->model)), &m->program));
    r->reading->memo = m;
    return AC_OK;
}
