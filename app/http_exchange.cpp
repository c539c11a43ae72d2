#include "app/http_exchange.hpp"

#include "app/retry_after.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <stdexcept>
#include <system_error>

namespace alkstore {

namespace {

constexpr size_t body_limit = 65'536;

template <class T>
void set(CURL* easy, CURLoption option, T value) {
  if (auto code = curl_easy_setopt(easy, option, value); code != CURLE_OK)
    throw std::runtime_error(std::string{"libcurl refused an option: "}
                             + curl_easy_strerror(code));
}

std::string address_text(const curl_sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  ::getnameinfo(&address.addr, address.addrlen, text, sizeof(text), nullptr, 0,
                NI_NUMERICHOST);
  return text;
}

bool is_valid_header(const std::string& name, const std::string& value) {
  constexpr std::string_view not_in_name{"\r\n\0\t :;", 7};
  constexpr std::string_view not_in_value{"\r\n\0", 3};
  return !name.empty() && name.find_first_of(not_in_name) == std::string::npos
         && value.find_first_of(not_in_value) == std::string::npos;
}

std::string header_line(const std::string& name, const std::string& value) {
  // libcurl would take "name:" as the wish to leave the header out.
  return name + (value.empty() ? ";" : ": " + value);
}

bool is_connection_end(CURLcode code) {
  return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR
         || code == CURLE_SEND_ERROR || code == CURLE_PARTIAL_FILE;
}

} // namespace

CURL* http_exchange::prepare() {
  if (auto why = refuse_target(request_.url, policy_); !why.empty())
    throw std::runtime_error(why);
  target_ = target_name(request_.url);
  if (request_.timeout <= millis{0})
    throw std::runtime_error(target_ + ": timeout before the request was sent");
  // No content type of libcurl's, and no wait for "100 Continue".
  add_header("Content-Type:");
  add_header("Expect:");
  for (auto& [name, value] : request_.headers) {
    if (!is_valid_header(name, value))
      throw std::runtime_error("a header's name or value is not valid");
    add_header(header_line(name, value));
  }
  easy_.reset(curl_easy_init());
  auto* easy = easy_.get();
  if (easy == nullptr)
    throw std::bad_alloc();
  set(easy, CURLOPT_URL, request_.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(easy, CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  // Else a resolver that hangs would be waited for after the deadline.
  set(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
  // One request a connection, so that giving one up disturbs no other.
  set(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(easy, CURLOPT_PROXY, "");
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_USERAGENT, "alkstore");
  set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  set(easy, CURLOPT_POST, 1L);
  set(easy, CURLOPT_POSTFIELDSIZE_LARGE,
      static_cast<curl_off_t>(request_.body.size()));
  set(easy, CURLOPT_POSTFIELDS, request_.body.data());
  set(easy, CURLOPT_HTTPHEADER, headers_.get());
  set(easy, CURLOPT_HEADERFUNCTION, &http_exchange::on_header);
  set(easy, CURLOPT_HEADERDATA, this);
  set(easy, CURLOPT_WRITEFUNCTION, &http_exchange::on_body);
  set(easy, CURLOPT_WRITEDATA, this);
  set(easy, CURLOPT_OPENSOCKETFUNCTION, &http_exchange::on_socket);
  set(easy, CURLOPT_OPENSOCKETDATA, this);
  return easy;
}

void http_exchange::end(CURLcode result) const {
  http_outcome outcome;
  // An answer whose body broke off is an answer, but one that outlasted the
  // deadline is not.
  if (answered_ && result != CURLE_OPERATION_TIMEDOUT) {
    outcome.status = status_;
    outcome.retry_after = retry_after_;
  } else {
    outcome.error = error_text(result);
  }
  outcome.remote_ended = is_connection_end(result);
  done_(std::move(outcome));
}

void http_exchange::end(const std::string& error) const {
  http_outcome outcome;
  outcome.error = error;
  done_(std::move(outcome));
}

size_t http_exchange::on_header(char* data, size_t, size_t size, void* self) {
  static_cast<http_exchange*>(self)->header({data, size});
  return size;
}

size_t http_exchange::on_body(char*, size_t, size_t size, void* self) {
  auto& read = static_cast<http_exchange*>(self)->body_read_;
  read += size;
  return read > body_limit ? 0 : size;
}

// Opens the socket itself: here the address is final, and libcurl would not
// keep the socket from this process's children.
curl_socket_t http_exchange::on_socket(void* self, curlsocktype,
                                       curl_sockaddr* to) {
  auto& x = *static_cast<http_exchange*>(self);
  if (x.policy_ == private_targets::refused && is_private(to->addr)) {
    x.blocked_ = address_text(*to);
    return CURL_SOCKET_BAD;
  }
  x.opened_ = true;
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

void http_exchange::add_header(const std::string& line) {
  auto* longer = curl_slist_append(headers_.get(), line.c_str());
  if (longer == nullptr)
    throw std::bad_alloc();
  if (!headers_)
    headers_.reset(longer);
}

void http_exchange::header(std::string_view line) {
  if (answered_)
    return; // the answer's trailers
  // An early block (1xx) is not the answer: the next one begins anew.
  if (line == "\r\n" || line == "\n") {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    answered_ = status >= 200;
    if (answered_)
      status_ = static_cast<int>(status);
    else
      retry_after_.reset();
    return;
  }
  constexpr std::string_view blank = " \t\r\n";
  constexpr std::string_view name = "retry-after:";
  if (std::equal(name.begin(), name.end(), line.begin(),
                 line.begin() + std::min(line.size(), name.size()),
                 [](unsigned char lower, unsigned char any) {
                   return lower == std::tolower(any);
                 })) {
    line.remove_prefix(
      std::min(line.find_first_not_of(blank, name.size()), line.size()));
    std::string value{line.substr(0, line.find_last_not_of(blank) + 1)};
    // No value is less than any.
    retry_after_ = std::max(retry_after_,
                            parse_retry_after(value, time_.wall_now()));
  }
}

// libcurl's own messages quote parts of the URL, so only its fixed texts are
// used.
std::string http_exchange::error_text(CURLcode result) const {
  if (!blocked_.empty() && !opened_)
    return "blocked target: " + target_ + " is at " + blocked_
           + ", which is not a public address";
  if (result == CURLE_OPERATION_TIMEDOUT)
    return target_ + ": timeout after "
           + std::to_string(request_.timeout.count()) + " ms";
  if (is_connection_end(result))
    return target_ + ": connection ended before the answer was whole";
  // The URL's scheme has been checked: the answer's protocol is meant.
  if (result == CURLE_UNSUPPORTED_PROTOCOL)
    return target_ + ": the answer is not HTTP/1";
  long os_error = 0;
  if (result == CURLE_COULDNT_CONNECT)
    curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os_error);
  auto text = target_ + ": " + curl_easy_strerror(result);
  if (os_error != 0)
    text += ": " + std::system_category().message(static_cast<int>(os_error));
  return text;
}

} // namespace alkstore
