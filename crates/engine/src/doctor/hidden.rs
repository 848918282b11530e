//! Features that this kind of CPU has and this machine does not show. Pure.

use record::{Cpu, Host};

/// What is asked for, by the kernel's flag; its name, and what a library pays without it. Times are those of OpenSSL
/// 3.5 on a Zen 5 at the tiers that hide it (docs/METHOD.md, Machines).
const COSTS: [(&str, &str, &str); 5] = [
    ("aes", "AES", "AES takes 10 to 35 times as long"),
    ("pclmulqdq", "PCLMULQDQ", "AES-GCM takes 8 to 25 times as long"),
    ("avx2", "AVX2", "ChaCha20 takes twice as long"),
    ("vaes", "VAES", "AES-GCM takes up to twice as long"),
    ("sha_ni", "SHA", "SHA-256 takes 3 times as long"),
];

const SANDY_BRIDGE: &[&str] = &["aes", "pclmulqdq"];
const HASWELL: &[&str] = &["aes", "pclmulqdq", "avx2"];
const ICE_LAKE: &[&str] = &["aes", "pclmulqdq", "avx2", "vaes", "sha_ni"];
const ZEN: &[&str] = &["aes", "pclmulqdq", "avx2", "sha_ni"];

/// Vendor, family and models, and what these CPUs have; by the kernel's `asm/intel-family.h` and AMD's revision guides.
/// Some of Intel's cheapest models of before 2018 had no AES or no AVX2, so absence is likely and not certain to be
/// somebody's choice.
const KINDS: &[(&str, u32, &[u32], &[&str])] = &[
    ("GenuineIntel", 6, &[0x2a, 0x2d, 0x3a, 0x3e], SANDY_BRIDGE),
    // Haswell, Broadwell, Skylake, Kaby Lake, Comet Lake, and their servers.
    (
        "GenuineIntel",
        6,
        &[0x3c, 0x3d, 0x3f, 0x45, 0x46, 0x47, 0x4e, 0x4f, 0x55, 0x56, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6],
        HASWELL,
    ),
    // Ice Lake, Tiger Lake, Rocket Lake, Alder Lake to Arrow Lake; Ice Lake's servers to Granite Rapids'.
    (
        "GenuineIntel",
        6,
        &[
            0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x8f, 0x97, 0x9a, 0xa7, 0xaa, 0xac, 0xad, 0xae,
            0xb5, 0xb7, 0xba, 0xbd, 0xbf, 0xc5, 0xc6, 0xcf,
        ],
        ICE_LAKE,
    ),
    // Zen and Zen 2, of Hygon too; Zen 3 and Zen 4; Zen 5.
    ("AuthenticAMD", 0x17, &[], ZEN),
    ("HygonGenuine", 0x18, &[], ZEN),
    ("AuthenticAMD", 0x19, &[], ICE_LAKE),
    ("AuthenticAMD", 0x1a, &[], ICE_LAKE),
];

/// A sentence on what the machine hides though CPUs of its kind have it; `None` where it shows all that is known.
pub(crate) fn hidden(host: &Host) -> Option<String> {
    let cpu: &Cpu = &host.cpu;
    let (.., has) = KINDS.iter().find(|(vendor, family, models, _)| {
        *vendor == cpu.vendor
            && *family == cpu.family
            && (models.is_empty() || models.contains(&cpu.model))
    })?;
    let shown = |flag: &str| cpu.features.iter().any(|f| f == flag);
    let gone = COSTS.iter().filter(|(flag, ..)| has.contains(flag) && !shown(flag));
    let (names, costs): (Vec<&str>, Vec<&str>) = gone.map(|(_, name, cost)| (*name, *cost)).unzip();
    let who = match &host.hypervisor {
        Some(_) => "the hypervisor's CPU model hides it (QEMU: -cpu host)",
        None => "the firmware or the kernel switched it off",
    };
    (!names.is_empty()).then(|| {
        format!(
            "CPUs of this family and model have {} most likely, and {who}. Without: {}",
            names.join(", "),
            costs.join("; ")
        )
    })
}
