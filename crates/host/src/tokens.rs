//! `$ORIGIN`, `$LIB` and `$PLATFORM` in what an object tells the dynamic loader (ld.so(8), "Dynamic string tokens").

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// What the system's loader takes `$LIB` and `$PLATFORM` for.
#[derive(Debug, Default)]
struct Words {
    lib: Option<String>,
    platform: Option<String>,
}

/// A text of an object in the directory `origin`, as the loader reads it.
///
/// # Errors
/// In words: it has a token whose value the loader here does not tell.
pub fn expanded(text: &str, origin: &Path) -> Result<String, String> {
    if !text.contains('$') {
        return Ok(text.to_owned());
    }
    with(text, |token| match token {
        "ORIGIN" => Some(origin.to_string_lossy().into_owned()),
        "LIB" => words().lib.clone(),
        _ => words().platform.clone(),
    })
}

/// What is no token stays as it is, dollar and all.
fn with(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        shown.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match token(rest) {
            Some((name, length)) => {
                let found = value(name);
                shown += &found.ok_or_else(|| {
                    format!("names ${name}, which the dynamic loader here does not explain")
                })?;
                rest = &rest[length..];
            }
            None => shown.push('$'),
        }
    }
    Ok(shown + rest)
}

/// The token that stands behind a dollar, and its length: `LIB` or `{LIB}`, not `LIBS`.
fn token(rest: &str) -> Option<(&'static str, usize)> {
    let (is_braced, inner) = rest.strip_prefix('{').map_or((false, rest), |inner| (true, inner));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    ["ORIGIN", "LIB", "PLATFORM"].into_iter().find_map(|name| {
        let after = inner.strip_prefix(name)?;
        let ends = if is_braced { after.starts_with('}') } else { !after.starts_with(is_of_name) };
        ends.then_some((name, name.len() + 2 * usize::from(is_braced)))
    })
}

/// Asked once, of the loader that has loaded this program: how it was built is nowhere else.
fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
        let is_loader =
            |path: &&str| path.rsplit('/').next().is_some_and(|name| name.starts_with("ld-linux"));
        let Some(loader) = files.find(is_loader) else { return Words::default() };
        // No threads, which would outlive a worker's confinement, and none of the user's variables.
        let done = Command::new(loader).arg("--list-diagnostics").env_clear().output();
        let done = done.ok().filter(|done| done.status.success());
        done.map_or_else(Words::default, |done| told(&String::from_utf8_lossy(&done.stdout)))
    })
}

/// Of `dl_dst_lib="lib/x86_64-linux-gnu"` and `dl_platform="x86_64"`, each on a line.
fn told(diagnostics: &str) -> Words {
    let of = |key: &str| {
        let quoted = diagnostics.lines().find_map(|line| line.strip_prefix(key))?;
        Some(quoted.strip_prefix("=\"")?.strip_suffix('"')?.to_owned())
    };
    Words { lib: of("dl_dst_lib"), platform: of("dl_platform") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_end_where_the_loader_ends_them_and_the_rest_stays() {
        let of = |text: &str| with(text, |token| Some(format!("<{token}>"))).unwrap();
        for (text, expanded) in [
            ("$ORIGIN/../$LIB/x-${PLATFORM}", "<ORIGIN>/../<LIB>/x-<PLATFORM>"),
            ("/a/${LIB}s/$LIB", "/a/<LIB>s/<LIB>"),
            ("/a/$LIBS:$ORIGIN_/${LIB", "/a/$LIBS:$ORIGIN_/${LIB"),
            ("$:$$LIB:${}:$HOME$", "$:$<LIB>:${}:$HOME$"),
        ] {
            assert_eq!(of(text), expanded);
        }
        let why = with("/a/$LIB", |_| None).unwrap_err();
        assert_eq!(why, "names $LIB, which the dynamic loader here does not explain");
    }

    #[test]
    fn what_the_loader_says_of_itself_is_read_and_what_it_does_not_say_is_none() {
        let words = told("dl_debug_mask=0x0\ndl_dst_lib=\"lib64\"\ndl_platform=0x0\n");
        assert_eq!((words.lib.as_deref(), words.platform), (Some("lib64"), None));
        assert_eq!(told("").lib, None);
    }
}
