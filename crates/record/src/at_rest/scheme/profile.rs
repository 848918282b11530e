//! Named real systems: how they encrypt a page, with where that is written.

use crate::at_rest::scheme::catalogue::{good, name};
use crate::at_rest::scheme::position::Field;
use crate::at_rest::scheme::recipe::{KeyScope, MacPart, NonceRule, Recipe, Sum};

/// A real system's way.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Page sizes that it has, its default first; empty: any.
    pub page_sizes: &'static [usize],
    /// What differs here from the real system.
    pub differs: &'static str,
    /// Where its facts are written: document or file with section or function.
    pub source: &'static str,
    /// Its schemes.
    pub recipes: Vec<Recipe>,
}

/// Year and month in which all sources were read.
pub const SOURCES_READ: &str = "2026-11";

/// All real systems.
#[must_use]
pub fn profiles() -> Vec<Profile> {
    vec![edb(), pg_tde(), sqlcipher3(), sqlcipher4(), gocryptfs(), luks(), fscrypt()]
}

/// The one of that name.
#[must_use]
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
        differs: "catalogue relations, which pg_tde leaves in clear, are encrypted here as well",
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
        differs: "whole pages are encrypted, nonce and MAC lie beside them: the real one encrypts the page less its reserve, and of page 1 not the first 16 bytes; it draws random bytes for its whole reserve, here for the IV; one key serves all files, where the real one makes a key of each file's salt",
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
        differs: "data units of 4096 bytes, the default where the file system's blocks have as many; a file's key is made of the store's without a KDF; here a library encrypts, there the kernel",
        source: "Linux, Documentation/filesystems/fscrypt.rst at 01a0817, Supported modes, Contents encryption (default setting: a key for each file, the IV is the data unit's index in the file, little-endian; unit: the file system's block)",
        recipes: vec![xts("aes-256-xts", &[Field::Block64], KeyScope::File)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::position::{Position, write_fields};
    use crate::at_rest::scheme::recipe::check_lengths;

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
