#!/bin/sh
# With --json every verb prints one document whatever goes wrong, early or late: each verb that takes it is called with
# each kind of failure, and with what only that verb can fail at. usage: json_failures.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
PYTHONPATH=$src/tests/docs python3 "$src/tests/cli/plan/json_failures.py" "$arenac" "$src"
bad=$?
