# weights of Hugging Face
head = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
open("E0001-safetensors.safetensors", "wb").write(len(head).to_bytes(8, "little") + head + bytes(4))
