#!/bin/sh
# Every .c, .h, .def, .sh and .py file and every function exists that a comment of the sources or a page of docs/ names.
# Names from outside the tree are in tests/named_files.txt. usage: named_files.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
out=$(python3 "$src/tests/named_files.py" "$src" "$src/tests/named_files.txt") || fail "$out"
names=$(echo "$out" | sed -n 's/ names$//p')
[ "${names:-0}" -gt 2000 ] || die "only $names names found: the check itself is broken"

# The check itself.
mkdir -p planted/base planted/docs
printf '/* f.h - see f.c, base/f.c and kws.h; as base/g.c\n * says, ac_f() calls ac_gone. */\nint ac_f;\n' \
    >planted/base/f.c
printf '# f\n\n    cc f.c out_of_date.py\n\n[g](../base/g.h#L1) and `f_NAME.c`\n' >planted/docs/f.md
printf 'kws.* # generated\nold.h\n' >allowed.txt
cat >expected.txt <<'T'
base/f.c:1: f.h does not exist
base/f.c:1: base/g.c does not exist
base/f.c:1: ac_gone does not exist
docs/f.md:3: out_of_date.py does not exist
docs/f.md:5: base/g.h does not exist
docs/f.md:5: f_NAME.c does not exist
allowed.txt: old.h is not needed
11 names
T
expect 1 '' python3 "$src/tests/named_files.py" planted allowed.txt
cmp expected.txt out.txt || fail "found: $(cat out.txt)"
