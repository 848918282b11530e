//! Rows of instructions that nothing jumps out of. They are executed at once, as a trap takes as long as thousands of
//! instructions: the row is copied with a breakpoint behind it, and counted whole when it begins. What cannot be copied,
//! and what the handler does not execute itself, is stepped where it is. Where registers are recorded, each copied
//! instruction comes after stores of all of them to places of its own, relative to the code: they need no register and
//! change no flag.

use crate::step::x86_64::decode::LONGEST;
use crate::step::x86_64::handler::{Table, place};
use crate::step::{REGISTER_PLACES, Step};
use iced_x86::{
    Code as IcedCode, ConditionCode, CpuidFeature, Decoder, DecoderError, DecoderOptions,
    FlowControl, Instruction, Mnemonic, Register,
};

/// Bytes for copies: some twenty times what the longest known operation runs through.
const CODE_BYTES: usize = 4 << 20;
/// Bytes of the stores of all general registers, of one, and for all copies with them.
const STORES: usize = REGISTER_PLACES.len() * STORE;
const STORE: usize = 7;
const RECORDED_CODE_BYTES: usize = CODE_BYTES + MOST_INSTRUCTIONS * STORES;
/// Behind the code: where the registers of a row's instructions are stored.
const STORED_BYTES: usize = LONGEST_ROW * size_of::<Step>();
/// Rows, their instructions, and addresses that are remembered: the last a power of two.
const MOST_ROWS: usize = 1 << 14;
const MOST_INSTRUCTIONS: usize = 1 << 17;
const PLACES: usize = 1 << 16;
const MOST_FILLED: usize = PLACES / 4 * 3;
const LONGEST_ROW: usize = 512;
const BREAKPOINT: u8 = 0xcc;
const PAGE: u64 = 4096;

/// What begins at an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Next {
    /// One instruction, to be stepped where it is.
    #[default]
    Stepped,
    /// A jump to `target` if the condition holds, else behind it.
    Jump {
        condition: ConditionCode,
        target: u64,
        behind: u64,
    },
    Call {
        target: u64,
        behind: u64,
    },
    /// A jump to what is written at `place`, as procedure linkage tables have them.
    Through {
        place: u64,
    },
    /// A return that takes nothing but its address from the stack.
    Return,
    Row(usize),
}

/// A row and its copy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) copy: u64,
    /// Where the copy's breakpoint leaves the instruction pointer.
    ends: u64,
    pub(crate) behind: u64,
    /// The row's last instruction.
    pub(crate) last: u64,
    first: usize,
    /// Instructions.
    pub(crate) len: usize,
    count: u64,
}

/// All rows of a call, in memory that is set aside beforehand.
#[derive(Debug)]
pub(crate) struct Rows {
    code: *mut u8,
    bytes: usize,
    records: bool,
    used: usize,
    rows: Vec<Row>,
    addresses: Vec<u64>,
    places: Box<[(u64, Next)]>,
    filled: usize,
    /// The row that is being executed.
    current: usize,
}

impl Rows {
    /// Memory beside the code of libraries, which the kernel maps in a row: copies reach what their instructions
    /// find relative to themselves. `None` where memory cannot be both written and executed.
    pub(crate) fn new(records: bool) -> Option<Self> {
        let bytes = if records { RECORDED_CODE_BYTES } else { CODE_BYTES };
        let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let all = bytes + STORED_BYTES;
        // SAFETY: a new mapping, which nothing else uses.
        let code = unsafe { libc::mmap(std::ptr::null_mut(), all, access, kind, -1, 0) };
        if code == libc::MAP_FAILED {
            return None;
        }
        // The decoder makes its tables when it is used first, which a handler must not.
        let _ = Decoder::new(64, &[0x90], DecoderOptions::NONE).decode();
        Some(Self {
            code: code.cast(),
            bytes,
            records,
            used: 0,
            rows: Vec::with_capacity(MOST_ROWS),
            addresses: Vec::with_capacity(MOST_INSTRUCTIONS),
            places: vec![(0, Next::Stepped); PLACES].into_boxed_slice(),
            filled: 0,
            current: 0,
        })
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.addresses.clear();
        if self.filled > 0 {
            self.places.fill((0, Next::Stepped));
        }
        (self.used, self.filled) = (0, 0);
    }

    /// At an address may be other code from now on.
    pub(crate) fn forget(&mut self) {
        self.places.fill((0, Next::Stepped));
        self.filled = 0;
    }

    /// Whether an address is in a copy, and not behind the breakpoint of the row that was begun last.
    pub(crate) fn is_within(&self, address: u64) -> bool {
        address.wrapping_sub(self.code as u64) < self.bytes as u64 && self.ended(address).is_none()
    }

