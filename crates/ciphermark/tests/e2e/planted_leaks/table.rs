//! The controls: what is planted in `tests/fakes/leaks`, and what is to be found of it.

/// One control.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name to `--library`.
    pub name: &'static str,
    /// `-D` of `controls.c`.
    pub defines: Vec<String>,
    /// What is to be found; nothing, of a clean one.
    pub found: Option<Planted>,
    /// CPU features that it executes, separated by spaces.
    pub needs: &'static str,
    /// Where else findings are no false alarms: functions that what is planted calls or leads on to.
    pub also: &'static [&'static str],
    /// The tier at which the control is judged.
    pub tier: &'static str,
    /// Bytes of plaintext.
    pub size: usize,
}

/// What is to be found of a leak.
#[derive(Clone, Debug)]
pub struct Planted {
    /// As in a record.
    pub kind: &'static str,
    /// How the function's name begins.
    pub function: &'static str,
    /// Operations that must be named.
    pub operations: &'static [&'static str],
    /// Whether sixteen secrets show it; else only taint does.
    pub compared: bool,
    /// Whether taint gets there.
    pub tainted: bool,
}

/// Two blocks, and a remainder of five bytes.
const SIZE: usize = 37;
/// Takes the loop for wide messages, without a remainder of five bytes.
const WIDE: usize = 144;

fn control(name: &'static str, found: Option<Planted>) -> Control {
    let defines = vec![format!("LEAK={name}")];
    Control { name, defines, found, needs: "", also: &[], tier: "native", size: SIZE }
}

fn planted(kind: &'static str, function: &'static str) -> Planted {
    Planted { kind, function, operations: &["encrypt", "decrypt"], compared: true, tainted: true }
}

impl Control {
    fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Only taint sees it.
    fn by_taint(mut self) -> Self {
        self.found = self.found.map(|found| Planted { compared: false, ..found });
        self
    }

