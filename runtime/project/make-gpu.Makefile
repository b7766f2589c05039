# @TITLE@
#     make                 lib@name@.a, kernels by nvcc
#     make NVCC=           kernels in an image, which the program gives or contains
CFLAGS ?= -O2
NVCC ?= nvcc
NVCCFLAGS ?= -O2 -arch=sm_@ARCH@
CPPFLAGS += -Iinclude
OBJECTS = src/arn_cuda.o
HEADERS = include/arn_cuda.h
OBJECTS += src/@source@.o
HEADERS += include/@header@.h

lib@name@.a: $(OBJECTS)
	$(AR) rcs $@ $(OBJECTS)

$(OBJECTS): $(HEADERS)

%.o: %.cu
	$(if $(NVCC),$(NVCC) $(NVCCFLAGS) --fmad=false,$(CC) $(CFLAGS) -x c) $(CPPFLAGS) -c -o $@ $<

clean:
	$(RM) $(OBJECTS) lib@name@.a

.PHONY: clean
