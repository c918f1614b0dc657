# The levels of x86-64 that the module is compiled for, in addition to the baseline, which every machine runs.
#
# SKDE_INSTRUCTION_SETS is "machine" or "all". A build from source is for its machine, which runs the best level only; the
# other level would cost a third of the build. Wheels for many machines, and the tests that compare the levels, take all.
set(SKDE_INSTRUCTION_SETS "machine" CACHE STRING "Levels of x86-64: machine (the best that this machine runs) or all")
set_property(CACHE SKDE_INSTRUCTION_SETS PROPERTY STRINGS machine all)

function(choose_instruction_sets result)
  if(NOT SKDE_INSTRUCTION_SETS MATCHES "^(machine|all)$")
    message(FATAL_ERROR "SKDE_INSTRUCTION_SETS must be machine or all; got '${SKDE_INSTRUCTION_SETS}'.")
  endif()
  set(${result} v3 v4 PARENT_SCOPE)
  if(SKDE_INSTRUCTION_SETS STREQUAL "all" OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  include(CheckCXXSourceRuns)
  foreach(level v4 v3)
    check_cxx_source_runs(
      "int main() { __builtin_cpu_init(); return __builtin_cpu_supports(\"x86-64-${level}\") ? 0 : 1; }" SKDE_RUNS_${level})
    if(SKDE_RUNS_${level})
      set(${result} ${level} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()
