//! The path of the robot drawn with letters: the x axis to the right, the y axis up.

use super::Path;

/// Widest drawing, characters.
const COLUMNS_MAX: usize = 72;
/// Highest drawing, lines.
const ROWS_MAX: usize = 18;
/// A character is about twice as high as it is wide.
const ASPECT: f64 = 2.0;
/// Smallest side of the area that is drawn, m: noise of a resting robot fills no page.
const SIDE_MIN_M: f64 = 0.5;

/// Draws the path; `None` when the robot was never seen.
pub(super) fn draw(path: &Path) -> Option<String> {
    let (start, end) = (path.start?, path.end?);
    let frame = Frame::around(&path.points);
    let mut grid = vec![vec![' '; frame.columns]; frame.rows];
    for point in &path.points {
        frame.put(&mut grid, *point, '.');
    }
    frame.put(&mut grid, start, 'S');
    frame.put(&mut grid, end, 'E');
    let mut text = String::new();
    let edge = format!("  +{}+\n", "-".repeat(frame.columns));
    text.push_str(&edge);
    for row in grid.iter().rev() {
        text.push_str("  |");
        text.extend(row);
        text.push_str("|\n");
    }
    text.push_str(&edge);
    let [x0, y0] = frame.min;
    let (x1, y1) = (x0 + frame.width_m, y0 + frame.height_m);
    text.push_str(&format!(
        "   x {x0:.2} to {x1:.2} m, y {y0:.2} to {y1:.2} m   S start  E end\n"
    ));
    Some(text)
}

struct Frame {
    min: [f64; 2],
    width_m: f64,
    height_m: f64,
    columns: usize,
    rows: usize,
}

impl Frame {
    fn around(points: &[[f64; 2]]) -> Self {
        let side = |axis: fn(&[f64; 2]) -> f64| {
            let values = points.iter().map(axis);
            let (min, max) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
                (a.min(v), b.max(v))
            });
            let spare = ((SIDE_MIN_M - (max - min)) / 2.0).max(0.0);
            (min - spare, max + spare)
        };
        let (x0, x1) = side(|[x, _]| *x);
        let (y0, y1) = side(|[_, y]| *y);
        let (width_m, height_m) = (x1 - x0, y1 - y0);
        let rows_for = |columns: usize| whole(small(columns) * height_m / width_m / ASPECT) + 1;
        let columns = (2..=COLUMNS_MAX)
            .rev()
            .find(|columns| rows_for(*columns) <= ROWS_MAX)
            .unwrap_or(2);
        Self {
            min: [x0, y0],
            width_m,
            height_m,
            columns,
            rows: rows_for(columns).clamp(2, ROWS_MAX),
        }
    }

    fn put(&self, grid: &mut [Vec<char>], [x, y]: [f64; 2], mark: char) {
        let [x0, y0] = self.min;
        let column = cell((x - x0) / self.width_m, self.columns);
        let row = cell((y - y0) / self.height_m, self.rows);
        if let Some(place) = grid.get_mut(row).and_then(|row| row.get_mut(column)) {
            *place = mark;
        }
    }
}

/// The cell of a part (0 to 1) of a side with this many cells.
fn cell(part: f64, cells: usize) -> usize {
    whole(part * small(cells)).min(cells.saturating_sub(1))
}

/// A number of cells as a float; no drawing has more than 255.
fn small(cells: usize) -> f64 {
    f64::from(u8::try_from(cells).unwrap_or(u8::MAX))
}

/// The number of whole cells in a length, at most 255.
fn whole(length: f64) -> usize {
    (0..=u8::MAX)
        .take_while(|n| f64::from(*n) <= length)
        .last()
        .map_or(0, usize::from)
}
