//! The order in which go-yaml writes the keys of a map.
//!
//! Owns: the comparison and a sort that survives it.
//! Upstream: `sorter.go` in go-yaml v2 and v3.
//! The surprising thing: the order is "natural" (`a2` before `a10`, letters after other characters) and for some key
//! sets not transitive; then Go's result depends on chance, and ours is merely stable.

use std::cmp::Ordering;

use crate::resolve::Dialect;

/// Sort entries by their key. Not `slice::sort_by`, which may panic when an order contradicts itself.
pub(crate) fn sort<T>(entries: &mut Vec<T>, less: &impl Fn(&T, &T) -> bool) {
    if entries.len() <= 12 {
        for i in 1..entries.len() {
            let mut j = i;
            while j > 0 && less(&entries[j], &entries[j - 1]) {
                entries.swap(j, j - 1);
                j -= 1;
            }
        }
        return;
    }
    let mut right = entries.split_off(entries.len() / 2);
    sort(entries, less);
    sort(&mut right, less);
    let mut merged = Vec::with_capacity(entries.len() + right.len());
    let mut left = std::mem::take(entries).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if less(b, a) { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    *entries = merged;
}

/// Does go-yaml write key `a` before key `b`?
pub(crate) fn natural_less(a: &str, b: &str, dialect: Dialect) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return compare(a.as_bytes(), b.as_bytes(), |b| char::from(*b), dialect);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    compare(&a, &b, |c| *c, dialect)
}

fn compare<T>(a: &[T], b: &[T], char_of: impl Fn(&T) -> char, dialect: Dialect) -> bool {
    let mut in_digits = false;
    for i in 0..a.len().min(b.len()) {
        let (ac, bc) = (char_of(&a[i]), char_of(&b[i]));
        if ac == bc {
            in_digits = is_digit(ac);
            continue;
        }
        let (al, bl) = (ac.is_alphabetic(), bc.is_alphabetic());
        if al && bl {
            return ac < bc;
        }
        if al || bl {
            return if dialect == Dialect::V3 && in_digits { al } else { bl };
        }
        let (mut an, mut bn) = (0i64, 0i64);
        if ac == '0' || bc == '0' {
            for c in a[..i].iter().rev().map(&char_of).take_while(|c| is_digit(*c)) {
                if c != '0' {
                    (an, bn) = (1, 1);
                    break;
                }
            }
        }
        let digits = |text: &[T], n: &mut i64| {
            let mut end = i;
            while let Some(c) = text.get(end).map(&char_of).filter(|c| is_digit(*c)) {
                *n = n.wrapping_mul(10).wrapping_add(i64::from(c as u32) - i64::from(b'0'));
                end += 1;
            }
            end
        };
        let (ai, bi) = (digits(a, &mut an), digits(b, &mut bn));
        return match an.cmp(&bn).then(ai.cmp(&bi)) {
            Ordering::Equal => ac < bc,
            other => other == Ordering::Less,
        };
    }
    a.len() < b.len()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && c.is_numeric() && c.to_digit(10).is_none() && is_decimal(c)
}

/// Decimal digits beyond ASCII come in runs of ten; these are the scripts in common use.
fn is_decimal(c: char) -> bool {
    const ZEROS: [u32; 20] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20,
        0x1040, 0x17e0, 0x1810, 0xa620, 0xff10,
    ];
    ZEROS.iter().any(|zero| (*zero..zero + 10).contains(&(c as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_order() {
        let mut keys =
            vec!["b", "a10", "a2", "A", "_", "a", "1", "10", "9", "a-b", "aB", "é", "a01", "", "x", "y", "z"];
        sort(&mut keys, &|a, b| natural_less(a, b, Dialect::V2));
        assert_eq!(keys, ["", "_", "1", "9", "10", "A", "a", "a-b", "a01", "a2", "a10", "aB", "b", "x", "y", "z", "é"]);
    }
}
