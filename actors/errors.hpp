// The one place where the substrate's failures become CAF's errors.
#pragma once

#include "actors/actors.hpp"

#include <exception>

namespace alkstore {

/// A code and its sentence.
inline caf::error make_error(errc code, std::string text) {
  return caf::make_error(code, std::move(text));
}

/// What was thrown: a failure keeps its code and sentence, a lack of memory is
/// out_of_memory, anything else is failed.
caf::error to_error(std::exception_ptr thrown);

/// The code of an error of ours; errc{} for a foreign one.
errc code_of(const caf::error& why);

/// The sentence of an error of ours, else CAF's own text.
std::string sentence(const caf::actor_system& sys, const caf::error& why);

} // namespace alkstore
