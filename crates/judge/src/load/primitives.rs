//! Key exchanges and signatures by themselves, from a run of `tls primitives`.

use crate::load::form::Interval;
use crate::load::inputs::{HandshakeParts, is_same};
use record::tls::{
    Certificate, Exchange, Operation, PrimitiveRow, PrimitivesDocument, Scheme, Stack,
};

impl HandshakeParts {
    /// Takes key exchanges and signatures of a server over from a run of `tls primitives`, if it has the stack: whole
    /// operations, as a handshake has them.
    pub fn add_primitives(&mut self, document: &PrimitivesDocument, of: &Stack) {
        let Some(stack) = document.stacks.iter().find(|s| is_same(s, of)) else { return };
        let rows: Vec<_> = document.rows.iter().filter(|r| r.stack == stack.label).collect();
        for exchange in Exchange::ALL {
            if let Some(us) = exchange_us(*exchange, &rows) {
                self.exchange_us.insert(*exchange, us);
            }
        }
        for certificate in Certificate::ALL {
            let signs = |s: &&Scheme| {
                s.certificate() == Some(*certificate) && (!certificate.is_rsa() || s.is_pss())
            };
            let scheme = Scheme::ALL.iter().find(signs);
            if let Some(us) = scheme.and_then(|s| of_row(*s, Operation::Sign, &rows)) {
                self.sign_us.insert(*certificate, us);
            }
        }
    }
}

/// What a server computes of a key exchange: a key and the secret, or a secret for the client's key.
fn exchange_us(exchange: Exchange, rows: &[&PrimitiveRow]) -> Option<Interval> {
    let scheme = Scheme::ALL.iter().copied().find(|s| s.name() == exchange.name())?;
    if exchange == Exchange::X25519Mlkem768 {
        return of_row(scheme, Operation::Encapsulate, rows);
    }
    let key = of_row(scheme, Operation::Generate, rows)?;
    let secret = of_row(scheme, Operation::Agree, rows)?;
    Some(Interval {
        value: key.value + secret.value,
        low: key.low + secret.low,
        high: key.high + secret.high,
    })
}

/// The mean, which is what a load is a sum of, with the relative interval of the median.
fn of_row(scheme: Scheme, operation: Operation, rows: &[&PrimitiveRow]) -> Option<Interval> {
    let is_it =
        |r: &&&PrimitiveRow| r.primitive.scheme == scheme && r.primitive.operation == operation;
    let cost = rows.iter().find(is_it)?.whole?;
    let us = |ns: f64| cost.mean_ns / 1e3 * ns / cost.median_ns;
    Some(Interval { value: us(cost.median_ns), low: us(cost.low_ns), high: us(cost.high_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row as the file has it; only what is read from it differs from case to case.
    fn row(scheme: &str, operation: &str, us: f64) -> PrimitiveRow {
        let ns = us * 1e3;
        let cost = format!(
            r#"{{"median_ns":{ns},"low_ns":{},"high_ns":{},"mean_ns":{},"max_ns":{ns},"setup_ns":0,"cycles":null}}"#,
            ns * 0.99,
            ns * 1.01,
            ns * 1.1
        );
        let text = format!(
            r#"{{"stack":"openssl@3.0.22","primitive":{{"scheme":"{scheme}","operation":"{operation}","size":null}},
            "state":"measured","reason":null,"checks":[],"whole":{cost},"call":null,"samples":1,"operations":1,
            "processes":1,"disturbed":{},"contended":false,"stopped":null}}"#,
            serde_json::to_string(&record::Disturbances::default()).unwrap()
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_server_generates_and_agrees_or_encapsulates_and_the_mean_counts() {
        let rows = [
            row("x25519", "generate", 30.0),
            row("x25519", "agree", 40.0),
            row("x25519mlkem768", "generate", 500.0),
            row("x25519mlkem768", "encapsulate", 90.0),
        ];
        let rows: Vec<_> = rows.iter().collect();
        let x25519 = exchange_us(Exchange::X25519, &rows).unwrap();
        assert!((x25519.value - 77.0).abs() < 1e-9 && x25519.low < x25519.value, "{x25519:?}");
        let hybrid = exchange_us(Exchange::X25519Mlkem768, &rows).unwrap();
        assert!((hybrid.value - 99.0).abs() < 1e-9, "{hybrid:?}");
        assert_eq!(exchange_us(Exchange::P256, &rows), None);
        assert_eq!(exchange_us(Exchange::Rsa, &rows), None);
    }
}
