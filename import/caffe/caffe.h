/* caffe.h - the internal interface of the files that read Caffe; other folders use only ac_caffe_format.
 *
 *     caffe.c         the container: text or binary net, blobs by name, layers in order, outputs, the listing of `show`
 *     net.c           a net of any vintage -> a list of layers: V0 and V1 upgraded, phases, inputs as layers
 *     binary_net.c    a binary NetParameter as the same tree that the text form gives (schema.def)
 *     blobs.c         parameters by layer name, from the .caffemodel
 *     layer_fields.c  fields of a layer, read by name
 *     layers.c        the table of layers (layers.def) and its dispatch
 *     *_layers.c      adapters: window, math, shape, norm, detect, recurrent, data, custom
 *
 * The text tree (prototext.h) is the common form of nets: layers of V0 become new messages in it, those of V1 and V2
 * are read directly, under the names that both share. Each canonical node is resolved as it is made (ir/make/maker.h).
 *
 * Two kinds of errors are distinguished, as in onnx.h: malformed parts are reported at once (E0012 with the line),
 * unsupported ones are collected (ac_refuse). A blob whose layer failed is broken; its readers report nothing further.
 *
 * Memory: the context's region; blobs stay in the file's bytes. */
#ifndef AC_IMPORT_CAFFE_CAFFE_H
#define AC_IMPORT_CAFFE_CAFFE_H
#include "import/build/attrs.h"
#include "import/wire/pb.h"
#include "import/wire/prototext.h"

typedef struct ac_caf ac_caf;
typedef struct ac_caf_layer ac_caf_layer;

/* A name of the net and the newest value it stands for */
typedef struct ac_caf_blob {
    const char *name;
    ac_tensor *t; /* NULL: the layer that makes it failed */
    bool used;    /* the newest value has a reader */
    bool label;   /* created by a data layer in addition to its images */
} ac_caf_blob;

/* A BlobProto */
typedef struct ac_caf_values {
    int32_t rank; /* old ones have 4 dimensions */
    bool old;
    int64_t dim[AC_MAX_RANK];
    ac_dtype dtype;   /* f32 or f64 */
    const void *data; /* at any address */
    const uint8_t *at;
} ac_caf_values;

/* A layer of the .caffemodel */
typedef struct ac_caf_source {
    const char *name;
    ac_pb_list blobs;
    int32_t order;
} ac_caf_source;

struct ac_caf {
    ac_reading *reading;
    ac_ctx *cx;
    ac_graph *g;
    ac_pt pt;                     /* the net */
    ac_pb pb;                     /* the weights, when there are any */
    const char *weights;          /* path of their file; NULL: no file */
    bool binary;                  /* the net is: fields that schema.def does not have are lost */
    AC_VEC(ac_caf_source) source; /* by name */
    struct ac_caf_names *names;   /* blobs by name */
    AC_VEC(ac_pt_node *) layer;   /* V1 and V2 messages, in order */
    AC_VEC(ac_caf_blob *) extra;  /* outputs after the net's own */
    struct ac_sink *listing;
};

/* A layer on its way into the graph. */
struct ac_caf_layer {
    ac_caf *r;
    ac_maker b;
    const ac_operator *row;
    ac_pt_node *node;
    const char *name, *type;
    int32_t index; /* position in the net */
    ac_place at;
    int32_t n_in, n_out;
    ac_tensor **in;
    ac_caf_blob **bottom;
    bool *was_used; /* bottoms: an earlier layer has read it */
    bool labels;    /* a data layer: tops after the first are labels */
    const char **top;
    ac_tensor **out;  /* the results of the adapter */
    ac_pb_list blobs; /* of the .caffemodel */
    bool has_source;  /* that file has a layer of this name */
    AC_VEC(ac_tensor *) param;
    AC_VEC(ac_pt_node *) message; /* parameter messages that were read */
    ac_op op;                     /* of the row */
};

/* caffe.c */
extern const ac_format ac_caffe_format;
ac_caf_blob *ac_caf_blob_find(ac_caf *r, const char *name); /* interned; NULL: unknown */

/* net.c: fills r->layer. */
int ac_caf_net(ac_caf *r);
/* V2 name of the type; NULL: reported. */
const char *ac_caf_type(ac_caf *r, const ac_pt_node *layer, const char **type);

/* binary_net.c: a message of schema `name` as a tree, without blobs. */
int ac_caf_binary(ac_caf *r, ac_span message);

/* blobs.c */
int ac_caf_weights_open(ac_caf *r, const ac_file *f);
bool ac_caf_weights_find(ac_caf *r, const char *layer, ac_pb_list *blobs);
/* The next parameter of a layer as an f32 constant of that shape; `what` names it. NULL: reported, or refused. */
ac_tensor *ac_caf_weight(ac_caf_layer *l, const char *what, int32_t rank, const int64_t *dim);
/* The same, with the shape in the file; *t NULL: none is left. */
int ac_caf_weight_next(ac_caf_layer *l, const char *what, ac_tensor **t);
int ac_caf_result(ac_caf_layer *l, int32_t i, ac_tensor *t); /* NULL: AC_FAIL */

/* layer_fields.c. A message may be NULL: then every field has its default. */
enum {
#define A(id) A_##id,
#include "import/caffe/fields_ids.def"
#undef A
};
ac_attrs_reader *ac_caf_message(ac_caf_layer *l, const char *name);   /* parameter message of the layer */
ac_attrs_reader *ac_caf_fields(ac_caf_layer *l, const ac_pt_node *m); /* a message whose fields may remain unread */
int ac_caf_shape(ac_caf_layer *l, ac_pt_node *m, int32_t *rank, int64_t dim[AC_MAX_RANK]); /* BlobShape */
/* x is a field that `what` does not have; AC_FAIL. */
int ac_caf_no_field(ac_caf *r, const ac_pt_node *x, const char *what, const char *const *known, int32_t n);
/* Refuses fields of these messages that no adapter has read. */
int ac_caf_check_fields(ac_caf_layer *l);

/* custom_layers.c: the row of a layer that --custom binds; NULL: none. */
const ac_operator *ac_caf_custom(ac_caf_layer *l);

/* layers.c */
extern const ac_operators ac_caf_operators;
int ac_caf_layer_add(ac_caf_layer *l);   /* AC_FAIL: reported or refused */
int ac_caf_layer_known(ac_caf_layer *l); /* the same for a layer whose operands failed: checks only its type */

#endif