    /// Another name, called at another place, and found in these operations.
    fn at(mut self, name: &'static str, place: &str, operations: &'static [&'static str]) -> Self {
        self.defines.push(format!("PLACE={place}"));
        self.found = self.found.map(|found| Planted { operations, ..found });
        Self { name, ..self }
    }
}

fn leaks(kind: &'static str, needs: &'static str, names: &[&'static str]) -> Vec<Control> {
    let one = |name: &&'static str| control(name, Some(planted(kind, name))).needs(needs);
    names.iter().map(one).collect()
}

fn clean(needs: &'static str, names: &[&'static str]) -> Vec<Control> {
    names.iter().map(|name| control(name, None).needs(needs)).collect()
}

/// Every control.
pub fn all() -> Vec<Control> {
    [lookups(), branches(), places(), tags(), ciphers(), rare(), unseen(), harmless()].concat()
}

fn lookups() -> Vec<Control> {
    let plain = [
        "sbox_table",
        "one_line",
        "wide_table",
        "store_at",
        "signed_index",
        "pointer_of_row",
        "thread_local_table",
        "high_byte",
        "cmov_then_load",
        "setcc_then_load",
        "borrow_then_load",
        "product_then_load",
        "rotate_then_load",
        "vector_then_load",
        "lahf_then_load",
        "exchange_then_load",
        "translate",
        "bit_in_memory",
        "prefetch",
        "flush_line",
        "alloca_size",
        "aes_then_load",
    ];
    let masks = ["masked_load", "masked_store", "expand_load", "compress_store"];
    let by_taint =
        |of: Vec<Control>| -> Vec<Control> { of.into_iter().map(Control::by_taint).collect() };
    let in_libc = |name, also| control(name, Some(planted("lookup", name))).also(also);
    [
        leaks("lookup", "", &plain),
        leaks("lookup", "bmi2", &["pext_then_load", "pdep_then_load"]),
        // No general register has the indices.
        by_taint(leaks("lookup", "avx2", &["gather_avx2", "gather_quadwords"])),
        by_taint(leaks("lookup", "avx512f", &["gather_avx512", "scatter_avx512"])),
        by_taint(leaks("lookup", "avx512f", &masks)),
        by_taint(leaks("lookup", "avx2", &["masked_store_avx2"])),
        by_taint(leaks("lookup", "", &["masked_store_sse2"])),
        vec![in_libc("malloc_size", &["libc.so.6"]), in_libc("memcpy_to", &["libc.so.6"])],
    ]
    .concat()
}

fn branches() -> Vec<Control> {
    let plain = [
        "branch_on_bit",
        "bit_test",
        "parity",
        "count_register",
        "vector_test",
        "byte_mask",
        "compare_doubles",
        "overflow",
        "jump_table",
        "indirect_call",
        "return_to",
        "loop_count",
        "loop_instruction",
        "until_lowest_bit",
        "copy_length",
        "fill_length",
        "scan_for_byte",
        "by_count",
        "by_shift_count",
    ];
    let in_libc = ["memset_length", "free_if", "call_of_kernel_if"];
    let libc = |c: Control| c.also(&["libc.so.6"]);
    let x87 = control(
        "compare_x87",
        Some(Planted { tainted: false, ..planted("branch", "compare_x87") }),
    );
    let divisions = ["divide_8", "divide_32", "divide_64", "divide_signed", "divisor"];
    [
        leaks("branch", "", &plain),
        leaks("branch", "bmi2", &["by_bmi_shift"]),
        leaks("branch", "avx512f", &["by_permuted_index"]),
        leaks("branch", "avx", &["vector_test_avx"]),
        leaks("branch", "avx512f", &["mask_or_test"]),
        leaks("branch", "avx512dq", &["mask_test"]),
        leaks("branch", "avx512bw avx512vl", &["mask_of_compare"]),
        leaks("branch", "", &in_libc).into_iter().map(libc).collect(),
        leaks("branch", "", &["once_in_2_to_16", "once_in_2_to_32"])
            .into_iter()
            .map(Control::by_taint)
            .collect(),
        leaks("division", "", &divisions),
        vec![x87],
    ]
    .concat()
}

/// Where a leak is, and nowhere else.
fn places() -> Vec<Control> {
    let lookup = || control("sbox_table", Some(planted("lookup", "sbox_table")));
    let wide = lookup().at("only_wide", "WIDE", &["encrypt", "decrypt"]);
    vec![
        lookup().at("only_key_set_up", "KEY_SET_UP", &["key-set-up"]),
        lookup().at("only_encryption", "ENCRYPT", &["encrypt"]),
        lookup().at("only_decryption", "DECRYPT", &["decrypt"]),
        lookup().at("only_rejection", "REJECT", &["reject"]),
        branch_in_rejection(),
        lookup().at("only_remainder", "REMAINDER", &["encrypt", "decrypt"]),
        lookup().at("only_first_message", "FIRST", &["encrypt", "decrypt"]),
        Control { size: WIDE, ..wide },
    ]
}

/// A branch on a bit of the key, where a tag is wrong and nowhere else.
pub fn branch_in_rejection() -> Control {
    let branch = control("branch_on_bit", Some(planted("branch", "branch_on_bit")));
    branch.at("branch_in_rejection", "REJECT", &["reject"])
}

/// Comparisons of tags: leaky ones, and ones that are as they should be.
fn tags() -> Vec<Control> {
    let of = |name: &'static str, found| Control {
        defines: vec![format!("COMPARE={name}")],
        ..control(name, found)
    };
    let leaky = |name, also| {
        // The branches that taint finds there are part of the comparison.
        let found = Planted { tainted: false, ..planted("tag-comparison", name) };
        of(name, Some(Planted { operations: &["reject"], ..found })).also(also)
    };
    vec![
        leaky("early_exit", &[]),
        leaky("word_by_word", &[]),
        leaky("libc_memcmp", &["libc.so.6"]),
        leaky("libc_strncmp", &["libc.so.6"]),
        leaky("repeated_compare", &[]),
        leaky("place_of_difference", &[]),
        of("all_words", None),
        of("one_vector", None),
    ]
}

