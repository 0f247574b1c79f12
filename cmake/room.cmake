# With MASKD_JOIN_SOURCES a target compiles some twelve of its sources as one: headers are most of what a
# compiler reads here. cmake/join_sources.py says which may share one.
option(MASKD_JOIN_SOURCES "Compile several sources of a target as one" OFF)
if(MASKD_JOIN_SOURCES)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/cmake/join_sources.py)
endif()

# With MASKD_JOIN_ROOMS the sources of all rooms are compiled together, in a few large files: that is the preset
# `quick`. Rooms are then archives of little; what they had is in maskd_rooms, and includes are checked by nobody.
option(MASKD_JOIN_ROOMS "Compile the sources of all rooms as a few" OFF)
if(MASKD_JOIN_ROOMS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(WRITE ${PROJECT_BINARY_DIR}/no_source.cc "")
endif()

# maskd_joined(RESULT NAME file...): what to compile for those sources of the target NAME. With --large in JOIN_LARGE
# as many share a file as can.
function(maskd_joined result name)
  list(TRANSFORM ARGN REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1" OUTPUT_VARIABLE sources)
  list(LENGTH sources count)
  if(MASKD_JOIN_SOURCES AND count GREATER 1)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/join_sources.py ${JOIN_LARGE}
        ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/joined ${name} ${sources}
      OUTPUT_VARIABLE sources COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# maskd_room(NAME SRCS file... DEPS target... [APART file...])
#
# One room: a static library maskd_NAME with the alias maskd::NAME. Its link edges are the rooms and
# packages that it may include; nothing else is on its include path but the repository root. Its objects
# are position-independent and hidden, so that one set of them serves the programs and libmaskd. What
# stands behind APART is never joined: kernels for one kind of processor each, files with options of their own.
function(maskd_room name)
  cmake_parse_arguments(ROOM "" "" "SRCS;DEPS;APART" ${ARGN})
  if(MASKD_JOIN_ROOMS)
    list(TRANSFORM ROOM_SRCS REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1" OUTPUT_VARIABLE sources)
    set(ROOM_SRCS ${sources})
    list(FILTER ROOM_SRCS INCLUDE REGEX "^${PROJECT_BINARY_DIR}/")  # generated here, so compiled here
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
    set_property(GLOBAL APPEND PROPERTY maskd_room_sources ${sources})
    set_property(GLOBAL APPEND PROPERTY maskd_room_targets maskd_${name})
    list(APPEND ROOM_SRCS ${PROJECT_BINARY_DIR}/no_source.cc)
    list(APPEND ROOM_DEPS maskd_rooms)
  endif()
  maskd_joined(ROOM_SRCS maskd_${name} ${ROOM_SRCS})
  add_library(maskd_${name} STATIC ${ROOM_SRCS} ${ROOM_APART})
  add_library(maskd::${name} ALIAS maskd_${name})
  target_include_directories(maskd_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(maskd_${name} PUBLIC cxx_std_20)
  target_link_libraries(maskd_${name} PUBLIC ${ROOM_DEPS})
  set_target_properties(maskd_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  maskd_warnings(maskd_${name})
endfunction()

# Behind the last room: the archive of what they have, where MASKD_JOIN_ROOMS puts it together.
function(maskd_join_rooms)
  if(NOT MASKD_JOIN_ROOMS)
    return()
  endif()
  get_property(sources GLOBAL PROPERTY maskd_room_sources)
  get_property(rooms GLOBAL PROPERTY maskd_room_targets)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/join_sources.py --large
      ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/joined rooms ${sources}
    OUTPUT_VARIABLE sources COMMAND_ERROR_IS_FATAL ANY)
  add_library(maskd_rooms STATIC ${sources})
  target_link_libraries(maskd_rooms PUBLIC ${rooms})
  set_target_properties(maskd_rooms PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# maskd_join_generated(TARGET): with MASKD_JOIN_ROOMS what protoc makes for it is compiled as one file. Each has
# private names that all have.
function(maskd_join_generated target)
  if(MASKD_JOIN_ROOMS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0 UNITY_BUILD_UNIQUE_ID MASKD_FILE
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#define MASKD_JOIN_(a, b) a##b
#define MASKD_JOIN(a, b) MASKD_JOIN_(a, b)
#define schemas MASKD_JOIN(schemas_, MASKD_FILE)
#define file_default_instances MASKD_JOIN(instances_, MASKD_FILE)"
      UNITY_BUILD_CODE_AFTER_INCLUDE "#undef schemas
#undef file_default_instances
#undef MASKD_JOIN
#undef MASKD_JOIN_")
  endif()
endfunction()

# maskd_program(NAME SRCS file... DEPS target...): an executable of ours, named as its users call it.
function(maskd_program name)
  cmake_parse_arguments(PROGRAM "" "" "SRCS;DEPS" ${ARGN})
  maskd_joined(PROGRAM_SRCS ${name} ${PROGRAM_SRCS})
  add_executable(${name} ${PROGRAM_SRCS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${PROGRAM_DEPS})
  maskd_warnings(${name})
endfunction()

# maskd_precompile_headers(TARGET): with MASKD_PRECOMPILE_TESTS it finds the headers of tests read. Its macros aside,
# it must be compiled as they were.
function(maskd_precompile_headers target)
  if(NOT MASKD_PRECOMPILE_TESTS)
    return()
  endif()
  if(NOT TARGET maskd_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/no_test.cc "")
    add_library(maskd_test_headers OBJECT ${PROJECT_BINARY_DIR}/no_test.cc)
    target_link_libraries(maskd_test_headers PRIVATE GTest::gtest GTest::gmock)
    target_compile_features(maskd_test_headers PRIVATE cxx_std_20)
    maskd_test_options(maskd_test_headers)
    maskd_warnings(maskd_test_headers)
    target_precompile_headers(maskd_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>
      <algorithm> <functional> <map> <memory> <optional> <random> <string> <vector>
      <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h> <absl/status/statusor.h>
      <absl/strings/str_cat.h> <absl/strings/str_join.h> <absl/strings/str_split.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM maskd_test_headers)
endfunction()

function(maskd_test_options target)
  # A half less to compile, of what is half of all sources; what they test is compiled as ever. With -O0 some
  # take seven times as long to run.
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-Og> $<$<CONFIG:RelWithDebInfo>:-g0>)
  # GoogleTest's macros end in an else of their own, which is no fault behind an if without braces.
  target_compile_options(${target} PRIVATE -Wno-dangling-else -pthread)
endfunction()

# maskd_test(NAME [WHOLE | PARTS n] [LONG pattern...] [MANY pattern...] SRCS file... DEPS target...): a GoogleTest
# program whose cases ctest lists one by one.
# WHOLE: as one, where they are hundreds that take less than their processes would.
# PARTS: as n processes, NAME.0 to NAME.n-1, each with its share: a process takes 50 ms before its first case. The
#   cases are listed too, with the label `case`, which scripts/test leaves out.
# LONG: what only a night runs. MANY: cases that take more by night (tests/base/night.h). Both are NAME.long.
function(maskd_test name)
  cmake_parse_arguments(TEST "WHOLE" "PARTS" "LONG;MANY;SRCS;DEPS" ${ARGN})
  set(JOIN_LARGE --large)
  maskd_program(${name} SRCS ${TEST_SRCS} DEPS ${TEST_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE MASKD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  maskd_test_options(${name})
  maskd_precompile_headers(${name})
  if(TEST_WHOLE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  else()
    list(JOIN TEST_LONG ":" long)
    maskd_test_cases(${name} "${TEST_PARTS}" "${long}")
  endif()
  if(TEST_LONG OR TEST_MANY)
    list(JOIN TEST_LONG ":" pattern)
    list(JOIN TEST_MANY ":" many)
    add_test(NAME ${name}.long COMMAND ${name} "--gtest_filter=${pattern}:${many}")
    set_tests_properties(${name}.long PROPERTIES TIMEOUT 3600 LABELS long ENVIRONMENT MASKD_LONG=1)
  endif()
endfunction()

# maskd_test_cases(NAME PARTS LONG [VAR=VALUE]): the entries of a program's cases by day, in an environment. LONG is a
# filter of those that it leaves out.
function(maskd_test_cases name parts long)
  set(properties "")
  if(ARGN)
    set(properties ENVIRONMENT ${ARGN})
  endif()
  if(parts)
    math(EXPR last "${parts} - 1")
    foreach(part RANGE ${last})
      add_test(NAME ${name}.${part} COMMAND ${name} "--gtest_filter=-${long}")
      # They begin before what is short.
      set_tests_properties(${name}.${part} PROPERTIES TIMEOUT 1200 COST 5
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${part};${ARGN}")
    endforeach()
    list(APPEND properties LABELS case)
  endif()
  # A parameter is told by its name: printed, most are bytes and addresses that differ from run to run.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 TEST_FILTER "-${long}"
    PROPERTIES TIMEOUT 600 ${properties})
endfunction()

# maskd_python_test(NAME FILE [MANY] [ENVIRONMENT VAR=VALUE...]): a pytest file, run with the interpreter that
# scripts/python-env makes. Without it the test fails: it never skips by itself.
# MANY: it takes more by night, where MASKD_LONG is set: as NAME.long.
set(MASKD_PYTHON ${PROJECT_SOURCE_DIR}/build/venv/bin/python CACHE FILEPATH "Python of the tests")
function(maskd_python_test name file)
  cmake_parse_arguments(TEST "MANY" "" "ENVIRONMENT" ${ARGN})
  set(command ${MASKD_PYTHON} -m pytest -q -rs -p no:cacheprovider ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(environment "PYTHONDONTWRITEBYTECODE=1;${TEST_ENVIRONMENT}")
  add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # They take seconds to a minute each, the programs' cases mostly less than a tenth: so they begin first, and
  # none of them is left alone at the end.
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 COST 10 ENVIRONMENT "${environment}")
  if(TEST_MANY)
    add_test(NAME ${name}.long COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}.long PROPERTIES TIMEOUT 3600 LABELS long ENVIRONMENT "${environment};MASKD_LONG=1")
  endif()
endfunction()

function(maskd_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wthread-safety)
  endif()
endfunction()
