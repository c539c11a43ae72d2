// A real actor system on a fresh store, and a scoped actor that asks. It can
// also play the consumer or the leader towards the writer.
#pragma once

#include "actors/errors.hpp"
#include "actors/runtime.hpp"
#include "actors/substrate_reader.hpp"
#include "testing/event_log.hpp"
#include "testing/virtual_clock.hpp"
#include "tests/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/turned_clock.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace alkstore::test {

using namespace std::chrono_literals;
using testing::event_log;
using testing::patience;

inline millis since(steady_time start) {
  return clock::system().steady_now() - start;
}

/// For times: the machine may be busy.
inline millis median(std::vector<millis> times) {
  std::sort(times.begin(), times.end());
  return times.at(times.size() / 2);
}

/// The configuration of a system that knows our messages.
class test_config : public caf::actor_system_config {
public:
  test_config() {
    static const auto once = (port::init_messages<caf::id_block::alkstore>(),
                              true);
    static_cast<void>(once);
    port::register_types<caf::id_block::alkstore, errc>(*this);
    port::prefer_sharing(*this);
  }
};

/// What a request came to: a value, or the code and the sentence of its error.
template <class Reply>
struct answer {
  std::optional<Reply> value;
  errc code{};
  std::string text;
};

/// An actor system, a place for stores, and questions with their answers.
struct system_fixture {
  temp_dir dir;
  event_log events;
  turned_clock time;
  test_config config;
  caf::actor_system sys{config};
  caf::scoped_actor self{sys};

  std::string path() const { return dir.path("store.db"); }

  writer_options store_options() {
    writer_options out;
    out.path = path();
    out.open.sync = durability::normal; // no test here cuts the power
    out.time = &time;
    out.report = events.sink();
    return out;
  }

  /// The answer of a request, whichever it is. It has to come in time.
  template <class Reply, class To, class Message>
  answer<Reply> try_ask(const To& to, Message message) {
    return receive_one<Reply>(
      port::ask(self, patience, to, std::move(message)));
  }

  /// The answer of a request; fails the test on an error.
  template <class Reply, class To, class Message>
  Reply ask(const To& to, Message message) {
    auto got = try_ask<Reply>(to, std::move(message));
    INFO(got.text);
    REQUIRE(got.value);
    return std::move(*got.value);
  }

  /// The error's code of a request that has to fail.
  template <class Reply, class To, class Message>
  errc ask_error(const To& to, Message message) {
    auto got = try_ask<Reply>(to, std::move(message));
    REQUIRE_FALSE(got.value);
    INFO(got.text);
    REQUIRE(got.code != errc{});
    return got.code;
  }

  /// Sends all before it waits for the first answer. Answers in that order.
  template <class Reply, class To, class Message>
  std::vector<answer<Reply>> ask_all(const To& to,
                                     const std::vector<Message>& messages,
                                     const std::function<void()>& sent = {}) {
    std::vector<decltype(port::ask(self, patience, to, Message{}))> waiting;
    for (auto& x : messages)
      waiting.push_back(port::ask(self, patience, to, Message{x}));
    if (sent)
      sent();
    std::vector<answer<Reply>> out;
    for (auto& x : waiting)
      out.push_back(receive_one<Reply>(std::move(x)));
    return out;
  }

  /// The next message of that type; fails the test without it.
  template <class Message>
  Message expect() {
    std::optional<Message> got;
    self->receive([&](Message& x) { got = std::move(x); },
                  caf::after(patience) >> [] {});
    REQUIRE(got);
    return std::move(*got);
  }

  /// True if no such message is there within that time.
  template <class Message>
  bool hears_nothing(millis within) {
    auto nothing = false;
    self->receive([](const Message&) {},
                  caf::after(within) >> [&] { nothing = true; });
    return nothing;
  }

  /// For what shows only in that nothing happens meanwhile.
  void let_pass(millis time) { std::this_thread::sleep_for(time); }

  /// The scoped actor under the handle of an actor of ours.
  template <class Handle>
  Handle playing() {
    return caf::actor_cast<Handle>(caf::actor_cast<caf::actor>(self.ptr()));
  }

  /// Waits until an actor has ended, and answers its exit reason.
  template <class Handle>
  caf::error wait_end(const Handle& whom) {
    caf::error reason;
    self->monitor(whom);
    self->receive([&](const caf::down_msg& x) { reason = x.reason; },
                  caf::after(patience) >> [] { FAIL("it has not ended"); });
    return reason;
  }

  /// Waits until an actor has ended, whatever for.
  template <class Handle>
  void wait_gone(const Handle& whom) {
    static_cast<void>(wait_end(whom));
  }

private:
  template <class Reply, class Pending>
  answer<Reply> receive_one(Pending pending) {
    answer<Reply> out;
    std::move(pending).receive([&](Reply& x) { out.value = std::move(x); },
                               [&](const caf::error& why) {
                                 out.code = code_of(why);
                                 out.text = sentence(sys, why);
                               });
    return out;
  }
};

/// A writer and a reader without the rest of a runtime. Ends them.
struct store_fixture : system_fixture {
  explicit store_fixture(const std::function<void(writer_options&)>& change =
                           [](writer_options&) {})
    : options(store_options()) {
    change(options);
    writer = spawn_writer(sys, options);
    reader = spawn_reader(sys, options);
  }

  ~store_fixture() {
    caf::anon_send_exit(writer, caf::exit_reason::kill);
    caf::anon_send_exit(reader, caf::exit_reason::kill);
  }

  int64_t enqueue_one(std::string queue = "q", std::string payload = "x",
                      job_options how = {}) {
    return ask<int64_t>(
      writer, enqueue{std::move(queue), std::move(payload), std::move(how)});
  }

  std::vector<job> claim(int max = 1) {
    return ask<std::vector<job>>(writer, claim_jobs{"q", "w", max});
  }

  job look_at(int64_t id) { return ask<job>(reader, get_job{id}); }

  /// Stands on queue q as a consumer: the jobs come as `claimed`.
  void stand(int credit, int startable) {
    ask<completed>(writer, grant{playing<consumer_actor>(), "q", false, "me",
                                 credit, startable});
  }

  std::vector<errc>
  settle_all(const std::vector<job>& jobs,
             settlement::action how = settlement::action::ack) {
    settle message{playing<consumer_actor>(), {}};
    for (auto& x : jobs)
      message.claims.push_back({x.claim, how, "no", {}, {}, {}});
    return ask<settled>(writer, std::move(message)).results;
  }

  writer_options options;
  writer_actor writer;
  reader_actor reader;
};

} // namespace alkstore::test

template <>
struct Catch::StringMaker<alkstore::errc> {
  static std::string convert(alkstore::errc x) {
    return x == alkstore::errc{} ? "none" : to_string(x);
  }
};
