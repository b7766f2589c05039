/* runtime_files.h - the files of runtime/ as they are in the source tree, inside the tool (cmake/embed.cmake). */
#ifndef AC_HOST_RUNTIME_FILES_H
#define AC_HOST_RUNTIME_FILES_H
#include <stddef.h>

typedef struct ac_rt_file {
    const char *name; /* "arn_rt.h" */
    const unsigned char *data;
    size_t n;
} ac_rt_file;

/* All of them; --emit rt omits those for Python modules only. */
extern const ac_rt_file ac_rt_files[];
extern const int ac_rt_count;
/* runtime/mpi: sums over the processes of mpirun. */
extern const ac_rt_file ac_mpi_files[];
extern const int ac_mpi_count;
/* runtime/board: programs on QEMU's boards. */
extern const ac_rt_file ac_board_files[];
extern const int ac_board_count;
/* runtime/project: files of build systems, for --emit zephyr and its like. */
extern const ac_rt_file ac_project_files[];
extern const int ac_project_count;
/* runtime/steps: programs that test the steps of a model one by one. */
extern const ac_rt_file ac_steps_files[];
extern const int ac_steps_count;

#endif
