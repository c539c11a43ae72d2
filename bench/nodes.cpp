// Real nodes: what an idle one costs, and how soon a standby takes over.
#include "bench/child.hpp"
#include "bench/live_store.hpp"
#include "bench/measure.hpp"
#include "bench/raw.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace alkstore::bench {

namespace {

/// What the threads of a process have used so far.
struct usage {
  int64_t cpu_ns = 0;
  int64_t switches = 0; ///< voluntary: a thread went to sleep
  std::map<std::string, int64_t> by_thread;
};

int64_t voluntary_switches(const std::filesystem::path& task) {
  std::ifstream status{task / "status"};
  for (std::string key; status >> key;)
    if (int64_t count = 0; key == "voluntary_ctxt_switches:" && status >> count)
      return count;
  return 0;
}

usage usage_of(pid_t pid) {
  usage out;
  for (auto& task : std::filesystem::directory_iterator{
         "/proc/" + std::to_string(pid) + "/task"}) {
    int64_t ns = 0;
    std::ifstream{task.path() / "schedstat"} >> ns;
    auto switches = voluntary_switches(task.path());
    out.cpu_ns += ns;
    out.switches += switches;
    out.by_thread[task.path().filename()] = switches;
  }
  return out;
}

int64_t busiest(const usage& before, const usage& after) {
  int64_t most = 0;
  for (auto& [thread, count] : after.by_thread) {
    auto known = before.by_thread.find(thread);
    most = std::max(
      most, count - (known == before.by_thread.end() ? 0 : known->second));
  }
  return most;
}

std::string write_config(const workspace& dir, const std::string& settings) {
  auto path = dir.file("node.conf");
  std::ofstream out{path};
  out << "alkstore {\n  database = \"" << dir.file("store.db") << "\"\n"
      << settings << "}\n";
  return path;
}

std::string idle_settings() {
  std::ostringstream out;
  out << "  schedules = [\n";
  for (int i = 0; i < 1000; ++i)
    out << "    { name = \"schedule-" << i
        << "\", spec = \"@every 1h\", queue = \"jobs\" },\n";
  out << "  ]\n  outboxes = [\n";
  for (int i = 0; i < 20; ++i)
    out << "    { name = \"outbox-" << i
        << "\", url = \"http://127.0.0.1:9/\" },\n";
  out << "  ]\n";
  return out.str();
}

// A hundred schedules, one due every ten milliseconds: whoever leads fires at
// once.
void add_dense_schedules(const std::string& path) {
  raw_store raw{path};
  raw.execute(
    "INSERT INTO alkstore_schedules(name, spec, interval_ms, queue, payload,"
    " next_fire_at, paused) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL"
    " SELECT i + 1 FROM n WHERE i < 99) SELECT printf('s%d', i), '@every 1s',"
    " 1000, 'jobs', x'00', "
    + std::to_string(wall_ms() + 1000) + " + i * 10, 0 FROM n");
}

/// Milliseconds from the signal to the leader until the standby has fired.
double failover(int signal) {
  workspace dir;
  add_dense_schedules(dir.file("store.db"));
  auto config = write_config(dir, "  lease-ttl = 3s\n");
  std::vector<std::string> node{program("alkstore-node"), "--config-file",
                                config};
  child leader{node};
  leader.line_with(" fired ");
  child standby{node};
  standby.line_with(" started ");
  // Past a renewal, so that the lease is neither new nor about to end.
  std::this_thread::sleep_for(std::chrono::milliseconds{1500});
  stopwatch time;
  leader.signal(signal);
  standby.line_with(" fired ");
  return time.ms();
}

} // namespace

void measure_idle(report& out, const settings& how) {
  const std::chrono::seconds duration{how.quick ? 10 : 60};
  workspace dir;
  child node{{program("alkstore-node"), "--config-file",
              write_config(dir, idle_settings())}};
  node.line_with(" leading ");
  std::this_thread::sleep_for(std::chrono::seconds{2});
  auto before = usage_of(node.pid());
  std::this_thread::sleep_for(duration);
  auto after = usage_of(node.pid());
  auto seconds = static_cast<double>(duration.count());
  samples cpu, switches;
  cpu.add(static_cast<double>(after.cpu_ns - before.cpu_ns) / seconds / 1e7);
  switches.add(static_cast<double>(after.switches - before.switches) / seconds);
  auto row = figure_of("idle.cpu", "% of a core", cpu);
  row.note = "1,000 schedules an hour away, 20 outboxes, "
             + std::to_string(duration.count()) + " s";
  out.add(std::move(row));
  row = figure_of("idle.switches", "a second", switches);
  row.note = "voluntary context switches over "
             + std::to_string(after.by_thread.size())
             + " threads; the busiest one "
             + brief(static_cast<double>(busiest(before, after)) / seconds);
  out.add(std::move(row));
}

void measure_failover(report& out, const settings&) {
  samples clean, kill;
  clean.add(failover(SIGTERM));
  kill.add(failover(SIGKILL));
  auto row = figure_of("failover.clean", "ms", clean);
  row.note = "SIGTERM of the leader to the standby's first firing";
  out.add(std::move(row));
  row = figure_of("failover.kill", "ms", kill);
  row.note = "SIGKILL; ttl 3 s";
  out.add(std::move(row));
}

} // namespace alkstore::bench
