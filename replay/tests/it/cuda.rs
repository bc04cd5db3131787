//! The CUDA device without a GPU: its kernels on the CPU, its calls against a stand-in for the driver.

mod encoder;
mod kernels;
pub mod reference;
mod scenes;
mod stand_in;

use orrery_replay::device::encoder::plan::{Part, Shape};
use orrery_replay::device::encoder::{EncoderConfig, random};
