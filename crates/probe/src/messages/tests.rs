use super::left::POISONED_WHOLE;
use super::*;

#[test]
fn every_size_meets_sixteen_distances_of_input_and_output() {
    for size in [16, 64, 128, 256, 512, 1024, 4096, 8192] {
        let count = messages_for(size);
        let apart: std::collections::BTreeSet<usize> = (0..RING)
            .map(|i| (output_at(i) + SPREAD - (i % count * size / LINE * LINE) % SPREAD) % SPREAD)
            .collect();
        assert!(apart.len() >= RING - 2, "{size}: {} distances", apart.len());
    }
}

/// Writes the lowest byte of the nonce over output and tag.
unsafe extern "C" fn mark(_: *mut std::ffi::c_void, m: *const contract::raw::Message) -> i32 {
    // SAFETY: the batch's descriptors point at whole messages of an algorithm with 16-byte tags.
    unsafe {
        let m = &*m;
        std::ptr::write_bytes(m.output, *m.nonce, m.len);
        std::ptr::write_bytes(m.tag, *m.nonce, 16);
    }
    contract::raw::OK
}

/// Encryption that leaves marks in place of ciphertexts.
fn marking() -> Session {
    let table = contract::raw::Session { message: Some(mark), ..contract::raw::Session::empty() };
    let gcm = base::model::Algorithm::find("aes-256-gcm").unwrap();
    // SAFETY: `mark` keeps the interface's rules, and needs no state.
    unsafe { Session::new(table, gcm, Direction::Encrypt) }
}

fn set<'a>(size: usize, inputs: &'a [u8], nonces: &'a [Vec<u8>]) -> MessageSet<'a> {
    let (tags, keys, aad) = ([].as_slice(), [].as_slice(), [].as_slice());
    let (expected, in_place, walk) = (contract::raw::OK, false, None);
    MessageSet { size, inputs, nonces, tags, keys, aad, expected, in_place, walk }
}

/// Checks what is shown of the last operations; returns how many bytes of each.
fn shown(batch: &mut MessageBatch<'_>) -> Vec<usize> {
    batch.poison(0xee);
    batch.prepare(37);
    assert_eq!(batch.run(37), 0);
    let left = (0..batch.kept(37)).map(|back| {
        let done = batch.done(back);
        assert_eq!(done.nonce[0], 36 - back as u8, "{back} before the last");
        let own = done.output.iter().chain(done.tag);
        assert!(own.clone().all(|b| *b == done.nonce[0]), "{back} before the last");
        assert!(done.from + done.output.len() <= batch.size && done.tag.len() == 16);
        done.output.len()
    });
    left.collect()
}

#[test]
fn what_an_operation_left_is_shown_without_what_later_ones_wrote_over() {
    let (mut session, mut arena) = (marking(), Arena::new());
    let nonces = [vec![0; 12]];
    for size in [1, 16, 64, 192, 256, 700, 4096, 8192, 100_000] {
        let inputs = vec![0; size * messages_for(size)];
        let set = set(size, &inputs, &nonces);
        let mut ring = MessageBatch::place(&mut session, &mut arena, &set, 12345);
        let shown = shown(&mut ring);
        assert_eq!((shown.len(), shown[0]), (RING, size));
        assert_eq!(shown.iter().all(|len| *len == size), size <= 192, "{size}: {shown:?}");
        assert!(shown.iter().filter(|len| **len > 0).count() >= 4, "{size}: {shown:?}");
    }
}

#[test]
fn outputs_that_lie_apart_are_shown_whole() {
    let (mut session, mut arena) = (marking(), Arena::new());
    let nonces = [vec![0; 12]];
    for (size, kept) in [(1, 16), (700, 16), (4096, 16), (8192, 8), (32768, 2), (1 << 20, 2)] {
        let inputs = vec![0; size * messages_for(size)];
        let set = set(size, &inputs, &nonces);
        let mut apart = MessageBatch::place_apart(&mut session, &mut arena, &set, 12345);
        assert_eq!(shown(&mut apart), vec![size; kept]);
        // Where too little is filled to say that nothing was written, nothing is said.
        assert_eq!(apart.is_poisoned_whole(), size <= POISONED_WHOLE);
        apart.poison(0x77);
        let output = apart.done(0).output;
        assert!((output[0], output[size - 1]) == (0x77, 0x77));
        assert_eq!(output.iter().all(|b| *b == 0x77), size <= POISONED_WHOLE);
    }
}

#[test]
fn what_operations_of_a_walk_left_is_shown() {
    let (mut session, mut arena) = (marking(), Arena::new());
    let (nonces, inputs) = ([vec![0; 12]], vec![0; 64 * messages_for(64)]);
    for (bytes, kept) in [(24 << 10, 16), (1 << 10, 4)] {
        let walk = Some(WalkSize::Within(bytes));
        let set = MessageSet { walk, ..set(64, &inputs, &nonces) };
        let mut batch = MessageBatch::place(&mut session, &mut arena, &set, 12345);
        assert_eq!(shown(&mut batch), vec![64; kept]);
    }
}

#[test]
fn operations_take_the_numbers_that_they_are_given() {
    let (mut session, mut arena) = (marking(), Arena::new());
    let (nonces, inputs) = ([vec![0; 12]], vec![0; 16 * messages_for(16)]);
    let set = set(16, &inputs, &nonces);
    let mut batch = MessageBatch::place(&mut session, &mut arena, &set, 0);
    batch.run(5);
    let mut next = 100;
    batch.renumber(|| {
        next += 7;
        next
    });
    batch.run(16);
    let last: Vec<u8> = (0..16).map(|back| batch.done(back).nonce[0]).collect();
    let given: Vec<u8> = (1..=16).rev().map(|i| 100 + 7 * i).collect();
    assert_eq!(last, given);
}

#[test]
fn sets_fit_the_first_level_cache_and_the_ring() {
    for (size, count) in [(1, 16), (16, 16), (1024, 16), (3276, 4), (8192, 2), (16 << 20, 2)] {
        assert_eq!(messages_for(size), count, "{size}");
    }
}
