#include "shop.hpp"

#include "alkstore/actors/errors.hpp"
#include "alkstore/substrate/outbox.hpp"

#include <sqlite3.h>

#include <memory>
#include <stdexcept>

namespace shop {

namespace {

// -- the application's own tables ---------------------------------------------

using connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

void run(sqlite3* db, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error{sqlite3_errmsg(db)};
}

connection open_database(const std::string& path) {
  sqlite3* db = nullptr;
  auto rc = sqlite3_open(path.c_str(), &db);
  connection out{db, sqlite3_close};
  if (rc != SQLITE_OK)
    throw std::runtime_error{path + ": " + sqlite3_errmsg(db)};
  sqlite3_busy_timeout(db, 5000);
  run(db,
      "CREATE TABLE IF NOT EXISTS orders(number INTEGER PRIMARY KEY,"
      " item TEXT NOT NULL, quantity INTEGER NOT NULL CHECK(quantity > 0))");
  return out;
}

std::string count_orders(sqlite3* db) {
  sqlite3_stmt* rows = nullptr;
  sqlite3_prepare_v2(db, "SELECT count(*) FROM orders", -1, &rows, nullptr);
  std::string out = sqlite3_step(rows) == SQLITE_ROW
                      ? std::to_string(sqlite3_column_int64(rows, 0))
                      : "no";
  sqlite3_finalize(rows);
  return out + " orders";
}

int64_t insert(sqlite3* db, const place_order& x) {
  sqlite3_stmt* row = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO orders(item, quantity) VALUES(?1, ?2)",
                     -1, &row, nullptr);
  sqlite3_bind_text(row, 1, x.item.c_str(), -1, SQLITE_STATIC);
  sqlite3_bind_int(row, 2, x.quantity);
  sqlite3_step(row);
  if (sqlite3_finalize(row) != SQLITE_OK)
    throw std::runtime_error{sqlite3_errmsg(db)};
  return sqlite3_last_insert_rowid(db);
}

// Order and confirmation are on disk together, or neither is.
int64_t insert_and_confirm(sqlite3* db, const place_order& x) {
  run(db, "BEGIN IMMEDIATE");
  try {
    auto number = insert(db, x);
    alkstore::outbox_enqueue_tx(db, "confirmations",
                                "order " + std::to_string(number) + ": "
                                  + std::to_string(x.quantity) + " " + x.item);
    run(db, "COMMIT");
    return number;
  } catch (...) {
    sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

// -- the shop -----------------------------------------------------------------

class shop_impl final : public shop_actor::base {
public:
  shop_impl(caf::actor_config& cfg, const std::string& database,
            alkstore::runtime_actor store)
    : shop_actor::base(cfg),
      db_(open_database(database)),
      store_(std::move(store)) {}

  void on_exit() override {
    db_.reset();
    store_ = nullptr;
  }

protected:
  behavior_type make_behavior() override {
    return {
      [this](const place_order& x) -> caf::result<int64_t> {
        try {
          return insert_and_confirm(db_.get(), x);
        } catch (...) {
          return alkstore::to_error(std::current_exception());
        }
      },
      [this](cancel_order x) { return cancel(x.number); },
    };
  }

private:
  // The same through the store's own connection.
  caf::result<alkstore::completed> cancel(int64_t number) {
    auto work = [number](alkstore::transaction& tx) {
      auto text = std::to_string(number);
      run(tx.handle(), "DELETE FROM orders WHERE number = " + text);
      if (sqlite3_changes(tx.handle()) == 0)
        throw std::runtime_error{"there is no order " + text};
      alkstore::outbox_enqueue_tx(tx.handle(), "confirmations",
                                  "order " + text + " is cancelled", {},
                                  tx.rules(), tx.time());
    };
    auto promise = make_response_promise<alkstore::completed>();
    auto fail = [promise](const caf::error& why) mutable {
      promise.deliver(why);
    };
    // The handles are asked for each time: after a fault they are new ones.
    port::ask(this, caf::infinite, store_, alkstore::get_store{})
      .then(
        [this, promise, fail, work](const alkstore::store_handles& x) mutable {
          port::ask(this, caf::infinite, x.store,
                    alkstore::transact_request{work})
            .then(
              [promise](alkstore::completed done) mutable {
                promise.deliver(done);
              },
              fail);
        },
        fail);
    return promise;
  }

  connection db_;
  alkstore::runtime_actor store_;
};

// -- what the store hands over ------------------------------------------------

// Delivers the messages of the outbox `confirmations`. It may see one twice,
// after a crash: a real one would hand `stable_id` to its mail server.
class mailer final : public alkstore::handler_actor::base {
public:
  mailer(caf::actor_config& cfg, output out)
    : alkstore::handler_actor::base(cfg), out_(std::move(out)) {}

protected:
  behavior_type make_behavior() override {
    return {
      [this](const alkstore::delivery& x) {
        out_("mail: " + x.what.payload);
        return alkstore::verdict::delivered();
      },
      [](const alkstore::claim_lapsed&) {},
    };
  }

private:
  output out_;
};

// Works off the queue `reports`, into which the schedules fire.
class reporter final : public alkstore::handler_actor::base {
public:
  reporter(caf::actor_config& cfg, const std::string& database, output out)
    : alkstore::handler_actor::base(cfg),
      db_(open_database(database)),
      out_(std::move(out)) {}

  void on_exit() override { db_.reset(); }

protected:
  behavior_type make_behavior() override {
    return {
      [this](const alkstore::delivery& x) {
        out_(x.what.schedule + ": " + count_orders(db_.get()));
        return alkstore::verdict::delivered();
      },
      [](const alkstore::claim_lapsed&) {},
    };
  }

private:
  connection db_;
  output out_;
};

} // namespace

config::config() {
  port::register_types<caf::id_block::shop, alkstore::errc>(*this);
  port::register_types<caf::id_block::alkstore, alkstore::errc>(*this);
  opt_group{custom_options_, "shop"}
    .add(database, "database", "path of the SQLite file")
    .add(digest, "digest", "how often there is a digest, as @every 1d");
}

alkstore::runtime_options store_setup(const config& options, output out) {
  alkstore::runtime_options setup;
  setup.store.path = options.database;
  setup.outboxes.push_back({"confirmations", [out](caf::actor_system& sys) {
                              return alkstore::handler_actor{
                                sys.spawn<mailer>(out)};
                            }});
  auto database = options.database;
  alkstore::queue_setup reports;
  reports.name = "reports";
  reports.handler = [out, database](caf::actor_system& sys) {
    return alkstore::handler_actor{sys.spawn<reporter>(database, out)};
  };
  setup.queues.push_back(std::move(reports));
  setup.schedules.push_back({"hourly", "@every 1h", "reports", "", {}});
  setup.schedules.push_back({"digest", options.digest, "reports", "", {}});
  return setup;
}

shop_actor open(caf::actor_system& sys, const config& options,
                alkstore::runtime_actor store) {
  return sys.spawn<shop_impl, caf::detached>(options.database,
                                             std::move(store));
}

} // namespace shop
