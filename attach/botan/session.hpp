// What every part of the adapter shares.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "../session.hpp"

#include <botan/build.h>
#include <botan/exceptn.h>

#include <string>

namespace adapter {

// What is opened: the request, and Botan's name for it.
struct Wanted {
  const cm_request &request;
  const std::string name;

  bool encrypts() const { return request.direction != CM_DECRYPT; }
};

// Each is given a name of its interface. They throw Lookup_Error where the build lacks it.
cm_session open_block(const Wanted &);
cm_session open_stream(const Wanted &);
cm_session open_rc4(const Wanted &);
cm_session open_mode(const Wanted &);
cm_session open_aead(const Wanted &);
cm_session open_gmac(const Wanted &); // GCM of nothing: Botan 2
#if defined(BOTAN_HAS_NIST_KEYWRAP)
cm_session open_key_wrap(const Wanted &);
cm_session open_key_wrap_padded(const Wanted &);
#endif
#if defined(BOTAN_HAS_SODIUM_API)
cm_session open_secretbox(const Wanted &);
#endif
cm_session open_hash(const Wanted &);
cm_session open_mac(const Wanted &);

} // namespace adapter
