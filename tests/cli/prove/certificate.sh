#!/bin/sh
# Certificates of code: arenac prove -o writes them, arenac-certcheck replays them; a fault planted in loops, offsets,
# sizes, constants or cuts is refused or left open, and no text makes the checker crash.
# usage: certificate.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
certcheck=$(dirname "$arenac")/arenac-certcheck
digits=$models/digits_int8.tflite
expect 0 '^usage: arenac-certcheck ' "$certcheck" --help
expect 2 '^usage: arenac-certcheck ' "$certcheck"
valid() { # MODEL OPTION...
    "$arenac" prove "$@" -o code.cert >/dev/null || fail "prove $*"
    expect 0 '^VALID [0-9]* of [0-9]* steps' "$certcheck" code.cert
}
valid "$models/branch_int8.tflite"
valid "$models/dsnet_f32.tflite"
valid "$models/digits_f32.tflite" --threads 3
valid "$src/tests/golden/c/state.ag"
valid "$models/branch_int8.tflite" -t cortex-m0plus
valid "$models/branch_int8.tflite" -t x86-64-v4 # words of 32 bits in lanes of 64 that have a sign
valid "$digits" -t cuda-sm75
# -o - is the certificate alone
"$arenac" prove "$digits" -o digits.cert >/dev/null && "$arenac" prove "$digits" -o - >piped.cert 2>err.txt
cmp digits.cert piped.cert || fail "-o - is not the certificate"
expect 0 '^VALID 7 of 7' "$certcheck" digits.cert

planted() { # STATUS TEXT SED: a fault in the certificate of digits
    sed "$3" digits.cert >wrong.cert
    cmp -s wrong.cert digits.cert && fail "$3: nothing was changed"
    expect "$1" "$2" "$certcheck" wrong.cert
}
loops=/^fn/,/^restrict/
at=$(sed -n 's/.*load i8 x\[\(%[0-9]*\)\]$/\1/p' digits.cert | head -n 1) # where the image is read
planted 1 'elements .* of x\[64\]' "$loops s/^\( *$at = *\)add/\1sub/"
planted 1 'REFUSED step 0' '0,/const i32 8$/ s/const i32 8$/const i32 9/'            # a bound of a loop
planted 1 'is not written' '0,/const i32 8$/ s/const i32 8$/const i32 7/'            # rows that nobody writes
planted 3 'beyond its type' 's/^const i32 12 -8030 /const i32 12 2147483000 /'       # a bias
planted 1 'has not been written\|something else is there' '0,/^call 2/ s/^  arg memory 0 768 /  arg memory 0 784 /'
planted 1 'is not inside arena' 's/^memory arena [0-9]* /memory arena 900 /'
planted 1 'is not aligned' 's/^  arg memory 0 768 /  arg memory 0 769 /'
planted 1 'something else is there' '0,/^call 1/ s/^\(  arg memory 0 [0-9]* [0-9]*\) [0-9]* 0 64/\1 99 0 64/'
planted 3 'elements .* of exp' '/^  cut/d; s/max i8 %7 %8/min i8 %7 %8/'            # the largest is none
planted 3 'not checked: step 6' '/^  cut/d'                                         # proofs by cases that are left out
planted 2 'parts do not follow' 's/^  cut 28 \([0-9]*\) \([0-9]*\) [0-9]* /  cut 28 \1 \2 \2 /'
planted 2 'not a value before' "$loops s/load i32 k\\[%7\\]/load i32 k[%700]/"
planted 2 'ends too early' '$d'
planted 2 'is not known' 's/^call/cull/'
planted 2 'the function has more parameters' ':a; N; $!ba; s/\n[^\n]*\ncall 1 /\ncall 1 /'
planted 2 'not a certificate' '1s/1$/2/'
planted 1 'restrict .* shares bytes' '0,/^call 1/! s/^\(  arg memory 0\) 768 \(.*\)/\1 0 \2/'

# claims that are not replayed stay open: products of a warp
cat >mma.cert <<'END'
arenac-code-certificate 1
memory arena 64 16
fn products
  buf out out f32 8 align 4
  buf words local i32 8 align 4 thread
     %1 = const i32 0
            mma f32 out[%1] words[%1] words[%1]
