//! Names that other programs give to algorithms and operations, as ciphermark writes them, and words of a text that
//! may hold anything.

use base::model::Algorithm;
use base::text::clean;

/// The beginning of a text that may hold anything.
pub(crate) fn quoted(text: &str) -> String {
    clean(&text.chars().take(60).collect::<String>())
}

pub(crate) fn number(word: &str) -> Result<f64, String> {
    let number: Option<f64> = word.trim().parse().ok().filter(|n: &f64| n.is_finite());
    number.ok_or_else(|| format!("'{}' is no number", quoted(word)))
}

/// Of `openssl speed`: old versions say `aes-128 cbc`, and `id-aes128-GCM`. `aes-256-cbc-hmac-sha256` is no composite of ours.
pub(crate) fn algorithm_of_openssl(name: &str) -> String {
    let lower = quoted(name.trim()).to_lowercase();
    let joined = lower.split([' ', '_']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join("-");
    let cmac = joined.strip_prefix("cmac(").and_then(|rest| rest.strip_suffix("-cbc)"));
    match (cmac, joined.strip_prefix("id-aes")) {
        (Some(cipher), _) => format!("{cipher}-cmac"),
        (None, Some(rest)) if !rest.contains("wrap") => format!("aes-{rest}"),
        _ if joined == "blowfish" => "bf-cbc".to_owned(),
        _ if joined == "des-ede3" => "des-ede3-cbc".to_owned(),
        _ if joined.contains("-cbc-hmac-") => joined,
        _ => Algorithm::meant_by(&joined).map_or(joined, |a| a.name.to_owned()),
    }
}

/// The algorithm that a program means; what nobody knows keeps its name.
pub(crate) fn algorithm(theirs: &str) -> String {
    let text = theirs.trim();
    let short = ["AEAD-", "EVP-"].iter().find_map(|b| text.strip_prefix(b)).unwrap_or(text);
    let bare = short.split(['(', '[']).next().unwrap_or(short).trim();
    let bare = bare.trim_end_matches("/PKCS7");
    let turned = turned(bare);
    let fixed = FIXED.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(bare));
    let known = [short, bare, &turned].into_iter().find_map(Algorithm::meant_by);
    fixed
        .map(|(_, ours)| (*ours).to_owned())
        .or_else(|| known.map(|a| a.name.to_owned()))
        .unwrap_or_else(|| {
            quoted(short).to_lowercase().split_whitespace().collect::<Vec<_>>().join("-")
        })
}

/// `AES-GCM-256` as `AES-256-GCM`.
fn turned(name: &str) -> String {
    match name.split('-').collect::<Vec<_>>()[..] {
        [cipher, mode, bits] if bits.parse::<u16>().is_ok() => format!("{cipher}-{bits}-{mode}"),
        _ => name.to_owned(),
    }
}

/// Names that mean something else than they spell, or nothing that is spelt so here.
const FIXED: [(&str, &str); 6] = [
    ("CHA-POLY", "chacha20-poly1305"),
    ("CHACHA20/POLY1305", "chacha20-poly1305"),
    ("AES-SIV-512", "aes-256-siv"),
    ("SHA", "sha1"),
    ("SHA-3", "sha3-256"),
    ("3DES", "des-ede3-cbc"),
];

/// What is done, by the heading or the word of any of these programs.
pub(crate) fn operation(theirs: &str) -> Option<&'static str> {
    Some(match theirs.to_lowercase().trim_end_matches('.') {
        "sign" | "signs" | "signing" | "private" => "sign",
        "verify" | "verifies" | "verifs" | "public" | "verify (same key)" => "verify",
        "keygen" | "keygens" | "key gen" | "key generation" | "generate" => "generate",
        "encap" | "encaps" | "encapsulation" => "encapsulate",
        "decap" | "decaps" | "decapsulation" => "decapsulate",
        "op" | "ops" | "agree" | "key agreement" | "key exchange" | "ecdh" => "agree",
        "encr" | "encrypt" => "encrypt",
        "decr" | "decrypt" => "decrypt",
        _ => return None,
    })
}

/// What is done with keys of a scheme: in the words of `tls primitives`, else in the program's own.
pub(crate) fn step(theirs: &str, done: &str) -> String {
    match operation(done) {
        Some(operation) => scheme(theirs, operation),
        None => quoted(&format!("{theirs} {done}").to_lowercase()),
    }
}

/// `256 bits ecdsa (nistp256)` as `ecdsa-p256 sign`, `ML-KEM-768` as `mlkem768 encapsulate`: in the words of
/// `tls primitives`, where that has such.
pub(crate) fn scheme(theirs: &str, operation: &str) -> String {
    let lower = quoted(theirs).to_lowercase().replace(['(', ')', '[', ']', ','], " ");
    let words: Vec<&str> = lower.split_whitespace().filter(|w| *w != "bits").collect();
    let has = |word: &str| words.contains(&word);
    let squeezed = words.concat().replace(['-', '_'], "");
    let curve = |names: &[&str]| names.iter().any(|name| squeezed.contains(name));
    let prime = [
        ("p256", &["p256", "secp256r1"][..]),
        ("p384", &["p384", "secp384r1"]),
        ("p521", &["p521", "secp521r1"]),
    ];
    let prime = prime.into_iter().find(|(_, names)| curve(names)).map(|(name, _)| name);
    let bits =
        || words.iter().copied().find(|w| w.len() >= 3 && w.bytes().all(|b| b.is_ascii_digit()));
    let is_kem = ["encapsulate", "decapsulate"].contains(&operation) || squeezed.contains("mlkem");
    let kyber = squeezed.starts_with("mlkem") || squeezed.starts_with("mldsa");
    let name = if kyber {
        squeezed.chars().take_while(char::is_ascii_alphanumeric).collect()
    } else if is_kem {
        words.join("-")
    } else if let Some(known) =
        ["x25519", "x448", "ed25519", "ed448", "sm2"].iter().find(|k| curve(&[k]))
    {
        (*known).to_owned()
    } else if let Some(prime) = prime.filter(|_| !curve(&["brainpool"])) {
        let signs = ["sign", "verify"].contains(&operation);
        if signs { format!("ecdsa-{prime}") } else { prime.to_owned() }
    } else if has("ffdh") {
        format!("ffdhe{}", bits().unwrap_or_default())
    } else if let (Some(kind), Some(bits)) =
        (["rsa", "dsa", "dh"].into_iter().find(|k| has(k)), bits())
    {
        format!("{kind}-{bits}")
    } else {
        words.join("-")
    };
    format!("{name} {operation}")
}
