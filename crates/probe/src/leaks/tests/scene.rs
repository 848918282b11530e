//! A function is recorded with two keys, and judged.

use super::*;
use crate::step::{Recorder, Tape, thread_pointer};

/// Reads a key of 64 bytes, writes 16 bytes of output, may read a table of 4 KiB.
pub(crate) type Function = unsafe extern "C" fn(*const u8, *mut u8, *const u8) -> i32;

#[repr(align(4096))]
struct Table([u8; 4096]);

struct Scene {
    key: [u8; 64],
    output: [u8; 16],
    table: Box<Table>,
}

impl Scene {
    fn record(&mut self, function: Function, key: [u8; 64]) -> Tape {
        let mut tape = Tape::new(1 << 14).expect("memory");
        self.key = key;
        let (key, table) = (self.key.as_ptr(), self.table.0.as_ptr());
        let output = self.output.as_mut_ptr();
        // SAFETY: the functions below keep within these buffers.
        let mut call = || unsafe { function(key, output, table) };
        crate::step::prepare();
        let mut recorder = Recorder::new().expect("a way to step");
        recorder.record(&mut tape, 1 << 14, &mut call).expect("it can be stepped");
        tape
    }
}

fn range(bytes: &[u8]) -> Range<u64> {
    let from = bytes.as_ptr() as u64;
    from..from + bytes.len() as u64
}

/// The judgement of a function by these two keys.
pub(crate) fn judged_with(function: Function, first: [u8; 64], second: [u8; 64]) -> Judgement {
    judged_by(function, [first, second], None)
}

pub(crate) fn judged_by(
    function: Function,
    [first, second]: [[u8; 64]; 2],
    show: Option<&str>,
) -> Judgement {
    let table = Box::new(Table(std::array::from_fn(|i| i as u8)));
    let mut scene = Scene { key: first, output: [0; 16], table };
    let outputs = vec![range(&scene.output)];
    let stages = [Stage { operation: Operation::Encrypt, size: Some(16), outputs }];
    let secrets = [scene.record(function, first), scene.record(function, second)];
    let twin = scene.record(function, first);
    let code = Code::of_this_process(&|_| None);
    judge(&Recordings {
        stages: &stages,
        secrets: &secrets,
        twin: &twin,
        forgeries: &[],
        secret: &[range(&scene.key)],
        public: &[],
        code: &code,
        thread: thread_pointer(),
        show,
    })
}

pub(crate) fn judged(function: Function) -> Judgement {
    judged_showing(function, None)
}

pub(crate) fn judged_showing(function: Function, show: Option<&str>) -> Judgement {
    let keys = [[0x35; 64], std::array::from_fn(|i| 0xf2 ^ (i as u8) << 3)];
    judged_by(function, keys, show)
}

/// Kind, whether traces differed, whether tainted.
pub(crate) fn kinds(judgement: &Judgement) -> Vec<(LeakKind, bool, bool)> {
    judgement.findings.iter().map(|f| (f.kind, f.compared, f.tainted)).collect()
}
