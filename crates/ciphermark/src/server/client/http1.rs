//! HTTP/1.1 (RFC 9112), as far as it takes to ask a server of ours for a file.

use super::stream::Stream;
use crate::server::FILLER;
use crate::server::job::Told;
use std::time::{Duration, Instant};

/// A delayed acknowledgement takes 40 ms (Linux, TCP_DELACK_MIN).
pub(super) const STALL: Duration = Duration::from_millis(30);

/// Longest head of a response that is taken.
const LONGEST_HEAD: usize = 1 << 14;

/// A request for a file of so many bytes, filled up to its own length.
pub(super) fn request(bytes: u64, length: u32) -> Vec<u8> {
    let bare = format!("GET /{bytes} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n");
    let padding = (length as usize).saturating_sub(bare.len() + "X-Padding: \r\n\r\n".len());
    if padding == 0 {
        return format!("{bare}\r\n").into_bytes();
    }
    format!("{bare}X-Padding: {}\r\n\r\n", "p".repeat(padding)).into_bytes()
}

/// Asks, and holds the answer to its length and its filling.
pub(super) fn ask(
    stream: &mut Stream,
    request: &[u8],
    bytes: u64,
    scratch: &mut [u8],
    told: &mut Told,
) -> Result<(), String> {
    let begun = Instant::now();
    stream.write(request)?;
    let mut head = Vec::new();
    let end = loop {
        let taken = stream.read(scratch)?;
        head.extend_from_slice(&scratch[..taken]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if head.len() > LONGEST_HEAD {
            return Err("the response's head has no end".to_owned());
        }
    };
    let length = length_of(&head[..end])?;
    if length != bytes {
        return Err(format!("{bytes} bytes were asked for, and {length} are answered"));
    }
    filled(&head[end..])?;
    let mut got = (head.len() - end) as u64;
    while got < bytes {
        let taken = stream.read(scratch)?;
        filled(&scratch[..taken])?;
        got += taken as u64;
    }
    if got > bytes {
        return Err("the response is longer than it says".to_owned());
    }
    told.requests += 1;
    told.bytes += bytes;
    told.stalls += u64::from(begun.elapsed() >= STALL);
    Ok(())
}

/// Whether a part of a body is what servers of ours send.
pub(super) fn filled(body: &[u8]) -> Result<(), String> {
    if body.iter().all(|byte| *byte == FILLER) {
        Ok(())
    } else {
        Err("the body is another".to_owned())
    }
}

fn length_of(head: &[u8]) -> Result<u64, String> {
    let head = std::str::from_utf8(head).map_err(|_| "the response's head is no text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the server answered {status:?}"));
    }
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    length.ok_or_else(|| "the response has no length".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_long_as_was_asked() {
        assert_eq!(request(1024, 500).len(), 500);
        assert!(request(1024, 500).starts_with(b"GET /1024 HTTP/1.1\r\n"));
        assert!(request(7, 0).ends_with(b"\r\n\r\n"));
    }

    #[test]
    fn only_a_success_with_a_length_is_an_answer() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n";
        assert_eq!(length_of(head), Ok(12));
        assert!(
            length_of(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n")
                .unwrap_err()
                .contains("404")
        );
        assert!(length_of(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
