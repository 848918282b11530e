use super::{Access, Level, *};
use crate::analysis::bound::fixtures::{aarch64, intel, zen4};
use crate::model::Feature;

const KEY: (Direction, Model, Tier) = (Direction::Encrypt, Model::Message, Tier::Native);

fn per_byte(core: &Core, name: &str, of: (Direction, Model, Tier)) -> (f64, Bound) {
    let found = floor(core, Algorithm::find(name).unwrap(), of);
    (found.cycles_per_byte.expect(name), found.limited_by.unwrap())
}

/// A message of 4096 bytes in the first-level cache.
fn of(name: &str, direction: Direction, tier: Tier) -> Operation<'static> {
    Operation {
        algorithm: Algorithm::find(name).unwrap(),
        direction,
        model: Model::Message,
        tier,
        size: 4096,
        footprint: Footprint::Hot,
        in_place: false,
        several: false,
    }
}

fn close(a: f64, b: f64) -> bool {
    // What is paid once per message is still there in a long one.
    (a / b - 1.0).abs() < 1e-3
}

/// The floors that published records are held against: 4 rounds a cycle at 256 and 512 bits, 2 at
/// 128; 10, 12 or 14 rounds for 16 bytes; AEGIS' 8 for 32 and 6 for 16.
#[test]
fn the_floors_are_those_of_the_literature() {
    for core in [zen4(), intel()] {
        for (names, rounds) in [
            (
                &["aes-128-ecb", "aes-128-ctr", "aes-128-xts", "aes-128-ocb", "aes-128-gcm"][..],
                10.0,
            ),
            (&["aes-192-ecb", "aes-192-ctr", "aes-192-gcm"][..], 12.0),
            (
                &["aes-256-ecb", "aes-256-ctr", "aes-256-xts", "aes-256-ocb", "aes-256-gcm"][..],
                14.0,
            ),
        ] {
            for name in names {
                let of = |tier| per_byte(&core, name, (KEY.0, KEY.1, tier));
                let (native, by) = of(Tier::Native);
                assert!(close(native, rounds / 64.0), "{name}: {native}");
                assert_eq!(by, Bound::AesUnits, "{name}");
                // A multiplication of 512 bits takes no longer than one of 256 on Zen 4: narrower
                // ones bound GCM there.
                if !name.ends_with("gcm") {
                    assert!(close(of(Tier::Vaes256).0, rounds / 64.0), "{name}");
                }
                assert!(of(Tier::Aesni).0 > rounds / 32.0 * 0.9999, "{name}");
            }
        }
        let (x2, x4) = (per_byte(&core, "aegis-128x2", KEY), per_byte(&core, "aegis-128x4", KEY));
        assert!(close(x2.0, 0.0625) && close(x4.0, 0.0625), "{x2:?} {x4:?}");
        assert!(close(per_byte(&core, "aegis-256x4", KEY).0, 0.09375));
        assert!(close(per_byte(&core, "aegis-128l", KEY).0, 0.125));
    }
    let aesni = per_byte(&zen4(), "aes-128-ctr", (KEY.0, KEY.1, Tier::Aesni));
    assert!(close(aesni.0, 0.3125));
}

