# TUTTI_CHECK_CUDA
# --with-cuda[=DIR]: the CUDA Toolkit; default: if found. Sets NVCC, CUDA_HOME, CUDA_VERSION, CUDA_CPPFLAGS, CUDA_LIBS,
# cuda_why (why there is none) and the conditional HAVE_CUDA.
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
CUDA_HOME= CUDA_VERSION= CUDA_CPPFLAGS= CUDA_LIBS=
AS_IF([test -n "$NVCC"], [
  # nvcc names its own root: the folder may be a link, or Debian's, where headers and libraries are in /usr.
  CUDA_HOME=`"$NVCC" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^@%:@\$ TOP=//p'`
  CUDA_HOME=`cd "$CUDA_HOME" 2>/dev/null && pwd -P`
  CUDA_VERSION=`"$NVCC" --version | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
  AS_IF([test -f "$CUDA_HOME/include/cuda_runtime.h"],
    [CUDA_CPPFLAGS="-I$CUDA_HOME/include"
     for tutti_dir in lib64 lib targets/x86_64-linux/lib; do
       AS_IF([test -f "$CUDA_HOME/$tutti_dir/libcudart.so"], [CUDA_LIBS="-L$CUDA_HOME/$tutti_dir"; break])
     done])
  tutti_cppflags=$CPPFLAGS tutti_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
  LIBS="$CUDA_LIBS -lcublas -lcudart $LIBS"
  AC_MSG_CHECKING([whether a program with cuBLAS can be linked])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[@%:@include <cuda_runtime.h>
@%:@include <cublas_v2.h>]], [[cublasHandle_t h; int n; return cudaGetDeviceCount(&n) + cublasCreate(&h);]])],
    [AC_MSG_RESULT([yes]); CUDA_LIBS="$CUDA_LIBS -lcublas -lcudart"],
    [AC_MSG_RESULT([no]); NVCC= CUDA_CPPFLAGS= CUDA_LIBS=
     cuda_why="nvcc is there, but no program with cuBLAS can be linked"])
  CPPFLAGS=$tutti_cppflags LIBS=$tutti_libs])
AS_IF([test -z "$NVCC" && test "$with_cuda" != no && test "$with_cuda" != check],
  [AC_MSG_ERROR([--with-cuda was given, but: $cuda_why])])
AC_SUBST([CUDA_HOME])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_LIBS])
AM_CONDITIONAL([HAVE_CUDA], [test -n "$NVCC"])
])
