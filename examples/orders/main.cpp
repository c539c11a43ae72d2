// orders: takes `<quantity> <item>` or `cancel <number>`, a line each, from
// standard input, and stops at its end.
//
//   printf '%s\n' '2 teapots' '1 kettle' 'cancel 1' | orders

#include "alkstore/actors/errors.hpp"
#include "shop.hpp"

#include <iostream>
#include <mutex>
#include <sstream>

namespace {

namespace port = shop::port;

void say(const std::string& text) {
  static std::mutex mutex;
  std::lock_guard lock{mutex};
  std::cout << text << '\n' << std::flush;
}

void obey(caf::scoped_actor& self, const shop::shop_actor& shop,
          const std::string& line) {
  auto refused = [&](const caf::error& why) {
    say("refused: " + alkstore::sentence(self->system(), why));
  };
  std::istringstream words{line};
  if (shop::cancel_order cancel; line.compare(0, 7, "cancel ") == 0) {
    words.ignore(7) >> cancel.number;
    port::ask(self, caf::infinite, shop, cancel)
      .receive([](alkstore::completed) { say("cancelled"); }, refused);
    return;
  }
  shop::place_order order;
  words >> order.quantity >> order.item;
  port::ask(self, caf::infinite, shop, std::move(order))
    .receive([](int64_t number) { say("order " + std::to_string(number)); },
             refused);
}

void run(caf::actor_system& sys, const shop::config& options) {
  auto store = alkstore::start(sys, shop::store_setup(options, say));
  auto shop = shop::open(sys, options, store);
  caf::scoped_actor self{sys};
  for (std::string line; std::getline(std::cin, line);)
    obey(self, shop, line);
  caf::anon_send_exit(shop, caf::exit_reason::user_shutdown);
  // Deliveries in flight end, the lease is released, the file is closed.
  port::ask(self, caf::infinite, store, alkstore::stop{})
    .receive([](alkstore::completed) { say("stopped"); },
             [&](const caf::error& why) { say(alkstore::sentence(sys, why)); });
}

} // namespace

int main(int argc, char** argv) {
  port::init_messages<caf::id_block::shop>();
  port::init_messages<caf::id_block::alkstore>();
  shop::config options;
  if (auto why = options.read(argc, argv)) {
    std::cerr << port::text(options, why) << '\n';
    return 64;
  }
  if (port::help_was_printed(options))
    return 0;
  port::prefer_sharing(options);
  try {
    caf::actor_system sys{options};
    run(sys, options);
    return 0;
  } catch (const std::exception& why) {
    std::cerr << "orders: " << why.what() << '\n';
    return 1;
  }
}
