use super::*;

fn arm_kind(words: &[u32]) -> Option<Kind> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Code::new(arm::decode(&bytes, 0x1000), None).kind(0x1000)
}

/// Encodings as GNU as 2.40 gives them.
#[test]
fn instructions_of_aarch64_tell_ciphers_apart() {
    let (aese, aesmc) = (0x4e28_4841, 0x4e28_6821);
    assert_eq!(arm_kind(&[aese, aesmc]), Some(Kind::Aes));
    assert_eq!(arm_kind(&[aese]), Some(Kind::Rounds));
    assert_eq!(arm_kind(&[0x0ee2_e020, aese, aesmc]), Some(Kind::AesGcm));
    assert_eq!(arm_kind(&[0x0ee2_e020]), Some(Kind::CarryLess));
    assert_eq!(arm_kind(&[0x5e02_4020]), Some(Kind::Sha256));
    assert_eq!(arm_kind(&[0xce62_8020]), Some(Kind::Sha512));
    assert_eq!(arm_kind(&[0xd503_201f, 0x8b02_0020]), None); // nop; add x0,x1,x2
}

#[test]
fn jumps_of_aarch64_go_where_the_assembler_says() {
    let one = |word: u32| arm::decode(&word.to_le_bytes(), 0x1000)[0].target;
    assert_eq!(one(0x17ff_ffff), Some(0xffc)); // b .-4
    assert_eq!(one(0x54ff_ffe1), Some(0xffc)); // b.ne .-4
    assert_eq!(one(0x35ff_ffe0), Some(0xffc)); // cbnz w0, .-4
    assert_eq!(one(0x3707_ffe0), Some(0xffc)); // tbnz w0, #0, .-4
    assert_eq!(one(0xd65f_03c0), None); // ret
}

