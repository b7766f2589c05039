# a table of lifetimes is planned; verbs that need operators say that it is no model
# arenac check: check
# arenac compile: compile -o net.c
# arenac run: run
# arenac bench: bench
# arenac show: show
# arenac prove: prove
# arenac python: python -o net
# arenac grad: grad --output-dir gradients
# arenac convert: convert net.onnx
