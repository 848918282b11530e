//! Shared objects for the tests, compiled by the machine's C compiler.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// `0F A2` as an instruction, in a table in the code, in an immediate, and as a displacement.
pub const CONFUSING: &str = r#"
#include <cpuid.h>
unsigned in_c(unsigned leaf) {
  unsigned a, b, c, d;
  __cpuid_count(leaf, 0, a, b, c, d);
  return c;
}
/* No unwinding table, no type, no size: what old assembly is like. A table of bytes before it. */
__asm__(".text\n"
        "table: .byte 0x0f, 0xa2, 0x11, 0x0f, 0xa2\n"
        "bare:\n"
        "  push %rbx\n  mov %edi, %eax\n  xor %ecx, %ecx\n  cpuid\n  mov %ecx, %eax\n  pop %rbx\n  ret\n"
        ".type whole, @function\n"
        "whole:\n"
        "  .cfi_startproc\n"
        "  push %rbx\n  mov %edi, %eax\n  xor %ecx, %ecx\n  jmp 1f\n"
        "  .byte 0xff, 0xff\n"
        "1: .byte 0x48\n  cpuid\n  mov %ecx, %eax\n  pop %rbx\n  ret\n"
        "  .cfi_endproc\n"
        ".size whole, . - whole\n"
        ".type jump, @function\n"
        "jump:\n"
        "  .cfi_startproc\n"
        "  push %rbx\n  xor %ecx, %ecx\n  mov %edi, %eax\n  cpuid\n  mov %ecx, %eax\n  pop %rbx\n"
        "  mov $0x1a20f, %edx\n"
        "  lea 0xa20f(%rip), %rdx\n"
        "  aesenc %xmm0, %xmm0\n  aesenc %xmm0, %xmm0\n  aesenc %xmm0, %xmm0\n"
        "  aesenc %xmm0, %xmm0\n  aesenc %xmm0, %xmm0\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size jump, . - jump\n");
unsigned bare(unsigned), whole(unsigned), jump(unsigned);
extern const unsigned char table[5];
__asm__(".hidden bare\n.hidden whole\n.hidden jump\n.hidden table");
/* What each way of asking sees in leaf 1, and whether the table is whole. */
unsigned seen(int way) {
  switch (way) {
  case 0: return in_c(1);
  case 1: return bare(1);
  case 2: return whole(1);
  case 3: return jump(1);
  default: return table[0] == 0x0f && table[1] == 0xa2 && table[3] == 0x0f && table[4] == 0xa2;
  }
}
"#;

/// Compiles C into a shared object of this name.
pub fn compiled(name: &str, source: &str, arguments: &[&str]) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("ciphermark-tier-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    compiled_in(&directory, name, source, arguments)
}

/// The same in a directory of the caller's.
pub fn compiled_in(directory: &Path, name: &str, source: &str, arguments: &[&str]) -> PathBuf {
    // Tests that share an object compile it each, into files of their own, and rename.
    let fresh = tempfile::Builder::new().suffix(".c").tempfile_in(directory).unwrap();
    std::fs::write(fresh.path(), source).unwrap();
    let output = fresh.path().with_extension("so");
    let result = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&output)
        .arg(fresh.path())
        .args(arguments)
        .output()
        .expect("a C compiler is installed as `cc`");
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let object = directory.join(name);
    std::fs::rename(output, &object).unwrap();
    object
}