#[test]
fn what_is_serial_is_bound_by_latency() {
    let chain = |core: &Core, name: &str, expected: f64| {
        let (found, by) = per_byte(core, name, KEY);
        assert!(close(found, expected), "{name}: {found}");
        assert_eq!(by, Bound::LatencyChain, "{name}");
    };
    for name in ["cbc", "cfb", "ofb", "ccm", "eax", "siv"] {
        chain(&zen4(), &format!("aes-128-{name}"), 2.5);
        chain(&zen4(), &format!("aes-256-{name}"), 3.5);
        chain(&intel(), &format!("aes-128-{name}"), 1.875);
        chain(&intel(), &format!("aes-256-{name}"), 2.625);
    }
    chain(&zen4(), "aes-128-cfb8", 40.0);
    chain(&zen4(), "aes-128-cfb1", 320.0);
    chain(&zen4(), "aegis-256", 0.25);
    let (intel_256, by) = per_byte(&intel(), "aegis-256", KEY);
    assert!(close(intel_256, 0.1875), "{intel_256} {by}");
    let digest = (Direction::Digest, Model::Message, Tier::Native);
    for name in ["sha256", "hmac-sha256"] {
        assert!(close(per_byte(&zen4(), name, digest).0, 2.0), "{name}");
    }
    let software = (Direction::Digest, Model::Message, Tier::Baseline);
    assert!(close(per_byte(&zen4(), "sha256", software).0, 3.0));
    assert!(close(per_byte(&zen4(), "blake2b512", digest).0, 2.25));
}

#[test]
fn decryption_of_serial_modes_is_parallel() {
    let decrypt = (Direction::Decrypt, Model::Message, Tier::Native);
    for name in ["cbc", "cfb"] {
        let (found, by) = per_byte(&zen4(), &format!("aes-256-{name}"), decrypt);
        assert!(close(found, 0.21875) && by == Bound::AesUnits, "{name}: {found}");
    }
    // Each byte is a block of its own.
    assert!(close(per_byte(&zen4(), "aes-128-cfb8", decrypt).0, 2.5));
    assert!(close(per_byte(&zen4(), "aegis-128l", decrypt).0, 4.5 / 32.0));
}

#[test]
fn gcm_is_bound_by_what_its_parts_share() {
    let mut slow = zen4();
    // Multiplications on the AES units: 10 + 6 cycles for four blocks.
    for p in &mut slow.pairs {
        p.per_cycle = if p.width_bits == 512 { 1.0 / 3.0 } else { 1.0 / 2.5 };
    }
    let (found, by) = per_byte(&slow, "aes-128-gcm", KEY);
    assert!(close(found, 0.25) && by == Bound::SharedVectorPorts, "{found} {by}");
    let digest = (Direction::Digest, Model::Message, Tier::Native);
    let (ghash, by) = per_byte(&zen4(), "aes-128-gmac", digest);
    assert!(close(ghash, 6.0 / 64.0) && by == Bound::CarrylessMultiply, "{ghash} {by}");
}

#[test]
fn other_algorithms_have_the_floors_that_their_operations_give() {
    // 992 operations a block: 32 words of vectors and 4 scalar registers a cycle.
    let (chacha, by) = per_byte(&zen4(), "chacha20", KEY);
    assert!(close(chacha, 992.0 / 36.0 / 64.0) && by == Bound::SharedVectorPorts, "{chacha}");
    let copy = (Direction::Copy, Model::Message, Tier::Native);
    let (memcpy, by) = per_byte(&zen4(), "memcpy", copy);
    assert!(close(memcpy, 1.0 / 32.0) && by == Bound::LoadStore, "{memcpy} {by}");
}

#[test]
fn a_composite_takes_what_its_slower_part_takes() {
    let (both, by) = per_byte(&zen4(), "aes-256-ctr+hmac-sha256", KEY);
    assert!(close(both, 2.0) && by == Bound::LatencyChain, "{both} {by}");
    let (both, by) = per_byte(&zen4(), "aes-256-ctr+xxh3", KEY);
    assert!(both >= 0.21874 && by == Bound::AesUnits, "{both} {by}");
}

