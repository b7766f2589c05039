#!/bin/sh
# A CI check for a model with a lock file: its memory plan is the reviewed one and fits the board. The report for the
# merge request goes to plan.md, the page to plan.html. usage: check.sh MODEL LOCK BYTES
set -eu
model=$1 lock=$2 bytes=$3
arenac plan -q "$model" --emit md,html -o plan
if ! arenac plan -q "$model" --lock "$lock" --budget "$bytes"; then
    arenac diff "$lock" "$model" --md >>plan.md || true # what changed, for those who review
    exit 1
fi
