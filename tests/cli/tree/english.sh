#!/bin/sh
# Comments, messages and pages have at most as many of the constructions that tests/english.py counts as
# tests/english.json allows. After a rewrite: python3 tests/english.py --write tests/english.json lowers the ceilings.
# usage: english.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
out=$(python3 "$src/tests/english.py" "$src" --check "$src/tests/english.json") || fail "$out"

# The check itself: one use more than allowed fails, one less passes, and a ceiling falls but does not rise.
count() { python3 "$src/tests/english.py" planted "$@"; }
mkdir -p planted/base
printf '/* What is left. */\nint f(void) { return ac_error(cx, "no size is said for it"); } // as f.h says\n' \
    >planted/base/f.c
printf '# Room\n\nThe one of which nobody `says` it.\n' >planted/page.md
count --write high.json
cat >expected.json <<'J'
{
 ".": {
  "docs": {
   "nobody": 1,
   "of which": 1
  }
 },
 "base": {
  "comments": {
   "What ..": 1,
   "says": 1
  },
  "messages": {
   "says": 1
  }
 }
}
J
cmp expected.json high.json || fail "texts or constructions are counted differently: $(cat high.json)"
count --check high.json || fail "as many uses as allowed fail"
printf '/* what was asked for lies there */\n' >planted/base/g.h
expect 1 "base: comments: 'lies' 1 times, at most 0" python3 "$src/tests/english.py" planted --check high.json
count --write high.json
cmp expected.json high.json || fail "--write raises a ceiling"
rm planted/base/*
count --write high.json
expect 0 '' count --check high.json
! grep base high.json || fail "--write does not lower a ceiling"
