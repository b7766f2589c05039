/* run_cu.c - the program of docs/cuda.md: MODEL's API, with a driver that need not be real. Runs as launches, on a
 * stream of the program, as a graph; then two models on the second device that share arena, weights and a stream, also
 * while the program captures it. usage: main IMAGE|- INPUT.npy OUTPUT.npy */
#include HEADER

#include <dlfcn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTE(a, b) a##b
#define NAME(a, b)  PASTE(a, b)
#define F(suffix)   NAME(MODEL, suffix)

static void *npy(const char *path)
{
    static char bytes[2][1 << 16];
    static int n;
    FILE *f = fopen(path, "rb");
    if (!f || fread(bytes[n], 1, sizeof bytes[n], f) < 10)
        exit(2);
    fclose(f);
    char *at = bytes[n++];
    return at + 10 + (unsigned char)at[8] + 256 * (unsigned char)at[9];
}

static union bytes {
    char bytes[1 << 16];
    double align;
} got;

/* The driver's functions that a program with streams of its own calls */
static int (*retain)(void **, int), (*release)(int), (*push)(void *), (*pop)(void **), (*create)(void **, unsigned),
    (*destroy)(void *), (*begin)(void *, int), (*end)(void *, void **),
    (*instantiate)(void **, void *, unsigned long long), (*launch)(void *, void *), (*synchronize)(void *),
    (*destroy_exec)(void *), (*destroy_graph)(void *);

static void find_driver(void)
{
    void *so = dlopen("libcuda.so.1", RTLD_NOW), *p;
#define FIND(f, name)                  \
    if (!so || !(p = dlsym(so, name))) \
        exit(4);                       \
    memcpy(&f, &p, sizeof p);
    FIND(retain, "cuDevicePrimaryCtxRetain")
    FIND(release, "cuDevicePrimaryCtxRelease_v2")
    FIND(push, "cuCtxPushCurrent_v2")
    FIND(pop, "cuCtxPopCurrent_v2")
    FIND(create, "cuStreamCreate")
    FIND(destroy, "cuStreamDestroy_v2")
    FIND(begin, "cuStreamBeginCapture_v2")
    FIND(end, "cuStreamEndCapture")
    FIND(instantiate, "cuGraphInstantiateWithFlags")
    FIND(launch, "cuGraphLaunch")
    FIND(synchronize, "cuStreamSynchronize")
    FIND(destroy_exec, "cuGraphExecDestroy")
    FIND(destroy_graph, "cuGraphDestroy")
}

static int fault(int line, const char *why)
{
    fprintf(stderr, "line %d: %s\n", line, why);
    return 1;
}
#define MUST(holds)                                 \
    do                                              \
        if (!(holds))                               \
            return fault(__LINE__, why ? why : ""); \
    while (0)

static int run_once(F(_gpu) * g, const void *in, const void *want)
{
    const char *why = NULL;
    memset(got.bytes, 0, sizeof got.bytes);
    MUST(!F(_write_in0)(g, in) && !F(_run)(g, NULL) && !F(_read_out0)(g, (void *)got.bytes) && !F(_wait)(g));
    MUST(!memcmp(got.bytes, want, OUT_BYTES));
    return 0;
}

/* In a graph that the program captures: functions that wait are refused, others become a part of it. */
static int run_captured(F(_gpu) * g, void *stream, const void *in, const void *want)
{
    const char *why = NULL;
    void *graph, *exec, *x = arn_cuda_pin(g, IN_BYTES), *y = arn_cuda_pin(g, OUT_BYTES);
    MUST(x && y && !begin(stream, 1));
    MUST(F(_write_in0)(g, in) && strstr(arn_cuda_why(g), "captured") && F(_wait)(g) && F(_read_out0)(g, y));
    MUST(!F(_write_in0_async)(g, x) && !F(_run)(g, NULL) && !F(_read_out0_async)(g, y));
    MUST(!end(stream, &graph) && !instantiate(&exec, graph, 0));
    memcpy(x, in, IN_BYTES);
    memset(y, 0, OUT_BYTES);
    MUST(!launch(exec, stream) && !synchronize(stream) && !memcmp(y, want, OUT_BYTES));
    MUST(!destroy_exec(exec) && !destroy_graph(graph) && !arn_cuda_unpin(g, x) && !arn_cuda_unpin(g, y));
    return 0;
}

static int on_second_device(const void *image, const void *in, const void *want)
{
    enum { DEVICE = 8 };
    const char *why = NULL;
    void *context, *stream;
    find_driver();
    MUST(!retain(&context, DEVICE) && !push(context) && !create(&stream, 1));
    F(_gpu) *a = F(_open_on)(1, stream, image, NULL, &why);
    MUST(a);
    struct arn_cuda_place place = {1, stream, arn_cuda_address(a, ARN_CUDA_ARENA, 0), 0};
    place.weights = arn_cuda_address(a, ARN_CUDA_WEIGHTS, 0);
    F(_gpu) *b = arn_cuda_open_on(&F(_cuda), &place, image, NULL, &why);
    MUST(b && arn_cuda_address(b, ARN_CUDA_ARENA, 0) == place.arena);
    place.arena += 16;
    MUST(!arn_cuda_open_on(&F(_cuda), &place, image, NULL, &why) && strstr(why, "aligned to 256"));
    MUST(!F(_open_on)(2, stream, image, NULL, &why) && strstr(why, "no device 2, only 2"));
    why = NULL;
    MUST(!run_once(a, in, want) && !run_once(b, in, want) && !run_captured(a, stream, in, want));
    MUST(!F(_capture)(b) && !run_once(b, in, want) && !run_captured(b, stream, in, want) && !run_once(a, in, want));
    F(_close)(b);
    F(_close)(a);
    MUST(!destroy(stream) && !pop(&context) && !release(DEVICE));
    return 0;
}

int main(int argc, char **argv)
{
    const char *why = "";
    if (argc != 4)
        return 2;
    const void *in = npy(argv[2]), *want = npy(argv[3]);
    const char *image = strcmp(argv[1], "-") ? argv[1] : NULL; /* -: those inside of the program */
    F(_gpu) *g = F(_open)(image, NULL, &why);
    if (!g) {
        fprintf(stderr, "%s\n", why);
        return 3;
    }
    int bad = 0;
    void *context, *stream;
    find_driver();
    if (retain(&context, 7) || push(context) || create(&stream, 1) || pop(&context))
        return 4;
    for (int round = 0; round < 4; round++) {
        memset(got.bytes, 0, sizeof got.bytes);
        if (round == 2)
            bad |= F(_capture)(g);
        bad |= F(_write_in0)(g, in);
        bad |= F(_run)(g, round == 1 ? stream : NULL);
        bad |= F(_read_out0)(g, (void *)got.bytes);
        bad |= F(_wait)(g);
        bad |= memcmp(got.bytes, want, OUT_BYTES) ? 100 : 0;
    }
    if (bad)
        fprintf(stderr, "status %d: %s\n", bad, arn_cuda_why(g));
    F(_close)(g);
    if (push(context) || destroy(stream) || pop(&context) || release(7))
        return 4;
    return bad != 0 || on_second_device(image, in, want);
}
