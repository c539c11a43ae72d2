// An order service, as an application of its own: its messages, its options,
// its actors. alkstore mails the confirmations and runs the reports.
#pragma once

#include "alkstore/actors/caf_port_config.hpp"
#include "alkstore/actors/runtime.hpp"

#include <functional>
#include <string>

namespace shop {

// Both CAFs are written in one way here. An application that stays with one of
// them writes that one's own forms.
namespace port = alkstore::port;

/// Takes an order: quantity > 0.
struct place_order {
  std::string item;
  int32_t quantity = 0;
};

/// Takes it back.
struct cancel_order {
  int64_t number = 0;
};

template <class Inspector>
auto inspect(Inspector& f, place_order& x) {
  return port::inspect(f, x, "place_order", x.item, x.quantity);
}

template <class Inspector>
auto inspect(Inspector& f, cancel_order& x) {
  return port::inspect(f, x, "cancel_order", x.number);
}

using shop_actor = port::typed<
  // The order's number.
  int64_t(place_order),
  // An error if there is no such order.
  alkstore::completed(cancel_order)>;

/// The application's own options, in caf-application.conf or on the command
/// line.
struct config : port::config {
  config();

  std::string database = "orders.db";
  std::string digest = "@every 1d"; ///< how often everything is summed up
};

/// Where the application's output goes, from any thread.
using output = std::function<void(const std::string&)>;

/// What the store is to do: mail confirmations, write reports.
alkstore::runtime_options store_setup(const config& options, output out);

/// The shop itself, on a connection of its own to the store's file. Throws
/// std::runtime_error if that cannot be opened.
shop_actor open(caf::actor_system& sys, const config& options,
                alkstore::runtime_actor store);

} // namespace shop

CAF_BEGIN_TYPE_ID_BLOCK(shop, first_custom_type_id)
  CAF_ADD_TYPE_ID(shop, (shop::place_order))
  CAF_ADD_TYPE_ID(shop, (shop::cancel_order))
CAF_END_TYPE_ID_BLOCK(shop)
