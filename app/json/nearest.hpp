// Hints for what was misspelt.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace alkstore {

/// Letters to change, add or leave out to make one of the other (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b);

/// `; the nearest one is "x"`, or nothing if none is near.
std::string did_you_mean(std::string_view wanted,
                         std::span<const std::string_view> known);

/// The text in quotes, clipped, without control characters.
std::string shown(std::string_view text);

} // namespace alkstore
