// Serves Go's crypto packages to a ciphermark worker over standard input and output: docs/RUNTIMES.md.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"
)

const (
	done        = 0
	rejected    = 1
	unsupported = 2
	failed      = 3
	ring        = 16
	outAlign    = 64
)

// slot is what one operation works on.
type slot struct {
	nonce, tag []byte
	// The message; for decryption also with its tag behind it.
	in, joined []byte
	// As long as the message, with room for the tag behind it.
	out []byte
}

// operation runs one message of a session.
type operation func(s *slot) int32

// session is an opened algorithm in one direction, and the ring of messages placed for it.
type session struct {
	name              string
	direction         byte
	nonceLen, tagLen  int
	aad               []byte
	run               operation
	slots             [ring]slot
	size, count, keep int
	fresh             bool
	expected          int32
	inputs, together  [][]byte
	// What is written: slots share these in turn, as many as fit a cache.
	outputs, tags [][]byte
}

var (
	sessions = map[uint32]*session{}
	ran      = map[string]uint64{}
)

// reader takes a request apart.
type reader struct{ left []byte }

func (r *reader) bytes(n int) []byte {
	b := r.left[:n:n]
	r.left = r.left[n:]
	return b
}
func (r *reader) u8() byte    { return r.bytes(1)[0] }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }

// copied is a copy at a cache line's beginning.
func copied(b []byte, room int) []byte {
	c := make([]byte, len(b), len(b)+room+outAlign)
	copy(c, b)
	return c
}

func hello() []byte {
	var b strings.Builder
	version := strings.TrimPrefix(runtime.Version(), "go")
	fmt.Fprintf(&b, "version %s\nbuild %s %s/%s, GOMAXPROCS=%d\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "GO") || s.Key == "CGO_ENABLED" {
				fmt.Fprintf(&b, "build %s=%s\n", s.Key, s.Value)
			}
		}
		for _, d := range info.Deps {
			fmt.Fprintf(&b, "build %s %s\n", d.Path, d.Version)
		}
	}
	b.WriteString("build Go's own code and assembly, no libcrypto\n")
	return []byte(b.String())
}

func openSession(r *reader) (byte, string) {
	id, direction := r.u32(), r.u8()
	s := &session{direction: direction, tagLen: int(r.u8()), nonceLen: int(r.u8())}
	s.name = string(r.bytes(int(r.u8())))
	run, calls, err := provide(s.name, direction, append([]byte(nil), r.left...), s)
	if err != nil {
		return failed, err.Error()
	}
	if run == nil {
		return unsupported, calls
	}
	s.run = run
	sessions[id] = s
	return done, calls
}

// once runs one message: what every check goes through.
func once(r *reader) []byte {
	s := sessions[r.u32()]
	aadLen, size := int(r.u32()), int(r.u32())
	m := slot{nonce: r.bytes(s.nonceLen)}
	s.aad = r.bytes(aadLen)
	m.in = r.bytes(size)
	m.tag = append([]byte(nil), r.bytes(s.tagLen)...)
	m.joined = append(append(make([]byte, 0, size+s.tagLen), m.in...), m.tag...)
	m.out = make([]byte, size, size+s.tagLen+outAlign)
	code := s.run(&m)
	reply := []byte{byte(code)}
	if code != done {
		return reply
	}
	if s.direction != 2 {
		reply = append(reply, m.out...)
	}
	if s.direction != 1 {
		reply = append(reply, m.tag...)
	}
	return reply
}

// place takes the messages of a ring.
func place(r *reader) []byte {
	s := sessions[r.u32()]
	s.size, s.count, s.keep = int(r.u32()), int(r.u32()), int(r.u32())
	s.fresh, s.expected = r.u8() == 1, int32(r.u8())
	s.aad = append([]byte(nil), r.bytes(int(r.u32()))...)
	s.inputs, s.together, s.outputs, s.tags = nil, nil, nil, nil
	for i := 0; i < s.count; i++ {
		s.inputs = append(s.inputs, copied(r.bytes(s.size), 0))
		s.together = append(s.together, nil)
	}
	for i := 0; i < s.keep; i++ {
		s.outputs = append(s.outputs, copied(make([]byte, s.size), s.tagLen))
		s.tags = append(s.tags, make([]byte, s.tagLen))
	}
	for i := range s.slots {
		s.slots[i] = slot{in: s.inputs[i%s.count], out: s.outputs[i%s.keep], nonce: make([]byte, s.nonceLen), tag: s.tags[i%s.keep]}
		if s.direction == 1 {
			s.slots[i].tag = make([]byte, s.tagLen)
		}
	}
	return binary.LittleEndian.AppendUint64([]byte{done}, ran[s.key()])
}

func (s *session) key() string { return fmt.Sprint(s.name, s.direction) }

