#include "app/json/schedule_record.hpp"

namespace alkstore {

record schedule_record(const schedule& what) {
  auto& options = what.options;
  return {
    {"name", what.name},
    {"spec", what.spec},
    {"queue", what.queue},
    {"paused", what.paused},
    {"next_fire_at", what.next_fire_at},
    {"priority", options.priority ? cell{int64_t{*options.priority}} : cell{}},
    {"expires_in_ms", maybe(options.expires_in)},
    {"max_attempts",
     options.max_attempts ? cell{int64_t{*options.max_attempts}} : cell{}},
    {"visibility_timeout_ms", maybe(options.visibility_timeout)},
    {"backoff_base_ms", maybe(options.backoff_base)},
    {"payload", raw_bytes{what.payload}},
  };
}

} // namespace alkstore
