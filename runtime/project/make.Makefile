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
OBJECTS = src/@name@_memory.o
TESTS =
HEADERS =
OBJECTS += src/@source@.o
TESTS += src/@header@.selftest.o
HEADERS += include/@header@.h

lib@name@.a: $(OBJECTS)
	$(AR) rcs $@ $(OBJECTS)

$(OBJECTS) $(TESTS): $(HEADERS) include/@name@_memory.h

selftest: $(TESTS) examples/selftest.c lib@name@.a
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $^ -lm -o $@

clean:
	$(RM) $(OBJECTS) $(TESTS) lib@name@.a selftest

.PHONY: clean
