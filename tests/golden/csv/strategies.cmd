Two inputs that live throughout and five intermediates, under each strategy.
# arenac tflite: --planner tflite
# arenac tflm: --planner tflm
# arenac greedy: --planner greedy
# arenac bestfit: --planner bestfit
# arenac none: --planner none
# arenac exact: --planner exact
