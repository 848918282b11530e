//! How adapters are tested: the same tests over every family's library, against the reference implementations and the
//! checks. What else there is to test of a family is in its own `tests`.

mod families;

pub(crate) use families::*;

use base::model::Algorithm;
use contract::Library;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Names of algorithms.
pub(crate) enum Names {
    /// All that is offered.
    All,
    /// With blanks between them.
    These(&'static str),
}

impl Names {
    fn have(&self, algorithm: &Algorithm) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.split_whitespace().any(|name| name == algorithm.name),
        }
    }
}

/// A family's library, and what is known of it. Versions are of the library that is tested.
pub(crate) struct Family {
    /// The variable that may name another file than the system's.
    pub(crate) variable: &'static str,
    /// The system's file.
    pub(crate) system: &'static str,
    /// The package that brings it; without one, tests are skipped where the file is not there.
    pub(crate) package: Option<&'static str>,
    /// Below `target/libs`: tested as well where it was built.
    pub(crate) bundled: Option<&'static str>,
    pub(crate) name: &'static str,
    /// What its version begins with.
    pub(crate) version: &'static str,
    /// What lines of its build facts begin with.
    pub(crate) facts: &'static [&'static str],
    /// What it has at least, and does not have; with blanks between the names.
    pub(crate) has: &'static str,
    pub(crate) has_not: &'static str,
    /// Whether the system's library of a version has an algorithm, where all of the offer is known.
    pub(crate) offers: Option<fn(name: &str, version: &str) -> bool>,
    /// What the checks find of an algorithm in a version, rightly.
    pub(crate) fault: fn(name: &str, finding: &str, version: &str) -> bool,
    /// Ciphers whose streams are compared with the reference update by update.
    pub(crate) streams: Names,
}

/// Of which nothing is known.
pub(crate) const UNKNOWN: Family = Family {
    variable: "",
    system: "",
    package: None,
    bundled: None,
    name: "",
    version: "",
    facts: &[],
    has: "",
    has_not: "",
    offers: None,
    fault: |_, _, _| false,
    streams: Names::All,
};

/// Libraries initialise themselves once per process, which is not something to do twice at a time.
static LOADING: Mutex<()> = Mutex::new(());

impl Family {
    /// The file that the variable names.
    pub(crate) fn named(&self) -> Option<PathBuf> {
        std::env::var_os(self.variable).map(PathBuf::from)
    }

    /// The file to test, else the system's.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let places = [&*multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"];
        let found = || places.iter().map(|p| Path::new(p).join(self.system)).find(|p| p.exists());
        let path = self.named().or_else(found);
        if let Some(package) = self.package {
            assert!(path.is_some(), "{package} ({}) is installed", self.system);
        }
        path
    }

    /// The library, where it is here.
    pub(crate) fn library(&self) -> Option<Box<dyn Library>> {
        self.libraries().into_iter().next()
    }

    /// The library, and the one that is built with us, as far as they are here.
    pub(crate) fn libraries(&self) -> Vec<Box<dyn Library>> {
        let libs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/libs");
        let ours = self.bundled.map(|file| libs.join(file));
        let ours = ours.filter(|path| self.named().is_none() && path.exists());
        let paths: Vec<PathBuf> = self.path().into_iter().chain(ours).collect();
        if paths.is_empty() {
            println!("skipped: {} is not here; {} can name one", self.system, self.variable);
        }
        let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        paths.iter().map(|path| crate::load(path, None).unwrap()).collect()
    }
}
