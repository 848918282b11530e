//! What a library's code could do beside computing: told only where that is more than it should be.

use crate::labels;
use base::text::clean;
use record::{Confinement, Record};
use std::collections::BTreeMap;

/// One line for each way in which workers were less confined than they can be, with the libraries.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in &record.libraries {
        let Some(confinement) = &library.confinement else { continue };
        let name = labels::versioned(&library.name, &library.version);
        for text in less(confinement) {
            by_text.entry(text).or_default().push(name.clone());
        }
    }
    let line = |(text, names): (String, Vec<String>)| {
        let who = match &names[..] {
            [name] => format!("the workers of {name}"),
            all if all.len() == record.libraries.len() => "workers".to_owned(),
            all => format!("the workers of {} libraries", all.len()),
        };
        format!("{who} were not confined in all: {text}")
    };
    by_text.into_iter().map(line).collect()
}

fn less(confinement: &Confinement) -> Vec<String> {
    let missing =
        confinement.missing.iter().map(|r| format!("{}: {}", clean(&r.name), clean(&r.detail)));
    confinement.switched_off.iter().map(|why| clean(why)).chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::record;
    use record::Restriction;

    #[test]
    fn nothing_is_said_where_nothing_is_missing() {
        let mut all = record();
        assert_eq!(lines(&all), [""; 0]);
        let in_force = vec![Restriction { name: "seccomp".into(), detail: "all".into() }];
        all.libraries[0].confinement = Some(Confinement { in_force, ..Confinement::default() });
        assert_eq!(lines(&all), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_said_once_with_whose_workers_they_were() {
        let mut all = record();
        let detail = "this kernel has no\u{1b}[31m Landlock".to_owned();
        let missing = vec![Restriction { name: "landlock".into(), detail }];
        let less = Confinement { missing, ..Confinement::default() };
        all.libraries[0].confinement = Some(less.clone());
        let one = lines(&all);
        assert!(
            one[0].starts_with("the workers of ") || one[0].starts_with("workers were"),
            "{one:?}"
        );
        assert!(
            one[0].contains("not confined in all: landlock: this kernel")
                && !one[0].contains('\u{1b}')
        );
        all.libraries.iter_mut().for_each(|l| l.confinement = Some(less.clone()));
        assert_eq!(lines(&all).len(), 1);
    }
}
