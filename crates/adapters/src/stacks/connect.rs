//! One handshake in memory, each end's calls timed apart.

use crate::stacks::bench::{Bench, End, Step, Trouble};
use crate::stacks::heap::live_bytes;
use probe::Clock;
use record::tls::{Case, Mismatch, Negotiated, last_data_record, negotiated, read_wire};

/// Turns after which a handshake goes nowhere: the longest has three of each end.
const MOST_TURNS: usize = 12;
const NOWHERE: &str = "the handshake goes nowhere: both ends wait";

/// Ticks of one handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// The server's, all in all.
    pub server: u64,
    /// The client's.
    pub client: u64,
    /// Of the server's, making and freeing the connection.
    pub server_setup: u64,
    /// Of the client's.
    pub client_setup: u64,
}

impl Ticks {
    fn add(&mut self, end: End, ticks: u64, setup: bool) {
        let (all, of_setup) = match end {
            End::Server => (&mut self.server, &mut self.server_setup),
            End::Client => (&mut self.client, &mut self.client_setup),
        };
        *all += ticks;
        *of_setup += if setup { ticks } else { 0 };
    }
}

/// A connection that was made, looked at and freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its cost.
    pub ticks: Ticks,
    /// What was negotiated: by the wire and by both ends; the reason where that is not what was asked.
    pub negotiated: Result<Negotiated, Mismatch>,
    /// Bytes that the client sent, without application data.
    pub client_bytes: u64,
    /// Bytes that the server sent, with its tickets, without application data.
    pub server_bytes: u64,
    /// Heap that the server's end held, all others' calls left out.
    pub server_memory: i64,
    /// Heap that the client's end held.
    pub client_memory: i64,
}

/// Makes a connection, one end after the other, sends one byte over it, reads back at both ends what it
/// is, and frees it. `pause` runs before each part of the handshake, outside the clock; `weigh` asks
/// for the heap's growth, which takes longer than some handshakes.
///
/// # Errors
/// [`Trouble`] in the stack's words. The connection is freed then too.
pub fn connect(
    bench: &mut dyn Bench,
    case: &Case,
    clock: &Clock,
    weigh: bool,
    pause: &mut dyn FnMut(),
) -> Result<Connection, Trouble> {
    let mut run = Run { bench, clock, pause, weigh, ticks: Ticks::default(), held: [0; 2] };
    let made = run.handshake();
    let looked_at = made.map(|()| run.look(case));
    for end in [End::Client, End::Server] {
        run.part(end, true, |bench| bench.end(end));
    }
    let ticks = run.ticks;
    run.bench.between();
    looked_at.map(|connection| Connection { ticks, ..connection })
}

/// Makes a connection as [`connect`] does, and leaves it open.
///
/// # Errors
/// [`Trouble`] in the stack's words.
pub fn establish(bench: &mut dyn Bench, case: &Case, clock: &Clock) -> Result<Connection, Trouble> {
    let (pause, weigh) = (&mut || {}, false);
    let mut run = Run { bench, clock, pause, weigh, ticks: Ticks::default(), held: [0; 2] };
    run.handshake()?;
    Ok(run.look(case))
}

/// A handshake and nothing else, outside of any clock.
pub(crate) fn shake(bench: &mut dyn Bench) -> Result<(), Trouble> {
    let ends = [End::Client, End::Server];
    ends.iter().try_for_each(|end| bench.begin(*end))?;
    let mut done = [false; 2];
    for end in ends.into_iter().cycle().take(MOST_TURNS) {
        if !done[end as usize] {
            done[end as usize] = bench.step(end)? == Step::Done;
        }
        if done == [true; 2] {
            return Ok(());
        }
    }
    Err(Trouble::Failed(NOWHERE.to_owned()))
}

struct Run<'a> {
    bench: &'a mut dyn Bench,
    clock: &'a Clock,
    pause: &'a mut dyn FnMut(),
    weigh: bool,
    ticks: Ticks,
    /// Heap held by client and server.
    held: [i64; 2],
}

impl Run<'_> {
    fn part<R>(&mut self, end: End, setup: bool, call: impl FnOnce(&mut dyn Bench) -> R) -> R {
        let before = if self.weigh { live_bytes().unwrap_or(0) } else { 0 };
        let bench = &mut *self.bench;
        let (result, ticks) = self.clock.part(|| call(bench));
        self.ticks.add(end, ticks, setup);
        if self.weigh {
            self.held[end as usize] += live_bytes().unwrap_or(0) - before;
        }
        result
    }

    fn handshake(&mut self) -> Result<(), Trouble> {
        self.part(End::Client, true, |bench| bench.begin(End::Client))?;
        self.part(End::Server, true, |bench| bench.begin(End::Server))?;
        let mut done = [false; 2];
        let mut end = End::Client;
        let mut first = true;
        for _ in 0..MOST_TURNS {
            if first || (self.bench.wire().has_input(end) && !done[end as usize]) {
                (self.pause)();
                done[end as usize] = self.part(end, false, |bench| bench.step(end))? == Step::Done;
            }
            first = false;
            if done == [true; 2] {
                (self.pause)();
                self.part(End::Server, false, |bench| bench.send_byte())?;
                (self.pause)();
                return self.part(End::Client, false, |bench| bench.take_byte());
            }
            end = end.other();
        }
        Err(Trouble::Failed(NOWHERE.to_owned()))
    }

    /// What the connection is, while both ends still have it.
    fn look(&mut self, case: &Case) -> Connection {
        let wire = &*self.bench.wire();
        let [client, server] = [End::Client, End::Server].map(|end| wire.written(end));
        let seen = read_wire(client, server);
        let (client_bytes, server_bytes) = (client.len(), server.len() - last_data_record(server));
        // Both ends took these bytes for a handshake, whatever they are.
        let unread =
            |e: record::tls::Unreadable| Mismatch { why: e.to_string(), contradiction: true };
        let negotiated = seen.map_err(unread).and_then(|seen| {
            let (client, server) = (self.bench.says(End::Client), self.bench.says(End::Server));
            negotiated(case, &seen, &client, &server)
        });
        Connection {
            ticks: Ticks::default(),
            negotiated,
            client_bytes: client_bytes as u64,
            server_bytes: server_bytes as u64,
            server_memory: self.held[End::Server as usize],
            client_memory: self.held[End::Client as usize],
        }
    }
}
