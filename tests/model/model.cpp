#include "tests/model/model.hpp"

#include <algorithm>
#include <set>

namespace alkstore::model {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void refuse(errc code) {
  throw failure{code, "model"};
}

// Of `rows` (what orders them, and their id) the `max` first; among equals
// those that the store chose.
template <class Key>
std::vector<int64_t> first(std::vector<std::pair<Key, int64_t>> rows, int max,
                           const std::function<bool(int64_t)>& chosen) {
  std::sort(rows.begin(), rows.end());
  std::vector<int64_t> out;
  auto count = std::min(rows.size(), static_cast<size_t>(max));
  if (count == 0)
    return out;
  auto last = rows[count - 1].first;
  for (auto& [key, id] : rows)
    if (rows.size() == count || key < last || (key == last && chosen(id)))
      out.push_back(id);
  return out;
}

template <class Range>
std::vector<job> page(const Range& range, const queue_name& queue,
                      int64_t after, int max) {
  std::vector<job> out;
  for (auto& x : range)
    if (x.queue == queue.text() && x.id > after
        && static_cast<int>(out.size()) < max)
      out.push_back(x);
  return out;
}

} // namespace

// -- jobs ---------------------------------------------------------------------

void model::check(const job_options& x) const {
  auto out_of = [](const auto& value, auto least) {
    return value && *value < least;
  };
  if ((x.priority && (*x.priority < -32 || *x.priority > 31))
      || out_of(x.max_attempts, 1) || out_of(x.delay, 0ms)
      || out_of(x.expires_in, 1ms) || out_of(x.visibility_timeout, 1ms)
      || out_of(x.backoff_base, 1ms) || (x.delay && x.run_at)
      || (x.dedupe_key
          && (x.dedupe_key->empty() || x.dedupe_key->size() > 128)))
    refuse(errc::invalid_argument);
}

void model::check_payload(const std::string& payload) const {
  if (payload.size() > rules_.max_payload)
    refuse(errc::payload_too_large);
}

int64_t model::enqueue(const queue_name& queue, const std::string& payload,
                       const job_options& options) {
  check(options);
  check_payload(payload);
  if (options.dedupe_key)
    if (auto found = holder(queue.text(), *options.dedupe_key))
      return *found;
  return insert(queue, payload, options);
}

int64_t model::insert(const queue_name& queue, const std::string& payload,
                      const job_options& options) {
  auto outbox = queue.is_outbox();
  job x;
  x.id = ++last_id;
  x.queue = queue.text();
  x.payload = payload;
  x.priority = options.priority.value_or(0);
  x.max_attempts = options.max_attempts.value_or(outbox ? 5 : 3);
  x.visibility_timeout = options.visibility_timeout.value_or(outbox ? 60s
                                                                    : 300s);
  x.backoff_base = options.backoff_base.value_or(5s);
  x.enqueued_at = now;
  x.run_at = options.run_at.value_or(now + options.delay.value_or(0ms));
  if (options.expires_in)
    x.expires_at = now + *options.expires_in;
  x.claim.job = x.id;
  x.dedupe_key = options.dedupe_key.value_or("");
  live[x.id] = {x, x.run_at, false};
  return x.id;
}

job model::get(int64_t id) const {
  if (auto found = live.find(id); found != live.end()) {
    auto out = found->second.what;
    if (is_running(found->second))
      out.state = job_state::running;
    out.claim.deadline = found->second.claimed ? found->second.at : timestamp{};
    return out;
  }
  if (auto found = dead.find(id); found != dead.end())
    return found->second;
  refuse(errc::not_found);
}

std::vector<job> model::list(const queue_name& queue, int64_t after,
                             int max) const {
  std::vector<job> all;
  for (auto& [id, x] : live)
    all.push_back(get(id));
  return page(all, queue, after, max);
}

bool model::cancel(int64_t id) {
  return live.erase(id) > 0;
}

