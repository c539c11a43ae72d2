// Files that the configuration names. The errors' texts do not repeat the path:
// it stands beside the key.
#pragma once

#include <string>

namespace alkstore {

/// `~/x` with the home directory that $HOME names; other paths as they are.
/// Errors: invalid_argument for `~user`, and where $HOME is not set.
std::string expand_home(const std::string& path);

/// The bytes of a file of at most `most` bytes. Errors: io_error with the
/// system's reason, also for a directory; invalid_argument if it is larger.
std::string read_file(const std::string& path, size_t most);

/// Refuses (invalid_argument) a path where no database can be: empty, a
/// directory, in a directory that is not there, or a name that SQLite takes for
/// something else. Permissions are left to the store, which opens it.
void check_database_path(const std::string& path);

} // namespace alkstore
