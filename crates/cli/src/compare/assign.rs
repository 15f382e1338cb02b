//! Assignment at least cost (the Hungarian method, with potentials).

/// Pairs rows with columns one to one at the least total cost; every row or every column finds a partner.
pub(super) fn assign(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    if rows > columns {
        let mut pairs = wide(columns, rows, |column, row| cost(row, column));
        pairs.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
        return pairs;
    }
    wide(rows, columns, cost)
}

/// The method for no more rows than columns; indices within are from one, zero stands for "none".
fn wide(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    let mut row_price = vec![0.0; rows + 1];
    let mut column_price = vec![0.0; columns + 1];
    let mut partner = vec![0; columns + 1];
    for row in 1..=rows {
        let mut came_from = vec![0; columns + 1];
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut seen = vec![false; columns + 1];
        let mut column = 0;
        partner[0] = row;
        while partner[column] != 0 {
            seen[column] = true;
            let here = partner[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for other in 1..=columns {
                if seen[other] {
                    continue;
                }
                let reduced = cost(here - 1, other - 1) - row_price[here] - column_price[other];
                if reduced < least[other] {
                    least[other] = reduced;
                    came_from[other] = column;
                }
                if least[other] < delta {
                    delta = least[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if seen[other] {
                    row_price[partner[other]] += delta;
                    column_price[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            partner[column] = partner[came_from[column]];
            column = came_from[column];
        }
    }
    (1..=columns).filter(|&c| partner[c] != 0).map(|c| (partner[c] - 1, c - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::assign;

    #[test]
    fn the_total_is_least_also_where_greed_is_dearer() {
        let costs = [[1.0, 2.0, 9.0], [1.0, 9.0, 9.0], [3.0, 1.0, 1.0]];
        let mut pairs = assign(3, 3, |r, c| costs[r][c]);
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 1), (1, 0), (2, 2)]);
    }

    #[test]
    fn what_is_too_many_stays_alone() {
        assert_eq!(assign(1, 3, |_, c| [5.0, 1.0, 2.0][c]), [(0, 1)]);
        assert_eq!(assign(3, 1, |r, _| [5.0, 1.0, 2.0][r]), [(1, 0)]);
        assert_eq!(assign(0, 3, |_, _| 0.0), []);
    }
}
