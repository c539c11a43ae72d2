// One POST on its way: what libcurl is given, and what came back.
#pragma once

#include "app/http_client.hpp"

#include <curl/curl.h>

#include <string_view>

namespace alkstore {

/// A part of http_client. Never moves: libcurl holds its address.
class http_exchange {
public:
  http_exchange(http_request request, std::function<void(http_outcome)> done,
                private_targets policy, const clock& time)
    : request_(std::move(request)),
      done_(std::move(done)),
      policy_(policy),
      time_(time) {}

  /// The handle, ready to be added to a multi handle. Throws std::exception if
  /// the request cannot be sent.
  CURL* prepare();

  /// Calls `done` with what libcurl's result means.
  void end(CURLcode result) const;

  /// Calls `done` with an error.
  void end(const std::string& error) const;

private:
  static size_t on_header(char* data, size_t, size_t size, void* self);
  static size_t on_body(char*, size_t, size_t size, void* self);
  static curl_socket_t on_socket(void* self, curlsocktype, curl_sockaddr* to);

  void add_header(const std::string& line);
  void header(std::string_view line);
  std::string error_text(CURLcode result) const;

  http_request request_;
  std::function<void(http_outcome)> done_;
  private_targets policy_;
  const clock& time_;

  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{
    nullptr, curl_slist_free_all};
  /// Destroyed before the header list and the body that it points to.
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_{nullptr,
                                                            curl_easy_cleanup};

  std::string target_;    ///< all of the URL that a text may show
  std::string blocked_;   ///< a private address that was not connected to
  bool opened_ = false;   ///< some address was connected to
  int status_ = 0;        ///< of the answer, once there is one
  bool answered_ = false; ///< the final header block is whole
  size_t body_read_ = 0;
  std::optional<millis> retry_after_;
};

} // namespace alkstore
