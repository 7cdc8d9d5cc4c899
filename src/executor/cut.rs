//! Bounds what goes back to the caller.

use crate::terms::{Outcome, ToolError};

/// What was done to the arguments of a call before it ran.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) clamped: Vec<String>,
    pub(super) repaired: Vec<String>,
}

/// Turns a tool's result into the outcome, with every text within `bytes_max` and a short note.
pub(super) fn outcome(
    result: Result<String, ToolError>,
    changed: Changed,
    bytes_max: usize,
) -> Outcome {
    match result {
        Ok(text) => Outcome::Done {
            text: cut_text(text, bytes_max),
            clamped: changed.clamped,
            repaired: changed.repaired,
        },
        Err(error) => Outcome::Failed(cut_error(error, bytes_max)),
    }
}

/// Cuts at a character boundary at or before `bytes_max` and says how many bytes are missing.
pub(super) fn cut_text(mut text: String, bytes_max: usize) -> String {
    let kept = text.floor_char_boundary(bytes_max);
    let missing = text.len().saturating_sub(kept);
    if missing > 0 {
        text.truncate(kept);
        text.push_str(&format!("\n[{missing} bytes cut]"));
    }
    text
}

fn cut_error(error: ToolError, bytes_max: usize) -> ToolError {
    match error {
        ToolError::Failed {
            detail,
            blame,
            retry,
        } => ToolError::Failed {
            detail: cut_text(detail, bytes_max),
            blame,
            retry,
        },
        ToolError::OutcomeUnknown { detail } => ToolError::OutcomeUnknown {
            detail: cut_text(detail, bytes_max),
        },
        ToolError::Cancelled { why } => ToolError::Cancelled {
            why: cut_text(why, bytes_max),
        },
        ToolError::TimedOut { .. } | ToolError::Panicked { .. } | ToolError::Refused(_) => error,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_fits_is_untouched() {
        assert_eq!(cut_text("äöü".to_owned(), 6), "äöü");
        assert_eq!(cut_text(String::new(), 0), "");
    }

    #[test]
    fn a_cut_falls_between_characters_and_counts_what_is_missing() {
        assert_eq!(cut_text("äöü".to_owned(), 5), "äö\n[2 bytes cut]");
        assert_eq!(cut_text("äöü".to_owned(), 1), "\n[6 bytes cut]");
    }

    proptest! {
        #[test]
        fn a_cut_text_keeps_its_beginning_and_its_bound(text in ".{0,200}", max in 0_usize..300) {
            let cut = cut_text(text.clone(), max);
            let kept = cut.split_once("\n[").map_or(cut.as_str(), |(kept, _)| kept);
            prop_assert!(text.len() <= max || kept.len() <= max);
            prop_assert!(text.starts_with(kept));
        }
    }
}
