//! Where a robot may be.
//!
//! Only the shapes are read here, and whether `home` lies where the robot may be. Targets and
//! distances from the borders are judged by `gate`.

use super::json_path::{JsonPath, json_path};
use crate::config::reader::{Node, Table, exactly, list, number, text, whole};

/// Most areas of one list.
const AREAS_MAX: usize = 64;
/// Most corners of a polygon.
const CORNERS_MAX: usize = 64;
/// Largest coordinate, m. Chosen: far beyond any map, and exact to a micrometre.
pub(super) const COORDINATE_M_MAX: f64 = 100_000.0;
/// Longest name, bytes.
const NAME_BYTES_MAX: usize = 64;
/// Smallest area of a polygon, m². Chosen: what is smaller holds no robot and hints at a slip.
const AREA_M2_MIN: f64 = 1e-4;

/// An area of the map.
#[derive(Debug, Clone, PartialEq)]
pub enum Area {
    /// An axis-aligned box: smallest corner, largest corner, m. Equal z bounds mean any height.
    Box {
        /// Smallest x, y, z.
        min: [f64; 3],
        /// Largest x, y, z.
        max: [f64; 3],
        /// A name for messages; empty when none.
        name: String,
    },
    /// A polygon in x and y, m, 3 to 64 corners; any height.
    Polygon {
        /// The corners, in either direction.
        corners: Vec<[f64; 2]>,
        /// A name for messages; empty when none.
        name: String,
    },
}

/// Where the robot may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Workspace {
    /// Name of the frame, told to the model.
    pub frame: String,
    /// Path of the position in the state: an array of 2 or 3 numbers, m.
    pub position: JsonPath,
    /// A position older than this is unknown, ms.
    pub max_age_ms: u32,
    /// Where the examples start, m.
    pub home: [f64; 3],
    /// A target must lie in one of these.
    pub keep_in: Vec<Area>,
    /// A target must lie in none of these.
    pub keep_out: Vec<Area>,
    /// Distance to keep from every border, m.
    pub margin_m: f64,
}

/// The shape of `[workspace]`.
pub(super) fn workspace(node: Node<'_>) -> Option<Workspace> {
    node.table(|t| {
        let frame = t.must("frame", text(1..=NAME_BYTES_MAX));
        let source = t.must("source", source);
        let home = t.must("home", point::<3>);
        let keep_in = t.must("keep_in", list(1..=AREAS_MAX, area));
        let keep_out = t.may("keep_out", list(0..=AREAS_MAX, area));
        let margin_m = t.must("margin_m", number(0.0..=10.0));
        if let (Some(home), Some(keep_in)) = (home, &keep_in) {
            judge_home(t, home, keep_in, keep_out.as_deref().unwrap_or_default());
        }
        let (position, max_age_ms) = source?;
        Some(Workspace {
            frame: frame?,
            position,
            max_age_ms,
            home: home?,
            keep_in: keep_in?,
            keep_out: keep_out.unwrap_or_default(),
            margin_m: margin_m?,
        })
    })
}

fn source(node: Node<'_>) -> Option<(JsonPath, u32)> {
    node.table(|t| {
        t.must("stream", exactly("state"));
        let path = t.must("path", json_path);
        let max_age_ms = t.must("max_age_ms", whole(1..=60_000));
        Some((path?, max_age_ms?))
    })
}

fn judge_home(t: &Table<'_>, home: [f64; 3], keep_in: &[Area], keep_out: &[Area]) {
    let hint = "examples start at home: put it where the robot may be";
    if !keep_in.iter().any(|area| area.holds(home)) {
        t.fault("home", "lies in no area of keep_in", hint);
    }
    if let Some(area) = keep_out.iter().find(|area| area.holds(home)) {
        t.fault(
            "home",
            format!("lies in the keep_out area `{}`", area.name()),
            hint,
        );
    }
}

fn area(node: Node<'_>) -> Option<Area> {
    node.table(|t| {
        let name = t.may("name", text(1..=NAME_BYTES_MAX)).unwrap_or_default();
        let bounds = t.may("box", bounds);
        let corners = t.may("polygon", corners);
        if t.has("box") == t.has("polygon") {
            t.fault_here("needs either `box` or `polygon`", "write one of the two");
            return None;
        }
        let of_box = bounds.map(|(min, max)| Area::Box {
            min,
            max,
            name: name.clone(),
        });
        of_box.or(corners.map(|corners| Area::Polygon { corners, name }))
    })
}

fn bounds(node: Node<'_>) -> Option<([f64; 3], [f64; 3])> {
    let [x0, y0, z0, x1, y1, z1] = point::<6>(node.clone())?;
    // A flat box has no inside in x or y; in z it means any height.
    if x0 < x1 && y0 < y1 && z0 <= z1 {
        return Some(([x0, y0, z0], [x1, y1, z1]));
    }
    node.fault(
        "the first corner is not smaller than the second",
        "write [x min, y min, z min, x max, y max, z max]; equal z mean any height",
    );
    None
}

fn corners(node: Node<'_>) -> Option<Vec<[f64; 2]>> {
    let corners = list(3..=CORNERS_MAX, point::<2>)(node.clone())?;
    let next = corners.iter().cycle().skip(1);
    let doubled: f64 = corners
        .iter()
        .zip(next)
        .map(|([x0, y0], [x1, y1])| x0 * y1 - x1 * y0)
        .sum();
    if doubled.abs() / 2.0 >= AREA_M2_MIN {
        return Some(corners);
    }
    node.fault(
        "the corners enclose nothing",
        "list the corners in their order around the area",
    );
    None
}

/// A list of exactly `N` coordinates, m.
fn point<const N: usize>(node: Node<'_>) -> Option<[f64; N]> {
    let coordinates = list(N..=N, number(-COORDINATE_M_MAX..=COORDINATE_M_MAX))(node)?;
    coordinates.try_into().ok()
}

impl Area {
    /// Returns the name for messages; empty when none.
    pub fn name(&self) -> &str {
        match self {
            Self::Box { name, .. } | Self::Polygon { name, .. } => name,
        }
    }

    /// Returns whether a point lies inside, borders included for a box.
    fn holds(&self, point: [f64; 3]) -> bool {
        match self {
            Self::Box { min, max, .. } => {
                let any_height = min.last() >= max.last();
                let axes = if any_height { 2 } else { 3 };
                let within = point.iter().zip(min.iter().zip(max)).take(axes);
                within
                    .into_iter()
                    .all(|(at, (min, max))| (min..=max).contains(&at))
            }
            Self::Polygon { corners, .. } => {
                let [x, y, _] = point;
                // A ray to the right crosses the border an odd number of times from inside.
                let next = corners.iter().cycle().skip(1);
                let crossings = corners.iter().zip(next).filter(|([x0, y0], [x1, y1])| {
                    (*y0 > y) != (*y1 > y) && x < x0 + (y - y0) / (y1 - y0) * (x1 - x0)
                });
                crossings.count() % 2 == 1
            }
        }
    }
}
