# @TITLE@
#     make                 lib@name@.a
#     make selftest        and a program that runs the model and compares every byte of its outputs
#     make SECTION=.bss.dtcm CC=arm-none-eabi-gcc CFLAGS="-mcpu=cortex-m7 -mthumb -O2"
CFLAGS ?= -O2
cross := $(lastword $(filter %-gcc,$(CC)))
ifeq ($(origin AR),default)
  AR := $(if $(cross),$(cross:%-gcc=%-ar),ar)
endif
SECTION ?=
CPPFLAGS += -Iinclude $(if $(SECTION),-D@NAME@_SECTION_ARENA='"$(SECTION)"')
OBJECTS = src/@name@.o src/@name@_memory.o

lib@name@.a: $(OBJECTS)
	$(AR) rcs $@ $(OBJECTS)

src/@name@.o src/@name@_memory.o src/@name@.selftest.o: include/@name@.h include/@name@_memory.h

selftest: src/@name@.selftest.o examples/selftest.c lib@name@.a
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $^ -lm -o $@

clean:
	$(RM) $(OBJECTS) src/@name@.selftest.o lib@name@.a selftest

.PHONY: clean
