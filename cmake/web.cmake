# The tool as a module of WebAssembly (emcmake cmake; scripts/web.sh): arenac.js makes one, with a file system in memory
# and main to call. It has the command line of the tool, and gives the same bytes.
if(EMSCRIPTEN)
  target_sources(arenac PRIVATE ${CMAKE_SOURCE_DIR}/web/posix.c)
  target_link_options(arenac PRIVATE -sMODULARIZE=1 -sEXPORT_NAME=arenacModule -sENVIRONMENT=web,worker,node
    -sINVOKE_RUN=0 -sEXIT_RUNTIME=1 -sFORCE_FILESYSTEM=1 -sEXPORTED_RUNTIME_METHODS=FS,ENV,callMain
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB)
endif()
