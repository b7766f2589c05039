/* data_layers.c - layers of Caffe that create blobs without operands, and those with unused results. */
#include "import/caffe/layers.h"

#include <inttypes.h>
#include <string.h>

/* An input of the graph for top i of an Input or Data layer; a dimension of -1 is unknown and has a name. */
static int add_input(ac_caf_layer *l, int32_t i, int32_t rank, const int64_t *dim, const char *const *dim_name)
{
    ac_tensor *t = ac_reading_input(l->r->reading, l->top[i], AC_F32, rank, dim, dim_name);
    for (int32_t d = 0; d < t->rank; d++)
        if (t->dim[d] < 0)
            return AC_OK; /* its readers wait until the size is known */
    return ac_caf_result(l, i, t);
}

int ac_caf_do_input(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "input_param");
    const int32_t n = ac_pt_count(m->node, "shape");
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    ac_attr_skip(m, "shape");
    if (n != 1 && n != l->n_out)
        return ac_bad(&l->b, "%d shapes for %d tops; expected one for each, or one for all", n, l->n_out);
    ac_pt_node *shape = ac_pt_find(m->node, "shape");
    for (int32_t i = 0; i < l->n_out; i++) {
        AC_TRY(ac_caf_shape(l, shape, &rank, dim));
        AC_TRY(add_input(l, i, rank, dim, NULL));
        shape = n == 1 ? shape : ac_pt_again(shape);
    }
    return AC_OK;
}

/* Images come from outside; the number of channels is unknown, and so is their size if they are not cropped. */
int ac_caf_do_data(ac_caf_layer *l)
{
    static const char *const PARAM[] = {"data_param", "image_data_param", "hdf5_data_param", "window_data_param"};
    const ac_pt_node *data = NULL;
    int64_t dim[4] = {1, -1, -1, -1};
    const char *name[4] = {NULL};
    for (size_t i = 0; i < sizeof PARAM / sizeof *PARAM; i++)
        data = data ? data : ac_pt_last(l->node, PARAM[i]);
    ac_attrs_reader *m = ac_caf_fields(l, data);
    dim[0] = ac_attr_int(m, A_batch_size);
    int64_t crop = ac_attr_int(ac_caf_fields(l, ac_pt_last(l->node, "transform_param")), A_crop_size);
    if (!crop)
        crop = ac_attr_int(m, A_crop_size);
    for (int32_t d = 2; d < 4; d++) {
        const int64_t size = ac_attr_int(m, d == 2 ? A_new_height : A_new_width);
        dim[d] = crop ? crop : size ? size : -1;
    }
    for (int32_t d = 1; d < 4; d++)
        name[d] = ac_internf(l->r->cx, "%s.%s", l->top[0], d == 1 ? "channels" : d == 2 ? "height" : "width");
    l->labels = true;
    AC_TRY(add_input(l, 0, 4, dim, name));
    for (int32_t i = 1; i < l->n_out; i++)
        AC_TRY(add_input(l, i, 1, dim, NULL));
    return AC_OK;
}

int ac_caf_do_memory_data(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "memory_data_param");
    const int64_t dim[] = {ac_attr_int(m, A_memory_batch_size), ac_attr_int(m, A_memory_channels),
                           ac_attr_int(m, A_memory_height), ac_attr_int(m, A_memory_width)};
    l->labels = true;
    AC_TRY(add_input(l, 0, 4, dim, NULL));
    for (int32_t i = 1; i < l->n_out; i++)
        AC_TRY(add_input(l, i, 1, dim, NULL));
    return AC_OK;
}

/* A dimension of top i of a legacy shape: one value for all tops, or one each. */
static int dummy_dim(ac_caf_layer *l, ac_attrs_reader *m, int id, int32_t i, int64_t *out)
{
    const ac_ints list = ac_attr_ints(m, id);
    if (list.n != 1 && list.n <= i)
        return ac_bad(&l->b, "dummy_data_param has no %s for top %d", ac_attr_name(m, id), i);
    *out = list.v[list.n == 1 ? 0 : i];
    return AC_OK;
}

/* A constant; other fillers draw random numbers, which differ between runs of Caffe. */
int ac_caf_do_dummy(ac_caf_layer *l)
{
    static const int LEGACY[] = {A_num, A_channels, A_dummy_height, A_dummy_width};
    ac_attrs_reader *m = ac_caf_message(l, "dummy_data_param");
    const ac_pt_node *filler = ac_pt_find(m->node, "data_filler");
    const int32_t shapes = ac_pt_count(m->node, "shape"), fillers = ac_pt_count(m->node, "data_filler");
    ac_pt_node *shape = ac_pt_find(m->node, "shape");
    ac_attr_skip(m, "shape");
    ac_attr_skip(m, "data_filler");
    for (int32_t i = 0; i < l->n_out; i++) {
        int64_t dim[AC_MAX_RANK];
        int32_t rank = 4;
        if (shapes) {
            if (shapes != 1 && i >= shapes)
                return ac_bad(&l->b, "%d shapes for %d tops", shapes, l->n_out);
            AC_TRY(ac_caf_shape(l, shape, &rank, dim));
            shape = shapes == 1 ? shape : ac_pt_again(shape);
        }
        for (int32_t d = 0; !shapes && d < 4; d++)
            AC_TRY(dummy_dim(l, m, LEGACY[d], i, &dim[d]));
        ac_attrs_reader *fill = ac_caf_fields(l, filler);
        const char *type = ac_attr_text(fill, A_type);
        const double value = ac_attr_float(fill, A_value);
        if (strcmp(type, "constant") != 0)
            return ac_cannot(&l->b, "its filler is '%s': the numbers are random", type);
        filler = fillers > 1 && filler ? ac_pt_again(filler) : filler;
        ac_tensor *one = ac_make_number(&l->b, AC_F32, value);
        AC_TRY(ac_caf_result(l, i, ac_make_broadcast(&l->b, one, rank, dim)));
    }
    return AC_OK;
}

int ac_caf_do_parameter(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "parameter_param");
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    ac_attr_skip(m, "shape");
    AC_TRY(ac_caf_shape(l, ac_pt_last(m->node, "shape"), &rank, dim));
    return ac_caf_result(l, 0, ac_caf_weight(l, "value", rank, dim));
}

/* The blobs that a loss reads are outputs of the net. */
int ac_caf_do_loss(ac_caf_layer *l)
{
    for (int32_t i = 0; i < l->n_in; i++)
        l->bottom[i]->used = l->was_used[i];
    if (strcmp(l->type, "Accuracy") != 0)
        ac_note(l->r->cx, l->at, W0001, "the loss is omitted; its input becomes an output");
    l->n_out = 0;
    return AC_OK;
}

int ac_caf_do_silence(ac_caf_layer *l)
{
    (void)l;
    return AC_OK;
}
