//! What a call means for the message that its context is in the middle of, and where a finished message is counted.
//!
//! A message ends when its context begins the next one, is reset or freed, or when the process ends: what comes behind
//! the last byte, such as the tag, is a part of it. Contexts are found by address in a table of fixed size; when a part
//! of it is full, the one that was used longest ago is counted and forgotten.

use crate::enter::{Slot, Thread};
use crate::layout::*;
use crate::libraries::library;
use crate::names;
use crate::region::{self, Area, Words};
use crate::table::{AWAY, Arguments, Does, Function, NONE, RESULT, VECTORS, number};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Every so many-th call of a thread measures what its being timed costs; beyond so many ticks, something else ran.
const OWN_EACH: u64 = 64;
const OWN_MOST: u64 = 1 << 14;

/// Bytes of an input from which on it matters where it lies: a page; one of so many is looked at.
const FAR_BYTES: u64 = 4096;
const FAR_EACH: u64 = 8;
/// No length: an address, where a library's arguments have another order than those that are known.
const FAR_LIMIT: u64 = 1 << 40;
/// Ticks beyond which something else than memory took the time.
const FAR_MOST: u64 = 1 << 12;

/// One call, and where it is counted.
struct Call<'a> {
    region: Words,
    area: Area,
    function: &'a Function,
    library: u64,
    arguments: &'a Arguments,
    result: u64,
    ticks: u64,
    now: u64,
    far: u64,
}

/// Ahead of a call that gives back a context: another thread may be given its address right after. Ahead of one that
/// encrypts: where its input lies.
///
/// # Safety
/// `enter` calls it.
pub unsafe extern "C" fn before(slot: &Slot, arguments: &Arguments, thread: *mut Thread) {
    // SAFETY: functions are constants.
    let Some(function) = (unsafe { slot.function.load(Relaxed).as_ref() }) else { return };
    if function.reads_data() {
        // SAFETY: the caller's.
        unsafe { (*thread).far = look(function, arguments).unwrap_or(0) };
        return;
    }
    // SAFETY: the caller's.
    let Some(call) = (unsafe { call(slot, arguments, 0, 0, 0, thread) }) else { return };
    if let Some(context) = find(call.region, call.address()) {
        finish(call.region, call.area, context);
        for word in [C_WHAT, C_USED, C_ADDRESS] {
            context[word].store(0, Relaxed);
        }
    }
}

/// How far the middle of a long input is, of one call in some.
fn look(function: &Function, arguments: &Arguments) -> Option<u64> {
    let length = number(arguments, function.length);
    let input = *arguments.get(usize::from(function.input))?;
    let is_drawn =
        || crate::enter::ticks().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (FAR_EACH - 1) == 0;
    if !(FAR_BYTES..FAR_LIMIT).contains(&length) || input == 0 || !is_drawn() {
        return None;
    }
    let middle = usize::try_from(input.checked_add(length / 2)?).ok()?;
    // SAFETY: the function is about to read it.
    let ticks = unsafe { crate::enter::far_ticks(middle as *const u8) };
    (ticks < FAR_MOST).then_some(far(ticks))
}

/// Behind a call.
///
/// # Safety
/// `enter` calls it.
pub unsafe extern "C" fn after(
    slot: &Slot,
    arguments: &Arguments,
    result: u64,
    ticks: u64,
    now: u64,
    thread: *mut Thread,
) {
    // SAFETY: the caller's.
    let Some(call) = (unsafe { call(slot, arguments, result, ticks, now, thread) }) else { return };
    call.count();
    if call.area.words[AREA_CALLS].load(Relaxed) % OWN_EACH == OWN_EACH / 2 {
        let own = crate::enter::ticks().saturating_sub(now);
        if own < OWN_MOST {
            call.region[OWN_TICKS].fetch_add(own, Relaxed);
            call.region[OWN_COUNT].fetch_add(1, Relaxed);
        }
    }
}

