package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// hashes are the digests by their one call, and what HMAC makes its own of.
var hashes = map[string]struct {
	sum        operation
	sumCall    string
	create     func() hash.Hash
	createCall string
}{
	"md5":        {func(m *slot) int32 { s := md5.Sum(m.in); copy(m.tag, s[:]); return done }, "md5.Sum", md5.New, "md5.New"},
	"sha1":       {func(m *slot) int32 { s := sha1.Sum(m.in); copy(m.tag, s[:]); return done }, "sha1.Sum", sha1.New, "sha1.New"},
	"sha224":     {func(m *slot) int32 { s := sha256.Sum224(m.in); copy(m.tag, s[:]); return done }, "sha256.Sum224", sha256.New224, "sha256.New224"},
	"sha256":     {func(m *slot) int32 { s := sha256.Sum256(m.in); copy(m.tag, s[:]); return done }, "sha256.Sum256", sha256.New, "sha256.New"},
	"sha384":     {func(m *slot) int32 { s := sha512.Sum384(m.in); copy(m.tag, s[:]); return done }, "sha512.Sum384", sha512.New384, "sha512.New384"},
	"sha512":     {func(m *slot) int32 { s := sha512.Sum512(m.in); copy(m.tag, s[:]); return done }, "sha512.Sum512", sha512.New, "sha512.New"},
	"sha512-224": {func(m *slot) int32 { s := sha512.Sum512_224(m.in); copy(m.tag, s[:]); return done }, "sha512.Sum512_224", sha512.New512_224, "sha512.New512_224"},
	"sha512-256": {func(m *slot) int32 { s := sha512.Sum512_256(m.in); copy(m.tag, s[:]); return done }, "sha512.Sum512_256", sha512.New512_256, "sha512.New512_256"},
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksums are numbers, written big-endian.
var checksums = map[string]struct {
	sum  func(in []byte) uint32
	call string
}{
	"crc32":   {crc32.ChecksumIEEE, "crc32.ChecksumIEEE"},
	"crc32c":  {func(in []byte) uint32 { return crc32.Checksum(in, castagnoli) }, "crc32.Checksum"},
	"adler32": {adler32.Checksum, "adler32.Checksum"},
}

// blocks are the ciphers that modes are made of.
var blocks = map[string]func(key []byte) (cipher.Block, error){
	"aes-128": aes.NewCipher, "aes-192": aes.NewCipher, "aes-256": aes.NewCipher,
	"des": des.NewCipher, "des-ede3": des.NewTripleDESCipher,
}

// provide opens an algorithm as the packages' documentation shows it: what it can keep for a key is made here,
// and the rest in each message. Without an operation, the text says why.
func provide(name string, direction byte, key []byte, s *session) (operation, string, error) {
	if h, ok := hashes[name]; ok {
		return h.sum, h.sumCall, nil
	}
	if c, ok := checksums[name]; ok {
		return func(m *slot) int32 {
			binary.BigEndian.PutUint32(m.tag, c.sum(m.in))
			return done
		}, c.call, nil
	}
	if h, ok := hashes[strings.TrimPrefix(name, "hmac-")]; ok {
		mac := hmac.New(h.create, key)
		return func(m *slot) int32 {
			mac.Reset()
			mac.Write(m.in)
			mac.Sum(m.tag[:0])
			return done
		}, "Reset, Write, Sum of a kept hmac.New(" + h.createCall + ")", nil
	}
	if name == "chacha20-poly1305" {
		aead, err := chacha20poly1305.New(key)
		run, calls := sealing(aead, direction, s)
		return run, calls + " (the copy of golang.org/x/crypto/chacha20poly1305 that crypto/tls uses)", err
	}
	mode := name[strings.LastIndexByte(name, '-')+1:]
	create := blocks[strings.TrimSuffix(name, "-"+mode)]
	if create == nil || mode != "ctr" && mode != "cbc" && (mode != "gcm" || name[0] != 'a') {
		return nil, "not asked of Go's crypto packages: " + name, nil
	}
	block, err := create(key)
	if err != nil {
		return nil, "", err
	}
	switch {
	case mode == "gcm":
		aead, err := cipher.NewGCM(block)
		run, calls := sealing(aead, direction, s)
		return run, calls, err
	case mode == "ctr":
		return func(m *slot) int32 {
			cipher.NewCTR(block, m.nonce).XORKeyStream(m.out, m.in)
			return done
		}, "cipher.NewCTR, XORKeyStream", nil
	case mode == "cbc" && direction == 0:
		return func(m *slot) int32 {
			cipher.NewCBCEncrypter(block, m.nonce).CryptBlocks(m.out, m.in)
			return done
		}, "cipher.NewCBCEncrypter, CryptBlocks", nil
	default:
		return func(m *slot) int32 {
			cipher.NewCBCDecrypter(block, m.nonce).CryptBlocks(m.out, m.in)
			return done
		}, "cipher.NewCBCDecrypter, CryptBlocks", nil
	}
}

// sealing runs a kept AEAD into memory that is kept too.
func sealing(aead cipher.AEAD, direction byte, s *session) (operation, string) {
	if direction == 0 {
		return func(m *slot) int32 {
			sealed := aead.Seal(m.out[:0], m.nonce, m.in, s.aad)
			copy(m.tag, sealed[len(m.in):])
			return done
		}, "Seal of a kept cipher.AEAD, dst given"
	}
	return func(m *slot) int32 {
		if _, err := aead.Open(m.out[:0], m.nonce, m.joined, s.aad); err != nil {
			return rejected
		}
		return done
	}, "Open of a kept cipher.AEAD, dst given"
}
