//! The schemes as good practice has them: position bound wherever the scheme has room for it, nonces drawn at random and
//! stored. And named real systems: how they encrypt a page, with where that is written.

use crate::at_rest::scheme::{Field, KeyScope, MacPart, NonceRule, Recipe, Sum};
use base::model::{Algorithm, Mode, nearest};

/// File and block in 16 bytes: unequal for unequal pages of a store, as long as OIDs of tablespaces
/// differ in their low 24 bits.
pub(crate) const PLACE: [Field; 5] =
    [Field::Database32, Field::Relation32, Field::Block32, Field::Fork8, Field::Space24];

/// Ciphers, with the sums that are put beside them.
const SCHEMES: &[(&str, &[Option<Sum>])] = &[
    ("aes-128-ctr", &[None, Some(Sum::Xxh3), Some(Sum::HmacSha256)]),
    ("aes-256-ctr", &[None, Some(Sum::Xxh3), Some(Sum::HmacSha256)]),
    ("aes-256-cbc", &[Some(Sum::HmacSha1), Some(Sum::HmacSha256), Some(Sum::HmacSha512)]),
    ("aes-128-xts", &[None, Some(Sum::Xxh3), Some(Sum::Crc32c)]),
    ("aes-256-xts", &[None, Some(Sum::Xxh3), Some(Sum::Crc32c)]),
    ("aes-256-hctr2", &[None]),
    ("adiantum", &[None]),
    ("aes-128-gcm", &[None]),
    ("aes-256-gcm", &[None]),
    ("aes-128-gcm-siv", &[None]),
    ("aes-256-gcm-siv", &[None]),
    ("aes-128-ocb", &[None]),
    ("aes-256-ocb", &[None]),
    ("chacha20-poly1305", &[None]),
    ("xchacha20-poly1305", &[None]),
    ("aegis-128l", &[None]),
    ("aegis-128x2", &[None]),
    ("aegis-128x4", &[None]),
    ("aegis-256", &[None]),
    ("aegis-256x2", &[None]),
    ("aegis-256x4", &[None]),
];

/// All of them, `none` first.
pub fn good_practice() -> Vec<Recipe> {
    let rest = SCHEMES.iter().flat_map(|(cipher, sums)| sums.iter().map(|sum| good(cipher, *sum)));
    std::iter::once(none()).chain(rest).collect()
}

fn none() -> Recipe {
    Recipe {
        scheme: "none".to_owned(),
        cipher: None,
        sum: None,
        nonce: NonceRule::None,
        bound: Vec::new(),
        mac: Vec::new(),
        key: KeyScope::Store,
        zero_passes: false,
        zero_page_passes: false,
        reserve: 0,
        generator: None,
    }
}

pub(crate) fn name(cipher: &str, sum: Option<Sum>) -> String {
    sum.map_or_else(|| cipher.to_owned(), |sum| format!("{cipher}+{}", sum.name()))
}

pub(crate) fn good(cipher: &str, sum: Option<Sum>) -> Recipe {
    let algorithm = Algorithm::find(cipher).expect("a test holds the names");
    // NIST SP 800-38E: the tweak is the data unit's number, and need not be secret. Everything else is
    // drawn: a CBC IV has to be unpredictable (NIST SP 800-38A §5.3), and a place comes again with
    // every rewrite.
    let nonce = match algorithm.mode {
        Mode::Xts | Mode::Hctr2 | Mode::Adiantum => NonceRule::Place(PLACE.to_vec()),
        _ => NonceRule::Random,
    };
    let mac = match sum {
        // All but the ciphertext have lengths that never change, so that nothing can be moved from one
        // part to another.
        Some(sum) if sum.is_mac() => {
            vec![MacPart::Nonce, MacPart::Place(PLACE.to_vec()), MacPart::Ciphertext]
        }
        _ => Vec::new(),
    };
    let binds = algorithm.takes_aad() || sum.is_some_and(|s| !s.is_mac());
    Recipe {
        scheme: name(cipher, sum),
        cipher: Some(cipher.to_owned()),
        sum,
        nonce,
        bound: if binds { PLACE.to_vec() } else { Vec::new() },
        mac,
        ..none()
    }
}

