//! The geometry against slow oracles that share no formula with it.

use proptest::prelude::*;

use super::*;

fn flat_box(x: [f64; 2], y: [f64; 2]) -> Area {
    Area::Box {
        min: [x[0], y[0], 0.0],
        max: [x[1], y[1], 0.0],
        name: String::new(),
    }
}

fn rover() -> Fence {
    Fence {
        keep_in: vec![flat_box([-2.0, 4.0], [-2.0, 4.0])],
        keep_out: vec![Area::Polygon {
            corners: vec![[2.0, 2.0], [3.0, 2.0], [3.0, 3.0]],
            name: "pit".to_owned(),
        }],
        margin_m: 0.2,
    }
}

#[test]
fn case_13_targets_outside_inside_a_pit_or_within_the_margin_are_refused() {
    let fence = rover();
    for inside in [[1.0, 0.5], [3.8, 3.8], [-1.8, -1.8], [1.7, 2.0], [2.5, 1.8]] {
        assert_eq!(
            fence.objections([inside[0], inside[1], 0.0]),
            [""; 0],
            "{inside:?}"
        );
    }
    for outside in [
        [9.0, 0.0],
        [3.81, 0.0],
        [3.0, 2.5],
        [2.5, 1.81],
        [3.19, 2.5],
        [1.81, 2.0],
    ] {
        let objections = fence.objections([outside[0], outside[1], 0.0]);
        assert_eq!(objections.len(), 1, "{outside:?}: {objections:?}");
    }
    assert!(fence.objections([3.0, 2.5, 0.0])[0].contains("`pit`"));
}

#[test]
fn an_observed_position_keeps_half_of_the_margin_and_a_target_all_of_it() {
    let fence = rover();
    for held in [[0.0, 0.0], [3.9, 0.0], [-1.9, -1.9], [1.9, 2.0], [2.5, 1.9]] {
        assert!(fence.holds([held[0], held[1], 0.0]), "{held:?}");
        let target = fence.objections([held[0], held[1], 0.0]);
        assert_eq!(target.is_empty(), held == [0.0, 0.0], "{held:?}");
    }
    for left in [
        [3.91, 0.0],
        [4.5, 0.0],
        [1.91, 2.0],
        [2.5, 1.91],
        [3.0, 2.5],
    ] {
        assert!(!fence.holds([left[0], left[1], 0.0]), "{left:?}");
    }
    let bare = Fence {
        margin_m: 0.0,
        ..rover()
    };
    assert!(bare.holds([4.0, 0.0, 0.0]) && !bare.holds([4.001, 0.0, 0.0]));
    assert!(!bare.holds([2.5, 2.0, 0.0]), "on the border of the pit");
}

#[test]
fn all_that_stands_against_a_target_is_told() {
    let mut fence = rover();
    fence.keep_in.clear();
    assert_eq!(fence.objections([3.0, 2.5, 0.0]).len(), 2);
}

#[test]
fn the_border_itself_is_kept_in_and_kept_out() {
    let mut fence = rover();
    fence.margin_m = 0.0;
    assert!(fence.objections([4.0, 0.0, 0.0]).is_empty());
    assert!(!fence.objections([3.0, 2.5, 0.0]).is_empty());
}

#[test]
fn what_is_not_finite_is_nowhere() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for axis in 0..3 {
            let mut point = [0.0; 3];
            point[axis] = bad;
            assert_eq!(rover().objections(point).len(), 1, "{point:?}");
        }
    }
}

#[test]
fn a_box_with_height_bounds_z() {
    let room = Area::Box {
        min: [0.0; 3],
        max: [2.0; 3],
        name: String::new(),
    };
    assert!((depth(&room, [1.0, 1.0, 0.5]) - 0.5).abs() < 1e-12);
    assert!((depth(&room, [1.0, 1.0, 5.0]) + 3.0).abs() < 1e-12);
    assert!((depth(&room, [-3.0, 1.0, 6.0]) + 5.0).abs() < 1e-12);
    assert!(
        depth(&flat_box([1.0, 1.0], [0.0, 2.0]), [7.0, 1.0, 0.0]) < 0.0,
        "no width is no room"
    );
}

