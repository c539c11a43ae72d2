# Run by the installation.
#   from   the folder with substrate/ and the others
#   to     where they go, below the prefix
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${to}")
message(STATUS "Installing: ${root}/")
file(REMOVE_RECURSE "${root}") # an earlier version may have had more
foreach(folder IN ITEMS substrate actors testing)
  file(GLOB headers RELATIVE "${from}" "${from}/${folder}/*.hpp")
  foreach(header IN LISTS headers)
    file(READ "${from}/${header}" text)
    string(REGEX REPLACE "(#include \")((substrate|actors|testing)/)"
      "\\1alkstore/\\2" text "${text}")
    file(WRITE "${root}/${header}" "${text}")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES
      "${CMAKE_INSTALL_PREFIX}/${to}/${header}")
  endforeach()
endforeach()
file(RENAME "${root}/testing/testing.hpp" "${root}/testing.hpp")
