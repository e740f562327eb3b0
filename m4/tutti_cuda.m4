# TUTTI_CHECK_CUDA
# --with-cuda[=DIR]: the CUDA Toolkit; default: if found. Sets NVCC, CUDA_HOME, CUDA_VERSION, CUDA_CPPFLAGS, CUDA_LIBS,
# CUDA_TARGETS (the devices that nvcc compiles for), cuda_why (why there is none) and the conditional HAVE_CUDA; where
# cuDNN 9 and cuBLAS are there, too, CUDNN_LIBS and the conditional HAVE_CUDNN (cudnn_why: why not).
# The runtime is linked statically: it loads the driver when it is first called, so the plugin loads without one.
AC_DEFUN([TUTTI_CHECK_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@], [use the CUDA Toolkit (default: if found)])], [],
  [with_cuda=check])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
cuda_why="nvcc not found"
AS_CASE([$with_cuda],
  [no], [NVCC= cuda_why="--without-cuda"],
  [yes|check], [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH:/usr/local/cuda/bin:/opt/cuda/bin])],
  [AC_PATH_PROG([NVCC], [nvcc], [], [$with_cuda/bin])])
CUDA_HOME= CUDA_VERSION= CUDA_CPPFLAGS= CUDA_LIBS= CUDA_TARGETS=
AS_IF([test -n "$NVCC"], [
  # nvcc names its own root: the folder may be a link, or Debian's, where headers and libraries are in /usr.
  CUDA_HOME=`"$NVCC" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^@%:@\$ TOP=//p'`
  CUDA_HOME=`cd "$CUDA_HOME" 2>/dev/null && pwd -P`
  CUDA_VERSION=`"$NVCC" --version | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
  AS_IF([test -f "$CUDA_HOME/include/cuda_runtime.h"],
    [CUDA_CPPFLAGS="-isystem $CUDA_HOME/include"
     for tutti_dir in lib64 lib targets/x86_64-linux/lib; do
       AS_IF([test -f "$CUDA_HOME/$tutti_dir/libcudart_static.a"], [CUDA_LIBS="-L$CUDA_HOME/$tutti_dir"; break])
     done])
  tutti_cppflags=$CPPFLAGS tutti_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
  CUDA_LIBS="$CUDA_LIBS -lcudart_static -lpthread -ldl -lrt -lstdc++"
  LIBS="$CUDA_LIBS $LIBS"
  AC_MSG_CHECKING([whether a program with CUDA's runtime can be linked])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[@%:@include <cuda_runtime.h>]], [[int n; return cudaGetDeviceCount(&n);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no]); NVCC= CUDA_CPPFLAGS= CUDA_LIBS=
     cuda_why="nvcc is there, but no program with its runtime can be linked"])
  CPPFLAGS=$tutti_cppflags LIBS=$tutti_libs])
AS_IF([test -n "$NVCC"], [
  AC_MSG_CHECKING([which devices $NVCC compiles C++20 for])
  for tutti_code in sm_80 sm_90 compute_90; do
    tutti_target="-gencode=arch=compute_`echo $tutti_code | sed 's/.*_//'`,code=$tutti_code"
    AS_IF(["$NVCC" --dryrun -std=c++20 $tutti_target -x cu -c /dev/null -o conftest.o >/dev/null 2>&1],
      [CUDA_TARGETS="$CUDA_TARGETS $tutti_target" tutti_codes="$tutti_codes $tutti_code"])
  done
  AC_MSG_RESULT([$tutti_codes])
  AS_IF([test -z "$CUDA_TARGETS"], [cuda_why="$NVCC compiles C++20 for no device since sm_80" NVCC= CUDA_LIBS=])])
CUDNN_LIBS= cudnn_why="no CUDA Toolkit"
AS_IF([test -n "$NVCC"], [
  tutti_cppflags=$CPPFLAGS tutti_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
  LIBS="-lcudnn -lcublas $CUDA_LIBS $LIBS"
  AC_MSG_CHECKING([for cuDNN 9 and cuBLAS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[@%:@include <cublas_v2.h>
@%:@include <cudnn.h>
@%:@if CUDNN_MAJOR < 9
@%:@error "too old"
@%:@endif]], [[cudnnHandle_t dnn; cublasHandle_t blas; return cudnnCreate(&dnn) + cublasCreate(&blas);]])],
    [AC_MSG_RESULT([yes]); CUDNN_LIBS="-lcudnn -lcublas" cudnn_why=],
    [AC_MSG_RESULT([no]); cudnn_why="cuDNN 9 or cuBLAS not found beside the toolkit"])
  CPPFLAGS=$tutti_cppflags LIBS=$tutti_libs])
AC_SUBST([CUDNN_LIBS])
AM_CONDITIONAL([HAVE_CUDNN], [test -n "$CUDNN_LIBS"])
AS_IF([test -z "$NVCC" && test "$with_cuda" != no && test "$with_cuda" != check],
  [AC_MSG_ERROR([--with-cuda was given, but: $cuda_why])])
AC_SUBST([CUDA_HOME])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_LIBS])
AC_SUBST([CUDA_TARGETS])
AM_CONDITIONAL([HAVE_CUDA], [test -n "$NVCC"])
])
