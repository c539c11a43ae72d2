#include "bench/goals.hpp"

namespace alkstore::bench {

namespace {

using number = std::optional<double>;

number value(const figure& x) {
  return x.value;
}
number ratio(const figure& x) {
  return x.ratio;
}
number sharing(const figure& x) {
  return x.sharing;
}
number excess(const figure& x) {
  return x.value - x.raw.value_or(0);
}

constexpr bool least = true;
constexpr bool most = false;

} // namespace

const std::vector<goal>& goals() {
  static const std::vector<goal> table{
    {"enqueue.inflight1", "ratio", ratio, least, 0.85},
    {"enqueue.inflight64", "ratio", ratio, least, 0.8},
    {"enqueue.inflight1000", "ratio", ratio, least, 0.6},
    {"enqueue.bulk1000", "ratio", ratio, least, 0.85},
    {"drain.noop", "ratio", ratio, least, 0.95},
    {"cycle", "ratio", ratio, least, 0.85},
    {"enqueue.inflight1", "sharing", sharing, least, 0.8},
    {"enqueue.inflight64", "sharing", sharing, least, 0.8},
    {"enqueue.inflight1000", "sharing", sharing, least, 0.8},
    {"enqueue.bulk1000", "sharing", sharing, least, 0.8},
    {"drain.noop", "sharing", sharing, least, 0.8},
    {"cycle", "sharing", sharing, least, 0.8},
    {"latency.inproc", "p50 ratio", ratio, most, 0.85},
    {"latency.crossproc", "p50 ratio", ratio, most, 0.85},
    {"latency.outbox", "p50 ms above latency.inproc", excess, most, 1},
    {"idle.cpu", "% of a core", value, most, 0.1},
    {"idle.switches", "voluntary switches/s", value, most, 10},
    {"payload.large", "WAL bytes a payload byte", value, most, 1.2},
    {"claim.flat", "1M against 10k", ratio, most, 1.3},
    {"claim.flat.future", "1M against 10k", ratio, most, 1.3},
    {"claim.flat.urgent", "1M against 10k", ratio, most, 1.3},
    {"claim.flat.queues", "1M against 10k", ratio, most, 1.3},
    {"claim.flat.running", "20k against 200", ratio, most, 1.3},
    {"claim.flat.priorities", "1M against 10k", ratio, most, 1.3},
    {"claim.flat.empty8", "us", value, most, 50},
    {"claim.flat.empty64", "us", value, most, 300},
    {"schedules.tick", "ratio", ratio, least, 0.7},
    {"schedules.tick.flat", "100,000 against 1,000", ratio, most, 1.3},
    {"schedules.lateness", "p99 ms", value, most, 5},
    {"lease.flood", "ms, ttl 3 s", value, most, 300},
    {"failover.clean", "ms", value, most, 50},
    {"failover.kill", "ms, ttl 3 s", value, most, 3250},
    {"memory", "MiB", value, most, 128},
    {"open.1m", "ms", value, most, 100},
  };
  return table;
}

} // namespace alkstore::bench
