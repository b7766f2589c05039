#!/bin/sh
# Certificates of code written by hand, each with one fault of its kind, beside one that differs in the fault only and
# is valid: the checker believes nothing that a line says. certificate.sh plants faults in certificates of models.
# usage: certificate_wrong.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
certcheck=$(dirname "$arenac")/arenac-certcheck
head='arenac-code-certificate 1
memory arena 4096 16
before 0 0 64 1 0'
right() { # NAME: the certificate from the input, after the head, is valid
    { echo "$head" && cat && echo end; } >"$1.cert"
    expect 0 '^VALID' timeout 60 "$certcheck" "$1.cert"
}
wrong() { # NAME STATUS TEXT SED
    sed "$4" "$1.cert" >wrong.cert
    cmp -s "$1.cert" wrong.cert && fail "$1, $4: nothing was changed"
    expect "$2" "$3" timeout 60 "$certcheck" wrong.cert
}

# bytes of a result; scratch on it; the place, alignment and names of arguments; a certificate without any step
right copy <<'END'
fn f
  buf x in i32 8 align 4
  buf s scratch i32 8 align 4
  buf y out i32 8 align 4
     %1 = const i32 0
     %2 = const i32 8
     %3 = for i32 %1 .. %2 step 1
     %4 = load i32 x[%3]
          store s[%3] %4
          end
     %7 = for i32 %1 .. %2 step 1
     %8 = load i32 s[%7]
          store y[%7] %8
          end
    %11 = const i32 4
    %12 = load i32 s[%11]
call 0 tasks 1
  arg memory 0 0 8 1 0 32
  arg memory 0 64 8 0 0 0
  arg memory 0 128 8 2 0 32
after 0 128 32 2 0
END
wrong copy 1 'smaller than the bytes it makes' 's/128 8 2 0 32/128 8 2 0 64/'
wrong copy 1 'element 4 of s has been overwritten by y' 's/0 64 8 0 0 0/0 128 8 0 0 0/'
wrong copy 1 'element 4 of y is not written' 's/0 64 8 0 0 0/0 128 8 0 0 0/; s/i32 s\[%7\]/i32 x[%7]/
    s/%12 = load i32 s\[%11\]/       store s[%11] %1/'
wrong copy 1 'something else is there' 's/^after 0 128 32 2 0/after 0 128 32 2 4/'
wrong copy 2 'out of range' 's/^memory arena 4096 16/memory arena 4096 0/'
wrong copy 1 'is not aligned' 's/^  arg memory 0 0 8 1 0 32/  arg memory 0 2 8 1 2 32/
    s/x in i32 8 align 4/x in i32 8 align 2/'
wrong copy 2 'two buffers have the same name' 's/buf s scratch/buf x scratch/'
wrong copy 2 'after a local' 's/buf x in/buf x local/'
wrong copy 3 'no step' '/^fn/,/^after/d'
wrong copy 3 'no result' '/^after/d'
right loops <<'END'
fn f
  buf y out i32 1 align 4
     %1 = const i32 0
     %2 = const i32 20
     %3 = for i32 %1 .. %2 step 1
     %4 = for i32 %1 .. %2 step 1
          end
          end
          store y[%1] %1
call 0 tasks 1
  arg memory 0 128 1 2 0 4
after 0 128 4 2 0
END
wrong loops 3 'too many steps' 's/const i32 20/const i32 2147483647/'

# operands have the types, lanes and scopes of their operator; text is complete
right typed <<'END'
fn f
  buf x in f32 8 align 16
  buf y out i32 4 align 16
     %1 = const i32 0
     %2 = load f32x4 x[%1] aligned
     %3 = satcast i32x4 %2
     %4 = const i32 4
     %5 = var i32 %1 as v
     %6 = lt bool %1 %4
          if %6
     %8 = const i32 3
          set %8 to %5
          end
    %11 = for i32 %1 .. %4 step 1
    %12 = eq bool %11 %4
          break_if %12
          end
    %15 = get i32 %5
          store y[%1] %3 aligned
call 0 tasks 1
  arg memory 0 0 8 1 0 32
  arg memory 0 128 4 2 0 16
after 0 128 16 2 0
END
wrong typed 2 'operands have different types' 's/satcast i32x4 %2/add i32x4 %2 %2/'
wrong typed 2 'a different number of lanes' 's/satcast i32x4 %2/satcast i32x2 %2/'
wrong typed 2 'an index is one i32' 's/store y\[%1\]/store y[%6]/'
wrong typed 2 'not a value before' 's/get i32 %5/get i32 %50/'
wrong typed 2 'is a variable' 's/store y\[%1\]/store y[%5]/'
wrong typed 2 'not a value before' 's/store y\[%1\]/store y[%8]/'
wrong typed 2 'outside of a sequential loop' 's/%11 = for.*/%11 = const i32 1/; /%11 = const/{n; s/.*/          if %6/}
    s/break_if %12/break_if %6/'