    /// Counts the row that begins at an address and is about to be executed, if it has no more instructions than `most`.
    pub(crate) fn begin(&mut self, address: u64, most: u64) -> Option<Row> {
        let Next::Row(number) = self.next(address) else { return None };
        let row = self.rows.get_mut(number).filter(|row| row.len as u64 <= most)?;
        row.count = row.count.wrapping_add(1);
        self.current = number;
        Some(*row)
    }

    /// The row that was begun last, if the instruction pointer is behind that row's breakpoint.
    pub(crate) fn ended(&self, at: u64) -> Option<Row> {
        self.rows.get(self.current).filter(|row| row.ends == at).copied()
    }

    /// The registers before each instruction of the row that was executed last.
    pub(crate) fn steps(&self, row: &Row) -> impl Iterator<Item = Step> {
        let addresses = self.addresses.iter().skip(row.first).take(row.len);
        addresses.enumerate().map(|(number, address)| {
            // SAFETY: behind the code there is room for the longest row's; any words are a step.
            let mut step = unsafe { self.code.add(self.bytes).cast::<Step>().add(number).read() };
            step.0[REGISTER_PLACES.len()] = *address;
            step
        })
    }

    /// Adds what was counted to the table; whether there was room. Nothing is counted any more.
    pub(crate) fn count_into(&mut self, table: &mut Table) -> bool {
        let mut room = true;
        for row in self.rows.iter_mut().filter(|row| row.count > 0) {
            for address in self.addresses.iter().skip(row.first).take(row.len) {
                room &= table.add(*address, row.count, 0);
            }
            row.count = 0;
        }
        room
    }

    /// What begins at an address that is about to be executed. Allocates nothing: it runs in a signal handler.
    pub(crate) fn next(&mut self, address: u64) -> Next {
        let mut at = place(address);
        loop {
            match self.places.get(at % PLACES) {
                Some((known, next)) if *known == address => return *next,
                Some((0, _)) => break,
                Some(_) => at = at.wrapping_add(1),
                None => return Next::Stepped,
            }
        }
        let next = self.find(address);
        if self.filled < MOST_FILLED
            && let Some(place) = self.places.get_mut(at % PLACES)
        {
            *place = (address, next);
            self.filled += 1;
        }
        next
    }

    fn find(&mut self, address: u64) -> Next {
        let begun = (self.used, self.addresses.len());
        let mut at = address;
        let mut last = address;
        while self.addresses.len() - begun.1 < LONGEST_ROW
            && self.addresses.len() < MOST_INSTRUCTIONS
            && self.used + STORES + 2 * LONGEST < self.bytes
        {
            let Some((instruction, displacement)) = decoded(at) else { break };
            if self.addresses.len() == begun.1
                && let Some(jump) = jump(&instruction)
            {
                return jump;
            }
            let before = self.used;
            if self.records {
                self.store(self.addresses.len() - begun.1);
            }
            if !can_be_copied(&instruction) || !self.copy(&instruction, displacement) {
                self.used = before;
                break;
            }
            self.addresses.push(at);
            (last, at) = (at, instruction.next_ip());
        }
        let len = self.addresses.len() - begun.1;
        if len == 0 || self.rows.len() >= MOST_ROWS {
            self.used = begun.0;
            self.addresses.truncate(begun.1);
            return Next::Stepped;
        }
        // SAFETY: room for a longest instruction and more is left in the mapping.
        unsafe { self.code.add(self.used).write(BREAKPOINT) };
        self.used += 1;
        self.rows.push(Row {
            copy: self.code as u64 + begun.0 as u64,
            ends: self.code as u64 + self.used as u64,
            behind: at,
            last,
            first: begun.1,
            len,
            count: 0,
        });
        Next::Row(self.rows.len() - 1)
    }

    /// Writes what stores the general registers in the place of a row's instruction by its number.
    fn store(&mut self, number: usize) {
        for (register, place) in REGISTER_PLACES.iter().enumerate() {
            let to = self.bytes + (number * Step::WORDS + place) * size_of::<u64>();
            let distance = (to - self.used - STORE) as i32;
            let (high, low) = ((register >> 3) as u8, (register & 7) as u8);
            // MOV m64, r64, relative to RIP (Intel SDM volume 2A, sections 2.1 and 2.2.1).
            let code = [0x48 | high << 2, 0x89, 0x05 | low << 3];
            // SAFETY: the caller left room for the stores.
            unsafe {
                let at = self.code.add(self.used);
                at.cast::<[u8; 3]>().write(code);
                at.add(code.len()).cast::<i32>().write_unaligned(distance);
            }
            self.used += STORE;
        }
    }

