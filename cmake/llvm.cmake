# The LLVM backend: a module of its own, arenac-llvm.so, beside the tool. Nothing else needs LLVM.
set(ARENAC_LLVM AUTO CACHE STRING "the LLVM backend: AUTO (when LLVM 19.1 or later is found), ON or OFF")
set_property(CACHE ARENAC_LLVM PROPERTY STRINGS AUTO ON OFF)
if(NOT ARENAC_LLVM STREQUAL "OFF")
  foreach(v 19.1 20.1 21.1 22.1) # LLVM's package takes a version of the same minor number only
    if(NOT LLVM_FOUND)
      find_package(LLVM ${v} CONFIG QUIET)
    endif()
  endforeach()
endif()
if(LLVM_FOUND)
  message(STATUS "LLVM ${LLVM_PACKAGE_VERSION}: objects (--emit o,s,ll,bc) and --backend llvm are built")
  file(GLOB llvm_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/codegen/llvm/*.c)
  add_library(arenac-llvm MODULE ${llvm_sources})
  set_target_properties(arenac-llvm PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(arenac-llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_link_libraries(arenac-llvm PRIVATE ac_codegen LLVM)
  # its own copy of the layers below, seen by nobody
  target_link_options(arenac-llvm PRIVATE -Wl,--exclude-libs,ALL,-z,defs)
  install(TARGETS arenac-llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/arenac COMPONENT llvm)
elseif(ARENAC_LLVM STREQUAL "ON")
  message(FATAL_ERROR "LLVM 19.1 or later is wanted (ARENAC_LLVM=ON) and was not found: install llvm-19-dev, or say "
    "where with -DLLVM_DIR=.../lib/cmake/llvm")
elseif(ARENAC_LLVM STREQUAL "OFF")
  message(STATUS "LLVM is left out (ARENAC_LLVM=OFF): no objects and no --backend llvm")
else()
  message(STATUS "LLVM 19.1 or later not found: no objects and no --backend llvm (llvm-19-dev has it)")
endif()
