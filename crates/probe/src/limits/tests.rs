use super::*;

#[test]
fn every_instruction_runs_and_takes_a_time_that_a_core_can_have() {
    let clock = Clock::calibrate();
    let mut prober = Prober::new(&clock);
    for subject in prober.subjects() {
        let rounds = prober.rounds(&subject);
        // The least of several: whatever else runs on the machine only adds. On a core that others share few
        // are steady.
        let readings =
            (0..5000).map(|_| prober.read(&subject, rounds)).filter(|r| r.steady).take(10);
        let cycles = readings.map(|r| r.cycles).fold(f64::INFINITY, f64::min);
        let most = match subject.reads {
            Reads::Window { steps } => steps * 50.0,
            _ => 400.0,
        };
        assert!(cycles > 0.02 && cycles < most, "{subject:?}: {cycles}");
    }
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn what_every_cpu_has_is_measured() {
    let clock = Clock::calibrate();
    let names: Vec<_> = Prober::new(&clock).subjects().iter().map(|s| s.name).collect();
    let vectors = if cfg!(target_arch = "aarch64") { ["eor.16b", "mul"] } else { ["pxor", "imul"] };
    for name in ["add", "load", "store", "load+store"].iter().chain(&vectors) {
        assert!(names.contains(name), "{name}");
    }
}

/// The chain that cycles are counted by, held against another one: a unit mistaken somewhere would
/// show here, and speed cancels.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_multiplication_takes_three_additions() {
    let clock = Clock::calibrate();
    let mut prober = Prober::new(&clock);
    let mut least = |name: &str| {
        let all = prober.subjects();
        let chain = |s: &&Subject| s.name == name && s.reads == Reads::Latency;
        let subject = *all.iter().find(chain).expect("in the catalogue");
        let rounds = prober.rounds(&subject);
        (0..50).map(|_| prober.read(&subject, rounds).ticks).fold(f64::INFINITY, f64::min)
    };
    let ratio = least("imul") / least("adc");
    assert!((2.0..4.5).contains(&ratio), "{ratio}");
}

#[test]
fn every_way_to_move_bytes_goes_through_the_whole_stretch() {
    let clock = Clock::calibrate();
    let mut prober = Prober::new(&clock);
    for how in [Move::Read, Move::Write, Move::Copy] {
        for way in prober.ways(how) {
            let mut stretch = Stretch::new(64 << 10, 8 << 10).expect("64 KiB");
            let reading = prober.walk(&mut stretch, how, way, 64 << 10);
            assert!(reading.ticks > 0.0, "{how:?} {way}");
        }
    }
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn writing_fills_and_copying_copies() {
    let clock = Clock::calibrate();
    let mut prober = Prober::new(&clock);
    for way in prober.ways(Move::Copy) {
        let mut stretch = Stretch::new(8192, 4096).expect("8 KiB");
        // SAFETY: both halves are 4096 bytes of the stretch.
        let (from, to) = unsafe {
            let (from, to) = stretch.advance();
            (
                std::slice::from_raw_parts_mut(from.cast_mut(), 4096),
                std::slice::from_raw_parts(to, 4096),
            )
        };
        from.iter_mut().enumerate().for_each(|(i, b)| *b = i as u8 ^ (i >> 8) as u8 ^ 0x5a);
        let _ = prober.walk(&mut stretch, Move::Copy, way, 4096);
        assert!(from == to, "{way}");
    }
}
