// The tables, and the version that says which of them a file holds.
#pragma once

#include "substrate/sqlite.hpp"

namespace alkstore {

/// The version this library makes and understands. See docs/schema.md.
inline constexpr int schema_version = 1;

/// The version that the file holds, 0 for none. Reads only. Errors: as SQLite
/// says (corrupt for a file that is no database).
int stored_schema_version(sqlite3* db);

/// Refuses (schema_too_new) a file of a newer version, naming both.
void check_schema_version(int stored);

/// Refuses (invalid_argument) a file without tables, too.
void require_schema(int stored);

/// Creates what is missing. Requires an open write transaction.
void create_schema(sqlite3* db);

} // namespace alkstore
