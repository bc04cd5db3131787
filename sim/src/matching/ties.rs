//! The tie rule: from any matching of least cost to the one that the rule names.
//!
//! It looks for no better matching. With the prices of an optimum, the matchings of least cost are
//! exactly those that use tight pairs only (reduced cost 0) and leave no object of negative price
//! alone. With stand-ins for the shorter side (each tight with every object of price 0) these are the
//! perfect matchings of a square graph, and one becomes another by rotating cycles. So row after row,
//! in order: the smallest tight column whose present row can be moved on until the row's own column
//! is taken again, without touching the rows before.

/// What stands for no column.
pub const NONE: u32 = u32::MAX;

/// The memory of the search.
#[derive(Debug, Default)]
pub(super) struct Ties {
    side: usize,
    words: usize,
    /// By column: the rows that are tight with it, as bits.
    tight: Vec<u64>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// By row, once reached: where it can go.
    next: Vec<u32>,
    /// Rows not yet reached that may still move.
    left: Vec<u64>,
    queue: Vec<u32>,
}

impl Ties {
    /// The caller's rows are the agents; `columns` is at least their number.
    pub(super) fn settle_rows(
        &mut self,
        columns: usize,
        costs: &[i64],
        price: &[i64],
        column_of: &mut [u32],
    ) {
        let rows = column_of.len();
        self.start(columns);
        for (r, row) in costs.chunks_exact(columns).enumerate() {
            let own = column_of[r] as usize;
            let value = row[own] - price[own];
            for (c, (cost, price)) in row.iter().zip(price).enumerate() {
                self.tight[c * self.words + r / 64] |= u64::from(cost - price == value) << (r % 64);
            }
            self.place(r, own);
        }
        let mut stand_in = rows;
        for (c, price) in price.iter().enumerate() {
            if *price == 0 {
                set_from(&mut self.tight[c * self.words..][..self.words], rows, columns);
            }
            if self.row_of[c] == NONE {
                self.place(stand_in, c);
                stand_in += 1;
            }
        }
        self.settle(rows, columns);
        column_of.copy_from_slice(&self.column_of[..rows]);
    }

    /// The caller's rows are the objects, and more than the columns. `turned` is by columns.
    pub(super) fn settle_columns(
        &mut self,
        columns: usize,
        turned: &[i64],
        price: &[i64],
        row_of: &[u32],
        column_of: &mut [u32],
    ) {
        let rows = column_of.len();
        self.start(rows);
        for (c, column) in turned.chunks_exact(rows).enumerate() {
            let own = row_of[c] as usize;
            let value = column[own] - price[own];
            let tight = &mut self.tight[c * self.words..][..self.words];
            for (r, (cost, price)) in column.iter().zip(price).enumerate() {
                tight[r / 64] |= u64::from(cost - price == value) << (r % 64);
            }
            self.place(own, c);
        }
        for c in columns..rows {
            for (r, price) in price.iter().enumerate() {
                self.tight[c * self.words + r / 64] |= u64::from(*price == 0) << (r % 64);
            }
        }
        let mut stand_in = columns;
        for r in 0..rows {
            if self.column_of[r] == NONE {
                self.place(r, stand_in);
                stand_in += 1;
            }
        }
        self.settle(rows, columns);
        for (of, column) in column_of.iter_mut().zip(&self.column_of) {
            *of = if (*column as usize) < columns { *column } else { NONE };
        }
    }

    fn start(&mut self, side: usize) {
        self.side = side;
        self.words = side.div_ceil(64);
        self.tight.clear();
        self.tight.resize(side * self.words, 0);
        self.column_of.clear();
        self.column_of.resize(side, NONE);
        self.row_of.clear();
        self.row_of.resize(side, NONE);
        self.next.resize(side, NONE);
        self.left.resize(self.words, 0);
    }

    fn place(&mut self, row: usize, column: usize) {
        self.column_of[row] = column as u32;
        self.row_of[column] = row as u32;
    }

    fn is_tight(&self, row: usize, column: usize) -> bool {
        self.tight[column * self.words + row / 64] >> (row % 64) & 1 == 1
    }

    /// Gives the rows their smallest columns, in their order.
    fn settle(&mut self, rows: usize, columns: usize) {
        for row in 0..rows {
            let own = self.column_of[row] as usize;
            let smaller = own.min(columns);
            let may_take = |t: &Ties, c: usize| t.is_tight(row, c) && t.row_of[c] as usize > row;
            let Some(first) = (0..smaller).find(|&c| may_take(self, c)) else { continue };
            self.reach(row, own, self.row_of[first]);
            let found = (first..smaller).find(|&c| {
                let r = self.row_of[c] as usize;
                may_take(self, c) && self.left[r / 64] >> (r % 64) & 1 == 0
            });
            if let Some(column) = found {
                self.rotate(row, column, own);
            }
        }
    }

    /// Finds the rows behind `row` that can be moved on until `own` is taken; stops at `wanted`.
    fn reach(&mut self, row: usize, own: usize, wanted: u32) {
        self.left.fill(0);
        set_from(&mut self.left, row + 1, self.side);
        self.queue.clear();
        self.queue.push(own as u32);
        let mut at = 0;
        while let Some(&column) = self.queue.get(at) {
            at += 1;
            for word in 0..self.words {
                let mut found = self.tight[column as usize * self.words + word] & self.left[word];
                self.left[word] &= !found;
                while found != 0 {
                    let r = word * 64 + found.trailing_zeros() as usize;
                    found &= found - 1;
                    self.next[r] = column;
                    self.queue.push(self.column_of[r]);
                    if r as u32 == wanted {
                        // Those of this word that come after it are marked and have no way: but none
                        // is asked for, since `wanted` is on the smallest column of all.
                        return;
                    }
                }
            }
        }
    }

    fn rotate(&mut self, row: usize, column: usize, own: usize) {
        let mut moved = self.row_of[column] as usize;
        self.place(row, column);
        loop {
            let to = self.next[moved] as usize;
            let there = self.row_of[to] as usize;
            self.place(moved, to);
            if to == own {
                return;
            }
            moved = there;
        }
    }
}

/// Sets the bits from `from` to before `to`.
fn set_from(bits: &mut [u64], from: usize, to: usize) {
    for (word, bits) in bits.iter_mut().enumerate() {
        let below = |n: usize| match n.saturating_sub(word * 64) {
            n if n >= 64 => u64::MAX,
            n => (1 << n) - 1,
        };
        *bits |= below(to) & !below(from);
    }
}
