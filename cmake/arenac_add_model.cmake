# arenac_add_model(TARGET MODEL model [weights] [NAME prefix] [OPTIONS option...])
#
# A static library TARGET of the code that arenac makes of a model; what links it includes NAME.h. The code is made
# again when a file that arenac read has changed: the model, weights, arrays of --const.
#
#     find_package(arenac REQUIRED)
#     arenac_add_model(kws MODEL kws.tflite OPTIONS -t cortex-m4 --stripe auto --budget 64K)
#     target_link_libraries(firmware PRIVATE kws)                       #include "kws.h"
#
# NAME is the C prefix and the stem of the files, TARGET by default. OPTIONS are those of `arenac compile`. The tool is
# arenac_EXECUTABLE (-Darenac_EXECUTABLE=... for another one), which find_package sets also where the build is for
# another machine.
cmake_policy(PUSH)
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW) # paths of depfiles are made those of Ninja
endif()
function(arenac_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 model "" "NAME" "MODEL;OPTIONS")
  if(model_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "arenac_add_model(${target}): unexpected argument '${model_UNPARSED_ARGUMENTS}'; "
      "options of arenac come after OPTIONS")
  endif()
  if(NOT model_MODEL)
    message(FATAL_ERROR "arenac_add_model(${target}): MODEL is missing, the file of the model")
  endif()
  if(NOT model_NAME)
    string(MAKE_C_IDENTIFIER "${target}" model_NAME)
  endif()
  string(TOLOWER "${model_NAME}" model_NAME)
  set(files)
  foreach(file IN LISTS model_MODEL)
    get_filename_component(file "${file}" ABSOLUTE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "arenac_add_model(${target}): there is no model '${file}'")
    endif()
    list(APPEND files "${file}")
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.arenac")
  file(MAKE_DIRECTORY "${folder}")
  set(code "${folder}/${model_NAME}")
  set(depfile)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.20) # before: the files of MODEL alone
    set(depfile DEPFILE "${code}.d")
  endif()
  if(TARGET arenac)
    set(arenac_EXECUTABLE $<TARGET_FILE:arenac>)
  endif()
  add_custom_command(OUTPUT "${code}.c" "${code}.h"
    COMMAND "${arenac_EXECUTABLE}" compile -q ${files} ${model_OPTIONS} --name "${model_NAME}" -o "${code}.c"
            --depfile "${code}.d"
    DEPENDS ${files} "${arenac_EXECUTABLE}" ${depfile}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" COMMENT "arenac: ${model_NAME}.c" VERBATIM)
  add_library(${target} STATIC "${code}.c" "${code}.h")
  target_include_directories(${target} PUBLIC "${folder}")
  if(NOT MSVC)
    target_link_libraries(${target} PUBLIC m)
  endif()
endfunction()
cmake_policy(POP)