wrong typed 2 'parallel loop' 's/\(%11 = for.*\)/\1 parallel/; s/break_if %12/set %11 to %5/'
wrong typed 2 'does not exist for this type' 's/eq bool/mod bool/'
wrong typed 2 'only read' 's/buf y out/buf y in/'
wrong typed 1 'x is not aligned for 4 lanes' 's/x in f32 8 align 16/x in f32 8 align 8/'
wrong typed 1 'element 2 of x is not aligned' 's/%1 = const i32 0/%1 = const i32 2/'
wrong typed 2 'ends too early' '$d'
wrong typed 2 'a block does not end' '0,/^          end$/{/^          end$/d}; s/%11 = for/%10 = for/
    s/%12 = eq bool %11/%11 = eq bool %10/
    s/break_if %12/break_if %11/; s/%15 = get/%14 = get/'
wrong typed 2 'too many words' 's/^  arg memory.*/& 3/'
wrong typed 2 'indented' 's/^before/ before/'
wrong typed 2 'a number is expected' 's/^after 0/after 0x/'

# a result of floats that becomes an integer, and an index
right floats <<'END'
const f32 3 1 2 3
const i8 256 range -3 3
fn f
  buf x in f32 8 align 4
  buf k const f32 3 align 4
  buf t const i8 256 align 1
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = load f32 x[%1]
     %3 = const f32 3
     %4 = var f32 %3 as v
     %5 = lt bool %1 %1
     %6 = const f32 0
     %7 = lt bool %6 %2
          if %7
     %9 = const f32 1
          set %9 to %4
          end
    %12 = get f32 %4
    %13 = max f32 %12 %6
    %14 = cast i32 %13
    %15 = load i8 t[%14]
          store y[%1] %15
call 0 tasks 1
  arg memory 0 0 8 1 0 32
  arg const 0
  arg const 1
  arg memory 0 128 1 2 0 1
after 0 128 1 2 0
END
wrong floats 3 'becomes an integer' 's/%9 = const f32 1/%9 = load f32 x[%1]/'
wrong floats 3 'becomes an integer' 's/%9 = const f32 1/%9 = load f32 x[%1]/; s/%3 = const f32 3/%3 = const f32 nan/'
wrong floats 3 'becomes an integer' 's/%3 = const f32 3/%3 = const f32 nan/'
wrong floats 3 'becomes an integer' 's/%9 = const f32 1/%9 = const f32 2147483647/'
wrong floats 3 'becomes an integer' 's/%9 = const f32 1/%9 = load f32 k[%1]/
    s/^const f32 3 1 2 3/const f32 3 range -1 9 nan/
    s/%13 = max f32 %12 %6/%13 = max f32 %6 %12/'
wrong floats 2 'ends before it begins' 's/range -3 3/range 3 -3/'
wrong floats 2 'does not fit its type' 's/range -3 3/range -3 128/'

# floats of 16 bits of one kind are rounded to the other
right half <<'END'
fn f
  buf t in i8 8 align 1
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = const f16 512
     %3 = cast bf16 %2
     %4 = cast f32 %3
     %5 = cast i32 %4
     %6 = const i32 -512
     %7 = add i32 %5 %6
     %8 = const i32 4
     %9 = add i32 %7 %8
    %10 = load i8 t[%8]
          store y[%1] %10
call 0 tasks 1
  arg memory 0 0 8 1 0 8
  arg memory 0 128 1 2 0 1
after 0 128 1 2 0
END
wrong half 3 'elements' 's/const f16 512/const f16 515/; s/const i32 -512/const i32 -515/; s/t\[%8\]/t[%7]/'
wrong half 3 'becomes an integer' 's/const f16 512/const bf16 99840/; s/cast bf16 %2/cast f16 %2/'

# branches, and stores to one of several elements: whose bytes are there is what is so on every way
right branch <<'END'
fn f
  buf x in i8 8 align 1
  buf s scratch i8 4 align 1
  buf z scratch i8 4 align 1
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = load i8 x[%1]
     %3 = const i8 0
     %4 = lt bool %2 %3
          store s[%1] %2
          if %4
          store z[%1] %3
          store s[%1] %2
          else
          store s[%1] %3
          end
    %12 = load i8 s[%1]
          store y[%1] %12
call 0 tasks 1
  arg memory 0 0 8 1 0 8
  arg memory 0 64 4 0 0 0
  arg memory 0 64 4 0 0 0
  arg memory 0 128 1 2 0 1
after 0 128 1 2 0
END
wrong branch 3 'element 0 of s has been overwritten by z' '0,/^          else/{
/store z/{N;s/\(.*\)\n\(.*\)/\2\n\1/}}'
wrong branch 3 'element 0 of s has been overwritten by z' 's/store s\[%1\] %3/store z[%1] %3/'
right index <<'END'
fn f
  buf x in u8 8 align 1
  buf s scratch u8 256 align 1
  buf z scratch u8 256 align 1
  buf y out u8 1 align 1
     %1 = const i32 0
     %2 = load u8 x[%1]
     %3 = cast i32 %2
          store z[%3] %2
          store s[%1] %2
     %6 = load u8 s[%1]
          store y[%1] %6
