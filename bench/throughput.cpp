// How many jobs a second go in and through.
#include "actors/queue_worker.hpp"
#include "bench/commits.hpp"
#include "bench/load.hpp"
#include "bench/measure.hpp"
#include "bench/raw.hpp"

#include <algorithm>

namespace alkstore::bench {

namespace {

const std::string payload(100, 'x');

/// One product of a repetition: its rate and its mean batch.
struct run {
  double rate = 0;
  double batch = 0;
};

/// Repeats product, raw, and product with `sharing`. `raw` gets the mean batch
/// of the product's run before.
template <class Product, class Raw>
figure alternate(std::string name, const settings& how, Product product,
                 Raw raw) {
  samples by_product, by_raw, by_sharing, batches;
  for (int i = 0; i < how.repetitions; ++i) {
    auto x = product(scheduler::stealing);
    by_product.add(x.rate);
    batches.add(x.batch);
    by_raw.add(raw(x.batch));
    by_sharing.add(product(scheduler::sharing).rate / x.rate);
  }
  auto out = compare(std::move(name), "jobs/s", by_product, by_raw);
  out.sharing = by_sharing.median();
  out.note = brief(batches.median()) + " jobs a commit";
  return out;
}

run rate_of(int jobs, const stopwatch& time, int64_t commits_before) {
  auto seconds = time.seconds();
  auto commits = commits_so_far() - commits_before;
  return {jobs / seconds,
          static_cast<double>(jobs)
            / static_cast<double>(std::max(commits, int64_t{1}))};
}

/// The store is led and at rest.
void warm_up(live_store& live) {
  for (int i = 0; i < 10; ++i)
    live.ask<int64_t>(enqueue{"warm-up", payload, {}});
}

run product_enqueue(const load& x, scheduler choice) {
  workspace dir;
  live_store live{dir.file("store.db"), choice};
  warm_up(live);
  countdown answered{x.total};
  auto before = commits_so_far();
  stopwatch time;
  offer<int64_t>(live.system(), live.store(), x,
                 std::function{[] { return enqueue{"jobs", payload, {}}; }},
                 answered);
  answered.wait();
  return rate_of(x.total, time, before);
}

// A thread that waits for each answer, as an application's own thread does.
run product_enqueue_waiting(int total, scheduler choice) {
  workspace dir;
  live_store live{dir.file("store.db"), choice};
  warm_up(live);
  auto before = commits_so_far();
  stopwatch time;
  for (int i = 0; i < total; ++i)
    live.ask<int64_t>(enqueue{"jobs", payload, {}});
  return rate_of(total, time, before);
}

double raw_enqueue(int total, int batch) {
  workspace dir;
  raw_store raw{dir.file("store.db")};
  stopwatch time;
  for (int done = 0; done < total; done += batch) {
    raw.begin();
    for (int i = 0; i < std::min(batch, total - done); ++i)
      raw.enqueue("jobs", payload);
    raw.commit();
  }
  return total / time.seconds();
}

// Several callers share what is in flight: CAF 0.17 searches an actor's open
// requests one by one.
figure measure_enqueue(std::string name, const settings& how, const load& x) {
  auto batch = x.callers * x.in_flight;
  return alternate(
    std::move(name), how,
    [&](scheduler choice) { return product_enqueue(x, choice); },
    [&](double) { return raw_enqueue(x.total, batch); });
}

void fill(const std::string& path, int jobs) {
  raw_store raw{path};
  raw.begin();
  for (int i = 0; i < jobs; ++i)
    raw.enqueue("jobs", payload);
  raw.commit();
}

event_sink count_delivered(countdown& done) {
  return [&done](const event& x) {
    if (x.what == "delivered")
      done.one();
  };
}

run product_drain(int jobs, scheduler choice) {
  workspace dir;
  auto path = dir.file("store.db");
  fill(path, jobs);
  countdown done{jobs};
  live_store live{path, choice};
  warm_up(live);
  auto before = commits_so_far();
  stopwatch time;
  live.work_off("jobs", spawn_noop_handler, prefetch_credit,
                count_delivered(done));
  done.wait();
  return rate_of(jobs, time, before);
}

// A commit for each, as an application does it by hand. Returns how many.
int claim_and_ack(raw_store& raw, int max) {
  raw.begin();
  auto claimed = raw.claim("jobs", max);
  raw.commit();
  raw.begin();
  raw.ack_claimed();
  raw.commit();
  return claimed;
}

double raw_drain(int jobs) {
  workspace dir;
  auto path = dir.file("store.db");
  fill(path, jobs);
  raw_store raw{path};
  stopwatch time;
  for (int done = 0; done < jobs;)
    done += claim_and_ack(raw, 100);
  return jobs / time.seconds();
}

run product_cycle(int jobs, scheduler choice) {
  workspace dir;
  countdown answered{jobs}, done{jobs};
  live_store live{dir.file("store.db"), choice};
  warm_up(live);
  live.work_off("jobs", spawn_noop_handler, 64, count_delivered(done));
  auto before = commits_so_far();
  stopwatch time;
  offer<int64_t>(live.system(), live.store(), {8, 8, jobs},
                 std::function{[] { return enqueue{"jobs", payload, {}}; }},
                 answered);
  answered.wait();
  done.wait();
  return rate_of(jobs, time, before);
}

// A commit for each step, as in raw_drain.
double raw_cycle(int jobs, int batch) {
  workspace dir;
  raw_store raw{dir.file("store.db")};
  stopwatch time;
  for (int made = 0, done = 0; done < jobs;) {
    raw.begin();
    for (auto end = std::min(made + batch, jobs); made < end; ++made)
      raw.enqueue("jobs", payload);
    raw.commit();
    done += claim_and_ack(raw, batch);
  }
  return jobs / time.seconds();
}

// Each commit makes a batch, claims it and acks the one before: the best that
// standing claims could reach.
double raw_shared_cycle(int jobs, int batch) {
  workspace dir;
  raw_store raw{dir.file("store.db")};
  stopwatch time;
  for (int made = 0, done = 0; done < jobs;) {
    raw.begin();
    raw.ack_claimed();
    for (auto end = std::min(made + batch, jobs); made < end; ++made)
      raw.enqueue("jobs", payload);
    done += raw.claim("jobs", batch);
    raw.commit();
  }
  raw.begin();
  raw.ack_claimed();
  raw.commit();
  return jobs / time.seconds();
}

} // namespace

void measure_enqueue_inflight1(report& out, const settings& how) {
  const auto total = how.scaled(3000);
  out.add(alternate(
    "enqueue.inflight1", how,
    [&](scheduler choice) { return product_enqueue_waiting(total, choice); },
    [&](double) { return raw_enqueue(total, 1); }));
  out.add(measure_enqueue("enqueue.inflight1.actor", how, {1, 1, total}));
}

void measure_enqueue_inflight64(report& out, const settings& how) {
  out.add(
    measure_enqueue("enqueue.inflight64", how, {8, 8, how.scaled(40'000)}));
}

void measure_enqueue_inflight1000(report& out, const settings& how) {
  out.add(measure_enqueue("enqueue.inflight1000", how,
                          {20, 50, how.scaled(100'000)}));
}

void measure_enqueue_bulk(report& out, const settings& how) {
  const auto messages = how.scaled(100);
  enqueue_many bulk;
  bulk.jobs.assign(1000, enqueue{"jobs", payload, {}});
  auto product = [&](scheduler choice) {
    workspace dir;
    live_store live{dir.file("store.db"), choice};
    warm_up(live);
    countdown answered{messages};
    auto before = commits_so_far();
    stopwatch time;
    offer<std::vector<int64_t>>(live.system(), live.store(), {1, 1, messages},
                                std::function{[&] { return bulk; }}, answered);
    answered.wait();
    return rate_of(messages * 1000, time, before);
  };
  out.add(alternate("enqueue.bulk1000", how, product, [&](double) {
    return raw_enqueue(messages * 1000, 1000);
  }));
}

void measure_drain(report& out, const settings& how) {
  const auto jobs = how.scaled(20'000);
  out.add(alternate(
    "drain.noop", how,
    [&](scheduler choice) { return product_drain(jobs, choice); },
    [&](double) { return raw_drain(jobs); }));
}

void measure_cycle(report& out, const settings& how) {
  const auto jobs = how.scaled(20'000);
  auto product = [&](scheduler choice) { return product_cycle(jobs, choice); };
  auto batch_of = [](double mean) {
    return std::max(1, static_cast<int>(mean));
  };
  out.add(alternate("cycle", how, product, [&](double batch) {
    return raw_cycle(jobs, batch_of(batch));
  }));
  out.add(alternate("cycle.shared", how, product, [&](double batch) {
    return raw_shared_cycle(jobs, batch_of(batch));
  }));
}

} // namespace alkstore::bench
