//! Connections in memory: one handshake, each end's calls timed apart; records over it, the server's and the
//! client's timed apart; the wire of two buffers between both ends; and the heap that a connection takes.

use crate::stacks::{Bench, End, Stack, Step, Trouble};
use probe::Clock;
use record::tls::{
    Case, Mismatch, Negotiated, Protection, data_records, last_data_record, negotiated, read_wire,
};

/// Turns after which a handshake goes nowhere: the longest has three of each end.
const MOST_TURNS: usize = 12;
const NOWHERE: &str = "the handshake goes nowhere: both ends wait";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    pub server: u64,
    pub client: u64,
    /// Of the server's, making and freeing the connection.
    pub server_setup: u64,
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

/// Bytes of data in a batch at most: what is sent, the wire and what is received then stay in a core's own
/// caches. One record of the largest size always fits.
const BATCH_BYTES: usize = 1 << 16;
const MOST_RECORDS: usize = 32;
/// As many bytes of what is sent in a row are what is not to be seen on the wire.
const TELLING: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The server's, sending.
    pub send: u64,
    /// The client's, receiving.
    pub receive: u64,
}

/// An open connection for records of one size.
pub struct Line {
    bench: Box<dyn Bench>,
    plain: Vec<u8>,
    into: Vec<u8>,
    negotiated: Negotiated,
    overhead: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLine {
    /// In the stack's words.
    #[error("{0}")]
    Trouble(#[from] Trouble),
    /// Something else was negotiated.
    #[error("{0}")]
    Mismatch(#[from] Mismatch),
    /// What was sent or received is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl Line {
    /// Opens a connection, and holds it to what was asked for. On another one before it, a record that is
    /// changed on the way must not be taken.
    pub fn open(
        stack: &dyn Stack,
        protection: Protection,
        size: usize,
        clock: &Clock,
    ) -> Result<Self, NoLine> {
        let mut spoilt = Self::connected(stack, protection, size, clock)?;
        spoilt.rejects_changes()?;
        let mut line = Self::connected(stack, protection, size, clock)?;
        line.overhead = line.one_overhead()?;
        Ok(line)
    }

    fn connected(
        stack: &dyn Stack,
        protection: Protection,
        size: usize,
        clock: &Clock,
    ) -> Result<Self, NoLine> {
        let case = protection.case();
        let mut bench = stack.open(&case)?;
        let negotiated = establish(&mut *bench, &case, clock)?.negotiated?;
        let records = (BATCH_BYTES / size.max(1)).clamp(1, MOST_RECORDS);
        Ok(Self {
            bench,
            plain: noise(size),
            into: vec![0; records * size],
            negotiated,
            overhead: 0,
        })
    }

    pub fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    /// Bytes of a record on the wire beside its data.
    pub fn overhead(&self) -> usize {
        self.overhead
    }

    pub fn records(&self) -> u32 {
        (self.into.len() / self.plain.len()) as u32
    }

    /// Sends a batch and receives it. What is on the wire and what came out is looked at outside the clock.
    ///
    /// # Errors
    /// [`NoLine::Wrong`] where the records are not as many, as long or as hidden as they must be, or where
    /// anything else comes out than was put in.
    pub fn batch(&mut self, clock: &Clock) -> Result<Batch, NoLine> {
        let records = self.records();
        self.bench.wire().clear();
        let (sent, send) = clock.part(|| self.bench.send(&self.plain, records));
        sent?;
        self.on_the_wire(records as usize)?;
        // What an earlier batch left must not pass for what comes now.
        self.into.fill(0);
        let size = self.plain.len();
        let (received, receive) = clock.part(|| self.bench.receive(&mut self.into, size));
        received?;
        if self.into.chunks_exact(size).any(|one| one != self.plain) {
            return Err(NoLine::Wrong("what was received is not what was sent".to_owned()));
        }
        Ok(Batch { send, receive })
    }

    fn on_the_wire(&mut self, records: usize) -> Result<(), NoLine> {
        let wire = self.bench.wire().written(End::Server);
        let lengths = data_records(wire).map_err(|e| NoLine::Wrong(e.to_string()))?;
        let size = self.plain.len();
        if lengths.len() != records {
            return Err(NoLine::Wrong(format!("{} records for {records} writes", lengths.len())));
        }
        if let Some(length) = lengths.iter().find(|l| **l < size) {
            return Err(NoLine::Wrong(format!("a record of {length} bytes holds no {size}")));
        }
        let telling = &self.plain[..size.min(TELLING)];
        if size >= TELLING && wire.windows(TELLING).any(|seen| seen == telling) {
            return Err(NoLine::Wrong("what was sent is on the wire in the clear".to_owned()));
        }
        Ok(())
    }

    fn one_overhead(&mut self) -> Result<usize, NoLine> {
        self.bench.wire().clear();
        self.bench.send(&self.plain, 1)?;
        self.on_the_wire(1)?;
        let length = self.bench.wire().written(End::Server).len();
        self.bench.receive(&mut self.into[..self.plain.len()], self.plain.len())?;
        Ok(length - self.plain.len())
    }

    fn rejects_changes(&mut self) -> Result<(), NoLine> {
        self.bench.wire().clear();
        self.bench.send(&self.plain, 1)?;
        self.bench.wire().spoil(End::Server);
        let size = self.plain.len();
        match self.bench.receive(&mut self.into[..size], size) {
            Err(_) => Ok(()),
            Ok(()) => Err(NoLine::Wrong(
                "a record that was changed on the way was taken all the same".to_owned(),
            )),
        }
    }
}

/// Bytes that do not repeat and cannot be compressed: G. Marsaglia, "Xorshift RNGs", Journal of Statistical
/// Software 8 (2003) 14, the 64-bit generator with shifts 13, 7, 17.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

// The wire between both ends: two buffers in memory.
//
// Buffers of our own in the place of a library's: the same few instructions in every stack, and
// everything that went over the wire is still there afterwards.

/// What one end has written, and how much of it the other has read.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    read: usize,
}

/// What an end's callbacks know: where its bytes come from and where they go.
#[derive(Debug)]
pub(crate) struct Pipe {
    incoming: *mut Buffer,
    outgoing: *mut Buffer,
}

impl Pipe {
    /// Appends what an end writes.
    ///
    /// # Safety
    /// The wire that the pipe is of is live, and nothing else refers to its buffers during the call; as
    /// many bytes as are told can be read.
    #[inline]
    pub(crate) unsafe fn put(&self, from: *const u8, bytes: usize) {
        // SAFETY: the caller vouches for both.
        unsafe {
            (*self.outgoing).bytes.extend_from_slice(std::slice::from_raw_parts(from, bytes));
        }
    }

    /// Takes at most so many bytes of what came for an end; how many there were.
    ///
    /// # Safety
    /// As [`Pipe::put`], with bytes that can be written.
    #[inline]
    pub(crate) unsafe fn take(&self, to: *mut u8, wanted: usize) -> usize {
        // SAFETY: the caller vouches for both.
        unsafe {
            let incoming = &mut *self.incoming;
            let there = &incoming.bytes[incoming.read..];
            let taken = there.len().min(wanted);
            std::ptr::copy_nonoverlapping(there.as_ptr(), to, taken);
            incoming.read += taken;
            taken
        }
    }
}

/// Both directions. Boxed parts, so that nothing moves while a stack points to it.
#[derive(Debug)]
pub struct Wire {
    /// What the client and the server have written.
    buffers: [*mut Buffer; 2],
    pipes: [*mut Pipe; 2],
}

/// Bytes that either end writes in the longest handshake or in a batch of records, and more: nothing is
/// allocated inside the clock.
const CAPACITY: usize = 1 << 17;

impl Wire {
    pub(crate) fn new() -> Self {
        let buffers = [0, 1].map(|_| {
            Box::into_raw(Box::new(Buffer { bytes: Vec::with_capacity(CAPACITY), read: 0 }))
        });
        let pipe = |outgoing: usize| {
            let (incoming, outgoing) = (buffers[1 - outgoing], buffers[outgoing]);
            Box::into_raw(Box::new(Pipe { incoming, outgoing }))
        };
        Self { buffers, pipes: [pipe(0), pipe(1)] }
    }

    /// What an end's callbacks are given; lives as long as the wire.
    pub(crate) fn pipe(&self, end: End) -> *mut Pipe {
        self.pipes[end as usize]
    }

    pub(crate) fn written(&self, end: End) -> &[u8] {
        &self.buffer(end).bytes
    }

    pub(crate) fn has_input(&self, end: End) -> bool {
        let buffer = self.buffer(end.other());
        buffer.read < buffer.bytes.len()
    }

    fn buffer(&self, end: End) -> &Buffer {
        // SAFETY: made by `new`, freed by `drop`; no call of the library is under way while it is borrowed.
        unsafe { &*self.buffers[end as usize] }
    }

    /// Changes a bit in the middle of what an end has written.
    pub(crate) fn spoil(&mut self, end: End) {
        // SAFETY: as in `buffer`, and the wire is borrowed for changing.
        let buffer = unsafe { &mut *self.buffers[end as usize] };
        let middle = buffer.bytes.len() / 2;
        if let Some(byte) = buffer.bytes.get_mut(middle) {
            *byte ^= 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        for buffer in self.buffers {
            // SAFETY: as in `buffer`.
            let buffer = unsafe { &mut *buffer };
            buffer.bytes.clear();
            buffer.read = 0;
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for (buffer, pipe) in self.buffers.into_iter().zip(self.pipes) {
            // SAFETY: both were boxed by `new`; the connections that pointed here are freed.
            unsafe {
                drop(Box::from_raw(buffer));
                drop(Box::from_raw(pipe));
            }
        }
    }
}

// The process's heap, as its C library counts it.
/// Bytes that are allocated now; `None` where the C library does not say.
pub fn live_bytes() -> Option<i64> {
    #[cfg(target_env = "gnu")]
    {
        let info = mallinfo2()?();
        // Large blocks are mapped and counted apart.
        i64::try_from(info.uordblks + info.hblkhd).ok()
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

/// Looked up at run time: glibc has it since 2.33, and the program runs on 2.31 too.
#[cfg(target_env = "gnu")]
fn mallinfo2() -> Option<extern "C" fn() -> libc::mallinfo2> {
    static FOUND: std::sync::OnceLock<Option<extern "C" fn() -> libc::mallinfo2>> =
        std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: the name ends with a zero byte.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
        // SAFETY: null is `None`; else it is glibc's function of this name, which takes nothing and returns the numbers.
        unsafe { std::mem::transmute(address) }
    })
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_counted_and_what_is_freed_is_not() {
        let _alone = crate::stacks::alone();
        // So much that what the test runner's own threads free beside it is nothing against it.
        let (held, most) = (64 << 20, 32 << 20);
        let before = live_bytes().unwrap();
        let block = std::hint::black_box(vec![1_u8; held]);
        assert!(live_bytes().unwrap() >= before + most);
        drop(block);
        assert!(live_bytes().unwrap() < before + most);
    }
}
