// A store's file as a whole: copied while it is in use, and made smaller.
#pragma once

#include "substrate/connection.hpp"

#include <functional>
#include <string>

namespace alkstore {

/// Told now and then how far a long piece of work is: 0 to 1, or less than 0
/// where nobody can tell.
using progress_function = std::function<void(double)>;

/// Copies the store into a new file (mode 0600), one consistent state of it,
/// while others go on reading and writing; the WAL cannot shrink meanwhile. The
/// copy gets its name once it is whole and on disk; until then it is
/// `target`.part. Errors: duplicate if one of the two is there already;
/// disk_full, read_only, io_error and so on, and then nothing is left behind.
void back_up(connection& db, const std::string& target,
             const progress_function& report = {});

/// Writes the file anew without its free pages and empties the WAL. Holds the
/// write lock all the time, and needs room for two more copies. Errors: busy,
/// disk_full.
void vacuum(connection& db, const progress_function& report = {});

/// What the file holds, in bytes.
struct store_sizes {
  int64_t file = 0;
  int64_t free = 0; ///< of these in free pages
  int64_t wal = 0;  ///< the file beside it
};
store_sizes sizes(connection& db);

} // namespace alkstore
