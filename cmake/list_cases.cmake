# Run when a test program was linked: writes FILE, which tells ctest of each
# Catch2 case of PROGRAM by its name. Catch2's own script for this cuts names at
# a lone bracket, and version 2 then passes a test that ran no case.
#   PROGRAM, FILE    paths
#   CATCH            Catch2's version
#   LABEL, TIMEOUT   of every case; those tagged [slow] get that label too
# A case that prints `SKIPPED: ` and why counts as skipped.

if(CATCH VERSION_LESS 3)
  set(list --list-test-names-only)
  set(strict --warn NoTests) # version 3 always is
else()
  set(list --list-tests --verbosity quiet)
endif()
# Version 2 answers with the number of cases as its exit status.
execute_process(COMMAND ${PROGRAM} ${list} OUTPUT_VARIABLE names)
execute_process(COMMAND ${PROGRAM} ${list} [slow] OUTPUT_VARIABLE slow)
if(names STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} lists no test case")
endif()

set(script "")
while(names MATCHES "^([^\n]+)\n")
  set(name "${CMAKE_MATCH_1}")
  string(LENGTH "${name}\n" length)
  string(SUBSTRING "${names}" ${length} -1 names)
  string(REGEX REPLACE [[([][\\",])]] [[\\\1]] pattern "${name}")
  string(FIND "\n${slow}" "\n${name}\n" at)
  set(labels ${LABEL})
  if(NOT at EQUAL -1)
    string(APPEND labels ";slow")
  endif()
  string(APPEND script
    "add_test([==[${name}]==] [==[${PROGRAM}]==] [==[${pattern}]==]"
    " ${strict})\n"
    "set_tests_properties([==[${name}]==] PROPERTIES"
    " TIMEOUT ${TIMEOUT} LABELS \"${labels}\""
    " SKIP_REGULAR_EXPRESSION \"SKIPPED: \")\n")
endwhile()
file(WRITE ${FILE} "${script}")
