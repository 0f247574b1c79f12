# What makes builds faster where it is installed, and changes nothing where it is not: ccache and mold.
find_program(MASKD_CCACHE ccache)
if(MASKD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MASKD_CCACHE})
endif()
# A cross compiler looks for a linker of its target's name, which mold is not installed by.
find_program(MASKD_MOLD mold)
if(MASKD_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()
