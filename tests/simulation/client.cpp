#include "tests/simulation/client.hpp"

#include "actors/errors.hpp"
#include "substrate/jobs.hpp"
#include "tests/simulation/world.hpp"

namespace alkstore::sim {

using namespace std::chrono_literals;

namespace {

const std::string outbox_queue = "__alkstore_outbox:out";

bool is_unknown(const caf::actor_system& sys, const caf::error& why) {
  return why == caf::sec::request_timeout
         || sentence(sys, why).find("outcome unknown") != std::string::npos;
}

} // namespace

caf::behavior client::make_behavior() {
  set_down_handler([this](const caf::down_msg&) {
    home_.handles_ = {};
    find_store();
  });
  find_store();
  return {
    [this](wake_up) {
      if (is_dead())
        return;
      if (home_.handles_.store)
        act();
    },
    [this](get_store) { find_store(); },
  };
}

void client::find_store() {
  if (is_dead())
    return;
  port::ask(this, caf::infinite, home_.runtime_, get_store{})
    .then(
      [this](const store_handles& x) {
        if (is_dead())
          return;
        home_.handles_ = x;
        monitor(x.store);
      },
      [this](const caf::error&) {
        if (!is_dead())
          caf::delayed_anon_send(caf::actor{this}, 100ms, get_store{});
      });
}

bool client::is_dead() const {
  return outside_.files.is_dead(home_.process()) || !home_.runtime_;
}

template <class Reply, class To, class Message, class Ok, class Error>
void client::query(const To& to, Message message, Ok ok, Error error) {
  auto judged = [this](auto&& f) {
    if (!is_dead())
      outside_.judge(f);
  };
  port::ask(this, std::chrono::seconds{outside_.luck.between(2, 30)}, to,
            std::move(message))
    .then([=](Reply& x) { judged([&] { ok(x); }); },
          [=](const caf::error& why) { judged([&] { error(why); }); });
}

template <class Reply, class To, class Message, class Ok>
void client::query(const To& to, Message message, Ok ok) {
  query<Reply>(to, std::move(message), std::move(ok), [](const caf::error&) {});
}

void client::act() {
  auto n = outside_.luck.below(100);
  if (n < 30)
    enqueue_one();
  else if (n < 34)
    enqueue_some();
  else if (n < 42)
    enqueue_to_outbox();
  else if (n < 46)
    enqueue_in_transaction();
  else if (n < 58)
    claim_some();
  else if (n < 76)
    settle_one();
  else if (n < 80)
    cancel_one();
  else if (n < 85)
    handle_dead_letter();
  else if (n < 90)
    edit_schedule();
  else if (n < 96)
    use_lock();
  else
    look_around();
}

// -- putting in ---------------------------------------------------------------

std::string client::new_payload() {
  return "p" + std::to_string(home_.process()) + "-"
         + std::to_string(++payloads_);
}

job_options client::some_options() {
  auto& luck = outside_.luck;
  job_options out;
  out.priority = static_cast<int>(luck.between(-1, 1));
  out.visibility_timeout = millis{luck.spread(500, 20'000)};
  out.max_attempts = static_cast<int>(luck.between(1, 4));
  out.backoff_base = millis{luck.spread(10, 4000)};
  if (luck.one_in(4))
    out.delay = millis{luck.spread(1, 10'000)};
  if (luck.one_in(5))
    out.expires_in = millis{luck.spread(100, 30'000)};
  if (luck.one_in(4))
    out.dedupe_key = "k" + std::to_string(luck.below(4));
  return out;
}

template <class Message>
void client::put(Message message, const std::string& queue) {
  auto payload = message.payload;
  auto key = message.options.dedupe_key.value_or("");
  outside_.rules.asked_for(queue, payload);
  query<int64_t>(
    home_.handles_.store, std::move(message),
    [=, this](int64_t id) { outside_.rules.answered(queue, payload, key, id); },
    [=, this](const caf::error& why) {
      if (!is_unknown(system(), why))
        outside_.rules.refused(queue, payload);
    });
}

void client::enqueue_one() {
  static const std::vector<std::string> queues{"work", "work", "chain",
                                               "manual"};
  auto queue = outside_.luck.pick(queues);
  put(alkstore::enqueue{queue, new_payload(), some_options()}, queue);
}

void client::enqueue_to_outbox() {
  put(outbox_enqueue{"out", new_payload(), some_options()}, outbox_queue);
}

void client::enqueue_some() {
  enqueue_many message;
  std::vector<std::string> payloads;
  for (auto n = outside_.luck.between(1, 5); n > 0; --n) {
    payloads.push_back(new_payload());
    outside_.rules.asked_for("work", payloads.back());
    message.jobs.push_back({"work", payloads.back(), {}});
  }
  query<std::vector<int64_t>>(
    home_.handles_.store, std::move(message),
    [=, this](const std::vector<int64_t>& ids) {
      for (size_t i = 0; i < payloads.size(); ++i)
        outside_.rules.answered("work", payloads[i], {}, ids.at(i));
    },
    [=, this](const caf::error& why) {
      if (!is_unknown(system(), why))
        for (auto& x : payloads)
          outside_.rules.refused("work", x);
    });
}

void client::enqueue_in_transaction() {
  auto payload = new_payload();
  auto fails = outside_.luck.one_in(3);
  outside_.rules.asked_for("work", payload);
  auto work = [=](transaction& tx) {
    jobs::enqueue(tx, queue_name::plain("work"), payload);
    if (fails)
      throw std::runtime_error{"on second thoughts"};
  };
  query<completed>(
    home_.handles_.store, transact_request{work},
    [=](completed) {
      if (fails)
        throw violation{payload + ": a function that threw was committed"};
    },
    [=, this](const caf::error& why) {
      if (!is_unknown(system(), why))
        outside_.rules.refused("work", payload);
    });
}

// -- claims of its own --------------------------------------------------------

void client::claim_some() {
  auto queue = outside_.luck.one_in(3) ? "work" : "manual";
  auto worker = "sim:" + std::to_string(home_.process()) + ":client";
  auto max = static_cast<int>(outside_.luck.between(1, 3));
  query<std::vector<job>>(
    home_.handles_.store, claim_jobs{queue, worker, max},
    [this](std::vector<job>& got) {
      for (auto& x : got) {
        outside_.rules.claimed(x.id, x.claim.number, x.payload, x.attempts,
                               x.max_attempts);
        if (!outside_.luck.one_in(4)) // else it is left to its deadline
          claimed_.push_back(std::move(x));
      }
    });
}

void client::settle_one() {
  if (claimed_.empty())
    return;
  auto n = outside_.luck.below(claimed_.size());
  auto claim = claimed_[n].claim;
  auto settle_as = [&]<class Reply, class Message>(Message message, wish what,
                                                   Reply) {
    outside_.rules.asked(what, claim.job, claim.number);
    query<Reply>(home_.handles_.store, std::move(message),
                 [=, this](const Reply&) {
                   outside_.rules.done(what, claim.job, claim.number);
                 });
  };
  auto how = outside_.luck.below(8);
  if (how == 0)
    return settle_as(heartbeat{claim, millis{outside_.luck.spread(1, 9000)}},
                     wish::extend, claim_handle{});
  claimed_.erase(claimed_.begin() + static_cast<std::ptrdiff_t>(n));
  if (how == 1)
    settle_as(retry{claim, "once more", {}}, wish::retry, completed{});
  else if (how == 2)
    settle_as(fail{claim, "never"}, wish::fail, completed{});
  else if (how == 3)
    settle_as(release{claim}, wish::release, completed{});
  else
    settle_as(ack{claim}, wish::ack, completed{});
}

// -- everything else ----------------------------------------------------------

int64_t client::some_job(bool dead) {
  std::vector<int64_t> ids;
  for (auto& [id, x] : outside_.rules.state().jobs)
    if (x.dead == dead)
      ids.push_back(id);
  return ids.empty() ? 0 : outside_.luck.pick(ids);
}

void client::cancel_one() {
  auto id = some_job(false);
  outside_.rules.asked(wish::cancel, id);
  query<bool>(home_.handles_.store, cancel_job{id}, [=, this](bool done) {
    if (done)
      outside_.rules.done(wish::cancel, id);
  });
}

void client::handle_dead_letter() {
  auto id = some_job(true);
  if (outside_.luck.one_in(2)) {
    outside_.rules.asked(wish::requeue, id);
    query<bool>(home_.handles_.store, requeue_dead{id}, [](bool) {});
    return;
  }
  outside_.rules.asked(wish::remove, id);
  query<bool>(home_.handles_.store, delete_dead{id}, [=, this](bool done) {
    if (done)
      outside_.rules.done(wish::remove, id);
  });
}

void client::edit_schedule() {
  if (editing_)
    return;
  editing_ = true;
  static const std::vector<std::string> specs{"@every 1s", "@every 2s",
                                              "@every 7s", "@every 1m"};
  auto name = "s" + std::to_string(outside_.luck.below(4));
  auto to = home_.handles_.store;
  auto ask = [&](auto message) {
    // Without a time-out: until it is answered another must not follow.
    port::ask(this, caf::infinite, to, std::move(message))
      .then([this](bool) { editing_ = false; },
            [this](const caf::error&) { editing_ = false; });
  };
  switch (outside_.luck.below(5)) {
    case 0: return ask(remove_schedule{name});
    case 1: return ask(pause_schedule{name});
    case 2: return ask(resume_schedule{name});
    default:
      port::ask(this, caf::infinite, to,
                add_schedule{{name,
                              outside_.luck.pick(specs),
                              "work",
                              name,
                              {.expires_in = 20s, .max_attempts = 2}}})
        .then([this](const schedule&) { editing_ = false; },
              [this](const caf::error&) { editing_ = false; });
  }
}

void client::use_lock() {
  auto to = home_.handles_.store;
  if (locks_.empty() || outside_.luck.one_in(3)) {
    auto owner = "sim:" + std::to_string(home_.process()) + ":"
                 + std::to_string(outside_.luck.below(2));
    query<lease>(to,
                 acquire_lock{"l" + std::to_string(outside_.luck.below(2)),
                              owner, millis{outside_.luck.spread(100, 9000)}},
                 [this](const lease& x) {
                   if (x.token != 0)
                     locks_.push_back(x);
                 });
    return;
  }
  auto n = outside_.luck.below(locks_.size());
  auto held = locks_[n];
  if (outside_.luck.one_in(2)) {
    query<lease>(to, renew_lock{held}, [](const lease&) {});
    return;
  }
  locks_.erase(locks_.begin() + static_cast<std::ptrdiff_t>(n));
  query<bool>(to, release_lock{held}, [](bool) {});
}

void client::look_around() {
  auto to = home_.handles_.reader;
  auto id = some_job(outside_.luck.one_in(2));
  query<job>(to, get_job{id}, [id](const job& x) {
    if (x.id != id)
      throw violation{"asked for one job, got another"};
  });
  query<std::vector<jobs::queue_stats>>(
    to, get_stats{}, [](const std::vector<jobs::queue_stats>&) {});
}

} // namespace alkstore::sim
