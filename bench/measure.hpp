// What the measurements share: a settings struct, a place for files, clocks.
#pragma once

#include "bench/report.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace alkstore::bench {

struct settings {
  int repetitions = 5;
  bool quick = false;
  /// A count that --quick makes a tenth.
  int scaled(int count) const { return quick ? count / 10 : count; }
};

/// One program for a row or a few: measures, and adds them.
using measurement = void (*)(report&, const settings&);

void measure_enqueue_inflight1(report&, const settings&);
void measure_enqueue_inflight64(report&, const settings&);
void measure_enqueue_inflight1000(report&, const settings&);
void measure_enqueue_bulk(report&, const settings&);
void measure_drain(report&, const settings&);
void measure_cycle(report&, const settings&);
void measure_latency_inproc(report&, const settings&);
void measure_latency_crossproc(report&, const settings&);
void measure_latency_outbox(report&, const settings&);
void measure_claim_flat(report&, const settings&);
void measure_claim_priorities(report&, const settings&);
void measure_payload(report&, const settings&);
void measure_open(report&, const settings&);
void measure_tick(report&, const settings&);
void measure_lateness(report&, const settings&);
void measure_lease_flood(report&, const settings&);
void measure_memory(report&, const settings&);
void measure_idle(report&, const settings&);
void measure_failover(report&, const settings&);

// What a measurement runs as a child, `--child <role> <path>`: the exit status.

/// Enqueues once for each byte from standard input, and answers each with the
/// steady time at which it began.
int enqueuing_child(const std::string& path, bool raw);

/// Offers a million jobs at full speed and writes three int64_t: its peak
/// resident KiB, the refused as overloaded, those refused otherwise.
int flooding_child(const std::string& path);

/// A directory that is removed in the end, in TMPDIR or else in /var/tmp: /tmp
/// may be in memory, and a durable commit has to reach a disk.
class workspace {
public:
  workspace() {
    auto parent = std::getenv("TMPDIR");
    path_ = std::string{parent ? parent : "/var/tmp"} + "/alkstore-XXXXXX";
    if (!::mkdtemp(path_.data()))
      throw std::runtime_error{"cannot make " + path_};
  }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  ~workspace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return path_ + '/' + name; }

private:
  std::string path_;
};

/// Runs since it was made.
class stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(clock::now() - start_).count();
  }
  double ms() const { return seconds() * 1e3; }
  double us() const { return seconds() * 1e6; }

private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

} // namespace alkstore::bench
