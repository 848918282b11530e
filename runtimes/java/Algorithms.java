import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** A provider's algorithms as the documentation of java.security shows them. */
final class Algorithms {
    private final Provider[] providers;

    /** What Java calls the digests, of which HMAC's names are made. */
    private static final Map<String, String> HASHES = Map.ofEntries(
            Map.entry("md4", "MD4"), Map.entry("md5", "MD5"), Map.entry("sha1", "SHA-1"),
            Map.entry("sha224", "SHA-224"), Map.entry("sha256", "SHA-256"), Map.entry("sha384", "SHA-384"),
            Map.entry("sha512", "SHA-512"), Map.entry("sha512-224", "SHA-512/224"),
            Map.entry("sha512-256", "SHA-512/256"), Map.entry("sha3-224", "SHA3-224"),
            Map.entry("sha3-256", "SHA3-256"), Map.entry("sha3-384", "SHA3-384"), Map.entry("sha3-512", "SHA3-512"),
            Map.entry("blake2b512", "BLAKE2B-512"), Map.entry("blake2b256", "BLAKE2B-256"),
            Map.entry("blake2s256", "BLAKE2S-256"), Map.entry("sm3", "SM3"), Map.entry("rmd160", "RIPEMD160"),
            Map.entry("whirlpool", "WHIRLPOOL"));

    /** What Java calls the block ciphers. */
    private static final Map<String, String> CIPHERS = Map.ofEntries(
            Map.entry("aes-128", "AES"), Map.entry("aes-192", "AES"), Map.entry("aes-256", "AES"),
            Map.entry("des", "DES"), Map.entry("des-ede3", "DESede"), Map.entry("bf", "Blowfish"),
            Map.entry("rc2", "RC2"), Map.entry("cast5", "CAST5"), Map.entry("idea", "IDEA"),
            Map.entry("seed", "SEED"), Map.entry("sm4", "SM4"), Map.entry("camellia-128", "Camellia"),
            Map.entry("camellia-192", "Camellia"), Map.entry("camellia-256", "Camellia"),
            Map.entry("twofish-128", "Twofish"), Map.entry("twofish-192", "Twofish"),
            Map.entry("twofish-256", "Twofish"), Map.entry("serpent-128", "Serpent"),
            Map.entry("serpent-192", "Serpent"), Map.entry("serpent-256", "Serpent"));

    /** One message: the Cipher is kept and initialised with each message's nonce. */
    abstract static class Operation {
        final String calls;

        Operation(String calls) {
            this.calls = calls;
        }

        abstract int run(Main.Slot m, Main.Session s) throws GeneralSecurityException;

        /** A new object in the place of the one that was kept. */
        void renew() throws GeneralSecurityException {}
    }

    Algorithms(String name) throws Exception {
        switch (name) {
            case "sunjce":
                providers = new Provider[] {Security.getProvider("SunJCE"), Security.getProvider("SUN")};
                break;
            case "bc":
                providers = new Provider[] {made("org.bouncycastle.jce.provider.BouncyCastleProvider")};
                break;
            case "accp":
                providers = new Provider[] {(Provider) Class
                        .forName("com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider")
                        .getField("INSTANCE").get(null)};
                break;
            case "conscrypt":
                providers = new Provider[] {made("org.conscrypt.OpenSSLProvider")};
                break;
            default:
                // A provider by its class.
                providers = new Provider[] {made(name)};
        }
    }

    private static Provider made(String name) throws Exception {
        return (Provider) Class.forName(name).getDeclaredConstructor().newInstance();
    }

    String version() {
        return ownCode() ? System.getProperty("java.version") : providers[0].getVersionStr();
    }

    /** Whether it is the JDK's own. */
    private boolean ownCode() {
        return providers[0].getName().startsWith("Sun");
    }

    List<String> build() {
        List<String> facts = new ArrayList<>();
        for (Provider p : providers) {
            facts.add("provider " + p.getName() + " " + p.getVersionStr() + ": " + p.getInfo().replace('\n', ' '));
        }
        return facts;
    }

