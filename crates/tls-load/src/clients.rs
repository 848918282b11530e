//! Classes of clients: what each offers. Facts of the client data of testssl.sh (`etc/client-simulation.txt`,
//! October 2024: first messages recorded on the wire), of uTLS (`u_parrots.go`, Chrome 133), and for OpenSSL of its
//! own documentation (SSL_CTX_set1_groups(3)). Suites that today's stacks no longer have are left out of lists
//! here and there: nothing can be negotiated with them.

use tls::Version;

/// A class of clients.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: &'static str,
    /// What it stands for.
    pub(crate) what: &'static str,
    pub(crate) versions: &'static [Version],
    /// Suites of TLS 1.2, the first the dearest to it.
    pub(crate) ciphers: &'static str,
    /// Suites of TLS 1.3.
    pub(crate) ciphersuites: &'static str,
    pub(crate) groups: &'static str,
    /// Groups that its first message has key shares of.
    pub(crate) key_shares: &'static str,
    /// Whether it takes Ed25519 in certificates.
    pub(crate) takes_ed25519: bool,
}

const BOTH: &[Version] = &[Version::Tls12, Version::Tls13];
const ONLY_12: &[Version] = &[Version::Tls12];

/// The classes, today's first.
pub(crate) const CLASSES: &[Class] = &[
    Class {
        name: "browser",
        what: "Chrome 133 and its kin",
        versions: BOTH,
        ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
            ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:\
            ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA",
        ciphersuites: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
        groups: "X25519MLKEM768:X25519:P-256:P-384",
        key_shares: "X25519MLKEM768:X25519",
        takes_ed25519: false,
    },
    Class {
        name: "firefox-100",
        what: "Firefox 100 (2022)",
        versions: BOTH,
        ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:\
            ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:\
            ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:\
            AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA",
        ciphersuites: "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384",
        groups: "X25519:P-256:P-384:P-521:ffdhe2048:ffdhe3072",
        key_shares: "X25519:P-256",
        takes_ed25519: false,
    },
    Class {
        name: "safari-15",
        what: "Safari 15.4 (2022)",
        versions: BOTH,
        ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:\
            ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305:\
            ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA:\
            AES256-GCM-SHA384:AES128-GCM-SHA256:AES256-SHA:AES128-SHA",
        ciphersuites: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
        groups: "X25519:P-256:P-384:P-521",
        key_shares: "X25519",
        takes_ed25519: false,
    },
    Class {
        name: "openssl-3.5",
        what: "programs with OpenSSL 3.5 or newer",
        versions: BOTH,
        ciphers: "DEFAULT",
        ciphersuites: "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
        groups: "X25519MLKEM768:X25519:P-256:X448:P-384:P-521:ffdhe2048:ffdhe3072",
        key_shares: "X25519MLKEM768:X25519",
        takes_ed25519: true,
    },
    Class {
        name: "openssl-3.0",
        what: "programs with OpenSSL 3.0 to 3.4",
        versions: BOTH,
        ciphers: "DEFAULT",
        ciphersuites: "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
        groups: "X25519:P-256:X448:P-521:P-384",
        key_shares: "X25519",
        takes_ed25519: true,
    },
    Class {
        name: "java-17",
        what: "OpenJDK 17",
        versions: BOTH,
        ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:\
            ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-GCM-SHA256:\
            DHE-RSA-AES256-GCM-SHA384:DHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:\
            ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA256:\
            ECDHE-RSA-AES128-SHA256:DHE-RSA-AES256-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:\
            ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES256-SHA:\
            DHE-RSA-AES128-SHA:AES256-GCM-SHA384:AES128-GCM-SHA256:AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA",
        ciphersuites: "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256",
        groups: "X25519:P-256:P-384:P-521:X448:ffdhe2048:ffdhe3072:ffdhe4096",
        key_shares: "X25519",
        takes_ed25519: true,
    },
    Class {
        name: "go-1.17",
        what: "programs in Go 1.17",
        versions: BOTH,
        ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
            ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:\
            ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:\
            AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA",
        ciphersuites: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
        groups: "X25519:P-256:P-384:P-521",
        key_shares: "X25519",
        takes_ed25519: true,
    },
    Class {
        name: "chrome-49",
        what: "Chrome 49 (2016)",
        versions: ONLY_12,
        ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:\
            ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:\
            ECDHE-RSA-AES128-SHA:AES128-GCM-SHA256:AES256-SHA:AES128-SHA",
        ciphersuites: "",
        groups: "P-256:P-384",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "firefox-45",
        what: "Firefox 45 (2016)",
        versions: ONLY_12,
        ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA:\
            ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES128-SHA:\
            DHE-RSA-AES256-SHA:AES128-SHA:AES256-SHA",
        ciphersuites: "",
        groups: "P-256:P-384:P-521",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "safari-9",
        what: "Safari 9 on iOS 9 (2015)",
        versions: ONLY_12,
        ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:\
            ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:\
            ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-SHA384:\
            ECDHE-RSA-AES128-SHA256:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA:AES256-GCM-SHA384:\
            AES128-GCM-SHA256:AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA",
        ciphersuites: "",
        groups: "P-256:P-384:P-521",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "ie-11-win7",
        what: "Internet Explorer 11 on Windows 7: with RSA certificates AEAD only together with DHE",
        versions: ONLY_12,
        ciphers: "ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA256:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA:\
            DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-GCM-SHA256:\
            AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA:ECDHE-ECDSA-AES256-GCM-SHA384:\
            ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA256:\
            ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA",
        ciphersuites: "",
        groups: "P-256:P-384",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "android-4.4",
        what: "Android 4.4.2 (2013): its dearest curve is P-521, then P-384",
        versions: ONLY_12,
        ciphers: "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-SHA:\
            ECDHE-ECDSA-AES256-SHA:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-SHA256:DHE-RSA-AES256-SHA:\
            AES256-GCM-SHA384:AES256-SHA256:AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256:\
            ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256:\
            ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-SHA256:\
            DHE-RSA-AES128-SHA:AES128-GCM-SHA256:AES128-SHA256:AES128-SHA",
        ciphersuites: "",
        groups: "P-521:P-384:P-256",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "java-8",
        what: "Java 8u161: suites with CBC and 256 bits before those with GCM",
        versions: ONLY_12,
        ciphers: "ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:AES256-SHA256:DHE-RSA-AES256-SHA256:\
            ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:AES256-SHA:DHE-RSA-AES256-SHA:\
            ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:AES128-SHA256:DHE-RSA-AES128-SHA256:\
            ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:AES128-SHA:DHE-RSA-AES128-SHA:\
            ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:\
            AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:AES128-GCM-SHA256:\
            DHE-RSA-AES128-GCM-SHA256",
        ciphersuites: "",
        groups: "P-256:P-384:P-521",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "openssl-1.0.1",
        what: "programs with OpenSSL 1.0.1, as many crawlers of its time",
        versions: ONLY_12,
        ciphers: "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-SHA384:\
            ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES256-SHA:DHE-RSA-AES256-GCM-SHA384:\
            DHE-RSA-AES256-SHA256:DHE-RSA-AES256-SHA:AES256-GCM-SHA384:AES256-SHA256:AES256-SHA:\
            ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA256:\
            ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:DHE-RSA-AES128-GCM-SHA256:\
            DHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA:AES128-GCM-SHA256:AES128-SHA256:AES128-SHA",
        ciphersuites: "",
        groups: "P-521:P-384:P-256",
        key_shares: "",
        takes_ed25519: false,
    },
    Class {
        name: "tls-1.0",
        what: "clients that know TLS 1.0 only: Java 7, OpenSSL 0.9.8; the server refuses them",
        versions: &[],
        ciphers: "",
        ciphersuites: "",
        groups: "",
        key_shares: "",
        takes_ed25519: false,
    },
];

impl Class {
    /// By its name.
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|c| c.name == name)
    }
}
