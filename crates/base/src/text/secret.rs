//! Passwords in what was typed: kept out of messages and records.

/// What stands in the place of a password.
const MASK: &str = "***";

/// A text without the passwords of the connection string that it may be: `postgresql://user:password@host/name`, also with
/// `?password=`, or `host=… password=…`. What is none comes back as it is.
#[must_use]
pub fn masked(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return without_values(text, ' ') };
    // The last one: a password may hold an @ that nobody has encoded.
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) if user.contains(':') => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{user}:{MASK}@{host}")
        }
        _ => rest.to_owned(),
    };
    format!("{scheme}://{}", without_values(&rest, '&'))
}

/// Whether a text is a connection string with a password in it.
#[must_use]
pub fn has_password(text: &str) -> bool {
    masked(text) != text
}

/// Masks the value of each name that ends in `password`, up to the separator, or to the quote that ends it.
fn without_values(text: &str, separator: char) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    // Only ASCII letters change their case, so places stay.
    while let Some(at) = rest.to_ascii_lowercase().find("password") {
        let (before, from) = rest.split_at(at + "password".len());
        shown.push_str(before);
        let value = from.trim_start();
        rest = from;
        let Some(value) = value.strip_prefix('=').map(str::trim_start) else { continue };
        shown.push('=');
        shown.push_str(MASK);
        rest = &value[length(value, separator)..];
    }
    shown + rest
}

fn length(value: &str, separator: char) -> usize {
    let quoted = value.starts_with('\'');
    let mut escaped = false;
    for (at, c) in value.char_indices().skip(usize::from(quoted)) {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            '\'' if quoted => return at + 1,
            c if !quoted && (c == separator || separator == ' ' && c.is_whitespace()) => return at,
            _ => {}
        }
    }
    value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown_however_it_is_written() {
        for (typed, shown) in [
            ("postgresql://u:pw-secret@h:5432/db", "postgresql://u:***@h:5432/db"),
            ("postgres://u:pw@secret@h/db", "postgres://u:***@h/db"),
            ("postgres://u:p/w?secret@h/db", "postgres://u:***@h/db"),
            ("postgresql://h/db?password=secret&user=u", "postgresql://h/db?password=***&user=u"),
            ("postgresql://u@h/db?sslpassword=secret", "postgresql://u@h/db?sslpassword=***"),
            ("postgresql://u:secret@h/db?PASSWORD=secret", "postgresql://u:***@h/db?PASSWORD=***"),
            ("host=h password=secret dbname=d", "host=h password=*** dbname=d"),
            ("host=h password = 'a secret \\' more' user=u", "host=h password=*** user=u"),
            ("password='secret without an end", "password=***"),
            ("password=secret\\ secret user=u", "password=*** user=u"),
        ] {
            assert_eq!(masked(typed), shown);
            assert!(has_password(typed) && !has_password(shown), "{typed}");
        }
    }

    #[test]
    fn what_has_no_password_stays_as_it_is() {
        for text in [
            "",
            "store.db",
            "postgresql:///db",
            "postgresql://u@h:5432/db",
            "host=/run/postgresql dbname=x",
            "passwords.json",
            "é password",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
