# The program that replays certificates of infeasibility (docs/certificates.md) and of code (docs/prove.md). It must not
# share code with the solver and the prover, so it links nothing of ours: the flags are all it takes from here.
file(GLOB replay CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/prove/replay/*.c)
add_executable(arenac-certcheck ${CMAKE_CURRENT_SOURCE_DIR}/planner/certcheck/certcheck.c ${replay})
target_link_libraries(arenac-certcheck PRIVATE arenac_flags m)
set_target_properties(arenac-certcheck PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
install(TARGETS arenac-certcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
