//! Names of AArch64 cores by the numbers that the kernel gives of MIDR_EL1.

/// Implementer, part, vendor, name. Numbers are those of the makers' manuals, as util-linux collects them
/// (`sys-utils/lscpu-arm.c`).
#[rustfmt::skip]
const CORES: [(u32, u32, &str, &str); 47] = [
    (0x41, 0xd03, "Arm", "Cortex-A53"), (0x41, 0xd04, "Arm", "Cortex-A35"), (0x41, 0xd05, "Arm", "Cortex-A55"),
    (0x41, 0xd07, "Arm", "Cortex-A57"), (0x41, 0xd08, "Arm", "Cortex-A72"), (0x41, 0xd09, "Arm", "Cortex-A73"),
    (0x41, 0xd0a, "Arm", "Cortex-A75"), (0x41, 0xd0b, "Arm", "Cortex-A76"), (0x41, 0xd0c, "Arm", "Neoverse-N1"),
    (0x41, 0xd0d, "Arm", "Cortex-A77"), (0x41, 0xd0e, "Arm", "Cortex-A76AE"), (0x41, 0xd40, "Arm", "Neoverse-V1"),
    (0x41, 0xd41, "Arm", "Cortex-A78"), (0x41, 0xd42, "Arm", "Cortex-A78AE"), (0x41, 0xd44, "Arm", "Cortex-X1"),
    (0x41, 0xd46, "Arm", "Cortex-A510"), (0x41, 0xd47, "Arm", "Cortex-A710"), (0x41, 0xd48, "Arm", "Cortex-X2"),
    (0x41, 0xd49, "Arm", "Neoverse-N2"), (0x41, 0xd4a, "Arm", "Neoverse-E1"), (0x41, 0xd4b, "Arm", "Cortex-A78C"),
    (0x41, 0xd4d, "Arm", "Cortex-A715"), (0x41, 0xd4e, "Arm", "Cortex-X3"), (0x41, 0xd4f, "Arm", "Neoverse-V2"),
    (0x41, 0xd80, "Arm", "Cortex-A520"), (0x41, 0xd81, "Arm", "Cortex-A720"), (0x41, 0xd82, "Arm", "Cortex-X4"),
    (0x41, 0xd84, "Arm", "Neoverse-V3"), (0x41, 0xd85, "Arm", "Cortex-X925"), (0x41, 0xd87, "Arm", "Cortex-A725"),
    (0x41, 0xd8e, "Arm", "Neoverse-N3"),
    (0x43, 0x0a1, "Cavium", "ThunderX"), (0x43, 0x0af, "Cavium", "ThunderX2"),
    (0x46, 0x001, "Fujitsu", "A64FX"),
    (0x48, 0xd01, "HiSilicon", "TaiShan-v110"), (0x48, 0xd02, "HiSilicon", "TaiShan-v120"),
    (0x51, 0x001, "Qualcomm", "Oryon"), (0x51, 0xc00, "Qualcomm", "Falkor"),
    (0x61, 0x022, "Apple", "Icestorm (M1)"), (0x61, 0x023, "Apple", "Firestorm (M1)"),
    (0x61, 0x024, "Apple", "Icestorm (M1 Pro)"), (0x61, 0x025, "Apple", "Firestorm (M1 Pro)"),
    (0x61, 0x032, "Apple", "Blizzard (M2)"), (0x61, 0x033, "Apple", "Avalanche (M2)"),
    (0x6d, 0xd49, "Microsoft", "Azure-Cobalt-100"),
    (0xc0, 0xac3, "Ampere", "Ampere-1"), (0xc0, 0xac4, "Ampere", "Ampere-1a"),
];

/// Vendor and name of a core.
pub(crate) fn core(implementer: u32, part: u32) -> Option<(&'static str, &'static str)> {
    let found = CORES.iter().find(|(i, p, ..)| (*i, *p) == (implementer, part));
    found.map(|(.., vendor, name)| (*vendor, *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_known_by_both_numbers() {
        assert_eq!(core(0x41, 0xd0c), Some(("Arm", "Neoverse-N1")));
        assert_eq!(core(0x6d, 0xd49), Some(("Microsoft", "Azure-Cobalt-100")));
        // QEMU's `max` names no maker.
        assert_eq!((core(0x00, 0x051), core(0x61, 0xd0c)), (None, None));
    }

    #[test]
    fn no_core_is_named_twice() {
        for (i, core) in CORES.iter().enumerate() {
            let same =
                |c: &&(u32, u32, &str, &str)| (c.0, c.1) == (core.0, core.1) || c.3 == core.3;
            assert!(CORES[i + 1..].iter().find(same).is_none(), "{core:?}");
        }
    }
}
