//! The cipher suites that a server with a certificate of RSA or ECDSA can negotiate in TLS 1.2, in OpenSSL's
//! order, and cipher strings over them as OpenSSL reads them (its manual page ciphers(1)).
//!
//! The cipher suites that a server with a certificate of RSA or ECDSA can negotiate in TLS 1.2, in the order in
//! which OpenSSL 3.0 arranges them before it reads a cipher string: facts of `openssl ciphers -V
//! 'ALL:COMPLEMENTOFALL:@SECLEVEL=0'`.

/// Key exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kx {
    Ecdhe,
    Dhe,
    Rsa,
}

/// What the server signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Ecdsa,
    Rsa,
}

/// The cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enc {
    AesGcm,
    AesCcm,
    AesCcm8,
    AesCbc,
    Chacha20,
    AriaGcm,
    Camellia,
}

/// What authenticates records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mac {
    Aead,
    Sha1,
    Sha256,
    Sha384,
}

/// The version that a suite came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    Ssl3,
    Tls1,
    Tls12,
}

/// A suite of TLS 1.2.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Suite12 {
    pub(crate) name: &'static str,
    pub(crate) kx: Kx,
    pub(crate) auth: Auth,
    pub(crate) enc: Enc,
    pub(crate) mac: Mac,
    pub(crate) bits: u16,
    pub(crate) least: Least,
    /// Whether it belongs to `DEFAULT`.
    pub(crate) is_default: bool,
}

impl Suite12 {
    /// By its name in OpenSSL.
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        SUITES_12.iter().find(|s| s.name == name)
    }
}

#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn s(
    name: &'static str,
    kx: Kx,
    auth: Auth,
    enc: Enc,
    mac: Mac,
    bits: u16,
    least: Least,
    is_default: bool,
) -> Suite12 {
    Suite12 { name, kx, auth, enc, mac, bits, least, is_default }
}

