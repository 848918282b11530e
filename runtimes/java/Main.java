import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.BufferedInputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Serves a Java security provider to a ciphermark worker over standard input and output: docs/RUNTIMES.md. */
public final class Main {
    static final int DONE = 0, UNSUPPORTED = 2, FAILED = 3, RING = 16;
    static final int DECRYPT = 1, DIGEST = 2;

    /** What one operation works on. */
    static final class Slot {
        byte[] nonce, tag;
        /** The message; for decryption also with its tag behind it. */
        byte[] input, joined;
        /** As long as the message; in encryption with room for the tag behind it. */
        byte[] output;
        /** Bytes of the message. */
        int size;
    }

    /** An opened algorithm in one direction, and the ring of messages placed for it. */
    static final class Session {
        String name;
        int direction, nonceLen, tagLen, size, count, keep, expected;
        boolean fresh;
        byte[] aad = new byte[0], lastNonce;
        Algorithms.Operation operation;
        byte[][] inputs, joined, outputs, tags;
        final Slot[] slots = new Slot[RING];

        String key() {
            return name + " " + direction;
        }

        byte[] output(int size) {
            return new byte[size + (direction == 0 ? tagLen : 0)];
        }
    }

    private static final Map<Integer, Session> sessions = new HashMap<>();
    private static final Map<String, Long> ran = new HashMap<>();
    private static final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static Algorithms algorithms;

