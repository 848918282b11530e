//! What of it is wanted: everything, unless somebody looks into a library that needs more.

/// `off`, or a list of what to leave out: `landlock,seccomp`.
const VARIABLE: &str = "CIPHERMARK_CONFINEMENT";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) limits: bool,
    pub(crate) capabilities: bool,
    pub(crate) landlock: bool,
    pub(crate) seccomp: bool,
}

impl Wanted {
    const ALL: Self = Self { limits: true, capabilities: true, landlock: true, seccomp: true };

    pub(crate) fn from_environment() -> Result<Self, String> {
        let value = std::env::var_os(VARIABLE).unwrap_or_default();
        Self::parse(&value.to_string_lossy())
    }

    fn parse(value: &str) -> Result<Self, String> {
        let mut wanted = Self::ALL;
        for word in value.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "on" => {}
                "off" => {
                    wanted = Self {
                        limits: false,
                        capabilities: false,
                        landlock: false,
                        seccomp: false,
                    };
                }
                "limits" => wanted.limits = false,
                "capabilities" => wanted.capabilities = false,
                "landlock" => wanted.landlock = false,
                "seccomp" => wanted.seccomp = false,
                _ => {
                    return Err(format!(
                        "{VARIABLE} is '{value}': it takes on, off, or a list of what to leave out: limits, capabilities, landlock, seccomp"
                    ));
                }
            }
        }
        Ok(wanted)
    }

    /// Who asked for less, if anybody did.
    pub(crate) fn switched_off(self) -> Option<String> {
        let parts = [
            (self.limits, "limits"),
            (self.capabilities, "capabilities"),
            (self.landlock, "landlock"),
            (self.seccomp, "seccomp"),
        ];
        let out: Vec<&str> = parts.iter().filter(|(on, _)| !on).map(|(_, name)| *name).collect();
        (!out.is_empty()).then(|| format!("{} left out by {VARIABLE}", out.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_wanted_unless_a_word_says_otherwise() {
        assert_eq!(Wanted::parse(""), Ok(Wanted::ALL));
        assert_eq!(Wanted::parse("on"), Ok(Wanted::ALL));
        assert_eq!(Wanted::ALL.switched_off(), None);
        let less = Wanted::parse("landlock, seccomp").unwrap();
        assert!(!less.landlock && !less.seccomp && less.limits && less.capabilities);
        assert!(less.switched_off().unwrap().starts_with("landlock, seccomp left out by"));
        assert!(!Wanted::parse("off").unwrap().limits);
    }

    #[test]
    fn an_unknown_word_is_quoted_and_not_taken_for_everything() {
        let why = Wanted::parse("none").unwrap_err();
        assert!(
            why.contains("CIPHERMARK_CONFINEMENT is 'none'") && why.contains("seccomp"),
            "{why}"
        );
    }
}
