/* arn_rt.h - describes a generated model on hosts: its type, its tensors by name, guards around its arena. Plain
 * firmware needs none of this. C99, no allocation, no stdio, includes nothing of ours but its own table.
 *
 *     const struct arn_model *m = dlsym(so, "kws_model");       made with a host build of the generated code
 *     int x = arn_find_input(m, "mfcc");
 *     uint8_t *arena = arn_guard_fill(block, m->arena_bytes);   block: arena_bytes + 2 * ARN_GUARD_BYTES, aligned
 *     struct arn_mem mem = {.arena = arena};
 *     if (m->init(&mem) == 0 && m->run(&mem, NULL) == 0)
 *         damaged = arn_guard_check(block, m->arena_bytes);     0, or where
 *
 * Memory: the caller's. Errors: -1 for an unknown name; numbers of the generated header from init and run. */
#ifndef ARN_RT_H
#define ARN_RT_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARN_VERSION "1.0"
enum { ARN_ABI = 4 };
enum { ARN_IN_ARENA, ARN_IN_STATE, ARN_IN_WEIGHTS, ARN_IN_CALLER };
enum { ARN_WEIGHTS_RODATA, ARN_WEIGHTS_ASM, ARN_WEIGHTS_BLOB };
enum {
    ARN_F32 = 1,
    ARN_F16,
    ARN_BF16,
    ARN_F64,
    ARN_I8,
    ARN_I16,
    ARN_I32,
    ARN_I64,
    ARN_U8,
    ARN_U16,
    ARN_U32,
    ARN_U64,
    ARN_BOOL,
    ARN_I4, /* this and all that follow: an element to a byte */
    ARN_U4,
    ARN_I2,
    ARN_U2,
    ARN_F8E4M3FN,
    ARN_F8E4M3FNUZ,
    ARN_F8E5M2,
    ARN_F8E5M2FNUZ,
    ARN_F8E8M0,
    ARN_F4E2M1
};

struct arn_mem;
struct arn_hook;
struct arn_pool;
typedef void arn_step_fn(void *user, int32_t step);
typedef int arn_init_fn(const struct arn_mem *m);
typedef int arn_run_fn(const struct arn_mem *m, const struct arn_hook *hook);
typedef void arn_seed_fn(const struct arn_mem *m, uint64_t seed, uint32_t run);

/* struct arn_mem { void *arena; ... }; and so on: the fields with their meaning are in arn_model.def. */
#define ARN_STRUCT(name, meaning)      struct name {
#define ARN_FIELD(type, name, meaning) type name;
#define ARN_END \
    }           \
    ;
#include "arn_model.def"
#undef ARN_STRUCT
#undef ARN_FIELD
#undef ARN_END
typedef struct arn_model arn_model_info;

const char *arn_version(void);
int arn_find_input(const struct arn_model *m, const char *name); /* index, or -1 */
int arn_find_output(const struct arn_model *m, const char *name);
int arn_find_step(const struct arn_model *m, const char *name); /* the first step with this node name */
/* Its bytes; NULL: its memory is missing. */
const void *arn_tensor_at(const struct arn_tensor *t, const struct arn_mem *m);

/* Guards: a pattern on both sides of an arena, so that a write outside of it shows. */
enum { ARN_GUARD_BYTES = 256 };
void *arn_guard_fill(void *block, uint64_t arena_bytes);          /* the arena: block + ARN_GUARD_BYTES */
int64_t arn_guard_check(const void *block, uint64_t arena_bytes); /* 0: whole; -n: n bytes before the arena; n: the
                                                                           n-th byte after it */
#ifdef __cplusplus
}
#endif
#endif
