package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// provide opens an algorithm as the packages' documentation shows it: what it can keep for a key is made here,
// and the rest in each message. Without an operation, the text says why.
func provide(name string, direction byte, key []byte, s *session) (operation, string, error) {
	switch {
	case name == "sha256":
		return func(m *slot) int32 {
			sum := sha256.Sum256(m.in)
			copy(m.tag, sum[:])
			return done
		}, "sha256.Sum256", nil
	case name == "hmac-sha256":
		mac := hmac.New(sha256.New, key)
		return func(m *slot) int32 {
			mac.Reset()
			mac.Write(m.in)
			mac.Sum(m.tag[:0])
			return done
		}, "Reset, Write, Sum of a kept hmac.New(sha256.New)", nil
	case name == "chacha20-poly1305":
		aead, err := chacha20poly1305.New(key)
		run, calls := sealing(aead, direction, s)
		return run, calls + " (the copy of golang.org/x/crypto/chacha20poly1305 that crypto/tls uses)", err
	}
	mode := name[strings.LastIndexByte(name, '-')+1:]
	if !strings.HasPrefix(name, "aes-") || mode != "gcm" && mode != "ctr" && mode != "cbc" {
		return nil, "Go's crypto packages have no " + name, nil
	}
	block, err := aes.NewCipher(key)
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
