# The targets CAF::core, CAF::io and CAF::openssl, and ALKSTORE_CAF_VERSION. CAF
# 1.x brings a package file; Debian's 0.17 has none. A CAF that is not the
# system's is named in CMAKE_PREFIX_PATH. Installed with alkstore's own package.
if(NOT TARGET CAF::core)
  find_package(OpenSSL QUIET) # which CAF's package file takes for granted
  find_package(CAF CONFIG QUIET)
endif()
if(NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  find_path(CAF_INCLUDE_DIR caf/all.hpp REQUIRED)
  mark_as_advanced(CAF_INCLUDE_DIR)
  set(CAF_core_needs Threads::Threads)
  set(CAF_io_needs CAF::core)
  set(CAF_openssl_needs CAF::io)
  foreach(part IN ITEMS core io openssl)
    find_library(CAF_${part}_LIBRARY caf_${part})
    mark_as_advanced(CAF_${part}_LIBRARY)
    if(CAF_${part}_LIBRARY)
      add_library(CAF::${part} UNKNOWN IMPORTED GLOBAL)
      set_target_properties(CAF::${part} PROPERTIES
        IMPORTED_LOCATION ${CAF_${part}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES ${CAF_${part}_needs})
    endif()
  endforeach()
endif()
if(NOT TARGET CAF::core)
  message(FATAL_ERROR "There is no libcaf_core beside ${CAF_INCLUDE_DIR}")
endif()

if(CAF_VERSION)
  set(ALKSTORE_CAF_VERSION ${CAF_VERSION})
else()
  # 0.17: #define CAF_VERSION 1706
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp line
    REGEX "^#define CAF_VERSION [0-9]+$" LIMIT_COUNT 1)
  string(REGEX REPLACE ".* " "" number "${line}")
  math(EXPR major "${number} / 10000")
  math(EXPR minor "${number} / 100 % 100")
  math(EXPR patch "${number} % 100")
  set(ALKSTORE_CAF_VERSION ${major}.${minor}.${patch})
endif()
