// The store under a flood: its lease, and its memory.
#include "bench/child.hpp"
#include "bench/load.hpp"
#include "bench/measure.hpp"

#include <fstream>
#include <iostream>
#include <thread>

namespace alkstore::bench {

namespace {

// Renews like lock_renewal, but every 20 ms, and keeps the longest wait.
double longest_renewal(caf::actor_system& sys, const writer_actor& writer,
                       std::future<void>& flood_over) {
  caf::scoped_actor self{sys};
  lease held;
  double longest = 0;
  auto keep = [&](lease& x) { held = std::move(x); };
  auto fail = [&](const caf::error& why) {
    throw std::runtime_error{sentence(sys, why)};
  };
  port::ask(self, caf::infinite, writer,
            campaign{"bench", std::chrono::seconds{3}, {}})
    .receive(keep, fail);
  do {
    stopwatch time;
    port::ask_urgently(self, caf::infinite, writer, renew_leadership{held})
      .receive(keep, fail);
    longest = std::max(longest, time.ms());
  } while (flood_over.wait_for(std::chrono::milliseconds{20})
           != std::future_status::ready);
  return longest;
}

/// Offers requests as fast as it can, and counts the answers.
struct flooder {
  store_actor store;
  int left;
  countdown& answered;
  std::atomic<int64_t>& refused;
  std::atomic<int64_t>& foreign;
};

constexpr int flood_step = 1000;
constexpr int flooders = 8;

// A step at a time, so that the answers that have come are taken in between.
void flood(caf::event_based_actor* self, const std::shared_ptr<flooder>& x,
           const std::string& payload) {
  for (int i = 0; i < flood_step && x->left > 0; ++i, --x->left)
    port::ask(self, caf::infinite, x->store, enqueue{"jobs", payload, {}})
      .then([x](int64_t) { x->answered.one(); },
            [x](const caf::error& why) {
              ++(code_of(why) == errc::overloaded ? x->refused : x->foreign);
              x->answered.one();
            });
}

int64_t peak_resident_kib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string key; status >> key;)
    if (int64_t kib = 0; key == "VmHWM:" && status >> kib)
      return kib;
  return 0;
}

} // namespace

void measure_lease_flood(report& out, const settings& how) {
  const auto jobs = how.scaled(200'000);
  samples longest;
  double rate = 0;
  for (int i = 0; i < how.repetitions; ++i) {
    workspace dir;
    system_config config{scheduler::sharing};
    caf::actor_system sys{config};
    writer_options options;
    options.path = dir.file("store.db");
    auto writer = spawn_writer(sys, options);
    countdown answered{jobs};
    std::promise<void> over;
    auto flood_over = over.get_future();
    stopwatch time;
    offer<int64_t>(
      sys, caf::actor_cast<store_actor>(writer), {10, 1000, jobs},
      std::function{[] { return enqueue{"jobs", std::string(100, 'x'), {}}; }},
      answered);
    std::thread waits{[&] {
      answered.wait();
      rate = jobs / time.seconds();
      over.set_value();
    }};
    longest.add(longest_renewal(sys, writer, flood_over));
    waits.join();
    port::send_anonymously(writer, stop{});
    writer = nullptr;
  }
  auto row = figure_of("lease.flood", "ms", longest);
  row.value = longest.max();
  row.note = "the longest of all; ttl 3 s; 10,000 in flight, " + brief(rate)
             + " jobs/s beside it";
  out.add(std::move(row));
}

void measure_memory(report& out, const settings& how) {
  if (how.quick)
    return; // a million is what it is about
  workspace dir;
  child x{{program(), "--child", "flood", dir.file("store.db")}};
  int64_t numbers[3] = {};
  if (!x.receive(numbers, sizeof numbers))
    throw std::runtime_error{"the flooding child ended"};
  samples mib;
  mib.add(static_cast<double>(numbers[0]) / 1024);
  auto row = figure_of("memory", "MiB", mib);
  row.note = "peak; 1,000,000 x 1 KiB offered, " + std::to_string(numbers[1])
             + " refused as overloaded, " + std::to_string(numbers[2])
             + " otherwise";
  out.add(std::move(row));
}

int flooding_child(const std::string& path) {
  constexpr int offered = 1'000'000;
  const std::string payload(1024, 'x');
  std::atomic<int64_t> refused{0}, foreign{0};
  countdown answered{offered};
  live_store live{path, scheduler::sharing};
  for (int i = 0; i < flooders; ++i) {
    auto x = std::make_shared<flooder>(
      flooder{live.store(), offered / flooders, answered, refused, foreign});
    live.system().spawn(
      [x, &payload](caf::event_based_actor* self) -> caf::behavior {
        port::send(self, self, flush_batch{});
        return {[self, x, &payload](flush_batch) {
          flood(self, x, payload);
          if (x->left > 0)
            port::send(self, self, flush_batch{});
          else
            self->unbecome();
        }};
      });
  }
  answered.wait();
  int64_t numbers[3] = {peak_resident_kib(), refused, foreign};
  std::cout.write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  std::cout.flush();
  return EXIT_SUCCESS;
}

} // namespace alkstore::bench
