//! What is asked.

use crate::load::{ClientShare, client_classes};
use record::tls::{Certificate, Temperature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the server must do, and may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Classes of clients that must be able to connect, with their shares of the connections.
    pub clients: Vec<ClientShare>,
    /// Kinds of certificates that can be had.
    pub certificates: Vec<Certificate>,
    /// Share of connections that resume, 0 to 1.
    pub resumed_share: f64,
    /// Whether X25519MLKEM768 comes first for those who have it.
    pub post_quantum: bool,
    /// Bytes of responses over a connection, which are priced where records were measured.
    pub bytes_per_connection: u64,
    /// Whether hot or cold handshakes are counted.
    pub temperature: Temperature,
}

/// A wrong wish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadQuestion(String);

impl Question {
    /// Reads clients: `browser,java-8=10%`; the shares of those without one are what is left, in equal
    /// parts.
    ///
    /// # Errors
    /// [`BadQuestion`] names the class or the share.
    pub fn clients(texts: &[String]) -> Result<Vec<ClientShare>, BadQuestion> {
        let named = texts.iter().map(|text| one(text)).collect::<Result<Vec<_>, _>>()?;
        let given: f64 = named.iter().filter_map(|(_, share)| *share).sum();
        let open = named.iter().filter(|(_, share)| share.is_none()).count();
        let left = 1.0 - given;
        if left < -1e-9 || (open == 0 && left.abs() > 1e-6) || (open > 0 && left < 1e-9) {
            let sum = given * 100.0;
            return Err(BadQuestion(format!("the shares of the clients come to {sum:.0} %")));
        }
        let mut clients: Vec<ClientShare> = Vec::new();
        for (class, share) in named {
            if clients.iter().any(|c| c.class == class) {
                return Err(BadQuestion(format!("the class '{class}' is named twice")));
            }
            clients.push(ClientShare::of(class, share.unwrap_or(left / open.max(1) as f64)));
        }
        Ok(clients)
    }
}

fn one(text: &str) -> Result<(&'static str, Option<f64>), BadQuestion> {
    let (class, share) = match text.split_once('=') {
        Some((class, share)) => (class.trim(), Some(share.trim())),
        None => (text.trim(), None),
    };
    let known = client_classes();
    let Some((name, _)) = known.iter().find(|(name, _)| *name == class) else {
        let all: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let all = all.join(", ");
        return Err(BadQuestion(format!("'{class}' is no class of clients; there are {all}")));
    };
    let share = share.map(|text| {
        let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
        let is_share = |n: &f64| (0.0..=100.0).contains(n);
        let number = number.filter(is_share).map(|n| n / 100.0);
        number.ok_or_else(|| BadQuestion(format!("'{text}' is no share: 0% to 100%")))
    });
    Ok((name, share.transpose()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Vec<(String, f64)>, String> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        let clients = Question::clients(&texts).map_err(|e| e.to_string())?;
        Ok(clients.into_iter().map(|c| (c.class, c.share)).collect())
    }

    #[test]
    fn what_is_left_is_shared_by_those_without_a_share() {
        let found = read(&["browser", "java-8=10%", "firefox-100"]).unwrap();
        let wanted = [("browser", 0.45), ("java-8", 0.1), ("firefox-100", 0.45)];
        assert_eq!(found, wanted.map(|(class, share)| (class.to_owned(), share)));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let why = |texts: &[&str]| read(texts).unwrap_err();
        assert!(
            why(&["netscape"]).starts_with("'netscape' is no class of clients; there are browser")
        );
        assert_eq!(why(&["browser=60%"]), "the shares of the clients come to 60 %");
        assert_eq!(why(&["browser=100%", "java-8"]), "the shares of the clients come to 100 %");
        assert_eq!(why(&["browser=much"]), "'much' is no share: 0% to 100%");
        assert_eq!(why(&["browser", "browser"]), "the class 'browser' is named twice");
    }
}
