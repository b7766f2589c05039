/* file.c - files as mapped memory. */
#include "base/file.h"
#include "base/interrupt.h"
#include "base/sys/sys.h"
#include "base/visible.h"

#include <errno.h>
#include <string.h>

enum { STDIN = 0 };
static const uint8_t NOTHING[16];

/* The file in the folder of this path that was most likely meant; NULL: no name is near. */
static const char *near_file(ac_ctx *cx, const char *path)
{
    const char *last = ac_path_name(path);
    const char *folder = ac_strf(cx->region, "%.*s", (int)(last - path), path);
    size_t n;
    char **found = ac_sys_matches(ac_strf(cx->region, "%s*", folder), &n);
    const char **name = AC_NEW_N(cx->region, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        name[i] = ac_strdup(cx->region, ac_path_name(found[i]));
    ac_sys_matches_free(found, n);
    const char *near = ac_closest(last, name, (int32_t)n);
    return near ? ac_strf(cx->region, "%s%s", folder, near) : NULL;
}

static int refuse(ac_ctx *cx, const char *path, int why)
{
    ac_place at = {.file = path};
    ac_error(cx, at, E0301, "cannot read: %s", strerror(why));
    if (why == EISDIR)
        return ac_help(cx, "name the model file inside the directory");
    const char *near = why == ENOENT ? near_file(cx, path) : NULL;
    return near ? ac_help(cx, "did you mean '%s'?", near) : AC_FAIL;
}

/* Reads a file of unknown size to its end. Each doubling moves to a fresh region, so that the old one is freed. Returns
 * 0 or an errno. */
static int slurp(ac_ctx *cx, int fd, ac_file *f)
{
    size_t cap = 64 * 1024, n = 0;
    ac_region *room = ac_region_open(&cx->heap);
    uint8_t *p = ac_alloc(room, cap);
    for (;;) {
        if (n == cap) {
            ac_region *larger = ac_region_open(&cx->heap);
            uint8_t *q = ac_alloc_n(larger, 2, cap);
            memcpy(q, p, n);
            ac_region_close(room);
            room = larger;
            p = q;
            cap *= 2;
        }
        const int64_t got = ac_sys_read(fd, p + n, cap - n);
        if (got < 0) {
            int why = errno;
            ac_region_close(room);
            return why;
        }
        if (!got)
            break;
        n += (size_t)got;
    }
    f->data = p; /* the region stays open until the heap is closed */
    f->n = n;
    return 0;
}

void ac_file_note(ac_ctx *cx, const char *path)
{
    ac_read_file *r = AC_NEW(cx->region, ac_read_file);
    r->path = ac_strdup(cx->region, path);
    if (!cx->read_tail)
        cx->read_tail = &cx->read;
    *cx->read_tail = r;
    cx->read_tail = &r->next;
}

/* Where a lender has the file mapped for as long as this context lives. NULL: nowhere. */
static const void *lent(const ac_ctx *cx, const ac_resident *wanted)
{
    for (const ac_ctx *from = cx->lender; from; from = from->lender)
        for (const ac_resident *r = from->resident; r; r = r->next)
            if (r->map && r->kept && r->n == wanted->n && !memcmp(r->id, wanted->id, sizeof r->id))
                return r->map;
    return NULL;
}

int ac_file_load(ac_ctx *cx, int fd, ac_file *f)
{
    ac_sys_info of;
    f->data = NOTHING;
    if (fd != STDIN)
        ac_file_note(cx, f->path);
    if (ac_sys_info_at(fd, &of))
        return errno;
    if (of.kind == AC_SYS_FOLDER)
        return EISDIR;
    if (of.kind == AC_SYS_FILE && of.bytes > 0 && ac_sys_at_start(fd)) {
        if (of.bytes > SIZE_MAX / 2)
            return EFBIG;
        ac_mapped *known = AC_NEW(cx->region, ac_mapped);
        ac_resident *resident = AC_NEW(cx->region, ac_resident);
        resident->n = (size_t)of.bytes;
        memcpy(resident->id, of.id, sizeof of.id);
        const void *there = lent(cx, resident);
        if (there) {
            f->data = there;
            f->n = resident->n;
            return 0;
        }
        void *map = ac_sys_map(fd, (size_t)of.bytes);
        if (map) {
            f->map = map;
            f->data = map;
            f->n = (size_t)of.bytes;
            *known = (ac_mapped){.owner = cx, .at = map, .n = f->n, .path = ac_visible(cx->region, f->path)};
            ac_mapped_add(known);
            f->resident = resident;
            resident->next = cx->resident;
            resident->map = map;
            cx->resident = resident;
            return 0;
        }
    }
    return slurp(cx, fd, f);
}

int ac_file_open(ac_ctx *cx, const char *path, ac_file *f)
{
    bool standard = !strcmp(path, "-");
    *f = (ac_file){.path = standard ? "<stdin>" : path, .data = NOTHING};
    int fd = standard ? STDIN : ac_sys_open(path, AC_SYS_READ, 0);
    if (fd < 0)
        return refuse(cx, f->path, errno);
    int why = ac_file_load(cx, fd, f);
    if (!standard)
        ac_sys_close(fd);
    return why ? refuse(cx, f->path, why) : AC_OK;
}

void ac_file_close(ac_file *f)
{
    if (f->map) {
        if (f->counted)
            ac_heap_uncount(f->counted, f->n);
        ac_mapped_remove(f->map);
        f->resident->map = NULL;
        ac_sys_unmap(f->map, f->n);
    }
    *f = (ac_file){.path = f->path, .data = NOTHING};
}

void ac_file_count(ac_ctx *cx, ac_file *f)
{
    if (!f->map || f->counted)
        return;
    ac_heap_count(&cx->heap, f->n);
    f->counted = &cx->heap;
}

void ac_files_rest(ac_ctx *cx)
{
    for (ac_resident *r = cx->resident; r; r = r->next)
        if (r->map)
            ac_sys_rest(r->map, r->n);
}

void ac_file_keep(ac_ctx *cx, const ac_file *f)
{
    if (!f->map)
        return;
    ac_kept *k = AC_NEW(cx->region, ac_kept);
    *k = (ac_kept){.next = cx->kept, .map = f->map, .n = f->n, .unmap = ac_sys_unmap};
    cx->kept = k;
    f->resident->kept = true;
}

int ac_folder_make(ac_ctx *cx, const char *path)
{
    char *up = ac_strdup(cx->region, path);
    ac_sys_info of;
    if (!path[ac_sys_root(path)])
        return AC_OK;
    for (char *p = up + ac_sys_root(up);; *p++ = '/') {
        p += strspn(p, AC_SYS_SLASHES);
        p += strcspn(p, AC_SYS_SLASHES);
        const bool last = !*p;
        *p = '\0';
        ac_made_folder *made = AC_NEW(cx->region, ac_made_folder); /* before there is something to undo */
        *made = (ac_made_folder){cx->made, ac_strdup(cx->region, up)};
        if (ac_sys_folder_make(up) == 0)
            cx->made = made;
        else if (errno != EEXIST || ac_sys_info_of(up, &of) || of.kind != AC_SYS_FOLDER)
            return ac_error(cx, (ac_place){.file = made->path}, E0302, "cannot create the folder: %s", strerror(errno));
        if (last)
            return AC_OK;
    }
}

void ac_folders_forget(ac_ctx *cx)
{
    for (const ac_made_folder *f = cx->made; f && cx->diags.errors; f = f->next)
        ac_sys_folder_remove(f->path);
    cx->made = NULL;
}

bool ac_file_exists(const char *path)
{
    ac_sys_info of;
    return ac_sys_info_of(path, &of) == 0 && of.kind != AC_SYS_FOLDER;
}

bool ac_folder_exists(const char *path)
{
    ac_sys_info info;
    return !ac_sys_info_of(path, &info) && info.kind == AC_SYS_FOLDER;
}

bool ac_file_is_special(const char *path)
{
    ac_sys_info of;
    return ac_sys_info_of(path, &of) == 0 && of.kind == AC_SYS_SPECIAL;
}

const char *ac_path_name(const char *path)
{
    return ac_sys_name(path);
}
