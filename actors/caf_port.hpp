// Everything that differs between CAF 0.17.6 and CAF 1.1, and nothing else.
// No other file tests a CAF version or names an API that only one of them has.
// When 0.17 is dropped: keep the PORT_CAF1 branches, delete the rest.
#pragma once

#include <caf/all.hpp>

#include <istream>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// CAF_VERSION will not do: 1.1.0 defines it as an octal literal.
#define PORT_CAF1 (CAF_MAJOR_VERSION >= 1)

namespace alkstore::port {

/// One clause of an interface, read as reply(message...).
template <class Signature>
struct clause;

template <class Out, class... In>
struct clause<Out(In...)> {
#if PORT_CAF1
  using type = caf::result<Out>(In...);
#else
  using type = typename caf::replies_to<In...>::template with<Out>;
#endif
};

/// A list of clauses that others can build on: clauses<receipt(put),
/// void(tick)> has the actor's handle as ::handle, and more clauses behind it
/// as ::with<>.
template <class... Signatures>
struct clauses {
  using handle = caf::typed_actor<typename clause<Signatures>::type...>;
  template <class... More>
  using with = clauses<Signatures..., More...>;
};

/// A typed actor handle: typed<receipt(put), void(tick)>.
template <class... Signatures>
using typed = typename clauses<Signatures...>::handle;

// -- messages -----------------------------------------------------------------

#if PORT_CAF1
/// An enumeration travels as its integer, as it does in 0.17 by itself.
template <class Inspector, class T>
auto field(Inspector& f, T& x) {
  if constexpr (std::is_enum_v<T>) {
    using integer = std::underlying_type_t<T>;
    auto get = [&x] { return static_cast<integer>(x); };
    auto set = [&x](integer value) { return x = T{value}, true; };
    return f.field("", get, set);
  } else {
    return f.field("", x);
  }
}
#else
/// An std::optional for CAF 0.17, which knows only its own.
template <class T>
struct optional_field {
  std::optional<T>& value;
};

template <class Inspector, class T>
auto inspect(Inspector& f, optional_field<T>& x) {
  bool there = x.value.has_value();
  T content = x.value.value_or(T{});
  auto load = [&]() -> caf::error {
    x.value = there ? std::optional<T>{content} : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("optional"), there, content,
           caf::meta::load_callback(load));
}

template <class T>
T& field(T& x) {
  return x;
}

template <class T>
optional_field<T> field(std::optional<T>& x) {
  return {x};
}
#endif

/// The body of a message's inspect(): its printed name, then its fields.
template <class Inspector, class T, class... Fs>
auto inspect(Inspector& f, [[maybe_unused]] T& x, const char* name,
             Fs&... fields) {
#if PORT_CAF1
  return f.object(x).pretty_name(name).fields(field(f, fields)...);
#else
  auto apply = [&](auto&&... xs) {
    return f(caf::meta::type_name(name), xs...);
  };
  return apply(field(fields)...);
#endif
}

// -- sending ------------------------------------------------------------------

/// Sends a message and forgets it.
template <class Self, class To, class... Parts>
void send(Self&& self, const To& to, Parts&&... parts) {
#if PORT_CAF1
  self->mail(std::forward<Parts>(parts)...).send(to);
#else
  self->send(to, std::forward<Parts>(parts)...);
#endif
}

/// Sends a message that has no sender, as from a thread that is no actor.
template <class To, class... Parts>
void send_anonymously(const To& to, Parts&&... parts) {
#if PORT_CAF1
  caf::anon_mail(std::forward<Parts>(parts)...).send(to);
#else
  caf::anon_send(to, std::forward<Parts>(parts)...);
#endif
}

/// Sends an actor's delayed messages to itself, which cannot be called off.
/// CAF 0.17's clock keeps a receiver alive until its message is due, and a
/// detached one that is kept so hangs the system's destructor for ever. So the
/// clock there gets a relay that knows the receiver by its address only.
class delayer {
public:
  template <class Self, class Message>
  void send(Self* self, caf::timespan after, Message x) {
#if PORT_CAF1
    self->mail(std::move(x)).delay(after).send(self);
#else
    if (!relay_)
      relay_ = self->system().template spawn<relay, caf::hidden>();
    caf::delayed_anon_send(relay_, after, self->address(),
                           caf::make_message(std::move(x)));
#endif
  }

private:
#if !PORT_CAF1
  // A class: 0.17 dereferences a null pointer to start a function without
  // arguments.
  class relay final : public caf::event_based_actor {
  public:
    using caf::event_based_actor::event_based_actor;

