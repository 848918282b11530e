//! The faults of stand-in libraries.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Returns success at once.
    ReturnsEarly,
    /// Leaves the last byte of the output as it was.
    SkipsTheLastByte,
    /// The last byte is wrong where a page and one byte (or block) is asked for.
    WrongRest,
    /// Encryption makes a wrong tag, or a digest is wrong.
    WrongTag,
    /// Decryption looks at no tag.
    AcceptsAnyTag,
    /// Decryption looks at no tag when the nonce counts up from 50 (hexadecimal), as published
    /// forgeries' do.
    AcceptsPublishedForgeries,
    /// Decryption looks at twelve bytes of the tag.
    ComparesPartOfTheTag,
    /// Decryption accepts what it accepted before, whatever the associated data.
    AcceptsChangedAad,
    /// A wrong tag is an error and no rejection.
    RejectsWithAnError,
    IgnoresTheNonce,
    /// Associated data are left out.
    IgnoresTheAad,
    /// Associated data that CCM's two-byte length cannot hold are an error.
    LimitsTheAad,
    /// Messages longer than a 16-bit job can be are an error.
    LimitsTheMessage,
    /// Their tag is wrong.
    WrongUnderLongAad,
    /// The second half of the key is zero.
    IgnoresHalfTheKey,
    /// A new key is taken and not used.
    IgnoresANewKey,
    TakesHalfOfANewKey,
    RefusesANewKey,
    TakesNoNewKey,
    /// A derivation makes one iteration less than it is asked for.
    OneIterationLess,
    /// A derivation needs half of the memory that it is asked to, where that is defined.
    HalfTheMemory,
    /// Messages after the first of a session get another nonce.
    KeepsState,
    /// Encryption is wrong from the 250th message of a session on.
    WearsOut,
    /// One call in 5000 of a session that encrypts or digests has a wrong bit.
    FlipsABitNowAndThen,
    /// The same of a session that decrypts.
    FlipsABitOfDecryptionNowAndThen,
    /// One call in 5000 of a session does nothing.
    SkipsNowAndThen,
    /// One wrong tag in 5000 of a session is accepted.
    AcceptsAForgeryNowAndThen,
    /// One decryption in 5000 of a session does not look at the tag.
    LooksAtNoTagNowAndThen,
    /// The tag of a message of 12345 bytes is wrong.
    WrongTagAtOneSize,
    /// The tag is wrong from 2048 bytes on, but in whole blocks and beside powers of two.
    WrongTagAtOddSizes,
    /// Every third call of the process differs.
    Random,
    /// Writes the byte after the output.
    WritesPastTheOutput,
    WritesBeforeTheOutput,
    /// Writes the byte after the tag.
    WritesPastTheTag,
    WritesTheInput,
    WritesTheTagOfDecryption,
    /// Reads the byte after the input.
    ReadsPastTheInput,
    /// Right bytes and an error code.
    ReturnsAnError,
    /// Wrong bytes when the output is the input.
    WrongInPlace,
    /// Wrong bytes when the input is not aligned to 16 bytes.
    WrongUnaligned,
    DigestWritesTheOutput,
    WrongSecondUpdate,
    /// A new nonce does not restart a stream.
    StreamDoesNotRestart,
    Unsupported,
    /// The algorithm is there in one direction.
    OnlyEncrypts,
    /// The algorithm cannot be opened.
    FailsToOpen,
}
