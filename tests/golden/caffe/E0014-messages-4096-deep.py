# 4,096 messages in each other
open("deep.prototxt", "w").write("layer {" + "a{" * 4096)