call 0 tasks 1
  arg memory 0 0 8 2 0 32
end
END
expect 3 'not checked: step 0 products, .*not replayed' "$certcheck" mma.cert

# the values that a step stores in a tensor bound the operands of a later one: 5 * 400000000 fits
cat >left.cert <<'END'
arenac-code-certificate 1
memory arena 64 16
memory state 0 16
memory in0 8 16
before 2 0 8 1 0
fn clamp
  buf out out i8 8 align 1
  buf x in i8 8 align 1
     %1 = const i32 0
     %2 = const i32 8
     %3 = const i8 0
     %4 = const i8 5
     %5 = for i32 %1 .. %2 step 1 as i
     %6 =   load i8 x[%5]
     %7 =   max i8 %6 %3
     %8 =   min i8 %7 %4
            store out[%5] %8
          end
fn scale
  buf out out i32 8 align 4
  buf x in i8 8 align 1
     %1 = const i32 0
     %2 = const i32 8
     %3 = const i32 400000000
     %4 = for i32 %1 .. %2 step 1 as i
     %5 =   load i8 x[%4]
     %6 =   cast i32 %5
     %7 =   mul i32 %6 %3
            store out[%4] %7
          end
call 0 tasks 1
  arg memory 0 0 8 2 0 8
  arg memory 2 0 8 1 0 8
call 1 tasks 1
  arg memory 0 32 8 3 0 32
  arg memory 0 0 8 2 0 8
after 0 32 32 3 0
end
END
expect 0 '^VALID 2 of 2' "$certcheck" left.cert
beyond() { # SED
    sed "$1" left.cert >wrong.cert
    expect 3 'beyond its type' "$certcheck" wrong.cert
}
beyond 's/const i8 5/const i8 6/'
beyond 's/^before.*/&\nbefore 0 0 8 2 0/'                                   # there may be something in it before
beyond '$!{/^call 1/,/^after/ s/arg memory 0 0 8 2 0 8/arg memory 2 0 8 1 0 8/}' # an input