#[test]
fn names_tell_what_instructions_do_not_and_words_within_words_tell_nothing() {
    let named = |name: &str| by_name(name);
    assert_eq!(named("rijndaelEncrypt"), Some(Some(Kind::Aes)));
    assert_eq!(named("crypto/internal/fips140/sha3.keccakF1600Generic"), Some(Some(Kind::Sha3)));
    assert_eq!(named("golang.org/x/crypto/chacha20poly1305.sealGeneric"), Some(Some(Kind::ChaCha)));
    assert_eq!(named("poly1305_blocks"), Some(Some(Kind::Poly1305)));
    assert_eq!(named("bn_mul4x_mont"), Some(Some(Kind::BigNumber)));
    assert_eq!(named("_gcry_camellia_encrypt"), Some(Some(Kind::Other)));
    // The hash of Go's maps uses instructions of AES; a checksum's name is not a digest's.
    assert_eq!(named("runtime.memhash128"), Some(None));
    assert_eq!(named("aeshashbody"), Some(None));
    assert_eq!(named("crc32_pclmul_le"), Some(None));
    for other in
        ["main", "rng_seed", "phases", "ideas", "does_mask", "_ZN4node5StartE", "v8::Isolate"]
    {
        assert_eq!(named(other), None, "{other}");
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
    use std::fs::File;
    use std::path::Path;
    use std::process::Command;

    /// Functions in assembly as a shared object; stripped ones keep the tables for unwinding.
    fn object(at: &Path, source: &str, flags: &[&str]) -> Object {
        std::fs::write(at.join("a.S"), source).unwrap();
        let object = at.join("a.so");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-nostdlib"])
            .args(flags)
            .arg("-o")
            .arg(&object)
            .arg(at.join("a.S"));
        assert!(compiler.status().unwrap().success());
        Object::read(File::open(object).unwrap()).unwrap()
    }

    fn begin(at: &Path, name: &str) -> u64 {
        use object::{Object as _, ObjectSymbol as _};
        let bytes = std::fs::read(at.join("a.so")).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        object.dynamic_symbols().find(|symbol| symbol.name() == Ok(name)).unwrap().address()
    }

    fn function(name: &str, body: &str) -> String {
        format!(
            ".text\n.balign 64\n.globl {name}\n.type {name},@function\n{name}:\n.cfi_startproc\n{body}\nret\n\
            .cfi_endproc\n.size {name},.-{name}\n"
        )
    }

    fn repeated(line: &str, with: &[u32]) -> String {
        with.iter().map(|n| line.replace('N', &n.to_string()) + "\n").collect()
    }

    fn kind_at(object: &Object, address: u64) -> Option<Kind> {
        let function = object.function(address);
        Code::around(object, function.as_ref(), address).kind(address)
    }

    /// What the only function of an object computes.
    fn kind(name: &str, body: &str) -> Option<Kind> {
        let scratch = tempfile::tempdir().unwrap();
        let object = object(scratch.path(), &function(name, body), &[]);
        let address = begin(scratch.path(), name);
        assert_eq!(object.function(address).unwrap().name.as_deref(), Some(name));
        kind_at(&object, address)
    }

    #[test]
    fn instructions_rotations_and_constants_tell_what_code_computes() {
        let rotations = |line: &str, with: &[u32]| repeated(line, with);
        let clmul = "pclmulqdq $0x11,%xmm1,%xmm0\n";
        let with_constant = |low: &str| {
            format!(
                "movdqa .Lc(%rip),%xmm1\n{clmul}ret\n.section .rodata\n.balign 16\n.Lc: .quad {low}\n.text"
            )
        };
        let products = "imul %rcx,%rdx\nadd %rdx,%rbx\n".repeat(10);
        let poly = products.clone() + &"shr $26,%rbx\nand $0x3ffffff,%eax\n".repeat(4);
        let table: Vec<(String, Option<Kind>)> = vec![
            (
                "1: aesenc %xmm1,%xmm0\ndec %eax\njnz 1b\naesenclast %xmm1,%xmm0".into(),
                Some(Kind::Aes),
            ),
            ("vaesenc %ymm1,%ymm0,%ymm0\nvaesenclast %ymm1,%ymm0,%ymm0".into(), Some(Kind::Aes)),
            ("aesenc %xmm1,%xmm0\naesenc %xmm2,%xmm0".into(), Some(Kind::Rounds)),
            (format!("aesenc %xmm1,%xmm0\n{clmul}aesenclast %xmm1,%xmm0"), Some(Kind::AesGcm)),
            (clmul.into(), Some(Kind::CarryLess)),
            (with_constant("0x154442bd4,0x1c6e41596"), Some(Kind::Crc)),
            (with_constant("1,0xc200000000000000"), Some(Kind::Ghash)),
            ("crc32q %rax,%rdx\ncrc32q %rax,%rdx".into(), Some(Kind::Crc)),
            ("sha256rnds2 %xmm1,%xmm2".into(), Some(Kind::Sha256)),
            ("sha1rnds4 $0,%xmm1,%xmm2".into(), Some(Kind::Sha1)),
            (rotations("rorx $N,%rax,%rdx", &[14, 18, 41]), Some(Kind::Sha512)),
            (rotations("ror $N,%rax", &[23, 5, 4, 6, 14, 28]), Some(Kind::Sha512)),
            (rotations("rorx $N,%eax,%edx", &[6, 11, 25]), Some(Kind::Sha256)),
            (rotations("ror $N,%eax", &[14, 9, 5, 11, 6, 2]), Some(Kind::Sha256)),
            (rotations("rol $N,%eax", &[16, 12, 8, 7]), Some(Kind::ChaCha)),
            (rotations("ror $N,%eax", &[16, 12, 8, 7]), Some(Kind::Blake)),
            (rotations("rol $N,%eax", &[7, 9, 13, 18]), Some(Kind::Salsa)),
            (
                rotations("pslld $N,%xmm0", &[12, 7]) + &rotations("psrld $N,%xmm1", &[20, 25]),
                Some(Kind::ChaCha),
            ),
            (rotations("ror $N,%rax", &[32, 24, 16, 63]), Some(Kind::Blake)),
            (
                rotations("rol $N,%rax", &[1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14]),
                Some(Kind::Sha3),
            ),
            (rotations("lea N(%rax,%rbx),%eax", &[0x5a82_7999, 0x6ed9_eba1]), Some(Kind::Sha1)),
            (
                "mulx %rax,%rbx,%rcx\nadcx %rax,%rbx\nadox %rax,%rbx\n".repeat(8),
                Some(Kind::BigNumber),
            ),
            (poly.clone(), Some(Kind::Poly1305)),
            (poly + "and $0x1ffffff,%eax", None),
            (
                format!("mov $0x80000000,%eax\nlea -0x80000000(%rdx),%ecx\ndiv %esi\n{products}"),
                Some(Kind::Lattice),
            ),
            // Hashes of tables, random numbers, products of compilers: none of these.
            (rotations("rol $N,%rax", &[13, 32, 16, 21, 17]), None),
            ("mul %rbx\nadd %rax,%rcx\nadc $0,%rdx".into(), None),
            ("pshufb %xmm1,%xmm0\npsrld $3,%xmm0".into(), None),
        ];
        for (body, expected) in table {
            assert_eq!(kind("it", &body), expected, "{body}");
        }
    }

    #[test]
    fn a_name_helps_where_instructions_do_not_and_never_against_what_it_denies() {
        assert_eq!(kind("rijndael_encrypt", "xor %eax,%eax"), Some(Kind::Aes));
        assert_eq!(kind("ghash_update", "pclmulqdq $0,%xmm1,%xmm0"), Some(Kind::Ghash));
        assert_eq!(kind("aegis128l_enc", "aesenc %xmm1,%xmm0"), Some(Kind::Aes));
        assert_eq!(kind("memhash", "aesenc %xmm1,%xmm0\naesenclast %xmm1,%xmm0"), None);
    }

    /// A cipher and other work in one function, as compilers put them.
    const TWO_LOOPS: &str = "1: aesenc %xmm1,%xmm0\naesenclast %xmm1,%xmm0\ndec %eax\njnz 1b\n\
        nop\n2: add %rcx,%rdx\nimul %rcx,%rdx\ndec %ebx\njnz 2b\n3: nop";

    #[test]
    fn the_loop_around_an_address_decides_and_not_the_function() {
        let scratch = tempfile::tempdir().unwrap();
        // Without symbols, too: the tables for unwinding say where the functions are.
        let other = function("other", "xor %eax,%eax\nxor %edx,%edx");
        let source = function("both", TWO_LOOPS) + &other;
        let named = object(scratch.path(), &source, &[]);
        let begin = begin(scratch.path(), "both");
        let hidden = source.replace(".globl", ".hidden");
        let stripped = object(scratch.path(), &hidden, &["-s", "-Wl,--eh-frame-hdr"]);
        for (object, name) in [(&named, Some("both")), (&stripped, None)] {
            let found = object.function(begin + 4).unwrap();
            assert_eq!((found.range.start, found.name.as_deref()), (begin, name));
            assert!(found.range.end < begin + 64, "{found:?}");
            assert_eq!(kind_at(object, begin + 5), Some(Kind::Aes));
            // The first loop and a `nop` take 15 bytes.
            let of_second = (begin + 15..begin + 22).map(|at| kind_at(object, at));
            assert!(
                of_second.clone().all(|kind| kind.is_none()),
                "{:?}",
                of_second.collect::<Vec<_>>()
            );
            assert_eq!(kind_at(object, begin + 64), None, "the next function");
        }
    }

    #[test]
    fn without_any_table_what_is_near_decides() {
        let scratch = tempfile::tempdir().unwrap();
        let far = format!("{}{}", TWO_LOOPS, "\nnop".repeat(4000));
        let source = format!(".text\n.balign 64\n{far}\nret\n");
        let object = object(scratch.path(), &source, &["-s"]);
        let code = object.bytes(0x1000..0x3000);
        let begin = 0x1000
            + code.windows(5).position(|w| w == [0x66, 0x0f, 0x38, 0xdc, 0xc1]).unwrap() as u64;
        assert_eq!(object.function(begin), None);
        assert_eq!(kind_at(&object, begin), Some(Kind::Aes));
        assert_eq!(kind_at(&object, begin + 3000), None);
    }
}