    public static void main(String[] arguments) throws Exception {
        FileOutputStream replies = new FileOutputStream(FileDescriptor.out);
        // What a provider prints stays out of the protocol.
        System.setOut(System.err);
        algorithms = new Algorithms(arguments[0]);
        DataInputStream requests =
                new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16));
        for (;;) {
            int first = requests.read();
            if (first < 0) {
                System.exit(0);
            }
            int len = first | requests.read() << 8 | requests.read() << 16 | requests.read() << 24;
            byte[] request = new byte[len];
            requests.readFully(request);
            byte[] reply = answer(ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN));
            byte[] whole = new byte[4 + reply.length];
            ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).putInt(reply.length).put(reply);
            replies.write(whole);
        }
    }

    private static byte[] answer(ByteBuffer r) throws Exception {
        char what = (char) r.get();
        switch (what) {
            case 'H': return reply(DONE, hello());
            case 'O': return open(r);
            case 'M': return once(r);
            case 'P': return place(r);
            case 'R': return timed(r);
            case 'G': return left(sessions.get(r.getInt()));
            default: throw new IllegalStateException("no request " + what);
        }
    }

    private static byte[] reply(int status, byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(status);
        for (byte[] part : parts) {
            out.write(part, 0, part.length);
        }
        return out.toByteArray();
    }

    private static byte[] reply(int status, String text) {
        return reply(status, text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] bytes(ByteBuffer r, int len) {
        byte[] b = new byte[len];
        r.get(b);
        return b;
    }

    private static int u8(ByteBuffer r) {
        return r.get() & 0xff;
    }

    private static String hello() {
        StringBuilder b = new StringBuilder("version " + algorithms.version() + "\njit\n");
        for (String fact : algorithms.build()) {
            b.append("build ").append(fact).append('\n');
        }
        b.append("build ").append(System.getProperty("java.vm.name")).append(' ')
                .append(System.getProperty("java.vm.version")).append(", collectors:");
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            b.append(' ').append(bean.getName().replace(' ', '-'));
        }
        return b.append('\n').toString();
    }

    private static byte[] open(ByteBuffer r) {
        int id = r.getInt();
        Session s = new Session();
        s.direction = u8(r);
        s.tagLen = u8(r);
        s.nonceLen = u8(r);
        s.name = new String(bytes(r, u8(r)), StandardCharsets.UTF_8);
        byte[] key = bytes(r, r.remaining());
        try {
            s.operation = algorithms.provide(s, key);
        } catch (java.security.NoSuchAlgorithmException e) {
            return reply(UNSUPPORTED, String.valueOf(e.getMessage()));
        } catch (Exception e) {
            return reply(FAILED, e.toString());
        }
        sessions.put(id, s);
        return reply(DONE, s.operation.calls);
    }

    /** Runs one message: what every check goes through. */
    private static byte[] once(ByteBuffer r) {
        Session s = sessions.get(r.getInt());
        int aadLen = r.getInt();
        Slot m = new Slot();
        m.size = r.getInt();
        m.nonce = bytes(r, s.nonceLen);
        s.aad = bytes(r, aadLen);
        m.input = bytes(r, m.size);
        m.tag = bytes(r, s.tagLen);
        m.joined = reply(0, m.input, m.tag);
        m.joined = java.util.Arrays.copyOfRange(m.joined, 1, m.joined.length);
        m.output = s.output(m.size);
        try {
            if (java.util.Arrays.equals(m.nonce, s.lastNonce)) {
                // Providers refuse a nonce that comes twice in a row; a check wants just that.
                s.operation.renew();
            }
            s.lastNonce = m.nonce;
            int code = s.operation.run(m, s);
            return code == DONE ? reply(DONE, left(m.output, m.tag, s, m.size)) : reply(code, "");
        } catch (Exception e) {
            return reply(FAILED, e.toString());
        }
    }

    /** What an operation wrote: its output and its tag. */
    private static byte[] left(byte[] output, byte[] tag, Session s, int size) {
        int outputs = s.direction == DIGEST ? 0 : size;
        byte[] whole = new byte[outputs + (s.direction == DECRYPT ? 0 : s.tagLen)];
        System.arraycopy(output, 0, whole, 0, outputs);
        if (s.direction != DECRYPT && s.tagLen > 0) {
            boolean behind = s.direction == 0;
            System.arraycopy(behind ? output : tag, behind ? size : 0, whole, outputs, s.tagLen);
        }
        return whole;
    }

    private static byte[] place(ByteBuffer r) {
        Session s = sessions.get(r.getInt());
        s.size = r.getInt();
        s.count = r.getInt();
        s.keep = r.getInt();
        s.fresh = u8(r) == 1;
        s.expected = u8(r);
        s.aad = bytes(r, r.getInt());
        s.inputs = new byte[s.count][];
        s.joined = new byte[s.count][];
        for (int i = 0; i < s.count; i++) {
            s.inputs[i] = bytes(r, s.size);
        }
        s.outputs = new byte[s.keep][];
        s.tags = new byte[s.keep][];
        for (int i = 0; i < s.keep; i++) {
            s.outputs[i] = s.output(s.size);
            s.tags[i] = new byte[s.tagLen];
        }
        for (int i = 0; i < RING; i++) {
            Slot m = new Slot();
            m.size = s.size;
            m.nonce = new byte[s.nonceLen];
            m.input = m.joined = s.inputs[i % s.count];
            m.output = s.outputs[i % s.keep];
            m.tag = s.direction == DECRYPT ? new byte[s.tagLen] : s.tags[i % s.keep];
            s.slots[i] = m;
        }
        byte[] before = new byte[8];
        ByteBuffer.wrap(before).order(ByteOrder.LITTLE_ENDIAN).putLong(ran.getOrDefault(s.key(), 0L));
        return reply(DONE, before);
    }

    /** Gives every slot its nonce and tag. */
    private static void ready(Session s, ByteBuffer r) {
        int poison = r.getInt();
        for (Slot m : s.slots) {
            r.get(m.nonce);
        }
        for (int i = 0; i < RING; i++) {
            byte[] tag = bytes(r, s.tagLen);
            if (s.direction == DECRYPT && s.tagLen > 0) {
                s.slots[i].tag = tag;
                join(s, i);
            }
        }
        for (int i = 0; i < s.keep && poison >= 0; i++) {
            java.util.Arrays.fill(s.outputs[i], (byte) poison);
            java.util.Arrays.fill(s.tags[i], (byte) poison);
        }
    }

    /** Puts a slot's tag behind its message; messages whose tags are the same share the memory. */
    private static void join(Session s, int i) {
        int message = i % s.count;
        byte[] whole = java.util.Arrays.copyOf(s.inputs[message], s.size + s.tagLen);
        System.arraycopy(s.slots[i].tag, 0, whole, s.size, s.tagLen);
        boolean same = java.util.Arrays.equals(s.joined[message], whole);
        if (i < s.count && !same) {
            s.joined[message] = whole;
        }
        s.slots[i].joined = same || i < s.count ? s.joined[message] : whole;
    }

    /** What is timed: operations on the slots in turn, nonces raised after their use. */
    private static long batch(Session s, int at, int ops, int[] codes) throws Exception {
        Slot[] slots = s.slots;
        Algorithms.Operation operation = s.operation;
        boolean fresh = s.fresh;
        int expected = s.expected, found = 0;
        long begin = System.nanoTime();
        for (; ops > 0; ops--) {
            Slot m = slots[at];
            found |= operation.run(m, s) ^ expected;
            if (fresh) {
                raise(m.nonce);
            }
            at = at + 1 & RING - 1;
        }
        long took = System.nanoTime() - begin;
        codes[0] = found;
        return took;
    }

    private static final VarHandle EIGHT = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /**
     * Raises a nonce's first eight bytes, little-endian, by the ring's length. Without a branch: one that is taken for
     * the first time after a million operations throws compiled code away.
     */
    private static void raise(byte[] nonce) {
        EIGHT.set(nonce, 0, (long) EIGHT.get(nonce, 0) + RING);
    }

    private static byte[] timed(ByteBuffer r) throws Exception {
        Session s = sessions.get(r.getInt());
        int at = r.getInt(), ops = r.getInt();
        ready(s, r);
        // Providers refuse the nonce that they saw last, in decryption too.
        s.operation.renew();
        int[] codes = new int[1];
        long me = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(me);
        long took = batch(s, at, ops, codes);
        long after = threads.getThreadAllocatedBytes(me), collectedMs = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collectedMs += Math.max(0, bean.getCollectionTime());
        }
        ran.merge(s.key(), (long) ops, Long::sum);
        byte[] told = new byte[36];
        ByteBuffer.wrap(told).order(ByteOrder.LITTLE_ENDIAN).putLong(took).putInt(codes[0])
                .putLong(after - before).putLong(collectedMs * 1_000_000).putLong(after);
        return reply(DONE, told);
    }

    /** What was written last to each place that slots share. */
    private static byte[] left(Session s) {
        byte[][] all = new byte[s.keep][];
        for (int i = 0; i < s.keep; i++) {
            all[i] = left(s.outputs[i], s.tags[i], s, s.size);
        }
        return reply(DONE, all);
    }
}
