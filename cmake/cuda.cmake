# The CUDA backend needs nothing here: NVRTC and the driver are opened when they are asked for. What this machine has is
# said.
file(GLOB nvrtc_found /usr/local/cuda*/lib*/libnvrtc.so.* /usr/lib/*/libnvrtc.so.*
     /usr/local/lib/python3*/dist-packages/nvidia/*/lib/libnvrtc.so.*
     $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.* $ENV{CUDA_HOME}/lib64/libnvrtc.so.*)
if(nvrtc_found OR EXISTS "$ENV{ARENAC_NVRTC}")
  message(STATUS "CUDA: kernels (--emit cu); NVRTC is here: --emit ptx,cubin too")
else()
  message(STATUS "CUDA: kernels (--emit cu) and --backend cuda-emu; NVRTC not found: no --emit ptx,cubin "
    "(pip install nvidia-cuda-nvrtc-cu12 has it)")
endif()
