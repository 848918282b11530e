/* Ways that code goes, times that it repeats, and divisions, that depend on the key. */

/* Jumps over nothing: the assembly sets flags before. */
#define JUMPING(name, before, jump)                                                                               \
  CONTROL(name) {                                                                                                 \
    __asm__ volatile(before "\n\t" jump " 1f\n\tnop\n1:" ::"D"(k)                                                 \
                     : "rax", "rcx", "rdx", "xmm0", "xmm1", "cc", "memory");                                      \
  }

CONTROL(branch_on_bit) {
  if (k[0] & 1) sink = sink * 3;
  else sink = sink + 5;
}
JUMPING(bit_test, "mov eax, [rdi]\n\tbt eax, 3", "jc")
JUMPING(parity, "test byte ptr [rdi], 0xff", "jp")
JUMPING(count_register, "movzx ecx, byte ptr [rdi]\n\tand ecx, 1", "jrcxz")
JUMPING(vector_test, "movdqu xmm0, [rdi]\n\tpsllq xmm0, 63\n\tptest xmm0, xmm0", "jz")
JUMPING(vector_test_avx, "vmovdqu xmm0, [rdi]\n\tvpsllq xmm0, xmm0, 63\n\tvptest xmm0, xmm0", "jz")
JUMPING(byte_mask, "movdqu xmm0, [rdi]\n\tpmovmskb eax, xmm0\n\ttest eax, 1", "jz")
JUMPING(mask_or_test, "mov eax, [rdi]\n\tand eax, 1\n\tkmovw k1, eax\n\tkortestw k1, k1", "jz")
JUMPING(mask_test, "mov eax, [rdi]\n\tand eax, 1\n\tkmovw k1, eax\n\tktestw k1, k1", "jz")
JUMPING(mask_of_compare, "vmovdqu64 xmm0, [rdi]\n\tmov eax, 1\n\tvpbroadcastb xmm1, eax\n\tvptestmb k1, xmm0, xmm1\n\t"
                         "kmovd eax, k1\n\ttest eax, 1", "jz")
JUMPING(compare_doubles, "movsx eax, byte ptr [rdi]\n\tcvtsi2sd xmm0, eax\n\txorpd xmm1, xmm1\n\tcomisd xmm0, xmm1", "ja")
JUMPING(compare_x87, "movsx eax, byte ptr [rdi]\n\tpush rax\n\tfldz\n\tfild qword ptr [rsp]\n\tpop rax\n\t"
                     "fcomip st, st(1)\n\tfstp st(0)", "ja")
JUMPING(overflow, "mov al, [rdi]\n\tadd al, [rdi + 1]", "jo")
JUMPING(by_count, "popcnt eax, dword ptr [rdi]\n\ttzcnt eax, eax\n\tcmp eax, 32", "jz")
JUMPING(by_shift_count, "movzx ecx, byte ptr [rdi]\n\tmov eax, 1\n\tshl eax, cl\n\tcmp eax, 0x10000", "jb")
JUMPING(by_bmi_shift, "mov ecx, [rdi]\n\tmov eax, 1\n\tshlx eax, eax, ecx\n\tcmp eax, 0x10000", "jb")
JUMPING(by_permuted_index, "vbroadcasti32x4 zmm0, [rdi]\n\tvpcmpeqd ymm1, ymm1, ymm1\n\tvpermi2d zmm0, zmm1, zmm1\n\tvmovd eax, xmm0\n\t"
                           "vzeroupper\n\ttest eax, eax", "jz")

CONTROL(jump_table) {
  switch (k[0] & 7) {
  case 0: sink += 3; break;
  case 1: sink *= 5; break;
  case 2: sink ^= 9; break;
  case 3: sink -= 7; break;
  case 4: sink /= 11; break;
  case 5: sink <<= 2; break;
  case 6: sink >>= 1; break;
  default: sink = ~sink;
  }
}
static void one(void) { sink += 1; }
static void two(void) { sink += 2; }
CONTROL(indirect_call) {
  void (*const to)(void) = (void (*)(void))((uintptr_t)one ^ (-(uintptr_t)(k[0] & 1) & ((uintptr_t)one ^ (uintptr_t)two)));
  to();
}
CONTROL(return_to) {
  __asm__ volatile("test byte ptr [rdi], 1\n\tlea rax, [rip + 1f]\n\tlea rcx, [rip + 2f]\n\tcmovne rax, rcx\n\t"
                   "push rax\n\tret\n1:\tnop\n2:" ::"D"(k) : "rax", "rcx", "cc");
}
CONTROL(loop_count) {
  for (unsigned n = k[0] & 7; n > 0; n--) sink = n;
}
CONTROL(loop_instruction) {
  __asm__ volatile("movzx ecx, byte ptr [rdi]\n\tand ecx, 7\n\tinc ecx\n1:\tloop 1b" ::"D"(k) : "rcx", "cc");
}
CONTROL(until_lowest_bit) {
  for (uint32_t n = k[0] | 0x100u; (n & 1) == 0; n >>= 1) sink = n;
}
CONTROL(copy_length) {
  __asm__ volatile("movzx ecx, byte ptr [rdi]\n\tand ecx, 31\n\tlea rsi, [rip + table]\n\tlea rdi, [rsi + 64]\n\trep movsb"
                   : "+D"(k)::"rcx", "rsi", "memory");
}
CONTROL(fill_length) {
  __asm__ volatile("movzx ecx, byte ptr [rdi]\n\tand ecx, 31\n\tlea rdi, [rip + table]\n\txor eax, eax\n\trep stosq"
                   : "+D"(k)::"rax", "rcx", "memory");
}
/* How far it scans depends on what it reads. */
CONTROL(scan_for_byte) {
  __asm__ volatile("mov ecx, 16\n\tmov al, [rdi + 7]\n\trepne scasb" : "+D"(k)::"rax", "rcx", "cc");
}
CONTROL(memset_length) { memset(table, 0, k[0]); }
CONTROL(free_if) {
  void *room = malloc(32);
  if (k[0] & 1) free(room), room = NULL;
  sink = room != NULL;
  free(room);
}
CONTROL(call_of_kernel_if) {
  if (k[0] & 1) sink = (uint32_t)getppid();
}

/* Seldom taken: sixteen keys hardly ever show it. */
CONTROL(once_in_2_to_16) {
  uint16_t n;
  memcpy(&n, k, 2);
  if (n == 0xa55a) sink = 1;
}
CONTROL(once_in_2_to_32) {
  uint32_t n;
  memcpy(&n, k, 4);
  if (n == 0x5eed1234) sink = 1;
}

#define DIVIDING(name, before, division)                                                                          \
  CONTROL(name) { __asm__ volatile(before "\n\t" division ::"D"(k) : "rax", "rcx", "rdx", "xmm0", "xmm1", "cc"); }
DIVIDING(divide_8, "movzx eax, byte ptr [rdi]\n\tmov cl, 7", "div cl")
DIVIDING(divide_32, "mov eax, [rdi]\n\txor edx, edx\n\tmov ecx, 3329", "div ecx")
DIVIDING(divide_64, "mov rax, [rdi]\n\txor edx, edx\n\tmov ecx, 3329", "div rcx")
DIVIDING(divide_signed, "mov eax, [rdi]\n\tcdq\n\tmov ecx, 3329", "idiv ecx")
DIVIDING(divisor, "mov eax, 1000000007\n\txor edx, edx\n\tmov ecx, [rdi]\n\tor ecx, 1", "div ecx")
