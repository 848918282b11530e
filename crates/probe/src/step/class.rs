//! Kinds of instructions.

/// What kind of instruction it is. Each instruction is of one kind; that it reads or writes memory
/// as well is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Class {
    /// A round of AES, on one block or several: `AESENC` and its kin; of aarch64's two halves `AESE` and `AESD`.
    AesRound,
    /// The other half of a round on aarch64, which the last one lacks: `AESMC`, `AESIMC`.
    AesMix,
    /// AES key schedules: `AESKEYGENASSIST`, `AESIMC`.
    AesKey,
    /// Carry-less multiplication.
    CarryLess,
    /// Galois field instructions: `GF2P8AFFINEQB` and its kin.
    Gfni,
    /// The SHA, SM3 and SM4 instructions.
    HashRound,
    /// Vector AND, OR, XOR, and three-way logic.
    VectorLogic,
    /// Moving bytes or larger parts about within vectors.
    Shuffle,
    /// Everything else that computes on vectors.
    VectorArithmetic,
    /// Vector register to vector register, or to and from a general register.
    VectorMove,
    /// Nothing but a load: memory to register.
    Load,
    /// Nothing but a store: register or constant to memory.
    Store,
    /// Jumps, calls and returns.
    Branch,
    /// Computing on general registers, flags and mask registers.
    Scalar,
    /// String instructions: `MOVS`, `STOS`, with a repeat prefix or without.
    String,
    /// System calls, fences, prefetches, `NOP`, `VZEROUPPER` and what fits nowhere else.
    Other,
}

impl Class {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What one instruction is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) class: Class,
    /// Bits of the widest vector register that it names.
    pub(crate) width: Option<u16>,
    pub(crate) reads_memory: bool,
    pub(crate) writes_memory: bool,
    /// It repeats under its own prefix.
    pub(crate) repeats: bool,
    /// Instruction sets that it needs, in lower case.
    pub(crate) sets: Vec<String>,
    /// Its mnemonic, in lower case.
    pub(crate) mnemonic: String,
}
