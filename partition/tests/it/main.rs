//! The solvers from outside.

mod solvers;
