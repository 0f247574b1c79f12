# With MASKD_PRECOMPILE_TESTS the headers that tests have in common, none of ours, are read once for all of them
# (room.cmake). That is three of the ten seconds that a small test takes to compile.
option(MASKD_PRECOMPILE_TESTS "Precompile GoogleTest's and Abseil's headers for the tests" OFF)

# What makes builds faster where it is installed, and changes nothing where it is not: ccache and mold.
find_program(MASKD_CCACHE ccache)
if(MASKD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MASKD_CCACHE})
  if(MASKD_PRECOMPILE_TESTS)  # without these words it keeps nothing that was compiled behind such headers
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
endif()
# A cross compiler looks for a linker of its target's name, which mold is not installed by.
find_program(MASKD_MOLD mold)
if(MASKD_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()
