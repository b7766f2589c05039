# The program that replays infeasibility certificates (docs/certificates.md). It must not share code with the solver, so
# it links nothing of ours: the flags are all it takes from here.
add_executable(arenac-certcheck ${CMAKE_CURRENT_SOURCE_DIR}/planner/certcheck/certcheck.c)
target_link_libraries(arenac-certcheck PRIVATE arenac_flags)
set_target_properties(arenac-certcheck PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
install(TARGETS arenac-certcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