fn edges(corners: &[[f64; 2]]) -> impl Iterator<Item = (&[f64; 2], &[f64; 2])> {
    let last = corners.last().into_iter();
    last.chain(corners).zip(corners)
}

/// Walks the border in small steps; the error is below half a step.
fn walked_distance(corners: &[[f64; 2]], [x, y]: [f64; 2]) -> f64 {
    const PARTS: u32 = 4000;
    let mut nearest = f64::INFINITY;
    for (from, to) in edges(corners) {
        for part in 0..=PARTS {
            let way = f64::from(part) / f64::from(PARTS);
            let (px, py) = (
                from[0] * (1.0 - way) + to[0] * way,
                from[1] * (1.0 - way) + to[1] * way,
            );
            nearest = nearest.min(((x - px).powi(2) + (y - py).powi(2)).sqrt());
        }
    }
    nearest
}

/// Sums the angles under which the edges are seen: a full turn inside, none outside.
fn turned_around(corners: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let angle = |corner: &[f64; 2]| (corner[1] - y).atan2(corner[0] - x);
    let mut sum = 0.0;
    for (from, to) in edges(corners) {
        let mut turn = angle(to) - angle(from);
        while turn > std::f64::consts::PI {
            turn -= std::f64::consts::TAU;
        }
        while turn < -std::f64::consts::PI {
            turn += std::f64::consts::TAU;
        }
        sum += turn;
    }
    sum.abs() > std::f64::consts::PI
}

/// A polygon without self-crossings: corners at rising angles around the origin.
fn star() -> impl Strategy<Value = Vec<[f64; 2]>> {
    prop::collection::vec(0.3..3.0_f64, 3..12).prop_map(|radii| {
        let count = f64::from(u32::try_from(radii.len()).unwrap());
        let corner = |(index, radius): (u32, f64)| {
            let angle = std::f64::consts::TAU * f64::from(index) / count;
            [radius * angle.cos(), radius * angle.sin()]
        };
        (0..).zip(radii).map(corner).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn polygons_agree_with_the_slow_oracle(
        corners in star(), x in -4.0..4.0_f64, y in -4.0..4.0_f64,
    ) {
        let found = polygon_depth(&corners, [x, y]);
        let distance = walked_distance(&corners, [x, y]);
        prop_assert!((found.abs() - distance).abs() < 2e-3, "{found} {distance}");
        if distance > 1e-6 {
            prop_assert_eq!(found > 0.0, turned_around(&corners, [x, y]));
        }
    }

    #[test]
    fn boxes_agree_with_the_polygon_of_their_corners(
        x in -4.0..4.0_f64, y in -4.0..4.0_f64, z in -4.0..4.0_f64,
    ) {
        let (lo, hi) = ([-2.0, -1.0], [1.5, 3.0]);
        let corners = [[lo[0], lo[1]], [hi[0], lo[1]], [hi[0], hi[1]], [lo[0], hi[1]]];
        let found = depth(&flat_box([lo[0], hi[0]], [lo[1], hi[1]]), [x, y, z]);
        prop_assert!((found - polygon_depth(&corners, [x, y])).abs() < 1e-9);
    }

    #[test]
    fn a_wider_margin_only_narrows(
        x in -4.0..6.0_f64, y in -4.0..6.0_f64, margin in 0.0..1.0_f64, more in 0.0..1.0_f64,
    ) {
        let narrow = Fence { margin_m: margin, ..rover() };
        let wide = Fence { margin_m: margin + more, ..rover() };
        if wide.objections([x, y, 0.0]).is_empty() {
            prop_assert!(narrow.objections([x, y, 0.0]).is_empty());
            // A target that is permitted is a place where the robot may stand, with room for noise.
            let noise = 0.49 * wide.margin_m;
            prop_assert!(wide.holds([x + noise, y, 0.0]) && wide.holds([x, y - noise, 0.0]));
        }
    }
}
