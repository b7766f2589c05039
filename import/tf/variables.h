/* variables.h - variables of a SavedModel: the checkpoint entry that each is restored from, and their tensors.
 *
 * The graph itself contains the restoring of variables: a runtime runs the restore operator that the file
 * names (SaverDef.restore_op_name), whose nodes read entries of the checkpoint and assign them. restore.c follows these
 * nodes without running them:
 *
 *     Const "dense/kernel/.ATTRIBUTES/VARIABLE_VALUE" -> RestoreV2 -> Identity -> AssignVariableOp <- VarHandleOp
 *
 * in the main graph (TensorFlow 1) or in functions that it calls (TensorFlow 2). So names of variables need not match
 * names in the checkpoint, and a variable that is not restored is recognised. If an exporter omits variables there, the
 * objects in the file name their entries (objects.c).
 *
 * A variable is identified by its shared_name, or else its node's name: handles of one name are one variable. Its value
 * is read when a handle of it first runs. It is a constant, unless the model reads it and also assigns to it, which is
 * known when all nodes have run: then they are created again (ac_reading.repeat), and the variable is state between
 * runs, which starts with the value of the checkpoint. Reads and assignments follow one another in the order of the
 * model; the last value is written to the state when all of them have been read:
 *
 *     before   AssignAddVariableOp v, x;  y = ReadVariableOp v
 *     after    y = add(v, x);  assign(y) to v
 */
#ifndef AC_IMPORT_TF_VARIABLES_H
#define AC_IMPORT_TF_VARIABLES_H
#include "import/tf/tf.h"

struct ac_tf_variable {
    const char *name;
    ac_span key;        /* of the checkpoint; p NULL: nothing restores it */
    const char *sliced; /* only this part of the entry is restored: "10 20 0,5:0,20"; NULL: all of it */
    ac_tensor *t;       /* its value, here and now; NULL: not read yet */
    ac_tensor *state;   /* NULL: a constant */
    bool broken;        /* reported, or refused */
    bool is_read;
    bool assigned;
    ac_place assigned_at;
};

/* restore.c: follows the operator `restore` of the main graph. */
int ac_tf_restore_find(ac_tf *r, const char *restore);
ac_tf_body *ac_tf_called(ac_tf *r, ac_tf_node *m); /* the function that m calls; NULL: none, or reported */
/* objects.c: of variables that nothing restores, by the objects of the exporting program. */
int ac_tf_objects_find(ac_tf *r, ac_tf_bundle *bundle, ac_place at);
/* The variable of node m, a VarHandleOp or VariableV2; made by the first call. NULL: reported. */
ac_tf_variable *ac_tf_variable_of(ac_tf *r, ac_tf_node *m);

bool ac_tf_assigns(const ac_tf_node *n); /* order.c: by its operator */
/* order.c: does n change a variable, itself or in functions that it runs? */
bool ac_tf_changes(ac_tf *r, ac_tf_node *n);

/* var_defs.c: is any variable state? */
bool ac_tf_has_state(const ac_tf *r);
/* When everything has run: state gets its next values. Sets ac_reading.repeat if more variables are state. */
int ac_tf_variables_end(ac_tf *r);

#endif
