#include "actors/store_file.hpp"

namespace alkstore {

namespace {

// From 1,000 pages on the WAL is written back (SQLite's own default; larger
// was measured slower at FULL: a small WAL is overwritten in place).
constexpr int write_back_pages = 1000;

// How long others' reads are waited for to make the WAL small again.
constexpr millis shrink_patience{100};

} // namespace

store_file::store_file(const writer_options& options)
  : options_(options), write_back_at_(write_back_pages) {
  reopen();
}

void store_file::reopen() {
  db_.reset();
  db_ = std::make_unique<connection>(options_.path, options_.open,
                                     *options_.time);
  db_->wait_for_lock(millis{0}); // messages are taken while the lock is not
  version_ = db_->data_version();
}

void store_file::write_back() {
  if (db_->wal_pages() < write_back_at_)
    return;
  // A reader can hold pages back: then the next try waits for more of them.
  auto left = db_->checkpoint(connection::checkpoint_mode::passive);
  write_back_at_ = left + write_back_pages;
}

std::string store_file::shrink_wal() {
  if (wal_is_large()) {
    db_->wait_for_lock(shrink_patience);
    try {
      db_->checkpoint(connection::checkpoint_mode::truncate);
    } catch (...) {
      db_->wait_for_lock(millis{0});
      throw;
    }
    db_->wait_for_lock(millis{0});
  }
  if (std::exchange(said_large_, wal_is_large()) || !said_large_)
    return {};
  return options_.path + "-wal has " + std::to_string(db_->wal_bytes())
         + " bytes; a reader keeps it from being written back";
}

void store_file::empty_wal() {
  db_->checkpoint(connection::checkpoint_mode::truncate);
}

bool store_file::wal_is_large() const {
  return db_->wal_bytes() > options_.wal_limit;
}

} // namespace alkstore
