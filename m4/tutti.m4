# tutti.m4 - for packages of plugins outside Tutti's tree.

# TUTTI_PLUGIN_INIT([MINIMUM-VERSION])
# Call after LT_INIT. Finds an installed Tutti by pkg-config and sets
#   TUTTI_CFLAGS, TUTTI_LIBS  to compile and link a plugin
#   TUTTI_PLUGIN_LDFLAGS      libtool's flags of a module that exports tutti_plugin and nothing else
#   TUTTI_PLUGIN_DIR          where this Tutti looks for plugins
#   TUTTI_CONFORM             the program that checks plugins against their contract
#   TUTTI_ABI                 the interface's version, MAJOR.MINOR
# --with-plugindir=DIR installs the plugins elsewhere.
AC_DEFUN([TUTTI_PLUGIN_INIT], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
PKG_CHECK_MODULES([TUTTI], [tutti m4_ifval([$1], [>= $1])])
AC_MSG_CHECKING([for the plugin interface of Tutti])
TUTTI_ABI=`$PKG_CONFIG --variable=abi_major tutti`.`$PKG_CONFIG --variable=abi_minor tutti`
AC_MSG_RESULT([$TUTTI_ABI])
AC_ARG_WITH([plugindir],
  [AS_HELP_STRING([--with-plugindir=DIR], [where to install plugins (default: where Tutti looks for them)])],
  [TUTTI_PLUGIN_DIR=$withval],
  [# The installed system's folder, without the sysroot that some pkg-configs put before it.
   TUTTI_PLUGIN_DIR=`$PKG_CONFIG --variable=plugindir tutti`
   TUTTI_PLUGIN_DIR=${TUTTI_PLUGIN_DIR@%:@"$PKG_CONFIG_SYSROOT_DIR"}])
TUTTI_PLUGIN_LDFLAGS="-module -avoid-version -shared -no-undefined -export-symbols-regex '^tutti_plugin\$\$'"
# What is undefined fails here and not at a user's; sanitizers leave their symbols to the program.
AS_CASE(["$CC $CFLAGS"], [*-fsanitize*], [], [TUTTI_PLUGIN_LDFLAGS="$TUTTI_PLUGIN_LDFLAGS -Wl,-z,defs"])
AC_PATH_PROG([TUTTI_CONFORM], [tutti-conform], [tutti-conform], [`$PKG_CONFIG --variable=bindir tutti`$PATH_SEPARATOR$PATH])
AC_SUBST([TUTTI_ABI])
AC_SUBST([TUTTI_PLUGIN_DIR])
AC_SUBST([TUTTI_PLUGIN_LDFLAGS])
])
