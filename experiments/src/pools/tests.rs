//! Pool figures: what is shipped, and small ones to the end.

use super::*;

#[test]
fn every_shipped_figure_is_sound() {
    for figure in Figure::shipped().unwrap_or_else(|e| panic!("{e}")) {
        for setting in &figure.setting {
            let c = figure.conditions_of(setting).unwrap_or_else(|e| panic!("{}: {e}", figure.id));
            World::new(&setting.name, &figure.models[0], &c)
                .unwrap_or_else(|e| panic!("{}: {e}", figure.id));
        }
    }
}
