//! The kernel's functions that tell the time without a system call (vDSO(7)), executed by the handler: a library that
//! seeds itself anew every few minutes would do so in one process and not in another.

use super::fixed::{RAX, RDI, RIP, RSI, Registers};
use std::ffi::CStr;

const RSP: usize = libc::REG_RSP as usize;
const BILLION: u64 = 1_000_000_000;
/// What passes from one reading to the next, so that code that waits for time to pass goes on.
const NANOS: u64 = 1000;

/// Clocks up to `CLOCK_TAI`, which is the last: the others are a process's or a thread's.
const CLOCKS: usize = libc::CLOCK_TAI as usize + 1;

/// Where the functions begin, and what the clocks showed when this was made.
#[derive(Clone, Debug)]
pub(super) struct Vdso {
    time: u64,
    gettimeofday: u64,
    clock_gettime: u64,
    clocks: [u64; CLOCKS],
}

impl Vdso {
    pub(super) fn of_this_process() -> Self {
        // SAFETY: a name that ends with a zero; nothing is loaded, so nothing runs.
        let vdso = unsafe {
            libc::dlopen(c"linux-vdso.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
        };
        let of = |name: &CStr| {
            if vdso.is_null() {
                return 0;
            }
            // SAFETY: the handle is live.
            unsafe { libc::dlsym(vdso, name.as_ptr()) as u64 }
        };
        Self {
            time: of(c"__vdso_time"),
            gettimeofday: of(c"__vdso_gettimeofday"),
            clock_gettime: of(c"__vdso_clock_gettime"),
            clocks: std::array::from_fn(|clock| nanos(clock as libc::clockid_t)),
        }
    }

    /// Executes the function that begins here, if it is one of these, with so many readings before it. Returns
    /// whether it was.
    pub(super) fn execute(&self, registers: &mut Registers, readings: &mut u64) -> bool {
        let at = registers[RIP] as u64;
        if at == 0 || ![self.time, self.gettimeofday, self.clock_gettime].contains(&at) {
            return false;
        }
        let clock = if at == self.clock_gettime { registers[RDI] } else { 0 };
        let Some(base) = usize::try_from(clock).ok().and_then(|clock| self.clocks.get(clock))
        else {
            return false;
        };
        if at == self.gettimeofday && registers[RSI] != 0 {
            return false; // Nobody asks for time zones.
        }
        *readings += 1;
        let now = base + *readings * NANOS;
        let (seconds, rest) = ((now / BILLION) as i64, (now % BILLION) as i64);
        let place = if at == self.clock_gettime { registers[RSI] } else { registers[RDI] };
        let to = place as *mut i64;
        registers[RAX] = 0;
        // SAFETY: what the caller gave for the time is as large as the function's type says (time_t, timeval,
        // timespec), or null; its return address lies on the stack.
        unsafe {
            if !to.is_null() {
                to.write_unaligned(seconds);
            }
            if at == self.time {
                registers[RAX] = seconds;
            } else if !to.is_null() {
                let part = if at == self.gettimeofday { rest / 1000 } else { rest };
                to.add(1).write_unaligned(part);
            }
            registers[RIP] = (registers[RSP] as *const i64).read();
        }
        registers[RSP] += 8;
        true
    }
}

fn nanos(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is as large as it has to be; an unknown clock leaves it.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec as u64 * BILLION + now.tv_nsec as u64
}
