// Why an operation was refused or failed.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace alkstore {

/// Codes of the store, the actors' answers and their exit reasons alike. What
/// is a normal outcome (an empty queue, a lock that another holds) is a value
/// and has no code here.
enum class errc : uint8_t {
  invalid_name = 1,  ///< a name breaks the rule for names
  reserved_name,     ///< a name begins with `__alkstore`
  invalid_spec,      ///< a schedule's spec is not `@every <n><unit>`
  invalid_argument,  ///< an option is out of range, or a call out of place
  payload_too_large, ///< more bytes than `max-payload`
  not_found,         ///< no such job, dead letter or schedule
  duplicate,         ///< another holds the dedupe key, or a file the name
  claim_lost,        ///< the claim's deadline passed, or it was superseded
  lock_lost,         ///< the lease's deadline passed, or another holds it
  leadership_lost,   ///< the scheduler's lease is no longer ours
  overloaded,        ///< more is waiting than the writer's bound; try later
  busy,              ///< the write lock could not be had in time
  disk_full,         ///< no space left; nothing happened
  read_only,         ///< a permission is missing; nothing happened
  corrupt,           ///< the file is damaged or no SQLite database
  schema_too_new,    ///< a newer version of this library made the tables
  io_error,          ///< the disk failed; after a COMMIT: outcome unknown
  moved,             ///< the path no longer names the file that is open
  forked,            ///< the connection was inherited through fork()
  out_of_memory,     ///< an allocation failed; nothing happened
  failed,            ///< a caller's function or handler threw; its text
  shutting_down,     ///< the store is being closed
};

/// The code's own name, as in logs and on the command line.
std::string to_string(errc code);

/// The one exception of the substrate: a code, and a sentence that says what
/// was being done, what was refused and by which rule.
class failure : public std::runtime_error {
public:
  failure(errc code, const std::string& text)
    : std::runtime_error(text), code_(code) {}

  errc code() const noexcept { return code_; }

private:
  errc code_;
};

} // namespace alkstore
