# `cpack`: Debian packages (arenac, arenac-dev, arenac-llvm, arenac-mpi) and a tarball of all, in the build folder.
#     cpack --config build/CPackConfig.cmake -B build/packages          both; -G DEB or -G TGZ: one of them
# Who packages says who answers for it: -DARENAC_MAINTAINER="Name <address>".
set(ARENAC_MAINTAINER "arenac maintainers <maintainers@arenac.invalid>" CACHE STRING "the maintainer of the packages")
set(CPACK_PACKAGE_NAME arenac)
set(CPACK_PACKAGE_VENDOR arenac)
set(CPACK_PACKAGE_CONTACT "${ARENAC_MAINTAINER}")
# The first line of each description is its package's summary: a summary for all of them would take its place.
set(CPACK_PACKAGE_DESCRIPTION "compiler of neural networks to C with planned memory
arenac reads TFLite, ONNX, PyTorch (.pt2), TensorFlow, Caffe and MXNet models,
gives every tensor a fixed place in one arena, and writes C99 that needs no heap, no
library and no runtime. It proves its plans, runs models on this machine and
trains them.")
set(CPACK_PACKAGE_FILE_NAME "arenac-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${ARENAC_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENTS_ALL tool dev)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME arenac)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS gcc)
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "arenac-dev, graphviz")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME arenac-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_TOOL_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_COMPONENT_DEV_DEPENDS tool)
set(CPACK_COMPONENT_DEV_DESCRIPTION "library, headers and CMake package of arenac
The library, headers and CMake package of arenac, for programs
that plan and compile models in process, that link the runtime of generated
code, or whose CMake builds make code of models.")
foreach(part IN ITEMS llvm mpi)
  if(TARGET arenac-${part})
    string(TOUPPER ${part} P)
    list(APPEND CPACK_COMPONENTS_ALL ${part})
    set(CPACK_DEBIAN_${P}_PACKAGE_NAME arenac-${part})
    set(CPACK_COMPONENT_${P}_DEPENDS tool)
  endif()
endforeach()
set(CPACK_COMPONENT_LLVM_DESCRIPTION "LLVM backend of arenac
The LLVM backend of arenac: objects, assembly and bitcode for
every target without a compiler, and models that run here without one.")
set(CPACK_COMPONENT_MPI_DESCRIPTION "training over several processes with arenac
The gradients of the processes of mpirun are shared: any number of them gives
the same bits.")

# What Debian's policy wants of each package.
find_program(GZIP gzip)
if(GZIP)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in ${CMAKE_BINARY_DIR}/debian/changelog.Debian @ONLY)
  foreach(file IN ITEMS ${CMAKE_BINARY_DIR}/debian/changelog.Debian ${CMAKE_SOURCE_DIR}/CHANGELOG.md)
    get_filename_component(name ${file} NAME)
    string(REPLACE CHANGELOG.md changelog name ${name})
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/debian/${name}.gz
      COMMAND ${GZIP} -9nc ${file} > ${CMAKE_BINARY_DIR}/debian/${name}.gz DEPENDS ${file} VERBATIM)
    list(APPEND changelogs ${CMAKE_BINARY_DIR}/debian/${name}.gz)
  endforeach()
  add_custom_target(changelogs ALL DEPENDS ${changelogs})
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(REPLACE "-tool" "" package arenac-${component})
    install(FILES ${changelogs} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
      COMPONENT ${component})
  endforeach()
endif()
include(CPack)
