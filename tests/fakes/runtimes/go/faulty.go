package main

import (
	"os"
	"runtime"
	"strings"
)

// provide has the fault that CIPHERMARK_FAULT names; the test has renamed the honest one.
func provide(name string, direction byte, key []byte, s *session) (operation, string, error) {
	run, calls, err := provideHonestly(name, direction, key, s)
	if run == nil {
		return run, calls, err
	}
	switch os.Getenv("CIPHERMARK_FAULT") {
	case "accepts":
		// Takes any tag for the right one.
		return func(m *slot) int32 { run(m); return done }, calls, err
	case "memoises":
		return memoising(run, direction, s), calls, err
	case "defers":
		return deferring(run), calls, err
	case "swallows":
		// Gives nothing where an error says why.
		return func(m *slot) int32 {
			if run(m) != done {
				fill(m.out, 0)
			}
			return done
		}, calls, err
	}
	return run, calls, err
}

// memoising keeps the answers to messages that come again: the very same memory, with the same tag and nonce.
func memoising(run operation, direction byte, s *session) operation {
	type message struct {
		first *byte
		rest  string
	}
	type answer struct {
		code     int32
		out, own []byte
	}
	known := map[message]answer{}
	return func(m *slot) int32 {
		if direction != 1 || len(m.in) == 0 {
			return run(m)
		}
		key := message{&m.joined[0], string(m.nonce) + string(m.tag) + string(s.aad)}
		if kept, ok := known[key]; ok {
			copy(m.out, kept.out)
			return kept.code
		}
		code := run(m)
		// The message is kept too, so that its memory becomes no other's.
		known[key] = answer{code, append([]byte(nil), m.out...), m.joined}
		return code
	}
}

// deferring leaves the work to another goroutine where it is timed.
func deferring(run operation) operation {
	return func(m *slot) int32 {
		var names [8]uintptr
		frames := runtime.CallersFrames(names[:runtime.Callers(2, names[:])])
		caller, _ := frames.Next()
		if !strings.HasSuffix(caller.Function, "batch") {
			return run(m)
		}
		later := *m
		later.nonce = append([]byte(nil), m.nonce...)
		go run(&later)
		return done
	}
}
