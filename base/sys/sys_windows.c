/* sys_windows.c - Windows 8 and later; see sys.h. Names are UTF-8 outside and wide inside, so neither code pages nor
 * MAX_PATH matter. */
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0602
#include "base/sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
/* these need the one above */
#include <psapi.h>
#include <shellapi.h>

enum { WIDE = 32768 + 8, LONG_NAME = 240 };
#define CONTROL_C 0xC000013Au

/* ------------------------------------------------------------------ errors and text */

static int errno_of(DWORD error)
{
    static const struct {
        DWORD error;
        int number;
    } ROWS[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                {ERROR_PATH_NOT_FOUND, ENOENT},
                {ERROR_INVALID_NAME, ENOENT},
                {ERROR_BAD_NETPATH, ENOENT},
                {ERROR_MOD_NOT_FOUND, ENOENT},
                {ERROR_DIRECTORY, ENOTDIR},
                {ERROR_ACCESS_DENIED, EACCES},
                {ERROR_SHARING_VIOLATION, EACCES},
                {ERROR_USER_MAPPED_FILE, EACCES},
                {ERROR_WRITE_PROTECT, EROFS},
                {ERROR_FILE_EXISTS, EEXIST},
                {ERROR_ALREADY_EXISTS, EEXIST},
                {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
                {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                {ERROR_OUTOFMEMORY, ENOMEM},
                {ERROR_COMMITMENT_LIMIT, ENOMEM},
                {ERROR_DISK_FULL, ENOSPC},
                {ERROR_HANDLE_DISK_FULL, ENOSPC},
                {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                {ERROR_NO_DATA, EPIPE},
                {ERROR_BROKEN_PIPE, EPIPE},
                {ERROR_NO_UNICODE_TRANSLATION, EILSEQ},
                {ERROR_BAD_EXE_FORMAT, ENOEXEC}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].error == error)
            return ROWS[i].number;
    return EIO;
}

static int failed(void)
{
    errno = errno_of(GetLastError());
    return -1;
}

static bool narrow(const wchar_t *from, char *to, size_t n)
{
    return WideCharToMultiByte(CP_UTF8, 0, from, -1, to, (int)n, NULL, NULL) > 0;
}

static void forward_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

/* A name for the system, which the caller frees: a long one as it is without the limit. NULL: errno. */
static wchar_t *wide(const char *path)
{
    static const wchar_t PREFIX[] = L"\\\\?\\";
    enum { N_PREFIX = 4 };
    const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *plain = n > 0 ? malloc((size_t)n * sizeof *plain) : NULL;
    if (!plain) {
        errno = n > 0 ? ENOMEM : EILSEQ;
        return NULL;
    }
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, plain, n);
    const DWORD need = n > LONG_NAME ? GetFullPathNameW(plain, 0, NULL, NULL) : 0;
    wchar_t *whole = need ? malloc((need + N_PREFIX) * sizeof *whole) : NULL;
    if (!whole)
        return plain;
    memcpy(whole, PREFIX, N_PREFIX * sizeof *whole);
    const DWORD got = GetFullPathNameW(plain, need, whole + N_PREFIX, NULL);
    const bool drive = got && got < need && whole[N_PREFIX + 1] == L':'; /* a name on a host stays as it is */
    free(drive ? plain : whole);
    return drive ? whole : plain;
}

/* status = CALL(wide name), and errno when it is 0. */
#define WITH(name, path, otherwise, ...) \
    wchar_t *name = wide(path);          \
    if (!name)                           \
        return otherwise;                \
    __VA_ARGS__;                         \
    const DWORD error = GetLastError();  \
    free(name);                          \
    SetLastError(error)

void ac_sys_main(int *argc, char ***argv)
{
    int n;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &n);
    char **own = words ? calloc((size_t)n + 1, sizeof *own) : NULL;
    for (int fd = 0; fd < 3; fd++)
        _setmode(fd, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX);
    for (int i = 0; own && i < n; i++) {
        const size_t room = 3 * wcslen(words[i]) + 1;
        own[i] = malloc(room);
        if (!own[i] || !narrow(words[i], own[i], room))
            return; /* those of the C library then */
    }
    if (!own)
        return;
    *argc = n;
    *argv = own;
    LocalFree(words);
}

/* ------------------------------------------------------------------ names */

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

