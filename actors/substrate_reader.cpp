#include "actors/substrate_reader.hpp"

#include "actors/errors.hpp"
#include "substrate/dead_letters.hpp"

#include <memory>

namespace alkstore {

namespace {

class substrate_reader final : public reader_actor::base {
public:
  substrate_reader(caf::actor_config& cfg, const writer_options& options)
    : reader_actor::base(cfg),
      path_(options.path),
      open_(options.open),
      time_(*options.time) {
    open_.read_only = true;
  }

  const char* name() const override { return "substrate_reader"; }

  void on_exit() override { db_.reset(); }

protected:
  behavior_type make_behavior() override {
    return {
      [this](get_job x) {
        return read([&](transaction& tx) { return jobs::get(tx, x.id); });
      },
      [this](const list_jobs& x) {
        return read([&](transaction& tx) {
          return jobs::list(tx, queue_name::plain(x.queue), x.after, x.max);
        });
      },
      [this](const list_dead& x) {
        return read([&](transaction& tx) {
          auto queue = x.outbox ? queue_name::outbox(x.name)
                                : queue_name::plain(x.name);
          return dead_letters::list(tx, queue, x.after, x.max);
        });
      },
      [this](get_stats) {
        return read([](transaction& tx) { return jobs::stats(tx); });
      },
      [this](const get_schedule& x) {
        return read(
          [&](transaction& tx) { return schedules::get(tx, x.name); });
      },
      [this](list_schedules) {
        return read([](transaction& tx) { return schedules::list(tx); });
      },
      [this](list_locks) {
        return read([](transaction& tx) { return leases::list(tx); });
      },
      [this](get_outlook) {
        return read([](transaction& tx) {
          return outlook{leases::get(tx, leases::scheduler).value_or(lease{}),
                         schedules::soonest(tx), tx.now()};
        });
      },
    };
  }

private:
  template <class Work>
  auto read(Work work)
    -> caf::result<decltype(work(std::declval<transaction&>()))> {
    try {
      if (!db_)
        db_ = std::make_unique<connection>(path_, open_, time_);
      transaction tx{*db_, transaction::access::read};
      return work(tx);
    } catch (...) {
      auto why = to_error(std::current_exception());
      if (code_of(why) != errc::not_found)
        db_.reset();
      return why;
    }
  }

  std::string path_;
  open_options open_;
  const alkstore::clock& time_;
  std::unique_ptr<connection> db_;
};

} // namespace

reader_actor spawn_reader(caf::actor_system& sys, const writer_options& options,
                          placement where) {
  if (where == placement::pooled)
    return sys.spawn<substrate_reader>(options);
  return sys.spawn<substrate_reader, caf::detached>(options);
}

} // namespace alkstore
