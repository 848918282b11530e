import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import java.util.Map;
import javax.crypto.AEADBadTagException;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.CipherSpi;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.ShortBufferException;

/** SunJCE's AES-GCM with the fault that CIPHERMARK_FAULT names. */
public final class Faulty extends Provider {
    public Faulty() {
        super("Faulty", "1", "for a test");
        put("Cipher.AES/GCM/NoPadding", Gcm.class.getName());
    }

    public static final class Gcm extends CipherSpi {
        private static final String FAULT = System.getenv("CIPHERMARK_FAULT");
        /** By the very array, with nonce and key. */
        private static final Map<byte[], Object[]> known = new java.util.IdentityHashMap<>();
        private final Cipher honest;
        private int mode;
        private Key key;
        private AlgorithmParameterSpec parameters;
        private byte[] aad = new byte[0];

        public Gcm() throws GeneralSecurityException {
            honest = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        }

        @Override
        protected void engineInit(int mode, Key key, AlgorithmParameterSpec parameters, SecureRandom random)
                throws java.security.InvalidKeyException, java.security.InvalidAlgorithmParameterException {
            this.mode = mode;
            this.key = key;
            this.parameters = parameters;
            honest.init(mode, key, parameters);
        }

        @Override
        protected void engineUpdateAAD(byte[] source, int offset, int len) {
            aad = Arrays.copyOfRange(source, offset, offset + len);
            honest.updateAAD(aad);
        }

        @Override
        protected int engineDoFinal(byte[] in, int at, int len, byte[] out, int to)
                throws ShortBufferException, IllegalBlockSizeException, BadPaddingException {
            boolean decrypts = mode == Cipher.DECRYPT_MODE;
            switch (FAULT) {
                case "accepts":
                case "swallows":
                    try {
                        return honest.doFinal(in, at, len, out, to);
                    } catch (AEADBadTagException e) {
                        return len - 16;
                    }
                case "memoises":
                    if (!decrypts) {
                        break;
                    }
                    byte[] nonce = ((javax.crypto.spec.GCMParameterSpec) parameters).getIV();
                    Object[] kept = known.get(in);
                    if (kept == null || !Arrays.equals((byte[]) kept[0], nonce)) {
                        kept = new Object[] {nonce, honest.doFinal(in, at, len)};
                        known.put(in, kept);
                    }
                    byte[] text = (byte[]) kept[1];
                    System.arraycopy(text, 0, out, to, text.length);
                    return text.length;
                case "defers":
                    boolean timed = StackWalker.getInstance().walk(s -> s.anyMatch(f -> f.getMethodName().equals("batch")));
                    if (timed) {
                        AlgorithmParameterSpec own = parameters;
                        Key with = key;
                        byte[] data = aad;
                        new Thread(() -> work(decrypts, with, own, data, in, at, len, out, to)).start();
                        return decrypts ? len - 16 : len + 16;
                    }
                    break;
                default:
            }
            return honest.doFinal(in, at, len, out, to);
        }

        private static void work(boolean decrypts, Key key, AlgorithmParameterSpec parameters, byte[] aad,
                byte[] in, int at, int len, byte[] out, int to) {
            try {
                Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
                cipher.init(decrypts ? Cipher.DECRYPT_MODE : Cipher.ENCRYPT_MODE, key, parameters);
                cipher.updateAAD(aad);
                cipher.doFinal(in, at, len, out, to);
            } catch (GeneralSecurityException e) {
                // Nobody hears of it.
            }
        }

        @Override
        protected void engineSetMode(String mode) {}

        @Override
        protected void engineSetPadding(String padding) {}

        @Override
        protected int engineGetBlockSize() {
            return 16;
        }

        @Override
        protected int engineGetOutputSize(int len) {
            return len + 16;
        }

        @Override
        protected byte[] engineGetIV() {
            return honest.getIV();
        }

        @Override
        protected AlgorithmParameters engineGetParameters() {
            return honest.getParameters();
        }

        @Override
        protected void engineInit(int mode, Key key, SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void engineInit(int mode, Key key, AlgorithmParameters parameters, SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected byte[] engineUpdate(byte[] in, int at, int len) {
            return honest.update(in, at, len);
        }

        @Override
        protected int engineUpdate(byte[] in, int at, int len, byte[] out, int to) throws ShortBufferException {
            return honest.update(in, at, len, out, to);
        }

        @Override
        protected byte[] engineDoFinal(byte[] in, int at, int len) throws IllegalBlockSizeException, BadPaddingException {
            return honest.doFinal(in, at, len);
        }
    }
}