# tensors that a step both writes and reads: fully written, and before they are read
cat >made.ag <<'END'
graph s {
  input x: f32[3,5,9,1]
  const v: f32[3,2,3,1] = random 1
  const w: f32[8,4,3,1] = random 2
  a: f32[3,2,5,3] = conv_2d(x, v) stride_h=2 dilation_h=2 dilation_w=2 padding=explicit
  b: f32[3,2,5,3] = tanh(a)
  y: f32[3,5,9,8] = conv_2d(x, w) dilation_h=2 dilation_w=2 padding=explicit pad_t=3 pad_b=3 pad_l=2 pad_r=2
  output a, b, y
}
END
expect 0 ': proven; 1 steps' "$arenac" prove made.ag -t generic --io rows -o made.cert
grep -q ' buf out inout ' made.cert || fail "the step does not read what it makes: $(grep ' buf ' made.cert)"
expect 0 '^VALID 1 of 1' "$certcheck" made.cert
at=$(sed -n 's/.*store out\[\(%[0-9]*\)\] .*/\1/p' made.cert | tr '\n' ' ') # of the stores
second=${at#* } second=${second%% *}
sed "s/store out\[$second\]/store out[${at%% *}]/" made.cert >wrong.cert
cmp -s made.cert wrong.cert && fail "no store was moved"
expect 3 'element .* of out has not been written' "$certcheck" wrong.cert

# masks of 64 bits choose the weights of a window at the edge: sums fit because of what each weight is
cat >window.ag <<'END'
graph window {
  input x: i8[1,12,12,4] q(0.05, -128)
  const w: i8[1,7,7,4] q(axis 3: 0.01 0, 0.02 0, 0.01 0, 0.02 0) = random 1 (-127, 127)
  const b: i32[4] = splat 0
  y: i8[1,6,6,4] q(0.1, -128) = depthwise_conv_2d(x, w, b) stride_h=2 stride_w=2 padding=same
  output y
}
END
expect 0 ': proven; 1 steps' "$arenac" prove window.ag -t cortex-m4 -o window.cert
grep -q '= *shl u64' window.cert || fail "no mask has 64 bits"
expect 0 '^VALID 1 of 1' "$certcheck" window.cert
sed '/^const i8 197/s/ -\{0,1\}[0-9]\{1,3\}/ 127/3g' window.cert >wrong.cert
expect 3 'beyond its type' "$certcheck" wrong.cert

# weights of a large constant, each of which the proof needs
cat >dense.ag <<'END'
graph dense {
  input x: i8[1,5,5,1200] q(0.05, -128)
  const w: i8[60,1,1,1200] q(0.01, 0) = random 1 (-127, 127)
  const b: i32[60] = splat 0
  y: i8[1,5,5,60] q(0.5, -128) = conv_2d(x, w, b)
  output y
}
END
expect 0 ': proven; 1 steps' "$arenac" prove dense.ag -t cortex-m4 -o dense.cert
grep -q '^const i8 72000 [-0-9]' dense.cert || fail "weights are not there: $(grep '^const i8' dense.cert | cut -c1-60)"
expect 0 '^VALID 1 of 1' "$certcheck" dense.cert

# a loop that data may leave: it did nothing more, or all of the rest; divisors that a choice keeps from being 0
cat >det.ag <<'END'
graph det {
  input x: f32[2,3,3]
  input a: i32[6]
  input b: i32[6]
  y = det(x)
  z = floor_mod(a, b)
  output y, z
}
END
expect 0 ': proven; 2 steps' "$arenac" prove det.ag -t cortex-m4 -o det.cert
expect 0 '^VALID 2 of 2' "$certcheck" det.cert
cat >leave.cert <<'END'
arenac-code-certificate 1
memory arena 64 16
memory in0 8 16
before 1 0 8 1 0
fn some
  buf out out i8 4 align 1
  buf x in i8 4 align 1
  buf own local i8 4 align 1
     %1 = const i32 0
     %2 = const i32 4
     %3 = const i8 0
     %4 = const i32 5
     %5 = for i32 %1 .. %2 step 1 as i
            store own[%5] %3
          end
     %8 = for i32 %1 .. %2 step 1 as i
     %9 =   load i8 x[%8]
    %10 =   lt bool %9 %3
            break_if %10
            store own[%8] %9
          end
    %14 = for i32 %1 .. %2 step 1 as i
    %15 =   load i8 own[%14]
            store out[%14] %15
          end
call 0 tasks 1
  arg memory 0 0 4 2 0 4
  arg memory 1 0 4 1 0 4
after 0 0 4 2 0
end
END
expect 0 '^VALID 1 of 1' "$certcheck" leave.cert
left() { # TEXT SED
    sed "$2" leave.cert >wrong.cert
    cmp -s leave.cert wrong.cert && fail "$2: nothing was changed"
    expect 3 "$1" "$certcheck" wrong.cert
}
left 'element 0 of own has not been written' 's/store own\[%5\]/store out[%5]/' # where it is left at once
left 'elements 4 .. 4 of x' 's/%8 = for i32 %1 .. %2/%8 = for i32 %1 .. %4/'    # where it never is

# no text crashes it: bytes changed at random
if have python3 python3; then
    python3 - "$certcheck" digits.cert <<'END' || fail "a changed certificate"
import random, subprocess, sys
rng, text = random.Random(1), open(sys.argv[2], "rb").read()
for k in range(150):
    t = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(t))
        kind = rng.randrange(3)
        if kind == 0:
            t[at] = rng.choice(b"0123456789 %-[].\nabx")
        elif kind == 1:
            del t[at:at + rng.randint(1, 60)]
        else:
            t[at:at] = t[at:at + rng.randint(1, 60)]
    open("fuzzed.cert", "wb").write(t)
    try:
        r = subprocess.run([sys.argv[1], "fuzzed.cert"], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        continue # loops that are longer now
    assert r.returncode in (0, 1, 2, 3), (k, r)
END
fi
exit $bad