size_t ac_sys_root(const char *path)
{
    if (is_slash(*path) && is_slash(path[1])) {
        const size_t host = 2 + strcspn(path + 2, AC_SYS_SLASHES);
        return host + (path[host] != 0);
    }
    const size_t drive = *path && path[1] == ':' ? 2 : 0;
    return drive + is_slash(path[drive]);
}

const char *ac_sys_name(const char *path)
{
    const char *name = path + ac_sys_root(path);
    for (const char *p = name; *p; p++)
        if (is_slash(*p))
            name = p + 1;
    return name;
}

static HANDLE open_handle(const wchar_t *path, DWORD access, DWORD how)
{
    const DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    return CreateFileW(path, access, shared, NULL, how, FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

int ac_sys_real(const char *path, char real[AC_SYS_PATH])
{
    enum { PREFIX = 4, ON_HOST = 8 };
    WITH(name, path, -1, const HANDLE h = open_handle(name, 0, OPEN_EXISTING));
    wchar_t *whole = h == INVALID_HANDLE_VALUE ? NULL : malloc(WIDE * sizeof *whole);
    const DWORD n = whole ? GetFinalPathNameByHandleW(h, whole, WIDE, 0) : 0;
    if (h == INVALID_HANDLE_VALUE || !n || n >= WIDE) {
        failed();
    } else if (!wcsncmp(whole, L"\\\\?\\UNC\\", ON_HOST)) {
        whole[ON_HOST - 2] = L'\\';
        memmove(whole, whole + ON_HOST - 2, (wcslen(whole + ON_HOST - 2) + 1) * sizeof *whole);
    } else if (!wcsncmp(whole, L"\\\\?\\", PREFIX)) {
        memmove(whole, whole + PREFIX, (wcslen(whole + PREFIX) + 1) * sizeof *whole);
    }
    const bool made = n && n < WIDE && narrow(whole, real, AC_SYS_PATH);
    if (made)
        forward_slashes(real);
    free(whole);
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    return made ? 0 : -1;
}

/* Links are rare here, and a file that replaces one is as editors do. */
int64_t ac_sys_link(const char *path, char *to, size_t n)
{
    (void)path, (void)to, (void)n;
    return -1;
}

int ac_sys_own_path(char path[AC_SYS_PATH])
{
    wchar_t own[AC_SYS_PATH / 3];
    const DWORD n = GetModuleFileNameW(NULL, own, AC_SYS_PATH / 3);
    if (!n || n == AC_SYS_PATH / 3 || !narrow(own, path, AC_SYS_PATH))
        return failed();
    forward_slashes(path);
    return 0;
}

void ac_sys_temporary(char path[AC_SYS_PATH])
{
    wchar_t own[MAX_PATH + 1];
    const DWORD n = GetTempPathW(MAX_PATH + 1, own);
    if (!n || n > MAX_PATH || !narrow(own, path, AC_SYS_PATH))
        strcpy(path, ".");
    forward_slashes(path);
    const size_t length = strlen(path);
    if (length > ac_sys_root(path) && path[length - 1] == '/')
        path[length - 1] = 0;
}

static DWORD attributes_of(const char *path)
{
    WITH(name, path, INVALID_FILE_ATTRIBUTES, const DWORD found = GetFileAttributesW(name));
    return found;
}

bool ac_sys_may_read(const char *path)
{
    return attributes_of(path) != INVALID_FILE_ATTRIBUTES || !failed();
}

bool ac_sys_may_write(const char *path)
{
    const DWORD found = attributes_of(path);
    if (found == INVALID_FILE_ATTRIBUTES)
        return !failed();
    errno = EACCES;
    return !(found & FILE_ATTRIBUTE_READONLY);
}

bool ac_sys_may_run(const char *path)
{
    const DWORD found = attributes_of(path);
    return found != INVALID_FILE_ATTRIBUTES && !(found & FILE_ATTRIBUTE_DIRECTORY);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **ac_sys_matches(const char *pattern, size_t *n)
{
    WIN32_FIND_DATAW found;
    const size_t folder = (size_t)(ac_sys_name(pattern) - pattern);
    size_t room = 0;
    char **names = NULL;
    *n = 0;
    WITH(name, pattern, NULL, const HANDLE h = FindFirstFileW(name, &found));
    if (h == INVALID_HANDLE_VALUE)
        return NULL;
    do {
        if (*n == room) {
            room = room ? 2 * room : 8;
            char **more = realloc(names, room * sizeof *more);
            if (!more)
                break;
            names = more;
        }
        const size_t length = folder + 3 * wcslen(found.cFileName) + 1;
        char *one = malloc(length);
        if (!one)
            break;
        memcpy(one, pattern, folder);
        if (narrow(found.cFileName, one + folder, length - folder))
            names[(*n)++] = one;
        else
            free(one);
    } while (FindNextFileW(h, &found));
    FindClose(h);
    if (*n)
        qsort(names, *n, sizeof *names, by_name);
    return names;
}

/* ------------------------------------------------------------------ files */

static int describe(HANDLE h, ac_sys_info *to)
{
    BY_HANDLE_FILE_INFORMATION i;
    *to = (ac_sys_info){.kind = AC_SYS_SPECIAL, .mode = 0666};
    if (GetFileType(h) != FILE_TYPE_DISK)
        return 0;
    if (!GetFileInformationByHandle(h, &i))
        return failed();
    to->kind = i.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? AC_SYS_FOLDER : AC_SYS_FILE;
    to->bytes = (uint64_t)i.nFileSizeHigh << 32 | i.nFileSizeLow;
    to->id[0] = i.dwVolumeSerialNumber;
    to->id[1] = (uint64_t)i.nFileIndexHigh << 32 | i.nFileIndexLow;
    to->id[2] = i.ftLastWriteTime.dwHighDateTime;
    to->id[3] = i.ftLastWriteTime.dwLowDateTime;
    return 0;
}

int ac_sys_info_of(const char *path, ac_sys_info *to)
{
    WITH(name, path, -1, const HANDLE h = open_handle(name, 0, OPEN_EXISTING));
    if (h == INVALID_HANDLE_VALUE)
        return failed();
    const int status = describe(h, to);
    CloseHandle(h);
    return status;
}

int ac_sys_info_at(int fd, ac_sys_info *to)
{
    return describe((HANDLE)_get_osfhandle(fd), to);
}

int ac_sys_open(const char *path, ac_sys_how how, unsigned mode)
{
    const bool reads = how == AC_SYS_READ || how == AC_SYS_READ_FILE;
    ac_sys_info of;
    (void)mode;
    WITH(name, path, -1,
         const HANDLE h = open_handle(name, reads ? GENERIC_READ : GENERIC_WRITE,
                                      how == AC_SYS_CREATE ? CREATE_NEW : OPEN_EXISTING));
    if (h == INVALID_HANDLE_VALUE)
        return failed();
    if (describe(h, &of) || of.kind == AC_SYS_FOLDER) {
        CloseHandle(h);
        errno = EISDIR;
        return -1;
    }
    return _open_osfhandle((intptr_t)h, reads ? _O_RDONLY | _O_BINARY : _O_BINARY);
}

enum { MOST = 1 << 30 }; /* bytes of a read or a write */

int64_t ac_sys_read(int fd, void *to, size_t n)
{
    return _read(fd, to, n < MOST ? (unsigned)n : MOST);
}

bool ac_sys_at_start(int fd)
{
    return _lseeki64(fd, 0, SEEK_CUR) == 0;
}

void ac_sys_set_mode(int fd, unsigned mode)
{
    (void)fd, (void)mode;
}

int64_t ac_sys_write(int fd, const void *bytes, size_t n)
{
    return _write(fd, bytes, n < MOST ? (unsigned)n : MOST);
}

int ac_sys_flush(int fd)
{
    return FlushFileBuffers((HANDLE)_get_osfhandle(fd)) || GetLastError() != ERROR_DISK_FULL ? 0 : ENOSPC;
}

int ac_sys_close(int fd)
{
    return _close(fd) ? errno : 0;
}

/* The file system keeps a journal of names. */
int ac_sys_flush_folder(const char *path)
{
    (void)path;
    return 0;
}

int ac_sys_rename(const char *from, const char *to)
{
    wchar_t *new_name = wide(to);
    if (!new_name)
        return -1;
    wchar_t *name = wide(from);
    const bool done = name && MoveFileExW(name, new_name, MOVEFILE_REPLACE_EXISTING);
    const int why = name ? errno_of(GetLastError()) : errno;
    free(name);
    free(new_name);
    errno = why;
    return done ? 0 : -1;
}

int ac_sys_remove(const char *path)
{
    WITH(name, path, -1, const bool done = DeleteFileW(name));
    return done ? 0 : failed();
}

int ac_sys_folder_make(const char *path)
{
    WITH(name, path, -1, const bool done = CreateDirectoryW(name, NULL));
    return done ? 0 : failed();
}

int ac_sys_folder_remove(const char *path)
{
    WITH(name, path, -1, const bool done = RemoveDirectoryW(name));
    return done ? 0 : failed();
}

char *ac_sys_printed(void (*print)(FILE *to, const void *arg), const void *arg)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    if (!GetTempPathW(MAX_PATH + 1, folder) || !GetTempFileNameW(folder, L"arn", 0, path))
        return NULL;
    FILE *f = _wfopen(path, L"w+bTD"); /* in the cache, and removed when it is closed */
    if (!f)
        return NULL;
    print(f, arg);
    const long n = ftell(f);
    char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    rewind(f);
    if (text)
        text[fread(text, 1, (size_t)n, f)] = 0;
    fclose(f);
    return text;
}

void *ac_sys_map(int fd, size_t n)
{
    (void)n;
    const HANDLE map = CreateFileMappingW((HANDLE)_get_osfhandle(fd), NULL, PAGE_READONLY, 0, 0, NULL);
    void *at = map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) : NULL;
    if (!at)
        failed();
    if (map)
        CloseHandle(map);
    return at;
}

int ac_sys_unmap(void *at, size_t n)
{
    (void)n;
    return UnmapViewOfFile(at) ? 0 : failed();
}

void ac_sys_rest(void *at, size_t n)
{
    VirtualUnlock(at, n); /* of pages that are not locked: they leave the working set */
}

void ac_sys_large_pages(void *at, size_t n)
{
    (void)at, (void)n;
}

/* ------------------------------------------------------------------ temporary folders */

int ac_sys_folder_new(char *name)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    enum { N = 6, TRIES = 100 };
    char *end = name + strlen(name) - N;
    for (int i = 0; i < TRIES; i++) {
        uint8_t random[N];
        if (!ac_sys_random(random, N))
            return failed();
        for (int k = 0; k < N; k++)
            end[k] = LETTERS[random[k] % (sizeof LETTERS - 1)];
        if (!ac_sys_folder_make(name))
            return 0;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Calls f for each file in a folder, but for "." and "..". */
static void each(const char *folder, void (*f)(const char *path, const char *name, void *arg), void *arg)
{
    size_t n = 0;
    const size_t length = strlen(folder);
    char *pattern = malloc(length + 3);
    if (!pattern)
        return;
    memcpy(pattern, folder, length);
    strcpy(pattern + length, "/*");
    char **path = ac_sys_matches(pattern, &n);
    free(pattern);
    for (size_t i = 0; i < n; i++) {
        const char *name = ac_sys_name(path[i]);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            f(path[i], name, arg);
    }
    ac_sys_matches_free(path, n);
}

static void remove_one(const char *path, const char *name, void *arg)
{
    (void)name, (void)arg;
    ac_sys_remove(path);
}

void ac_sys_folder_empty(const char *path, bool in_handler)
{
    (void)in_handler;
    each(path, remove_one, NULL);
}

static bool has_ended(long process)
{
    DWORD code = STILL_ACTIVE;
    const HANDLE h = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)process);
    if (!h)
        return process > 0 && GetLastError() == ERROR_INVALID_PARAMETER;
    GetExitCodeProcess(h, &code);
    CloseHandle(h);
    return code != STILL_ACTIVE;
}

