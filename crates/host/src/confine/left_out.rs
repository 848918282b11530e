//! What is given up: everything, unless somebody looks into a library that needs more.

use strum::VariantArray as _;

/// `off`, or a list of what to leave out: `landlock,seccomp`.
const VARIABLE: &str = "CIPHERMARK_CONFINEMENT";

/// What can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Part {
    Limits,
    Capabilities,
    Landlock,
    Seccomp,
}

/// What is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut(Vec<Part>);

impl LeftOut {
    pub(crate) fn from_environment() -> Result<Self, String> {
        let value = std::env::var_os(VARIABLE).unwrap_or_default();
        Self::parse(&value.to_string_lossy())
    }

    fn parse(value: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        for word in value.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match (word, word.parse()) {
                ("on", _) => {}
                ("off", _) => parts.extend(Part::VARIANTS),
                (_, Ok(part)) => parts.push(part),
                (_, Err(_)) => {
                    return Err(format!(
                        "{VARIABLE} is '{value}': it takes on, off, or a list of what to leave out: limits, capabilities, landlock, seccomp"
                    ));
                }
            }
        }
        Ok(Self(parts))
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        self.0.contains(&part)
    }

    /// Who asked for less, if anybody did.
    pub(crate) fn reason(&self) -> Option<String> {
        let out = Part::VARIANTS.iter().filter(|part| self.has(**part));
        let names: Vec<&str> = out.map(Into::into).collect();
        (!names.is_empty()).then(|| format!("{} left out by {VARIABLE}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_given_up_unless_a_word_says_otherwise() {
        let left_out = |value| LeftOut::parse(value).unwrap();
        assert_eq!((left_out(""), left_out("on").reason()), (LeftOut::default(), None));
        let less = left_out("seccomp, landlock");
        assert!(less.has(Part::Landlock) && less.has(Part::Seccomp));
        assert!(!less.has(Part::Limits) && !less.has(Part::Capabilities));
        assert!(less.reason().unwrap().starts_with("landlock, seccomp left out by"));
        assert!(left_out("off").has(Part::Limits));
    }

    #[test]
    fn an_unknown_word_is_quoted_and_not_taken_for_everything() {
        let why = LeftOut::parse("none").unwrap_err();
        assert!(
            why.contains("CIPHERMARK_CONFINEMENT is 'none'") && why.contains("seccomp"),
            "{why}"
        );
    }
}
