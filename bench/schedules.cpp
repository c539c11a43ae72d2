// What a tick costs, and how late it comes.
#include "substrate/schedules.hpp"

#include "bench/live_store.hpp"
#include "bench/measure.hpp"
#include "bench/raw.hpp"

#include <map>
#include <mutex>
#include <thread>

namespace alkstore::bench {

namespace {

constexpr int due_at_once = 1000;

// Names and next boundaries as if registered one by one.
void add_schedules(raw_store& raw, int count) {
  raw.begin();
  raw.execute(
    "INSERT INTO alkstore_schedules(name, spec, interval_ms, queue, payload,"
    " next_fire_at, paused) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL"
    " SELECT i + 1 FROM n WHERE i + 1 < "
    + std::to_string(count)
    + ")"
      " SELECT printf('schedule-%06d', i), '@every 1h', 3600000, 'jobs',"
      " zeroblob(100), "
    + std::to_string(wall_ms() + 3'600'000) + ", 0 FROM n");
  raw.commit();
}

// The first thousand, as if registered together; the fired jobs go.
void make_due(raw_store& raw) {
  raw.begin();
  raw.execute("DELETE FROM alkstore_jobs; DELETE FROM alkstore_payloads;"
              " UPDATE alkstore_schedules SET next_fire_at = "
              + std::to_string(wall_ms() - 1000)
              + " WHERE rowid <= " + std::to_string(due_at_once));
  raw.commit();
}

/// A writer with a lease and schedules, and a raw file with the same.
class tick_bench {
public:
  explicit tick_bench(int count)
    : beside_product_(dir_.file("store.db")),
      beside_raw_(dir_.file("raw.db")),
      raw_(dir_.file("raw.db")),
      config_(scheduler::stealing),
      sys_(config_),
      self_(sys_) {
    add_schedules(beside_product_, count);
    add_schedules(beside_raw_, count);
    writer_options options;
    options.path = dir_.file("store.db");
    writer_ = spawn_writer(sys_, options);
    lease_ = ask<lease>(campaign{"bench", std::chrono::hours{1}, {}});
  }

  ~tick_bench() { ask<completed>(stop{}); }

  /// Milliseconds until everything due is fired and on disk.
  double product() {
    make_due(beside_product_);
    stopwatch time;
    size_t fired = 0;
    for (ticks = 0;; ++ticks) {
      auto done = ask<tick_report>(tick{lease_});
      fired += done.fired.size();
      if (!done.soonest || *done.soonest > done.now)
        break;
    }
    auto took = time.ms();
    if (fired != due_at_once)
      throw std::runtime_error{"fired " + std::to_string(fired)};
    return took;
  }

  double raw() {
    make_due(beside_raw_);
    stopwatch time;
    raw_.begin();
    auto fired = raw_.tick();
    raw_.commit();
    auto took = time.ms();
    if (fired != due_at_once)
      throw std::runtime_error{"raw fired " + std::to_string(fired)};
    return took;
  }

  int ticks = 0; ///< beyond the first, of the last product()

private:
  template <class Reply, class Message>
  Reply ask(Message message) {
    Reply out{};
    port::ask(self_, caf::infinite, writer_, std::move(message))
      .receive([&](Reply& x) { out = std::move(x); },
               [&](const caf::error& why) {
                 throw std::runtime_error{sentence(sys_, why)};
               });
    return out;
  }

  workspace dir_;
  // What becomes due is written by neighbours, so that neither finds it in its
  // cache.
  raw_store beside_product_, beside_raw_, raw_;
  system_config config_;
  caf::actor_system sys_;
  caf::scoped_actor self_;
  writer_actor writer_;
  lease lease_;
};

} // namespace

void measure_tick(report& out, const settings& how) {
  tick_bench many{100'000}, few{due_at_once};
  samples product, raw, alone, product_rate, raw_rate;
  for (int i = 0; i < how.repetitions; ++i) {
    product.add(many.product());
    raw.add(many.raw());
    alone.add(few.product());
    product_rate.add(due_at_once / product.values().back() * 1e3);
    raw_rate.add(due_at_once / raw.values().back() * 1e3);
  }
  auto row = compare("schedules.tick", "fires/s", product_rate, raw_rate);
  row.note = "1,000 due of 100,000 in " + brief(product.median()) + " ms and "
             + std::to_string(many.ticks + 1) + " ticks";
  out.add(std::move(row));
  auto flat = compare("schedules.tick.flat", "ms", product, alone);
  flat.note = "raw: 1,000 due of 1,000";
  out.add(std::move(flat));
}

void measure_lateness(report& out, const settings& how) {
  constexpr int count = 20;
  const std::chrono::seconds duration{how.quick ? 5 : 60};
  workspace dir;
  std::mutex mutex;
  std::map<std::string, timestamp> grid; // a boundary of each schedule
  samples late;
  runtime_options options;
  options.store.path = dir.file("store.db");
  options.store.report = [&](const event& x) {
    if (x.what != "fired")
      return;
    using namespace std::chrono;
    auto now = system_clock::now();
    std::lock_guard lock{mutex};
    auto known = grid.find(x.name);
    if (known == grid.end())
      return;
    auto past = duration_cast<microseconds>(now - known->second);
    late.add(static_cast<double>((past % seconds{1}).count()) / 1e3);
  };
  live_store live{options, scheduler::sharing};
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{37});
    auto name = "schedule-" + std::to_string(i);
    auto kept = live.ask<schedule>(
      add_schedule{{name, "@every 1s", "jobs", "x", {}}});
    std::lock_guard lock{mutex};
    grid.emplace(name, kept.next_fire_at);
  }
  std::this_thread::sleep_for(duration);
  std::lock_guard lock{mutex};
  auto row = figure_of("schedules.lateness", "ms p99", late);
  row.value = late.percentile(0.99);
  row.note = std::to_string(late.values().size()) + " boundaries, median "
             + brief(late.median()) + "; sharing scheduler";
  out.add(std::move(row));
}

} // namespace alkstore::bench
