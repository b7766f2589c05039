/* arn_capsule.c - destroys unclaimed DLPack capsules; for the Python modules of `arenac python` only. In C, because
 * capsules may be destroyed after the interpreter has removed its own callbacks; without Python.h, so that a C compiler
 * is enough. */
#include "arn_dlpack.h"

typedef int is_valid_fn(void *capsule, const char *name);
typedef void *pointer_fn(void *capsule, const char *name);

static is_valid_fn *is_valid;
static pointer_fn *pointer;

void arn_capsule_api(is_valid_fn *valid, pointer_fn *get);
void arn_capsule_dies(void *capsule);

/* PyCapsule_IsValid and PyCapsule_GetPointer of the interpreter that loads the module. */
void arn_capsule_api(is_valid_fn *valid, pointer_fn *get)
{
    is_valid = valid;
    pointer = get;
}

/* The destructor of every capsule made here: consumers rename the capsules they take ("used_..."), the others still own
 * a tensor. */
void arn_capsule_dies(void *capsule)
{
    if (is_valid(capsule, "dltensor")) {
        DLManagedTensor *t = pointer(capsule, "dltensor");
        if (t->deleter)
            t->deleter(t);
    } else if (is_valid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *t = pointer(capsule, "dltensor_versioned");
        if (t->deleter)
            t->deleter(t);
    }
}