/// Whole ciphers and S-boxes in the place of AES-NI's.
fn ciphers() -> Vec<Control> {
    let with = |name, define: &str, found| Control {
        defines: vec![define.to_owned()],
        ..control(name, found)
    };
    // Key set-up encrypts a block of zeros for GHASH.
    let tables = || Planted {
        operations: &["key-set-up", "encrypt", "decrypt"],
        ..planted("lookup", "tables_encrypt")
    };
    let without = |tier, found| Control {
        tier,
        ..with("tables_without_aes", "TABLES=!__builtin_cpu_supports(\"aes\")", found)
    };
    let set_up =
        Planted { operations: &["key-set-up"], ..planted("lookup", "substitute_by_table") };
    let also = &["tables_ghash", "set_key", "rekey"];
    vec![
        with("tables", "TABLES=1", Some(tables())).also(also),
        without("noaes", Some(tables())).also(also),
        Control { name: "aesni_where_it_is", ..without("native", None) },
        with("sbox_in_set_up", "SUBSTITUTE=substitute_by_table", Some(set_up)),
        with("sbox_arithmetic", "SUBSTITUTE=substitute_arithmetic", None),
        with("sbox_bitsliced", "SUBSTITUTE=substitute_bitsliced", None),
    ]
}

/// Ways of a secret to a branch that is hardly ever taken.
fn rare() -> Vec<Control> {
    let plain = [
        "by_aes",
        "by_carry_less_product",
        "by_shuffle",
        "by_palignr",
        "by_unpack",
        "by_byte_mask",
        "by_blend",
        "by_packed_double",
        "by_multiply_vector",
        "by_carry",
        "by_flags_word",
        "by_cmov",
        "by_kept_cmov",
        "by_setcc",
        "by_byte_order",
        "by_checksum",
        "by_partial_register",
        "by_leal",
        "by_repeated_move",
        "by_lods_stos",
        "by_exchange",
        "by_locked_add",
        "by_compare_exchange",
        "by_bytes_in_memory",
        "by_memory_and",
    ];
    let avx2 = ["by_upper_lane", "by_broadcast", "by_gathered_value"];
    let avx512 = [
        "by_mask_register",
        "by_mask_of_compare",
        "by_masked_move",
        "by_compress",
        "by_permute",
        "by_ternary_logic",
        "by_upper_zmm",
        "by_register_above_15",
    ];
    let all = [
        leaks("branch", "", &plain),
        leaks("branch", "avx2", &avx2),
        leaks("branch", "bmi2", &["by_multiply"]),
        leaks("branch", "adx", &["by_adx"]),
        leaks("branch", "avx512bw avx512vl", &avx512),
        leaks("branch", "avx512ifma avx512vl", &["by_ifma"]),
        leaks("branch", "gfni", &["by_galois_field"]),
        leaks("branch", "sha", &["by_sha"]),
    ];
    all.concat().into_iter().map(Control::by_taint).collect()
}

/// What docs/CONSTANT-TIME.md says is not seen: x87 registers, and the state that FXSAVE stores.
fn unseen() -> Vec<Control> {
    clean("", &["by_saved_state", "by_x87"])
}

/// One that is as it should be.
pub fn honest() -> Control {
    control("nothing", None)
}

fn harmless() -> Vec<Control> {
    let plain = [
        "nothing",
        "whole_table",
        "cmov_select",
        "mask_select",
        "public_division",
        "table_in_register",
        "only_address",
        "public_index",
        "copy_and_clear",
        "public_repeat",
        "public_allocation",
        "counts_calls",
        "zeroed_by_xor",
        "zeroed_by_sub",
        "zeroed_by_vector_xor",
        "ones_by_compare",
        "zeroed_by_and",
        "ones_by_or",
        "overwritten_register",
        "overwritten_memory",
        "other_byte",
        "upper_half_cleared",
        "public_flag_kept",
    ];
    [
        clean("", &plain),
        clean("bmi2", &["multiply"]),
        clean("rdrand", &["clock_and_random"]),
        clean("avx2", &["gather_of_secrets", "vector_tail_cleared", "zeroupper"]),
        clean("avx512f avx512vl", &["ternary_ones", "masked_select"]),
        clean("avx512vbmi", &["table_in_registers"]),
    ]
    .concat()
}
