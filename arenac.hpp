/* arenac.hpp - arenac.h for C++17: a compilation that closes itself, and errors as exceptions.
 *
 *     arn::compilation c;
 *     c.set("target", "cortex-m4").read({"kws.tflite"}).compile();
 *     std::printf("%lld bytes\n", static_cast<long long>(c.arena_bytes()));
 *     c.emit("c", "kws.c").emit("h", "kws.h").commit();
 *
 * A function that fails throws arn::error, with the messages as text and the exit status of the command line. get()
 * gives the C object for all else of arenac.h. */
#ifndef ARENAC_HPP
#define ARENAC_HPP
#include "arenac.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace arn
{
class error : public std::runtime_error
{
  public:
    error(const std::string &text, int exit) : std::runtime_error(text), status(exit) {}
    int status; /* as of the command line */
};

class compilation
{
  public:
    compilation() : a(arenac_open())
    {
        if (!a)
            throw std::bad_alloc();
    }

    /* value: nullptr for an option without an argument */
    compilation &set(const char *option, const char *value = nullptr)
    {
        return done(arenac_set(get(), option, value));
    }

    compilation &read(const std::vector<std::string> &paths)
    {
        std::vector<const char *> p;
        for (const std::string &s : paths)
            p.push_back(s.c_str());
        return done(arenac_read(get(), p.data(), static_cast<std::int32_t>(p.size())));
    }

    compilation &check() { return done(arenac_check(get())); }
    compilation &plan() { return done(arenac_plan(get())); }
    compilation &compile() { return done(arenac_compile(get())); }
    compilation &load() { return done(arenac_load(get())); }
    compilation &run() { return done(arenac_run(get())); }
    compilation &commit() { return done(arenac_commit(get())); }

    compilation &emit(const char *kind, const std::string &path)
    {
        return done(arenac_emit(get(), kind, path.c_str()));
    }

    std::int64_t arena_bytes() const { return arenac_arena_bytes(get()); } /* -1: no plan */
    std::int64_t bound_bytes() const { return arenac_bound_bytes(get()); }

    /* Input and output i, after load(); nullptr: there are fewer. They belong to the compilation. */
    void *input(std::int32_t i, std::int64_t *bytes = nullptr)
    {
        std::int64_t n;
        return arenac_input(get(), i, bytes ? bytes : &n);
    }

    const void *output(std::int32_t i, std::int64_t *bytes = nullptr)
    {
        std::int64_t n;
        return arenac_output(get(), i, bytes ? bytes : &n);
    }

    /* Errors and warnings as the command line prints them. */
    std::string messages() const
    {
        std::string text;
        std::FILE *f = std::tmpfile();
        if (!f)
            return text;
        arenac_print_diagnostics(get(), f, false);
        std::rewind(f);
        for (int c; (c = std::fgetc(f)) != EOF;)
            text.push_back(static_cast<char>(c));
        std::fclose(f);
        return text;
    }

    ::arenac *get() const { return a.get(); }

  private:
    struct closes {
        void operator()(::arenac *p) const { arenac_close(p); }
    };
    std::unique_ptr<::arenac, closes> a;

    compilation &done(int status)
    {
        if (status)
            throw error(messages(), arenac_exit(get()));
        return *this;
    }
};
} // namespace arn

#endif
