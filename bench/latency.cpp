// From an idle store's enqueue to the start of its handler.
#include "app/deliveries.hpp"
#include "bench/child.hpp"
#include "bench/handover.hpp"
#include "bench/live_store.hpp"
#include "bench/measure.hpp"
#include "bench/raw.hpp"
#include "bench/receiver.hpp"
#include "substrate/jobs.hpp"

#include <iostream>
#include <thread>

namespace alkstore::bench {

namespace {

using time_point = handover::time_point;

const std::string payload(100, 'x');

double ms_between(time_point from, time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// The watch on the file has seen the last commit, every thread sleeps.
void let_it_rest() {
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
}

handler_factory note_start(handover& started) {
  return [&started](caf::actor_system& sys) -> handler_actor {
    return sys.spawn(
      [&started](handler_actor::pointer) -> handler_actor::behavior_type {
        return {
          [&started](const delivery&) {
            started.set_now();
            return verdict::delivered();
          },
          [](const claim_lapsed&) {},
        };
      });
  };
}

event_sink note_delivered(handover& done) {
  return [&done](const event& x) {
    if (x.what == "delivered")
      done.set_now();
  };
}

/// The percentiles of each repetition, product and raw sample by sample in
/// turn.
class distribution {
public:
  void end_repetition() {
    p50_.add(product.median());
    raw50_.add(raw.median());
    p99_.add(product.percentile(0.99));
    raw99_.add(raw.percentile(0.99));
    for (auto x : product.values())
      every_product_.add(x);
    for (auto x : raw.values())
      every_raw_.add(x);
    product = raw = {};
  }

  void report_to(report& out, const std::string& name,
                 const std::string& note) const {
    auto half = compare(name, "ms p50", p50_, raw50_);
    half.note = note;
    out.add(std::move(half));
    auto tail = compare(name + ".p99", "ms p99", p99_, raw99_);
    tail.note = note;
    out.add(std::move(tail));
    out.add_curve(name, every_product_, every_raw_);
  }

  samples product, raw; ///< of this repetition, ms

private:
  samples p50_, raw50_, p99_, raw99_;
  samples every_product_, every_raw_;
};

/// One idle enqueue through the actors; waits until the ack is on disk.
double product_sample(live_store& live, handover& started, handover& done) {
  let_it_rest();
  auto from = std::chrono::steady_clock::now();
  live.ask<int64_t>(enqueue{"jobs", payload, {}});
  auto to = started.take();
  done.take();
  return ms_between(from, to);
}

double raw_sample(raw_store& raw) {
  let_it_rest();
  stopwatch time;
  raw.begin();
  raw.enqueue("jobs", payload);
  raw.commit();
  raw.begin();
  raw.claim("jobs", 1);
  raw.commit();
  auto took = time.ms();
  raw.begin();
  raw.ack_claimed();
  raw.commit();
  return took;
}

// The other process's commit, then a byte down the pipe, then the claim here.
double raw_cross_sample(const child& other, raw_store& raw) {
  let_it_rest();
  other.send('r');
  int64_t from = 0;
  if (!other.receive(&from, sizeof from))
    throw std::runtime_error{"the enqueuing child ended"};
  raw.begin();
  raw.claim("jobs", 1);
  raw.commit();
  auto to = std::chrono::steady_clock::now();
  raw.begin();
  raw.ack_claimed();
  raw.commit();
  return ms_between(time_point{std::chrono::nanoseconds{from}}, to);
}

double product_cross_sample(const child& other, handover& started,
                            handover& done) {
  let_it_rest();
  other.send('p');
  int64_t from = 0;
  if (!other.receive(&from, sizeof from))
    throw std::runtime_error{"the enqueuing child ended"};
  auto to = started.take();
  done.take();
  return ms_between(time_point{std::chrono::nanoseconds{from}}, to);
}

constexpr int samples_each = 200;

} // namespace

void measure_latency_inproc(report& out, const settings& how) {
  workspace dir;
  handover started, done;
  raw_store raw{dir.file("raw.db")};
  live_store live{dir.file("store.db"), scheduler::sharing};
  live.work_off("jobs", note_start(started), 8, note_delivered(done));
  distribution all;
  for (int i = 0; i < how.repetitions; ++i) {
    for (int k = 0; k < how.scaled(samples_each); ++k) {
      all.product.add(product_sample(live, started, done));
      all.raw.add(raw_sample(raw));
    }
    all.end_repetition();
  }
  all.report_to(out, "latency.inproc", "raw: two commits, sharing scheduler");
}

void measure_latency_crossproc(report& out, const settings& how) {
  workspace dir;
  handover started, done;
  auto raw_path = dir.file("raw.db"), path = dir.file("store.db");
  raw_store raw{raw_path};
  live_store live{path, scheduler::sharing};
  live.work_off("jobs", note_start(started), 8, note_delivered(done));
  child raw_child{{program(), "--child", "raw-enqueue", raw_path}};
  child product_child{{program(), "--child", "enqueue", path}};
  distribution all;
  for (int i = 0; i < how.repetitions; ++i) {
    for (int k = 0; k < how.scaled(samples_each); ++k) {
      all.product.add(product_cross_sample(product_child, started, done));
      all.raw.add(raw_cross_sample(raw_child, raw));
    }
    all.end_repetition();
  }
  all.report_to(out, "latency.crossproc",
                "raw: commit, a byte down a pipe, claim; sharing scheduler");
}

void measure_latency_outbox(report& out, const settings& how) {
  workspace dir;
  handover received, done, inproc_started, inproc_done;
  receiver server{received};
  http_client http{private_targets::allowed};
  command_runner commands;
  runtime_options options;
  options.store.path = dir.file("store.db");
  options.store.report = note_delivered(done);
  http_config to_server;
  to_server.url = server.url();
  to_server.timeout = std::chrono::seconds{10};
  to_server.content_type = "application/json";
  options.outboxes.push_back(
    {"box", http_delivery(to_server, {http, commands, [](const event&) {}})});
  live_store live{options, scheduler::sharing};
  live.work_off("jobs", note_start(inproc_started), 8,
                note_delivered(inproc_done));
  distribution all; // its `raw` is latency.inproc
  for (int i = 0; i < how.repetitions; ++i) {
    for (int k = 0; k < how.scaled(samples_each); ++k) {
      let_it_rest();
      auto from = std::chrono::steady_clock::now();
      live.ask<int64_t>(outbox_enqueue{"box", payload, {}});
      auto to = received.take();
      done.take();
      all.product.add(ms_between(from, to));
      all.raw.add(product_sample(live, inproc_started, inproc_done));
    }
    all.end_repetition();
  }
  all.report_to(out, "latency.outbox",
                "raw: latency.inproc in the same run; sharing scheduler");
}

int enqueuing_child(const std::string& path, bool raw) {
  std::unique_ptr<raw_store> by_hand;
  std::unique_ptr<connection> db;
  if (raw)
    by_hand = std::make_unique<raw_store>(path);
  else
    db = std::make_unique<connection>(path, open_options{});
  auto queue = queue_name::plain("jobs");
  for (char byte; std::cin.get(byte);) {
    int64_t from = std::chrono::steady_clock::now().time_since_epoch().count();
    if (by_hand) {
      by_hand->begin();
      by_hand->enqueue("jobs", payload);
      by_hand->commit();
    } else {
      transaction tx{*db};
      jobs::enqueue(tx, queue, payload);
      tx.commit();
    }
    std::cout.write(reinterpret_cast<const char*>(&from), sizeof from);
    std::cout.flush();
  }
  return EXIT_SUCCESS;
}

} // namespace alkstore::bench