#[test]
fn small_messages_take_whole_instructions_and_what_each_message_costs() {
    let core = zen4();
    let cycles = |name, size, direction| {
        limit(&core, &Operation { size, ..of(name, direction, Tier::Native) }).unwrap()
    };
    // One block, at two instructions a cycle; with the tag's mask both fit into one register.
    assert!(close(cycles("aes-128-ctr", 16, Direction::Encrypt).cycles, 5.0));
    assert!(close(cycles("aes-128-gcm", 16, Direction::Encrypt).cycles, 6.0));
    // Nineteen updates with a shuffle between them, of which the core holds 62 / 8.
    let aegis = cycles("aegis-128l", 16, Direction::Encrypt).cycles;
    assert!(close(aegis, (19.0 - 7.75) * 5.0), "{aegis}");
    // A chain shorter than what the core holds overlaps with the next message's.
    let cbc = cycles("aes-128-cbc", 64, Direction::Encrypt);
    assert!(cbc.cycles < 40.0 * 4.0 && cbc.by == Bound::AesUnits, "{cbc:?}");
    let long = cycles("aes-128-cbc", 1024, Direction::Encrypt);
    assert!(close(long.cycles, (640.0 - 62.0) * 4.0), "{long:?}");
}

#[test]
fn a_stream_goes_on_and_leaves_out_what_a_message_pays() {
    let core = zen4();
    let cycles = |name, model| {
        let message = of(name, Direction::Encrypt, Tier::Native);
        limit(&core, &Operation { model, size: 1024, ..message }).unwrap().cycles
    };
    assert!(close(cycles("aes-128-cbc", Model::Stream), 2560.0));
    assert!(close(cycles("aes-128-ctr", Model::Stream), 160.0));
    assert!(cycles("aes-128-ocb", Model::Stream) < cycles("aes-128-ocb", Model::Message));
}

/// A library that is handed 16 bytes at a time hashes a block at every fourth call.
#[test]
fn a_digest_in_a_stream_pays_for_the_blocks_that_its_bytes_fill() {
    let cycles = |model| {
        let message = of("sha256", Direction::Digest, Tier::Native);
        limit(&zen4(), &Operation { model, size: 16, ..message }).unwrap().cycles
    };
    assert!(close(cycles(Model::Stream), 32.0 * 4.0 / 4.0));
    assert!(close(cycles(Model::Message), 32.0));
}

#[test]
fn rounds_bind_whoever_was_seen_to_execute_them_and_in_that_part() {
    let core = zen4();
    let ctr = of("aes-256-ctr", Direction::Encrypt, Tier::Native);
    let bytes = 4096.0 / 32.0;
    // 256 blocks of 14 rounds at four a cycle.
    let counted = limit(&core, &ctr).unwrap();
    assert!(close(counted.cycles, 896.0) && counted.basis == Basis::IfExecuted, "{counted:?}");
    let bound = |rounds| {
        let found = proven(&core, &ctr, Some(Seen { aes_rounds: rounds, products: 0.0 })).unwrap();
        assert_eq!(found.basis, Basis::Proven);
        (found.cycles, found.by)
    };
    assert_eq!(bound(256.0 * 14.0), (counted.cycles, Bound::AesUnits));
    // More than are needed, as wide registers do for the last block, bind no further.
    assert_eq!(bound(1e9), (counted.cycles, Bound::AesUnits));
    // Two rounds by tables, as FACE does.
    assert_eq!(bound(256.0 * 12.0), (256.0 * 12.0 / 4.0, Bound::AesUnits));
    assert_eq!(bound(0.0), (bytes, Bound::LoadStore));
    let unseen = proven(&core, &ctr, None).unwrap();
    assert_eq!((unseen.cycles, unseen.by), (bytes, Bound::LoadStore));
}

#[test]
fn a_chain_of_rounds_binds_whoever_executes_them() {
    let cbc = of("aes-128-cbc", Direction::Encrypt, Tier::Native);
    let seen = Seen { aes_rounds: 2560.0, products: 0.0 };
    let found = proven(&zen4(), &cbc, Some(seen)).unwrap();
    assert!(close(found.cycles, (2560.0 - 62.0) * 4.0) && found.by == Bound::LatencyChain);
}

