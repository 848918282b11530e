//! `ciphermark once`: one operation through one library, for settling disagreements by hand.

use crate::args::OnceArgs;
use crate::error::{Exit, Failure};
use crate::{choose, screen};
use base::model::{Algorithm, Direction, MAX_SIZE};
use engine::Worker;
use engine::protocol::{Once, Reply, Request};
use record::State;
use std::io::Read as _;
use std::time::Duration;

/// One operation on at most 16 MiB: a minute is enough for the slowest software known.
const DEADLINE: Duration = Duration::from_secs(60);

/// Reads standard input, runs the operation in a worker, writes the result to standard output.
pub fn once(args: &OnceArgs) -> Result<Exit, Failure> {
    let algorithm = Algorithm::find(&args.algorithm).map_err(Failure::usage)?;
    check_length("key", args.key.0.len(), algorithm.key_len, algorithm)?;
    check_length("nonce", args.nonce.0.len(), algorithm.nonce_len, algorithm)?;
    if !algorithm.takes_aad() && !args.aad.0.is_empty() {
        return Err(Failure::usage(format!("{algorithm} takes no associated data")));
    }
    let direction = direction(algorithm, args.decrypt)?;
    let (input, tag) = message(algorithm, direction)?;
    let reply = ask(args, algorithm, direction, &input, &tag)?;
    let (output, tag) = match reply {
        Reply::Result { output, tag } => (output, tag),
        Reply::Finding(finding) if finding.state == State::Unsupported => {
            return Err(Failure::usage(finding.why));
        }
        Reply::Finding(finding) if finding.state == State::Refused => {
            return Err(Failure { exit: Exit::Found, ..Failure::not_done(finding.why) });
        }
        Reply::Finding(finding) => return Err(Failure::not_done(finding.why)),
        other => return Err(Failure::not_done(format!("the worker answered {other:?}"))),
    };
    let mut bytes = hex::decode(output).map_err(Failure::not_done)?;
    if direction != Direction::Decrypt {
        bytes.extend(hex::decode(tag).map_err(Failure::not_done)?);
    }
    screen::print_bytes(&bytes)?;
    Ok(Exit::Done)
}

fn check_length(
    what: &str,
    given: usize,
    needed: usize,
    algorithm: &Algorithm,
) -> Result<(), Failure> {
    if given == needed {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--{what} has {given} bytes, {algorithm} takes {needed} ({} hexadecimal digits)",
        2 * needed
    )))
}

fn direction(algorithm: &Algorithm, decrypt: bool) -> Result<Direction, Failure> {
    match (Direction::of(algorithm.kind), decrypt) {
        ([only], false) => Ok(*only),
        ([_], true) => Err(Failure::usage(format!("{algorithm} has nothing to decrypt"))),
        (_, true) => Ok(Direction::Decrypt),
        (_, false) => Ok(Direction::Encrypt),
    }
}

/// Standard input as message and, for decryption, the tag at its end.
fn message(algorithm: &Algorithm, direction: Direction) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let mut input = Vec::new();
    let most = MAX_SIZE + algorithm.tag_len;
    std::io::stdin()
        .take(most as u64 + 1)
        .read_to_end(&mut input)
        .map_err(|e| Failure::usage(format!("cannot read standard input: {e}")))?;
    if input.len() > most {
        return Err(Failure::usage("standard input has more than 16 MiB"));
    }
    let mut tag = Vec::new();
    if direction == Direction::Decrypt {
        let Some(at) = input.len().checked_sub(algorithm.tag_len) else {
            return Err(Failure::usage(format!(
                "standard input has {} bytes, the tag of {algorithm} alone has {}",
                input.len(),
                algorithm.tag_len
            )));
        };
        tag = input.split_off(at);
    }
    if !algorithm.sizes.allows(input.len()) {
        return Err(Failure::usage(format!(
            "{algorithm} does not take a message of {} bytes: {}",
            input.len(),
            algorithm.size_reason()
        )));
    }
    Ok((input, tag))
}

fn ask(
    args: &OnceArgs,
    algorithm: &Algorithm,
    direction: Direction,
    input: &[u8],
    tag: &[u8],
) -> Result<Reply, Failure> {
    let library = choose::only(&args.library)?;
    let mut worker =
        Worker::start(library.hello(args.tier, None, 0, 0)).map_err(Failure::not_done)?;
    worker.send(&Request::Once(Once {
        algorithm: algorithm.name.to_owned(),
        direction,
        key: hex::encode(&args.key.0),
        nonce: hex::encode(&args.nonce.0),
        aad: hex::encode(&args.aad.0),
        input: hex::encode(input),
        tag: hex::encode(tag),
    }));
    worker.reply(DEADLINE).map_err(Failure::not_done)
}
