// The shop's tests: no sleeping, no real mail, and days that pass at once.

#include "alkstore/actors/errors.hpp"
#include "alkstore/testing.hpp"
#include "shop.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;
namespace port = shop::port;
namespace testing = alkstore::testing;

namespace {

void expect(bool fine, const std::string& what) {
  if (fine)
    return;
  std::cerr << "failed: " << what << '\n';
  std::exit(1);
}

std::string fresh_file() {
  std::string path = "orders-test.db";
  for (auto tail : {"", "-wal", "-shm"})
    std::remove((path + tail).c_str());
  return path;
}

// What a request to the shop came to: a number, or -1.
template <class Reply, class Message>
int64_t ask(caf::actor_system& sys, const shop::shop_actor& shop, Message x) {
  caf::scoped_actor self{sys};
  int64_t out = -1;
  port::ask(self, caf::infinite, shop, std::move(x))
    .receive(
      [&](const Reply& y) {
        if constexpr (std::is_same_v<Reply, int64_t>)
          out = y;
        else
          out = 0;
      },
      [](const caf::error&) {});
  return out;
}

struct shop_under_test {
  testing::test_driver driver;
  testing::fake_delivery mail, reports;
  shop::config options;
  caf::actor_system sys{options};
  alkstore::runtime_actor store;
  shop::shop_actor shop;

  shop_under_test() {
    options.database = fresh_file();
    auto setup = shop::store_setup(options, [](const std::string&) {});
    setup.outboxes[0].handler = mail.handler();
    setup.queues[0].handler = reports.handler();
    driver.prepare(setup);
    store = alkstore::start(sys, setup);
    driver.drive(sys, store);
    shop = shop::open(sys, options, store);
  }

  ~shop_under_test() {
    caf::anon_send_exit(shop, caf::exit_reason::user_shutdown);
    port::send_anonymously(store, alkstore::stop{});
  }
};

void an_order_is_confirmed_and_one_that_fails_is_not() {
  shop_under_test t;
  auto number = ask<int64_t>(t.sys, t.shop, shop::place_order{"teapots", 2});
  expect(number == 1, "the order is taken");
  expect(ask<int64_t>(t.sys, t.shop, shop::place_order{"none", 0}) == -1,
         "an order for nothing is refused");
  t.driver.run_until_idle();
  expect(t.mail.started() == 1, "one mail");
  expect(t.mail.next().what.payload == "order 1: 2 teapots", "its text");
}

void a_cancelled_order_is_mailed_and_an_unknown_one_is_not() {
  shop_under_test t;
  ask<int64_t>(t.sys, t.shop, shop::place_order{"kettle", 1});
  auto cancel = [&](int64_t number) {
    return ask<alkstore::completed>(t.sys, t.shop, shop::cancel_order{number});
  };
  expect(cancel(1) == 0, "cancelled");
  expect(cancel(1) == -1, "there is none any more");
  t.driver.run_until_idle();
  expect(t.mail.started() == 2, "two mails");
  t.mail.next();
  expect(t.mail.next().what.payload == "order 1 is cancelled", "the second");
}

void a_mail_that_fails_is_sent_again() {
  shop_under_test t;
  t.mail.then(alkstore::verdict::failed("mailbox full"));
  ask<int64_t>(t.sys, t.shop, shop::place_order{"cups", 6});
  auto waiting = t.driver.wait_for_job(1);
  expect(waiting && waiting->last_error == "mailbox full", "it waits");
  t.driver.advance(5s);
  expect(!t.driver.wait_for_job(1), "it was delivered");
  expect(t.mail.started() == 2, "at the second attempt");
}

void the_reports_are_due_by_the_clock() {
  shop_under_test t;
  t.driver.advance(1h);
  t.driver.run_until_idle();
  expect(t.reports.started() == 1, "one an hour");
  expect(t.reports.next().what.schedule == "hourly", "from the code");
  t.driver.advance(23h);
  t.driver.run_until_idle();
  expect(t.reports.started() == 25, "24 a day, and the config's digest");
}

} // namespace

int main() {
  port::init_messages<caf::id_block::shop>();
  port::init_messages<caf::id_block::alkstore>();
  an_order_is_confirmed_and_one_that_fails_is_not();
  a_cancelled_order_is_mailed_and_an_unknown_one_is_not();
  a_mail_that_fails_is_sent_again();
  the_reports_are_due_by_the_clock();
}
