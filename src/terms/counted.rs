//! Numbers of things, for people.

use std::fmt::Display;

/// Returns a number with its noun, which takes an `s` unless there is exactly one: `1 fault`, `2 faults`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_ending() {
        let all = [
            counted(0_u64, "fault"),
            counted(1_usize, "fault"),
            counted(2_u32, "fault"),
        ];
        assert_eq!(all, ["0 faults", "1 fault", "2 faults"]);
        assert_eq!(
            [counted(1.0, "call"), counted(0.5, "call")],
            ["1 call", "0.5 calls"]
        );
    }
}
