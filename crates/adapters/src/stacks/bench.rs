//! What every stack must be able to do.

use crate::stacks::primitive::Workbench;
use crate::stacks::wire::Wire;
use record::tls::{Case, EndSays, Primitive, Seen};

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Opens the connection.
    Client,
    /// Answers.
    Server,
}

impl End {
    /// The end at the other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Its handshake, in words.
    pub(crate) fn handshake(self) -> &'static str {
        match self {
            Self::Client => "the client's handshake",
            Self::Server => "the server's handshake",
        }
    }
}

/// How far an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It waits for the other end.
    Waits,
    /// Its handshake is over.
    Done,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The stack does not offer what was asked for; in its own words, where it has any.
    #[error("{0}")]
    NotOffered(String),
    /// A call failed.
    #[error("{0}")]
    Failed(String),
}

impl Trouble {
    /// What a stack has no function for.
    pub(crate) fn missing(call: &str) -> Self {
        Self::NotOffered(format!("it does not export {call}"))
    }
}

/// Who a stack says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Name, as in `--library`.
    pub name: String,
    /// Version.
    pub version: String,
    /// How it was built, one fact a line.
    pub build: Vec<String>,
}

/// A loaded stack.
pub trait Stack {
    /// Who it is; none where the library under it is asked that, as every library is.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Loads keys and certificates for a case, at both ends.
    ///
    /// # Errors
    /// [`Trouble::NotOffered`] where a setting is refused.
    fn open(&self, case: &Case) -> Result<Box<dyn Bench>, Trouble>;

    /// What a server of TLS 1.3 picks, by the wire, for a client that offers groups, a key share of the first of them.
    /// The server's groups are those that are named, by colons, or else those that it has unset.
    ///
    /// # Errors
    /// [`Trouble`] where an end does not take its groups, or where both have none in common.
    fn pick(&self, _server: Option<&str>, _client: &str) -> Result<Seen, Trouble> {
        Err(Trouble::NotOffered("its groups cannot be left unset".to_owned()))
    }

    /// Makes one of the operations under a handshake ready.
    ///
    /// # Errors
    /// [`Trouble::NotOffered`] where the stack has no such function, or none that is known.
    fn primitive(&self, primitive: &Primitive) -> Result<Box<dyn Workbench>, Trouble> {
        let why = format!("no function of this stack is known for {primitive}");
        Err(Trouble::NotOffered(why))
    }
}

/// Both ends of one case: connections are made and freed one after the other. What fails is told in the
/// stack's words.
///
/// The methods that [`crate::stacks::connect`] calls inside the clock do nothing but call the stack.
pub trait Bench {
    /// The wire between both ends.
    fn wire(&mut self) -> &mut Wire;

    /// Makes an end's connection.
    fn begin(&mut self, end: End) -> Result<(), Trouble>;

    /// Carries an end's handshake on as far as what has come lets it.
    fn step(&mut self, end: End) -> Result<Step, Trouble>;

    /// Sends one byte of application data from the server.
    fn send_byte(&mut self) -> Result<(), Trouble> {
        self.send(b"!", 1)
    }

    /// Has the client read it, and what came before it.
    fn take_byte(&mut self) -> Result<(), Trouble> {
        let mut byte = [0];
        self.receive(&mut byte, 1)?;
        if byte == *b"!" {
            Ok(())
        } else {
            Err(Trouble::Failed("another byte was received than was sent".to_owned()))
        }
    }

    /// Sends records of application data from the server, `times` times the same bytes.
    fn send(&mut self, data: &[u8], times: u32) -> Result<(), Trouble>;

    /// Has the client receive as many records of `size` bytes as fill `into`.
    fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), Trouble>;

    /// What an end says of the connection.
    fn says(&self, end: End) -> EndSays;

    /// Says goodbye and frees an end's connection.
    fn end(&mut self, end: End);

    /// Makes ready for the next connection: keeps the newest session, empties the wire.
    fn between(&mut self);
}
