#include "substrate/copies.hpp"

#include "substrate/transaction.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace alkstore {

namespace {

[[noreturn]] void fail(int error, const std::string& doing) {
  auto denied = error == EACCES || error == EPERM || error == EROFS;
  throw failure{error == EEXIST   ? errc::duplicate
                : error == ENOSPC ? errc::disk_full
                : denied          ? errc::read_only
                                  : errc::io_error,
                doing + ": " + std::strerror(error)};
}

// The copy while it is none yet; gone unless it was finished.
class unfinished_copy {
public:
  explicit unfinished_copy(const std::string& path) : path_(path) {
    if (::mknod(path.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) != 0)
      fail(errno, "creating " + path);
  }
  unfinished_copy(const unfinished_copy&) = delete;
  unfinished_copy& operator=(const unfinished_copy&) = delete;
  ~unfinished_copy() {
    if (path_.empty())
      return;
    for (auto* suffix : {"", "-journal"})
      ::unlink((path_ + suffix).c_str());
  }

  // SQLite has synced the file itself.
  void rename(const std::string& target) {
    // Not rename(), which would replace a file that has come meanwhile; a few
    // file systems have nothing else.
    auto rc = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(),
                          RENAME_NOREPLACE);
    if (rc != 0 && errno == EINVAL)
      rc = ::rename(path_.c_str(), target.c_str());
    if (rc != 0)
      fail(errno, "naming the copy " + target);
    path_.clear();
    auto folder = std::filesystem::absolute(target).parent_path();
    auto fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto synced = fd >= 0 && ::fsync(fd) == 0;
    auto error = errno;
    if (fd >= 0)
      ::close(fd);
    if (!synced)
      fail(error, "syncing " + folder.string());
  }

private:
  std::string path_;
};

// A plain connection: the copy is no store yet.
class plain_file {
public:
  explicit plain_file(const std::string& path) {
    auto flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE;
    if (auto rc = sqlite3_open_v2(path.c_str(), &db, flags, nullptr)) {
      auto why = sqlite_failure(db, rc, "opening " + path);
      sqlite3_close(db);
      throw why;
    }
  }
  plain_file(const plain_file&) = delete;
  plain_file& operator=(const plain_file&) = delete;
  ~plain_file() { sqlite3_close(db); }

  sqlite3* db = nullptr;
};

void copy(sqlite3* from, const std::string& path,
          const progress_function& report) {
  constexpr int pages = 1000; // 4 MiB a step
  plain_file to{path};
  // Ended also where `report` throws: an unfinished one keeps `to` open.
  struct finish {
    void operator()(sqlite3_backup* x) const { sqlite3_backup_finish(x); }
  };
  std::unique_ptr<sqlite3_backup, finish> backup{
    sqlite3_backup_init(to.db, "main", from, "main")};
  if (!backup)
    throw sqlite_failure(to.db, sqlite3_extended_errcode(to.db), "copying");
  int rc = SQLITE_OK;
  while (rc == SQLITE_OK) {
    rc = sqlite3_backup_step(backup.get(), pages);
    auto total = std::max(1, sqlite3_backup_pagecount(backup.get()));
    if (report)
      report(1.0 - double(sqlite3_backup_remaining(backup.get())) / total);
  }
  auto finished = sqlite3_backup_finish(backup.release());
  if (rc != SQLITE_DONE)
    throw sqlite_failure(to.db, rc, "copying");
  if (finished != SQLITE_OK)
    throw sqlite_failure(to.db, finished, "finishing the copy");
}

} // namespace

void back_up(connection& db, const std::string& target,
             const progress_function& report) {
  if (std::error_code ignored; std::filesystem::exists(target, ignored))
    fail(EEXIST, "creating " + target);
  auto part = target + ".part";
  unfinished_copy unfinished{part};
  {
    // One snapshot for all steps: a commit in between would start them anew.
    transaction snapshot{db, transaction::access::read};
    copy(snapshot.handle(), part, report);
  }
  unfinished.rename(target);
}

void vacuum(connection& db, const progress_function& report) {
  db.check_process();
  struct guard {
    sqlite3* handle;
    ~guard() { sqlite3_progress_handler(handle, 0, nullptr, nullptr); }
  } reset{db.handle()};
  auto tell = [](void* told) {
    (*static_cast<const progress_function*>(told))(-1);
    return 0;
  };
  if (report)
    sqlite3_progress_handler(
      db.handle(), 100'000, tell,
      const_cast<progress_function*>(&report)); // it comes back const
  db.sql("VACUUM").step();
  db.checkpoint(connection::checkpoint_mode::truncate);
}

store_sizes sizes(connection& db) {
  transaction tx{db, transaction::access::read};
  auto number = [&](const char* pragma) {
    auto row = tx.sql(pragma);
    row.step();
    return row.integer(0);
  };
  auto page = number("PRAGMA page_size");
  return {page * number("PRAGMA page_count"),
          page * number("PRAGMA freelist_count"), db.wal_bytes()};
}

} // namespace alkstore
