/* stream.cu - the kernels of the stream engine, which trains networks of images layer by layer; between them go cuDNN's
   convolutions and cuBLAS's products (stream_library.c). See docs/backend-cuda.md. */
#define CUDA_WORKERS blockDim.x
#include "stream_head.cuh"
#include "stream_norm.cuh"
#include "stream_view.cuh"
#include "stream_window.cuh"
