//! Sorting that survives comparisons which are no total order, as some of Kubernetes' are.

/// Sorts so that `less(a, b)` puts `a` first; equal ones keep their order. Never panics, whatever `less` says.
///
/// Some of upstream's comparisons can run in a circle (pods of one age bucket are compared by uid, others by
/// restarts), which the standard library's sort may answer with a panic.
pub(crate) fn sort_by_less<T: Clone>(items: &mut Vec<T>, less: impl Fn(&T, &T) -> bool) {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, &less, &mut merged);
        }
        *items = merged;
        width *= 2;
    }
}

fn merge<T: Clone>(left: &[T], right: &[T], less: &impl Fn(&T, &T) -> bool, out: &mut Vec<T>) {
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if less(&right[r], &left[l]) {
            out.push(right[r].clone());
            r += 1;
        } else {
            out.push(left[l].clone());
            l += 1;
        }
    }
    out.extend_from_slice(&left[l..]);
    out.extend_from_slice(&right[r..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_stably() {
        for n in 0..40u32 {
            let mut items: Vec<(u32, u32)> = (0..n).map(|i| (i * 7 % 5, i)).collect();
            let mut want = items.clone();
            want.sort();
            sort_by_less(&mut items, |a, b| a.0 < b.0);
            assert_eq!(items, want);
        }
    }

    #[test]
    fn a_circle_ends_and_loses_nothing() {
        let mut items: Vec<u32> = (0..50).collect();
        sort_by_less(&mut items, |a, b| (a + 1) % 3 == b % 3);
        items.sort();
        assert_eq!(items, (0..50).collect::<Vec<u32>>());
    }
}
