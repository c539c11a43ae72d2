// alkstore-bench: measures the store against raw SQLite and its goals.
// docs/performance.md explains every figure.
#include "bench/commits.hpp"
#include "bench/measure.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

namespace alkstore::bench {

namespace {

struct entry {
  const char* name;
  measurement run;
};

constexpr entry entries[] = {
  {"enqueue.inflight1", measure_enqueue_inflight1},
  {"enqueue.inflight64", measure_enqueue_inflight64},
  {"enqueue.inflight1000", measure_enqueue_inflight1000},
  {"enqueue.bulk1000", measure_enqueue_bulk},
  {"drain.noop", measure_drain},
  {"cycle", measure_cycle},
  {"latency.inproc", measure_latency_inproc},
  {"latency.crossproc", measure_latency_crossproc},
  {"latency.outbox", measure_latency_outbox},
  {"claim.flat", measure_claim_flat},
  {"claim.flat.priorities", measure_claim_priorities},
  {"payload.large", measure_payload},
  {"open.1m", measure_open},
  {"schedules.tick", measure_tick},
  {"schedules.lateness", measure_lateness},
  {"lease.flood", measure_lease_flood},
  {"memory", measure_memory},
  {"idle.cpu", measure_idle},
  {"failover", measure_failover},
};

struct request {
  std::string only;
  std::string out;
  bool quick = false;
  bool check = false;
  std::vector<std::string> child;
};

int run_child(const std::string& role, const std::string& path) {
  if (role == "flood")
    return flooding_child(path);
  return enqueuing_child(path, role == "raw-enqueue");
}

int run(const request& x) {
  if (!x.child.empty())
    return run_child(x.child[0], x.child[1]);
  commits_so_far(); // counts on the connections that are opened from now on
  settings how;
  how.quick = x.quick;
  how.repetitions = x.quick ? 3 : 5;
  report out;
  stopwatch time;
  for (auto& entry : entries)
    if (std::string_view{entry.name}.substr(0, x.only.size()) == x.only)
      entry.run(out, how);
  std::printf("\n%.0f s\n\n", time.seconds());
  auto whole = x.only.empty() && !x.quick;
  auto missed = out.missed_goals(whole);
  if (!x.out.empty())
    out.write(x.out);
  if (!x.check || missed.empty())
    return EXIT_SUCCESS;
  std::fprintf(stderr, "\ngoals missed:\n");
  for (auto& line : missed)
    std::fprintf(stderr, "  %s\n", line.c_str());
  return EXIT_FAILURE;
}

} // namespace

} // namespace alkstore::bench

int main(int argc, char** argv) {
  CLI::App cli{"Measures alkstore against raw SQLite and its goals.",
               "alkstore-bench"};
  alkstore::bench::request x;
  cli.add_option("--only", x.only, "rows whose name begins so");
  cli.add_flag("--quick", x.quick, "fewer and shorter repetitions");
  cli.add_flag("--check", x.check, "exit with 1 if a goal is missed");
  cli.add_option("--out", x.out, "write the rows to this file as JSON");
  cli.add_option("--child", x.child, "a role of another process and its file")
    ->expected(2)
    ->group("");
  CLI11_PARSE(cli, argc, argv);
  try {
    return alkstore::bench::run(x);
  } catch (const std::exception& why) {
    std::cerr << "alkstore-bench: " << why.what() << '\n';
    return EXIT_FAILURE;
  }
}
