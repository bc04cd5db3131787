//! Keys that are left out of a file: what they are then, and when they are left out.

/// The default of a factor or a count.
pub fn one<T: From<u8>>() -> T {
    T::from(1)
}

/// Whether it is one.
pub fn is_one<T: From<u8> + PartialEq>(x: &T) -> bool {
    *x == T::from(1)
}

/// Whether it is what its type begins with.
pub fn is_default<T: Default + PartialEq>(x: &T) -> bool {
    *x == T::default()
}
