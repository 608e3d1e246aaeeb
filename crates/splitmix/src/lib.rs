//! Numbers that look random and are the same in every run.
//!
//! Owns: the generator splitmix64 (Steele, Lea, Flood 2014). For random tests and for renders that must repeat; nothing in
//! it is secret.

/// What the state grows by with each number.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that a state gives, after it has grown by [`STEP`].
pub const fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A generator; the same seed always gives the same numbers.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number below `bound`; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() % bound.max(1) as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers for the seed 1234567, as other implementations print them.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = Random(1_234_567);
        let numbers = [(); 3].map(|()| random.number());
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
