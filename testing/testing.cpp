#include "testing/testing.hpp"

#include "actors/errors.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace alkstore::testing {

namespace {

// No event tells that nothing is left to do: the store is looked at this often.
constexpr millis look_again_after{5};

constexpr millis ahead = std::chrono::hours{24};

// The longest that there is. A test that turns the clock further loses the
// leadership, and has it again a second later.
constexpr millis year = std::chrono::hours{24 * 365};

} // namespace

void test_driver::prepare(runtime_options& options) {
  clock.set(alkstore::clock::system().wall_now() + ahead);
  options.store.time = &clock;
  options.store.report = events.sink();
  options.store.open.sync = durability::normal; // no test cuts the power
  options.lease = {year, year / 3};
  path_ = options.store.path;
  open_ = options.store.open;
  queues_.clear();
  for (auto& x : options.queues)
    queues_.push_back(queue_name::plain(x.name).text());
  for (auto& x : options.outboxes)
    queues_.push_back(queue_name::outbox(x.name).text());
}

void test_driver::drive(caf::actor_system& sys, const runtime_actor& runtime) {
  sys_ = &sys;
  runtime_ = runtime.address();
}

void test_driver::advance(millis by) {
  clock.step(by);
  // Another connection's commit: the store looks at everything anew. It has to
  // change something, or SQLite writes nothing.
  connection db{path_, open_, clock};
  transaction tx{db};
  tx.run("INSERT OR REPLACE INTO alkstore_meta VALUES('virtual_clock', ?1)",
         clock.wall_now());
  tx.commit();
}

void test_driver::run_until_idle() {
  wait_until([this] { return busy_with(); });
}

std::optional<job> test_driver::wait_for_job(int64_t id) {
  auto reader = handles().reader;
  std::optional<job> found;
  wait_until([&]() -> std::string {
    try {
      found = ask<job>(reader, get_job{id});
    } catch (const failure& why) {
      if (why.code() != errc::not_found)
        throw;
      found.reset();
      return "";
    }
    if (found->state == job_state::dead
        || (found->state == job_state::waiting
            && found->run_at > clock.wall_now()))
      return "";
    return "job " + std::to_string(id) + " is "
           + (found->state == job_state::running ? "being handled" : "due");
  });
  return found;
}

store_handles test_driver::handles() {
  auto runtime = caf::actor_cast<runtime_actor>(runtime_);
  if (!runtime)
    throw std::logic_error{"there is no runtime to drive"};
  return ask<store_handles>(runtime, get_store{});
}

// Empty if it is idle.
std::string test_driver::busy_with() {
  auto reader = handles().reader;
  auto next = ask<outlook>(reader, get_outlook{});
  if (next.boundary && *next.boundary <= clock.wall_now())
    return "a schedule is due";
  for (auto& x : ask<std::vector<jobs::queue_stats>>(reader, get_stats{}))
    if (std::find(queues_.begin(), queues_.end(), x.queue) != queues_.end()
        && x.waiting + x.running > 0)
      return "queue " + x.queue + " has " + std::to_string(x.waiting)
             + " due and " + std::to_string(x.running) + " running jobs";
  return "";
}

template <class Look>
void test_driver::wait_until(Look look) {
  auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto seen = events.all().size();
    auto busy = look();
    if (busy.empty())
      return;
    if (std::chrono::steady_clock::now() > until)
      throw std::runtime_error{"not at rest: " + busy};
    events.wait_for_more(seen, look_again_after);
  }
}

template <class Reply, class To, class Message>
Reply test_driver::ask(const To& to, Message message) {
  caf::scoped_actor self{*sys_};
  std::optional<Reply> out;
  caf::error error;
  port::ask(self, caf::timespan{patience}, to, std::move(message))
    .receive([&](Reply& x) { out = std::move(x); },
             [&](const caf::error& why) { error = why; });
  if (!out)
    throw failure{code_of(error) == errc{} ? errc::failed : code_of(error),
                  sentence(*sys_, error)};
  return std::move(*out);
}

} // namespace alkstore::testing