/// The same with nonces made of the page's LSN and block, as was proposed for `PostgreSQL` (pgsql-hackers,
/// 25 July and 7 October 2019): 64 and 32 bits, then zeros, which a counter counts in. XTS has the place as
/// its tweak and CBC an IV that cannot be foreseen, as before.
pub fn with_lsn_nonces() -> Vec<Recipe> {
    let fields = vec![Field::Version64, Field::Block32];
    let of = |recipe: Recipe| {
        let unique = recipe.algorithm().is_some_and(|a| a.mode != Mode::Cbc);
        match recipe.nonce {
            NonceRule::Random if unique => {
                Recipe { nonce: NonceRule::Lsn(fields.clone()), ..recipe }
            }
            _ => recipe,
        }
    };
    good_practice().into_iter().map(of).collect()
}

/// One line for a glob that matches no scheme.
pub fn unknown_scheme(text: &str, known: &[Recipe]) -> String {
    let near = nearest(text, known.iter().map(|r| r.scheme.as_str()));
    let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
    let names: Vec<&str> = known.iter().map(|r| r.scheme.as_str()).collect();
    format!("no page scheme matches '{text}'{hint}; there are: {}", names.join(", "))
}

/// A real system's way.
#[derive(Clone, Debug)]
pub struct Profile {
    pub name: &'static str,
    pub title: &'static str,
    /// Page sizes that it has, its default first; empty: any.
    pub page_sizes: &'static [usize],
    /// What differs here from the real system.
    pub differs: &'static str,
    /// Where its facts are written: document or file with section or function.
    pub source: &'static str,
    pub recipes: Vec<Recipe>,
}

/// Year and month in which all sources were read.
pub const SOURCES_READ: &str = "2026-11";

pub fn profiles() -> Vec<Profile> {
    vec![edb(), pg_tde(), sqlcipher3(), sqlcipher4(), gocryptfs(), luks(), fscrypt()]
}

pub fn profile(name: &str) -> Option<Profile> {
    profiles().into_iter().find(|p| p.name == name)
}

fn xts(cipher: &str, tweak: &[Field], key: KeyScope) -> Recipe {
    Recipe { nonce: NonceRule::Place(tweak.to_vec()), key, ..good(cipher, None) }
}

fn edb() -> Profile {
    let tweak = [Field::Database32, Field::Relation32, Field::Block32];
    Profile {
        name: "edb",
        title: "EDB Transparent Data Encryption",
        page_sizes: &[8192],
        differs: "the order and width of the three numbers within the tweak are not published, nor whether the fork is in it; versions before 16 have 128 bits alone",
        source: "EDB Transparent Data Encryption, About TDE, How does TDE encrypt data? (AES-128-XTS or AES-256-XTS, the latter from version 16; tweak: database OID, relfilenode, block number), EnterpriseDB/docs product_docs/docs/tde/15/about/how.mdx at 24aef35",
        recipes: ["aes-128-xts", "aes-256-xts"]
            .map(|cipher| xts(cipher, &tweak, KeyScope::Store))
            .into(),
    }
}

fn pg_tde() -> Profile {
    // Byte 7 is the fork, bytes 12 to 15 are the block, big-endian.
    let mut iv = vec![Field::Zero; 7];
    iv.push(Field::ForkOfUse8);
    iv.extend([Field::Zero; 4]);
    iv.push(Field::Block32Be);
    let recipe = |cipher: &str| Recipe {
        scheme: name(cipher, None),
        nonce: NonceRule::MaskedPlace(iv.clone()),
        key: KeyScope::File,
        zero_passes: true,
        ..good(cipher, None)
    };
    Profile {
        name: "pg_tde",
        title: "Percona Transparent Data Encryption for PostgreSQL",
        page_sizes: &[8192],
        differs: "catalogue relations, which pg_tde leaves in clear, are encrypted here as well; a relation's key is set where the page before was another relation's, as since it keeps contexts: earlier versions make one for each page",
        source: "percona/pg_tde, src/smgr/pg_tde_smgr.c (CalcBlockIv, tde_mdwritev, tde_mdreadv); docs.percona.com/pg-tde, Encryption architecture",
        recipes: ["aes-128-cbc", "aes-256-cbc"].map(recipe).into(),
    }
}

