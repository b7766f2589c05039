/* fake_nvrtc.c - replaces an old NVRTC: does not support sm_100, and needs its second library, which it opens by name
 * as the real one does. With -DBUILTINS: that library. */
#ifdef BUILTINS
int fake_builtins;
#else
#include <dlfcn.h>
#include <string.h>

static const char TEXT[] = "// PTX of no device";
static char cubin[] = "CUBIN of sm_999";

int nvrtcVersion(int *major, int *minor)
{
    *major = 11;
    *minor = 8;
    return 0;
}
int nvrtcCreateProgram(void **p, const char *source, const char *name, int n, const char *const *headers,
                       const char *const *names)
{
    (void)name, (void)n, (void)headers, (void)names;
    *p = (void *)TEXT;
    return strstr(source, "ARN_KERNEL") ? 0 : 4;
}
int nvrtcDestroyProgram(void **p)
{
    *p = NULL;
    return 0;
}
int nvrtcCompileProgram(void *p, int n, const char *const *options)
{
    (void)p;
    for (int i = 0; i < n; i++)
        if (strstr(options[i], "_100"))
            return 5;
    memcpy(strchr(cubin, '_') + 1, strrchr(options[0], '_') + 1, strlen(strrchr(options[0], '_')));
    return dlopen("libnvrtc-builtins.so.11.8", RTLD_LAZY) ? 0 : 7;
}
int nvrtcGetPTXSize(void *p, size_t *n)
{
    (void)p;
    *n = sizeof TEXT;
    return 0;
}
int nvrtcGetPTX(void *p, char *to)
{
    memcpy(to, p, sizeof TEXT);
    return 0;
}
int nvrtcGetCUBINSize(void *p, size_t *n)
{
    (void)p;
    *n = strlen(cubin);
    return 0;
}
int nvrtcGetCUBIN(void *p, char *to)
{
    (void)p;
    memcpy(to, cubin, strlen(cubin));
    return 0;
}
int nvrtcGetProgramLogSize(void *p, size_t *n)
{
    (void)p;
    *n = 1;
    return 0;
}
int nvrtcGetProgramLog(void *p, char *to)
{
    (void)p;
    *to = 0;
    return 0;
}
#endif
