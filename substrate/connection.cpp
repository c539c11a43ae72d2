#include "substrate/connection.hpp"

#include "substrate/schema.hpp"
#include "substrate/transaction.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

namespace alkstore {

namespace {

// The handler sleeps 0.2 to 0.8 ms: SQLite's own backs off to 100 ms and lets
// a neighbour starve; jitter keeps two of ours from meeting again and again.
void nap() {
  std::random_device random; // no state that outlives a connection
  ::usleep(std::uniform_int_distribution<unsigned>{200, 800}(random));
}

// mknod makes the file without opening it: a descriptor of our own, closed,
// would drop the POSIX locks that SQLite holds on the file in this process.
void make_file(const std::string& path) {
  if (::mknod(path.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) == 0
      || errno == EEXIST)
    return;
  auto denied = errno == EACCES || errno == EPERM || errno == EROFS;
  auto code = errno == ENOSPC ? errc::disk_full
              : denied        ? errc::read_only
                              : errc::io_error;
  throw failure{code, "cannot create " + path + ": " + std::strerror(errno)};
}

// Without symbolic links; as it is if there is no such file.
std::string real_path_of(const std::string& path) {
  std::error_code none;
  auto real = std::filesystem::canonical(path, none).string();
  return none ? path : real;
}

std::string directory_of(const std::string& path) {
  auto directory = std::filesystem::path{path}.parent_path().string();
  return directory.empty() ? "." : directory;
}

// SQLite opens a file that it may not write for reading, and says at the first
// write that something is missing, not what.
// Takes a path without symbolic links, since the side files are beside the
// file.
void check_permissions(const std::string& path, bool read_only) {
  auto need = [](const std::string& file, int mode, const std::string& what) {
    if (::faccessat(AT_FDCWD, file.c_str(), mode, AT_EACCESS) != 0
        && (errno == EACCES || errno == EPERM || errno == EROFS))
      throw failure{errc::read_only, "no permission to " + what + " " + file
                                       + ": " + std::strerror(errno)};
  };
  need(path, R_OK, "read");
  if (read_only)
    return;
  need(path, W_OK, "write");
  need(directory_of(path), W_OK | X_OK, "write -wal and -shm in the directory");
}

} // namespace

connection::connection(std::string path, const open_options& options,
                       const clock& time)
  : path_(std::move(path)),
    time_(time),
    rules_(options.rules),
    process_(::getpid()),
    busy_timeout_(options.busy_timeout) {
  if (path_.empty() || path_.find('\0') != std::string::npos)
    throw failure{errc::invalid_argument,
                  "the database's path is empty or holds a NUL"};
  if (path_.front() == ':' || path_.substr(0, 5) == "file:")
    path_.insert(0, "./"); // SQLite's special names are no files
  try {
    open(options);
  } catch (const failure& why) {
    sqlite3_close_v2(db_);
    throw failure{why.code(), "database " + path_ + ": " + why.what()};
  }
}

connection::~connection() {
  // After a fork the handle is the parent's: closing it here would release
  // locks and checkpoint a file that the child must not touch.
  if (inherited())
    return;
  for (auto& [text, kept] : statements_)
    sqlite3_finalize(kept.stmt);
  sqlite3_close_v2(db_);
}

void connection::open(const open_options& options) {
  if (!options.read_only)
    make_file(path_);
  real_path_ = real_path_of(path_);
  check_permissions(real_path_, options.read_only);
  auto flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
               | (options.read_only ? SQLITE_OPEN_READONLY
                                    : SQLITE_OPEN_READWRITE);
  if (auto rc = sqlite3_open_v2(path_.c_str(), &db_, flags, nullptr))
    throw sqlite_failure(db_, rc, "opening");
  sqlite3_busy_handler(db_, on_busy, this);
  if (options.read_only)
    require_schema(first_read());
  else
    check_schema_version(first_read());
  execute(options.sync == durability::full ? "PRAGMA synchronous = FULL"
                                           : "PRAGMA synchronous = NORMAL");
  // Debian's default would write each deleted payload once more, as zeros.
  execute("PRAGMA secure_delete = OFF");
  if (!options.read_only)
    prepare_file(options);
  stored_schema_version(db_); // a read, so that the WAL is there to be noted
  file_ = identify(path_);
  wal_ = identify(real_path_ + "-wal");
}

// A reader of a file that nobody else has open has to make the side files.
int connection::first_read() {
  try {
    return stored_schema_version(db_);
  } catch (const failure& why) {
    if (why.code() != errc::read_only)
      throw;
    throw failure{why.code(),
                  "no permission to write -wal and -shm in the directory "
                    + directory_of(real_path_) + ": " + why.what()};
  }
}

void connection::prepare_file(const open_options& options) {
  // Switching to WAL can answer BUSY without asking the busy handler.
  auto give_up = time_.steady_now() + options.busy_timeout;
  for (;;) {
    auto rc = sqlite3_exec(db_, "PRAGMA journal_mode = WAL", nullptr, nullptr,
                           nullptr);
    if (rc == SQLITE_OK)
      break;
    if ((rc & 0xff) != SQLITE_BUSY || time_.steady_now() >= give_up)
      throw sqlite_failure(db_, rc, "switching to WAL");
    nap();
  }
  // In the place of SQLite's own, which checkpoints within the commit.
  sqlite3_wal_hook(db_, on_wal_commit, this);
  execute("BEGIN IMMEDIATE");
  try {
    if (auto stored = stored_schema_version(db_); stored < schema_version)
      create_schema(db_);
    else
      check_schema_version(stored);
    execute("COMMIT");
  } catch (...) {
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void connection::execute(const char* text) {
  if (auto rc = sqlite3_exec(db_, text, nullptr, nullptr, nullptr))
    throw sqlite_failure(db_, rc, text);
}

statement connection::sql(const char* text) {
  auto& kept = statements_[text];
  if (kept.stmt && !kept.lent)
    return {db_, kept.stmt, kept.lent};
  sqlite3_stmt* fresh = nullptr;
  if (auto rc = sqlite3_prepare_v3(db_, text, -1, SQLITE_PREPARE_PERSISTENT,
                                   &fresh, nullptr))
    throw sqlite_failure(db_, rc, text);
  if (kept.lent) // in use further up the stack
    return {db_, fresh};
  kept.stmt = fresh;
  return {db_, fresh, kept.lent};
}

bool connection::inherited() const noexcept {
  return ::getpid() != process_;
}

void connection::check_process() const {
  if (inherited())
    throw failure{errc::forked,
                  "database " + path_
                    + ": this process was made by fork() while it was open; "
                      "fork first, or exec"};
}

int64_t connection::data_version() {
  check_process();
  auto version = sql("PRAGMA data_version");
  version.step();
  return version.integer(0);
}

int64_t connection::checked_data_version() {
  auto now = data_version();
  if (schema_seen_at_ != now) {
    auto row = sql(
      "SELECT value FROM alkstore_meta WHERE key = 'schema_version'");
    require_schema(row.step() ? static_cast<int>(row.integer(0)) : 0);
    schema_seen_at_ = now;
  }
  return now;
}

int connection::checkpoint(checkpoint_mode mode) {
  check_process();
  auto how = mode == checkpoint_mode::passive ? SQLITE_CHECKPOINT_PASSIVE
                                              : SQLITE_CHECKPOINT_TRUNCATE;
  int in_wal = -1, copied = -1; // and so they stay while another checkpoints
  auto rc = sqlite3_wal_checkpoint_v2(db_, nullptr, how, &in_wal, &copied);
  if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
    throw sqlite_failure(db_, rc, "checkpointing the WAL");
  if (in_wal >= 0)
    wal_pages_ = in_wal - copied;
  return wal_pages_;
}

int64_t connection::wal_bytes() const {
  struct stat info{};
  return ::stat((real_path_ + "-wal").c_str(), &info) == 0 ? info.st_size : 0;
}

bool connection::still_there() const {
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return !moved && identify(path_) == file_
         && identify(real_path_ + "-wal") == wal_;
}

bool connection::in_public_directory() const {
  struct stat info{};
  return ::stat(directory_of(real_path_).c_str(), &info) == 0
         && (info.st_mode & S_IWOTH) != 0;
}

connection::file_identity connection::identify(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return {};
  return {info.st_dev, info.st_ino};
}

int connection::on_busy(void* self, int tries) {
  auto& me = *static_cast<connection*>(self);
  auto now = me.time_.steady_now();
  if (tries == 0)
    me.waiting_since_ = now;
  if (now - me.waiting_since_ >= me.busy_timeout_)
    return 0;
  nap();
  return 1;
}

int connection::on_wal_commit(void* self, sqlite3*, const char*, int pages) {
  static_cast<connection*>(self)->wal_pages_ = pages;
  return SQLITE_OK;
}

} // namespace alkstore
