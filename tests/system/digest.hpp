// SHA-256 and HMAC-SHA256, straight from OpenSSL.
#pragma once

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string>
#include <string_view>

namespace alkstore::test {

inline const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// 32 bytes.
inline std::string sha256(std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), out, &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<char*>(out), size};
}

/// In base64.
inline std::string hmac_sha256(std::string_view key, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(text),
       text.size(), out, &size);
  unsigned char encoded[2 * EVP_MAX_MD_SIZE];
  EVP_EncodeBlock(encoded, out, static_cast<int>(size));
  return reinterpret_cast<char*>(encoded);
}

} // namespace alkstore::test
