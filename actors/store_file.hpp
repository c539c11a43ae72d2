// The writer's connection, and the care of its file.
#pragma once

#include "actors/substrate_writer.hpp"

#include <memory>
#include <string>
#include <utility>

namespace alkstore {

/// An open store file. Not an actor; the writer's alone. What touches the disk
/// throws a failure, as a connection does.
class store_file {
public:
  explicit store_file(const writer_options& options);

  /// Closes it and opens it anew. When that fails it stays closed.
  void reopen();

  void close() noexcept { db_.reset(); }
  bool is_open() const noexcept { return db_ != nullptr; }
  connection& db() noexcept { return *db_; }

  /// True if another connection has committed since this was last asked, its
  /// data_version being `now`. Final only with the write lock in hand:
  /// docs/wake-up.md.
  bool others_committed(int64_t now) {
    return std::exchange(version_, now) != now;
  }

  /// True if the path still names it.
  bool still_there() const { return db_->still_there(); }

  /// Copies a long WAL into the database, as far as no reader holds it.
  void write_back();

  /// Cuts a WAL file above the limit to nothing. Returns what the operator
  /// should hear: that a reader prevents it, once each time; else nothing.
  std::string shrink_wal();

  /// Empties the WAL before the end.
  void empty_wal();

private:
  bool wal_is_large() const;

  const writer_options& options_;
  std::unique_ptr<connection> db_; ///< null while closed
  int64_t version_ = 0;            ///< data_version as last seen
  int write_back_at_;              ///< pages in the WAL
  bool said_large_ = false;
};

} // namespace alkstore
