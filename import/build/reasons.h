/* reasons.h - lists the reasons why operators are not supported, with workarounds, for the tables of all formats
 * (row.h).
 *
 *     WHY( Where, SIZE)                 of a .def file becomes
 *     {.name = "Where", AC_WHY(SIZE)}
 *
 * Each is a reason and a help text, which may be NULL. */
#ifndef AC_IMPORT_BUILD_REASONS_H
#define AC_IMPORT_BUILD_REASONS_H

#define AC_WHY(id)                  AC_WHY_ROW(AC_WHY_##id)
#define AC_WHY_ROW(...)             AC_WHY_FIELDS(__VA_ARGS__)
#define AC_WHY_FIELDS(because, out) .reason = because, .help = out

#define AC_WHY_LATER "arenac has no lowering for it", "`arenac ops` lists what is supported"

/* A static plan cannot contain it. */
#define AC_WHY_SIZE                                                           \
    "the size of its result depends on the data; arenac plans static memory", \
        "end the model before it and do this step in the application"
#define AC_WHY_GENERATES                                        \
    "it runs a decoder until a data-dependent condition holds", \
        "compile the decoder's subgraph as a model of its own and write the loop in the application"
#define AC_WHY_PADDING                                                      \
    "it packs sequences of different lengths, so sizes depend on the data", \
        "export without packing: padded sequences and a mask"
#define AC_WHY_SHARED \
    "it updates a cache that inputs and outputs share", "export with past and present as tensors of their own"
#define AC_WHY_TRAINING "it is for training", "export the model for inference"
#define AC_WHY_RANDOM   "it draws random numbers", "make the random numbers an input of the model"
#define AC_WHY_CONTROL  "it runs other subgraphs of the model", "unroll loops and decide conditions before exporting"

/* The file does not contain it. */
#define AC_WHY_PYTHON                                             \
    "it runs a program in Python that the file does not contain", \
        "write it with other operators, or cut the model there: --outputs"
#define AC_WHY_DELEGATE \
    "it represents code of one particular runtime", "use the model as it was before that runtime changed it"
#define AC_WHY_OPTIMISED                                                             \
    "ONNX Runtime has written the model after it had optimised it for one CPU",      \
        "use the model as it was before, or write it with graph_optimization_level " \
        "ORT_ENABLE_EXTENDED, not ORT_ENABLE_ALL"
#define AC_WHY_RESOURCE                       \
    "it reads or writes a resource variable", \
        "weights: freeze the variables before converting; state: make it an input and an output of the model"
#define AC_WHY_VARIABLE                                                                       \
    "its weights are variables, which are not in the graph",                                  \
        "freeze the graph: tf.graph_util.convert_variables_to_constants, or in TensorFlow 2 " \
        "convert_variables_to_constants_v2"

#define AC_WHY_ASSIGNS                                                           \
    "it changes a variable that the model reads, and so the next run's results", \
        "make the variable an input and an output of the model"

/* arenac does not compute it. */
#define AC_WHY_STRINGS \
    "it works on strings or tables", "do the look-up in the application and feed numbers: cut the model there"
#define AC_WHY_DECODER \
    "it decodes files or sound", "cut the graph: put a Placeholder in its place, with the decoded values"
#define AC_WHY_LANDMARKS                                                   \
    "it crops by a transform that is computed from landmarks (MediaPipe)", \
        "split the model there, and do this step in the application"
#define AC_WHY_RECURRENT \
    "fused recurrent operators are not lowered", "export with the recurrence unrolled into basic operators"
#define AC_WHY_LSTM_UNIT                                             \
    "it is a part of the LSTM layer, which arenac reads as a whole", \
        "give the net as it was written, with the LSTM layer"
#define AC_WHY_SHAPES "arenac does not compute shapes in MXNet graphs", NULL

#endif
