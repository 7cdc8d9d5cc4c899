//! Where a target may lie: inside one kept-in area, outside every kept-out one, with the margin.
//!
//! Each area is judged alone: the border between two kept-in areas that touch keeps its margin,
//! so overlap them by it where the robot shall pass. The way to the target is not judged, not even as
//! a straight line: planners choose it. The observed position is watched instead, with half of the
//! margin. On the border counts as inside a kept-out area.
#![deny(clippy::arithmetic_side_effects)]

use crate::config::{Area, Workspace};

/// Distances that differ by less are equal, m: rounding, far below what any robot resolves.
const TOLERANCE_M: f64 = 1e-9;

/// The part of the margin that an observed position must keep. A robot at a target that keeps the whole
/// margin has the other half for the noise of its position and for where exactly it comes to rest.
const WATCHED_PART: f64 = 0.5;

/// The areas of a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Fence {
    keep_in: Vec<Area>,
    keep_out: Vec<Area>,
    margin_m: f64,
}

impl Fence {
    /// Takes the areas of a workspace.
    pub fn of(workspace: &Workspace) -> Self {
        Self {
            keep_in: workspace.keep_in.clone(),
            keep_out: workspace.keep_out.clone(),
            margin_m: workspace.margin_m,
        }
    }

    /// Returns why a target at `point` (m) is not permitted: everything that stands against it.
    pub(super) fn objections(&self, point: [f64; 3]) -> Vec<String> {
        if !point.iter().all(|value| value.is_finite()) {
            return vec!["the target is no finite point".to_owned()];
        }
        let margin = self.margin_m;
        let mut objections = Vec::new();
        if !self
            .keep_in
            .iter()
            .any(|area| keeps_in(area, point, margin))
        {
            objections.push(format!(
                "the target lies in no permitted area{}, {margin} m inside its border",
                names_of(&self.keep_in)
            ));
        }
        for area in &self.keep_out {
            if !keeps_out(area, point, margin) {
                objections.push(format!(
                    "the target lies in {}, or less than {margin} m from it",
                    named(area)
                ));
            }
        }
        objections
    }

    /// Returns whether an observed position (m) lies where the robot may be: in a permitted area and
    /// in no forbidden one, with half of the margin to every border.
    pub fn holds(&self, position: [f64; 3]) -> bool {
        let margin = self.margin_m * WATCHED_PART;
        let within = |area| keeps_in(area, position, margin);
        position.iter().all(|value| value.is_finite())
            && self.keep_in.iter().any(within)
            && self
                .keep_out
                .iter()
                .all(|area| keeps_out(area, position, margin))
    }
}

/// Returns whether `point` lies in `area`, `margin` (m) inside its border.
fn keeps_in(area: &Area, point: [f64; 3], margin: f64) -> bool {
    depth(area, point) >= margin - TOLERANCE_M
}

/// Returns whether `point` lies outside `area`, `margin` (m) away from its border.
fn keeps_out(area: &Area, point: [f64; 3], margin: f64) -> bool {
    let away = -depth(area, point);
    away > 0.0 && away >= margin - TOLERANCE_M
}

/// The names of permitted areas, as far as they have any, in brackets.
fn names_of(areas: &[Area]) -> String {
    let names = areas.iter().map(Area::name);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(" (`{}`)", names.join("`, `"))
    }
}

fn named(area: &Area) -> String {
    let name = area.name();
    if name.is_empty() {
        "a forbidden area".to_owned()
    } else {
        format!("the forbidden area `{name}`")
    }
}

/// Returns how deep `point` lies in `area`: its distance from the border, m, negative outside.
fn depth(area: &Area, point: [f64; 3]) -> f64 {
    match area {
        Area::Box { min, max, .. } => box_depth(min, max, point),
        Area::Polygon { corners, .. } => {
            let [x, y, _] = point;
            polygon_depth(corners, [x, y])
        }
    }
}

/// Equal z bounds are no bounds: a flat box holds any height.
fn box_depth(min: &[f64; 3], max: &[f64; 3], point: [f64; 3]) -> f64 {
    let mut inside = f64::INFINITY;
    let mut outside_squared = 0.0;
    for (axis, ((lo, hi), value)) in min.iter().zip(max).zip(point).enumerate() {
        let flat = axis == 2 && (hi - lo).abs() <= 0.0;
        if !flat {
            let to_border = (value - lo).min(hi - value);
            inside = inside.min(to_border);
            outside_squared += to_border.min(0.0).powi(2);
        }
    }
    if outside_squared > 0.0 {
        -outside_squared.sqrt()
    } else {
        inside
    }
}

fn polygon_depth(corners: &[[f64; 2]], point: [f64; 2]) -> f64 {
    let mut inside = false;
    let mut nearest = f64::INFINITY;
    let ends = corners.iter().cycle().skip(1);
    for (from, to) in corners.iter().zip(ends) {
        inside ^= crosses(*from, *to, point);
        nearest = nearest.min(edge_distance(*from, *to, point));
    }
    if inside { nearest } else { -nearest }
}

/// Returns whether the ray from `point` towards larger x crosses the edge.
fn crosses([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], [x, y]: [f64; 2]) -> bool {
    (y1 > y) != (y2 > y) && x < x1 + (y - y1) * (x2 - x1) / (y2 - y1)
}

fn edge_distance([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], [x, y]: [f64; 2]) -> f64 {
    let (along_x, along_y) = (x2 - x1, y2 - y1);
    let length_squared = along_x * along_x + along_y * along_y;
    let way = if length_squared > 0.0 {
        (((x - x1) * along_x + (y - y1) * along_y) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (x - (x1 + way * along_x)).hypot(y - (y1 + way * along_y))
}

#[cfg(test)]
mod tests;