static bool is_left(const char *path)
{
    WIN32_FILE_ATTRIBUTE_DATA of;
    FILETIME now;
    const uint64_t hour = 36000000000u; /* of 100 ns */
    GetSystemTimeAsFileTime(&now);
    WITH(name, path, false, const bool there = GetFileAttributesExW(name, GetFileExInfoStandard, &of));
    const uint64_t changed = (uint64_t)of.ftLastWriteTime.dwHighDateTime << 32 | of.ftLastWriteTime.dwLowDateTime,
                   at = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    return there && of.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY &&
           !(of.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) && changed + hour < at;
}

static void sweep(const char *path, const char *name, void *arg)
{
    long (*maker)(const char *);
    memcpy(&maker, arg, sizeof maker);
    if (!has_ended(maker(name)) || !is_left(path))
        return;
    ac_sys_folder_empty(path, false);
    ac_sys_folder_remove(path);
}

void ac_sys_folders_sweep(const char *parent, long (*maker)(const char *name))
{
    each(parent, sweep, &maker);
}

long ac_sys_process(void)
{
    return (long)GetCurrentProcessId();
}

/* ------------------------------------------------------------------ signals */

/* Ctrl-C calls a handler in a thread of its own; the lock makes it wait while another holds. */
static const ac_sys_events *events;
static CRITICAL_SECTION held;
static volatile LONG waits;