const char* model::cause_of_death(const live_job& x) const {
  if (is_running(x))
    return nullptr;
  if (x.what.attempts >= x.what.max_attempts)
    return "max attempts exceeded";
  if (x.what.expires_at && now >= *x.what.expires_at)
    return "expired";
  return nullptr;
}

void model::bury(int64_t id, const std::string& error) {
  auto x = live.at(id).what;
  x.state = job_state::dead;
  x.last_error = error;
  x.died_at = now;
  x.claim.deadline = {};
  dead[id] = x;
  live.erase(id);
}

int model::sweep(int max) {
  std::vector<std::pair<int, int64_t>> rows;
  for (auto& [id, x] : live)
    if (cause_of_death(x))
      rows.emplace_back(0, id);
  auto buried = first(rows, max,
                      [&](int64_t id) { return chosen("alkstore_jobs", id); });
  for (auto id : buried)
    bury(id, cause_of_death(live.at(id)));
  return static_cast<int>(buried.size());
}

std::map<std::string, jobs::queue_stats> model::stats() const {
  std::map<std::string, jobs::queue_stats> out;
  for (auto& [id, x] : live) {
    auto& row = out[x.what.queue];
    ++(x.at <= now ? row.waiting : x.claimed ? row.running : row.delayed);
  }
  for (auto& [id, x] : dead)
    ++out[x.queue].dead;
  return out;
}

// -- claims -------------------------------------------------------------------

std::vector<job> model::claim(const queue_name& queue,
                              const std::string& worker, int max,
                              int startable) {
  std::vector<live_job> due;
  for (auto& [id, x] : live)
    if (x.what.queue == queue.text() && x.at <= now)
      due.push_back(x);
  std::sort(due.begin(), due.end(), [](auto& a, auto& b) {
    return std::tuple{-a.what.priority, a.at, a.what.id}
           < std::tuple{-b.what.priority, b.at, b.what.id};
  });
  std::vector<job> out;
  for (auto& x : due) {
    auto have = static_cast<int>(out.size());
    if (have == max)
      break;
    if (auto why = cause_of_death(x)) {
      bury(x.what.id, why);
      continue;
    }
    if (x.what.attempts + 1 >= x.what.max_attempts && have >= startable)
      break;
    auto& taken = live.at(x.what.id);
    taken.claimed = true;
    taken.at = now + taken.what.visibility_timeout;
    taken.what.worker = worker;
    ++taken.what.attempts;
    ++taken.what.claim.number;
    out.push_back(get(x.what.id));
    out.back().state = job_state::running;
  }
  return out;
}

live_job& model::held(const claim_handle& x) {
  auto found = live.find(x.job);
  if (found == live.end() || !is_running(found->second)
      || found->second.what.claim.number != x.number)
    refuse(errc::claim_lost);
  return found->second;
}

void model::ack(const claim_handle& x) {
  auto& done = held(x).what;
  if (!done.dedupe_key.empty())
    marks[{done.queue, done.dedupe_key}] = {done.id, now + rules_.dedupe_for};
  live.erase(x.job);
}

void model::retry(const claim_handle& x, const std::string& error,
                  std::optional<millis> delay) {
  if (delay && *delay < 0ms)
    refuse(errc::invalid_argument);
  auto& failed = held(x);
  auto& what = failed.what;
  if (what.expires_at && now >= *what.expires_at)
    return bury(x.job, "expired");
  if (what.attempts >= what.max_attempts)
    return bury(x.job, error);
  auto wait = std::min<millis>(what.backoff_base, 1h);
  for (int i = 1; i < what.attempts; ++i)
    wait = std::min<millis>(wait * 2, 1h);
  failed.claimed = false;
  failed.at = what.run_at = now + delay.value_or(wait);
  what.last_error = error;
}

void model::fail(const claim_handle& x, const std::string& error) {
  held(x);
  bury(x.job, error);
}

