//! An event's handle for each executor of each device.

use crate::event_queue::Handle;
use crate::request::DeviceId;

/// Executors of a device with a place of their own: the lane and the executor of loads of nearly all devices.
const USUAL: usize = 2;

/// See the module's text.
#[derive(Default)]
pub(super) struct Slots {
    usual: Vec<[Option<Handle>; USUAL]>,
    /// By device: of its further lanes.
    others: Vec<Vec<Option<Handle>>>,
}

impl Slots {
    #[inline]
    pub fn at(&mut self, device: DeviceId, executor: u8) -> &mut Option<Handle> {
        let (device, executor) = (device.index(), usize::from(executor));
        if device >= self.usual.len() {
            self.usual.resize(device + 1, [None; USUAL]);
        }
        if executor < USUAL {
            return &mut self.usual[device][executor];
        }
        self.other(device, executor - USUAL)
    }

    #[cold]
    fn other(&mut self, device: usize, executor: usize) -> &mut Option<Handle> {
        if self.others.len() <= device {
            self.others.resize_with(device + 1, Vec::new);
        }
        let row = &mut self.others[device];
        if row.len() <= executor {
            row.resize(executor + 1, None);
        }
        &mut row[executor]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_queue::EventQueue;
    use crate::time::Time;

    #[test]
    fn each_executor_of_each_device_has_a_place_of_its_own() {
        let (mut slots, mut queue) = (Slots::default(), EventQueue::new());
        let all = || (0..3).flat_map(|d| [0, 1, 2, 7, 255].map(|e| (DeviceId(2 - d), e)));
        let handles: Vec<_> = all().map(|_| queue.schedule(Time::ZERO, 0, ())).collect();
        for ((device, executor), handle) in all().zip(&handles) {
            assert_eq!(slots.at(device, executor).replace(*handle), None);
        }
        for ((device, executor), handle) in all().zip(handles) {
            assert_eq!(slots.at(device, executor).take(), Some(handle));
        }
    }
}
