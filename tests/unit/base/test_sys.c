/* test_sys.c - the requests of the tool to an operating system (base/sys/sys.h), the same on each of them. */
#include "base/sys/sys.h"
#include "tests/unit/support/expect.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void join(char to[AC_SYS_PATH], const char *a, const char *b)
{
    strcpy(to, a);
    strcat(to, b);
}

static void test_names(void)
{
    CHECK(!strcmp(ac_sys_name("a/b.c"), "b.c"));
    CHECK(!strcmp(ac_sys_name("b.c"), "b.c"));
    CHECK(ac_sys_root("/a") == 1);
    CHECK(ac_sys_root("a/b") == 0);
#ifdef _WIN32
    CHECK(ac_sys_root("C:/a") == 3 && ac_sys_root("C:a") == 2 && ac_sys_root("//host/a") == 7);
    CHECK(!strcmp(ac_sys_name("C:\\a\\b.c"), "b.c"));
    CHECK(!strcmp(ac_sys_name("C:b.c"), "b.c"));
#endif
}

/* A name that is in no code page, with a space. */
static void test_files(const char *folder)
{
    char path[AC_SYS_PATH], to[AC_SYS_PATH], real[AC_SYS_PATH], bytes[8];
    ac_sys_info of;
    size_t n;
    join(path, folder, "/\xc3\xa4 \xe6\xa8\xa1.txt");
    join(to, folder, "/to");
    CHECK(ac_sys_open(path, AC_SYS_READ, 0) < 0 && errno == ENOENT);
    int fd = ac_sys_open(path, AC_SYS_CREATE, 0666);
    CHECK(fd >= 0 && !ac_sys_write_all(fd, "a\nb\r\n\0", 6) && !ac_sys_flush(fd) && !ac_sys_close(fd));
    CHECK(ac_sys_open(path, AC_SYS_CREATE, 0666) < 0 && errno == EEXIST);
    CHECK(!ac_sys_info_of(path, &of) && of.kind == AC_SYS_FILE && of.bytes == 6);
    CHECK(!ac_sys_info_of(folder, &of) && of.kind == AC_SYS_FOLDER);
    char *text = ac_sys_text(path, &n);
    CHECK(text && n == 6 && !memcmp(text, "a\nb\r\n\0\0", 7));
    free(text);
    fd = ac_sys_open(path, AC_SYS_READ, 0);
    CHECK(ac_sys_at_start(fd) && !ac_sys_info_at(fd, &of) && of.bytes == 6);
    const char *map = ac_sys_map(fd, 6);
    CHECK(map && !memcmp(map, "a\nb\r\n", 6) && (uintptr_t)map % 16 == 0);
    ac_sys_rest((void *)(uintptr_t)map, 6);
    CHECK(map && map[0] == 'a' && !ac_sys_unmap((void *)(uintptr_t)map, 6));
    CHECK(ac_sys_read(fd, bytes, sizeof bytes) == 6 && ac_sys_read(fd, bytes, sizeof bytes) == 0);
    CHECK(!ac_sys_at_start(fd) && !ac_sys_close(fd));
    fd = ac_sys_open(to, AC_SYS_CREATE, 0666);
    CHECK(fd >= 0 && !ac_sys_close(fd) && !ac_sys_rename(path, to)); /* replaces */
    CHECK(!ac_sys_info_of(to, &of) && of.bytes == 6 && ac_sys_info_of(path, &of) && errno == ENOENT);
    CHECK(!ac_sys_real(to, real) && !strcmp(ac_sys_name(real), "to") && ac_sys_root(real) > 0);
    CHECK(ac_sys_real(path, real) && errno == ENOENT);
    join(path, folder, "/t*");
    char **found = ac_sys_matches(path, &n);
    CHECK(n == 1 && !strcmp(ac_sys_name(found[0]), "to"));
    ac_sys_matches_free(found, n);
    CHECK(ac_sys_folder_make(folder) && errno == EEXIST);
    CHECK(ac_sys_folder_remove(folder) != 0);
}

static void test_folder(void)
{
    char folder[AC_SYS_PATH];
    ac_sys_info of;
    ac_sys_temporary(folder);
    CHECK(!ac_sys_info_of(folder, &of) && of.kind == AC_SYS_FOLDER);
    strcat(folder, "/arenac-test-XXXXXX");
    CHECK(!ac_sys_folder_new(folder) && !strstr(folder, "XXXXXX"));
    test_files(folder);
    ac_sys_folder_empty(folder, false);
    CHECK(!ac_sys_folder_remove(folder));
}

/* This program itself, as `what`. */
static int run(const char *what, const char *text, int seconds, char **output)
{
    char own[AC_SYS_PATH], log[AC_SYS_PATH];
    CHECK(!ac_sys_own_path(own));
    ac_sys_temporary(log);
    strcat(log, "/arenac-test-sys.log");
    const char *const argv[] = {own, what, text, NULL};
    const ac_sys_program p = ac_sys_start(argv, log);
    CHECK(p != -1);
    const int status = ac_sys_wait(p, seconds);
    *output = ac_sys_text(log, NULL);
    ac_sys_remove(log);
    return status;
}

static const char WORDS[] = "two words, \"quoted\" \\\"and\\\\ \xc3\xa4\\";

static void test_programs(void)
{
    char *output;
    CHECK(run("say", WORDS, 0, &output) == 7);
    CHECK(output && !strcmp(output, WORDS));
    free(output);
    CHECK(run("wait", "", 1, &output) == AC_SYS_LATE);
    free(output);
    const char *const none[] = {"/nowhere/at all", NULL};
    char log[AC_SYS_PATH];
    ac_sys_temporary(log);
    strcat(log, "/arenac-test-none.log");
    CHECK(ac_sys_start(none, log) == -1);
    ac_sys_remove(log);
}

static void test_library(void)
{
    CHECK(!ac_sys_library("/nowhere/x" AC_SYS_LIBRARY, false) && *ac_sys_library_why());
}

static void look(ac_sys_watch *w, void *arg)
{
    while (ac_sys_watch_wait(w, 1))
        atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_watch(void)
{
    static atomic_int looked;
    const double from = ac_sys_now_ms();
    ac_sys_watch *w = ac_sys_watch_begin(look, &looked);
    CHECK(w != NULL);
    while (!atomic_load(&looked) && ac_sys_now_ms() < from + 60000)
        continue;
    ac_sys_watch_end(w);
    CHECK(atomic_load(&looked) > 0);
}

static void print(FILE *to, const void *arg)
{
    fprintf(to, "%s\n", (const char *)arg);
}

static void test_rest(void)
{
    uint64_t key[2] = {0}, other[2] = {0};
    char *text = ac_sys_printed(print, "a text");
    CHECK(text && !strcmp(text, "a text\n"));
    free(text);
    CHECK(ac_sys_random(key, sizeof key) && ac_sys_random(other, sizeof other) && memcmp(key, other, sizeof key) != 0);
    CHECK(ac_sys_memory() > 1u << 20);
    CHECK(ac_sys_process() > 0);
}

int main(int argc, char **argv)
{
    ac_sys_main(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "say")) {
        fputs(argv[2], stdout);
        return 7;
    }
    if (argc > 1) { /* for longer than its parent waits */
        for (const double from = ac_sys_now_ms(); ac_sys_now_ms() < from + 20000;)
            continue;
        return 0;
    }
    test_names();
    test_folder();
    test_programs();
    test_library();
    test_watch();
    test_rest();
    return failures != 0;
}