claim_handle model::heartbeat(const claim_handle& x, millis extend) {
  if (extend <= 0ms)
    refuse(errc::invalid_argument);
  auto& alive = held(x);
  alive.at = std::max(alive.at, now + extend);
  return {x.job, x.number, alive.at};
}

void model::release(const claim_handle& x) {
  auto& back = held(x);
  back.claimed = false;
  back.at = back.what.run_at;
  --back.what.attempts;
}

std::optional<timestamp> model::next_claim_at(const queue_name& queue) const {
  std::optional<timestamp> soonest;
  for (auto& [id, x] : live)
    if (x.what.queue == queue.text() && (!soonest || x.at < *soonest))
      soonest = x.at;
  return soonest;
}

// -- dead letters and marks ---------------------------------------------------

std::optional<int64_t> model::holder(const std::string& queue,
                                     const std::string& key) {
  std::optional<int64_t> past;
  for (auto& [id, x] : live)
    if (x.what.queue == queue && x.what.dedupe_key == key) {
      if (!cause_of_death(x))
        return id;
      past = id;
    }
  auto found = marks.find({queue, key});
  if (found != marks.end() && now < found->second.until)
    return found->second.id;
  if (past)
    bury(*past, cause_of_death(live.at(*past)));
  return std::nullopt;
}

std::vector<job> model::list_dead(const queue_name& queue, int64_t after,
                                  int max) const {
  std::vector<job> all;
  for (auto& [id, x] : dead)
    all.push_back(x);
  return page(all, queue, after, max);
}

bool model::requeue(int64_t id) {
  auto found = dead.find(id);
  if (found == dead.end())
    return false;
  auto x = found->second;
  if (!x.dedupe_key.empty() && holder(x.queue, x.dedupe_key))
    refuse(errc::duplicate);
  x.state = job_state::waiting;
  x.attempts = 0;
  x.run_at = now;
  x.expires_at.reset();
  x.died_at.reset();
  live[id] = {x, now, false};
  dead.erase(id);
  return true;
}

bool model::remove_dead(int64_t id) {
  return dead.erase(id) > 0;
}

int model::remove_older(timestamp until, int max) {
  std::vector<std::pair<timestamp, int64_t>> rows;
  for (auto& [id, x] : dead)
    if (*x.died_at <= until)
      rows.emplace_back(*x.died_at, id);
  auto removed = first(rows, max,
                       [&](int64_t id) { return chosen("alkstore_dead", id); });
  for (auto id : removed)
    dead.erase(id);
  return static_cast<int>(removed.size());
}

int model::forget_lapsed(int max) {
  std::vector<std::pair<timestamp, int64_t>> rows;
  for (auto& [key, x] : marks)
    if (x.until <= now)
      rows.emplace_back(x.until, x.id);
  auto forgotten = first(
    rows, max, [&](int64_t id) { return chosen("alkstore_dedupe", id); });
  std::set<int64_t> ids(forgotten.begin(), forgotten.end());
  std::erase_if(marks, [&](auto& x) {
    return x.second.until <= now && ids.contains(x.second.id);
  });
  return static_cast<int>(forgotten.size());
}

// -- locks --------------------------------------------------------------------

std::optional<lease>
model::acquire(const std::string& name, const std::string& owner, millis ttl,
               const std::optional<leases::stale_lease>& stale) {
  if (ttl <= 0ms)
    refuse(errc::invalid_argument);
  auto& row = locks[name];
  auto is_stale = stale && stale->token == row.token
                  && stale->renewals == row.renewals;
  if (row.token > 0 && !row.owner.empty() && now < row.expires_at && !is_stale)
    return std::nullopt;
  row = {name, owner, row.token + 1, 0, ttl, now + ttl};
  return row;
}

bool model::holds(const lease& x) const {
  auto found = locks.find(x.name);
  return found != locks.end() && found->second.owner == x.owner
         && found->second.token == x.token && now < found->second.expires_at;
}

