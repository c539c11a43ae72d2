// An open store file: our own connection, with its pragmas, its schema and its
// kept statements.
#pragma once

#include "substrate/clock.hpp"
#include "substrate/statement.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <unordered_map>

namespace alkstore {

/// What `synchronous` is set to. full: a commit is on disk when it returns.
/// normal: a power cut can take the last commits back, never damage the file.
enum class durability { full, normal };

/// Rules that hold for every operation on a store.
struct store_rules {
  size_t max_payload = 1024 * 1024;           ///< bytes, inclusive
  millis dedupe_for = std::chrono::hours{24}; ///< life of a mark after the ack
};

/// How a connection is opened.
struct open_options {
  durability sync = durability::full;
  bool read_only = false;
  /// How long opening and, unless changed, each BEGIN waits for a lock.
  millis busy_timeout = std::chrono::seconds{5};
  store_rules rules{};
};

/// One connection of ours. Not thread-safe. A forked child cannot use it
/// (errc::forked), and must not open the same file anew: SQLite's record of the
/// parent's locks came along. Fork first, or exec.
class connection {
public:
  /// Opens `path`, and creates the file (mode 0600) and the tables where they
  /// are missing, also when several processes do so at once. A symbolic link is
  /// followed. A file whose
  /// schema is newer is refused untouched. Errors: busy, disk_full, read_only,
  /// corrupt, schema_too_new, io_error. `time` must outlive the connection.
  connection(std::string path, const open_options& options,
             const clock& time = clock::system());
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  /// A statement kept prepared under its text's address: pass literals. One
  /// that is lent already is prepared once more.
  statement sql(const char* text);

  /// How long a BEGIN waits for another connection's write transaction; zero
  /// answers `busy` at once.
  void wait_for_lock(millis at_most) noexcept { busy_timeout_ = at_most; }

  /// True in a child of the process that opened it.
  bool inherited() const noexcept;

  /// Refuses (errc::forked) when this is not the process that opened it.
  void check_process() const;

  /// SQLite's counter of other connections' commits; unchanged by our own.
  int64_t data_version();

  /// The same inside a transaction, which is refused if another connection has
  /// made the schema a newer one. Errors: schema_too_new.
  int64_t checked_data_version();

  /// Copies committed pages from the WAL into the database without waiting for
  /// anybody, or (truncate) waits for readers as BEGIN does and empties the
  /// WAL file. Returns the pages left in the WAL.
  enum class checkpoint_mode { passive, truncate };
  int checkpoint(checkpoint_mode mode);

  /// Pages in the WAL after the last commit of ours.
  int wal_pages() const noexcept { return wal_pages_; }

  /// The size of the WAL file, which shrinks only when it is truncated.
  int64_t wal_bytes() const;

  /// True if the path still names the file that is open, and so does its WAL.
  bool still_there() const;

  /// True if the file's directory can be written to by every user of the
  /// machine: each of them could put files of his own in the place of ours.
  bool in_public_directory() const;

  const std::string& path() const noexcept { return path_; }
  const clock& time() const noexcept { return time_; }
  const store_rules& rules() const noexcept { return rules_; }
  sqlite3* handle() const noexcept { return db_; }

private:
  void open(const open_options& options);
  int first_read();
  void prepare_file(const open_options& options);
  void execute(const char* text);
  static int on_busy(void* self, int tries);
  static int on_wal_commit(void* self, sqlite3*, const char*, int pages);

  struct file_identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const file_identity&) const = default;
  };
  static file_identity identify(const std::string& path);

  std::string path_;
  std::string real_path_; ///< without symbolic links; -wal and -shm are there
  const clock& time_;
  store_rules rules_;
  sqlite3* db_ = nullptr;
  pid_t process_;
  millis busy_timeout_;
  steady_time waiting_since_{};
  int wal_pages_ = 0;
  file_identity file_, wal_;
  std::optional<int64_t> schema_seen_at_; ///< data_version
  struct kept_statement {
    sqlite3_stmt* stmt = nullptr;
    bool lent = false;
  };
  std::unordered_map<const char*, kept_statement> statements_;
};

} // namespace alkstore
