//! X448 (RFC 7748) and the verifying of Ed448 (RFC 8032), written after the RFCs on integers without bounds, because no
//! crate that is released has them. Slow, and far from constant time: it sees test keys only.

use num_bigint::BigUint;
use shake::{ExtendableOutput as _, Shake256, Update as _, XofReader as _};
use std::sync::LazyLock;

/// Bytes of X448's keys.
pub(crate) const X448: usize = 56;
/// Bytes of a point of Ed448, and of a number beside it in a signature.
const POINT: usize = 57;

/// 2^448 - 2^224 - 1
static PRIME: LazyLock<BigUint> =
    LazyLock::new(|| (number(1) << 448_u32) - (number(1) << 224_u32) - 1_u8);

/// The order of the base point.
static ORDER: LazyLock<BigUint> = LazyLock::new(|| {
    let less = "13818066809895115352007386748515426880336692474882178609894547503885";
    (number(1) << 446_u32) - decimal(less)
});

/// The base point (RFC 8032 5.2).
static BASE: LazyLock<Point> = LazyLock::new(|| {
    let x = "224580040295924300187604334099896036246789641632564134246125461\
             686950415467406032909029192869357953282578032075146446173674602635\
             247710";
    let y = "298819210078481492676017930443930673437544040154080242095928241\
             372331506189835876003536878655418784733982303233503462500531545062\
             832660";
    Point { x: decimal(x), y: decimal(y), z: number(1) }
});

/// The curve's d is the negative of this.
const MINUS_D: u32 = 39_081;

fn number(small: u32) -> BigUint {
    small.into()
}

fn decimal(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 10).expect("our own numbers are decimal")
}

// The field.

fn add(a: &BigUint, b: &BigUint) -> BigUint {
    (a + b) % &*PRIME
}

fn less(a: &BigUint, b: &BigUint) -> BigUint {
    (a + &*PRIME - b) % &*PRIME
}

fn times(a: &BigUint, b: &BigUint) -> BigUint {
    a * b % &*PRIME
}

fn square(a: &BigUint) -> BigUint {
    times(a, a)
}

fn inverse(a: &BigUint) -> BigUint {
    a.modpow(&(&*PRIME - 2_u8), &PRIME)
}

/// The product of a private key and a point (RFC 7748 5).
pub(crate) fn x448(private: &[u8; X448], point: &[u8; X448]) -> [u8; X448] {
    let mut private = *private;
    private[0] &= 252;
    private[X448 - 1] |= 128;
    let scalar = BigUint::from_bytes_le(&private);
    let x1 = BigUint::from_bytes_le(point) % &*PRIME;
    let (mut x2, mut z2) = (number(1), number(0));
    let (mut x3, mut z3) = (x1.clone(), number(1));
    for bit in (0..448).rev() {
        let swap = scalar.bit(bit);
        if swap {
            (x2, x3, z2, z3) = (x3, x2, z3, z2);
        }
        let (a, b) = (add(&x2, &z2), less(&x2, &z2));
        let (c, d) = (add(&x3, &z3), less(&x3, &z3));
        let (aa, bb) = (square(&a), square(&b));
        let (da, cb) = (times(&d, &a), times(&c, &b));
        let e = less(&aa, &bb);
        x3 = square(&add(&da, &cb));
        z3 = times(&x1, &square(&less(&da, &cb)));
        x2 = times(&aa, &bb);
        z2 = times(&e, &add(&aa, &(number(MINUS_D) * &e)));
        if swap {
            (x2, x3, z2, z3) = (x3, x2, z3, z2);
        }
    }
    let product = times(&x2, &inverse(&z2)).to_bytes_le();
    let mut bytes = [0; X448];
    bytes[..product.len()].copy_from_slice(&product);
    bytes
}

/// The public key of a private one: the point whose coordinate is 5.
pub(crate) fn x448_public(private: &[u8; X448]) -> [u8; X448] {
    let mut base = [0; X448];
    base[0] = 5;
    x448(private, &base)
}

/// A point of the curve x² + y² = 1 + dx²y², with a common denominator (RFC 8032 5.2.4).
#[derive(Clone)]
struct Point {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

impl Point {
    fn neutral() -> Self {
        Self { x: number(0), y: number(1), z: number(1) }
    }

