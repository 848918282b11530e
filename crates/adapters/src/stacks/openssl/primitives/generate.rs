//! Making the key pair of one handshake.

use super::Library;
use super::agree::{agreed, is_known};
use super::keys::{Key, KeyKind, Maker, Of};
use crate::stacks::bench::Trouble;
use crate::stacks::primitive::{Made, POOL, Results, Span, Workbench};
use crate::stacks::reference::Agreement;
use record::tls::Scheme;

pub(super) fn open(library: &'static Library, scheme: Scheme) -> Made {
    let kind = KeyKind::new(library, scheme)?;
    let maker = kind.maker()?;
    let partner = Partner::of(scheme);
    let results = Results::new(kind.width());
    let made = [[const { None }; POOL], [const { None }; POOL]];
    Ok(Box::new(Generate { library, scheme, kind, maker, partner, made, results, last: [0; 2] }))
}

/// With whom a new key must be able to agree.
enum Partner {
    Agreement(Agreement),
    Kem(Scheme),
    None,
}

impl Partner {
    fn of(scheme: Scheme) -> Self {
        match (super::agree::agreement(scheme), super::encapsulate::kem(scheme)) {
            (Some(agreement), _) => Self::Agreement(agreement),
            (None, Some(kem)) => Self::Kem(kem),
            (None, None) => Self::None,
        }
    }
}

struct Generate {
    library: &'static Library,
    scheme: Scheme,
    kind: KeyKind,
    maker: Maker,
    partner: Partner,
    /// The last ones of each span, freed by those that take their places.
    made: [[Option<Key>; POOL]; 2],
    /// Their public keys' bytes.
    results: Results,
    /// The last turn of each span.
    last: [usize; 2],
}

impl Generate {
    #[inline]
    fn whole(&mut self, turn: usize) -> Result<(), Trouble> {
        let key = self.kind.maker()?.make(self.library)?;
        let (place, length) = self.results.of(Span::Whole, turn);
        *length = self.kind.encode(key.raw, place)?;
        self.made[Span::Whole as usize][turn % POOL] = Some(key);
        Ok(())
    }

    /// Public keys of those that the call alone has made.
    fn encode_made(&mut self) -> Result<(), Trouble> {
        for (turn, key) in self.made[Span::Call as usize].iter().enumerate() {
            let Some(key) = key else { continue };
            let (place, length) = self.results.of(Span::Call, turn);
            *length = self.kind.encode(key.raw, place)?;
        }
        Ok(())
    }

    /// A key must be able to do what it is for.
    fn works(&self, key: &Key, public: &[u8]) -> Result<(), String> {
        let trouble = |t: Trouble| t.to_string();
        let right = match &self.partner {
            Partner::Agreement(agreement) => {
                let other =
                    crate::stacks::reference::Partner::new(agreement).ok_or("no random numbers")?;
                let bytes = other.public().to_vec();
                let peer = self.kind.decode(key.raw, &bytes).map_err(trouble)?;
                let secret = agreed(self.library, key, &peer).map_err(trouble)?;
                is_known(agreement, other.agree(public).as_deref(), &secret)
            }
            Partner::Kem(kem) => {
                let (ciphertext, secret) = crate::stacks::reference::encapsulate(*kem, public)
                    .ok_or("a new public key is none")?;
                let found = super::encapsulate::received(self.library, key, &ciphertext);
                found.map_err(trouble)? == secret
            }
            Partner::None => false,
        };
        if right { Ok(()) } else { Err("a new key does not agree with the other side".to_owned()) }
    }
}

impl Workbench for Generate {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let times = times as usize;
        self.last[span as usize] = times.saturating_sub(1);
        match span {
            Span::Whole => (0..times).try_for_each(|turn| self.whole(turn)),
            Span::Call => {
                let made = &mut self.made[span as usize];
                for turn in 0..times {
                    made[turn % POOL] = Some(self.maker.make(self.library)?);
                }
                Ok(())
            }
        }
    }

    fn prove(&mut self) -> Result<(), String> {
        self.encode_made().map_err(|t| t.to_string())?;
        if !self.results.differ(|public| public) {
            return Err("two new keys are the same".to_owned());
        }
        for span in [Span::Whole, Span::Call] {
            let turn = self.last[span as usize];
            let Some(key) = &self.made[span as usize][turn % POOL] else { continue };
            // Of the call's, only as many as are still there have their bytes.
            let slot = if span == Span::Call { turn % POOL } else { turn };
            self.works(key, self.results.at(span, slot))?;
        }
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        let works = match self.kind.of {
            Of::Kem(..) => "a secret that RustCrypto encapsulates for it comes out",
            _ => "it agrees with another implementation's key",
        };
        vec![
            format!("of each batch no two {} keys are the same", self.scheme),
            format!("of one {works}"),
        ]
    }
}
