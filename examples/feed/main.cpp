// Puts each line of standard input into an outbox, as one message, byte for
// byte, and prints `<line> <job id>` once it is on disk. A node on the same
// file delivers.
//
//   alkstore-example-feed --database=app.db --outbox=hooks <events.jsonl

#include "alkstore/actors/errors.hpp"
#include "alkstore/actors/runtime.hpp"

#include <deque>
#include <iostream>
#include <string>

namespace port = alkstore::port; // what the two CAFs spell differently

namespace {

// More share a commit than wait for it.
constexpr size_t most_in_flight = 100;

struct config : caf::actor_system_config {
  config() {
    port::register_types<caf::id_block::alkstore, alkstore::errc>(*this);
    opt_group{custom_options_, "global"}
      .add(database, "database", "path of the SQLite file")
      .add(outbox, "outbox", "where the lines go")
      .add(visibility, "visibility-timeout", "of each message, like 30s");
  }

  std::string database = "alkstore.db";
  std::string outbox = "feed";
  caf::timespan visibility = std::chrono::minutes{1};
};

class feeder {
public:
  feeder(caf::scoped_actor& self, alkstore::store_actor store,
         const config& options)
    : self_(self), store_(std::move(store)), outbox_(options.outbox) {
    message_.visibility_timeout = std::chrono::duration_cast<alkstore::millis>(
      options.visibility);
  }

  // False if a line was refused.
  bool run(std::istream& in) {
    int64_t number = 0;
    for (std::string line; std::getline(in, line);) {
      if (waiting_.size() == most_in_flight)
        take_answer();
      send({++number, std::move(line)});
    }
    while (!waiting_.empty())
      take_answer();
    return fine_;
  }

private:
  struct numbered_line {
    int64_t number;
    std::string text;
  };

  auto ask(const numbered_line& x) {
    return port::ask(self_, caf::infinite, store_,
                     alkstore::outbox_enqueue{outbox_, x.text, message_});
  }

  void send(numbered_line x) {
    auto answer = ask(x);
    waiting_.push_back({std::move(x), answer});
  }

  void take_answer() {
    auto [line, answer] = std::move(waiting_.front());
    waiting_.pop_front();
    std::move(answer).receive(
      [&](int64_t id) {
        std::cout << line.number << ' ' << id << '\n' << std::flush;
      },
      [&](const caf::error& why) { refused(std::move(line), why); });
  }

  void refused(numbered_line x, const caf::error& why) {
    if (alkstore::code_of(why) == alkstore::errc::overloaded) {
      while (!waiting_.empty()) // makes room
        take_answer();
      return send(std::move(x));
    }
    std::cerr << "line " << x.number << ": "
              << alkstore::sentence(self_->system(), why) << '\n';
    fine_ = false;
  }

  caf::scoped_actor& self_;
  alkstore::store_actor store_;
  std::string outbox_;
  alkstore::job_options message_;

  using answer_handle = decltype(port::ask(
    std::declval<caf::scoped_actor&>(), caf::infinite,
    std::declval<alkstore::store_actor&>(), alkstore::outbox_enqueue{}));
  struct question {
    numbered_line line;
    answer_handle answer;
  };
  std::deque<question> waiting_; ///< oldest first
  bool fine_ = true;
};

bool feed(caf::actor_system& sys, const config& options) {
  alkstore::runtime_options setup;
  setup.store.path = options.database;
  auto runtime = alkstore::start(sys, std::move(setup));
  caf::scoped_actor self{sys};
  auto fine = false;
  port::ask(self, caf::infinite, runtime, alkstore::get_store{})
    .receive(
      [&](const alkstore::store_handles& x) {
        fine = feeder{self, x.store, options}.run(std::cin);
      },
      [&](const caf::error& why) {
        std::cerr << alkstore::sentence(sys, why) << '\n';
      });
  port::ask(self, caf::infinite, runtime, alkstore::stop{})
    .receive([](alkstore::completed) {},
             [&](const caf::error&) { fine = false; });
  return fine;
}

} // namespace

int main(int argc, char** argv) {
  port::init_messages<caf::id_block::alkstore>();
  config options;
  if (auto why = options.parse(argc, argv)) {
    std::cerr << port::text(options, why) << '\n';
    return 64;
  }
  if (port::help_was_printed(options))
    return 0;
  port::prefer_sharing(options);
  try {
    caf::actor_system sys{options};
    return feed(sys, options) ? 0 : 1;
  } catch (const alkstore::failure& why) {
    std::cerr << why.what() << '\n';
    return 1;
  }
}