    /// From its bytes (RFC 8032 5.2.3).
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&last, y) = bytes.split_last()?;
        if bytes.len() != POINT || last & 0x7f != 0 {
            return None;
        }
        let y = BigUint::from_bytes_le(y);
        if y >= *PRIME {
            return None;
        }
        // x² = u / v, the signs of both turned: d is negative.
        let yy = square(&y);
        let u = less(&number(1), &yy);
        let v = add(&times(&number(MINUS_D), &yy), &number(1));
        let x = times(&u, &inverse(&v)).modpow(&((&*PRIME + 1_u8) >> 2_u32), &PRIME);
        if times(&v, &square(&x)) != u {
            return None;
        }
        let is_odd = last & 0x80 != 0;
        if is_odd && x == number(0) {
            return None;
        }
        let x = if x.bit(0) == is_odd { x } else { less(&number(0), &x) };
        Some(Self { x, y, z: number(1) })
    }

    fn minus(&self) -> Self {
        Self { x: less(&number(0), &self.x), ..self.clone() }
    }

    /// Complete: of two equal points, too.
    fn plus(&self, other: &Self) -> Self {
        let a = times(&self.z, &other.z);
        let b = square(&a);
        let c = times(&self.x, &other.x);
        let d = times(&self.y, &other.y);
        let minus_e = times(&number(MINUS_D), &times(&c, &d));
        let (f, g) = (add(&b, &minus_e), less(&b, &minus_e));
        let h = times(&add(&self.x, &self.y), &add(&other.x, &other.y));
        Self {
            x: times(&times(&a, &f), &less(&less(&h, &c), &d)),
            y: times(&times(&a, &g), &less(&d, &c)),
            z: times(&f, &g),
        }
    }

    fn is(&self, other: &Self) -> bool {
        times(&self.x, &other.z) == times(&other.x, &self.z)
            && times(&self.y, &other.z) == times(&other.y, &self.z)
    }
}

/// The sum of two products, bit by bit of both numbers.
fn sum([(a, p), (b, q)]: [(&BigUint, &Point); 2]) -> Point {
    let both = p.plus(q);
    (0..a.bits().max(b.bits())).rev().fold(Point::neutral(), |sum, bit| {
        let sum = sum.plus(&sum);
        match (a.bit(bit), b.bit(bit)) {
            (true, true) => sum.plus(&both),
            (true, false) => sum.plus(p),
            (false, true) => sum.plus(q),
            (false, false) => sum,
        }
    })
}

/// Whether a signature of Ed448 without a context is that of a message (RFC 8032 5.2.7).
pub(crate) fn ed448_verifies(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let Some((r, s)) = signature.split_at_checked(POINT).filter(|(_, s)| s.len() == POINT) else {
        return false;
    };
    let s = BigUint::from_bytes_le(s);
    let (Some(public), Some(commitment)) = (Point::decode(key), Point::decode(r)) else {
        return false;
    };
    if s >= *ORDER {
        return false;
    }
    let mut hash = Shake256::default();
    // No prehashing, a context of no bytes (RFC 8032 2, dom4).
    for part in [b"SigEd448\0\0", r, key, message] {
        hash.update(part);
    }
    let mut k = [0; 2 * POINT];
    hash.finalize_xof().read(&mut k);
    let k = BigUint::from_bytes_le(&k) % &*ORDER;
    sum([(&s, &BASE), (&k, &public.minus())]).is(&commitment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hexadecimal: &str) -> [u8; N] {
        hex::decode(hexadecimal).unwrap().try_into().unwrap()
    }

    /// RFC 7748 5.2, the iterated function, once.
    #[test]
    fn the_iterated_function_begins_as_the_standard_says() {
        let mut five = [0; X448];
        five[0] = 5;
        let once = "3f482c8a9f19b01e6c46ee9711d9dc14fd4bf67af30765c2ae2b846a\
                    4d23a8cd0db897086239492caf350b51f833868b9bc2b3bca9cf4113";
        assert_eq!(x448(&five, &five), bytes(once));
    }

    #[test]
    fn the_base_point_is_on_the_curve_and_has_its_order() {
        let mut encoded = BASE.y.to_bytes_le();
        encoded.resize(POINT, 0);
        encoded[POINT - 1] = if BASE.x.bit(0) { 0x80 } else { 0 };
        assert!(Point::decode(&encoded).unwrap().is(&BASE));
        let none = sum([(&ORDER, &BASE), (&number(0), &BASE)]);
        assert!(none.is(&Point::neutral()));
        encoded[POINT - 1] |= 1;
        assert!(Point::decode(&encoded).is_none());
    }
}