#[test]
fn what_other_methods_may_do_faster_is_not_proven() {
    let core = zen4();
    let digest = |name| (name, Direction::Digest);
    let poly = ("chacha20-poly1305", Direction::Encrypt);
    let everything = Some(Seen { aes_rounds: 1e9, products: 1e9 });
    for (name, direction) in
        [digest("crc32c"), digest("blake3"), digest("sha256"), digest("sha3-256"), poly]
    {
        let of = of(name, direction, Tier::Native);
        assert_eq!(limit(&core, &of).unwrap().basis, Basis::KnownMethods, "{name}");
        let found = proven(&core, &of, everything).unwrap();
        assert_eq!(found.by, Bound::LoadStore, "{name}");
    }
    // Nothing is known of Camellia's work, and its bytes move all the same.
    let camellia = of("camellia-128-ctr", Direction::Encrypt, Tier::Native);
    assert!(limit(&core, &camellia).is_err());
    assert_eq!(proven(&core, &camellia, None).unwrap().cycles, 4096.0 / 32.0);
}

/// A walk through an outer level is one way of many; what a core loads in a cycle is not.
#[test]
fn loads_and_stores_in_the_first_cache_are_proven_and_outer_levels_are_not() {
    let mut core = zen4();
    let first = core.bandwidths[0].clone();
    core.bandwidths.push(super::Bandwidth {
        level: Level::Memory,
        access: Access::Read,
        bytes_per_cycle: 5.0,
        ..first
    });
    let mut copy = of("memcpy", Direction::Copy, Tier::Native);
    assert_eq!(proven(&core, &copy, None).unwrap().cycles, 128.0);
    copy.footprint = Footprint::Memory;
    let outer = limit(&core, &copy).unwrap();
    assert_eq!((outer.by, outer.basis), (Bound::Memory, Basis::KnownMethods));
    assert_eq!(proven(&core, &copy, None).unwrap().by, Bound::LoadStore);
    core.unread = vec!["load-512".to_owned()];
    assert_eq!(proven(&core, &copy, None), None);
}

#[test]
fn what_has_no_bound_says_why() {
    let why = |name, tier| {
        let direction = Direction::of(Algorithm::find(name).unwrap().kind)[0];
        floor(&zen4(), Algorithm::find(name).unwrap(), (direction, Model::Message, tier)).reason
    };
    for name in ["camellia-128-cbc", "aria-128-ctr", "sm4-gcm", "des-ede3-cbc"] {
        assert!(why(name, Tier::Native).unwrap().contains("no bound is known"), "{name}");
    }
    for name in ["aes-128-ctr", "aegis-128l", "aes-256-ctr+xxh3"] {
        assert!(why(name, Tier::Noaes).unwrap().contains("without AES"), "{name}");
    }
    assert!(why("aes-128-gcm", Tier::Nopclmul).unwrap().contains("without carry-less"));
    assert_eq!(why("aes-128-ctr", Tier::Nopclmul), None);
    assert_eq!(why("chacha20-poly1305", Tier::Noaes), None);
    assert!(why("null", Tier::Native).unwrap().contains("no work"));
    let nothing = Core::default();
    let unknown = floor(
        &nothing,
        Algorithm::find("memcpy").unwrap(),
        (Direction::Copy, Model::Message, Tier::Native),
    );
    assert!(unknown.reason.unwrap().contains("was measured"));
}

/// Every algorithm in every direction has a floor or a reason, and none costs less in a narrower tier or
/// for a longer message.
#[test]
#[ignore = "long: seconds"]
fn floors_never_fall_with_the_size_nor_with_fewer_instructions() {
    for (core, tiers) in [(zen4(), Tier::X86_64), (aarch64(), Tier::AARCH64)] {
        for algorithm in Algorithm::all() {
            for direction in Direction::of(algorithm.kind) {
                never_fall(&core, tiers, algorithm, (*direction, Model::Message));
                // Of the other models, these are the ones with floors of their own.
                if algorithm.rejects() {
                    never_fall(&core, tiers, algorithm, (*direction, Model::Forgery));
                } else if algorithm.encrypts() {
                    never_fall(&core, tiers, algorithm, (*direction, Model::Stream));
                }
            }
        }
    }
}