/// The suites.
#[rustfmt::skip]
pub(crate) const SUITES_12: &[Suite12] = &[
    s("ECDHE-ECDSA-AES256-GCM-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-RSA-AES256-GCM-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("DHE-RSA-AES256-GCM-SHA384", Kx::Dhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-ECDSA-CHACHA20-POLY1305", Kx::Ecdhe, Auth::Ecdsa, Enc::Chacha20, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-RSA-CHACHA20-POLY1305", Kx::Ecdhe, Auth::Rsa, Enc::Chacha20, Mac::Aead, 256, Least::Tls12, true),
    s("DHE-RSA-CHACHA20-POLY1305", Kx::Dhe, Auth::Rsa, Enc::Chacha20, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-ECDSA-AES256-CCM8", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm8, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-AES256-CCM", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm, Mac::Aead, 256, Least::Tls12, false),
    s("DHE-RSA-AES256-CCM8", Kx::Dhe, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 256, Least::Tls12, false),
    s("DHE-RSA-AES256-CCM", Kx::Dhe, Auth::Rsa, Enc::AesCcm, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-ARIA256-GCM-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ARIA256-GCM-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("DHE-RSA-ARIA256-GCM-SHA384", Kx::Dhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-AES128-GCM-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("ECDHE-RSA-AES128-GCM-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("DHE-RSA-AES128-GCM-SHA256", Kx::Dhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("ECDHE-ECDSA-AES128-CCM8", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm8, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-AES128-CCM", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm, Mac::Aead, 128, Least::Tls12, false),
    s("DHE-RSA-AES128-CCM8", Kx::Dhe, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 128, Least::Tls12, false),
    s("DHE-RSA-AES128-CCM", Kx::Dhe, Auth::Rsa, Enc::AesCcm, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-ARIA128-GCM-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ARIA128-GCM-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("DHE-RSA-ARIA128-GCM-SHA256", Kx::Dhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-AES256-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha384, 256, Least::Tls12, true),
    s("ECDHE-RSA-AES256-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha384, 256, Least::Tls12, true),
    s("DHE-RSA-AES256-SHA256", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 256, Least::Tls12, true),
    s("ECDHE-ECDSA-CAMELLIA256-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::Camellia, Mac::Sha384, 256, Least::Tls12, false),
    s("ECDHE-RSA-CAMELLIA256-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::Camellia, Mac::Sha384, 256, Least::Tls12, false),
    s("DHE-RSA-CAMELLIA256-SHA256", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha256, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-AES128-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("ECDHE-RSA-AES128-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("DHE-RSA-AES128-SHA256", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("ECDHE-ECDSA-CAMELLIA128-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("ECDHE-RSA-CAMELLIA128-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("DHE-RSA-CAMELLIA128-SHA256", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-AES256-SHA", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha1, 256, Least::Tls1, true),
    s("ECDHE-RSA-AES256-SHA", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 256, Least::Tls1, true),
    s("DHE-RSA-AES256-SHA", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 256, Least::Ssl3, true),
    s("DHE-RSA-CAMELLIA256-SHA", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha1, 256, Least::Ssl3, false),
    s("ECDHE-ECDSA-AES128-SHA", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha1, 128, Least::Tls1, true),
    s("ECDHE-RSA-AES128-SHA", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 128, Least::Tls1, true),
    s("DHE-RSA-AES128-SHA", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 128, Least::Ssl3, true),
    s("DHE-RSA-CAMELLIA128-SHA", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha1, 128, Least::Ssl3, false),
    s("AES256-GCM-SHA384", Kx::Rsa, Auth::Rsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("AES256-CCM8", Kx::Rsa, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 256, Least::Tls12, false),
    s("AES256-CCM", Kx::Rsa, Auth::Rsa, Enc::AesCcm, Mac::Aead, 256, Least::Tls12, false),
    s("ARIA256-GCM-SHA384", Kx::Rsa, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("AES128-GCM-SHA256", Kx::Rsa, Auth::Rsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("AES128-CCM8", Kx::Rsa, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 128, Least::Tls12, false),
    s("AES128-CCM", Kx::Rsa, Auth::Rsa, Enc::AesCcm, Mac::Aead, 128, Least::Tls12, false),
    s("ARIA128-GCM-SHA256", Kx::Rsa, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("AES256-SHA256", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 256, Least::Tls12, true),
    s("CAMELLIA256-SHA256", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha256, 256, Least::Tls12, false),
    s("AES128-SHA256", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("CAMELLIA128-SHA256", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("AES256-SHA", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 256, Least::Ssl3, true),
    s("CAMELLIA256-SHA", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha1, 256, Least::Ssl3, false),
    s("AES128-SHA", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 128, Least::Ssl3, true),
    s("CAMELLIA128-SHA", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha1, 128, Least::Ssl3, false),
];

/// What a cipher string comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// Suites in order of preference.
    pub(crate) suites: Vec<&'static Suite12>,
    /// Words that name nothing that could be negotiated: suites that today's stacks no longer have (3DES, RC4),
    /// those without a certificate, and misspelt ones. OpenSSL passes over them as well.
    pub(crate) passed_over: Vec<String>,
}

/// Expands a cipher string.
pub(crate) fn expand(text: &str) -> Expanded {
    let mut list = List::new();
    let mut passed_over = Vec::new();
    let elements = text.split([':', ' ', ',', ';']).map(str::trim).filter(|e| !e.is_empty());
    for (at, element) in elements.enumerate() {
        if element == "DEFAULT" && at == 0 {
            list.apply(Operation::Add, &|s| s.is_default);
            continue;
        }
        let (element, level) = element.split_once('@').unwrap_or((element, ""));
        if !element.is_empty() && !one(&mut list, element) {
            passed_over.push(element.to_owned());
        }
        match level {
            "STRENGTH" => list.by_strength(),
            // The keys of the calibration are strong enough for each level that is in use.
            level if level.is_empty() || level.starts_with("SECLEVEL=") => {}
            other => passed_over.push(format!("@{other}")),
        }
    }
    Expanded { suites: list.active(), passed_over }
}

/// One element; whether it means anything.
fn one(list: &mut List, element: &str) -> bool {
    let (operation, rest) = match element.as_bytes()[0] {
        b'!' => (Operation::Kill, &element[1..]),
        b'-' => (Operation::Delete, &element[1..]),
        b'+' => (Operation::Last, &element[1..]),
        _ => (Operation::Add, element),
    };
    if let Some(suite) = Suite12::of(rest) {
        list.apply(operation, &|s| s == suite);
        return true;
    }
    let mut words = Vec::new();
    for word in rest.split('+') {
        let Some(means) = meaning(word) else { return is_absent(word) };
        words.push(means);
    }
    list.apply(operation, &|s| words.iter().all(|means| means(s)));
    true
}

/// Words for what is not in the table: nothing is left to add or to take away.
fn is_absent(word: &str) -> bool {
    const ABSENT: &str = "aNULL eNULL NULL ADH AECDH LOW MEDIUM EXPORT EXP DES 3DES RC4 RC2 IDEA SEED MD5 \
        PSK kPSK aPSK SRP kSRP aSRP DSS aDSS KRB5 GOST kGOST aGOST kRSAPSK kDHEPSK \
        kECDHEPSK COMPLEMENTOFALL aDH aECDH";
    ABSENT.split(' ').any(|absent| absent == word)
}

type Means = fn(&Suite12) -> bool;

fn meaning(word: &str) -> Option<Means> {
    Some(match word {
        "ALL" | "HIGH" => |_| true,
        "COMPLEMENTOFDEFAULT" => |s| !s.is_default,
        "kRSA" | "RSA" => |s| s.kx == Kx::Rsa,
        "kDHE" | "kEDH" | "DH" | "DHE" | "EDH" => |s| s.kx == Kx::Dhe,
        "kECDHE" | "kEECDH" | "ECDH" | "ECDHE" | "EECDH" => |s| s.kx == Kx::Ecdhe,
        "aRSA" => |s| s.auth == Auth::Rsa,
        "aECDSA" | "ECDSA" => |s| s.auth == Auth::Ecdsa,
        "AES" => is_aes,
        "AES128" => |s| is_aes(s) && s.bits == 128,
        "AES256" => |s| is_aes(s) && s.bits == 256,
        "AESGCM" => |s| s.enc == Enc::AesGcm,
        "AESCCM" => |s| matches!(s.enc, Enc::AesCcm | Enc::AesCcm8),
        "AESCCM8" => |s| s.enc == Enc::AesCcm8,
        "CHACHA20" => |s| s.enc == Enc::Chacha20,
        "ARIA" | "ARIAGCM" => |s| s.enc == Enc::AriaGcm,
        "ARIA128" => |s| s.enc == Enc::AriaGcm && s.bits == 128,
        "ARIA256" => |s| s.enc == Enc::AriaGcm && s.bits == 256,
        "CAMELLIA" => |s| s.enc == Enc::Camellia,
        "CAMELLIA128" => |s| s.enc == Enc::Camellia && s.bits == 128,
        "CAMELLIA256" => |s| s.enc == Enc::Camellia && s.bits == 256,
        "CBC" => |s| matches!(s.enc, Enc::AesCbc | Enc::Camellia),
        "SHA1" | "SHA" => |s| s.mac == Mac::Sha1,
        "SHA256" => |s| s.mac == Mac::Sha256,
        "SHA384" => |s| s.mac == Mac::Sha384,
        "TLSv1.2" => |s| s.least == Least::Tls12,
        "TLSv1" | "TLSv1.0" => |s| s.least == Least::Tls1,
        "SSLv3" => |s| s.least == Least::Ssl3,
        _ => return None,
    })
}

fn is_aes(suite: &Suite12) -> bool {
    matches!(suite.enc, Enc::AesGcm | Enc::AesCcm | Enc::AesCcm8 | Enc::AesCbc)
}

#[derive(Clone, Copy)]
enum Operation {
    Add,
    /// `+`: what is there already moves to the end.
    Last,
    /// `-`: it may come back, and then among the first.
    Delete,
    /// `!`: it never comes back.
    Kill,
}

/// All suites in the order that strings work on, with those that were added.
struct List(Vec<(&'static Suite12, bool)>);

impl List {
    fn new() -> Self {
        Self(SUITES_12.iter().map(|s| (s, false)).collect())
    }

    fn apply(&mut self, operation: Operation, matches: &dyn Fn(&Suite12) -> bool) {
        let (touched, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|(suite, is_active)| {
            let applies = match operation {
                Operation::Add => !is_active,
                Operation::Last | Operation::Delete => *is_active,
                Operation::Kill => true,
            };
            applies && matches(suite)
        });
        let marked = |active| touched.iter().map(move |(suite, _)| (*suite, active));
        self.0 = match operation {
            Operation::Add | Operation::Last => rest.into_iter().chain(marked(true)).collect(),
            Operation::Delete => marked(false).chain(rest).collect(),
            Operation::Kill => rest,
        };
    }

    fn by_strength(&mut self) {
        for bits in [256, 128] {
            self.apply(Operation::Last, &|s| s.bits == bits);
        }
    }

    fn active(self) -> Vec<&'static Suite12> {
        self.0.into_iter().filter(|(_, is_active)| *is_active).map(|(suite, _)| suite).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        let names: Vec<_> = expand(text).suites.iter().map(|s| s.name).collect();
        names.join(":")
    }

    /// What `openssl ciphers -tls1_2 STRING:@SECLEVEL=0` of OpenSSL 3.0.22 says, without the suites that need a
    /// shared key, SRP, a DSA certificate or none.
    #[rustfmt::skip]
    const SAID: &[(&str, &str)] = &[
        ("EECDH+AESGCM:EDH+AESGCM:AES256+EECDH:AES256+EDH", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:DHE-RSA-AES256-SHA256:DHE-RSA-AES256-SHA"),
        ("HIGH:!aNULL:!MD5", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:ECDHE-ECDSA-ARIA256-GCM-SHA384:ECDHE-ARIA256-GCM-SHA384:DHE-RSA-ARIA256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-CCM:DHE-RSA-AES128-CCM8:DHE-RSA-AES128-CCM:ECDHE-ECDSA-ARIA128-GCM-SHA256:ECDHE-ARIA128-GCM-SHA256:DHE-RSA-ARIA128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-CAMELLIA256-SHA384:ECDHE-RSA-CAMELLIA256-SHA384:DHE-RSA-CAMELLIA256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-CAMELLIA128-SHA256:ECDHE-RSA-CAMELLIA128-SHA256:DHE-RSA-CAMELLIA128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:DHE-RSA-CAMELLIA256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA:DHE-RSA-CAMELLIA128-SHA:AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:ARIA256-GCM-SHA384:AES128-GCM-SHA256:AES128-CCM8:AES128-CCM:ARIA128-GCM-SHA256:AES256-SHA256:CAMELLIA256-SHA256:AES128-SHA256:CAMELLIA128-SHA256:AES256-SHA:CAMELLIA256-SHA:AES128-SHA:CAMELLIA128-SHA"),
        ("ECDHE+AESGCM:-AES256:AES256:+ECDSA:@STRENGTH", "ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:AES256-SHA256:AES256-SHA:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("DEFAULT:!kRSA:+SHA1", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA"),
        ("kEDH+AESGCM:HIGH:-SHA384:!CAMELLIA:!ARIA:!AESCCM:!PSK:!SRP:!DSS:!aNULL", "DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA:AES256-GCM-SHA384:AES128-GCM-SHA256:AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA"),
        ("ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:AES:DES-CBC3-SHA:!DSS", "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-CCM:DHE-RSA-AES128-CCM8:DHE-RSA-AES128-CCM:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA:AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:AES128-GCM-SHA256:AES128-CCM8:AES128-CCM:AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA"),
        ("ALL:!TLSv1.2:+SSLv3", "ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES256-SHA:DHE-RSA-CAMELLIA256-SHA:DHE-RSA-AES128-SHA:DHE-RSA-CAMELLIA128-SHA:AES256-SHA:CAMELLIA256-SHA:AES128-SHA:CAMELLIA128-SHA"),
        ("TLSv1.2+kRSA:SHA256+ECDHE", "AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:ARIA256-GCM-SHA384:AES128-GCM-SHA256:AES128-CCM8:AES128-CCM:ARIA128-GCM-SHA256:AES256-SHA256:CAMELLIA256-SHA256:AES128-SHA256:CAMELLIA128-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-CAMELLIA128-SHA256:ECDHE-RSA-CAMELLIA128-SHA256"),
    ];

    #[test]
    fn strings_come_to_what_openssl_says() {
        for (text, said) in SAID {
            assert_eq!(names(text), *said, "{text}");
        }
    }

    #[test]
    fn what_is_killed_never_comes_back_and_what_is_deleted_may() {
        assert_eq!(names("!AES128-SHA:AES128-SHA"), "");
        assert_eq!(names("AES128-SHA:-AES128-SHA:AES128-SHA"), "AES128-SHA");
    }

    #[test]
    fn words_that_name_nothing_are_passed_over_and_told() {
        let found = expand("AES128-SHA:DES-CBC3-SHA:AES128-SHAA:!aNULL");
        assert_eq!(found.suites.len(), 1);
        assert_eq!(found.passed_over, ["DES-CBC3-SHA", "AES128-SHAA"]);
    }
}
