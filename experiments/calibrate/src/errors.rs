//! How far ours is from theirs, over some rows and some quantities.

use crate::case::Case;
use crate::value::{Values, What};

/// The errors of some cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// The mean of their amounts.
    pub mean: f64,
    /// The largest, with its sign, and where it is: the case and the quantity.
    pub largest: (f64, usize, What),
}

/// Which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    All,
    /// Those that were fitted on.
    Fitted,
    /// The others.
    HeldOut,
}

/// The errors of some rows in some quantities; none where none of them was measured.
pub fn error(cases: &[Case], ours: &[Values], part: Part, of: &[What]) -> Option<Errors> {
    let (mut sum, mut n, mut largest) = (0.0, 0, (0.0f64, 0, What::P50));
    for (i, (case, ours)) in cases.iter().zip(ours).enumerate() {
        let is_meant = match part {
            Part::All => true,
            Part::Fitted => case.is_fitted,
            Part::HeldOut => !case.is_fitted,
        };
        if !is_meant {
            continue;
        }
        for &what in of {
            let Some(error) = ours.error(&case.theirs, what) else { continue };
            sum += error.abs();
            n += 1;
            if error.abs() > largest.0.abs() {
                largest = (error, i, what);
            }
        }
    }
    (n > 0).then(|| Errors { mean: sum / f64::from(n), largest })
}