fn sqlcipher(sum: Sum, reserve: usize) -> Recipe {
    Recipe {
        nonce: NonceRule::Random,
        mac: vec![MacPart::Ciphertext, MacPart::Nonce, MacPart::Place(vec![Field::PageNumber32])],
        reserve,
        ..good("aes-256-cbc", Some(sum))
    }
}

fn sqlcipher3() -> Profile {
    Profile {
        name: "sqlcipher3",
        title: "SQLCipher 3",
        page_sizes: &[1024, 2048, 4096, 8192, 16_384, 32_768],
        differs: "whole pages are encrypted, nonce and MAC lie beside them: the real one encrypts the page less its reserve, and of page 1 not the first 16 bytes; it draws random bytes for its whole reserve, here for the IV; it makes its contexts and sets both keys anew for each page, which the figures with a new key are nearer to; one key serves all files, where the real one makes a key of each file's salt",
        source: "sqlcipher/sqlcipher v3.4.1, src/crypto_impl.c: sqlcipher_page_hmac (ciphertext, IV, page number in little-endian), sqlcipher_page_cipher (a page of zeros whose MAC does not fit is read as zeros)",
        // 16 bytes of IV and 20 of HMAC, rounded up to whole cipher blocks.
        recipes: vec![Recipe { zero_page_passes: true, ..sqlcipher(Sum::HmacSha1, 48) }],
    }
}

fn sqlcipher4() -> Profile {
    Profile {
        name: "sqlcipher4",
        title: "SQLCipher 4",
        page_sizes: &[4096, 1024, 2048, 8192, 16_384, 32_768],
        differs: "as for version 3; with auto_vacuum on, the real one reads a page of zeros as zeros as well",
        source: "sqlcipher/sqlcipher v4.9.0, src/sqlcipher.c: sqlcipher_page_hmac, sqlcipher_page_cipher (zeros pass with auto_vacuum alone); SQLCipher Design, zetetic.net/sqlcipher/design, Security Design",
        recipes: vec![sqlcipher(Sum::HmacSha512, 80)],
    }
}

fn gocryptfs() -> Profile {
    Profile {
        name: "gocryptfs",
        title: "gocryptfs -xchacha",
        page_sizes: &[4096],
        differs: "its default, AES-256-GCM with nonces of 16 bytes, is left out: GCM is measured with 12 bytes; file IDs, random there, are made of database and relation",
        source: "gocryptfs, Documentation/file-format.md (blocks of 4096 bytes, random nonce, tag of 16 bytes; block number and file ID as associated data)",
        recipes: vec![Recipe {
            bound: vec![
                Field::Block64Be,
                Field::Database32,
                Field::Relation32,
                Field::Fork8,
                Field::Space24,
                Field::Zero,
                Field::Zero,
                Field::Zero,
                Field::Zero,
            ],
            ..good("xchacha20-poly1305", None)
        }],
    }
}

fn luks() -> Profile {
    Profile {
        name: "luks",
        title: "LUKS2 on dm-crypt, aes-xts-plain64",
        page_sizes: &[4096, 512],
        differs: "sectors are counted within each file, not over the device; here a library encrypts, there the kernel",
        source: "Linux, Documentation/admin-guide/device-mapper/dm-crypt.rst: plain64; IVs count sectors of 512 bytes unless iv_large_sectors is given",
        recipes: vec![xts("aes-256-xts", &[Field::Sector64], KeyScope::Store)],
    }
}

