// The limit that the product is compared with: prepared statements through the
// C API over the product's own tables, and nothing else.
#pragma once

#include "substrate/connection.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace alkstore::bench {

/// The wall clock in the store's milliseconds.
int64_t wall_ms();

/// A hand-written queue: the rows, columns, index work, random bytes, pragmas
/// and checkpoints of the product's writer. Works within begin() and commit().
/// Errors: exits with a line on standard error.
class raw_store {
public:
  /// Opens `path`; the library makes the file and its tables.
  explicit raw_store(const std::string& path,
                     durability sync = durability::full);
  raw_store(const raw_store&) = delete;
  raw_store& operator=(const raw_store&) = delete;

  void begin();

  /// Commits, then checkpoints passively from 1,000 pages in the WAL.
  void commit();

  /// One job into `queue`. Requires that the texts live until it returns.
  void enqueue(std::string_view queue, std::string_view payload);

  /// Claims up to `max` due jobs for the next ack_claimed(), and reads their
  /// payloads. Returns how many.
  int claim(std::string_view queue, int max);

  /// Acks what claim() took since.
  void ack_claimed();

  /// Fires every due schedule once: finds them, inserts their jobs, moves
  /// next_fire_at. Returns how many.
  int tick();

  /// Runs SQL that answers nothing.
  void execute(const std::string& sql);

  int64_t integer(const std::string& sql);

private:
  struct closer {
    void operator()(sqlite3* x) const { sqlite3_close_v2(x); }
    void operator()(sqlite3_stmt* x) const { sqlite3_finalize(x); }
  };
  using prepared = std::unique_ptr<sqlite3_stmt, closer>;

  struct claimed_row {
    int64_t id, number, attempts, visibility_ms;
  };

  prepared prepare(const char* sql);
  void check(int rc);
  void run(prepared& stmt);
  void change_one(prepared& stmt);
  void insert(std::string_view queue, std::string_view payload,
              std::string_view schedule, int64_t fire_at);
  static int on_wal_commit(void* self, sqlite3*, const char*, int pages);

  std::unique_ptr<sqlite3, closer> db_;
  prepared begin_, commit_, insert_, payload_, top_, due_, take_, ack_, drop_,
    schedules_, move_;
  std::vector<claimed_row> claimed_;
  int64_t now_ = 0; ///< ms, read after BEGIN
  int wal_pages_ = 0;
  int checkpoint_at_;
  size_t bytes_read_ = 0; ///< so that reading a payload is not optimised away
};

} // namespace alkstore::bench
