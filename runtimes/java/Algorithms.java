import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.util.ArrayList;
import java.util.List;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** A provider's algorithms as the documentation of java.security shows them. */
final class Algorithms {
    private final Provider[] providers;

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
        boolean own = providers[0].getName().startsWith("Sun");
        return own ? System.getProperty("java.version") : providers[0].getVersionStr();
    }

    List<String> build() {
        List<String> facts = new ArrayList<>();
        for (Provider p : providers) {
            facts.add("provider " + p.getName() + " " + p.getVersionStr() + ": " + p.getInfo().replace('\n', ' '));
        }
        return facts;
    }

    Operation provide(Main.Session s, byte[] key) throws GeneralSecurityException {
        if (s.name.equals("sha256")) {
            return digest(MessageDigest.getInstance("SHA-256", having("MessageDigest", "SHA-256")));
        }
        if (s.name.equals("hmac-sha256")) {
            Mac mac = Mac.getInstance("HmacSHA256", having("Mac", "HmacSHA256"));
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
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
        String[] parts = s.name.split("-");
        boolean known = parts.length == 3 && parts[0].equals("aes") && parts[2].matches("gcm|ctr|cbc");
        if (!known) {
            throw new NoSuchAlgorithmException("not asked of Java's providers: " + s.name);
        }
        String mode = "AES/" + parts[2].toUpperCase() + "/NoPadding";
        return new Keyed(mode, having("Cipher", mode), new SecretKeySpec(key, "AES"), s);
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