void ac_sys_hold(ac_sys_held *before)
{
    (void)before;
    if (events)
        EnterCriticalSection(&held);
}

void ac_sys_release(const ac_sys_held *before)
{
    (void)before;
    if (events)
        LeaveCriticalSection(&held);
}

bool ac_sys_end_waits(void)
{
    return waits != 0;
}

static BOOL WINAPI on_end(DWORD kind)
{
    (void)kind;
    InterlockedExchange(&waits, 1);
    EnterCriticalSection(&held);
    events->end();
    ExitProcess(CONTROL_C);
    return TRUE;
}

/* A mapped file on another machine may become unreadable; here none that is mapped can become shorter. */
static LONG CALLBACK on_fault(EXCEPTION_POINTERS *e)
{
    const EXCEPTION_RECORD *r = e->ExceptionRecord;
    if (r->ExceptionCode == (DWORD)EXCEPTION_IN_PAGE_ERROR && events->fault((const void *)r->ExceptionInformation[1]))
        ExitProcess((UINT)events->status);
    return EXCEPTION_CONTINUE_SEARCH;
}

bool ac_sys_pipe_closed(void)
{
    return ferror(stdout) && (errno == EPIPE || errno == EINVAL) &&
           GetFileType(GetStdHandle(STD_OUTPUT_HANDLE)) == FILE_TYPE_PIPE;
}

