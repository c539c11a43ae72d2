# The target CAF::core. CAF 1.x brings a package file; Debian's 0.17 has none.
if(NOT TARGET CAF::core)
  find_package(CAF CONFIG QUIET COMPONENTS core)
endif()
if(NOT TARGET CAF::core)
  find_path(CAF_INCLUDE_DIR caf/all.hpp REQUIRED)
  find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
  mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)
  add_library(CAF::core UNKNOWN IMPORTED GLOBAL)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION ${CAF_CORE_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
