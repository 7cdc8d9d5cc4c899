//! The nearest of some known words to an unknown one, for hints.

/// Longest word that is compared, bytes: no name of ours is longer.
const WORD_BYTES_MAX: usize = 80;

/// Returns the word that was probably meant: at most one slip for every three letters.
pub(crate) fn nearest<'a>(word: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let word = word.to_ascii_lowercase();
    among
        .map(|known| (strsim::damerau_levenshtein(&word, known), known))
        .min()
        .filter(|(slips, known)| *slips <= (known.len() / 3).max(1))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["timeout_ms", "burst", "x"];
        assert_eq!(nearest("timout_ms", known.into_iter()), Some("timeout_ms"));
        assert_eq!(nearest("Brust", known.into_iter()), Some("burst"));
        assert_eq!(nearest("colour", known.into_iter()), None);
        assert_eq!(nearest(&"burst".repeat(40), known.into_iter()), None);
    }
}
