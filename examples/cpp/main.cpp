// A program in C++ around a model that `arenac compile --host` made: tensors are the program's own, and nothing is copied.
//
//     arenac compile model.tflite --host --emit c,h,rt --name net -o net.c
//     cc -c net.c arn_host.c arn_rt.c && c++ main.cpp net.o arn_host.o arn_rt.o -o main
//     ./main x.bin          the bytes of the input; prints the class with the largest output
#include "net.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct Close {
    void operator()(net_ctx *ctx) const { net_close(ctx); }
};
using Context = std::unique_ptr<net_ctx, Close>;

// A tensor of DLPack around bytes of the program.
DLTensor tensor(std::vector<std::int8_t> &bytes, std::vector<std::int64_t> &shape)
{
    DLTensor t = {};
    t.data = bytes.data();
    t.device = {kDLCPU, 0};
    t.ndim = static_cast<std::int32_t>(shape.size());
    t.dtype = {kDLInt, 8, 1};
    t.shape = shape.data();
    return t;
}

int largest(const std::vector<std::int8_t> &v)
{
    int best = 0;
    for (std::size_t i = 1; i < v.size(); i++)
        if (v[i] > v[static_cast<std::size_t>(best)])
            best = static_cast<int>(i);
    return best;
}

int classify(const char *path)
{
    std::vector<std::int64_t> image = {1, 8, 8, 1}, classes = {1, 10};
    std::vector<std::int8_t> x(NET_IN0_BYTES), y(NET_OUT0_BYTES);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(x.data()), static_cast<std::streamsize>(x.size())))
        throw std::runtime_error("the file does not hold an image");
    const char *why = nullptr;
    const Context ctx(net_open(nullptr, &why));
    if (!ctx)
        throw std::runtime_error(why);
    DLTensor in = tensor(x, image), out = tensor(y, classes);
    const DLTensor *const ins[] = {&in};
    DLTensor *const outs[] = {&out};
    if (net_run_dl(ctx.get(), ins, 1, outs, 1))
        throw std::runtime_error(arn_why(ctx.get()));
    return largest(y);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        std::printf("class %d\n", classify(argc > 1 ? argv[1] : "x.bin"));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