void ac_sys_guard(const ac_sys_events *e)
{
    InitializeCriticalSection(&held);
    events = e;
    SetConsoleCtrlHandler(on_end, TRUE);
    AddVectoredExceptionHandler(1, on_fault);
}

/* ------------------------------------------------------------------ programs */

/* Words in one line, as the C library of the program takes it apart. */
static char *command_line(const char *const *argv)
{
    size_t n = 1;
    for (int i = 0; argv[i]; i++)
        n += 2 * strlen(argv[i]) + 3;
    char *line = malloc(n), *to = line;
    for (int i = 0; line && argv[i]; i++) {
        size_t slashes = 0;
        if (i)
            *to++ = ' ';
        *to++ = '"';
        for (const char *p = argv[i]; *p; p++) {
            for (; *p == '"' && slashes; slashes--)
                *to++ = '\\';
            if (*p == '"')
                *to++ = '\\';
            slashes = *p == '\\' ? slashes + 1 : 0;
            *to++ = *p;
        }
        for (; slashes; slashes--)
            *to++ = '\\';
        *to++ = '"';
    }
    if (line)
        *to = 0;
    return line;
}

ac_sys_program ac_sys_start(const char *const *argv, const char *output)
{
    PROCESS_INFORMATION made = {0};
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    char *text = command_line(argv);
    wchar_t *file = wide(output), *line = NULL;
    const int n = text ? MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0) : 0;
    if (n > 0 && (line = malloc((size_t)n * sizeof *line)) != NULL)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, line, n);
    free(text);
    STARTUPINFOW s = {.cb = sizeof s, .dwFlags = STARTF_USESTDHANDLES};
    s.hStdInput =
        CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
    s.hStdOutput = s.hStdError =
        file ? CreateFileW(file, GENERIC_WRITE, FILE_SHARE_READ, &inherited, CREATE_ALWAYS, 0, NULL)
             : INVALID_HANDLE_VALUE;
    const bool done = line && s.hStdOutput != INVALID_HANDLE_VALUE &&
                      CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &s, &made);
    const int why = errno_of(GetLastError());
    if (s.hStdOutput != INVALID_HANDLE_VALUE)
        CloseHandle(s.hStdOutput);
    if (s.hStdInput != INVALID_HANDLE_VALUE)
        CloseHandle(s.hStdInput);
    if (done)
        CloseHandle(made.hThread);
    free(file);
    free(line);
    errno = why;
    return done ? (ac_sys_program)made.hProcess : -1;
}