    Operation provide(Main.Session s, byte[] key) throws GeneralSecurityException {
        Checksum sum = ownCode() ? checksum(s.name) : null;
        if (sum != null) {
            return checksum(sum);
        }
        String hash = HASHES.get(s.name);
        if (hash != null) {
            return digest(MessageDigest.getInstance(hash, having("MessageDigest", hash)));
        }
        hash = s.name.startsWith("hmac-") ? HASHES.get(s.name.substring(5)) : null;
        if (hash != null) {
            String name = "Hmac" + hash.replace("SHA-", "SHA");
            Mac mac = Mac.getInstance(name, having("Mac", name));
            mac.init(new SecretKeySpec(key, name));
            return mac(mac);
        }
        if (s.name.equals("chacha20-poly1305")) {
            String name = "ChaCha20-Poly1305";
            try {
                having("Cipher", name);
            } catch (NoSuchAlgorithmException e) {
                name = "ChaCha20/Poly1305/NoPadding";
            }
            return new Keyed(name, having("Cipher", name), new SecretKeySpec(key, "ChaCha20"), s);
        }
        int dash = s.name.lastIndexOf('-');
        String cipher = dash < 0 ? null : CIPHERS.get(s.name.substring(0, dash));
        String mode = s.name.substring(dash + 1);
        if (cipher == null || !mode.matches(cipher.equals("AES") ? "gcm|ctr|cbc" : "ctr|cbc")) {
            throw new NoSuchAlgorithmException("not asked of Java's providers: " + s.name);
        }
        String name = cipher + "/" + mode.toUpperCase() + "/NoPadding";
        return new Keyed(name, having("Cipher", name), new SecretKeySpec(key, cipher), s);
    }

    /** The provider that has it. */
    private Provider having(String type, String name) throws NoSuchAlgorithmException {
        for (Provider p : providers) {
            try {
                switch (type) {
                    case "Cipher": Cipher.getInstance(name, p); break;
                    case "Mac": Mac.getInstance(name, p); break;
                    default: MessageDigest.getInstance(name, p);
                }
                return p;
            } catch (GeneralSecurityException e) {
                // The next one may.
            }
        }
        throw new NoSuchAlgorithmException(providers[0].getName() + " has no " + name);
    }

    private static Operation digest(MessageDigest digest) {
        return new Operation("MessageDigest.update, digest(byte[], int, int)") {
            @Override
            int run(Main.Slot m, Main.Session s) throws GeneralSecurityException {
                digest.update(m.input);
                digest.digest(m.tag, 0, m.tag.length);
                return Main.DONE;
            }
        };
    }

    private static Checksum checksum(String name) {
        switch (name) {
            case "crc32": return new CRC32();
            case "crc32c": return new CRC32C();
            case "adler32": return new Adler32();
            default: return null;
        }
    }

    private static Operation checksum(Checksum sum) {
        return new Operation(sum.getClass().getSimpleName() + ".reset, update, getValue") {
            @Override
            int run(Main.Slot m, Main.Session s) {
                sum.reset();
                sum.update(m.input, 0, m.size);
                INT.set(m.tag, 0, (int) sum.getValue());
                return Main.DONE;
            }
        };
    }

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private static Operation mac(Mac mac) {
        return new Operation("Mac.update, doFinal(byte[], int) of a kept Mac") {
            @Override
            int run(Main.Slot m, Main.Session s) throws GeneralSecurityException {
                mac.update(m.input);
                mac.doFinal(m.tag, 0);
                return Main.DONE;
            }
        };
    }

    /** A cipher. */
    private static final class Keyed extends Operation {
        private final String name;
        private final Provider provider;
        private final SecretKeySpec key;
        private final boolean gcm, tagged, encrypts;
        private Cipher cipher;

        Keyed(String name, Provider provider, SecretKeySpec key, Main.Session s) throws GeneralSecurityException {
            super("Cipher.init" + (s.tagLen > 0 ? ", updateAAD" : "") + ", doFinal into a kept array, the Cipher kept");
            this.name = name;
            this.provider = provider;
            this.key = key;
            gcm = name.contains("GCM");
            tagged = s.tagLen > 0;
            encrypts = s.direction == 0;
            renew();
        }

        @Override
        void renew() throws GeneralSecurityException {
            cipher = Cipher.getInstance(name, provider);
        }

        @Override
        int run(Main.Slot m, Main.Session s) throws GeneralSecurityException {
            AlgorithmParameterSpec nonce = gcm ? new GCMParameterSpec(128, m.nonce) : new IvParameterSpec(m.nonce);
            cipher.init(encrypts ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, key, nonce);
            if (!tagged) {
                cipher.doFinal(m.input, 0, m.size, m.output, 0);
                return Main.DONE;
            }
            cipher.updateAAD(s.aad);
            if (encrypts) {
                cipher.doFinal(m.input, 0, m.size, m.output, 0);
                return Main.DONE;
            }
            try {
                cipher.doFinal(m.joined, 0, m.joined.length, m.output, 0);
            } catch (AEADBadTagException e) {
                return 1;
            }
            return Main.DONE;
        }
    }
}
