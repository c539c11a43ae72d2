#include "app/json/json.hpp"

#include "app/json/base64.hpp"
#include "app/json/nearest.hpp"
#include "app/json/time_text.hpp"
#include "substrate/error.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace alkstore {

namespace {

using json = nlohmann::ordered_json;

// Nothing of the text: it may hold a payload.
[[noreturn]] void refuse(const std::string& why) {
  throw failure{errc::invalid_argument, why};
}

// -- writing ------------------------------------------------------------------

// The writer refuses what is no UTF-8.
bool is_text(const std::string& bytes) {
  try {
    [[maybe_unused]] auto written = json(bytes).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

void put(json& out, const field& what) {
  std::visit(
    [&](const auto& value) {
      using type = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<type, std::monostate>)
        out[what.key] = nullptr;
      else if constexpr (std::is_same_v<type, timestamp>)
        out[what.key] = utc_text(value);
      else if constexpr (std::is_same_v<type, millis>)
        out[what.key] = value.count();
      else if constexpr (!std::is_same_v<type, raw_bytes>)
        out[what.key] = value;
      else if (is_text(value.value))
        out[what.key] = value.value;
      else
        out[what.key + "_base64"] = to_base64(value.value);
    },
    what.value);
}

json object(const record& what) {
  auto out = json::object();
  for (auto& x : what)
    put(out, x);
  return out;
}

// Names that a worker gave itself may be no UTF-8, either.
std::string written(const json& what) {
  return what.dump(-1, ' ', false, json::error_handler_t::replace);
}

// -- reading ------------------------------------------------------------------

constexpr std::string_view option_keys[] = {
  "priority",        "delay_ms",     "run_at",
  "expires_in_ms",   "max_attempts", "visibility_timeout_ms",
  "backoff_base_ms", "dedupe_key"};

json parse_object(std::string_view text) {
  json out;
  try {
    out = json::parse(text);
  } catch (const json::parse_error& why) {
    refuse("no JSON, from byte " + std::to_string(why.byte) + " on");
  }
  if (!out.is_object())
    refuse("the JSON is no object");
  return out;
}

const std::string& text_of(const json& value, const std::string& key) {
  if (!value.is_string())
    refuse(key + ": must be a text");
  return value.get_ref<const std::string&>();
}

template <class T>
T integer_of(const json& value, const std::string& key) {
  if (!value.is_number_integer())
    refuse(key + ": must be an integer");
  auto fits = value.is_number_unsigned()
                ? std::in_range<T>(value.get<uint64_t>())
                : std::in_range<T>(value.get<int64_t>());
  if (!fits)
    refuse(key + ": is out of range");
  return value.get<T>();
}

void set_option(job_options& out, const std::string& key, const json& value) {
  auto span = [&] { return millis{integer_of<int64_t>(value, key)}; };
  if (key == "priority")
    out.priority = integer_of<int>(value, key);
  else if (key == "delay_ms")
    out.delay = span();
  else if (key == "run_at")
    out.run_at = parse_time(text_of(value, key));
  else if (key == "expires_in_ms")
    out.expires_in = span();
  else if (key == "max_attempts")
    out.max_attempts = integer_of<int>(value, key);
  else if (key == "visibility_timeout_ms")
    out.visibility_timeout = span();
  else if (key == "backoff_base_ms")
    out.backoff_base = span();
  else if (key == "dedupe_key")
    out.dedupe_key = text_of(value, key);
  else
    refuse("unknown key " + shown(key) + did_you_mean(key, option_keys));
}

} // namespace

std::string to_json(const record& what) {
  return written(object(what));
}

std::string to_json(const std::vector<record>& what) {
  std::string out = "[";
  for (auto& x : what)
    out += (out.size() > 1 ? ",\n " : "") + written(object(x));
  return out + "]";
}

job_options options_from_json(std::string_view text) {
  job_options out;
  auto object = parse_object(text); // items() does not keep it alive
  for (auto& [key, value] : object.items())
    set_option(out, key, value);
  return out;
}

json_message message_from_json(std::string_view line) {
  json_message out;
  int payloads = 0;
  auto object = parse_object(line);
  for (auto& [key, value] : object.items()) {
    if (key == "payload") {
      out.payload = text_of(value, key);
      ++payloads;
    } else if (key == "payload_base64") {
      auto bytes = from_base64(text_of(value, key));
      if (!bytes)
        refuse("payload_base64: is no base64");
      out.payload = std::move(*bytes);
      ++payloads;
    } else {
      set_option(out.options, key, value);
    }
  }
  if (payloads != 1)
    refuse("has to have either payload or payload_base64");
  return out;
}

} // namespace alkstore