int ac_sys_wait(ac_sys_program p, int seconds)
{
    const HANDLE h = (HANDLE)p;
    DWORD code = 0;
    const bool late = WaitForSingleObject(h, seconds ? (DWORD)seconds * 1000 : INFINITE) == WAIT_TIMEOUT;
    if (late) {
        TerminateProcess(h, 1);
        WaitForSingleObject(h, INFINITE);
    }
    GetExitCodeProcess(h, &code);
    CloseHandle(h);
    return late ? AC_SYS_LATE : code > 255 ? AC_SYS_CRASHED : (int)code;
}

static char library_why[512];

void *ac_sys_library(const char *path, bool shared)
{
    (void)shared; /* a library names those that it uses */
    errno = 0;
    WITH(name, path, NULL, const HMODULE so = LoadLibraryW(name));
    if (so)
        return (void *)so;
    failed();
    wchar_t text[256] = L"";
    FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, error, 0, text, 256, NULL);
    text[wcscspn(text, L"\r\n")] = 0;
    if (!narrow(text, library_why, sizeof library_why) || !*library_why) {
        strcpy(library_why, "error ");
        _ultoa(error, library_why + strlen(library_why), 10);
    }
    return NULL;
}

void *ac_sys_symbol(void *library, const char *name)
{
    const FARPROC f = GetProcAddress((HMODULE)library, name);
    void *p;
    memcpy(&p, &f, sizeof p);
    return p;
}

void ac_sys_library_close(void *library)
{
    FreeLibrary((HMODULE)library);
}

const char *ac_sys_library_why(void)
{
    return library_why;
}

/* ------------------------------------------------------------------ this machine */

void ac_sys_sleep(int ms)
{
    Sleep((DWORD)ms);
}

/* "explorer" ends with 1 although it has shown the page. */
int ac_sys_show(const char *path)
{
    const char *const words[] = {"explorer", path, NULL};
    return ac_sys_start(words, "NUL") < 0 ? -1 : 0;
}

double ac_sys_now_ms(void)
{
    LARGE_INTEGER now, per_s;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&per_s);
    return (double)now.QuadPart * 1e3 / (double)per_s.QuadPart;
}

/* RtlGenRandom: of advapi32, which has no header for it but this. */
BOOLEAN NTAPI SystemFunction036(void *to, ULONG n);

bool ac_sys_random(void *to, size_t n)
{
    return SystemFunction036(to, (ULONG)n);
}

size_t ac_sys_memory(void)
{
    MEMORYSTATUSEX m = {.dwLength = sizeof m};
    return GlobalMemoryStatusEx(&m) ? (size_t)m.ullTotalPhys : 0;
}

bool ac_sys_request_amx(void)
{
    return false;
}

bool ac_sys_is_terminal(int fd)
{
    const HANDLE h = (HANDLE)_get_osfhandle(fd);
    DWORD mode;
    return _isatty(fd) && GetConsoleMode(h, &mode) && SetConsoleMode(h, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

bool ac_sys_moves_cursor(void)
{
    return true;
}

size_t ac_sys_columns(int fd)
{
    CONSOLE_SCREEN_BUFFER_INFO of;
    return GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &of) && of.srWindow.Right >= of.srWindow.Left
               ? (size_t)(of.srWindow.Right - of.srWindow.Left + 1)
               : 0;
}

struct ac_sys_watch {
    HANDLE thread, end;
    void (*f)(ac_sys_watch *, void *);
    void *arg;
};

static DWORD WINAPI watch(void *arg)
{
    ac_sys_watch *w = arg;
    w->f(w, w->arg);
    return 0;
}

ac_sys_watch *ac_sys_watch_begin(void (*f)(ac_sys_watch *w, void *arg), void *arg)
{
    ac_sys_watch *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (ac_sys_watch){.end = CreateEventW(NULL, TRUE, FALSE, NULL), .f = f, .arg = arg};
    w->thread = w->end ? CreateThread(NULL, 0, watch, w, 0, NULL) : NULL;
    if (w->thread)
        return w;
    if (w->end)
        CloseHandle(w->end);
    free(w);
    return NULL;
}

bool ac_sys_watch_wait(ac_sys_watch *w, int64_t ms)
{
    return WaitForSingleObject(w->end, (DWORD)ms) == WAIT_TIMEOUT;
}

void ac_sys_watch_end(ac_sys_watch *w)
{
    SetEvent(w->end);
    WaitForSingleObject(w->thread, INFINITE);
    CloseHandle(w->thread);
    CloseHandle(w->end);
    free(w);
}
