#![feature(test)]
extern crate test;
pub fn sum(n: u64) -> u64 { (0..n).fold(0, |a, b| a ^ b.wrapping_mul(31)) }
#[cfg(test)]
mod tests {
    use test::{black_box, Bencher};
    #[test] fn works() { assert_eq!(super::sum(0), 0); }
    #[bench] fn sum_of_ten(b: &mut Bencher) { b.iter(|| super::sum(black_box(10))); }
}