// ready gives every slot its nonce and tag.
func (s *session) ready(r *reader) {
	poison := int32(r.u32())
	for i := range s.slots {
		copy(s.slots[i].nonce, r.bytes(s.nonceLen))
	}
	for i := range s.slots {
		tag := r.bytes(s.tagLen)
		if s.direction == 1 && s.tagLen > 0 {
			copy(s.slots[i].tag, tag)
			s.join(i)
		}
	}
	if poison < 0 {
		return
	}
	for i, out := range s.outputs {
		fill(out[:s.size+s.tagLen], byte(poison))
		fill(s.tags[i], byte(poison))
	}
}

func fill(b []byte, with byte) {
	for i := range b {
		b[i] = with
	}
}

// join puts a slot's tag behind its message; messages whose tags are the same share the memory.
func (s *session) join(i int) {
	m := i % s.count
	whole := append(append(make([]byte, 0, s.size+s.tagLen), s.inputs[m]...), s.slots[i].tag...)
	if s.together[m] == nil {
		s.together[m] = whole
	}
	if i < s.count {
		copy(s.together[m], whole)
	}
	if string(s.together[m]) == string(whole) {
		whole = s.together[m]
	}
	s.slots[i].joined = whole
}

// batch is what is timed: operations on the slots in turn, nonces raised after their use.
func (s *session) batch(at, ops int) (time.Duration, int32) {
	codes, run, fresh, expected := int32(0), s.run, s.fresh, s.expected
	begin := time.Now()
	for ; ops > 0; ops-- {
		m := &s.slots[at]
		codes |= run(m) ^ expected
		if fresh {
			n := m.nonce[:8]
			binary.LittleEndian.PutUint64(n, binary.LittleEndian.Uint64(n)+ring)
		}
		at = (at + 1) % ring
	}
	return time.Since(begin), codes
}

// What collecting takes from the program; the collector also works where a processor would be idle.
var gcCPU = []metrics.Sample{
	{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
	{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"},
	{Name: "/cpu/classes/gc/pause:cpu-seconds"},
}

func timed(r *reader) []byte {
	s := sessions[r.u32()]
	at, ops := int(r.u32()), int(r.u32())
	s.ready(r)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// The monitor thread looks every 20 µs for what it could do when a program wakes up, on the batch's CPU, and ever less
	// often when it finds nothing.
	for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
	}
	took, codes := s.batch(at, ops)
	runtime.ReadMemStats(&after)
	metrics.Read(gcCPU)
	collecting := 0.0
	for _, sample := range gcCPU {
		collecting += sample.Value.Float64()
	}
	ran[s.key()] += uint64(ops)
	reply := binary.LittleEndian.AppendUint64([]byte{done}, uint64(took.Nanoseconds()))
	reply = binary.LittleEndian.AppendUint32(reply, uint32(codes))
	reply = binary.LittleEndian.AppendUint64(reply, after.TotalAlloc-before.TotalAlloc)
	reply = binary.LittleEndian.AppendUint64(reply, uint64(collecting*1e9))
	return binary.LittleEndian.AppendUint64(reply, after.TotalAlloc)
}

// left gives what the last operations wrote.
func left(r *reader) []byte {
	s := sessions[r.u32()]
	reply := []byte{done}
	for i := 0; i < s.keep; i++ {
		if s.direction != 2 {
			reply = append(reply, s.outputs[i]...)
		}
		if s.direction != 1 {
			reply = append(reply, s.tags[i]...)
		}
	}
	return reply
}

func answer(request []byte) []byte {
	r := &reader{request[1:]}
	switch request[0] {
	case 'H':
		return append([]byte{done}, hello()...)
	case 'O':
		status, text := openSession(r)
		return append([]byte{status}, text...)
	case 'M':
		return once(r)
	case 'P':
		return place(r)
	case 'R':
		return timed(r)
	case 'G':
		return left(r)
	}
	panic(fmt.Sprintf("no request %q", request[0]))
}

func main() {
	// What a package prints stays out of the protocol.
	out, err := syscall.Dup(1)
	if err == nil {
		err = syscall.Dup3(2, 1, 0)
	}
	if err != nil {
		panic(err)
	}
	runtime.LockOSThread()
	requests, replies := bufio.NewReaderSize(os.Stdin, 1<<16), os.NewFile(uintptr(out), "replies")
	var head [4]byte
	for {
		if _, err := io.ReadFull(requests, head[:]); err != nil {
			return
		}
		request := make([]byte, binary.LittleEndian.Uint32(head[:]))
		if _, err := io.ReadFull(requests, request); err != nil {
			return
		}
		reply := answer(request)
		whole := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(reply)), uint32(len(reply)))
		if _, err := replies.Write(append(whole, reply...)); err != nil {
			return
		}
	}
}
