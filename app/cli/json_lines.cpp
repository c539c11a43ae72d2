// enqueue --jsonl: the messages of a file, many to a transaction.

#include "app/cli/commands.hpp"
#include "app/cli/progress.hpp"
#include "app/json/json.hpp"
#include "substrate/jobs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace alkstore::cli {

namespace {

// A transaction's bounds: nobody waits long for it, nor its WAL grow.
constexpr int batch_lines = 1000;
constexpr size_t batch_bytes = 4 * 1024 * 1024;

// A file's lines, `-` being standard input.
class line_reader {
public:
  explicit line_reader(const std::string& path) : path_(path) {
    if (path == "-")
      return;
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_)
      throw failure{errno == ENOENT ? errc::not_found : errc::io_error,
                    path + ": " + std::strerror(errno)};
    std::error_code no_size; // a pipe has none
    if (auto size = std::filesystem::file_size(path, no_size); !no_size)
      size_ = static_cast<double>(size);
  }

  /// The next line, without its end; false after the last. Good until the next
  /// call.
  bool next(std::string_view& line) {
    std::istream& in = path_ == "-" ? std::cin : file_;
    errno = 0;
    if (!std::getline(in, line_)) {
      if (in.bad())
        throw failure{errc::io_error, path_ + ": " + std::strerror(errno)};
      return false;
    }
    ++number_;
    read_ += static_cast<double>(line_.size() + 1);
    line = line_;
    return true;
  }

  int64_t number() const { return number_; }

  /// How much of the file was read, less than 0 if nobody can tell.
  double done() const { return size_ > 0 ? std::min(1.0, read_ / size_) : -1; }

private:
  std::string path_;
  std::ifstream file_;
  std::string line_;
  int64_t number_ = 0;
  double read_ = 0, size_ = 0; // bytes
};

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// What the command line said, and over it what the line says.
job_options merged(const job_options& given, job_options line) {
  auto take = [](auto& mine, const auto& other) {
    if (!mine)
      mine = other;
  };
  take(line.priority, given.priority);
  if (!line.run_at)
    take(line.delay, given.delay);
  if (!line.delay)
    take(line.run_at, given.run_at);
  take(line.expires_in, given.expires_in);
  take(line.max_attempts, given.max_attempts);
  take(line.visibility_timeout, given.visibility_timeout);
  take(line.backoff_base, given.backoff_base);
  take(line.dedupe_key, given.dedupe_key);
  return line;
}

struct counts {
  int64_t stored = 0, repeated = 0;
};

// Enqueues lines until the batch is full or the file ends. False at its end.
bool enqueue_batch(transaction& tx, const queue_name& queue,
                   const job_options& given, line_reader& lines, counts& done) {
  size_t bytes = 0;
  std::string_view line;
  for (int i = 0; i < batch_lines && bytes < batch_bytes; ++i) {
    if (!lines.next(line))
      return false;
    if (blank(line))
      continue;
    auto message = message_from_json(line);
    auto before = tx.changes_so_far();
    jobs::enqueue(tx, queue, message.payload, merged(given, message.options));
    ++(tx.changes_so_far() == before ? done.repeated : done.stored);
    bytes += message.payload.size();
  }
  return true;
}

bool is_about_the_line(errc code) {
  return code == errc::invalid_argument || code == errc::payload_too_large;
}

} // namespace

void enqueue_json_lines(session& s, const enqueue_command& what) {
  auto queue = what.where.name().value();
  line_reader lines{what.json_lines};
  auto db = s.open_to_write();
  progress told{"enqueueing"};
  counts done;
  int64_t committed_lines = 0;
  try {
    for (auto more = true; more;) {
      auto batch = done;
      transaction tx{db};
      more = enqueue_batch(tx, queue, what.options, lines, batch);
      tx.commit();
      done = batch;
      committed_lines = lines.number();
      told.show(lines.done(), done.stored);
    }
  } catch (const failure& why) {
    auto text = what.json_lines + ":" + std::to_string(lines.number()) + ": "
                + why.what() + "; "
                + (committed_lines == 0
                     ? "nothing was stored"
                     : "lines 1 to " + std::to_string(committed_lines)
                         + " are stored, none after them");
    if (is_about_the_line(why.code()))
      throw input_error{text};
    throw failure{why.code(), text};
  }
  s.out().tell(std::to_string(done.stored) + " jobs stored"
                 + (done.repeated > 0
                      ? ", " + std::to_string(done.repeated) + " were there"
                      : ""),
               {{"stored", done.stored}, {"repeated", done.repeated}});
}

} // namespace alkstore::cli
