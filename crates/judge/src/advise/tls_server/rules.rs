//! The rules that reject, each with its source.

use schemars::JsonSchema;
use serde::Serialize;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    /// Name.
    pub id: &'static str,
    /// What it says.
    pub says: &'static str,
    /// Standard and section, or who else.
    pub source: &'static str,
    /// Its address.
    pub url: &'static str,
}

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        id: "client-refused",
        says: "a client that must be served has no version, suite, group or certificate in common with the server",
        source: "RFC 8446 4.1.1; RFC 5246 7.4.1.3",
        url: "https://www.rfc-editor.org/rfc/rfc8446#section-4.1.1",
    },
    Rule {
        id: "no-forward-secrecy",
        says: "a client would encrypt its secret with the server's RSA key: who gets the key later reads everything",
        source: "RFC 9325 4.1",
        url: "https://www.rfc-editor.org/rfc/rfc9325#section-4.1",
    },
    Rule {
        id: "wider-than-needed",
        says: "a narrower profile serves all of these clients: what nobody needs is attacked only",
        source: "Mozilla, Server Side TLS",
        url: "https://wiki.mozilla.org/Security/Server_Side_TLS",
    },
    Rule {
        id: "not-offered",
        says: "the stack does not do what a client would negotiate",
        source: "measured here",
        url: "",
    },
    Rule {
        id: "not-measured",
        says: "there is no price for what a client would negotiate",
        source: "the run that is asked",
        url: "",
    },
    Rule {
        id: "not-modelled",
        says: "what a client would negotiate is none of the handshakes that can be measured",
        source: "measured here",
        url: "",
    },
    Rule {
        id: "dearer",
        says: "it costs the server more CPU for each connection",
        source: "measured here",
        url: "",
    },
];
