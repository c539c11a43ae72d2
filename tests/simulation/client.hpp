// The application in a simulated process: one that asks for everything.
#pragma once

#include "actors/actors.hpp"
#include "tests/simulation/oracle.hpp"

#include <set>
#include <string>
#include <vector>

namespace alkstore::sim {

class node;
class world;

/// Does one thing at random for each wake_up, and tells the oracle what it
/// asked for and what it was answered.
class client : public caf::event_based_actor {
public:
  client(caf::actor_config& cfg, world& outside, sim::node& home)
    : caf::event_based_actor(cfg), outside_(outside), home_(home) {}

  const char* name() const override { return "client"; }

protected:
  caf::behavior make_behavior() override;

private:
  using wish = oracle::wish;

  void find_store();
  bool is_dead() const;

  /// Sends a request and passes the answer on, unless the process has died.
  template <class Reply, class To, class Message, class Ok, class Error>
  void query(const To& to, Message message, Ok ok, Error error);
  template <class Reply, class To, class Message, class Ok>
  void query(const To& to, Message message, Ok ok);

  void act();
  void enqueue_one();
  void enqueue_some();
  void enqueue_to_outbox();
  void enqueue_in_transaction();
  void claim_some();
  void settle_one();
  void cancel_one();
  void handle_dead_letter();
  void edit_schedule();
  void use_lock();
  void look_around();

  template <class Message>
  void put(Message message, const std::string& queue);
  std::string new_payload();
  job_options some_options();
  int64_t some_job(bool dead);

  world& outside_;
  sim::node& home_;
  int64_t payloads_ = 0;
  std::vector<job> claimed_;
  std::vector<lease> locks_;
  /// One change of schedules at a time: two in one commit would look like one.
  bool editing_ = false;
};

} // namespace alkstore::sim
