# rows of operators, by our name or a format's
# arenac: ops Softmax TFLite_Detection_PostProcess
