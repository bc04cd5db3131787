//! The product of two matrices: the one place where this device is unsafe.
#![allow(unsafe_code)]

/// C = alpha A B, or alpha A Bᵀ: row-major, without gaps, A of m x k, C of m x n.
///
/// # Panics
/// When a slice is too short.
pub fn product(
    (m, k, n): (usize, usize, usize),
    alpha: f32,
    a: &[f32],
    (b, b_transposed): (&[f32], bool),
    c: &mut [f32],
) {
    assert!(a.len() >= m * k && b.len() >= k * n && c.len() >= m * n, "a matrix is too short");
    let (row, column) = if b_transposed { (1, k) } else { (n, 1) };
    // SAFETY: the assertion above: with these strides every element read or written lies in its slice,
    // and C is borrowed for writing, so it overlaps neither A nor B.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            alpha,
            a.as_ptr(),
            k as isize,
            1,
            b.as_ptr(),
            row as isize,
            column as isize,
            0.0,
            c.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_hand() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 2.0, 1.0, 0.0, 3.0];
        let mut c = [9.0; 4];
        product((2, 3, 2), 2.0, &a, (&b, false), &mut c);
        assert_eq!(c, [10.0, 22.0, 28.0, 46.0]);
        product((2, 3, 2), 1.0, &a, (&b, true), &mut c);
        assert_eq!(c, [7.0, 10.0, 16.0, 22.0]);
    }

    #[test]
    #[should_panic(expected = "too short")]
    fn a_short_matrix_is_refused() {
        product((2, 3, 2), 1.0, &[0.0; 5], (&[0.0; 6], false), &mut [0.0; 4]);
    }
}
