# `cmake --install`: the tool, its man pages (printed by the tool itself, so they cannot disagree with --help), the
# library with its header, and the runtime that generated code may link, with a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
install(TARGETS arenac RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(SKBUILD) # a Python wheel: the tool beside the interpreter; pyproject.toml
  install(TARGETS arenac RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
endif()
# The whole tool as one library behind arenac.h, for programs that plan and compile in process.
get_property(layers GLOBAL PROPERTY arenac_layers)
set(layer_objects)
foreach(l IN LISTS layers)
  if(NOT l STREQUAL ac_runtime)
    list(APPEND layer_objects $<TARGET_OBJECTS:${l}>)
  endif()
endforeach()
add_library(library STATIC ${layer_objects})
set_target_properties(library PROPERTIES OUTPUT_NAME arenac LINKER_LANGUAGE C)
target_include_directories(library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(library INTERFACE arn_rt m ${CMAKE_DL_LIBS})
install(TARGETS library EXPORT arenacTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
# The same as a shared library that exports arenac_* alone; the C++ header is for both.
option(ARENAC_SHARED "also build and install the library as a shared one" OFF)
set(tested ${BUILD_TESTING}) # tests/cli/hosts/cpp.sh
if(CMAKE_CROSSCOMPILING OR ARENAC_SANITIZE OR ARENAC_FUZZ)
  set(tested OFF)
endif()
if(ARENAC_SHARED OR tested)
  add_library(shared SHARED ${layer_objects} $<TARGET_OBJECTS:ac_runtime>)
  set_target_properties(shared PROPERTIES OUTPUT_NAME arenac LINKER_LANGUAGE C VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(shared PRIVATE m ${CMAKE_DL_LIBS} Threads::Threads)
  if(WIN32)
    file(STRINGS arenac.h exported REGEX "^[a-z].*arenac_[a-z_0-9]+\\(")
    list(TRANSFORM exported REPLACE "^[^(]*(arenac_[a-z_0-9]+)\\(.*" "\\1")
    string(REPLACE ";" "\n" exported "EXPORTS;${exported}\n")
    file(WRITE ${CMAKE_BINARY_DIR}/arenac.def "${exported}")
    target_sources(shared PRIVATE ${CMAKE_BINARY_DIR}/arenac.def)
  elseif(NOT APPLE)
    target_link_options(shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/arenac.map)
  endif()
endif()
if(ARENAC_SHARED)
  install(TARGETS shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
endif()
install(FILES arenac.h arenac.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
# The planner alone, behind planner/pack/arenac_planner.h: no graph, no code generation.
add_library(planner STATIC $<TARGET_OBJECTS:ac_base_sys> $<TARGET_OBJECTS:ac_base_hash> $<TARGET_OBJECTS:ac_base>
  $<TARGET_OBJECTS:ac_planner_pack>)
set_target_properties(planner PROPERTIES OUTPUT_NAME arenac-planner LINKER_LANGUAGE C)
target_include_directories(planner INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/planner/pack>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS planner EXPORT arenacTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(FILES planner/pack/arenac_planner.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES docs/arenac.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/arenac)
install(FILES docs/examples/pack.c DESTINATION ${CMAKE_INSTALL_DATADIR}/arenac/examples COMPONENT dev)
# Where the prefix is, seen from a .pc file: the tree may be moved.
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/arenac-planner.pc.in ${CMAKE_BINARY_DIR}/arenac-planner.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/arenac-planner.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

set(rt_headers runtime/arn_rt.h runtime/arn_host.h runtime/arn_pool.h runtime/arn_tree.h runtime/arn_dlpack.h
  runtime/arn_custom.h   runtime/arn_model.def)
install(FILES ${rt_headers} runtime/arn_rt.c runtime/arn_host.c runtime/arn_pool.c runtime/arn_tree.c
  runtime/mpi/arn_mpi.h runtime/mpi/arn_mpi.c DESTINATION ${CMAKE_INSTALL_DATADIR}/arenac COMPONENT dev)
install(FILES ${rt_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

add_library(arn_rt STATIC runtime/arn_rt.c runtime/arn_host.c runtime/arn_pool.c runtime/arn_tree.c)
target_include_directories(arn_rt PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/runtime>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(arn_rt PUBLIC Threads::Threads)
set_target_properties(arn_rt PROPERTIES C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)
install(TARGETS arn_rt EXPORT arenacTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT arenacTargets NAMESPACE arenac:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arenac COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/arenacConfig.cmake.in ${CMAKE_BINARY_DIR}/arenacConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arenac)
# The tool is of use to builds for other machines, whose pointers may have another size: ARCH_INDEPENDENT.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/arenacConfigVersion.cmake COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/arenacConfig.cmake ${CMAKE_BINARY_DIR}/arenacConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/arenac_add_model.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arenac COMPONENT dev)
configure_file(${CMAKE_CURRENT_LIST_DIR}/arenac.pc.in ${CMAKE_BINARY_DIR}/arenac.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/arenac.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

file(STRINGS cli/verbs.def verbs REGEX "^VERB")
list(TRANSFORM verbs REPLACE "^VERB.[A-Z]+, \"([a-z]+)\".*" "\\1")
set(man_pages)
find_program(GZIP gzip)
foreach(verb IN ITEMS arenac LISTS verbs)
  if(verb STREQUAL arenac)
    set(page arenac.1)
  else()
    set(page arenac-${verb}.1)
  endif()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
    COMMAND arenac help ${verb} --man > ${CMAKE_BINARY_DIR}/man/${page}
    DEPENDS arenac VERBATIM)
  if(GZIP)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/${page}.gz
      COMMAND ${GZIP} -9nc ${CMAKE_BINARY_DIR}/man/${page} > ${CMAKE_BINARY_DIR}/man/${page}.gz
      DEPENDS ${CMAKE_BINARY_DIR}/man/${page} VERBATIM)
    string(APPEND page .gz)
  endif()
  list(APPEND man_pages ${CMAKE_BINARY_DIR}/man/${page})
endforeach()
set(page ${CMAKE_BINARY_DIR}/man/arenac-certcheck.1)
configure_file(${CMAKE_SOURCE_DIR}/planner/certcheck/arenac-certcheck.1 ${page} @ONLY)
if(GZIP)
  add_custom_command(OUTPUT ${page}.gz COMMAND ${GZIP} -9nc ${page} > ${page}.gz DEPENDS ${page} VERBATIM)
  string(APPEND page .gz)
endif()
list(APPEND man_pages ${page})
add_custom_target(man ALL DEPENDS ${man_pages})
# Completions, where each shell looks for them.
foreach(shell IN ITEMS bash zsh fish)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/completion/arenac.${shell}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completion
    COMMAND arenac completion ${shell} > ${CMAKE_BINARY_DIR}/completion/arenac.${shell}
    DEPENDS arenac VERBATIM)
  list(APPEND completions ${CMAKE_BINARY_DIR}/completion/arenac.${shell})
endforeach()
add_custom_target(completions ALL DEPENDS ${completions})
install(FILES ${CMAKE_BINARY_DIR}/completion/arenac.bash RENAME arenac
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/completion/arenac.zsh RENAME _arenac
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/completion/arenac.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