    caf::behavior make_behavior() override {
      return {[this](const caf::actor_addr& to, const caf::message& x) {
        if (auto there = caf::actor_cast<caf::strong_actor_ptr>(to))
          there->enqueue(nullptr, caf::make_message_id(), x, context());
      }};
    }
  };

  caf::actor relay_;
#endif
};

/// Sends a request. Finish with .then(), .await() or, blocking, .receive().
/// `within`: a time, or caf::infinite.
template <class Self, class Time, class To, class... Parts>
auto ask(Self&& self, const Time& within, const To& to, Parts&&... parts) {
#if PORT_CAF1
  return self->mail(std::forward<Parts>(parts)...).request(to, within);
#else
  return self->request(to, within, std::forward<Parts>(parts)...);
#endif
}

/// Sends a request that overtakes all normal messages in the mailbox.
template <class Self, class Time, class To, class... Parts>
auto ask_urgently(Self&& self, const Time& within, const To& to,
                  Parts&&... parts) {
#if PORT_CAF1
  return self->mail(std::forward<Parts>(parts)...).urgent().request(to, within);
#else
  return self->template request<caf::message_priority::high>(
    to, within, std::forward<Parts>(parts)...);
#endif
}

/// Sends an error message, which ends the receiver with that reason unless it
/// set an error handler. Typed handles refuse errors, and a typed sender may
/// not send to a dynamic handle: hence anonymously, and urgent.
template <class To>
void send_error(const To& to, caf::error why) {
  auto dynamic = caf::actor_cast<caf::actor>(to);
#if PORT_CAF1
  caf::anon_mail(std::move(why)).urgent().send(dynamic);
#else
  caf::anon_send<caf::message_priority::high>(dynamic, std::move(why));
#endif
}

/// Calls on_down(address, reason) in self's context when `whom` terminates.
/// 0.17 has one such callback per actor: pass an equal one every time.
template <class Self, class Whom, class F>
void watch(Self&& self, const Whom& whom, F on_down) {
#if PORT_CAF1
  self->monitor(whom, [on_down, who = whom.address()](const caf::error& why) {
    on_down(who, why);
  });
#else
  self->set_down_handler(
    [on_down](const caf::down_msg& x) { on_down(x.source, x.reason); });
  self->monitor(whom);
#endif
}

// -- intercepting a mailbox ---------------------------------------------------

#if PORT_CAF1
using enqueue_result = bool;
using enqueue_context = caf::scheduler;
#else
using enqueue_result = void;
using enqueue_context = caf::execution_unit;
#endif

/// The message inside `x` if it is exactly one T; nullptr otherwise.
template <class T>
const T* peek(const caf::mailbox_element& x) {
#if PORT_CAF1
  return x.payload.match_elements<T>() ? &x.payload.get_as<T>(0) : nullptr;
#else
  return x.content().match_elements<T>() ? &x.content().get_as<T>(0) : nullptr;
#endif
}

/// Answers a request with `why` in the place of its receiver, from any thread.
inline void bounce(const caf::mailbox_element& x, const caf::error& why,
                   enqueue_context* context) {
  if (!x.sender || !x.mid.is_request())
    return;
  auto id = x.mid.response_id();
#if PORT_CAF1
  x.sender->enqueue(
    caf::make_mailbox_element(nullptr, id, caf::make_message(why)), context);
#else
  x.sender->enqueue(nullptr, id, caf::make_message(why), context);
#endif
}

// -- text and start-up --------------------------------------------------------

/// The text of an error, for logs and standard error. A request's time-out
/// says what it means.
template <class Renderer> // an actor_system or its config
std::string text([[maybe_unused]] const Renderer& sys, const caf::error& err) {
#if PORT_CAF1
  auto out = to_string(err);
#else
  auto out = sys.render(err);
#endif
  if (err == caf::sec::request_timeout)
    out += ": outcome unknown";
  return out;
}

/// True if whoever was asked threw, or can never answer any more because it
/// lost the request, as 1.x tells.
inline bool receiver_failed(const caf::error& why) {
#if PORT_CAF1
  if (why == caf::sec::broken_promise)
    return true;
#endif
  return why == caf::sec::runtime_error;
}

#if !PORT_CAF1
/// The text of an error of ours: its code, then its sentence.
template <class Enum>
std::string render(uint8_t code, caf::atom_value, const caf::message& context) {
  std::string out = to_string(Enum{code});
  if (context.match_elements<std::string>())
    out += ": " + context.get_as<std::string>(0);
  return out;
}
#endif

/// To be called once, before the first actor_system_config is made.
template <class Block>
void init_messages() {
#if PORT_CAF1
  caf::init_global_meta_objects<Block>();
  caf::core::init_global_meta_objects();
#endif
}

/// Registers the messages of Block and the errors of Enum with a config.
template <class Block, class Enum>
void register_types([[maybe_unused]] caf::actor_system_config& cfg) {
#if !PORT_CAF1
  cfg.add_message_types<Block>();
  cfg.add_error_category(caf::error{Enum{1}}.category(), render<Enum>);
#endif
}

/// Gives a config its options from a file's text.
inline caf::error read_options(caf::actor_system_config& cfg,
                               std::istream& text) {
  return cfg.parse(std::vector<std::string>{}, text);
}

/// True after --help, which ends a program before it has begun.
inline bool help_was_printed(const caf::actor_system_config& cfg) {
#if PORT_CAF1
  return cfg.helptext_printed();
#else
  return cfg.cli_helptext_printed;
#endif
}

/// Calls f(reason) in some thread when `whom` has ended.
template <class Whom, class F>
void when_ended(const Whom& whom, F f) {
  caf::actor_cast<caf::actor>(whom)->attach_functor(std::move(f));
}

/// Uses the scheduler that sleeps when idle, unless the user chose one.
inline void prefer_sharing(caf::actor_system_config& cfg) {
#if PORT_CAF1
  if (!caf::get_if<std::string>(&cfg.content, "caf.scheduler.policy"))
    cfg.set("caf.scheduler.policy", "sharing");
#else
  if (!caf::get_if<caf::atom_value>(&cfg, "scheduler.policy"))
    cfg.set("scheduler.policy", caf::atom("sharing"));
#endif
}

} // namespace alkstore::port

/// Makes ns::Enum convertible to caf::error: an enum class over uint8_t with a
/// to_string() and with 0 left unused. Use outside any namespace. The enum's
/// name has ten characters at most: it is the error's category in 0.17.
#if PORT_CAF1
#  define PORT_ERROR_ENUM(ns, Enum)                                            \
    namespace ns {                                                             \
    template <class Inspector>                                                 \
    bool inspect(Inspector& f, Enum& x) {                                      \
      auto set = [&x](uint8_t code) { return x = Enum{code}, true; };          \
      return f.apply([&x] { return static_cast<uint8_t>(x); }, set);           \
    }                                                                          \
    }                                                                          \
    CAF_ERROR_CODE_ENUM(ns::Enum)
#else
#  define PORT_ERROR_ENUM(ns, Enum) CAF_ERROR_CODE_ENUM(ns::Enum, #Enum)
#endif
