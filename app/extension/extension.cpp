// alkstore.so: the store's operations as SQL functions, for programs in any
// language that share the file. docs/sql.md describes them.
//
// It works on the connection that loaded it and on the host's own SQLite: see
// substrate/sqlite.hpp. No exception leaves it.

#include "app/json/job_record.hpp"
#include "app/json/json.hpp"
#include "app/json/schedule_record.hpp"
#include "substrate/outbox.hpp"
#include "substrate/schedules.hpp"
#include "substrate/schema.hpp"

#include <exception>
#include <new>
#include <string>
#include <string_view>

extern "C" {
SQLITE_EXTENSION_INIT1
}

namespace {

using namespace alkstore;

// The last version that brought something we need: sqlite3_total_changes64, and
// STRICT tables.
constexpr int oldest_host = 3037000;

// What the host makes of it: a full disk stays one to it, a busy file too.
int code_for_host(errc code) {
  switch (code) {
    case errc::busy: return SQLITE_BUSY;
    case errc::disk_full: return SQLITE_FULL;
    case errc::read_only: return SQLITE_READONLY;
    case errc::corrupt: return SQLITE_CORRUPT;
    case errc::io_error: return SQLITE_IOERR;
    case errc::out_of_memory: return SQLITE_NOMEM;
    default: return SQLITE_ERROR;
  }
}

void refuse(sqlite3_context* context, const char* text, int code) {
  sqlite3_result_error(context, text, -1);
  sqlite3_result_error_code(context, code); // keeps the text
}

// The arguments of one call.
class arguments {
public:
  arguments(int count, sqlite3_value** values)
    : count_(count), values_(values) {}

  std::string_view text(int index, const char* name) const {
    if (sqlite3_value_type(values_[index]) != SQLITE_TEXT)
      throw failure{errc::invalid_argument,
                    std::string{name} + ": must be a text"};
    auto* bytes = sqlite3_value_text(values_[index]);
    return {reinterpret_cast<const char*>(bytes), size(index)};
  }

  /// A BLOB as it is, a TEXT as UTF-8.
  std::string_view payload(int index) const {
    auto type = sqlite3_value_type(values_[index]);
    if (type == SQLITE_TEXT)
      return text(index, "payload");
    if (type != SQLITE_BLOB)
      throw failure{errc::invalid_argument,
                    "payload: must be a text or a blob"};
    auto* bytes = static_cast<const char*>(sqlite3_value_blob(values_[index]));
    return bytes == nullptr ? std::string_view{}
                            : std::string_view{bytes, size(index)};
  }

  /// None where the argument was left out or is NULL.
  job_options options(int index) const {
    if (index >= count_ || sqlite3_value_type(values_[index]) == SQLITE_NULL)
      return {};
    return options_from_json(text(index, "options"));
  }

  /// JavaScript has no other numbers than REAL ones.
  int64_t integer(int index, const char* name) const {
    auto type = sqlite3_value_type(values_[index]);
    auto value = sqlite3_value_int64(values_[index]);
    if (type != SQLITE_INTEGER
        && (type != SQLITE_FLOAT
            || sqlite3_value_double(values_[index])
                 != static_cast<double>(value)))
      throw failure{errc::invalid_argument,
                    std::string{name} + ": must be an integer"};
    return value;
  }

private:
  // After the bytes were asked for, which may convert them.
  size_t size(int index) const {
    return static_cast<size_t>(sqlite3_value_bytes(values_[index]));
  }

  int count_;
  sqlite3_value** values_;
};

// -- the functions ------------------------------------------------------------

int64_t enqueue(sqlite3* db, const arguments& in) {
  return enqueue_tx(db, in.text(0, "queue"), in.payload(1), in.options(2));
}

int64_t outbox_enqueue(sqlite3* db, const arguments& in) {
  return outbox_enqueue_tx(db, in.text(0, "outbox"), in.payload(1),
                           in.options(2));
}

std::string add_schedule(sqlite3* db, const arguments& in) {
  schedule_request wanted{std::string{in.text(0, "schedule")},
                          std::string{in.text(1, "spec")},
                          std::string{in.text(2, "queue")},
                          std::string{in.payload(3)}, in.options(4)};
  transaction tx{db, store_rules{}};
  return to_json(schedule_record(schedules::add(tx, wanted)));
}

bool unschedule(sqlite3* db, const arguments& in) {
  auto name = in.text(0, "schedule");
  transaction tx{db, store_rules{}};
  return schedules::remove(tx, name);
}

std::string get_job(sqlite3* db, const arguments& in) {
  auto id = in.integer(0, "id");
  require_schema(stored_schema_version(db));
  // One snapshot for all that is read, also where no transaction is open.
  sqlite3_stmt* stmt = nullptr;
  if (auto rc = sqlite3_prepare_v2(db, "SELECT 1 FROM alkstore_meta", -1, &stmt,
                                   nullptr))
    throw sqlite_failure(db, rc, "reading");
  statement snapshot{db, stmt};
  snapshot.step();
  transaction tx{db, store_rules{}, clock::system(), transaction::access::read};
  return to_json(whole_job_record(jobs::get(tx, id), tx.now()));
}

// -- how SQLite calls them ----------------------------------------------------

void give(sqlite3_context* context, int64_t value) {
  sqlite3_result_int64(context, value);
}

void give(sqlite3_context* context, bool value) {
  sqlite3_result_int(context, value);
}

void give(sqlite3_context* context, const std::string& value) {
  sqlite3_result_text64(context, value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

template <auto Function>
void call(sqlite3_context* context, int count, sqlite3_value** values) {
  try {
    auto* db = sqlite3_context_db_handle(context);
    give(context, Function(db, arguments{count, values}));
  } catch (const failure& why) {
    auto text = to_string(why.code()) + ": " + why.what();
    refuse(context, text.c_str(), code_for_host(why.code()));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  } catch (const std::exception& why) {
    refuse(context, why.what(), SQLITE_ERROR);
  }
}

struct sql_function {
  const char* name;
  int least, most; ///< arguments
  void (*run)(sqlite3_context*, int, sqlite3_value**);
};

constexpr sql_function functions[] = {
  {"alkstore_enqueue", 2, 3, call<enqueue>},
  {"alkstore_outbox_enqueue", 2, 3, call<outbox_enqueue>},
  {"alkstore_schedule", 4, 5, call<add_schedule>},
  {"alkstore_unschedule", 1, 1, call<unschedule>},
  {"alkstore_get_job", 1, 1, call<get_job>},
};

} // namespace

// The name that SQLite looks for in a file called alkstore.so.
extern "C" __attribute__((visibility("default"))) int
sqlite3_alkstore_init(sqlite3* db, char** error,
                      const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  if (sqlite3_libversion_number() < oldest_host) {
    *error = sqlite3_mprintf("alkstore needs SQLite 3.37 or later, this is %s",
                             sqlite3_libversion());
    return SQLITE_ERROR;
  }
  // Neither "direct only", so that triggers may use them, nor "innocuous".
  for (auto& x : functions)
    for (int count = x.least; count <= x.most; ++count)
      if (auto rc = sqlite3_create_function_v2(db, x.name, count, SQLITE_UTF8,
                                               nullptr, x.run, nullptr, nullptr,
                                               nullptr))
        return rc;
  return SQLITE_OK;
}
