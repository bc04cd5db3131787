//! Workers and what is free of each: where a width finds its place. It does not choose widths.

use crate::jobs::job::{PARTS_MAX, Width};
use crate::jobs::record::On;

/// A worker, in pieces that every part is a whole number of.
const WORKER: u128 = {
    let (mut all, mut n) = (1, 1);
    while n <= PARTS_MAX as u128 {
        let (mut a, mut b) = (all, n);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        all *= n / a;
        n += 1;
    }
    all
};

/// The workers of a cluster.
#[derive(Debug)]
pub struct Workers {
    free: Vec<u128>,
}

impl Workers {
    /// All are free.
    pub fn new(count: u32) -> Workers {
        Workers { free: vec![WORKER; count as usize] }
    }

    /// Takes the most idle worker for a part, the lowest-numbered idle ones for whole workers. `None`
    /// where there is no room.
    pub fn take(&mut self, width: Width) -> Option<On> {
        let on = match width {
            Width::Part(parts) => {
                let most = self.free.iter().copied().max().filter(|m| *m >= piece(parts))?;
                let worker = self.free.iter().position(|free| *free == most)? as u32;
                On::Part { worker, parts }
            }
            Width::Workers(count) => {
                let idle = self.free.iter().enumerate().filter(|w| *w.1 == WORKER);
                let workers: Vec<u32> = idle.map(|w| w.0 as u32).take(count as usize).collect();
                if workers.len() < count as usize {
                    return None;
                }
                On::Workers(workers)
            }
        };
        self.occupy(&on);
        Some(on)
    }

    fn occupy(&mut self, on: &On) {
        match on {
            On::Part { worker, parts } => self.free[*worker as usize] -= piece(*parts),
            On::Workers(workers) => workers.iter().for_each(|w| self.free[*w as usize] = 0),
            On::Lane => (),
        }
    }

    /// Gives back what a job has.
    pub fn give(&mut self, on: &On) {
        match on {
            On::Part { worker, parts } => self.free[*worker as usize] += piece(*parts),
            On::Workers(workers) => workers.iter().for_each(|w| self.free[*w as usize] = WORKER),
            On::Lane => (),
        }
    }

    /// From one width to another; the same place where there is no room.
    pub fn change(&mut self, on: On, width: Width) -> On {
        self.give(&on);
        self.take(width).unwrap_or_else(|| {
            self.occupy(&on);
            on
        })
    }
}

fn piece(parts: u32) -> u128 {
    WORKER / u128::from(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_a_whole_number_of_each_of_its_parts() {
        assert!((1..=PARTS_MAX).all(|parts| piece(parts) * u128::from(parts) == WORKER));
        assert!((2..=PARTS_MAX).any(|parts| !(WORKER / 2).is_multiple_of(u128::from(parts))));
    }
}
