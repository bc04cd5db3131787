//! The CUDA device without a GPU: its kernels on the CPU, its calls against a stand-in for the driver.

mod encoder;
mod kernels;
mod scenes;
mod stand_in;
