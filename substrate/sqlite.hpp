// The one place that picks SQLite's header. Inside a loadable extension the
// host's SQLite must be used: two copies of SQLite in one process on one file
// would drop each other's POSIX locks.
#pragma once

#ifdef ALKSTORE_LOADABLE_EXTENSION
#  include <sqlite3ext.h>
extern "C" {
SQLITE_EXTENSION_INIT3
}
#else
#  include <sqlite3.h>
#endif
