# The LLVM backend: a module of its own, arenac-llvm.so, beside the tool. Nothing else needs LLVM.
set(ARENAC_LLVM AUTO CACHE STRING "the LLVM backend: AUTO (when LLVM 19.1 or later is found), ON or OFF")
set_property(CACHE ARENAC_LLVM PROPERTY STRINGS AUTO ON OFF)
option(ARENAC_LLVM_STATIC "LLVM inside of the module, for machines that have none (needs a C++ compiler)" OFF)
if(ARENAC_LLVM_STATIC)
  enable_language(CXX) # which only links
endif()
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
  if(ARENAC_LLVM_STATIC)
    get_target_property(uses LLVMSupport INTERFACE_LINK_LIBRARIES)
    string(REPLACE zstd::libzstd_shared zstd::libzstd_static uses "${uses}") # not on every machine
    set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${uses}")
    llvm_map_components_to_libnames(llvm_parts ${LLVM_TARGETS_TO_BUILD} bitwriter object orcjit passes)
    target_link_libraries(arenac-llvm PRIVATE ac_codegen_dsp ${llvm_parts})
    set_target_properties(arenac-llvm PROPERTIES LINKER_LANGUAGE CXX)
    target_link_options(arenac-llvm PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections,--as-needed,-s)
  else()
    target_link_libraries(arenac-llvm PRIVATE ac_codegen_dsp LLVM)
  endif()
  # its own copy of the layers below, seen by nobody
  target_link_options(arenac-llvm PRIVATE -Wl,--exclude-libs,ALL,-z,defs)
  install(TARGETS arenac-llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/arenac COMPONENT llvm)
  if(SKBUILD) # a Python wheel: where base/plugin.c looks, from the tool's place; python/llvm/pyproject.toml
    install(TARGETS arenac-llvm LIBRARY DESTINATION ${SKBUILD_DATA_DIR}/${CMAKE_INSTALL_LIBDIR}/arenac
      COMPONENT wheel-llvm)
  endif()
elseif(ARENAC_LLVM STREQUAL "ON")
  message(FATAL_ERROR "LLVM 19.1 or later is wanted (ARENAC_LLVM=ON) and was not found: install llvm-19-dev, or say "
    "where with -DLLVM_DIR=.../lib/cmake/llvm")
elseif(ARENAC_LLVM STREQUAL "OFF")
  message(STATUS "LLVM is left out (ARENAC_LLVM=OFF): no objects and no --backend llvm")
else()
  message(STATUS "LLVM 19.1 or later not found: no objects and no --backend llvm (llvm-19-dev has it)")
endif()
