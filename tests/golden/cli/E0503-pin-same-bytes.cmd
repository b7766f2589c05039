# two tensors that live at once
# arenac: plan -q ../../../models/digits_int8.tflite --pin image=arena@0 --pin 'digits_1/c1_relu_1/Relu;digits_1/c1_bn_1/batchnorm/add_1;digits_1/c1_1/convolution;digits_1/c1_bn_1/batchnorm/sub1=arena@16'
