//! Plans against brute force.
