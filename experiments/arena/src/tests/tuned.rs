use crate::tuned::{Space, spaces};

#[test]
fn a_space_begins_as_released_and_its_draws_are_allowed_and_their_own() {
    let all = spaces(12, 0);
    let names = |s: &Space| s.tried.iter().map(|p| p.name()).collect::<Vec<_>>();
    for space in &all {
        assert_eq!(space.tried[0].text(), space.policy);
        let mut own = names(space);
        own.sort();
        own.dedup();
        assert_eq!(own.len(), space.tried.len(), "{}", space.policy);
        assert!(space.tried.len() <= 12 && !own.iter().any(|n| n.contains("rows=all")));
    }
    let of = |name: &str| all.iter().find(|s| s.policy == name).expect("a space");
    assert_eq!(of("clockwork").tried.len(), 12);
    // `clkwrk` has two settings.
    assert_eq!(of("clkwrk").tried.len(), 2);
    let presets: Vec<&str> = of("clockwork").tried[1..4].iter().map(|p| p.text()).collect();
    assert_eq!(presets[0], "clockwork[preset=paper]");
    assert_eq!(
        names(of("orloj")),
        names(&spaces(12, 0).into_iter().find(|s| s.policy == "orloj").expect("it"))
    );
    assert_ne!(
        names(of("orloj")),
        names(&spaces(12, 1).into_iter().find(|s| s.policy == "orloj").expect("it"))
    );
    // A larger budget begins as the smaller one.
    let more = spaces(16, 0);
    let more = more.iter().find(|s| s.policy == "symphony").expect("it");
    assert_eq!(names(more)[..12], names(of("symphony"))[..]);
}
