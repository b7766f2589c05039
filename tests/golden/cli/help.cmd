# options of each verb, all of them
# arenac plan: plan --help-all
# arenac compile: compile --help-all
# arenac run: run --help-all
# arenac bench: bench --help-all
# arenac show: show --help-all
# arenac check: check --help-all
# arenac verify: verify --help-all
# arenac diff: diff --help-all
# arenac convert: convert --help-all
