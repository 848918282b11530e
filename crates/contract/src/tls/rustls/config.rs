//! Settings of both ends for one case: version, suite, groups, signatures, certificates, sessions.

use crate::tls::resumption;
use crate::tls::rustls::Provider;
use rustls::client::{Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{
    ClientConfig, NamedGroup, RootCertStore, ServerConfig, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion,
};
use std::fmt::Display;
use std::sync::Arc;

/// Sessions that a cache holds at most; both ends' are far from it.
const CACHED: usize = 32;

/// What is to be negotiated, and its bytes as safe values.
pub(crate) struct Wanted<'a> {
    pub(crate) of: &'a crate::tls::Wanted,
    pub(crate) name: &'a str,
    pub(crate) chain: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) root: &'a [u8],
}

/// Both ends' settings.
pub(crate) struct Configs {
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) name: ServerName<'static>,
}

/// What is not offered, in words.
pub(crate) type NotOffered = String;

fn words(e: impl Display) -> NotOffered {
    e.to_string()
}

impl Configs {
    pub(crate) fn new<P: Provider>(wanted: &Wanted<'_>) -> Result<Self, NotOffered> {
        let name = ServerName::try_from(wanted.name).map_err(words)?.to_owned();
        Ok(Self { client: client::<P>(wanted)?, server: server::<P>(wanted)?, name })
    }
}

fn client<P: Provider>(wanted: &Wanted<'_>) -> Result<Arc<ClientConfig>, NotOffered> {
    let guesses: &[u16] = &[wanted.of.guess, wanted.of.group];
    let groups = if wanted.of.guess == wanted.of.group { &guesses[1..] } else { guesses };
    let provider = narrowed(P::provider(), wanted, groups)?;
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version(wanted)?])
        .map_err(words)?
        .with_root_certificates(roots(wanted)?);
    let mut config = if wanted.of.client_auth != 0 {
        builder.with_client_auth_cert(chain(wanted)?, key(wanted)?).map_err(words)?
    } else {
        builder.with_no_client_auth()
    };
    let kept = Resumption::in_memory_sessions(CACHED);
    config.resumption = match wanted.of.resumption {
        resumption::NONE => Resumption::disabled(),
        resumption::ID => kept.tls12_resumption(Tls12Resumption::SessionIdOnly),
        _ => kept,
    };
    Ok(Arc::new(config))
}

/// A server with tickets that hold the session, as other stacks' do, in the place of rustls's own cache; but for
/// resumption by id, which needs one.
fn server<P: Provider>(wanted: &Wanted<'_>) -> Result<Arc<ServerConfig>, NotOffered> {
    let provider = Arc::new(narrowed(P::provider(), wanted, &[wanted.of.group])?);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[version(wanted)?])
        .map_err(words)?;
    let builder = if wanted.of.client_auth != 0 {
        let roots = Arc::new(roots(wanted)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
        builder.with_client_cert_verifier(verifier.map_err(words)?)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_single_cert(chain(wanted)?, key(wanted)?).map_err(words)?;
    if wanted.of.resumption == resumption::ID {
        config.session_storage = ServerSessionMemoryCache::new(CACHED);
    } else {
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer = P::ticketer().map_err(words)?;
    }
    Ok(Arc::new(config))
}

/// A provider with nothing left but what is to be negotiated.
fn narrowed(
    whole: CryptoProvider,
    wanted: &Wanted<'_>,
    groups: &[u16],
) -> Result<CryptoProvider, NotOffered> {
    let suites: Vec<SupportedCipherSuite> = whole
        .cipher_suites
        .iter()
        .copied()
        .filter(|suite| u16::from(suite.suite()) == wanted.of.suite)
        .collect();
    if suites.is_empty() {
        let suite = rustls::CipherSuite::from(wanted.of.suite);
        return Err(format!("the provider has no suite {suite:?}"));
    }
    let kx_groups = groups
        .iter()
        .map(|number| group(&whole, *number))
        .collect::<Result<Vec<_>, NotOffered>>()?;
    let schemes = signatures(&whole.signature_verification_algorithms, wanted.of.signature)?;
    Ok(CryptoProvider {
        cipher_suites: suites,
        kx_groups,
        signature_verification_algorithms: schemes,
        ..whole
    })
}

fn group(whole: &CryptoProvider, number: u16) -> Result<&'static dyn SupportedKxGroup, NotOffered> {
    let found = whole.kx_groups.iter().find(|group| u16::from(group.name()) == number);
    found.copied().ok_or_else(|| {
        let all = listed(whole.kx_groups.iter().map(|group| format!("{:?}", group.name())));
        match number {
            0 => format!("no key exchange but by the provider's groups: {all}"),
            _ => format!("{:?} is none of the provider's groups: {all}", NamedGroup::from(number)),
        }
    })
}

/// Handshakes are signed with one scheme; certificates may be signed with any.
fn signatures(
    whole: &WebPkiSupportedAlgorithms,
    number: u16,
) -> Result<WebPkiSupportedAlgorithms, NotOffered> {
    let scheme = SignatureScheme::from(number);
    let mapping: Vec<_> = whole.mapping.iter().copied().filter(|(s, _)| *s == scheme).collect();
    if mapping.is_empty() {
        let all = listed(whole.mapping.iter().map(|(scheme, _)| format!("{scheme:?}")));
        return Err(format!("{scheme:?} is none of the provider's signatures: {all}"));
    }
    // The type wants it for ever. It is a few dozen bytes for each case.
    Ok(WebPkiSupportedAlgorithms { all: whole.all, mapping: Box::leak(mapping.into_boxed_slice()) })
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn version(wanted: &Wanted<'_>) -> Result<&'static SupportedProtocolVersion, NotOffered> {
    let mut all = rustls::ALL_VERSIONS.iter();
    let found = all.find(|v| u16::from(v.version) == wanted.of.version);
    found.copied().ok_or_else(|| format!("no version {:#06x}", wanted.of.version))
}

fn roots(wanted: &Wanted<'_>) -> Result<RootCertStore, NotOffered> {
    let mut roots = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(wanted.root) {
        roots.add(root.map_err(words)?).map_err(words)?;
    }
    Ok(roots)
}

fn chain(wanted: &Wanted<'_>) -> Result<Vec<CertificateDer<'static>>, NotOffered> {
    CertificateDer::pem_slice_iter(wanted.chain).collect::<Result<_, _>>().map_err(words)
}

fn key(wanted: &Wanted<'_>) -> Result<PrivateKeyDer<'static>, NotOffered> {
    PrivateKeyDer::from_pem_slice(wanted.key).map_err(words)
}