/// # Safety
/// As the two above.
#[inline(always)]
unsafe fn call<'a>(
    slot: &'a Slot,
    arguments: &'a Arguments,
    result: u64,
    ticks: u64,
    now: u64,
    thread: *mut Thread,
) -> Option<Call<'a>> {
    let region = region::current()?;
    // SAFETY: the caller's; functions are constants.
    let (area, function) =
        unsafe { (region::area(region, thread), slot.function.load(Relaxed).as_ref()?) };
    let ticks = ticks.saturating_sub(region[CLOCK_TICKS].load(Relaxed));
    let library = slot.library.load(Relaxed);
    // SAFETY: the caller's.
    let far = unsafe { std::mem::take(&mut (*thread).far) };
    Some(Call { region, area, function, library, arguments, result, ticks, now, far })
}

impl Call<'_> {
    fn argument(&self, at: u8) -> u64 {
        self.arguments.get(usize::from(at)).copied().unwrap_or(0)
    }

    /// The library's own context.
    fn address(&self) -> u64 {
        if self.function.context == RESULT {
            return self.result;
        }
        let address = self.argument(self.function.context);
        if !self.function.context_behind || address == 0 {
            return address;
        }
        // SAFETY: the function has written it there.
        unsafe { *(address as *const u64) }
    }

    fn name(&self) -> Option<u64> {
        names::of(self.region, library(self.library), self.function, self.arguments, self.result)
    }

    fn bytes(&self) -> u64 {
        let f = self.function;
        let is_in_place = f.otherwise != NONE && self.argument(f.input) == 0;
        let length = if is_in_place { f.otherwise } else { f.length };
        (number(self.arguments, length) + f.constant).saturating_sub(f.less)
    }

    fn direction(&self) -> Option<u64> {
        match self.function.direction_at {
            NONE => (self.function.direction != NEITHER).then_some(self.function.direction),
            at => match self.argument(at & !AWAY) & 0xffff_ffff ^ u64::from(at & AWAY != 0) {
                0 => Some(DECRYPT),
                1 => Some(ENCRYPT),
                _ => None,
            },
        }
    }

    fn is_in_place(&self) -> bool {
        let (input, output) =
            (self.argument(self.function.input), self.argument(self.function.output));
        input == output && input != 0 || self.function.otherwise != NONE && input == 0
    }

    /// Whether the caller only asks how long the output will be.
    fn only_asks(&self) -> bool {
        self.function.output != NONE && self.argument(self.function.output) == 0
    }

    #[inline(always)]
    fn count(&self) {
        match self.function.does {
            Does::Whole | Does::New | Does::Free => self.count_whole(),
            _ => {
                if let Some(context) = self.context() {
                    self.count_in(context);
                }
            }
        }
    }

    #[inline(never)]
    fn count_whole(&self) {
        let f = self.function;
        if f.does == Does::Whole && f.operation != CIPHER && self.only_asks() {
            return;
        }
        let what = what(
            f.operation,
            self.direction().unwrap_or(NEITHER),
            self.library,
            self.name().unwrap_or(0),
        );
        let key = u64::from(f.does == Does::Whole && f.key != NONE);
        let message = Message {
            what,
            size: self.bytes(),
            aad: number(self.arguments, f.aad),
            tag: number(self.arguments, f.tag),
            pieces: 1,
            keys: key,
            in_place: self.is_in_place(),
            far: self.far,
            ticks: self.ticks,
            ..Message::default()
        };
        put(self.region, self.area, &message);
    }

    fn context(&self) -> Option<Words> {
        let address = self.address();
        (address != 0).then(|| {
            let context = find(self.region, address).unwrap_or_else(|| self.claim(address));
            context[C_USED].store(self.now, Relaxed);
            context
        })
    }

    /// A place for a context that was not seen before.
    #[cold]
    fn claim(&self, address: u64) -> Words {
        let mut oldest: Option<Words> = None;
        for context in places(self.region, address) {
            let owner = &context[C_ADDRESS];
            if owner.load(Relaxed) == 0
                && owner.compare_exchange(0, address, Acquire, Relaxed).is_ok()
            {
                return context;
            }
            let used = |context: Words| context[C_USED].load(Relaxed);
            if oldest.is_none_or(|oldest| used(context) < used(oldest)) {
                oldest = Some(context);
            }
        }
        let context = oldest.unwrap_or(&self.region[CONTEXT_AT..][..CONTEXT_WORDS]);
        finish(self.region, self.area, context);
        self.region[EVICTED].fetch_add(1, Relaxed);
        context[C_WHAT].store(0, Relaxed);
        context[C_ADDRESS].store(address, Relaxed);
        context
    }

    #[inline(always)]
    fn count_in(&self, context: Words) {
        let f = self.function;
        let add = |word: usize, more: u64| {
            context[word].store(context[word].load(Relaxed).wrapping_add(more), Relaxed);
        };
        let set =
            |flags: u64| context[C_WHAT].store(context[C_WHAT].load(Relaxed) | flags, Relaxed);
        let is_done = || context[C_WHAT].load(Relaxed) & DONE != 0;
        let has_bytes = || context[C_PIECES].load(Relaxed) & 0xffff_ffff != 0;
        let has_begun =
            || is_done() || has_bytes() || context[C_AAD].load(Relaxed) & 0xffff_ffff != 0;
        let finish = || finish(self.region, self.area, context);
        let add_data = || {
            let tls = context[C_AAD].load(Relaxed) >> 40;
            // A record of TLS 1.2 has its nonce and tag in the same buffer.
            let around = if tls & 1 == 0 { 0 } else { 16 + (tls & 8) };
            add(C_BYTES, self.bytes().saturating_sub(around));
            add(C_PIECES, 1);
            add(C_FAR, self.far);
            add(C_AAD, number(self.arguments, f.aad).min(0xffff_ffff));
            set_tag(context, number(self.arguments, f.tag));
            set(if self.is_in_place() { LIVE | IN_PLACE } else { LIVE });
        };
        let is_query = matches!(f.does, Does::Last | Does::End) && self.only_asks();
        match f.does {
            _ if is_query => {}
            Does::Begin => {
                if has_begun() {
                    finish();
                }
                self.describe(context, true);
                if f.key != NONE && self.argument(f.key) != 0 {
                    add(C_PIECES, 1 << 32);
                    add(C_KEY_TICKS, self.ticks);
                }
                add(C_AAD, number(self.arguments, f.aad).min(0xffff_ffff));
                set(LIVE);
            }
            Does::Update | Does::Each | Does::Last => {
                let is_end = f.does == Does::Each && self.argument(f.input) == 0;
                if is_done() || f.does != Does::Update && !is_end && has_bytes() {
                    finish();
                }
                self.describe(context, false);
                match (is_end, self.only_asks() && f.does != Does::Last) {
                    (true, _) => set(LIVE | DONE),
                    (_, true) => {
                        // Without an input, it is CCM's length to come.
                        if self.argument(f.input) != 0 {
                            add(C_AAD, self.bytes().min(0xffff_ffff));
                        }
                        set(LIVE);
                    }
                    _ => add_data(),
                }
                if f.does == Does::Last {
                    set(DONE);
                }
            }
            Does::Aad => {
                if has_bytes() || is_done() {
                    finish();
                }
                self.describe(context, false);
                add(C_AAD, number(self.arguments, f.aad).min(0xffff_ffff));
                set(LIVE);
            }
            Does::End => {
                self.describe(context, false);
                set_tag(context, number(self.arguments, f.tag));
                set(LIVE | DONE);
            }
            Does::Control => self.control(context, has_bytes(), is_done()),
            Does::Set => {}
            Does::Copy => {
                finish();
                if let Some(from) = find(self.region, self.argument(f.input)) {
                    // The message goes on in the copy: of two, one is finished, and its bytes were read once.
                    for word in [C_TICKS, C_BYTES, C_AAD, C_PIECES, C_KEY_TICKS, C_FAR] {
                        context[word].store(from[word].swap(0, Relaxed), Relaxed);
                    }
                    let what = from[C_WHAT].load(Relaxed);
                    context[C_WHAT].store(what & !DONE | LIVE, Relaxed);
                    from[C_WHAT].store(what & (WHAT_MASK | NAMED), Relaxed);
                }
            }
            Does::Reset => {
                finish();
                context[C_WHAT].store(0, Relaxed);
                return;
            }
            Does::Whole | Does::New | Does::Free => {}
        }
        add(C_TICKS, self.ticks);
    }

    /// OpenSSL's `ctrl`: tags, and what begins a message: the next nonce, the header of a record of TLS 1.2, and the tag
    /// to compare with, where the message before has ended.
    fn control(&self, context: Words, has_bytes: bool, is_done: bool) {
        const GET_TAG: u64 = 0x10;
        const SET_TAG: u64 = 0x11;
        const NEXT_NONCE: u64 = 0x13;
        const TLS_HEADER: u64 = 0x16;
        const SET_NONCE: u64 = 0x18;
        let (kind, number) = (self.argument(1) & 0xffff_ffff, self.argument(2) & 0xffff_ffff);
        let begins = match kind {
            SET_TAG => is_done,
            NEXT_NONCE | SET_NONCE | TLS_HEADER => has_bytes || is_done,
            _ => false,
        };
        if begins {
            finish(self.region, self.area, context);
        }
        match kind {
            GET_TAG | SET_TAG => set_tag(context, number),
            TLS_HEADER => {
                self.describe(context, false);
                let has_nonce = u64::from(self.puts_nonce(context)) << 43;
                context[C_AAD].store(number | 16 << 32 | 1 << 40 | has_nonce, Relaxed);
                context[C_WHAT].store(context[C_WHAT].load(Relaxed) | LIVE, Relaxed);
            }
            _ => {}
        }
    }

    /// Whether a record of TLS 1.2 carries a part of the nonce: in GCM and CCM.
    fn puts_nonce(&self, context: Words) -> bool {
        let name = region::algorithm_name(self.region, algorithm_of(context[C_WHAT].load(Relaxed)));
        name.windows(3).any(|part| part == b"gcm" || part == b"ccm")
    }

    /// Notes library, operation, direction and algorithm. A call that begins a message says them all; another one fills
    /// in what is not known, as of a context that was there before it was watched.
    #[inline(always)]
    fn describe(&self, context: Words, begins: bool) {
        let before = context[C_WHAT].load(Relaxed);
        let same =
            self.function.direction == NEITHER || before >> 28 & 3 == self.function.direction;
        if !begins && before & NAMED != 0 && before & USED != 0 && same {
            return;
        }
        self.describe_anew(context, begins, before);
    }

    #[inline(never)]
    fn describe_anew(&self, context: Words, begins: bool, before: u64) {
        if !begins && before & NAMED != 0 && before & USED != 0 {
            if self.function.direction != NEITHER {
                let direction = self.function.direction << 28;
                context[C_WHAT].store(before & !(3 << 28) | direction, Relaxed);
            }
            return;
        }
        // OpenSSL's contexts keep their algorithm where none is given again.
        let keeps = before & NAMED != 0
            && self.function.algorithm.given().is_some_and(|at| self.argument(at) == 0);
        let name = if keeps { None } else { self.name() };
        let named = u64::from(name.is_some() || before & NAMED != 0) * NAMED;
        let algorithm = name.unwrap_or(algorithm_of(before));
        let operation = match (self.function.operation, operation_of(before)) {
            (OTHER, known) => known,
            (own, known) if begins || known == OTHER => own,
            (_, known) => known,
        };
        let direction = self.direction().unwrap_or(before >> 28 & 3);
        let flags = before & (LIVE | DONE | IN_PLACE);
        context[C_WHAT]
            .store(what(operation, direction, self.library, algorithm) | flags | named, Relaxed);
    }
}

