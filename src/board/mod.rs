//! The board under the process: does the machine fit its board file?
//!
//! Today it compares identity and memory; pins, buses and sensors come with the boards that have
//! them. It opens nothing: `app` reads the files of the kernel and hands their text over.
//!
//! Invariant: a machine that does not fit is told with everything that does not fit, at once.

use crate::config::Board;

/// What the kernel says of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The `compatible` strings of the device tree, most specific first; empty without one.
    pub compatible: Vec<String>,
    /// Memory, MiB; `None` when the kernel does not say.
    pub ram_mb: Option<u64>,
}

impl Machine {
    /// Reads the texts of `/proc/device-tree/compatible` (NUL between strings) and `/proc/meminfo`.
    pub fn of(compatible: &[u8], meminfo: &str) -> Self {
        let compatible = compatible
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty())
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        let ram_mb = meminfo
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|kib| kib.parse::<u64>().ok())
            .map(|kib| kib / 1024);
        Self { compatible, ram_mb }
    }

    /// Returns everything in which this machine does not fit `board`; empty when it fits.
    pub fn misfits(&self, board: &Board) -> Vec<String> {
        let mut misfits = Vec::new();
        let known = board
            .matches
            .iter()
            .any(|name| self.compatible.contains(name));
        if !board.matches.is_empty() && !known {
            let found = match self.compatible.as_slice() {
                [] => "no device tree".to_owned(),
                names => names.join(", "),
            };
            misfits.push(format!(
                "the machine is none of {}: found {found}",
                board.matches.join(", ")
            ));
        }
        match self.ram_mb {
            Some(found) if found < u64::from(board.ram_min_mb) => misfits.push(format!(
                "memory of {found} MiB is below ram_min_mb = {}",
                board.ram_min_mb
            )),
            None if board.ram_min_mb > 0 => misfits.push(format!(
                "memory is unknown, ram_min_mb = {} cannot be judged",
                board.ram_min_mb
            )),
            Some(_) | None => {}
        }
        misfits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PI: &[u8] = b"raspberrypi,4-model-b\0brcm,bcm2711\0";
    const MEMINFO: &str = "MemTotal:        1048576 kB\nMemFree: 1 kB\n";

    fn board(keys: &str, system: &str) -> Board {
        let text = format!(
            "schema = 1\nid = \"b\"\n{keys}\n[system]\ntokio_workers = 1\nsafety_tick_ms = 10\n\
             lockup_ms = 1000\njitter_ms = 500\n{system}\n"
        );
        Board::parse("b.toml", &text).unwrap()
    }

    #[test]
    fn a_board_without_demands_fits_every_machine() {
        assert!(Machine::of(b"", "").misfits(&board("", "")).is_empty());
    }

    #[test]
    fn another_machine_and_too_little_memory_are_both_told() {
        let machine = Machine::of(PI, MEMINFO);
        assert_eq!(machine.ram_mb, Some(1024));
        let board_file = board("match = [\"nvidia,p3450-0000\"]", "ram_min_mb = 2048");
        assert_eq!(
            machine.misfits(&board_file),
            [
                "the machine is none of nvidia,p3450-0000: found raspberrypi,4-model-b, brcm,bcm2711",
                "memory of 1024 MiB is below ram_min_mb = 2048",
            ]
        );
    }

    #[test]
    fn the_right_machine_fits_and_unknown_memory_does_not() {
        let demands = board("match = [\"brcm,bcm2711\"]", "ram_min_mb = 512");
        assert!(Machine::of(PI, MEMINFO).misfits(&demands).is_empty());
        assert_eq!(
            Machine::of(PI, "").misfits(&demands),
            ["memory is unknown, ram_min_mb = 512 cannot be judged"]
        );
    }
}
