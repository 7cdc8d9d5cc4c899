//! Text of strangers, made harmless for a terminal.

/// Returns a text in which nothing steers a terminal or turns the order of letters: such characters stand
/// as `\u{…}`.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a character is shown as something else than itself: controls, marks of direction, invisible
/// ones, line and paragraph separators.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_spelled_out_and_letters_stay() {
        let hostile = "a\u{1b}[2Jb\r\n\u{7f}\u{9b}31m\u{202e}c\u{200b}é→";
        let shown = plain(hostile);
        assert_eq!(
            shown,
            "a\\u{1b}[2Jb\\u{d}\\u{a}\\u{7f}\\u{9b}31m\\u{202e}c\\u{200b}é→"
        );
        assert_eq!(plain(&shown), shown);
    }
}
