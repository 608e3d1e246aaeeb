//! DSA keys, which a chart may still ask for.
//!
//! Upstream: `dsa.GenerateParameters` with L2048N256 and `dsa.GenerateKey`, in the format of sprig's `DSAKeyFormat`.
//! The surprising thing: slow, as the two primes must fit each other.

use num_bigint::BigUint;

use super::der;
use crate::host::Host;

const LARGE: usize = 2048;
const SMALL: usize = 256;
const ROUNDS: usize = 40;
const PRIMES: [u32; 30] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
    113, 127,
];

fn random_bits(host: &dyn Host, bits: usize) -> BigUint {
    let mut bytes = vec![0; bits / 8];
    host.fill(&mut bytes);
    BigUint::from_bytes_be(&bytes)
}

/// Miller and Rabin's test of an odd number.
fn is_prime(host: &dyn Host, n: &BigUint) -> bool {
    let zero = BigUint::from(0u32);
    if PRIMES.iter().any(|p| n % BigUint::from(*p) == zero) {
        return false;
    }
    let one = BigUint::from(1u32);
    let less = n - &one;
    let twos = less.trailing_zeros().unwrap_or(0);
    let odd = &less >> twos;
    (0..ROUNDS).all(|_| {
        let base = random_bits(host, n.bits() as usize / 8 * 8) % (n - 3u32) + 2u32;
        let mut x = base.modpow(&odd, n);
        if x == one || x == less {
            return true;
        }
        (1..twos).any(|_| {
            x = &x * &x % n;
            x == less
        })
    })
}

/// A new key's DER text.
pub(super) fn generate(host: &dyn Host) -> Vec<u8> {
    let one = BigUint::from(1u32);
    let (q, p) = 'both: loop {
        let mut q = random_bits(host, SMALL);
        q.set_bit(0, true);
        q.set_bit(SMALL as u64 - 1, true);
        if !is_prime(host, &q) {
            continue;
        }
        for _ in 0..4 * LARGE {
            let mut p = random_bits(host, LARGE);
            p.set_bit(0, true);
            p.set_bit(LARGE as u64 - 1, true);
            let rest = &p % (&q << 1u32);
            p = p + &one - rest;
            if p.bits() as usize == LARGE && is_prime(host, &p) {
                break 'both (q, p);
            }
        }
    };
    let exponent = (&p - &one) / &q;
    let generator = (2u32..100).map(|h| BigUint::from(h).modpow(&exponent, &p)).find(|g| *g != one).unwrap_or_default();
    let secret = random_bits(host, SMALL + 64) % (&q - &one) + &one;
    let public = generator.modpow(&secret, &p);
    let number = |n: &BigUint| der::integer(&n.to_bytes_be());
    der::sequence(&[
        &der::integer(&[]),
        &number(&p),
        &number(&q),
        &number(&generator),
        &number(&public),
        &number(&secret),
    ])
}
