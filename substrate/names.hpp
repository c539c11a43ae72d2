// Names of schedules, queues, outboxes and locks.
#pragma once

#include <string>
#include <string_view>

namespace alkstore {

/// The longest name, in bytes.
inline constexpr size_t max_name_bytes = 128;

/// Refuses what is not a user's name: 1 to 128 bytes of `A-Z a-z 0-9 _ - . : /`
/// (invalid_name) that do not begin with `__alkstore` (reserved_name). `what`
/// names the thing in the message ("queue", "schedule").
void check_name(std::string_view what, std::string_view name);

/// A queue that exists only as a checked name. Operations take this type, so
/// that no unchecked name reaches the storage.
class queue_name {
public:
  /// A user's queue. Errors: invalid_name, reserved_name.
  static queue_name plain(std::string_view name);

  /// The queue behind an outbox, `__alkstore_outbox:<name>`, which no user's
  /// name can reach. Errors: invalid_name, reserved_name.
  static queue_name outbox(std::string_view name);

  /// What a row has in its queue column, of either kind. Errors: as above.
  static queue_name stored(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  bool is_outbox() const noexcept { return outbox_; }

  /// The user's part: the queue's name, or the outbox's.
  std::string_view name() const noexcept;

private:
  queue_name(std::string text, bool outbox)
    : text_(std::move(text)), outbox_(outbox) {}

  std::string text_;
  bool outbox_;
};

} // namespace alkstore
