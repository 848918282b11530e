//! The grammar of message sizes: lists, doubling ranges, stepped ranges, suffixes and powers.

/// The largest size in bytes: 16 MiB leaves the last-level cache of today's servers, and two
/// buffers of it per worker still fit small machines.
pub const MAX_SIZE: usize = 16 << 20;

/// The most sizes that one list may name: past this the text is a slip, not a wish.
const MAX_COUNT: usize = 4096;

/// A text that names no sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{part}' is not a size: {why}; write bytes as 16, 4K, 1M or 2^12, lists as 16,64,1K, doubling ranges as 16..64K, stepped ranges as 16..256+16"
)]
pub struct BadSizes {
    part: String,
    why: String,
}

/// Reads a list of sizes in bytes, sorted, each once.
///
/// Parts are separated by commas. A part is a number (`16`, `4K`, `1M`, `2^12`), a doubling range
/// (`16..64K`: 16, 32, 64 … 65536) or a stepped range (`16..256+16`). `K` is 1024, `M` is 1024²;
/// `KiB` and `MiB` may be spelt out.
///
/// # Errors
/// [`BadSizes`] names the part and what is wrong with it.
pub fn parse_sizes(text: &str) -> Result<Vec<usize>, BadSizes> {
    let mut sizes = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        let bad = |why: &str| BadSizes { part: part.to_owned(), why: why.to_owned() };
        match part.split_once("..") {
            None => sizes.push(number(part).map_err(|w| bad(&w))?),
            Some((from, to)) => {
                let (to, step) = match to.split_once('+') {
                    None => (to, None),
                    Some((to, step)) => (to, Some(number(step).map_err(|w| bad(&w))?)),
                };
                let (from, to) =
                    (number(from).map_err(|w| bad(&w))?, number(to).map_err(|w| bad(&w))?);
                if from > to {
                    return Err(bad("the range runs backwards"));
                }
                let next = |n: usize| step.map_or(n * 2, |s| n + s);
                sizes.extend(
                    std::iter::successors(Some(from), |n| Some(next(*n)))
                        .take_while(|n| *n <= to)
                        .take(MAX_COUNT + 1),
                );
            }
        }
        if sizes.len() > MAX_COUNT {
            return Err(bad("more than 4096 sizes"));
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

fn number(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let value = match text.split_once('^') {
        Some((base, exponent)) => {
            let base: usize = base.parse().map_err(|_| "not a number".to_owned())?;
            let exponent: u32 = exponent.parse().map_err(|_| "not a number".to_owned())?;
            base.checked_pow(exponent)
        }
        None => {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (digits, suffix) = text.split_at(end);
            if digits.is_empty() {
                return Err("not a number".to_owned());
            }
            let scale = match suffix {
                "" | "B" => 1,
                "K" | "k" | "KiB" => 1 << 10,
                "M" | "MiB" => 1 << 20,
                other => return Err(format!("unknown suffix '{other}'")),
            };
            digits.parse::<usize>().ok().and_then(|n| n.checked_mul(scale))
        }
    };
    match value {
        Some(n @ 1..=MAX_SIZE) => Ok(n),
        _ => Err("sizes run from 1 byte to 16 MiB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_ranges_and_powers_name_sizes() {
        assert_eq!(parse_sizes("16,64,1K").unwrap(), [16, 64, 1024]);
        assert_eq!(parse_sizes("16..128").unwrap(), [16, 32, 64, 128]);
        assert_eq!(parse_sizes("16..64+16").unwrap(), [16, 32, 48, 64]);
        assert_eq!(parse_sizes("2^12, 4KiB").unwrap(), [4096]);
        assert_eq!(parse_sizes("16..64K").unwrap().len(), 13);
        assert_eq!(parse_sizes("100..1000").unwrap(), [100, 200, 400, 800]);
    }

    #[test]
    fn what_is_no_size_is_named() {
        for bad in
            ["", "x", "0", "16..", "64..16", "17M", "2^70", "1G", "1..16M+1", "-4", "16..64+0"]
        {
            let e = parse_sizes(bad).unwrap_err().to_string();
            assert!(e.contains("is not a size"), "{bad}: {e}");
        }
    }

    /// Sizes as somebody would write them: with suffixes where they are round.
    fn written(size: usize) -> String {
        match size {
            n if n % (1 << 20) == 0 => format!("{}M", n >> 20),
            n if n % (1 << 10) == 0 => format!("{}KiB", n >> 10),
            n if n.is_power_of_two() => format!("2^{}", n.trailing_zeros()),
            n => n.to_string(),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_of_sizes_is_read_as_them(
            sizes in prop::collection::btree_set((1..=MAX_SIZE, 0..20_u32).prop_map(|(n, z)| (n >> z << z).max(1)), 1..50),
        ) {
            let sizes: Vec<usize> = sizes.into_iter().collect();
            let text: Vec<String> = sizes.iter().rev().map(|size| written(*size)).collect();
            prop_assert_eq!(parse_sizes(&text.join(", ")), Ok(sizes));
        }

        #[test]
        fn a_range_is_the_list_of_what_it_stands_for(from in 1..4096_usize, step in 1..512_usize, count in 0..60_usize) {
            let list: Vec<String> = (0..=count).map(|i| (from + i * step).to_string()).collect();
            let range = format!("{from}..{}+{step}", from + count * step + step - 1);
            prop_assert_eq!(parse_sizes(&range), parse_sizes(&list.join(",")));
        }

        #[test]
        fn any_text_gives_sizes_in_range_or_one_line(text in "\\PC{0,40}") {
            match parse_sizes(&text) {
                Ok(sizes) => prop_assert!(!sizes.is_empty()
                    && sizes.iter().all(|s| (1..=MAX_SIZE).contains(s))
                    && sizes.windows(2).all(|w| w[0] < w[1])),
                Err(e) => prop_assert_eq!(e.to_string().lines().count(), 1),
            }
        }
    }
}
