//! Cases that are not measured on both sides.

use crate::compare::Case;
use record::{LibraryId, Measurement, State};
use serde::Serialize;

/// What became of a case that was refused or failed on one side at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Measured in the base, refused or failed now.
    Broken,
    /// Not offered in the base, refused or failed now.
    NewlyRefused,
    /// Refused or failed on both sides.
    StillRefused,
    /// Refused or failed in the base, measured now.
    Mended,
    /// Refused or failed in the base, not offered now.
    Withdrawn,
}

impl Change {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Broken => "measured in the base, refused or failed now",
            Self::NewlyRefused => "not offered in the base, refused or failed now",
            Self::StillRefused => "refused or failed on both sides",
            Self::Mended => "refused or failed in the base, measured now",
            Self::Withdrawn => "refused or failed in the base, not offered now",
        }
    }
}

/// A case that was refused or failed on one side at least.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateRow {
    /// The base's library.
    pub base_library: LibraryId,
    /// The new side's library.
    pub new_library: LibraryId,
    /// Which case.
    #[serde(flatten)]
    pub case: Case,
    /// What became of it.
    pub change: Change,
    /// The base's state.
    pub base_state: State,
    /// The new side's state.
    pub new_state: State,
    /// Why it was refused or failed: the new side's reason where it was, else the base's.
    pub reason: Option<String>,
}

/// On which side a case is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnlyIn {
    /// The base.
    Base,
    /// The new side.
    New,
}

/// A measured case without a counterpart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Only {
    /// On which side it is.
    pub only_in: OnlyIn,
    /// Its library.
    pub library: LibraryId,
    /// Which case.
    #[serde(flatten)]
    pub case: Case,
    /// Why the other side has none.
    pub reason: &'static str,
}

/// What the states of both sides make of a case.
pub(crate) enum Met {
    Compared,
    Changed(Change),
    Only(OnlyIn),
    /// Offered on neither side.
    Nothing,
}

pub(crate) fn meet(base: &Measurement, new: &Measurement) -> Met {
    use State::{Failed, Imported, Measured, Refused, Unsupported};
    let state = |m: &Measurement| match m.state {
        // A figure from elsewhere is one; that it cannot be judged is said of the case.
        Imported => Measured,
        // What there was no time for says nothing of the library.
        Failed if m.is_left_out() => Unsupported,
        state => state,
    };
    match (state(base), state(new)) {
        (Measured, Measured) => Met::Compared,
        (Measured, Refused | Failed) => Met::Changed(Change::Broken),
        (Unsupported, Refused | Failed) => Met::Changed(Change::NewlyRefused),
        (Refused | Failed, Refused | Failed) => Met::Changed(Change::StillRefused),
        (Refused | Failed, Measured) => Met::Changed(Change::Mended),
        (Refused | Failed, Unsupported) => Met::Changed(Change::Withdrawn),
        (Measured, Unsupported) => Met::Only(OnlyIn::Base),
        (Unsupported, Measured) => Met::Only(OnlyIn::New),
        (Unsupported, Unsupported) => Met::Nothing,
        (Imported, _) | (_, Imported) => unreachable!("taken for measured above"),
    }
}

pub(crate) fn row(change: Change, case: Case, base: &Measurement, new: &Measurement) -> StateRow {
    let refused = |m: &Measurement| matches!(m.state, State::Refused | State::Failed);
    let source = if refused(new) { new } else { base };
    StateRow {
        base_library: base.library.clone(),
        new_library: new.library.clone(),
        case,
        change,
        base_state: base.state,
        new_state: new.state,
        reason: source.reason.clone(),
    }
}
