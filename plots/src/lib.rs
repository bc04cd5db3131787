//! Figures from result tables.
