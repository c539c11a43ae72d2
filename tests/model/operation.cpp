#include "tests/model/operation.hpp"

#include <array>

namespace alkstore::model {

namespace {

using namespace std::chrono_literals;

template <class T>
const T& pick(const std::vector<T>& from, size_t which) {
  return from[which % from.size()];
}

const std::vector<queue_name>& queues() {
  static const std::vector<queue_name> all{
    queue_name::plain("q"), queue_name::plain("r"), queue_name::outbox("q")};
  return all;
}

const std::vector<millis>& spans() {
  static const std::vector<millis> all{1ms, 1s, 10s, 5min, 2h, 30h};
  return all;
}

std::optional<millis> maybe_span(size_t which) {
  if (which % 3 != 0)
    return std::nullopt;
  return pick(spans(), which / 3);
}

// One in about thirty is out of range.
job_options options_of(const operation& x) {
  job_options out;
  if (x.b % 2 == 0)
    out.priority = pick<int>({0, 0, 1, -32, 31, x.b % 5 == 0 ? 32 : 5},
                             x.b / 2);
  if (x.c % 4 == 0)
    out.delay = pick<millis>({0ms, 1ms, 10s, 1h, x.c % 5 == 0 ? -1ms : 0ms},
                             x.c / 4);
  else if (x.c % 4 == 1)
    out.run_at = T + pick(spans(), x.c / 4);
  out.expires_in = maybe_span(x.d);
  if (x.d % 2 == 0)
    out.max_attempts = pick<int>({1, 2, 3, x.d % 5 == 0 ? 0 : 1}, x.d / 2);
  out.visibility_timeout = maybe_span(x.b + 1);
  out.backoff_base = maybe_span(x.c + 1);
  if ((x.a + x.b) % 3 == 0)
    out.dedupe_key = pick<std::string>(
      {"k", "k", "k", std::string{"\0\377", 2}}, x.a / 3);
  return out;
}

struct known_spec {
  const char* text;
  std::optional<millis> interval;
};

const known_spec& spec_of(size_t which) {
  static const std::vector<known_spec> all{
    {"@every 60s", 1min}, {"@every 1m", 1min}, {"@every 7s", 7s},
    {"@every 2h", 2h},    {"@every 1d", 24h},  {"@every 0s", {}},
    {"@hourly", {}},      {"@every 007s", 7s}};
  return pick(all, which);
}

std::string bytes_of(size_t which) {
  std::string out;
  for (size_t i = 0; i < which % 64; ++i)
    out += static_cast<char>(which * 7 + i * 31);
  return out;
}

// Mostly one of the last few, sometimes an old or a made-up one.
claim_handle claim_of(const operation& x, const memory& both) {
  if (both.claims.empty() || x.a % 16 == 15)
    return {x.b % 20, x.c % 4, {}};
  auto back = x.a % 4 == 3 ? x.b : x.b % 3;
  return both.claims[both.claims.size() - 1 - back % both.claims.size()];
}

lease lease_of(const operation& x, const memory& both) {
  if (both.leases.empty())
    return {"l", "nobody", 1, 0, 1s, {}};
  auto back = x.a % 4 == 3 ? x.b : x.b % 2;
  return both.leases[both.leases.size() - 1 - back % both.leases.size()];
}

std::string lock_name(size_t which) {
  return pick<std::string>({"l", std::string{leases::scheduler}}, which);
}

// -- answers as text ----------------------------------------------------------

std::string text(bool x) {
  return x ? "true" : "false";
}

std::string text(int64_t x) {
  return std::to_string(x);
}

std::string text(const job& x) {
  return std::to_string(static_cast<int>(x.state)) + " " + show(x.claim) + " "
         + show(x);
}

template <class T>
std::string text(const std::optional<T>& x) {
  return x ? show(*x) : "nothing";
}

std::string text(const std::vector<job>& jobs, bool with_ids) {
  std::string out;
  for (auto& x : jobs)
    out += with_ids ? std::to_string(x.id) + "="
                        + std::to_string(static_cast<int>(x.state)) + " "
                    : text(x) + "; ";
  return out;
}

std::string text(const std::map<std::string, jobs::queue_stats>& stats) {
  std::string out;
  for (auto& [queue, x] : stats)
    out += queue + " " + std::to_string(x.waiting) + " "
           + std::to_string(x.delayed) + " " + std::to_string(x.running) + " "
           + std::to_string(x.dead) + "; ";
  return out;
}

std::string text(const tick_report& x) {
  std::string out = show(x.now) + " " + text(x.soonest);
  for (auto& one : x.fired)
    out += "; " + one.schedule + " -> " + one.queue + " "
           + std::to_string(one.job) + " " + show(one.fire_at);
  for (auto& one : x.skipped)
    out += "; " + one.schedule + " skipped " + std::to_string(one.count);
  return out;
}

// A claimed job's stable id is the store's own and compared with its row.
std::string claimed_text(std::vector<job> jobs) {
  for (auto& x : jobs)
    x.stable_id.clear();
  return text(jobs, false);
}

// -- the operations -----------------------------------------------------------

// The same for both sides; `both` is written by the second only.
template <class Side>
std::string run_on(const operation& x, Side& side, memory& both) {
  auto& queue = pick(queues(), x.a);
  auto claim = claim_of(x, both);
  auto held = lease_of(x, both);
  auto id = int64_t{x.a} % 30;
  auto few = 1 + x.b % 5;
  auto name = pick<std::string>({"s", "t", "u"}, x.a);
  switch (x.what) {
    default: // a third of all
      return text(side.enqueue(queue, bytes_of(x.d), options_of(x)));
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: {
      auto found = side.claim(queue, pick<std::string>({"v", "w"}, x.c), few,
                              x.c % 3 == 0 ? x.d % 3 : few);
      for (auto& one : found)
        both.claims.push_back(one.claim);
      return claimed_text(found);
    }
    case 5:
    case 6: return side.ack(claim), "acked";
    case 7:
    case 8:
      return side.retry(claim, "error " + text(int64_t{x.c}),
                        x.d % 3 == 0 ? std::optional{pick<millis>(
                                         {0ms, 1s, 1h, -1ms}, x.d / 3)}
                                     : std::nullopt),
             "retried";
    case 9: return side.fail(claim, "failed"), "failed";
    case 10:
    case 11: {
      auto longer = side.heartbeat(claim,
                                   pick<millis>({1ms, 10s, 1h, 0ms}, x.d));
      return show(longer);
    }
    case 12: return side.release(claim), "released";
    case 13: return text(side.cancel(id));
    case 14: return text(int64_t{side.sweep(x.b % 2 ? few : 1000)});
    case 15: return text(side.next_claim_at(queue));
    case 16: return text(side.get(id));
    case 17: return text(side.list(queue, x.b % 10, few), true);
    case 18: return text(side.stats());
    case 19: return text(side.list_dead(queue, x.b % 10, few), true);
    case 20:
    case 21: return text(side.requeue(id));
    case 22: return text(side.remove_dead(id));
    case 23:
      return text(int64_t{
        side.remove_older(T + pick(spans(), x.c), x.b % 2 ? few : 1000)});
    case 24: return text(int64_t{side.forget_lapsed(x.b % 2 ? few : 1000)});
    case 25:
    case 26: {
      auto stale = x.c % 4 == 0 ? std::optional{leases::stale_lease{
                                    held.token, held.renewals}}
                                : std::nullopt;
      auto got = side.acquire(lock_name(x.a),
                              pick<std::string>({"me", "you"}, x.b),
                              pick<millis>({15s, 1h, 30h, 0ms}, x.d), stale);
      if (got)
        both.leases.push_back(*got);
      return text(got);
    }
    case 27: {
      auto got = side.renew(held);
      both.leases.push_back(got);
      return show(got);
    }
    case 28: return text(side.release_lock(held));
    case 29: return text(side.holds(held));
    case 30:
    case 31:
    case 32: {
      auto& spec = spec_of(x.b);
      auto options = options_of(x);
      options.delay.reset();
      options.run_at.reset();
      return show(
        side.add({name, spec.text, x.c % 2 ? "q" : "r", bytes_of(x.d), options},
                 spec.interval));
    }
    case 33: return text(side.remove_schedule(name));
    case 34: return text(side.pause(name));
    case 35: return text(side.resume(name));
    case 36:
    case 37: return text(side.tick(held, x.c % 2 ? few : 1000));
    case 38: return text(side.soonest());
  }
}

template <class Side>
std::string answer_of(const operation& x, Side& side, memory& both) {
  try {
    return run_on(x, side, both);
  } catch (const failure& why) {
    return to_string(why.code());
  }
}

} // namespace

std::ostream& operator<<(std::ostream& out, const operation& x) {
  return out << "{" << x.what << ", " << x.a << ", " << x.b << ", " << x.c
             << ", " << x.d << (x.rolled_back ? ", rolled back}" : "}");
}

timestamp time_of(const operation& x, const model& expected) {
  static const std::vector<millis> steps{0ms, 1ms,  1s,  10s,  5min, 2h,
                                         30h, -10s, -2h, -30h, 1min, 0ms};
  if (x.d % 2 == 0) // most things happen at one time
    return expected.now;
  auto edges = expected.edges();
  if (x.a % 2 == 0 || edges.empty())
    return expected.now + pick(steps, x.a / 2);
  return pick(edges, x.a / 4) - millis{x.a / 2 % 2};
}

answers run(const operation& x, real_store& real, model& expected,
            memory& both) {
  auto of_store = both; // the same handles for both
  answers out;
  out.store = answer_of(x, real, of_store);
  out.model = answer_of(x, expected, both);
  return out;
}

} // namespace alkstore::model