    /// Copies an instruction, so that it finds what it finds relative to itself; whether that is possible.
    fn copy(&mut self, instruction: &Instruction, displacement: usize) -> bool {
        let (to, len) = (self.code as u64 + self.used as u64, instruction.len());
        let mut moved = None;
        if instruction.is_ip_rel_memory_operand() {
            let target = instruction.ip_rel_memory_address();
            let distance = target.wrapping_sub(to + len as u64) as i64;
            let Ok(distance) = i32::try_from(distance) else { return false };
            // With the other registers' size it wraps at 4 GiB.
            if instruction.memory_base() != Register::RIP || displacement == 0 {
                return false;
            }
            moved = Some(distance);
        }
        // SAFETY: the instruction is about to be executed, or lies behind such ones, and was decoded from these bytes;
        // the caller left room for it, and its displacement is within it.
        unsafe {
            let to = self.code.add(self.used);
            std::ptr::copy_nonoverlapping(instruction.ip() as *const u8, to, len);
            if let Some(distance) = moved {
                to.add(displacement).cast::<i32>().write_unaligned(distance);
            }
        }
        self.used += len;
        true
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`; no row is being executed, or the log would be in use.
        unsafe { libc::munmap(self.code.cast(), self.bytes + STORED_BYTES) };
    }
}

/// The instruction at an address, and where in it its displacement lies if that has four bytes (0: it has none).
fn decoded(address: u64) -> Option<(Instruction, usize)> {
    let on_page = (PAGE - address % PAGE) as usize;
    // On the next page only if the instruction goes on there: it is executed there then, so it can be read.
    for len in [on_page.min(LONGEST), LONGEST] {
        // SAFETY: code that is about to be executed, or lies behind such code on the same page or is reached from it without
        // a jump.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, len) };
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if !instruction.is_invalid() {
            let constants = decoder.get_constant_offsets(&instruction);
            let has_one = constants.has_displacement() && constants.displacement_size() == 4;
            let displacement = if has_one { constants.displacement_offset() } else { 0 };
            return Some((instruction, displacement));
        }
        if decoder.last_error() != DecoderError::NoMoreBytes {
            return None;
        }
    }
    None
}

/// What the handler executes itself.
fn jump(instruction: &Instruction) -> Option<Next> {
    let (target, behind) = (instruction.near_branch_target(), instruction.next_ip());
    match instruction.code() {
        IcedCode::Call_rel32_64 => return Some(Next::Call { target, behind }),
        IcedCode::Retnq => return Some(Next::Return),
        IcedCode::Jmp_rm64
            if instruction.memory_base() == Register::RIP
                && instruction.segment_prefix() == Register::None =>
        {
            return Some(Next::Through { place: instruction.ip_rel_memory_address() });
        }
        _ => {}
    }
    let condition = match instruction.flow_control() {
        FlowControl::UnconditionalBranch => ConditionCode::None,
        // Those that look at RCX have none.
        FlowControl::ConditionalBranch if instruction.condition_code() != ConditionCode::None => {
            instruction.condition_code()
        }
        _ => return None,
    };
    let near = instruction.is_jmp_short_or_near() || instruction.is_jcc_short_or_near();
    near.then_some(Next::Jump { condition, target, behind })
}

/// Whether a copy does what the instruction does, and traps as often.
fn can_be_copied(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Cpuid, Int, Int3, Popf, Popfd, Popfq, Pushf, Pushfd, Pushfq, Rdrand, Rdseed, Rdtsc, Rdtscp,
        Syscall, Sysenter, Ud2,
    };
    let left_alone = matches!(
        instruction.mnemonic(),
        // Whoever reads the flags finds the trap flag in them, as everywhere.
        Popf | Popfd | Popfq | Pushf | Pushfd | Pushfq
        // Behind these there is no trap (`NO_TRAP_AFTER`).
        | Cpuid | Int | Int3 | Syscall | Sysenter | Ud2
        // Recorded, these have fixed outcomes.
        | Rdrand | Rdseed | Rdtsc | Rdtscp
    );
    // Each repetition is a step.
    let repeats = instruction.is_string_instruction()
        && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
    let goes_on = instruction.flow_control() == FlowControl::Next
        // Whoever stores the state of the x87 finds where its last instruction was.
        && !instruction.cpuid_features().contains(&CpuidFeature::FPU);
    let is_special = instruction.is_privileged() || instruction.op0_register() == Register::SS;
    goes_on && !left_alone && !repeats && !is_special
}

pub(crate) fn is_taken(condition: ConditionCode, flags: u64) -> bool {
    let flag = |bit: u32| flags & (1 << bit) != 0;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    match condition {
        ConditionCode::None => true,
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !zero && sign == overflow,
    }
}