fn never_fall(core: &Core, tiers: &[Tier], algorithm: &Algorithm, of_what: (Direction, Model)) {
    let (direction, model) = of_what;
    let mut known: Vec<(Tier, f64)> = Vec::new();
    for tier in tiers {
        let mut before = 0.0;
        for size in [16, 256, 8192] {
            let of = of(algorithm.name, direction, *tier);
            let of = Operation { model, size, ..of };
            let Ok(found) = limit(core, &of) else { continue };
            assert!(found.cycles >= before, "{of:?}: {found:?} after {before}");
            before = found.cycles;
        }
        // Without carry-less multiplication tables take a share that is not counted.
        if algorithm.name == "crc32c" && !tier.shows(Feature::Clmul) {
            continue;
        }
        let floor = floor(core, algorithm, (direction, model, *tier));
        assert_eq!(floor.cycles_per_byte.is_none(), floor.reason.is_some());
        known.extend(floor.cycles_per_byte.map(|cycles| (*tier, cycles)));
    }
    let pairs = known.iter().flat_map(|a| known.iter().map(move |b| (*a, *b)));
    for ((wide, a), (tier, b)) in pairs.filter(|((wide, _), (tier, _))| wide.covers(*tier)) {
        assert!(b >= a * 0.999_999, "{algorithm} {direction}: {tier} {b} < {wide} {a}");
    }
}

/// Ten rounds for 16 bytes, nine of which have both halves; GCM three products beside them; CBC waits for each round;
/// SHA-256 sixteen times four rounds for 64 bytes.
#[test]
fn floors_of_aarch64_count_both_halves_of_a_round() {
    let core = aarch64();
    let floor = |name| per_byte(&core, name, (KEY.0, KEY.1, Tier::Aes));
    let (ctr, by) = floor("aes-128-ctr");
    assert!(close(ctr, 9.5 / 16.0) && by == Bound::AesUnits, "{ctr} {by}");
    let (cbc, by) = floor("aes-128-cbc");
    assert!(close(cbc, 38.0 / 16.0) && by == Bound::LatencyChain, "{cbc} {by}");
    let digest = (Direction::Digest, KEY.1, Tier::Aes);
    assert!(close(per_byte(&core, "sha256", digest).0, 1.0));
    let noaes =
        super::floor(&core, Algorithm::find("aes-128-ctr").unwrap(), (KEY.0, KEY.1, Tier::Noaes));
    assert!(noaes.reason.unwrap().contains("without AES"));
}

#[test]
fn beyond_the_first_cache_the_level_bounds_what_is_light_on_work() {
    let mut core = zen4();
    for (access, bytes_per_cycle) in [(Access::Read, 5.0), (Access::Copy, 2.5)] {
        let first = core.bandwidths[0].clone();
        core.bandwidths.push(super::Bandwidth {
            level: Level::Memory,
            access,
            bytes_per_cycle,
            ..first
        });
    }
    let of = |name, in_place, footprint| {
        let message = of(name, Direction::Encrypt, Tier::Native);
        limit(&core, &Operation { in_place, footprint, ..message }).unwrap()
    };
    let apart = of("aes-128-ctr", false, Footprint::Memory);
    assert!(close(apart.cycles, 4096.0 / 2.5) && apart.by == Bound::Memory, "{apart:?}");
    let over = of("aes-128-ctr", true, Footprint::Memory);
    assert!(close(over.cycles, 4096.0 / 5.0) && over.by == Bound::Memory, "{over:?}");
    assert_eq!(of("aes-128-ctr", false, Footprint::Hot).by, Bound::AesUnits);
    assert_eq!(of("aes-128-cbc", false, Footprint::Memory).by, Bound::LatencyChain);
}

