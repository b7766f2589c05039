# weights that are not those of the sum: compile looks
# arenac: compile m.ag --emit loops -o -
import hashlib

body = bytes(128)
digest = hashlib.sha256(body).hexdigest()
head = ("arenac-weights 1 bytes 256 sha256 " + digest).ljust(127) + "\n"
text = """weights "m.weights" 256 "%s"
graph m {
  input x: f32[16]
  const k: f32[16] = weights @128
  y = add(x, k)
  output y
}
""" % digest
open("m.weights", "wb").write(head.encode() + bytes([1]) + body[1:])
open("m.ag", "w").write(text)
