// A fresh store on disk, and clocks that stand still until they are turned.
#pragma once

#include "substrate/claims.hpp"
#include "substrate/dead_letters.hpp"
#include "substrate/jobs.hpp"
#include "substrate/leases.hpp"
#include "substrate/schedules.hpp"
#include "tests/catch.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace alkstore {

using namespace std::chrono_literals;

/// The instant T of the cases, at which every manual clock begins.
inline constexpr timestamp T{1700000000s};

/// Both clocks, set apart. With the steady one standing still, a wait for a
/// lock never times out: use wait_for_lock(0ms) where `busy` is expected.
class manual_clock final : public clock {
public:
  timestamp wall_now() const override { return wall_; }
  steady_time steady_now() const override { return steady_; }

  /// The wall clock jumps, the steady one does not notice.
  void set(timestamp wall) { wall_ = wall; }

  /// Time passes.
  void advance(millis by) {
    wall_ = wall_.load() + by;
    steady_ = steady_.load() + by;
  }

private:
  std::atomic<timestamp> wall_{T};
  std::atomic<steady_time> steady_{};
};

/// A directory that goes with everything in it.
class temp_dir {
public:
  temp_dir();
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;
  ~temp_dir() { std::filesystem::remove_all(path_); }

  /// The path of a file in it.
  std::string operator/(const char* name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

inline const queue_name q = queue_name::plain("q");
inline const queue_name box = queue_name::outbox("box");

/// A store of its own for one case. Each helper is one committed transaction.
/// It does not wait for the disk unless asked to: no case here cuts the power.
class store {
public:
  explicit store(const open_options& options = {.sync = durability::normal})
    : db(dir / "store.db", options, time) {}

  temp_dir dir;
  manual_clock time;
  connection db;

  template <class F>
  auto write(F what) {
    transaction tx{db};
    if constexpr (std::is_void_v<decltype(what(tx))>) {
      what(tx);
      tx.commit();
    } else {
      auto result = what(tx);
      tx.commit();
      return result;
    }
  }

  int64_t enqueue(const queue_name& queue, std::string_view payload = "x",
                  const job_options& options = {});
  std::vector<job> claim(const queue_name& queue, int max,
                         std::string_view worker = "w");
  /// Claims the one job that must be there.
  job claim(const queue_name& queue, std::string_view worker = "w");
  void ack(const claim_handle& claim);
  void retry(const claim_handle& claim, std::string_view error = "no",
             std::optional<millis> delay = {});
  void fail(const claim_handle& claim, std::string_view error = "no");
  void release(const claim_handle& claim);
  claim_handle heartbeat(const claim_handle& claim, millis extend);
  job get(int64_t id);
  schedule add(const char* name, const char* spec, job_options options = {});
  lease lead(std::string_view owner = "leader", millis ttl = 8760h);
  tick_report tick(const lease& leadership);
  /// Ticks at `now` and answers the boundaries that it fired.
  std::vector<timestamp> fired_at(const lease& leadership, timestamp now);
  timestamp next_fire_at(const char* schedule);

  /// The one number that a query of the test's own answers.
  int64_t number(const char* sql);
};

/// Sees on a connection of its own whether anything was committed meanwhile.
class witness {
public:
  explicit witness(const store& of);

  /// Nothing was: data_version and every row of ours are what they were.
  bool saw_nothing();

private:
  std::string rows();

  connection db_;
  int64_t version_;
  std::string rows_;
};

/// What `f` threw: errc{} for nothing.
template <class F>
errc error_of(F f) {
  try {
    f();
    return errc{};
  } catch (const failure& why) {
    return why.code();
  }
}

/// Its sentence.
template <class F>
std::string text_of(F f) {
  try {
    f();
    return {};
  } catch (const failure& why) {
    return why.what();
  }
}

inline bool contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

} // namespace alkstore

template <>
struct Catch::StringMaker<alkstore::errc> {
  static std::string convert(alkstore::errc x) { return to_string(x); }
};