/// Of a core whose widest registers could not be read everything that uses them would be refused.
#[test]
fn a_core_of_which_something_could_not_be_read_has_no_floors() {
    let mut core = intel();
    core.instructions.retain(|i| i.width_bits < 512);
    core.unread = ["aesenc-512", "pxor-512", "load-512", "store-512"].map(String::from).to_vec();
    let found = floor(&core, Algorithm::find("aes-128-ctr").unwrap(), KEY);
    assert_eq!(found.cycles_per_byte, None);
    let reason = found.reason.unwrap();
    assert!(reason.contains("to read 4 of what") && reason.contains("load-512, …"), "{reason}");
}

#[test]
fn a_lone_block_cannot_fill_a_wide_register() {
    let widths = [(1.0, 0.5), (2.0, 0.5), (4.0, 1.0)];
    assert_eq!(cover(0.0, &widths, false), 0.0);
    assert_eq!(cover(1.0, &widths, false), 0.5);
    assert_eq!(cover(2.0, &widths, false), 0.5);
    assert_eq!(cover(3.0, &widths, false), 1.0);
    assert_eq!(cover(5.0, &widths, false), 1.5);
    assert_eq!(cover(4096.0, &widths, false), 1024.0);
    assert_eq!(cover(1.0, &widths, true), 0.25);
}

#[test]
fn aarch64_does_a_round_by_two_instructions_and_the_last_by_one() {
    let core = crate::analysis::bound::fixtures::aarch64();
    let machine = |tier| Machine::new(&core, tier);
    assert!(machine(Tier::Aes).has_aes() && !machine(Tier::Noaes).has_aes());
    assert_eq!(machine(Tier::Native).rounds(), [(1.0, 0.9 * 1.0 + 0.1 * 0.5)]);
    assert_eq!(machine(Tier::Native).round_latency(), Some(0.9 * 4.0 + 0.1 * 2.0));
    let wide = |tier| machine(tier).widths(&["eor.16b", "eor-sve"]).len();
    assert_eq!((wide(Tier::Native), wide(Tier::Nosve), wide(Tier::Noaes)), (2, 1, 1));
    let fused = |name| machine(name).per_cycle("eor3.16b", 128).is_some();
    assert!(fused(Tier::Nosve) && !fused(Tier::Aes));
}

#[test]
fn narrow_tiers_have_narrow_instructions() {
    let core = crate::analysis::bound::fixtures::zen4();
    let native = Machine::new(&core, Tier::Native);
    let lanes = |tier| {
        let widths = Machine::new(&core, tier).widths(&["aesenc"]);
        widths.iter().map(|w| w.0).fold(0.0, f64::max)
    };
    assert!(native.has_aes());
    assert_eq!([Tier::Native, Tier::Vaes256, Tier::Aesni].map(lanes), [4.0, 2.0, 1.0]);
    assert!(!Machine::new(&core, Tier::Noaes).has_aes());
    assert!(!Machine::new(&core, Tier::Baseline).has_aes());
    let wide = Machine::new(&core, Tier::Noaes).widths(&["pxor"]);
    assert_eq!(wide.last().map(|w| w.0), Some(2.0));
}

#[test]
fn instructions_that_share_all_their_units_take_their_times_together() {
    let mut core = crate::analysis::bound::fixtures::zen4();
    let machine = |core: &Core| {
        Machine::new(core, Tier::Native).shared(("aesenc", 40.0), ("pclmulqdq", 12.0)).unwrap()
    };
    // Apart: 10 and 6 cycles, the longer of which counts.
    assert!((machine(&core) - 10.0).abs() < 1e-9);
    for p in &mut core.pairs {
        p.per_cycle = if p.width_bits == 512 { 1.0 / 3.0 } else { 1.0 / 2.5 };
    }
    // Together: the sum; narrower registers need twice as many instructions.
    assert!((machine(&core) - 16.0).abs() < 1e-9);
}
