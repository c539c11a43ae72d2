#include "actors/errors.hpp"

#include <new>

namespace alkstore {

caf::error to_error(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const failure& why) {
    return make_error(why.code(), why.what());
  } catch (const std::bad_alloc&) {
    return make_error(errc::out_of_memory, "an allocation failed");
  } catch (const std::exception& why) {
    return make_error(errc::failed, why.what());
  } catch (...) {
    return make_error(errc::failed, "something that is no std::exception");
  }
}

errc code_of(const caf::error& why) {
  auto code = static_cast<errc>(why.code());
  return why == code ? code : errc{};
}

std::string sentence(const caf::actor_system& sys, const caf::error& why) {
  if (code_of(why) != errc{} && why.context().match_elements<std::string>())
    return why.context().get_as<std::string>(0);
  return port::text(sys, why);
}

} // namespace alkstore