fn fscrypt() -> Profile {
    Profile {
        name: "fscrypt",
        title: "fscrypt, contents by AES-256-XTS",
        page_sizes: &[4096],
        differs: "data units of 4096 bytes, the default where the file system's blocks have as many; a file's key is made of the store's without a KDF, and set where the page before was another file's, within the clock; here a library encrypts, there the kernel, which keeps a key schedule for each file",
        source: "Linux, Documentation/filesystems/fscrypt.rst at 01a0817, Supported modes, Contents encryption (default setting: a key for each file, the IV is the data unit's index in the file, little-endian; unit: the file system's block)",
        recipes: vec![xts("aes-256-xts", &[Field::Block64], KeyScope::File)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::{Position, Protection, SchemeClass, check_lengths, write_fields};

    #[test]
    fn every_scheme_is_whole_and_named_once() {
        let all = good_practice();
        for recipe in &all {
            assert_eq!(all.iter().filter(|r| r.scheme == recipe.scheme).count(), 1);
            assert_eq!(recipe.cipher.is_some(), recipe.algorithm().is_some(), "{}", recipe.scheme);
            assert!(check_lengths(recipe), "{}", recipe.scheme);
            assert_eq!(
                recipe.sum.is_some_and(Sum::is_mac),
                recipe.mac.contains(&MacPart::Ciphertext),
                "{}",
                recipe.scheme
            );
        }
    }

    #[test]
    fn extra_bytes_are_what_is_stored() {
        let extra = |name: &str| {
            good_practice().iter().find(|r| r.scheme == name).map(Recipe::extra_bytes).unwrap()
        };
        assert_eq!(extra("none"), 0);
        assert_eq!(extra("aes-256-xts"), 0);
        assert_eq!(extra("aes-256-xts+crc32c"), 4);
        assert_eq!(extra("aes-256-ctr"), 16);
        assert_eq!(extra("aes-256-gcm"), 28);
        assert_eq!(extra("xchacha20-poly1305"), 40);
        assert_eq!(extra("aes-256-cbc+hmac-sha512"), 80);
        assert_eq!(extra("aegis-256"), 64);
    }

    #[test]
    fn a_nonce_that_stands_in_the_page_costs_no_room() {
        for recipe in with_lsn_nonces() {
            assert!(check_lengths(&recipe), "{}", recipe.scheme);
        }
        let extra = |name: &str| {
            with_lsn_nonces().iter().find(|r| r.scheme == name).map(Recipe::extra_bytes).unwrap()
        };
        assert_eq!((extra("aes-256-ctr"), extra("aes-256-gcm"), extra("aes-256-xts")), (0, 16, 0));
        assert_eq!((extra("aegis-256"), extra("aes-256-cbc+hmac-sha256")), (32, 48));
    }

    #[test]
    fn whatever_authenticates_binds_the_place() {
        for recipe in good_practice() {
            if recipe.class() == SchemeClass::Authenticated {
                assert_eq!(recipe.bound, PLACE, "{}", recipe.scheme);
            }
            if recipe.protection() == Protection::Accident {
                assert_eq!(recipe.bound, PLACE, "{}", recipe.scheme);
            }
        }
    }

    #[test]
    fn a_misspelt_scheme_gets_the_nearest_one() {
        let text = unknown_scheme("aes-256-xst", &good_practice());
        assert!(text.contains("did you mean 'aes-256-xts'?"), "{text}");
    }

    #[test]
    fn every_profile_is_found_by_its_name_and_is_whole() {
        for p in profiles() {
            assert_eq!(profile(p.name).unwrap().title, p.title);
            assert!(!p.recipes.is_empty() && p.recipes.iter().all(check_lengths), "{}", p.name);
            assert!(!p.source.is_empty() && !p.differs.is_empty());
        }
        assert!(profile("nobody").is_none());
    }

    #[test]
    fn pg_tde_puts_the_fork_into_byte_7_and_the_block_at_the_end() {
        let NonceRule::MaskedPlace(iv) = &pg_tde().recipes[0].nonce else { panic!("masked") };
        let mut out = [0; 16];
        let at = Position { fork: 2, block: 0x0102_0304, ..Position::default() };
        write_fields(iv, &at, 8192, &mut out);
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn sqlcipher_sets_aside_what_its_format_says() {
        assert_eq!(sqlcipher3().recipes[0].extra_bytes(), 48);
        assert_eq!(sqlcipher4().recipes[0].extra_bytes(), 80);
        assert_eq!(sqlcipher4().recipes[0].metadata_bytes(), 80);
        assert_eq!(gocryptfs().recipes[0].extra_bytes(), 40);
    }
}