call 0 tasks 1
  arg memory 0 0 8 1 0 8
  arg memory 0 512 256 0 0 0
  arg memory 0 512 256 0 0 0
  arg memory 0 128 1 2 0 1
after 0 128 1 2 0
END
wrong index 3 'element 0 of s has been overwritten by z' '/store z/{N;s/\(.*\)\n\(.*\)/\2\n\1/}'

# what the caller gives between tasks is unknown afterwards, and overwrites what shares its bytes
right given <<'END'
fn made
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = const i8 1
          store y[%1] %2
fn moved
  buf w in i8 1 align 1
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = load i8 w[%1]
          store y[%1] %2
fn looked
  buf t in i8 1 align 1
  buf g in i8 4 align 1
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = load i8 t[%1]
     %3 = cast i32 %2
     %4 = load i8 g[%3]
          store y[%1] %4
call 0 tasks 1
  arg memory 0 128 1 7 0 1
call 1 tasks 1
  arg memory 0 128 1 7 0 1
  arg memory 0 160 1 2 0 1
call 2 tasks 1
  arg memory 0 128 1 7 0 1
  arg memory 0 0 4 1 0 4
  arg memory 0 192 1 3 0 1
after 0 192 1 3 0
END
wrong given 3 'elements -128 .. 127 of g' 's/^call 1 tasks 1/& given 0 1/'
wrong given 1 'the caller writes beyond w' 's/^call 1 tasks 1/& given 0 2/'
wrong given 1 'something else is there' 's/^call 2/call 1 tasks 1 given 0 1\n  arg memory 0 128 1 9 0 1\n&/
    s/given 0 1\n  arg[^\n]*/&\n  arg memory 0 160 1 2 0 1/'

# bytes that are not bools; tasks that run in any order
right bools <<'END'
fn bits
  buf x in u8 1 align 1
  buf y out bool 1 align 1
     %1 = const i32 0
     %2 = load u8 x[%1]
     %3 = cast bool %2
          store y[%1] %3
fn looked
  buf t in bool 1 align 1
  buf g in i8 2 align 1
  buf y out i8 1 align 1
     %1 = const i32 0
     %2 = load bool t[%1]
     %3 = cast i32 %2
     %4 = load i8 g[%3]
          store y[%1] %4
call 0 tasks 1
  arg memory 0 0 1 1 0 1
  arg memory 0 128 1 2 0 1
call 1 tasks 1
  arg memory 0 128 1 2 0 1
  arg memory 0 8 2 1 8 2
  arg memory 0 192 1 3 0 1
after 0 192 1 3 0
END
wrong bools 3 'may not be a bool' 's/y out bool/y out u8/; s/cast bool %2/cast u8 %2/'
right tasks <<'END'
fn f
  buf x in i8 4 align 1
  buf y out i8 4 align 1
  buf part in i32 1 align 4
     %1 = const i32 0
     %2 = load i32 part[%1]
     %3 = load i8 x[%2]
     %4 = load i8 x[%2]
          store y[%2] %3
call 0 tasks 4
  arg memory 0 0 4 1 0 4
  arg memory 0 0 4 2 0 4
  arg task
after 0 0 4 2 0
END
wrong tasks 1 'overwritten' 's/%4 = load i8 x\[%2\]/%4 = load i8 x[%1]/'
wrong tasks 3 'another task has read it' 's/%4 = load i8 x\[%2\]/%4 = const i32 3\n     %5 = load i8 x[%4]/'
wrong tasks 3 'has not been written' 's/%4 = load i8 x\[%2\]/%4 = load i8 y[%1]/'

# divisors are followed through so many choices only, a maximum through so many elements: none of it takes long
{
    printf '%s\nfn f\n  buf x in i32 8 align 4\n  buf y out i32 1 align 4\n' "$head"
    printf '%%1 = const i32 0\n%%2 = load i32 x[%%1]\n'
    printf '%%3 = eq bool %%2 %%1\n%%4 = select i32 %%3 %%2 %%2\n'
    i=4
    while [ $i -lt 60 ]; do
        echo "%$((i + 1)) = select i32 %3 %$i %$i"
        i=$((i + 1))
    done
    printf '%%61 = div i32 %%2 %%60\nstore y[%%1] %%61\n'
} | sed '/^%\|^store/s/^/  /' >divide.cert
printf 'call 0 tasks 1\n  arg memory 0 0 8 1 0 32\n  arg memory 0 128 1 2 0 4\nafter 0 128 4 2 0\nend\n' >>divide.cert
expect 3 'the divisor may be 0' timeout 60 "$certcheck" divide.cert
cat >softmax.ag <<'END'
graph s {
  input x: i8[3,130] q(0.05, 3)
  y: i8[3,130] q(0.00390625, -128) = softmax(x)
  output y
}
END
expect 0 ': proven' "$arenac" prove softmax.ag -o softmax.cert
expect 0 '^VALID 1 of 1' timeout 60 "$certcheck" softmax.cert
exit $bad
