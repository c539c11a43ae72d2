// What a claim costs beside a backlog, and what a large payload costs the disk.
#include "substrate/claims.hpp"

#include "bench/backlog.hpp"
#include "bench/live_store.hpp"
#include "bench/measure.hpp"

#include <sys/stat.h>

namespace alkstore::bench {

namespace {

constexpr int million = 1'000'000;
constexpr int64_t hour_ms = 3'600'000;
constexpr int claims_each = 500;

/// Claims of one job, rolled back so that each meets the
/// same file; the transaction's begin and end are not in it. In microseconds.
samples claim_times(connection& db, const char* queue) {
  auto name = queue_name::plain(queue);
  samples out;
  for (int i = 0; i < claims_each; ++i) {
    transaction tx{db};
    stopwatch time;
    auto found = claims::claim(tx, name, "bench", 1);
    out.add(time.us());
  }
  return out;
}

/// A large file, and a small one of the same shape.
class claim_bench {
public:
  claim_bench(report& out, const settings& how)
    : out_(out),
      how_(how),
      large_rows_(dir_.file("large.db")),
      small_rows_(dir_.file("small.db")),
      large_(dir_.file("large.db"), {}),
      small_(dir_.file("small.db"), {}) {}

  /// Rows for the large file, and so many of them for the small one.
  void add(backlog rows, int in_small) {
    bench::add(large_rows_, rows);
    rows.count = in_small;
    if (in_small > 0)
      bench::add(small_rows_, rows);
  }

  /// A claim from "jobs" in the large file against one in the small file.
  void compare_files(const std::string& name, const std::string& note) {
    samples here, there;
    for (int i = 0; i < how_.repetitions; ++i) {
      here.add(claim_times(large_, "jobs").median());
      there.add(claim_times(small_, "jobs").median());
    }
    auto row = compare(name, "us a claim", here, there);
    row.note = note;
    out_.add(std::move(row));
  }

  void empty_claim(const std::string& name, const char* queue) {
    samples worst, median;
    for (int i = 0; i < how_.repetitions; ++i) {
      auto times = claim_times(large_, queue);
      worst.add(times.percentile(0.99));
      median.add(times.median());
    }
    auto row = figure_of(name, "us p99", worst);
    row.note = "median " + brief(median.median());
    out_.add(std::move(row));
  }

private:
  report& out_;
  const settings& how_;
  workspace dir_;
  raw_store large_rows_, small_rows_;
  connection large_, small_;
};

int64_t size_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

} // namespace

void measure_claim_flat(report& out, const settings& how) {
  const auto many = how.scaled(million);
  constexpr auto few = 10'000;
  {
    claim_bench x{out, how};
    x.add({.count = many / 10}, few);
    x.compare_files("claim.flat.100k", "100,000 due; raw: 10,000");
    x.add({.count = many / 10 * 9}, 0);
    x.compare_files("claim.flat", "1,000,000 due; raw: 10,000");
  }
  claim_bench x{out, how};
  x.add({.count = few}, few);
  x.add({.count = many, .due_in_ms = hour_ms}, few);
  x.compare_files("claim.flat.future",
                  "beside 1,000,000 in an hour; raw: 10,000");
  x.add({.count = many, .top_priority = 9, .due_in_ms = hour_ms}, few);
  x.compare_files("claim.flat.urgent", "and as many of a higher priority");
  x.add({.queue = "other", .count = many, .queues = 1000}, few);
  x.compare_files("claim.flat.queues", "and as many in 1,000 other queues");
  x.add({.count = 20'000, .due_in_ms = hour_ms, .claimed = true}, 200);
  x.compare_files("claim.flat.running", "and 20,000 in flight; raw: 200");
  x.add({.queue = "eight",
         .count = 100'000,
         .top_priority = 3,
         .priorities = 8,
         .due_in_ms = hour_ms},
        0);
  x.empty_claim("claim.flat.empty8", "eight");
  x.add({.queue = "all",
         .count = 100'000,
         .top_priority = 31,
         .priorities = 64,
         .due_in_ms = hour_ms},
        0);
  x.empty_claim("claim.flat.empty64", "all");
}

void measure_claim_priorities(report& out, const settings& how) {
  claim_bench x{out, how};
  x.add({.count = how.scaled(million), .top_priority = 31, .priorities = 64},
        10'000);
  x.compare_files("claim.flat.priorities",
                  "1,000,000 due of 64 priorities; raw: 10,000");
}

// A reader that holds its snapshot keeps the WAL from being used again from its
// start, so that its size is what was written.
void measure_payload(report& out, const settings& how) {
  constexpr size_t size = 1024 * 1024;
  samples written;
  for (int i = 0; i < how.repetitions; ++i) {
    workspace dir;
    auto path = dir.file("store.db");
    live_store live{path, scheduler::sharing};
    live.ask<int64_t>(enqueue{"warm-up", "x", {}});
    connection reader{path, {.read_only = true}};
    transaction snapshot{reader, transaction::access::read};
    auto before = size_of(path + "-wal");
    constexpr int jobs = 10;
    for (int k = 0; k < jobs; ++k) {
      live.ask<int64_t>(enqueue{"jobs", std::string(size, 'x'), {}});
      auto found = live.ask<std::vector<job>>(claim_jobs{"jobs", "bench", 1});
      live.ask<completed>(ack{found.at(0).claim});
    }
    written.add(static_cast<double>(size_of(path + "-wal") - before)
                / (jobs * static_cast<double>(size)));
  }
  auto row = figure_of("payload.large", "bytes/byte", written);
  row.note = "WAL written for enqueue, claim and ack of 1 MiB";
  out.add(std::move(row));
}

void measure_open(report& out, const settings& how) {
  workspace dir;
  auto path = dir.file("store.db");
  {
    raw_store raw{path};
    bench::add(raw, {.count = how.scaled(million)});
  }
  samples times;
  for (int i = 0; i < how.repetitions; ++i) {
    stopwatch time;
    live_store live{path, scheduler::sharing};
    auto found = live.ask<std::vector<job>>(claim_jobs{"jobs", "bench", 1});
    times.add(time.ms());
    live.ask<completed>(release{found.at(0).claim});
  }
  auto row = figure_of("open.1m", "ms", times);
  row.note = "with the actor system's start";
  out.add(std::move(row));
}

} // namespace alkstore::bench
