// JSON, as the command line and the SQLite extension write and read it.
// docs/cli.md says what is stable about it.
#pragma once

#include "app/json/record.hpp"
#include "substrate/job.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace alkstore {

/// An object of one line. A time is a text, ISO 8601 in UTC; a duration is
/// whole milliseconds. Bytes that are no UTF-8 are base64, the key followed by
/// `_base64`.
std::string to_json(const record& what);

/// An array, an object a line.
std::string to_json(const std::vector<record>& what);

/// The options of a job, from an object with any of `priority`, `delay_ms`,
/// `run_at` (a text, as parse_time takes it), `expires_in_ms`, `max_attempts`,
/// `visibility_timeout_ms`, `backoff_base_ms` and `dedupe_key` (a text). Ranges
/// are left to the store. Errors: invalid_argument, which names the key and
/// repeats no value.
job_options options_from_json(std::string_view text);

/// A message of a file of JSON lines.
struct json_message {
  std::string payload;
  job_options options;
};

/// From an object with `payload` (a text) or `payload_base64`, and any of the
/// options. Errors: invalid_argument.
json_message message_from_json(std::string_view line);

} // namespace alkstore
