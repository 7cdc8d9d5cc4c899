//! Did-you-mean: the nearest of the permitted words, or none when nothing is near.

/// Words longer than this are never a slip of the pen, characters.
const WORD_CHARS_MAX: usize = 80;
/// Two words this alike are near: Damerau-Levenshtein similarity, 0 to 1.
const SIMILARITY_MIN: f64 = 0.6;
/// In words shorter than this only one letter may differ: `id` is not near `to`.
const SHORT_CHARS: usize = 5;
/// A word this long that begins or ends the other one is near it.
const AFFIX_CHARS_MIN: usize = 4;

/// Returns the word of `among` that `word` most likely stands for; the first of equals.
///
/// Case, `_`, `-`, `.` and spaces do not count.
pub fn nearest<'a>(word: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().nth(WORD_CHARS_MAX).is_some() {
        return None;
    }
    let asked = folded(word);
    let mut best: Option<(f64, &str)> = None;
    for candidate in among {
        let Some(score) = likeness(&asked, &folded(candidate)) else {
            continue;
        };
        if best.is_none_or(|(top, _)| score > top) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .take(WORD_CHARS_MAX)
        .collect()
}

/// Returns how near two folded words are, `None` when they are not.
fn likeness(a: &str, b: &str) -> Option<f64> {
    let shorter = a.chars().count().min(b.chars().count());
    if shorter == 0 {
        return None;
    }
    let similarity = strsim::normalized_damerau_levenshtein(a, b);
    let alike = similarity >= SIMILARITY_MIN
        && (shorter >= SHORT_CHARS || strsim::damerau_levenshtein(a, b) <= 1);
    let affix = shorter >= AFFIX_CHARS_MIN && (affixed(a, b) || affixed(b, a));
    match (alike, affix) {
        (true, _) => Some(similarity),
        (false, true) => Some(SIMILARITY_MIN.min(similarity)),
        (false, false) => None,
    }
}

fn affixed(long: &str, short: &str) -> bool {
    long.starts_with(short) || long.ends_with(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near<'a>(word: &str, among: &[&'a str]) -> Option<&'a str> {
        nearest(word, among.iter().copied())
    }

    #[test]
    fn slips_case_separators_and_affixes_are_near() {
        assert_eq!(near("linaer", &["angular", "linear"]), Some("linear"));
        assert_eq!(near("maxSpeed", &["speed", "max_speed"]), Some("max_speed"));
        assert_eq!(
            near("rover_go", &["rover_go_to_pose"]),
            Some("rover_go_to_pose")
        );
        assert_eq!(
            near("xx", &["x"]),
            None,
            "half of a short word is another word"
        );
    }

    #[test]
    fn short_words_and_strangers_are_not() {
        assert_eq!(near("id", &["to"]), None);
        assert_eq!(near("ab", &["ba"]), None);
        assert_eq!(near("", &["x"]), None);
        assert_eq!(near("colour", &["linear"]), None);
        assert_eq!(near(&"x".repeat(100_000), &["x"]), None);
    }
}
