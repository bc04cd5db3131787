//! Devices' times, by hand: what still runs at the end counts until then.

use super::Metrics;
use crate::cluster::Change;
use crate::observer::{Batch, Load, Observer};
use crate::policy::Outcome;
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
use crate::time::{Span, Time};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn batch(device: u32, lane: u8, lanes: u8) -> Batch<'static> {
    Batch {
        action: ActionId(0),
        device: DeviceId(device),
        lane,
        lanes,
        sharing: crate::cluster::Sharing::None,
        model: ModelId(0),
        requests: &[RequestId(0)],
        units: 1,
        issued: Time::ZERO,
        earliest: Time::ZERO,
        latest: Time::NEVER,
    }
}

#[test]
fn busy_lanes_and_loads_count_until_the_end_of_the_run() {
    let mut metrics = Metrics::default();
    let done = Outcome::Done { start: Time::ZERO, end: Time::ZERO, device: Span::ZERO };
    for device in 0..2 {
        metrics.device(ms(0), DeviceId(device), Change::Up);
    }
    metrics.began(ms(0), &batch(0, 0, 2));
    metrics.began(ms(1), &batch(1, 0, 1));
    metrics.began(ms(2), &batch(0, 1, 2));
    metrics.closed(ms(3), &batch(0, 0, 2), Some(ms(0)), done);
    metrics.began(ms(4), &batch(0, 0, 2));
    let load = Load {
        action: ActionId(1),
        device: DeviceId(1),
        model: ModelId(0),
        issued: Time::ZERO,
        earliest: Time::ZERO,
        latest: Time::NEVER,
    };
    metrics.load_began(ms(2), &load);
    metrics.load_closed(ms(4), &load, Some(ms(2)), done);
    metrics.load_began(ms(5), &load);
    metrics.finished(ms(6));
    // Lane 0 from 0 to 3 and from 4 on, lane 1 from 2 on: 9 ms of two lanes.
    let busy = metrics.devices().iter().map(|d| d.busy).collect::<Vec<_>>();
    assert_eq!(busy, [Span::from_us(4_500), Span::from_ms(5)]);
    assert_eq!(metrics.devices()[0].utilisation(), 0.75);
    assert_eq!(metrics.devices()[1].loading, Span::from_ms(3));
    assert_eq!(metrics.devices().iter().map(|d| d.batches).collect::<Vec<_>>(), [1, 0]);
}
