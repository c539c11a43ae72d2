// What a job is: its options, its row, and the handle of a claim.
#pragma once

#include "substrate/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace alkstore {

/// How a job is to run. What is not given comes from its queue: plain queue
/// 300 s visibility, 3 attempts, 5 s backoff base; outbox 60 s, 5, 5 s; no
/// expiry. Out of range is invalid_argument.
struct job_options {
  std::optional<int> priority{};              ///< -32 … 31, higher first
  std::optional<millis> delay{};              ///< >= 0; not with run_at
  std::optional<timestamp> run_at{};          ///< not claimable before
  std::optional<millis> expires_in{};         ///< > 0, from the enqueue
  std::optional<int> max_attempts{};          ///< >= 1, counts claims
  std::optional<millis> visibility_timeout{}; ///< > 0, length of a claim
  std::optional<millis> backoff_base{};       ///< > 0, wait after attempt 1
  std::optional<std::string> dedupe_key{};    ///< 1 to 128 bytes, any bytes

  bool operator==(const job_options&) const = default;
};

/// What a worker got for a job. It holds until `deadline` has passed
/// (now >= deadline), or until the job was settled, released or cancelled.
struct claim_handle {
  int64_t job = 0;      ///< row id
  int64_t number = 0;   ///< grows by one at each claim of the job
  timestamp deadline{}; ///< the end of the visibility timeout

  bool operator==(const claim_handle&) const = default;
};

enum class job_state : uint8_t { waiting, running, dead };

/// A job as its row holds it.
struct job {
  int64_t id = 0;        ///< never reused within a file
  std::string stable_id; ///< 32 hex digits, unique across files, kept for life
  std::string queue;
  std::string payload; ///< any bytes
  job_state state = job_state::waiting;
  int priority = 0;
  int attempts = 0; ///< claims so far, released ones not counted
  int max_attempts = 0;
  millis visibility_timeout{};
  millis backoff_base{};
  timestamp enqueued_at{};
  timestamp run_at{};
  std::optional<timestamp> expires_at;
  claim_handle claim;     ///< of the last claim; meaningful while running
  std::string worker;     ///< who claimed it last
  std::string dedupe_key; ///< empty for none
  std::string schedule;   ///< what fired it; empty for a caller's job
  std::optional<timestamp> fire_at; ///< the boundary's nominal time
  std::string last_error;           ///< valid UTF-8, at most 4 KiB
  std::optional<timestamp> died_at;
};

} // namespace alkstore
