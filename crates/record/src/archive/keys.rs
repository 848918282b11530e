//! Numbers of rows: a record's, a workload's and a library's in one. Rows of a record so lie beside each other, in the
//! order in which they are added, and a database fills its pages.

/// Bits of a workload's number and of a library's; a record's has what is left of 63.
const BITS: u32 = 20;
const MOST: i64 = (1 << BITS) - 1;

/// The number of a case's row; `None` beyond a million workloads or libraries, or eight million records.
pub(crate) fn row(record: i64, workload: i64, library: i64) -> Option<i64> {
    let fits = [workload, library].iter().all(|n| (0..=MOST).contains(n));
    let record = record.checked_shl(2 * BITS).filter(|n| n >> (2 * BITS) == record)?;
    fits.then_some(record | within(workload, library))
}

/// What a case adds to its record's first number.
pub(crate) fn within(workload: i64, library: i64) -> i64 {
    workload << BITS | library
}

/// The numbers of a record's rows: from the first to the one after the last.
pub(crate) fn of_record(record: i64) -> (i64, i64) {
    (record << (2 * BITS), (record + 1) << (2 * BITS))
}

/// The workload and the library of a row.
pub(crate) fn parts(row: i64) -> (i64, i64) {
    (row >> BITS & MOST, row & MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_apart_into_what_it_was_made_of_and_too_large_ones_are_none() {
        for (record, workload, library) in [(1, 1, 1), (8_000_000, MOST, MOST), (7, 0, MOST)] {
            let number = row(record, workload, library).unwrap();
            assert_eq!(parts(number), (workload, library));
            let (first, next) = of_record(record);
            assert!((first..next).contains(&number));
        }
        assert_eq!(row(1, MOST + 1, 1), None);
        assert_eq!(row(1, 1, MOST + 1), None);
        assert_eq!(row(1 << 23, 1, 1), None);
    }
}