impl Function {
    pub fn reads_data(&self) -> bool {
        let reads = matches!(self.does, Does::Whole | Does::Update | Does::Each | Does::Last);
        let is_plain = self.length != NONE && self.length & VECTORS == 0;
        reads && is_plain && self.operation == CIPHER && self.input != NONE && self.output != NONE
    }
}

fn set_tag(context: Words, bytes: u64) {
    if bytes != 0 {
        let aad = context[C_AAD].load(Relaxed);
        context[C_AAD].store(aad & !(0xff << 32) | bytes.min(255) << 32, Relaxed);
    }
}

/// Places of one context.
const WINDOW: usize = 16;

fn places(region: Words, address: u64) -> impl Iterator<Item = Words> {
    let hash = (address >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let first = usize::try_from(hash).unwrap_or(0);
    (0..WINDOW).map(move |step| {
        let at = CONTEXT_AT + (first + step) % CONTEXTS * CONTEXT_WORDS;
        &region[at..][..CONTEXT_WORDS]
    })
}

#[inline]
fn find(region: Words, address: u64) -> Option<Words> {
    places(region, address).find(|context| context[C_ADDRESS].load(Relaxed) == address)
}

/// Counts a context's message, where there is one.
fn finish(region: Words, area: Area, context: Words) {
    let Some(message) = Message::of_context(|at| context[at].load(Relaxed)) else { return };
    put(region, area, &message);
    for word in [C_TICKS, C_BYTES, C_AAD, C_PIECES, C_KEY_TICKS, C_FAR] {
        context[word].store(0, Relaxed);
    }
    let of = context[C_WHAT].load(Relaxed);
    context[C_WHAT].store(of & (WHAT_MASK | NAMED), Relaxed);
}

/// Counts a message in its row.
fn put(region: Words, area: Area, message: &Message) {
    let exact = sizes(message.size, message.aad, message.tag);
    let in_class = sizes(class(message.size), class(message.aad), message.tag);
    let row = row(area, message.what, exact)
        .or_else(|| row(area, message.what | CLASS, in_class))
        .unwrap_or_else(|| insert(region, area, message.what, exact, in_class));
    if area.words[row + R_WHAT].load(Relaxed) & CLASS != 0 {
        note_size(&area.words[row + R_ONLY], exact);
    }
    area.add(row + R_BYTES, message.size);
    area.add(row + R_PIECES, message.pieces);
    if message.keys != 0 {
        area.add(row + R_KEYS, message.keys);
        area.add(row + R_KEY_TICKS, message.key_ticks);
    }
    if message.in_place {
        area.add(row + R_IN_PLACE, 1);
    }
    if message.far != 0 {
        area.add(row + R_LOOKS, message.far >> 40);
        area.add(row + R_FAR_TICKS, message.far & (far(0) - 1));
    }
    let at = row + R_BUCKETS + 2 * bucket(message.ticks);
    area.add(at, 1);
    area.add(at + 1, message.ticks);
}

/// A class in which only one size was seen is that size: the first sizes of a connection are not those that matter.
fn note_size(only: &AtomicU64, exact: u64) {
    match only.load(Relaxed) {
        0 => only.store(exact, Relaxed),
        of if of == exact => {}
        _ => only.store(MIXED, Relaxed),
    }
}

/// The last row is for what no other has room for.
const LAST: usize = ROWS - 1;

fn starts(what: u64, size: u64) -> impl Iterator<Item = usize> {
    let hash = (what ^ size.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let first = usize::try_from(hash).unwrap_or(0);
    (0..LAST).map(move |step| AREA_ROWS + (first + step) % LAST * ROW_WORDS)
}

fn row(area: Area, what: u64, size: u64) -> Option<usize> {
    for at in starts(what, size) {
        match area.words[at + R_WHAT].load(Acquire) {
            0 => return None,
            of if of == what && area.words[at + R_SIZE].load(Relaxed) == size => return Some(at),
            _ => {}
        }
    }
    None
}

/// A new row: of the size itself while there are few of its kind, else of its class.
fn insert(region: Words, area: Area, what: u64, exact: u64, in_class: u64) -> usize {
    let _locked = area.shared.then(|| region::lock(&region[LOCK])).flatten();
    let used = |at: &AtomicU64| at.load(Relaxed);
    let rows = || (0..LAST).map(|row| used(&area.words[AREA_ROWS + row * ROW_WORDS + R_WHAT]));
    let (all, own) =
        (rows().filter(|of| *of != 0).count(), rows().filter(|of| *of == what).count());
    let (what, size) = match own < EXACT && all < LAST * 3 / 4 {
        true => (what, exact),
        false => (what | CLASS, in_class),
    };
    if let Some(at) = row(area, what, size) {
        return at;
    }
    let free = starts(what, size).find(|at| used(&area.words[at + R_WHAT]) == 0);
    let (at, what) = free.map_or((AREA_ROWS + LAST * ROW_WORDS, USED), |at| (at, what));
    region::stamp(false);
    if free.is_none() {
        region[OVERFLOWN].fetch_add(1, Relaxed);
    } else {
        area.words[at + R_SIZE].store(size, Relaxed);
    }
    area.words[at + R_WHAT].store(what, Release);
    at
}

const _: () = assert!(BUCKETS * 2 + R_BUCKETS == ROW_WORDS && FREE != OTHER);
