#include "app/http_client.hpp"

#include "app/http_exchange.hpp"

#include <climits>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>

namespace alkstore {

namespace {

constexpr long kept_connections = 32;

using exchange_ptr = std::unique_ptr<http_exchange>;

} // namespace

class http_client::impl {
public:
  impl(private_targets policy, const clock& time)
    : policy_(policy), time_(time) {
    static const auto global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (global == CURLE_OK)
      multi_.reset(curl_multi_init());
    // Tried once, because without its descriptors libcurl would start all the
    // same, and sleep for ever.
    if (!multi_ || curl_multi_wakeup(multi_.get()) != CURLM_OK)
      throw std::runtime_error("libcurl could not be set up");
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kept_connections);
    thread_ = std::thread{[this] { run(); }};
  }

  ~impl() {
    {
      std::lock_guard guard{mutex_};
      stopping_ = true;
      curl_multi_wakeup(multi_.get());
    }
    thread_.join();
  }

  void post(http_request request, std::function<void(http_outcome)> done) {
    auto x = std::make_unique<http_exchange>(std::move(request),
                                             std::move(done), policy_, time_);
    std::lock_guard guard{mutex_};
    inbox_.push_back(std::move(x));
    curl_multi_wakeup(multi_.get());
  }

private:
  void run() {
    // The program's signals belong to other threads, and a write to a closed
    // connection must not raise SIGPIPE.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    while (!stopping()) {
      for (auto& x : take())
        start(std::move(x));
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      end_finished();
      // Fails if memory is short; then it must not spin.
      if (curl_multi_poll(multi_.get(), nullptr, 0, INT_MAX, nullptr)
          != CURLM_OK)
        std::this_thread::sleep_for(millis{100});
    }
    cancel();
    // Here, because closing connections writes to them.
    multi_.reset();
  }

  bool stopping() {
    std::lock_guard guard{mutex_};
    return stopping_;
  }

  std::vector<exchange_ptr> take() {
    std::lock_guard guard{mutex_};
    return std::exchange(inbox_, {});
  }

  void start(exchange_ptr x) {
    CURL* easy = nullptr;
    try {
      easy = x->prepare();
    } catch (const std::exception& error) {
      x->end(error.what());
      return;
    }
    if (auto code = curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK)
      x->end(curl_multi_strerror(code));
    else
      in_flight_.emplace(easy, std::move(x));
  }

  void end_finished() {
    int left = 0;
    while (auto* message = curl_multi_info_read(multi_.get(), &left)) {
      // The message dies with the handle's removal.
      auto* easy = message->easy_handle;
      auto result = message->data.result;
      curl_multi_remove_handle(multi_.get(), easy);
      in_flight_.extract(easy).mapped()->end(result);
    }
  }

  void cancel() {
    for (auto& [easy, x] : std::exchange(in_flight_, {})) {
      curl_multi_remove_handle(multi_.get(), easy);
      x->end("cancelled");
    }
    for (auto left = take(); !left.empty(); left = take())
      for (auto& x : left)
        x->end("cancelled");
  }

  private_targets policy_;
  const clock& time_;
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_{
    nullptr, curl_multi_cleanup};
  /// The thread's own.
  std::unordered_map<CURL*, exchange_ptr> in_flight_;

  std::mutex mutex_;
  std::vector<exchange_ptr> inbox_;
  bool stopping_ = false;
  std::thread thread_;
};

http_client::http_client(private_targets policy, const clock& time)
  : impl_(std::make_unique<impl>(policy, time)) {}

http_client::~http_client() = default;

void http_client::post(http_request request,
                       std::function<void(http_outcome)> done) {
  impl_->post(std::move(request), std::move(done));
}

} // namespace alkstore
