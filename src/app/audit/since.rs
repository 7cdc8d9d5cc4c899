//! `--since`: a span that ends now, or a time as people write it.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// From when on records are shown.
///
/// Read from a span such as `10m` or `2h 30m`, or from a date with or without a time: `2026-12-01`,
/// `2026-12-01 13:00`, `2026-12-01T13:00:05.250`. A time is that of UTC, as records are written, unless a
/// zone stands behind it: `Z`, `+01:00` or `-0530`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// From this long ago.
    Ago(Duration),
    /// From this time on.
    At(SystemTime),
}

/// A text that is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "neither a span such as 10m nor a time such as 2026-12-01 13:00, in UTC unless a zone such as +01:00 \
     stands behind it"
)]
pub struct SinceError;

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Self, SinceError> {
        let text = text.trim();
        if let Ok(span) = humantime::parse_duration(text) {
            return Ok(Self::Ago(span));
        }
        time(text).map(Self::At).ok_or(SinceError)
    }
}

fn time(text: &str) -> Option<SystemTime> {
    let (date, rest) = text.split_at_checked("2026-12-01".len())?;
    let (clock, east_minutes) = match rest.strip_prefix(['T', 't', ' ']) {
        Some(rest) => zone(rest.trim())?,
        None if rest.is_empty() => ("00:00", 0),
        None => return None,
    };
    // Seconds may be left out.
    let seconds = if clock.len() == "13:00".len() {
        ":00"
    } else {
        ""
    };
    let utc = humantime::parse_rfc3339(&format!("{date}T{clock}{seconds}Z")).ok()?;
    let off = Duration::from_secs(east_minutes.unsigned_abs().saturating_mul(60));
    if east_minutes > 0 {
        utc.checked_sub(off)
    } else {
        utc.checked_add(off)
    }
}

/// Splits a time of day from its zone, in minutes east of UTC.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), 0));
    }
    let Some(at) = text.rfind(['+', '-']) else {
        return Some((text, 0));
    };
    let (clock, offset) = text.split_at(at);
    let (sign, digits) = offset.split_at(1);
    let digits = digits.replacen(':', "", 1);
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = digits.split_at(2);
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let east = hours.saturating_mul(60).saturating_add(minutes);
    Some((clock.trim_end(), if sign == "-" { -east } else { east }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> String {
        match text.parse() {
            Ok(Since::At(time)) => humantime::format_rfc3339_millis(time).to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_time_is_that_of_utc_unless_it_has_a_zone() {
        let noon = "2026-12-01T12:00:00.000Z";
        for text in [
            "2026-12-01 12:00",
            "2026-12-01T12:00",
            "2026-12-01 12:00:00",
            "2026-12-01T12:00:00Z",
            "2026-12-01t12:00z",
            "2026-12-01 13:00+01:00",
            "2026-12-01 13:00 +0100",
            "2026-12-01T06:30:00.000-05:30",
        ] {
            assert_eq!(at(text), noon, "{text}");
        }
        assert_eq!(at("2026-12-01"), "2026-12-01T00:00:00.000Z");
        assert_eq!(at("2026-12-01 12:00:00.250"), "2026-12-01T12:00:00.250Z");
        assert_eq!("10m".parse(), Ok(Since::Ago(Duration::from_secs(600))));
    }

    #[test]
    fn what_is_no_time_says_how_one_is_written() {
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-12-01 25:00",
            "2026-12-01 12",
            "2026-12-01 12:00 CET",
            "2026-12-01 12:00+1",
            "2026-12-01 12:00+24:00",
            "2026-12-0\u{661}",
            "2026-12-01x12:00",
        ] {
            let error = text.parse::<Since>().unwrap_err().to_string();
            assert!(error.contains("2026-12-01 13:00, in UTC"), "{text}");
        }
    }
}
