//! Families of algorithms: what differs in its key length or its lanes only.

/// The algorithm's name without key length, segments and lanes: `aes-gcm` of `aes-256-gcm`,
/// `aegis` of `aegis-128x4`, `aes-ctr+xxh3` of `aes-128-ctr+xxh3`. A name without them is its own
/// family.
#[must_use]
pub fn family(algorithm: &str) -> String {
    if algorithm.starts_with("aegis-") {
        return "aegis".to_owned();
    }
    let is_key_length = |word: &&str| matches!(*word, "128" | "192" | "256");
    let (cipher, check) = match algorithm.split_once('+') {
        Some((cipher, check)) => (cipher, Some(check)),
        None => (algorithm, None),
    };
    let words: Vec<&str> = cipher.split('-').filter(|word| !is_key_length(word)).collect();
    let cipher = words.join("-");
    check.map_or(cipher.clone(), |check| format!("{cipher}+{check}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_lengths_and_lanes_are_not_part_of_a_family() {
        for (algorithm, of) in [
            ("aes-256-gcm", "aes-gcm"),
            ("aes-128-gcm-siv", "aes-gcm-siv"),
            ("aegis-256x4", "aegis"),
            ("aes-128-xts+xxh3-onepass", "aes-xts+xxh3-onepass"),
            ("aes-256-cbc+hmac-sha256", "aes-cbc+hmac-sha256"),
            ("chacha20-poly1305", "chacha20-poly1305"),
            ("sha256", "sha256"),
        ] {
            assert_eq!(family(algorithm), of);
        }
    }
}
