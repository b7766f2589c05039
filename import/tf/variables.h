/* variables.h - variables of a SavedModel: what is restored into which, and their tensors.
 *
 * The graph says itself how a runtime gives the variables their values: it runs the restore operator that the file
 * names (SaverDef.restore_op_name), whose nodes read entries of the checkpoint and assign them. restore.c follows these
 * nodes without running them:
 *
 *     Const "dense/kernel/.ATTRIBUTES/VARIABLE_VALUE" -> RestoreV2 -> Identity -> AssignVariableOp <- VarHandleOp
 *
 * in the main graph (TensorFlow 1) or in functions that it calls (TensorFlow 2). So names of variables need not match
 * names in the checkpoint, and a variable that nothing restores is told from one that is. Where an exporter leaves out
 * variables there, the objects that it had say where their values are (objects.c).
 *
 * A variable is what its shared_name says, or else its node's name: handles of one name are one variable. Its value is
 * read when a handle of it first runs. A model that reads a variable and assigns to it too keeps something from run to
 * run, which is refused. */
#ifndef AC_IMPORT_TF_VARIABLES_H
#define AC_IMPORT_TF_VARIABLES_H
#include "import/tf/tf.h"

struct ac_tf_variable {
    const char *name;
    ac_span key;        /* of the checkpoint; p NULL: nothing restores it */
    const char *sliced; /* only this part of the entry is restored: "10 20 0,5:0,20"; NULL: all of it */
    ac_tensor *t;       /* NULL: not read yet */
    bool broken;        /* reported, or refused */
    bool is_read;
    bool assigned;
    ac_place assigned_at;
};

/* restore.c: what the operator `restore` of the main graph restores. */
int ac_tf_restore_find(ac_tf *r, const char *restore);
ac_tf_body *ac_tf_called(ac_tf *r, ac_tf_node *m); /* the function that m calls; NULL: none, or reported */
/* objects.c: of variables that nothing restores, by the objects of the exporting program. */
int ac_tf_objects_find(ac_tf *r, ac_tf_bundle *bundle, ac_place at);
/* The variable that node m, a VarHandleOp or VariableV2, stands for; made when there is none. NULL: reported. */
ac_tf_variable *ac_tf_variable_of(ac_tf *r, ac_tf_node *m);

/* order.c: does n change a variable, itself or in functions that it runs? */
bool ac_tf_changes(ac_tf *r, ac_tf_node *n);

/* var_defs.c: when everything has run. AC_FAIL: a variable that is read is assigned to, too (refused). */
int ac_tf_variables_check(ac_tf *r);

#endif