lease model::renew(const lease& x) {
  if (!holds(x))
    refuse(errc::lock_lost);
  auto& row = locks.at(x.name);
  ++row.renewals;
  row.expires_at = now + row.ttl;
  return row;
}

bool model::release_lock(const lease& x) {
  auto found = locks.find(x.name);
  if (found == locks.end() || found->second.owner != x.owner
      || found->second.token != x.token)
    return false;
  found->second.owner.clear();
  found->second.expires_at = now;
  return true;
}

// -- schedules ----------------------------------------------------------------

schedule model::add(const schedule_request& wanted,
                    std::optional<millis> interval) {
  check(wanted.options);
  if (wanted.options.dedupe_key)
    refuse(errc::invalid_argument);
  check_payload(wanted.payload);
  if (!interval)
    refuse(errc::invalid_spec);
  int64_t order = 0;
  for (auto& [name, x] : schedules)
    order = std::max(order, x.order);
  auto [at, is_new] = schedules.try_emplace(wanted.name);
  auto& row = at->second;
  if (is_new)
    row.order = order + 1;
  if (row.interval != *interval)
    row.what.next_fire_at = now + *interval;
  row.interval = *interval;
  row.what = {wanted.name,    wanted.spec,    wanted.queue,
              wanted.payload, wanted.options, row.what.next_fire_at,
              row.what.paused};
  return row.what;
}

bool model::remove_schedule(const std::string& name) {
  return schedules.erase(name) > 0;
}

kept_schedule& model::named(const std::string& name) {
  auto found = schedules.find(name);
  if (found == schedules.end())
    refuse(errc::not_found);
  return found->second;
}

bool model::pause(const std::string& name) {
  return !std::exchange(named(name).what.paused, true);
}

bool model::resume(const std::string& name) {
  auto& x = named(name);
  if (!std::exchange(x.what.paused, false))
    return false;
  while (x.what.next_fire_at <= now)
    x.what.next_fire_at += x.interval;
  return true;
}

tick_report model::tick(const lease& leadership, int max_jobs) {
  if (!holds(leadership))
    refuse(errc::leadership_lost);
  tick_report out;
  out.now = now;
  std::vector<kept_schedule*> due;
  for (auto& [name, x] : schedules)
    if (!x.what.paused && x.what.next_fire_at <= now)
      due.push_back(&x);
  std::sort(due.begin(), due.end(), [](auto a, auto b) {
    return std::pair{a->what.next_fire_at, a->order}
           < std::pair{b->what.next_fire_at, b->order};
  });
  for (auto x : due) {
    if (static_cast<int>(out.fired.size()) >= max_jobs)
      break;
    int64_t count = 0;
    auto& [name, spec, queue, payload, options, next, paused] = x->what;
    for (; next <= now; next += x->interval) {
      if (++count > 64)
        continue;
      auto id = insert(queue_name::plain(queue), payload, options);
      live.at(id).what.schedule = name;
      live.at(id).what.fire_at = next;
      out.fired.push_back({name, queue, id, next});
    }
    if (count > 64)
      out.skipped.push_back({name, count - 64});
  }
  out.soonest = soonest();
  return out;
}

std::optional<timestamp> model::soonest() const {
  std::optional<timestamp> out;
  for (auto& [name, x] : schedules)
    if (!x.what.paused && (!out || x.what.next_fire_at < *out))
      out = x.what.next_fire_at;
  return out;
}

std::vector<timestamp> model::edges() const {
  std::vector<timestamp> out;
  for (auto& [id, x] : live) {
    out.push_back(x.at);
    if (x.what.expires_at)
      out.push_back(*x.what.expires_at);
  }
  for (auto& [key, x] : marks)
    out.push_back(x.until);
  for (auto& [name, x] : locks)
    out.push_back(x.expires_at);
  for (auto& [name, x] : schedules)
    out.push_back(x.what.next_fire_at);
  return out;
}

} // namespace alkstore::model
